#!/usr/bin/env python3
"""Makes continuations.json: how the small decoders of hf/ go on with random prompts, by transformers' own greedy search.

usage: make_continuations.py [--check]

A case for each decoder, of the intact model and of one without some heads (a hook multiplies what the output projection
reads by 0), computed in float64:

    prompts   ids, of several lengths
    tokens    the 64 ids that generate(do_sample=False, max_new_tokens=64) adds to each prompt, without an end token; as
              many as there are positions where these are learned
    ends      two ids; with them as eos_token_id, `ended` is what comes before the first end token

Prompts after which the two likeliest tokens are ever closer than 1e-3 are drawn again: float32 may not tell them apart.
The script refuses to write where a batch of all prompts, padded on the left, or the ends, give something else. --check
computes everything again and compares. Needs what make_llama.py needs.
"""
import argparse
import json
import sys
from pathlib import Path

import numpy
import torch
import transformers

import make_llama

HERE = Path(__file__).resolve().parent
FILE = HERE / "continuations.json"
LENGTHS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 3]
MOST, CLOSEST = 64, 1e-3
CASES = {name: {0: [1], 1: [2, 3]} for name in make_llama.CASES} | {"gpt2_lm": {0: [1], 1: [2, 3]}}


def load(case):
    if case in make_llama.CASES:
        return make_llama.load(case, HERE / "hf" / case)
    return transformers.GPT2LMHeadModel.from_pretrained(HERE / "hf" / case, attn_implementation="eager").double().eval()


def mask_heads(model, removed):
    """For good: the model is not used without these hooks again."""
    heads = model.config.num_attention_heads
    for layer, gone in removed.items():
        def scale(module, args, gone=gone):
            context = args[0].unflatten(-1, (heads, -1)).clone()  # [B, T, H, Dv]
            context[:, :, gone] = 0
            return (context.flatten(-2),)

        projection = (model.transformer.h[layer].attn.c_proj if hasattr(model, "transformer")
                      else model.model.layers[layer].self_attn.o_proj)
        projection.register_forward_pre_hook(scale)


def generate(model, prompts, **more):
    width = max(map(len, prompts))
    tokens = torch.tensor([[0] * (width - len(one)) + one for one in prompts])
    present = torch.tensor([[0] * (width - len(one)) + [1] * len(one) for one in prompts])
    return model.generate(tokens, attention_mask=present, do_sample=False, pad_token_id=0, return_dict_in_generate=True,
                          output_logits=True, **more), width


def continuations(model, seed):
    random = numpy.random.RandomState(seed)
    most = MOST
    if hasattr(model, "transformer"):
        most = min(MOST, model.config.n_positions + 1 - max(LENGTHS))  # the last one is not read
    prompts, tokens = [], []
    while len(prompts) < len(LENGTHS):
        prompt = random.randint(1, model.config.vocab_size, LENGTHS[len(prompts)]).tolist()
        out, width = generate(model, [prompt], max_new_tokens=most, min_new_tokens=most, eos_token_id=None)
        best = torch.stack(out.logits).topk(2).values  # [T, 1, 2]
        if (best[..., 0] - best[..., 1]).min().item() < CLOSEST:
            continue
        prompts.append(prompt)
        tokens.append(out.sequences[0, width:].tolist())
    out, width = generate(model, prompts, max_new_tokens=most, eos_token_id=None)
    if out.sequences[:, width:].tolist() != tokens:
        raise SystemExit("a batch that is padded on the left gives other tokens")
    # Two that occur, but not at once.
    ends = sorted({tokens[0][5], tokens[1][7]})
    ended = [one[:min([i for i, token in enumerate(one) if token in ends], default=len(one))] for one in tokens]
    for prompt, text in zip(prompts, ended, strict=True):
        out, width = generate(model, [prompt], max_new_tokens=most, eos_token_id=ends)
        found = out.sequences[0, width:].tolist()
        if found[:len(text)] != text or found[len(text):][:1] not in ([], [ends[0]], [ends[-1]]):
            raise SystemExit("the end tokens end texts elsewhere")
    return {"most": most, "prompts": prompts, "tokens": tokens, "ends": ends, "ended": ended}


def everything():
    cases = []
    for seed, (case, removed) in enumerate(CASES.items()):
        for gone in ({}, removed):
            model = load(case)
            mask_heads(model, gone)
            with torch.no_grad():
                cases.append({"case": case, "removed": gone, **continuations(model, 2000 + 2 * seed + bool(gone))})
    return {"transformers": transformers.__version__, "cases": cases}


def to_text(found):
    lines = [f"  {json.dumps(one, separators=(',', ':'))}" for one in found["cases"]]
    return (f'{{"transformers": "{found["transformers"]}", "cases": [\n' + ",\n".join(lines) + "\n]}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what is there; write nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    text = to_text(everything())
    if arguments.check:
        same = FILE.read_text() == text
        print("equal" if same else f"{FILE.name} differs")
        return 0 if same else 1
    FILE.write_text(text)
    print(f"{FILE.name}: {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
