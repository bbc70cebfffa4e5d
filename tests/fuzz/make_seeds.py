#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets: FOLDER/TARGET/*.

usage: make_seeds.py FOLDER

safetensors: one file a rule of docs/formats.md section 5, the accepted ones and the refused ones. json: the same
headers, the committed JSON files that are small, and the corners of the grammar. tokenizer_json: the committed
tokenizers, cut down to a few tokens so that they are quick.
"""
import json
import shutil
import struct
import sys
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


def safetensors(header, data=b"", size=None):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + data


def tensor(shape, begin, end, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_seeds():
    one, two = tensor([1], 0, 4), tensor([2, 1], 4, 12)
    return {
        "empty": safetensors(b"{}      "),
        "one": safetensors({"a": one}, bytes(4)),
        "two_metadata": safetensors({"__metadata__": {"format": "pt", "k": "v"}, "a": one, "b": two}, bytes(12)),
        "scalar": safetensors({"a": tensor([], 0, 8, "F64")}, bytes(8)),
        "zero_size": safetensors({"a": tensor([0, 3], 0, 0), "b": one}, bytes(4)),
        "all_dtypes": safetensors({
            name: tensor([1], 8 * i, 8 * i + width, name) for i, (name, width) in enumerate(
                [("U64", 8), ("I64", 8), ("F64", 8), ("C64", 8)])}, bytes(32)),
        "small_dtypes": safetensors({"a": tensor([2], 0, 2, "BOOL"), "b": tensor([1], 2, 4, "F16"),
                                     "c": tensor([1], 4, 6, "BF16"), "d": tensor([1], 6, 7, "U8")}, bytes(7)),
        "white_space": safetensors(b" \n{\"a\" : {\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]} } ", b"x"),
        "too_small": b"1234567",
        "too_large": struct.pack("<Q", 100_000_001) + b"{}",
        "invalid_length": safetensors(b"{}", size=3),
        "non_utf8": safetensors(b"{\"\xff\":1}"),
        "not_json": safetensors(b"{\"a\""),
        "list": safetensors(b"[]"),
        "duplicate": safetensors(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'
                                 b'"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
        "metadata_not_text": safetensors({"__metadata__": {"k": 1}}),
        "unknown_dtype": safetensors({"a": tensor([1], 0, 1, "X9")}, bytes(1)),
        "float8": safetensors({"a": tensor([1], 0, 1, "F8_E4M3")}, bytes(1)),
        "overflow": safetensors({"a": tensor([2**62, 8], 0, 4)}, bytes(4)),
        "overflow_zero": safetensors({"a": tensor([2**62, 2**62, 0], 0, 0)}),
        "backwards": safetensors({"a": tensor([1], 4, 0)}, bytes(4)),
        "wrong_bytes": safetensors({"a": tensor([1], 0, 8)}, bytes(8)),
        "overlap": safetensors({"a": one, "b": tensor([1], 2, 6)}, bytes(6)),
        "hole": safetensors({"a": one, "b": tensor([1], 8, 12)}, bytes(12)),
        "trailing": safetensors({"a": one}, bytes(5)),
        "missing": safetensors({"a": one}, bytes(3)),
        "negative": safetensors({"a": tensor([-1], 0, 4)}, bytes(4)),
        "fraction": safetensors({"a": tensor([1.0], 0, 4)}, bytes(4)),
        "unknown_key": safetensors({"a": {**one, "extra": 1}}, bytes(4)),
    }


def json_seeds():
    seeds = {name: seed[8:] for name, seed in safetensors_seeds().items()}
    seeds |= {
        "numbers": b"[0,-0,1.5,-2e-3,1e308,1e999,18446744073709551615,18446744073709551616,-9223372036854775808]",
        "strings": rb'["","\u0000","\ud83d\ude00","\ud800","\"\\\/\b\f\n\r\t","e\u0301"]',
        "deep": b"[" * 1001 + b"]" * 1001,
        "two_values": b"{} {}",
        "byte_order_mark": b"\xef\xbb\xbf{}",
        "comment": b"{/* */}",
        "same_after_nfc": "{\"é\":1,\"e\u0301\":2}".encode(),
    }
    for path in sorted(GOLDEN.glob("hf/*/config.json")):
        seeds[path.parent.name] = path.read_bytes()
    return seeds


def few_tokens(tokenizer, keep):
    """The tokenizer with its first `keep` tokens, those it names elsewhere, and the merges among them."""
    model = tokenizer["model"]
    named = {token["content"] for token in tokenizer.get("added_tokens", [])} | {model.get("unk_token")}
    kept = [token for token in sorted(model["vocab"], key=model["vocab"].get)[:keep]]
    kept += [token for token in model["vocab"] if token in named and token not in kept]
    model["vocab"] = {token: model["vocab"][token] for token in kept}
    if "merges" in model:
        pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
        there = set(kept)
        model["merges"] = [merge for merge, (a, b) in zip(model["merges"], pairs) if {a, b, a + b} <= there]
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode()


def tokenizer_seeds():
    seeds = {}
    for path in sorted(GOLDEN.glob("tokenizers/*/tokenizer.json")):
        tokenizer = json.loads(path.read_text(encoding="utf-8"))
        for keep in (40, 300):
            seeds[f"{path.parent.name}_{keep}"] = few_tokens(json.loads(json.dumps(tokenizer)), keep)
        seeds[f"{path.parent.name}_text"] = seeds[f"{path.parent.name}_40"] + b"\0a \xc3\xa9\xe4\xb8\xad\t[SEP] <s>x"
    return seeds


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    for target, seeds in {"safetensors": safetensors_seeds(), "json": json_seeds(),
                          "tokenizer_json": tokenizer_seeds()}.items():
        folder = Path(sys.argv[1]) / target
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, seed in seeds.items():
            (folder / name).write_bytes(seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
