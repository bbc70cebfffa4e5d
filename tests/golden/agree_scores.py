#!/usr/bin/env python3
"""Compares headprune's scores, losses and masked predictions with reference_scores.py on a real checkpoint.

usage: agree_scores.py HEADPRUNE MODEL_FOLDER DATA.tsv [--limit N] [--head-mask JSON] [--ablation] [--keep FOLDER]

HEADPRUNE is the program. Runs the reference (float64, one example at a time), then headprune on the same examples with
every score that the reference knows and the heads of --head-mask (default '{"0":[1],"2":[0,3]}') removed as one point.
Prints one line a score: Spearman's rank correlation and the largest difference relative to the largest value. Exit 1
when a correlation is below 0.9999, a difference above 1e-3, an example's loss further than 1e-4 from the reference's,
or a prediction another one, with all heads or with those removed.

Needs what reference_scores.py needs, and scipy.
"""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy.stats import spearmanr

HERE = Path(__file__).resolve().parent


def write_experiment(folder, arguments, scores):
    """The experiment on one file for every role, and the mask as a point of its own."""
    (folder / "mask.json").write_text(json.dumps({"masks": [{"encoder": json.loads(arguments.head_mask)}]}))
    kind = json.loads((arguments.model / "config.json").read_text())["model_type"]
    methods = []
    for i, key in enumerate(scores):
        name, _, options = key.partition(" ")
        options = options.strip("{}")
        methods.append(f"    - {name}: {{{options}{', ' if options else ''}label: s{i}}}")
    limit = f", limit: {{score: {arguments.limit}, report: {arguments.limit}}}" if arguments.limit else ""
    (folder / "agree.yaml").write_text(
        "name: agree\n"
        f"data: {{type: tsv, path: '{arguments.data.resolve()}', splits: {{score: train, select: train, report: train}}{limit}}}\n"
        "task: {type: classification, metrics: [accuracy, loss]}\n"
        f"model: {{type: {kind}, path: '{arguments.model.resolve()}'}}\n"
        "score:\n  batch_size: 64\n  methods:\n" + "\n".join(methods) + "\n"
        f"prune: {{sweeps: [from_file: {{path: '{folder / 'mask.json'}'}}]}}\n"
        "sensitivity: {tables: []}\nsurgery: {fractions: []}\noutput: {samples: true}\n"
    )


def read_scores(run, count):
    scores = {f"s{i}": {} for i in range(count)}
    with open(run / "scores.csv", newline="") as file:
        for row in csv.DictReader(file):
            scores[row["method"]][int(row["layer"]), int(row["head"])] = float(row["score"])
    return scores


def read_samples(run, removed):
    """Samples of the unpruned point, or of the one with heads removed."""
    with open(run / "curve.csv", newline="") as file:
        pruned = {row["point"] for row in csv.DictReader(file) if int(row["heads_removed"]) > 0}
    (path,) = [path for path in (run / "samples").glob("*.jsonl") if (path.stem in pruned) == removed]
    return [json.loads(line) for line in path.read_text().splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("headprune", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--head-mask", default='{"0":[1],"2":[0,3]}')
    parser.add_argument("--ablation", action="store_true", help="also by a pass for each head, which takes long")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="headprune-agree-"))
    folder.mkdir(exist_ok=True)

    # The sample of `limit` examples is headprune's own, so the reference runs on a file of just those.
    data = arguments.data
    if arguments.limit:
        data = folder / "limited.tsv"
        data.write_text("".join(arguments.data.open(encoding="utf-8").readlines()[: arguments.limit]), encoding="utf-8")
        arguments.data, arguments.limit = data, None
    reference_file = folder / "reference.json"
    if not reference_file.exists():
        subprocess.run([sys.executable, HERE / "reference_scores.py", arguments.model, data, reference_file,
                        "--head-mask", arguments.head_mask, *(["--ablation"] if arguments.ablation else [])], check=True)
    reference = json.loads(reference_file.read_text())
    write_experiment(folder, arguments, reference["scores"])
    run = folder / "run"
    subprocess.run([arguments.headprune, "run", folder / "agree.yaml", "--out", run, "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)

    failed = False
    ours = read_scores(run, len(reference["scores"]))
    for i, (key, layers) in enumerate(reference["scores"].items()):
        theirs = {(l, h): value for l, heads in enumerate(layers) for h, value in enumerate(heads)}
        heads = sorted(theirs)
        a, b = [ours[f"s{i}"][head] for head in heads], [theirs[head] for head in heads]
        rank = spearmanr(a, b).statistic
        worst = max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, b))
        bad = not (rank >= 0.9999 and worst <= 1e-3)
        failed |= bad
        print(f"{'BAD ' if bad else 'ok  '} rank {rank:.6f}  difference {worst:.1e}  {key}")
    for name, theirs, removed in (("all heads", reference, False), ("masked", reference["masked"], True)):
        samples = read_samples(run, removed)
        losses = max(abs(sample["loss"] - loss) for sample, loss in zip(samples, theirs["losses"]))
        others = sum(sample["pred"] != pred for sample, pred in zip(samples, theirs["predictions"]))
        bad = len(samples) != len(theirs["predictions"]) or others > 0 or not losses <= 1e-4
        failed |= bad
        print(f"{'BAD ' if bad else 'ok  '} {name}: {len(samples)} examples, accuracy {theirs['accuracy']:.4f}, "
              f"{others} other predictions, an example's loss differs by at most {losses:.1e}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
