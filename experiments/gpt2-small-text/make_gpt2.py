"""Makes a small GPT-2 with random weights and a byte-level BPE tokenizer of its own, as transformers writes them.

usage: python3 make_gpt2.py TEXT.txt FOLDER [--vocabulary 2000] [--seed 1]

The tokenizer is trained on the first 90 % of TEXT, which is what the experiment trains on. Needs torch, transformers and
tokenizers; headprune itself needs none of them.
"""
import argparse
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2Config, GPT2LMHeadModel, GPT2TokenizerFast


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--vocabulary", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    text = arguments.text.read_text(encoding="utf-8")
    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator([text[: len(text) * 9 // 10]], vocab_size=arguments.vocabulary, show_progress=False)
    arguments.folder.mkdir(parents=True)
    bpe.save_model(str(arguments.folder))
    GPT2TokenizerFast(
        vocab_file=str(arguments.folder / "vocab.json"),
        merges_file=str(arguments.folder / "merges.txt"),
        unk_token=None,
        bos_token=None,
        eos_token=None,
    ).save_pretrained(arguments.folder)

    torch.manual_seed(arguments.seed)
    config = GPT2Config(
        vocab_size=bpe.get_vocab_size(), n_positions=128, n_embd=128, n_layer=4, n_head=8, bos_token_id=None, eos_token_id=None
    )
    GPT2LMHeadModel(config).save_pretrained(arguments.folder)
    print(f"{arguments.folder}: {bpe.get_vocab_size()} tokens, {config.n_layer} layers x {config.n_head} heads")


if __name__ == "__main__":
    main()
