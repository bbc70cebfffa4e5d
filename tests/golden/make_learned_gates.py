#!/usr/bin/env python3
"""Gates that are learnt, in numpy, from the formulas of the papers:

hard concrete   Louizos, Welling and Kingma 2018 (arXiv 1712.01312), equations 10 to 12, with one gate a head
top k           Li, Cotterell and Sachan 2021 (arXiv 2108.04657), section 3.2

Derivatives are central differences in float64.

usage: make_learned_gates.py [--check]
"""
import json
import pathlib

import numpy as np

from golden_file import write_or_check

HERE = pathlib.Path(__file__).resolve().parent
BETA, GAMMA, ZETA = 0.33, -0.1, 1.1
STEP = 1e-6


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def hard_concrete(log_alpha, u):
    s = sigmoid((np.log(u) - np.log(1 - u) + log_alpha) / BETA)
    return np.minimum(1, np.maximum(0, s * (ZETA - GAMMA) + GAMMA))


def open_probability(log_alpha):
    return sigmoid(log_alpha - BETA * np.log(-GAMMA / ZETA))


def top_k(r, k, temperature):
    r = r.copy()
    gates = np.zeros_like(r)
    for _ in range(k):
        z = r / temperature
        p = np.exp(z - z.max())
        p /= p.sum()
        gates += p
        r += np.log(np.maximum(1 - p, np.finfo(np.float64).tiny))
    return gates


def slopes(f, x):
    """Of a scalar function."""
    found = []
    for i in range(len(x)):
        step = np.zeros_like(x)
        step[i] = STEP
        found.append((f(x + step) - f(x - step)) / (2 * STEP))
    return found


def numbers(values):
    return [float(f"{v:.12g}") for v in values]


def text():
    rng = np.random.default_rng(5)
    log_alpha = np.linspace(-1, 1, 8)
    u = rng.uniform(0.3, 0.7, 8)
    lambdas = np.linspace(0.1, 0.8, 8)
    weights = rng.normal(size=8)
    hard = {
        "log_alpha": numbers(log_alpha),
        "u": numbers(u),
        "lambdas": numbers(lambdas),
        "weights": numbers(weights),
        "gates": numbers(hard_concrete(log_alpha, u)),
        "gate_slopes": numbers(slopes(lambda a: (weights * hard_concrete(a, u)).sum(), log_alpha)),
        "open_probability": numbers(open_probability(log_alpha)),
        "penalty": float(f"{(lambdas * open_probability(log_alpha)).sum():.12g}"),
        "penalty_slopes": numbers(slopes(lambda a: (lambdas * open_probability(a)).sum(), log_alpha)),
        # Of the distribution itself: how often the gate is 0 where u is any of many equally spaced numbers.
        "closed_share": numbers(
            [(hard_concrete(a, (np.arange(200000) + 0.5) / 200000) == 0).mean() for a in log_alpha]),
        "one_share": numbers(
            [(hard_concrete(a, (np.arange(200000) + 0.5) / 200000) == 1).mean() for a in log_alpha]),
    }
    r = rng.normal(size=7)
    towards = rng.normal(size=7)
    soft = {"r": numbers(r), "weights": numbers(towards), "cases": []}
    for k in (1, 3, 6):
        for temperature in (1000.0, 1.0, 0.3, 1e-8):
            case = {"k": k, "temperature": temperature, "gates": numbers(top_k(r, k, temperature))}
            if temperature in (1.0, 0.3):
                case["slopes"] = numbers(slopes(lambda x: (towards * top_k(x, k, temperature)).sum(), r))
            soft["cases"].append(case)
    return json.dumps({"hard_concrete": hard, "top_k": soft}, indent=1) + "\n"


if __name__ == "__main__":
    write_or_check(HERE / "learned_gates.json", text, __doc__)
