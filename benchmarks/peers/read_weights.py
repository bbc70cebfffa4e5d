"""Seconds that reading a model's weights once takes: what no generation at batch 1 can beat.

usage: read_weights.py SETTINGS    SETTINGS (JSON): threads, bytes
"""

import json
import sys
import time

import torch
from protocol import serve

settings = json.loads(sys.argv[1])
torch.set_num_threads(settings["threads"])
# One vector times a matrix is the cheapest use of a weight.
weights = torch.randn(settings["bytes"] // 4 // 4096, 4096)
x = torch.randn(4096)


def read():
    times = []
    for _ in range(20):
        start = time.perf_counter()
        weights @ x
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


serve("read", read)
