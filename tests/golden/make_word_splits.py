#!/usr/bin/env python3
"""Writes how the `tokenizers` library splits texts by the patterns of src/data/word_split.h.

usage: make_word_splits.py [--check]

Writes tokenizers/splits.json beside this script: {"texts": [...], NAME: [[lengths in UTF-8 bytes of the pieces], ...]}
for NAME digits (Digits, then GPT-2's pattern), qwen2 and llama3. With --check it is compared instead; exit 1 if anything
differs. Needs tokenizers 0.22.
"""
import json
import random
import re
import sys
from pathlib import Path

from tokenizers import Regex, pre_tokenizers

OUT = Path(__file__).resolve().parent / "tokenizers" / "splits.json"
HEADER = Path(__file__).resolve().parents[2] / "src/data/word_split.h"
BY_HAND = ["Hello world", "it's IT'S It'S don'T we'LL they'Re 'x 'S", "a  b   c    ", "\n\n a \r\n b\t\tc", "1 12 123 1234 12345a",
           "price: $12.50!!\n\nnext", "  \n  x", "x \n", " \n", "\r\n\r\n", "naïve café e\u0301", "日本語 テキスト", "٣٤٥ ½ ² Ⅷ①",
           "'\u017f '\u017fa", "!word ?!word (word)", "\tword\u00a0word\u3000word", "a'b'c's", "...\n...", " ...", "\U0001f600\U0001f600 x",
           "_x_ __init__(self)", "12abc34", "3.14e-10", "a\u200bb", "fi\ufb01 \ufb05 '\ufb05"]
PIECES = ["a", "bc", "Z", "'s", "'T", "'ll", "'", "1", "23", "456", " ", "  ", "\n", "\r\n", "\t", ".", "!?", "é", "ß", "中", "٣", "½", "Ⅷ",
          "\u0301", "\u00a0", "\u3000", "\u2028", "\u200b", "\U0001f600", "_", "-", "\u017f", "K", "\x0b", "\x85", "\x00"]


def patterns():
    text = HEADER.read_text()
    return {name: re.search(rf'k{name}Pattern =\s*R"\((.*)\)";', text).group(1) for name in ("Qwen2", "Llama3")}


def made():
    draw = random.Random(7)
    texts = BY_HAND + ["".join(draw.choice(PIECES) for _ in range(draw.randint(1, 12))) for _ in range(700)]
    found = {"texts": texts}
    known = patterns()
    splitters = {"digits": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])}
    for name in ("Qwen2", "Llama3"):
        splitters[name.lower()] = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(known[name]), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    for name, splitter in splitters.items():
        # ByteLevel spells each byte as one character.
        found[name] = [[len(piece) for piece, _ in splitter.pre_tokenize_str(text)] for text in texts]
    return found


def main():
    text = json.dumps(made(), ensure_ascii=True, separators=(",", ":")) + "\n"
    if sys.argv[1:] == ["--check"]:
        same = OUT.read_text() == text
        print("equal" if same else "differs")
        return 0 if same else 1
    if sys.argv[1:]:
        sys.exit(__doc__)
    OUT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
