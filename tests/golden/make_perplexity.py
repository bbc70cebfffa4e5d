#!/usr/bin/env python3
"""Makes perplexity.json: the perplexity of a text under the small Llama of hf/llama, window by window.

usage: make_perplexity.py [--check] [--model FOLDER --text FILE --tokens N --context N --stride N]

The text has at most 20 characters; the token of the i-th most frequent one (ties by code point) is i + 4. For each
context_length and stride the loop of transformers' guide "Perplexity of fixed-length models", with windows of
context_length + 1 tokens, since the last one of a window is only predicted:

    perplexity   exp of the sum of the tokens' losses over their number: each token but the first counts once
    guide        what the guide's own averaging gives, which takes a window to have one predicted token less than it has,
                 except the first

Computed in float64 (make_llama.load). --check computes everything again and compares. --model prints the same of a real
folder, in float32, of the first N tokens of a text file. Needs what make_llama.py needs.
"""
import argparse
import collections
import json
import math
import sys
from pathlib import Path

import numpy
import torch
import transformers

import make_llama

HERE = Path(__file__).resolve().parent
FILE = HERE / "perplexity.json"
CASES = [(12, 12), (12, 4), (12, 5), (8, 1), (30, 7), (400, 100)]


def text():
    random = numpy.random.RandomState(5)
    words = ["ab", "cad", "e", "bead", "f", "gig", "hid", "jade", "kilo", "mop"]
    return " ".join(words[i] for i in random.randint(0, len(words), 60))


def ids_of(letters):
    counts = collections.Counter(letters)
    order = sorted(counts, key=lambda letter: (-counts[letter], letter))
    return [4 + order.index(letter) for letter in letters]


def perplexity(model, ids, context, stride):
    window, length = context + 1, len(ids)
    nats = guide_nats = 0.0
    tokens = guide_tokens = previous = 0
    for begin in range(0, length, stride):
        end = min(begin + window, length)
        inputs = torch.tensor([ids[begin:end]])
        targets = inputs.clone()
        targets[:, :-(end - previous)] = -100
        with torch.no_grad():
            loss = model(inputs, labels=targets, use_cache=False).loss.item()
        predicted = int((targets[:, 1:] != -100).sum())
        nats, tokens = nats + loss * predicted, tokens + predicted
        guide = int((targets != -100).sum()) - 1
        guide_nats, guide_tokens = guide_nats + loss * guide, guide_tokens + guide
        previous = end
        if end == length:
            break
    if tokens != length - 1:
        raise SystemExit(f"{tokens} tokens were predicted, not {length - 1}")
    return {"context_length": context, "stride": stride, "tokens": tokens, "perplexity": math.exp(nats / tokens),
            "guide": math.exp(guide_nats / guide_tokens)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what is there; write nothing")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--text", type=Path)
    for name in ("--tokens", "--context", "--stride"):
        parser.add_argument(name, type=int)
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    if arguments.model:
        model = transformers.AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.float32).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.model)
        ids = tokenizer(arguments.text.read_text(encoding="utf-8"), add_special_tokens=False).input_ids
        print(perplexity(model, ids[:arguments.tokens], arguments.context, arguments.stride))
        return 0
    torch.set_num_threads(1)
    model = make_llama.load("llama", HERE / "hf" / "llama")
    letters = text()
    found = {"transformers": transformers.__version__, "text": letters,
             "cases": [perplexity(model, ids_of(letters), *case) for case in CASES]}
    if arguments.check:
        there = json.loads(FILE.read_text())
        off = max(abs(a[key] - b[key]) for a, b in zip(there["cases"], found["cases"], strict=True)
                  for key in ("perplexity", "guide"))
        same = there["text"] == letters and off < 1e-7
        print("equal" if same else f"{FILE.name} differs by up to {off}")
        return 0 if same else 1
    lines = ",\n".join(f"  {json.dumps(one)}" for one in found["cases"])
    FILE.write_text(f'{{"transformers": "{found["transformers"]}", "text": "{letters}", "cases": [\n{lines}\n]}}\n')
    print(FILE.read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
