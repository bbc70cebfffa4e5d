#!/usr/bin/env python3
"""Scales s that minimise |A s - t|^2 + damp^2 |s - 1|^2, by scipy.sparse.linalg.lsmr on s - 1, as the code of Kwon et al.
2022 asks for them.

usage: make_damped_scales.py [--check]
"""
import json
import pathlib

import numpy as np
from scipy.sparse.linalg import lsmr

from golden_file import write_or_check

HERE = pathlib.Path(__file__).resolve().parent


def text():
    rng = np.random.default_rng(3)
    cases = []
    for rows, heads, damp in ((40, 4, 1.0), (40, 4, 0.0), (12, 6, 0.3), (5, 6, 1.0)):
        a = rng.normal(size=(rows, heads))
        t = a @ rng.normal(1, 0.5, heads) + rng.normal(size=rows)
        x = lsmr(a, t - a.sum(1), damp=damp, atol=1e-14, btol=1e-14, maxiter=10000)[0]
        cases.append({"damp": damp, "gram": (a.T @ a).round(12).tolist(), "towards": (a.T @ t).round(12).tolist(),
                      "scales": (1 + x).round(9).tolist()})
    return json.dumps({"cases": cases}, indent=1) + "\n"


if __name__ == "__main__":
    write_or_check(HERE / "damped_scales.json", text, __doc__)
