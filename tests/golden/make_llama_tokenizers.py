#!/usr/bin/env python3
"""Makes a small SentencePiece tokenizer of Llama 2's kind, and what its readers make of texts: tokenizers/llama.json.

usage: make_llama_tokenizers.py [--check]

tokenizers/llama/   tokenizer.model (BPE with byte_fallback, trained here where it is missing), the tokenizer.json that
                    transformers makes of it, tokenizer_config.json
tokenizers/llama.json
  texts     chosen by hand, then random ones (agree_tokenizers.py)
  ids       {FORM: 8 hex digits of the SHA-256 of the ids of each text, in decimal with spaces between, and a newline}:
            without special tokens added. FORM is what puts "\u2581" into a text,
              legacy, replace          the normalizer of tokenizer.json: Prepend and Replace, Replace alone
              first, always, never     Metaspace with that prepend_scheme
                                       (by the tokenizers library)
              model, model_new         tokenizer.model alone, "legacy" true and false, by transformers' LlamaTokenizer
              model_bare               the same with "add_prefix_space": false, by LlamaTokenizerFast
  sentencepiece  the hash of the library's own ids of each text without special tokens; null for the others
  offsets   {legacy, first: [[begin, end], ...] in bytes of UTF-8 of the tokens of each text chosen by hand}
  decoded   the library's text of the ids that legacy gives each text chosen by hand, special tokens kept
--check computes again and compares; exit 1 if anything differs. Needs transformers 4.57.6, tokenizers 0.22,
sentencepiece 0.2 and protobuf.
"""
import copy
import hashlib
import io
import json
import shutil
import tempfile
from pathlib import Path

import sentencepiece
import transformers
from tokenizers import Tokenizer

import agree_tokenizers
import make_sentencepiece
from golden_file import write_or_check

HERE = Path(__file__).resolve().parent / "tokenizers"
FOLDER = HERE / "llama"
RANDOM = 600
SPECIALS = ["<s>", "</s>", "<unk>"]
CASES = ["", " ", "  ", "A man", " A man", "  A  man ", "A\nman\n", "\tA\t\tman", "A man is reading 1234 books.", "\u2581", "\u2581A", "A\u2581man",
         " \u2581A", "\u4e16\u754c", "A \u4e16 man", "caf\u00e9 cafe\u0301", "\U0001f600", "A\U0001f600\U0001f600 man", "<s>", "<s>A", "<s> A", "A<s>man", "A <s> man",
         "A</s>", "</s></s>", " <s>", "\u2581<s>", "<s>  </s> A", "A<unk>man", "< s >", "<0x0A>", "a\x00b", "\r\n", "qwxz", "A man " * 12,
         "<s>[INST] A man [/INST]", "der Lehrer tr\u00e4gt \u00fcber", "\u00a0A\u3000", "\ufffd", "    A", "\n\n  A"]


def train():
    model = io.BytesIO()
    corpus = make_sentencepiece.corpus("en") + make_sentencepiece.corpus("de")
    corpus += ["".join(["    " * (i % 4), line]) for i, line in enumerate(corpus)] + [str(n * 37) for n in range(50)]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_writer=model, model_type="bpe", vocab_size=520, byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True,
        allow_whitespace_only_pieces=True, character_coverage=0.999, num_threads=1, minloglevel=2)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "tokenizer.model").write_bytes(model.getvalue())
    (FOLDER / "tokenizer_config.json").write_text('{"tokenizer_class": "LlamaTokenizer"}\n')
    (FOLDER / "tokenizer.json").write_text(opened({}).backend_tokenizer.to_str() + "\n", encoding="utf-8")


def opened(config, slow=False):
    """AutoTokenizer of tokenizer.model alone."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copy(FOLDER / "tokenizer.model", scratch)
        (Path(scratch) / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "LlamaTokenizer"} | config))
        return transformers.AutoTokenizer.from_pretrained(scratch, local_files_only=True, use_fast=not slow)


def forms():
    """Tokenizers of the library, for the forms of tokenizer.json."""
    legacy = json.loads((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))
    found = {"legacy": legacy}
    found["replace"] = copy.deepcopy(legacy)
    del found["replace"]["normalizer"]["normalizers"][0]
    for scheme in ("first", "always", "never"):
        found[scheme] = copy.deepcopy(legacy)
        found[scheme]["normalizer"] = None
        found[scheme]["pre_tokenizer"] = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": False}
    return {name: Tokenizer.from_str(json.dumps(form)) for name, form in found.items()}


def short_hash(ids):
    return hashlib.sha256((" ".join(map(str, ids)) + "\n").encode()).hexdigest()[:8]


def made():
    transformers.logging.set_verbosity_error()
    if not FOLDER.exists():
        train()
    texts = CASES + agree_tokenizers.strings(RANDOM, SPECIALS)
    library = forms()
    ids = {name: [one.ids for one in form.encode_batch(texts, add_special_tokens=False)] for name, form in library.items()}
    # The slow class, which calls SentencePiece itself.
    for name, config, slow in (("model", {}, True), ("model_new", {"legacy": False}, True),
                               ("model_bare", {"add_prefix_space": False}, False)):
        tokenizer = opened(config, slow)
        ids[name] = [tokenizer(text, add_special_tokens=False).input_ids for text in texts]
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(FOLDER / "tokenizer.model"))
    alone = [None if any(token in text for token in SPECIALS) else pieces.encode(text) for text in texts]
    offsets = {}
    for name in ("legacy", "first"):
        offsets[name] = [[[len(text[:place].encode()) for place in span] for span in
                          library[name].encode(text, add_special_tokens=False).offsets] for text in CASES]
    return {"texts": texts, "ids": {name: [short_hash(one) for one in lists] for name, lists in ids.items()},
            "sentencepiece": [None if one is None else short_hash(one) for one in alone], "offsets": offsets,
            "decoded": [library["legacy"].decode(one, skip_special_tokens=False) for one in ids["legacy"][:len(CASES)]]}


if __name__ == "__main__":
    write_or_check(HERE / "llama.json", lambda: json.dumps(made(), ensure_ascii=True, separators=(",", ":")) + "\n", __doc__)
