"""Golden values of tests/stats/crossed_test.cpp and intervals_test.cpp: numpy and scipy alone, written from the text of
docs/definitions.md "Several seeds or orders", not from the program. Run it and compare with the constants of the
tests."""
import numpy as np
from scipy import optimize, stats


def crossed(x):
    """Mean of a seeds x examples table and the variance's two parts."""
    k, n = x.shape
    grand = x.mean()
    # Two-way analysis of variance without replication, mean squares.
    ms_seeds = n * ((x.mean(1) - grand) ** 2).sum() / (k - 1)
    ms_examples = k * ((x.mean(0) - grand) ** 2).sum() / (n - 1)
    ms_residual = ((x - x.mean(1, keepdims=True) - x.mean(0) + grand) ** 2).sum() / ((k - 1) * (n - 1))
    seeds = ms_seeds / (n * k)  # s^2 / k
    between, residual = ms_examples / (k * n), ms_residual / (k * n)
    examples = max(0.0, between - residual)
    return grand, seeds, examples


def half_width(x, alpha):
    """Graybill and Wang: each source with its own Student quantile."""
    k, n = x.shape
    _, seeds, examples = crossed(x)
    return np.sqrt(stats.t.isf(alpha / 2, k - 1) ** 2 * seeds + stats.t.isf(alpha / 2, n - 1) ** 2 * examples)


def wilson(p, n, z):
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return centre - half, centre + half


def reached(value, half, normal, wide):
    """Few degrees of freedom: each side goes beyond the normal interval, by the nearer of two ways."""
    return min(normal[0], max(value - half, wide[0])), max(normal[1], min(value + half, wide[1]))


Z = stats.norm.ppf(0.975)

# 3 seeds, 20 examples: seed s fails example i where (7 i + 3 s) % 20 < 5 + s or i < 2.
x = np.array([[0.0 if (7 * i + 3 * s) % 20 < 5 + s or i < 2 else 1.0 for i in range(20)] for s in range(3)])
mean, seeds, examples = crossed(x)
half, error = half_width(x, 0.05), np.sqrt(seeds + examples)
n_effective = min(mean * (1 - mean) / (seeds + examples), 60)
print("proportion", repr(mean), repr(seeds), repr(examples))
print("  wilson", *map(repr, reached(mean, half, wilson(mean, n_effective, Z), wilson(mean, n_effective, half / error))))

# Losses, 4 seeds, 12 examples.
y = np.array([[0.5 + 0.1 * s + 0.05 * ((5 * i + 2 * s) % 7) + 0.02 * i for i in range(12)] for s in range(4)])
mean, seeds, examples = crossed(y)
half = half_width(y, 0.05)
print("loss", repr(mean), repr(seeds), repr(examples))
error = np.sqrt(seeds + examples)
logs = [(mean * np.exp(-h / mean), mean * np.exp(h / mean)) for h in (Z * error, half)]
print("  log", *map(repr, reached(mean, half, *logs)))
delta = y - 0.8
mean, seeds, examples = crossed(delta)
p = optimize.brentq(lambda alpha: half_width(delta, alpha) - abs(mean), 1e-9, 0.999999)
print("difference", repr(mean), repr(mean - half), repr(mean + half), repr(p))

a, b = [0.81, 0.79, 0.82], [0.84, 0.80, 0.86, 0.85]
welch = stats.ttest_ind(b, a, equal_var=False)
print("welch", repr(np.mean(b) - np.mean(a)), repr(welch.pvalue), *map(repr, welch.confidence_interval()))


def bonett_price(gained, lost, n):
    p12, p21, z = (gained + 1) / (n + 2), (lost + 1) / (n + 2), stats.norm.ppf(0.975)
    half = z * np.sqrt((p12 + p21 - (p12 - p21) ** 2) / (n + 2))
    return p12 - p21 - half, p12 - p21 + half


for counts in [(49, 102, 1821), (0, 5, 1000), (0, 0, 50)]:
    print("bonett_price", counts, *map(repr, bonett_price(*counts)))
