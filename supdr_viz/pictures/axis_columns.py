"""The columns of the data that rise and fall with the axes of a plane, and so give them a meaning."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Columns that are named at an axis.
NAMED = 2

# Smallest correlation, in size, of a column that is named.
LEAST = 0.3

# Rows and columns at most, so that a frame does not wait.
MOST_ROWS, MOST_COLUMNS = 400, 1000

# Names that only number the columns.
NUMBERED = re.compile(r"[a-z]?\d+")


class AxisColumns:
    """The columns of some rows, to be compared with where these stand in a plane.

    `blocks`: the rows (n, m) in parts, which are not copied whole; NaN cells count as the column's mean. `names`: of
    the columns; where all only number them, or there are too many, nothing is said. `shown`: numbers of the rows that
    are drawn, ascending; None: all.
    """

    def __init__(self, blocks: Sequence[NDArray], names: Sequence[str], shown: NDArray | None = None) -> None:
        n_rows = sum(map(len, blocks))
        telling = 2 < len(names) <= MOST_COLUMNS and not all(NUMBERED.fullmatch(name) for name in names)
        self._names = names if telling and n_rows > 2 else ()
        self._rows, self._X = np.arange(0), np.empty((0, len(names)))
        if self._names:
            among = np.arange(n_rows) if shown is None else shown
            self._rows = among[np.unique(np.linspace(0, len(among) - 1, MOST_ROWS).astype(int))]
            self._X = _taken(blocks, self._rows)

    def words(self, places: NDArray) -> tuple[str, str]:
        """Name, for each axis of a plane, the columns with the largest correlations: "alcohol +0.92, ash −0.41".

        These are the loadings of a linear map of standardised columns, up to the length of the axis.

        `places` (n, 2): where the rows stand; NaN where they are not shown. Returns empty texts where nothing is known.
        """
        if not self._names:
            return "", ""
        along = places[self._rows]
        shown = np.isfinite(along).all(axis=1)
        if shown.sum() < 3:
            return "", ""
        correlations = _standardised(self._X[shown]).T @ _standardised(along[shown]) / shown.sum()
        return self._of(correlations[:, 0]), self._of(correlations[:, 1])

    def _of(self, correlations: NDArray) -> str:
        order = np.argsort(-np.abs(correlations), kind="stable")[:NAMED]
        named = [k for k in order if abs(correlations[k]) >= LEAST]
        return ", ".join(f"{self._names[k]} {_signed(correlations[k])}" for k in named)


def _taken(blocks: Sequence[NDArray], rows: NDArray) -> NDArray:
    """Return some rows, numbered through all blocks and ascending."""
    starts = np.cumsum([0, *map(len, blocks)])
    parts = [rows[(rows >= start) & (rows < end)] - start for start, end in itertools.pairwise(starts)]
    return np.concatenate([block[part] for block, part in zip(blocks, parts, strict=True)])


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _standardised(values: NDArray) -> NDArray:
    """Return columns of mean 0 and variance 1; constant ones and cells that are missing are 0."""
    finite = np.isfinite(values)
    counts = np.maximum(finite.sum(axis=0), 1)
    centred = np.where(finite, values - np.where(finite, values, 0.0).sum(axis=0) / counts, 0.0)
    deviation = np.sqrt((centred**2).mean(axis=0))
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 1e-12)
