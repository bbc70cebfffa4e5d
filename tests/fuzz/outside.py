#!/usr/bin/env python3
"""Fuzzes the program from outside: one damaged file at a time, the real binary, every kind of file that is read.

usage: outside.py BINARY [--seconds N] [--seed S] [--kinds KIND,...] [--keep FOLDER] [--case N]

Makes good files first (runs, model folders, data), then damages one of them and asks a command that reads it. A case
breaks a promise where the program ends by a signal, with exit code 1 or one that docs/formats.md does not have, takes
over 20 s or more than 2 GB. Such cases are kept in FOLDER (build/fuzz/outside) with the command in `command`; exit
code 1. The seed is printed; the same seed makes the same cases, and --case N makes that one alone.
"""
import argparse
import copy
import json
import os
import random
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
KNOWN_CODES = {0, 2, 3, 4, 10, 11, 12, 13, 74}
SECONDS, KIBIBYTES = 20, 2 * 1024 * 1024

TSV_YAML = """name: tsv
data: {type: tsv, path: data, unit: word}
task: {type: classification, metrics: [accuracy, f1, loss]}
model: {type: encoder, d_model: 8, layers: 2, heads: 2}
train: {max_steps: 4, per_device_train_batch_size: 8, save_steps: 2, logging_steps: 2, eval_steps: 4}
score: {methods: [gradient_l1, {random: {draws: 2}}]}
analyses: {methods: [positional, special]}
prune: {sweeps: [one_shot: {fractions: [0, 0.5, 1]}, {iterative: {methods: [gradient_l1], until_fraction: 0.5}}]}
sensitivity: {tables: [leave_one_out, layer_removed]}
surgery: {fractions: [0.5], timing: {batch_sizes: [2], warmup: 1, repeats: 2}}
report: {bootstrap_iters: 100}
output: {samples: true}
runtime: {threads: 1}
"""
PAIRS_YAML = """name: pairs
data: {type: aligned, path: data, source: en, target: de, vocabulary: {size: 30}}
task: {type: translation, metrics: [bleu, loss]}
model: {type: encoder_decoder, d_model: 8, layers: 1, heads: 2, d_ff: 16}
train: {max_steps: 2, per_device_train_batch_size: 8}
report: {bootstrap_iters: 100}
runtime: {threads: 1}
"""
LOADED = "task: {{type: {task}}}\nmodel: {{type: {family}, path: model}}\nscore: {{methods: [entropy]}}\n" \
         "prune: {{sweeps: [one_shot]}}\nruntime: {{threads: 1}}\n"
TABLE = [0] * 256
for _byte in range(256):
    _crc = _byte
    for _ in range(8):
        _crc = (_crc >> 1) ^ (0x82F63B78 if _crc & 1 else 0)
    TABLE[_byte] = _crc


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


# Damage

ODD = [None, True, False, 0, 1, -1, 2, 1.5, -0.0, 1e308, 1e-320, 2**31, 2**53 + 1, 2**63, -2**63, 2**64 - 1, 10**30, "",
       "x", "é\u0000", "../../x", "a" * 5000, [], {}, [[]], [None], [-1], ["x"], {"": 0}, {"0": [0]}, [0] * 300, "nan",
       "2026-01-02T03:04:05.678Z", "encoder", "0" * 64, [1, 2], {"encoder": {"0": [0, 7]}}]


def places(value, found, parent=None, key=None):
    found.append((parent, key))
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for inner, child in items:
        places(child, found, value, inner)


def damage_value(root, rng):
    """One or two values of a JSON document become others, vanish, move or are repeated."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        found = []
        places(root, found)
        parent, key = rng.choice(found)
        odd = copy.deepcopy(rng.choice(ODD))  # which a later turn may damage
        if parent is None:
            if rng.random() < 0.1:
                return odd
            continue
        how = rng.randrange(6)
        if how == 0:
            del parent[key]
        elif how == 1 and isinstance(parent, dict):
            parent[rng.choice(["", "x", "0", "-1", str(key) + "_"])] = parent.pop(key)
        elif how == 2:
            other, at = rng.choice(found)
            if other is not None and at in (other if isinstance(other, dict) else range(len(other))):
                parent[key] = json.loads(json.dumps(other[at]))
        elif how == 3 and isinstance(parent[key], (int, float)) and not isinstance(parent[key], bool):
            parent[key] = rng.choice([-parent[key], parent[key] + 1, parent[key] * 1000, parent[key] + 0.5, 0])
        else:
            parent[key] = odd
    return root


def text_of(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def damage_bytes(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice([1, 2, 8, 100, 4000]))
        how = rng.randrange(6)
        if how == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del data[at:to]
        elif how == 2:
            data[at:at] = data[at:to] * rng.choice([1, 2, 50])
        elif how == 3:
            data[at:at] = rng.choice([b"\0", b"\xff", b"\t", b"\n", b"\r\n", b'"', b"{", b"]", b"\xef\xbb\xbf", b"-1",
                                      b"1e999", b"\xf0\x9f\x98\x80", b"9" * 400, b" " * 3000])
        elif how == 4:
            del data[at:]
        elif at < len(data):
            data[at] = rng.randrange(256)
    return bytes(data)


def damage_json(data, rng):
    if rng.random() < 0.2:
        return damage_bytes(data, rng)
    return text_of(damage_value(json.loads(data), rng))


def damage_text(data, rng):
    if rng.random() < 0.5:
        return damage_bytes(data, rng)
    lines = data.split(b"\n")
    for _ in range(rng.choice([1, 2, 5])):
        at = rng.randrange(len(lines))
        fields = lines[at].split(b"\t")
        how = rng.randrange(5)
        if how == 0:
            del lines[at]
            lines = lines or [b""]
        elif how == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif how == 2:
            fields[rng.randrange(len(fields))] = rng.choice([b"", b"0", b"-1", b"99999999999999999999", b"a b", b"_"])
            lines[at] = b"\t".join(fields)
        elif how == 3:
            lines[at] = damage_bytes(lines[at], rng)
        else:
            lines[at] = b"word " * rng.choice([100, 20000])
    return b"\n".join(lines)


def damage_lines(data, rng):
    """JSON Lines without checksums."""
    lines = data.rstrip(b"\n").split(b"\n")
    at = rng.randrange(len(lines))
    lines[at] = damage_json(lines[at], rng)
    return b"\n".join(lines) + b"\n"


def damage_framed(data, rng):
    """Lines with a right checksum and odd content; sometimes one is gone, or comes twice with its number changed."""
    if rng.random() < 0.05:
        return damage_bytes(data, rng)
    lines = [json.loads(line) for line in data.rstrip(b"\n").split(b"\n")]
    for line in lines:
        del line["crc32c"]
    kinds = sorted({line.get("ev", "") for line in lines})
    kind = rng.choice(kinds)  # rare events as often as frequent ones
    at = rng.choice([i for i, line in enumerate(lines) if line.get("ev", "") == kind])
    how = rng.random()
    if how < 0.1:
        del lines[at]
    elif how < 0.2:
        lines.insert(at, json.loads(json.dumps(lines[rng.randrange(len(lines))])))
    else:
        fields = {key: value for key, value in lines[at].items() if key not in ("v", "seq", "ev")}
        fields = damage_value(fields, rng)
        head = {key: lines[at][key] for key in ("v", "seq", "ev") if key in lines[at]}
        lines[at] = {**head, **fields} if isinstance(fields, dict) else fields
    if rng.random() < 0.95:
        for number, line in enumerate(lines, 1):
            if isinstance(line, dict) and "seq" in line:
                line["seq"] = number
    out = b""
    for line in lines:
        text = text_of(line)
        body = text[:-1] if text.endswith(b"}") else text
        out += body + b',"crc32c":"%08x"}\n' % crc32c(body)
    return out


def damage_tensors(data, rng):
    size = struct.unpack("<Q", data[:8])[0]
    if rng.random() < 0.5:
        return damage_bytes(data[:8 + size], rng) + data[8 + size:]
    if rng.random() < 0.3:
        return data[:8 + size] + damage_bytes(data[8 + size:], rng)
    header = text_of(damage_value(json.loads(data[8:8 + size]), rng))
    return struct.pack("<Q", len(header)) + header + data[8 + size:]


# Good files and what reads them


class Good:
    """Folders that are copied for each case."""

    def __init__(self, binary, root):
        self.binary, self.root = binary, root
        rng = random.Random(1)
        self.kinds = []
        words = ["good", "bad", "film", "plot", "very", "not", "a", "the"]

        tsv = root / "tsv"
        (tsv / "data").mkdir(parents=True)
        for part, count in (("train", 60), ("dev", 30), ("test", 30)):
            rows = []
            for i in range(count):
                rows.append(" ".join(rng.choice(words[2:]) for _ in range(4)) + " " + words[i % 2] + f"\t{i % 2}")
            (tsv / "data" / f"{part}.tsv").write_text("sentence\tlabel\n" + "\n".join(rows) + "\n")
        (tsv / "tsv.yaml").write_text(TSV_YAML)
        self.made(tsv, "run", "tsv.yaml")
        self.made(tsv, "baseline", "update", "runs/tsv", "--baseline", "expected.json", "--reason", "first",
                  may_fail=True)
        if not (tsv / "expected.json").exists():  # a build from uncommitted sources makes none
            metrics = json.loads((tsv / "runs/tsv/metrics.json").read_text())
            context = json.loads((tsv / "runs/tsv/run.json").read_text())
            (tsv / "expected.json").write_text(json.dumps({
                "schema_version": 1, "name": "tsv", "experiment_id": context["experiment_id"],
                "fingerprint": context["fingerprint"], "policy": {"metrics": {"loss": {"abs": 0.1}}},
                "metrics": {key: {"value": value, "stderr": 0.1, "n": 3, "seeds": [value]}
                            for key, value in metrics.items()},
                "history": [{"date": "d", "reason": "r", "by": "b", "prev_sha256": None}]}))
        shutil.copytree(tsv / "model" if (tsv / "model").exists() else tsv / "runs/tsv/model", tsv / "model")
        (tsv / "model/manifest.json").unlink()
        (tsv / "loaded.yaml").write_text("name: loaded\ndata: {type: tsv, path: data}\n" +
                                         LOADED.format(task="classification", family="encoder"))
        (tsv / "order.json").write_text('{"masks":[{"name":"a","removed":{"encoder":{"0":[0,1]}}},{}]}')
        (tsv / "order.yaml").write_text("extends: [tsv.yaml]\nprune: {sweeps: [from_file: {path: order.json}]}\n")
        run = "runs/tsv"
        views = [("report", run, "--to", "out"), ("check", run, "--baseline", "expected.json", "--out", "out"),
                 ("compare", run, run), ("export", "csv", run, "--to", "out"), ("export", "tensorboard", run, "--to", "out"),
                 ("runs", "info", run, "--verify"), ("inspect", run + "/journal.jsonl"),
                 ("baseline", "update", run, "--baseline", "new.json", "--reason", "r")]
        point = (tsv / run / "curve.csv").read_text().split("\n")[-2].split(",")[-1]
        torch = [("run", "tsv.yaml"), ("export", "hf", run, "--point", point, "--to", "out")]
        self.add("journal", tsv, run + "/journal.jsonl", damage_framed, views * 2 + torch, weight=4)
        self.add("train", tsv, run + "/train.jsonl", damage_framed, [views[0], views[4], ("run", "tsv.yaml")])
        self.add("status", tsv, run + "/status.json", damage_json,
                 [("runs", "ls"), ("runs", "info", run), ("inspect", run + "/status.json"), ("run", "tsv.yaml")])
        self.add("context", tsv, run + "/run.json", damage_json,
                 [("runs", "ls"), ("runs", "info", run), ("inspect", run + "/run.json"), ("runs", "diff", run, run),
                  views[0], ("check", run, "--out", "out"), ("run", "tsv.yaml")])
        self.add("results", tsv, run + "/results.json", damage_json, [("inspect", run + "/results.json")])
        self.add("manifest", tsv, run + "/model/manifest.json", damage_json,
                 [("inspect", run + "/model/manifest.json"), ("inspect", run + "/model"), ("runs", "info", run, "--verify")])
        self.add("baseline", tsv, "expected.json", damage_json,
                 [views[1], ("baseline", "show", "expected.json"),
                  ("baseline", "update", run, "--baseline", "expected.json", "--reason", "r")], weight=2)
        self.add("stored_config", tsv, run + "/config.yaml", damage_bytes,
                 [views[0], ("check", run, "--out", "out"), ("runs", "diff", run, run)])
        self.add("tsv", tsv, "data/dev.tsv", damage_text, [("validate", "tsv.yaml")])
        self.add("yaml", tsv, "tsv.yaml", damage_bytes, [("validate", "tsv.yaml"), ("config", "show", "tsv.yaml")])
        self.add("order", tsv, "order.json", damage_json, [("validate", "order.yaml")])
        self.add("checkpoint", tsv, self.newest(tsv / run / "train", "state.json"), damage_json, [("run", "tsv.yaml")])
        for name, damage in (("config.json", damage_json), ("vocabulary.json", damage_json),
                             ("model.safetensors", damage_tensors)):
            self.add("own_" + name.split(".")[0], tsv, "model/" + name, damage,
                     [("inspect", "model"), ("validate", "loaded.yaml")])

        trees = root / "trees"
        trees.mkdir()
        (trees / "t.conllu").write_text("".join(
            f"# text = x\n1\tgood\t_\tADJ\t_\t_\t2\tamod\t_\t_\n2\tfilm\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"
            f"3-4\tdont\t_\t_\t_\t_\t_\t_\t_\t_\n3\tdo\t_\tAUX\t_\t_\t2\taux\t_\t_\n4\tnt\t_\tPART\t_\t_\t3\tadvmod\t_\t_\n\n"
            for _ in range(6)))
        (trees / "trees.yaml").write_text(
            "name: trees\ndata: {type: synthetic, examples: {train: 40, dev: 20, test: 20}}\n"
            "task: {type: classification}\nmodel: {type: encoder, d_model: 8, layers: 1, heads: 2}\n"
            "train: {max_steps: 1}\nanalyses: {methods: [{syntactic: {conllu: t.conllu}}]}\n")
        self.add("conllu", trees, "t.conllu", damage_text, [("validate", "trees.yaml")])

        self.choices(root / "choices")
        self.pairs(root / "pairs", rng)
        self.golden(root / "bert", "bert_sharded", "wordpiece", "bert", tsv / "data")

    def choices(self, folder):
        (folder / "model").mkdir(parents=True)
        (folder / "questions").mkdir()
        for name in ("config.json", "model.safetensors"):
            shutil.copy(GOLDEN / "choices" / name, folder / "model")
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(GOLDEN / "tokenizers/byte_bpe" / name, folder / "model")
        (folder / "model/generation_config.json").write_text('{"eos_token_id":[1,2],"do_sample":false,"num_beams":1}')
        lines = (GOLDEN / "choices/test.jsonl").read_bytes().split(b"\n")[:30]
        (folder / "questions/test.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        (folder / "x.yaml").write_text(
            "name: x\ndata: {type: choices, path: questions, files: {train: test.jsonl, dev: test.jsonl}}\n" +
            LOADED.format(task="multiple_choice", family="llama"))
        ask, write = ("validate", "x.yaml"), ("generate", "model", "--prompt", "a", "--max-new-tokens", "2")
        self.add("jsonl", folder, "questions/test.jsonl", damage_lines, [ask])
        for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"):
            self.add("llama_" + name.split(".")[0], folder, "model/" + name, damage_json, [ask, write, ("inspect", "model")])

    def pairs(self, folder, rng):
        (folder / "data").mkdir(parents=True)
        ours, theirs = ["red", "dog", "runs", "house", "sees"], ["rot", "hund", "rennt", "haus", "sieht"]
        for part, count in (("train", 60), ("dev", 12), ("test", 12)):
            picked = [[rng.randrange(5) for _ in range(3)] for _ in range(count)]
            (folder / f"data/{part}.en").write_text("".join(" ".join(ours[i] for i in row) + "\n" for row in picked))
            (folder / f"data/{part}.de").write_text("".join(" ".join(theirs[i] for i in row) + "\n" for row in picked))
        (folder / "pairs.yaml").write_text(PAIRS_YAML)
        self.made(folder, "run", "pairs.yaml")
        shutil.copytree(folder / "runs/pairs/model", folder / "model")
        (folder / "model/manifest.json").unlink()
        (folder / "x.yaml").write_text("name: x\ndata: {type: aligned, path: data, source: en, target: de}\n" +
                                       LOADED.format(task="translation", family="encoder_decoder"))
        self.add("aligned", folder, "data/dev.de", damage_text, [("validate", "pairs.yaml")])
        spm = next(path.name for path in sorted((folder / "model").glob("*.spm")))
        self.add("spm", folder, "model/" + spm, damage_bytes, [("validate", "x.yaml"), ("inspect", "model")], weight=2)

    def golden(self, folder, model, tokenizer, family, data):
        folder.mkdir()
        shutil.copytree(GOLDEN / "hf" / model, folder / "model")
        (folder / "model/expected.json").unlink()
        for path in (GOLDEN / "tokenizers" / tokenizer).iterdir():
            if path.name in ("tokenizer.json", "vocab.txt", "tokenizer_config.json", "added_tokens.json"):
                shutil.copy(path, folder / "model")
        shutil.copytree(data, folder / "data")
        (folder / "x.yaml").write_text("name: x\ndata: {type: tsv, path: data}\n" +
                                       LOADED.format(task="classification", family=family))
        ask = [("validate", "x.yaml"), ("inspect", "model")]
        self.add("index", folder, "model/model.safetensors.index.json", damage_json, ask)
        shard = next(path.name for path in sorted((folder / "model").glob("model-*.safetensors")))
        self.add("shard", folder, "model/" + shard, damage_tensors, ask)
        for name in sorted(path.name for path in (folder / "model").iterdir()):
            if name.endswith(".json") and "index" not in name:
                self.add("bert_" + name.split(".")[0], folder, "model/" + name, damage_json, ask)
            elif name == "vocab.txt":
                self.add("bert_vocab", folder, "model/" + name, damage_text, ask)

    def newest(self, folder, name):
        return str(sorted(folder.rglob(name))[-1].relative_to(self.root / "tsv"))

    def made(self, folder, *arguments, may_fail=False):
        done = subprocess.run([self.binary, *arguments, "--quiet"], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0 and not may_fail:
            sys.exit(f"outside.py: the good files cannot be made: {' '.join(arguments)}: {done.stderr}")

    def add(self, kind, folder, file, damage, commands, weight=1):
        self.kinds += [(kind, folder, file, damage, commands)] * weight


def run_limited(command, folder):
    """Exit code or what is wrong, seconds, largest memory in KiB."""
    def limits():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))
    start = time.monotonic()
    with open(folder / "stderr", "wb") as err, open(folder / "stdout", "wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   preexec_fn=limits)
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = 0
            return os.waitstatus_to_exitcode(status), time.monotonic() - start, usage.ru_maxrss
        if time.monotonic() - start > SECONDS:
            os.killpg(process.pid, signal.SIGKILL)
            os.wait4(process.pid, 0)
            process.returncode = 0
            return None, time.monotonic() - start, 0
        time.sleep(0.01)


def verdict(code, seconds, kibibytes, said):
    if code is None:
        return f"took more than {SECONDS} s"
    if code < 0:
        return f"ended by signal {-code}"
    if code not in KNOWN_CODES:
        return f"exit code {code}"
    if kibibytes > KIBIBYTES:
        return f"took {kibibytes // 1024} MiB"
    if code != 0 and not said.strip():
        return f"exit code {code} without a word"
    return ""


def main():
    usage, what = __doc__.split("\n\n")[1:3]
    parser = argparse.ArgumentParser(usage=usage.removeprefix("usage: "), description=what)
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--keep", default="build/fuzz/outside")
    parser.add_argument("--case", type=int, default=None)
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    print(f"outside.py: seed {seed}", flush=True)
    binary, bad, counts, codes = str(Path(options.binary).resolve()), 0, {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        good = Good(binary, Path(scratch) / "good")
        kinds = [kind for kind in good.kinds if not options.kinds or kind[0] in options.kinds.split(",")]
        if not kinds:
            sys.exit("outside.py: no such kind; there are " + " ".join(sorted({kind[0] for kind in good.kinds})))
        end = time.monotonic() + options.seconds
        number = -1 if options.case is None else options.case - 1
        while time.monotonic() < end:
            number += 1
            rng = random.Random(f"{seed} {number}")
            kind, source, file, damage, commands = rng.choice(kinds)
            folder = Path(scratch) / "case"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(source, folder)
            (folder / file).write_bytes(damage((folder / file).read_bytes(), rng))
            command = [binary, *rng.choice(commands)]
            code, seconds, kibibytes = run_limited(command, folder)
            said = "".join((folder / name).read_text(errors="replace") for name in ("stdout", "stderr"))
            wrong = verdict(code, seconds, kibibytes, said)
            counts[kind] = counts.get(kind, 0) + 1
            codes[code] = codes.get(code, 0) + 1
            if wrong:
                bad += 1
                kept = Path(options.keep) / f"{kind}-{seed}-{number}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(folder, kept)
                (kept / "command").write_text(" ".join(map(shlex.quote, command)) + "\n")
                last = (folder / "stderr").read_text(errors="replace").strip().split("\n")
                print(f"{kept}: {wrong}: {' '.join(command[1:])}: {' | '.join(last)[-300:]}", flush=True)
            if options.case is not None:
                break
    total = sum(counts.values())
    print(f"outside.py: {total} cases, {bad} bad; exit codes {dict(sorted(codes.items(), key=str))}; " +
          " ".join(f"{kind} {count}" for kind, count in sorted(counts.items())))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
