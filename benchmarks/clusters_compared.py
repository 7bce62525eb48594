"""Steadiness and cohesiveness by `supdr.quality.cluster_reliability` beside those of ZADU, on the same maps.

python -m pip install zadu && python benchmarks/clusters_compared.py

Both draw clusters at random: a line has the means over five seeds and their standard errors.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits
from zadu.measures import steadiness_cohesiveness

import supdr
from supdr.quality import cluster_reliability

SETS = {"wine": load_wine, "breast_cancer": load_breast_cancer, "digits": load_digits}
MAPS = {"PCA": PCA(2, random_state=0), "MAC": supdr.MAC(2, random_state=0)}
MEASURES = ("steadiness", "cohesiveness")
SEEDS = 5

MOST_ROWS = 400
"""Rows of a set, drawn at random."""


def ours(X: np.ndarray, Z: np.ndarray, seed: int) -> list[float]:
    """Return the two measures as this library computes them."""
    found = cluster_reliability(X, Z, random_state=seed)
    return [getattr(found, name) for name in MEASURES]


def theirs(X: np.ndarray, Z: np.ndarray, seed: int) -> list[float]:
    """Return the two measures as ZADU computes them."""
    found = steadiness_cohesiveness.measure(X, Z, random_state=seed)
    return [found[name] for name in MEASURES]


def main() -> None:
    """Print one line for each map and measure."""
    print(f"{'set':<14} {'map':<4} {'measure':<13} {'supdr':>13} {'ZADU':>13}  apart, in standard errors")
    for name, load in SETS.items():
        X, y = load(return_X_y=True)
        rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
        X, y = scale(X[rows]), y[rows]
        for kind, model in MAPS.items():
            Z = model.fit(X, y).transform(X)
            both = [np.array([measure(X, Z, seed) for seed in range(SEEDS)]) for measure in (ours, theirs)]
            for k, measure in enumerate(MEASURES):
                (mean, error), (other, other_error) = (
                    (each[:, k].mean(), each[:, k].std(ddof=1) / np.sqrt(SEEDS)) for each in both
                )
                apart = (mean - other) / np.hypot(error, other_error)
                texts = f"{mean:.3f} ± {error:.3f}", f"{other:.3f} ± {other_error:.3f}"
                print(f"{name:<14} {kind:<4} {measure:<13} {texts[0]:>13} {texts[1]:>13}  {apart:+.1f}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
