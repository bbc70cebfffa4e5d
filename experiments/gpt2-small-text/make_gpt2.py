#!/usr/bin/env python3
"""Makes a small GPT-2 folder with random weights, and a byte-level BPE tokenizer trained on a text.

usage: make_gpt2.py TEXT FOLDER

The tokenizer (2,000 tokens) learns from the first 90 % of the characters of TEXT, the part that the experiment trains
on. The model: 4 layers x 8 heads, width 128, 128 positions, initialised by transformers with seed 1. FOLDER then is what
save_pretrained leaves: config.json, model.safetensors, tokenizer.json, vocab.json, merges.txt.

Needs torch, transformers and tokenizers (made with torch 2.13.0, transformers 4.57.6, tokenizers 0.22.2).
"""
import argparse
import tempfile
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel, GPT2TokenizerFast

VOCABULARY, TRAIN_SHARE = 2000, 0.9
END = "<|endoftext|>"


def make_tokenizer(text):
    learner = ByteLevelBPETokenizer()
    learner.train_from_iterator([text], vocab_size=VOCABULARY, special_tokens=[END], show_progress=False)
    with tempfile.TemporaryDirectory() as folder:
        learner.save_model(folder)
        return GPT2TokenizerFast(f"{folder}/vocab.json", f"{folder}/merges.txt")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path, metavar="TEXT")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    text = arguments.text.read_text(encoding="utf-8")
    tokenizer = make_tokenizer(text[:int(TRAIN_SHARE * len(text) + 0.5)])
    torch.manual_seed(1)
    end = tokenizer.convert_tokens_to_ids(END)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=128, n_embd=128, n_layer=4, n_head=8,
                                       resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=end,
                                       eos_token_id=end))
    model.save_pretrained(arguments.folder)
    tokenizer.save_pretrained(arguments.folder)
    print(f"{arguments.folder}: {model.num_parameters()} parameters, {len(tokenizer)} tokens")


if __name__ == "__main__":
    main()
