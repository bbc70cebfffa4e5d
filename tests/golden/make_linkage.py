#!/usr/bin/env python3
"""Makes linkage.json: average linkage of random distances by scipy.cluster.hierarchy, and the order in which near
duplicates go by plain loops over the rule of docs/definitions.md.

usage: make_linkage.py [--check]

Distances have no ties, of which scipy and headprune may merge another pair first. Needs numpy and scipy.
"""
import json
from pathlib import Path

import numpy
from golden_file import write_or_check
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
from scipy.spatial.distance import squareform


def nearest_first(distances):
    """[(thing, distance)], what goes first at the front."""
    left, gone, order = list(range(len(distances))), [], []
    while left:
        key = lambda one: (sorted(distances[one, other] for other in left if other != one), sorted(distances[one, other] for other in gone), one)
        goes = min(left, key=key)
        nearest = min((distances[goes, other] for other in left if other != goes), default=None)
        order.append([goes, nearest])
        left.remove(goes)
        gone.append(goes)
    return order


def case(random, count):
    points = random.normal(size=(count, 3))
    distances = numpy.sqrt(((points[:, None] - points[None]) ** 2).sum(-1)) * random.uniform(0.8, 1.2, size=(count, count))
    distances = numpy.triu(distances, 1)
    distances = distances + distances.T
    merges = linkage(squareform(distances), method="average")
    height = 0.7 * merges[-1, 2]
    return {
        "distances": distances.tolist(),
        "merges": [[int(a), int(b), d, int(n)] for a, b, d, n in merges],
        "leaves": leaves_list(merges).tolist(),
        "clusters": fcluster(merges, height, criterion="distance").tolist(),
        "nearest_first": nearest_first(distances),
    }


def text():
    random = numpy.random.default_rng(18)
    return json.dumps([case(random, count) for count in (2, 3, 7, 24)]) + "\n"


write_or_check(Path(__file__).parent / "linkage.json", text, __doc__)
