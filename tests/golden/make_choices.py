#!/usr/bin/env python3
"""Makes choices/: 200 questions with choices, a small random Llama, and what lm-evaluation-harness says of them.

usage: make_choices.py [--check] [--model FOLDER]

choices/test.jsonl    {"context", "choices", "label"}: two to five choices, white space at both ends of contexts, letters of
                      several alphabets, choices that are beginnings of others
choices/config.json, model.safetensors
                      the model, for the tokenizer in tokenizers/byte_bpe
choices/expected.json accuracy and accuracy_norm (acc and acc_norm of lm_eval 0.4.9.1), and of each question the log
                      likelihoods of its choices, in float32

The task is a ConfigurableTask of output_type multiple_choice over that file, everything else at its default: no shots, a
space between context and choice. --check computes everything again and compares: log likelihoods within 1e-4. --model
asks another model folder about the same questions and prints what expected.json would hold.

Needs torch 2.13.0, transformers 4.57.6, numpy, and lm_eval 0.4.9.1.
"""
import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy
import torch
import transformers

import make_hf_models as base

HERE = Path(__file__).resolve().parent
FOLDER, TOKENIZER = HERE / "choices", HERE / "tokenizers" / "byte_bpe"
QUESTIONS, SEED = 200, 77
WORDS = ("the a of and river stone green quick seven window light we they was run slowly 1984 42 naïve café Straße "
         "привет мир 東京 don't they'll re-read Hello WORLD ok").split()
ENDS = ["", "", "", " ", "  ", "\n", " \t", "\u00a0", ".", "?", ":"]


def questions():
    random = numpy.random.RandomState(SEED)

    def words(low, high):
        return " ".join(WORDS[i] for i in random.randint(0, len(WORDS), random.randint(low, high)))

    found = []
    for _ in range(QUESTIONS):
        context = ("\n" if random.rand() < .05 else "") + words(1, 25) + ENDS[random.randint(len(ENDS))]
        choices = [words(1, 6) for _ in range(random.randint(2, 6))]
        if random.rand() < .2:
            choices[1] = choices[0] + " " + words(1, 3)
        if random.rand() < .1:
            choices[0] = " " + choices[0]
        found.append({"context": context, "choices": choices, "label": int(random.randint(len(choices)))})
    return found


def write_model(folder):
    vocabulary = len(json.loads((TOKENIZER / "vocab.json").read_text()))
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=4,
        intermediate_size=24, vocab_size=vocabulary, max_position_embeddings=256, tie_word_embeddings=True))
    base.randomise(model, SEED)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)


def evaluate(model, tokenizer, file):
    import lm_eval
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.models.huggingface import HFLM

    task = ConfigurableTask(config={
        "task": "choices", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(file)}},
        "test_split": "test", "output_type": "multiple_choice", "doc_to_text": lambda doc: doc["context"],
        "doc_to_choice": lambda doc: doc["choices"], "doc_to_target": lambda doc: doc["label"],
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}]})
    lm = HFLM(pretrained=str(model), tokenizer=str(tokenizer), dtype="float32", device="cpu", batch_size=8)
    found = lm_eval.evaluate(lm, {"choices": task}, log_samples=True, bootstrap_iters=0)
    samples = sorted(found["samples"]["choices"], key=lambda one: one["doc_id"])
    return {"lm_eval": lm_eval.__version__, "transformers": transformers.__version__,
            "accuracy": found["results"]["choices"]["acc,none"],
            "accuracy_norm": found["results"]["choices"]["acc_norm,none"],
            "log_likelihoods": [[round(float(one[0]), 6) for one in sample["filtered_resps"]] for sample in samples],
            "right": [int(sample["acc"]) for sample in samples],
            "right_norm": [int(sample["acc_norm"]) for sample in samples]}


def to_text(found):
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}"
                              for key, value in found.items()) + "\n}\n"


def closest(found):
    """The smallest distance between the two likeliest choices of a question, plain and by character."""
    gaps = []
    for question, values in zip(questions(), found["log_likelihoods"], strict=True):
        for scores in (values, [value / len(choice) for value, choice in zip(values, question["choices"], strict=True)]):
            first, second = sorted(scores)[-1:-3:-1]
            gaps.append(first - second)
    return min(gaps)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what is there; write nothing")
    parser.add_argument("--model", type=Path, help="another model folder, with its tokenizer")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in questions())
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "test.jsonl"
        file.write_text(lines, encoding="utf-8")
        if arguments.model:
            print(to_text(evaluate(arguments.model, arguments.model, file)))
            return 0
        fresh = Path(scratch) / "model"
        write_model(fresh)
        found = evaluate(fresh, TOKENIZER, file)
        if arguments.check:
            there = json.loads((FOLDER / "expected.json").read_text())
            values = there.pop("log_likelihoods"), found.pop("log_likelihoods")
            off = max(abs(a - b) for x, y in zip(*values, strict=True) for a, b in zip(x, y, strict=True))
            same = there == found and off < 1e-4 and (FOLDER / "test.jsonl").read_text(encoding="utf-8") == lines
            print(f"log likelihoods differ by at most {off:.1e}; {'equal' if same else 'something differs'}")
            return 0 if same else 1
        FOLDER.mkdir(exist_ok=True)
        for name in ("config.json", "model.safetensors"):
            shutil.copy(fresh / name, FOLDER / name)
        (FOLDER / "test.jsonl").write_text(lines, encoding="utf-8")
        (FOLDER / "expected.json").write_text(to_text(found))
        print(f"accuracy {found['accuracy']}, accuracy_norm {found['accuracy_norm']}; the two likeliest choices are never "
              f"closer than {closest(found):.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
