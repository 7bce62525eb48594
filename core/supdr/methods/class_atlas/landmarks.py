"""Which rows stand for all: a stratified subset in which no class is lost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Rows of a class that a subset takes at least, if there are as many.
FEWEST = 20


def stratified_rows(codes: NDArray, count: int, rng: np.random.Generator) -> NDArray:
    """Return about `count` rows, sorted: each class by its share but `FEWEST` at least; all if there are no more."""
    if len(codes) <= count:
        return np.arange(len(codes))
    chosen = []
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        quota = min(len(members), max(round(count * len(members) / len(codes)), FEWEST))
        chosen.append(rng.permutation(members)[:quota])
    return np.sort(np.concatenate(chosen))
