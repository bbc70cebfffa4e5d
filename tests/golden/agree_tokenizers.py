#!/usr/bin/env python3
"""Compares the token ids that headprune gives to texts with those of transformers, or of the sentencepiece library.

usage: agree_tokenizers.py PRINT_TOKENS MODEL_FOLDER [FILE ...] [--strings N] [--reference transformers|sentencepiece]

PRINT_TOKENS is the test program build/dev/tests/data/print_tokens. Texts are the lines of the FILEs, without their ends,
and N strings (default 2000, of a fixed seed) of words, runs of spaces, newlines, tabs, emoji, combining marks, other
scripts, control characters, "\u2581", spelled bytes and the folder's special tokens. The reference gives ids with special
tokens: AutoTokenizer of the folder, or the library on its tokenizer.model behind the id of <s>, which gets no string
with a special token. Prints how many texts there are, and the first that differ; exit 1 where any does.

Needs transformers 4.57, and sentencepiece for that reference.
"""
import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

SHOWN = 5
SEED = 20251201
WORDS = """the The a I in of Hello world don't it's we'll naïve café Straße ÅNGSTRÖM 12 2024 3.14 1,000 x=y _x_ C++ http://a.b/c?d
größer été mañana ŝanĝo привет мир κόσμος שלום مرحبا नमस्ते ไทย 你好 世界 日本語 テキスト 한국어 ﬁne Ⅷ ½ ² ① ǅ""".split()
ODD = ["\u2581", "\u2581\u2581", "<0x0A>", "<0xFF>", "\ufffd", "\u0301", "e\u0301", "a\u0323\u0307", "\u200b", "\u200d", "\u00a0", "\u3000", "\u2028",
       "\ufeff", "\x00", "\x01", "\x7f", "\x85", "\r", "\r\n", "\n", "\n\n", "\t", "\t\t", " ", "  ", "    ", " " * 17, "\U0001f600", "\U0001f44d\U0001f3fd",
       "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\U000e0001", "\U0010fffd", "\ue000", "\U00020000", "'", "\"", "``", "''", "...", "—",
       "<", ">", "<s", "s>", "[INST]", "[/INST]", "</", "|", "#", "\\", "0", "00000000"]


def strings(count, specials):
    draw = random.Random(SEED)
    made = []
    for _ in range(count):
        parts = []
        for _ in range(draw.randint(1, 10)):
            kind = draw.random()
            if kind < 0.4:
                parts.append(draw.choice(WORDS))
            elif kind < 0.75:
                parts.append(draw.choice(ODD))
            elif kind < 0.85:
                parts.append("".join(chr(draw.randrange(0x20, 0x7F)) for _ in range(draw.randint(1, 6))))
            elif kind < 0.93 or not specials:
                parts.append(chr(draw.choice([draw.randrange(0xA0, 0xD800), draw.randrange(0xE000, 0x110000)])))
            else:
                parts.append(draw.choice(specials))
            parts.append(draw.choice(["", "", " ", " ", "  "]))
        made.append("".join(parts))
    return made


def lines(path):
    found = path.read_bytes().decode("utf-8").split("\n")
    return found[:-1] if found[-1] == "" else found


def reference(kind, folder):
    """A function from texts to lists of ids, and the special tokens to be put into strings."""
    if kind == "sentencepiece":
        import sentencepiece
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
        specials = [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())
                    if pieces.is_control(i) or pieces.is_unknown(i)]

        def ids(texts):
            return [None if any(token in text for token in specials) else [pieces.bos_id()] + pieces.encode(text)
                    for text in texts]
        return ids, []
    import transformers
    transformers.logging.set_verbosity_error()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    specials = sorted({str(token) for token in tokenizer.added_tokens_decoder.values()} | set(tokenizer.all_special_tokens))
    return lambda texts: tokenizer(texts)["input_ids"], specials


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--strings", type=int, default=2000)
    parser.add_argument("--reference", choices=["transformers", "sentencepiece"], default="transformers")
    options = parser.parse_args()
    ids_of, specials = reference(options.reference, options.folder)
    texts = [line for path in options.files for line in lines(path)]
    from_files = len(texts)
    texts += strings(options.strings, specials)
    given = "".join(json.dumps(text) + "\n" for text in texts)
    out = subprocess.run([options.program.resolve(), options.folder], input=given, text=True, stdout=subprocess.PIPE)
    if out.returncode != 0:
        sys.exit(f"{options.program} ended with {out.returncode}")
    ours = [json.loads(line)["ids"] for line in out.stdout.split("\n")[:-1]]
    if len(ours) != len(texts):
        sys.exit(f"{len(texts)} texts, {len(ours)} answers")
    pairs = [(text, a, b) for text, a, b in zip(texts, ours, ids_of(texts)) if b is not None]
    differing = [(text, a, b) for text, a, b in pairs if a != b]
    for text, a, b in differing[:SHOWN]:
        print(f"{text!r}\n  headprune {a}\n  reference {b}")
    print(f"{len(pairs)} texts compared ({from_files} lines, {len(texts) - from_files} strings; {len(texts) - len(pairs)} "
          f"left out), {len(differing)} differ")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
