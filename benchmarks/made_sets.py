"""Sets for maps that are made here: overlap, noise, rare classes, many classes, counts, levels, curved and wide data.

python benchmarks/maps.py --data-dir DIR --dry --sets waveform "rare class" ...
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn import datasets

Rows = tuple[np.ndarray, np.ndarray]


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def waveform(n_rows: int = 1500, noise: int = 0) -> Rows:
    """Return three classes, each a mixture of two of three waves (L. Breiman et al., 1984), and columns of noise."""
    rng, steps = _rng(1), np.arange(21)
    waves = np.array([np.maximum(6.0 - abs(steps - peak), 0.0) for peak in (6, 14, 10)])
    y, share = rng.integers(0, 3, n_rows), rng.random(n_rows)[:, None]
    first, second = np.array([0, 0, 1])[y], np.array([1, 2, 2])[y]
    X = share * waves[first] + (1.0 - share) * waves[second] + rng.standard_normal((n_rows, 21))
    return np.hstack([X, rng.standard_normal((n_rows, noise))]), y


def cut(X: np.ndarray, values: np.ndarray, count: int) -> Rows:
    """Return rows whose classes are equal parts of the range of a number."""
    share = (values - values.min()) / np.ptp(values)
    return X, np.minimum((count * share).astype(int), count - 1)


def unequal(*shares: float, sep: float = 1.0, seed: int = 0) -> Rows:
    """Return one cloud a class, the classes having these shares of 1,500 rows."""
    return datasets.make_classification(
        1500,
        10,
        n_informative=6,
        n_redundant=2,
        weights=list(shares),
        n_classes=len(shares),
        class_sep=sep,
        flip_y=0,
        n_clusters_per_class=1,
        random_state=seed,
    )


def clouds(n_classes: int, n_each: int, n_columns: int, width: float = 1.0, apart: float = 3.0) -> Rows:
    """Return many small clouds."""
    rng, y = _rng(2), np.repeat(np.arange(n_classes), n_each)
    return apart * rng.standard_normal((n_classes, n_columns))[y] + width * rng.standard_normal((len(y), n_columns)), y


def counts(n_rows: int = 1200, n_columns: int = 100, n_classes: int = 4) -> Rows:
    """Return counts whose rates are those of a class times a length of the row."""
    rng = _rng(3)
    rates, y = rng.gamma(0.5, 2.0, (n_classes, n_columns)), rng.integers(0, n_classes, n_rows)
    return rng.poisson(rates[y] * rng.gamma(4.0, 0.25, (n_rows, 1))).astype(float), y


def levels(n_rows: int = 1000, n_columns: int = 12, n_levels: int = 4) -> Rows:
    """Return columns of levels, each level a column of 0 and 1."""
    rng, y = _rng(4), _rng(4).integers(0, 3, n_rows)
    chances = rng.dirichlet(np.full(n_levels, 1.2), (3, n_columns)).cumsum(axis=2)
    drawn = (rng.random((n_rows, n_columns, 1)) > chances[y]).sum(axis=2).clip(max=n_levels - 1)
    return np.eye(n_levels)[drawn].reshape(n_rows, -1), y


def ordered(n_rows: int = 900, count: int = 5) -> Rows:
    """Return fifths of a noisy sum of eight columns."""
    rng = _rng(16)
    X = rng.standard_normal((n_rows, 8))
    total = X @ rng.standard_normal(8) + 0.5 * rng.standard_normal(n_rows)
    return X, np.digitize(total, np.quantile(total, np.arange(1, count) / count))


def board(n_rows: int = 800) -> Rows:
    """Return a chessboard of 16 squares."""
    X = _rng(17).uniform(0.0, 4.0, (n_rows, 2))
    return X, X.astype(int).sum(axis=1) % 2


def heavy(n_rows: int = 900) -> Rows:
    """Return three clouds with heavy tails."""
    rng = _rng(11)
    y = rng.integers(0, 3, n_rows)
    return 1.5 * rng.standard_normal((3, 10))[y] + rng.standard_t(1.5, (n_rows, 10)), y


def wrong_labels(share: float) -> Rows:
    """Return digits of which this share has a random label."""
    X, y = datasets.load_digits(return_X_y=True)
    rng = _rng(0)
    wrong = rng.random(len(y)) < share
    return X, np.where(wrong, rng.integers(0, 10, len(y)), y)


MADE: dict[str, Callable[[], Rows]] = {
    "moons": lambda: datasets.make_moons(800, noise=0.3, random_state=0),
    "circles": lambda: datasets.make_circles(600, noise=0.1, factor=0.5, random_state=0),
    "swiss roll": lambda: cut(*datasets.make_swiss_roll(1200, noise=0.3, random_state=0), 6),
    "overlapping blobs": lambda: datasets.make_blobs(900, 2, centers=5, cluster_std=2.0, random_state=0),
    "ten blobs": lambda: datasets.make_blobs(1200, 10, centers=10, cluster_std=4.0, random_state=0),
    "quantiles": lambda: datasets.make_gaussian_quantiles(n_samples=900, n_features=4, n_classes=3, random_state=0),
    "hastie": lambda: datasets.make_hastie_10_2(1500, random_state=0),
    "four classes": lambda: datasets.make_classification(900, 20, n_informative=8, n_classes=4, random_state=0),
    "flipped": lambda: datasets.make_classification(900, 15, n_informative=8, flip_y=0.4, random_state=0),
    "500 columns": lambda: datasets.make_classification(600, 500, n_informative=20, n_classes=3, random_state=0),
    "waveform": waveform,
    "waveform and noise": lambda: waveform(noise=19),
    "rare class": lambda: unequal(0.98, 0.02),
    "two rare classes": lambda: unequal(0.85, 0.12, 0.03),
    "one in ten": lambda: unequal(0.9, 0.1, sep=2.0),
    "50 close clouds": lambda: clouds(50, 20, 20, 2.0, 1.5),
    "80 small clouds": lambda: clouds(80, 8, 30),
    "100 clouds": lambda: clouds(100, 15, 10),
    "counts": counts,
    "levels": levels,
    "ordered": ordered,
    "board": board,
    "heavy tails": heavy,
    "wrong labels": lambda: wrong_labels(0.2),
}
