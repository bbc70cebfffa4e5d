"""Times headprune against its peers, both sides in turns in one run; see README.md. Run by scripts/bench."""

import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
LAYERS, HEADS = 6, 12  # MiniLM-L6
SMOL_LAYERS, SMOL_HEADS = 30, 9  # SmolLM2-135M
ENCODER = {"examples": 320, "length": 64, "vocabulary": 8000}  # 10 batches of 2048 tokens


class Side:
    """A program that prepares its work, and runs it whenever it is asked."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.ready = self._answer()

    def _answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        raise SystemExit(f"bench: {self.process.args[:3]} ended without an answer")

    def run(self):
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Bench:
    def __init__(self, options):
        self.options = options
        self.rows = []

    def ours(self, work, settings, experiment, *overrides):
        threads = f"runtime.threads={self.options.threads}"
        return Side(self.options.binary, work, json.dumps(settings), HERE / experiment, threads, *overrides)

    def peer(self, script, *arguments, **settings):
        settings["threads"] = self.options.threads
        return Side(self.options.python, HERE / "peers" / script, *arguments, json.dumps(settings))

    def transformers(self, work, batch_size, pad, **settings):
        data, model = os.environ["SST2"], os.environ["BENCH_MODEL"]
        return self.peer("transformers_heads.py", work, model=model, data=data, batch_size=batch_size, pad=pad, **settings)

    def compare(self, name, what, ours, theirs, same, reach, inverse=False):
        """Ratio theirs / ours (with `inverse` ours / theirs) of both sides' seconds, taken in turns."""
        times, peaks = {"ours": [], "theirs": []}, {}
        sides = {"ours": ours, "theirs": theirs}
        ours.run()  # warm; the slower side needs none
        for _ in range(self.options.repeats):
            results = {}
            for side, program in sides.items():
                answer = program.run()
                times[side].append(answer["seconds"])
                results[side], peaks[side] = answer["result"], answer["peak_bytes"]
        ours.close()
        theirs.close()
        difference = same(results["ours"], results["theirs"]) if same else None
        ratios = [b / a for a, b in zip(times["ours"], times["theirs"])]
        if inverse:
            ratios = [1 / ratio for ratio in ratios]
        self.add(name, what, statistics.median(ratios), reach, spread=[min(ratios), max(ratios)], difference=difference,
                 ours_s=statistics.median(times["ours"]), theirs_s=statistics.median(times["theirs"]))
        return times, peaks

    def add(self, name, what, value, reach, at_most=False, **more):
        row = {"name": name, "what": what, "value": value, "reach": reach,
               "reached": value <= reach if at_most else value >= reach, **more}
        self.rows.append(row)
        spread = "".join(f" ({row['spread'][0]:.2f} to {row['spread'][1]:.2f})" if "spread" in row else "")
        sides = f"  ours {row['ours_s']:.3f} s, theirs {row['theirs_s']:.3f} s" if "ours_s" in row else ""
        apart = f"  results differ by {row['difference']:.1e}" if row.get("difference") is not None else ""
        print(f"{name:<3} {what:<66} {value:7.2f}{spread}  {'at most' if at_most else 'at least'} {reach} "
              f"{'ok' if row['reached'] else 'NOT REACHED'}{sides}{apart}", flush=True)


def largest_difference(a, b):
    if len(a) != len(b):
        raise SystemExit(f"bench: the two sides gave {len(a)} and {len(b)} values: not the same work")
    difference = max(abs(x - y) for x, y in zip(a, b)) / max(abs(x) for x in b)
    if not difference < 1e-3:
        raise SystemExit(f"bench: the two sides differ by {difference}: not the same work")
    return difference


def mask_file(folder, masks):
    path = pathlib.Path(folder) / f"masks-{len(masks)}.json"
    path.write_text(json.dumps(masks))
    return str(path)


def p1(bench, folder):
    for batch_size, pad, limit, reach in ((32, 128, 872, 6), (32, "longest", 872, 1), (1, 128, 200, 15)):
        what = f"gradient_l1, {limit} sentences, peer: batches of {batch_size}, padded to {pad}"
        bench.compare("P1", what, bench.ours("score", {"limit": limit}, "minilm.yaml"),
                      bench.transformers("score", batch_size, pad, limit=limit),
                      largest_difference if batch_size == 1 else None, reach)


def p2(bench, folder):
    masks = mask_file(folder, [[[layer, head]] for layer in range(LAYERS) for head in range(HEADS)])
    for pad, reach in ((128, 10), ("longest", 1)):
        bench.compare("P2", f"leave-one-out, 72 heads x 64 sentences, peer padded to {pad}",
                      bench.ours("masks", {"limit": 64, "masks": masks}, "minilm.yaml"),
                      bench.transformers("masks", 32, pad, limit=64, masks=masks), largest_difference, reach)


def p3(bench, folder):
    order = [[layer, head] for layer in range(LAYERS) for head in range(HEADS)]
    random.Random(1).shuffle(order)
    masks = mask_file(folder, [order[: math.floor(len(order) * step / 10 + 0.5)] for step in range(11)])
    for pad, reach in ((128, 5), ("longest", 1)):
        bench.compare("P3", f"one-shot sweep, 11 points x 256 sentences, peer padded to {pad}",
                      bench.ours("masks", {"limit": 256, "masks": masks}, "minilm.yaml"),
                      bench.transformers("masks", 32, pad, limit=256, masks=masks), largest_difference, reach)


def p4(bench, folder):
    ours = bench.ours("train", ENCODER, "encoder.yaml")
    reach = 1.5 if ours.ready["linear"] == "onednn" else 1.0
    theirs = bench.peer("eager_training.py", vocabulary=ENCODER["vocabulary"], length=ENCODER["length"], batch=32, steps=10)
    bench.compare("P4", f"training, 10 steps of 2048 tokens, linear: {ours.ready['linear']}, peer: eager PyTorch",
                  ours, theirs, None, reach)


def gates(bench, folder):
    full, frozen = bench.ours("train", ENCODER, "encoder.yaml"), bench.ours("train", ENCODER | {"gates": 1}, "encoder.yaml")
    bench.compare("gates", "10 steps of gates under frozen weights, beside 10 steps of ours that train the weights",
                  frozen, full, None, 1.4)


def p5(bench, folder):
    products = [[2048, 256, 256, 4 * 4], [2048, 256, 1024, 4], [2048, 1024, 256, 4]]
    ours, peak = bench.ours("train", ENCODER, "encoder.yaml"), bench.peer("gemm_peak.py", products=products)
    ours.run()
    peak.run()
    shares, seconds = [], []
    for _ in range(max(5, bench.options.repeats)):
        step = ours.run()["seconds"] / 10
        least = peak.run()["result"]
        shares.append(least / step)
        seconds.append((step, least))
    ours.close()
    peak.close()
    bench.add("P5", "share of a training step that its matrix products alone need", statistics.median(shares), 0.7,
              spread=[min(shares), max(shares)], ours_s=statistics.median(s for s, _ in seconds),
              theirs_s=statistics.median(s for _, s in seconds))


def p6(bench, folder):
    settings = {"examples": 32, "length": 64, "vocabulary": 8000}
    intact = bench.ours("forward", settings, "encoder.yaml")
    half = bench.ours("forward", settings | {"remove": 0.5}, "encoder.yaml")
    intact.run(), half.run()
    ratios = []
    for _ in range(40):
        one, other = intact.run(), half.run()
        ratios.append(one["seconds"] / other["seconds"])
    attention = [side["result"]["attention_flops_per_token"] for side in (one, other)]
    rest = 4 * 2 * 2 * 256 * 1024  # feed-forward layers, multiply-adds x 2
    predicted = (attention[0] + rest) / (attention[1] + rest)
    intact.close(), half.close()
    quarters = statistics.quantiles(ratios, n=4)
    bench.add("P6", f"speed-up with half of the heads, of the {predicted:.2f} that FLOPs predict",
              statistics.median(ratios) / predicted, 0.9, spread=[quarters[0] / predicted, quarters[2] / predicted])


def smollm2(bench, folder, work, limit, length, batch_size, ours={}, theirs={}):
    """Both sides on the same windows of tokens, which ours cuts."""
    changes = [f"data.context_length={length}", f"score.batch_size={batch_size}"]
    settings = {"limit": limit}
    cut = bench.ours("tokens", settings, "smollm2.yaml", *changes)
    examples = pathlib.Path(folder) / f"examples-{limit}-{length}.json"
    examples.write_text(json.dumps(cut.run()["result"]))
    cut.close()
    return (bench.ours(work, settings | ours, "smollm2.yaml", *changes),
            bench.peer("transformers_llama.py", work, model=os.environ["SMOLLM2"], examples=str(examples),
                       batch_size=batch_size, **theirs))


def p9(bench, folder):
    one, other = smollm2(bench, folder, "score", 4, 256, 1)
    found = largest_difference(one.run()["result"], other.run()["result"])
    one.close(), other.close()
    for frozen in (False, True):
        peer = "frozen weights" if frozen else "weights' gradients too"
        sides = smollm2(bench, folder, "score", 64, 256, 8, theirs={"frozen": frozen})
        times, peaks = bench.compare("P9", f"gradient_l1, 270 heads, 64 texts of 256 tokens, peer: {peer}", *sides,
                                     None, 1 if frozen else 3)
        bench.add("P9", f"peak memory, share of the peer's ({peer})", peaks["ours"] / peaks["theirs"],
                  1 if frozen else 0.5, at_most=True, bytes=peaks)
    print(f"    at batch 1 both sides' scores differ by {found:.1e}")


def p10(bench, folder):
    masks = mask_file(folder, [[[layer, head]] for layer in range(SMOL_LAYERS) for head in range(SMOL_HEADS)])
    sides = smollm2(bench, folder, "masks", 32, 32, 32, {"masks": masks}, {"masks": masks, "frozen": True})
    bench.compare("P10", "leave-one-out, 270 heads x 32 texts of 32 tokens, peer: its loop", *sides, largest_difference, 3)


def same_texts(a, b):
    if a != b:
        raise SystemExit("bench: the two sides wrote different texts: not the same work")
    return 0.0


def p11(bench, folder):
    for batch in (1, 8):
        settings = {"tokens": 128}
        sides = smollm2(bench, folder, "generate", batch, 32, batch, settings, settings | {"frozen": True})
        times, _ = bench.compare("P11", f"greedy generation, 128 tokens, batch {batch}, peer: generate() with cache",
                                 *sides, same_texts, 1.5)
        if batch > 1:
            continue
        weights = sum(file.stat().st_size for file in pathlib.Path(os.environ["SMOLLM2"]).glob("*.safetensors"))
        reading = bench.peer("read_weights.py", bytes=weights)
        least = min(reading.run()["result"] for _ in range(3))
        reading.close()
        bench.add("P11", "batch 1, share of a token's time that reading the weights once takes",
                  least / (statistics.median(times["ours"]) / 128), 0.5, bytes=weights, read_s=least)


def exponent(sizes, seconds):
    """Slope of the least-squares line through the logarithms."""
    return statistics.linear_regression([math.log(s) for s in sizes], [math.log(s) for s in seconds]).slope


def median_seconds(side, repeats):
    side.run()
    seconds = statistics.median(side.run()["seconds"] for _ in range(repeats))
    side.close()
    return seconds


def growth(bench, what, sizes, sides):
    seconds = [median_seconds(side, 3) for side in sides]
    slope = exponent(sizes, seconds)
    bench.add("P7", f"exponent of growth with {what}, {sizes[0]} to {sizes[-1]}: distance from 1", abs(slope - 1), 0.1,
              at_most=True, exponent=slope, seconds=dict(zip(map(str, sizes), seconds)))
    return seconds


def p12(bench, folder):
    """A window of 64 tokens on both sides, so 128 and the query's own, at T = 4,096; by blocks against a mask."""
    length, window = 4096, 64
    local = f"model.attention={{local: {{window: {window}}}}}"
    one_text = ("train.max_steps=1", "train.tokens_per_batch=8192", "model.pooling=mean")
    settings = {"examples": 1, "vocabulary": ENCODER["vocabulary"]}
    for dropout in (0.1, 0):
        theirs = bench.peer("eager_training.py", vocabulary=ENCODER["vocabulary"], length=length, batch=1, steps=1,
                            window=window, dropout=dropout)
        bench.compare("P12", f"training step, T = {length}, window {window} on both sides, dropout {dropout}, peer: masked",
                      bench.ours("train", settings | {"length": length}, "encoder.yaml", local, *one_text,
                                 f"model.dropout={dropout}"), theirs, None, 6)
    lengths, peaks = [64, 512, 1024, 2048, 4096, 8192], []
    for tokens in lengths:
        side = bench.ours("train", settings | {"length": tokens}, "encoder.yaml", local, *one_text)
        peaks.append(side.run()["peak_bytes"])
        side.close()
    grown = [peak - peaks[0] for peak in peaks[1:]]  # without what the program and the model take
    bench.add("P12", "exponent of growth of memory with the length, 512 to 8192", exponent(lengths[1:], grown), 1.1,
              at_most=True, lengths=lengths, peaks=peaks)


def p14(bench, folder):
    settings = ENCODER | {"examples": 160, "length": 128}  # 10 batches of 2048 tokens
    kinds = ["sinusoidal", "none", "rotary", "alibi", "t5", "shaw", "transformer_xl"]
    for dropout in (0.1, 0):
        sides = {kind: bench.ours("train", settings, "encoder.yaml", f"model.positions={kind}", f"model.dropout={dropout}")
                 for kind in ["learned", *kinds]}
        seconds = {kind: [] for kind in sides}
        for repeat in range(1 + bench.options.repeats):  # the first one warms
            for kind, side in sides.items():
                answer = side.run()["seconds"]
                seconds[kind] += [answer] if repeat else []
        for side in sides.values():
            side.close()
        for kind in kinds:
            ratios = [own / learned for own, learned in zip(seconds[kind], seconds["learned"])]
            bench.add("P14", f"training step, T = 128, dropout {dropout}, positions {kind}: times learned ones",
                      statistics.median(ratios), 1.25, at_most=True, spread=[min(ratios), max(ratios)])


def p7(bench, folder):
    sizes = [1000, 2000, 4000, 8000, 16000, 32000]
    growth(bench, "examples", sizes,
           (bench.ours("score", {"examples": n, "length": 8, "vocabulary": 8000}, "encoder.yaml",
                       "score.methods=[gradient_l1]") for n in sizes))
    heads = [[layer, head] for layer in range(4) for head in range(8)]
    settings = {"examples": 500, "length": 16, "vocabulary": 8000}
    counts = [5, 10, 20, 40, 80]
    draw = random.Random(1)
    points = [[draw.sample(heads, 6) + [[0, 0]] for _ in range(n)] for n in counts]  # all change the first block
    growth(bench, "points", counts,
           (bench.ours("masks", settings | {"masks": mask_file(folder, masks)}, "encoder.yaml") for masks in points))
    widths = [4, 8, 16, 32]
    tables = [mask_file(folder, [[[layer, head]] for layer in range(4) for head in range(width)]) for width in widths]
    seconds = growth(bench, "heads", [4 * width for width in widths],
                     (bench.ours("masks", settings | {"masks": table}, "encoder.yaml", f"model.heads={width}")
                      for width, table in zip(widths, tables)))
    one = median_seconds(bench.ours("masks", settings | {"masks": mask_file(folder, [[]])}, "encoder.yaml"), 5)
    bench.add("P7", "leave-one-out of 32 heads, in evaluations a head", seconds[1] / (32 * one), 0.5, at_most=True)


WORKS = {"P1": p1, "P2": p2, "P3": p3, "P4": p4, "P5": p5, "P6": p6, "P7": p7, "P9": p9, "P10": p10, "P11": p11, "P12": p12,
         "P14": p14, "gates": gates}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=" ".join(WORKS) + "; absent: all")
    parser.add_argument("--binary", required=True)
    parser.add_argument("--python", default=sys.executable, help="of the peers")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", help="also write the results here")
    options = parser.parse_args()
    bench = Bench(options)
    for name in options.names or WORKS:
        if name not in WORKS:
            parser.error(f"no benchmark is called {name}; there are {' '.join(WORKS)}")
        with tempfile.TemporaryDirectory() as folder:
            WORKS[name](bench, folder)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(bench.rows, indent=1) + "\n")


main()
