"""Seconds of a training step's matrix products alone, each on the faster library: what no training can beat.

usage: gemm_peak.py SETTINGS    SETTINGS (JSON): threads, products ([[rows, inputs, outputs, how many], ...])
"""

import json
import sys
import time

import torch
from protocol import serve

settings = json.loads(sys.argv[1])
torch.set_num_threads(settings["threads"])
onednn = torch.ops.mkldnn._linear_pointwise


def fastest(calls, repeats=15):
    best = []
    for call in calls:
        call()
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        best.append(sorted(times)[len(times) // 2])
    return min(best)


def products():
    seconds = 0.0
    for rows, inputs, outputs, count in settings["products"]:
        x, w, y = torch.randn(rows, inputs), torch.randn(outputs, inputs), torch.randn(rows, outputs)
        for a, b in ((x, w), (y, w.t()), (y.t(), x.t())):  # forward, gradient of the input, of the weight
            seconds += count * fastest(
                (lambda: torch.nn.functional.linear(a, b), lambda: onednn(a, b, None, "none", [], ""))
            )
    return seconds


serve("products", products)
