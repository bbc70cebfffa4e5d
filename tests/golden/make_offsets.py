#!/usr/bin/env python3
"""Writes tokenizers/offsets.json: where the `tokenizers` library says that the tokens of each text of strings.json's
cases stand, for each committed tokenizer: {"NAME": [[[begin, end], ...] for each text]}, in bytes of UTF-8.

usage: make_offsets.py

Needs tokenizers 0.22.
"""
import json
from pathlib import Path

from tokenizers import Tokenizer

FOLDER = Path(__file__).resolve().parent / "tokenizers"
texts = [case["text"] for case in json.loads((FOLDER / "strings.json").read_text(encoding="utf-8"))["cases"]]
offsets = {}
for name in ("byte_bpe", "roberta", "wordpiece"):
    tokenizer = Tokenizer.from_file(str(FOLDER / name / "tokenizer.json"))
    offsets[name] = []
    for text in texts:
        in_bytes = lambda place: len(text[:place].encode())
        encoding = tokenizer.encode(text, add_special_tokens=False)
        offsets[name].append([[in_bytes(begin), in_bytes(end)] for begin, end in encoding.offsets])
(FOLDER / "offsets.json").write_text(json.dumps(offsets, separators=(",", ":")) + "\n")
