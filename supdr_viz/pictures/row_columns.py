"""The columns of the data, row by row: what rows are looked up by, listed by, and coloured by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Categories that have a colour each; of more, the rarest share the last one.
MOST_CATEGORIES = 10
OTHERS = "others"

# Per cent of the rows beyond which values have the first or the last colour.
ROBUST = (2.0, 98.0)


@dataclass(frozen=True, eq=False)
class Column:
    """One value for each row: a number or a category.

    values (n,): numbers, or positions in `categories`; NaN where missing.
    categories: empty for numbers.
    """

    name: str
    values: NDArray
    categories: tuple[str, ...] = ()

    @property
    def texts(self) -> NDArray:
        """The values as they are shown, (n,): numbers, or texts; None where missing."""
        if not self.categories:
            texts = self.values.astype(object)
            texts[np.isnan(self.values)] = None
            return texts
        names = np.array([*self.categories, None], dtype=object)
        return names[np.where(np.isnan(self.values), len(self.categories), self.values).astype(int)]

    @property
    def grouped(self) -> Column:
        """The column with no more categories than have a colour each."""
        if len(self.categories) <= MOST_CATEGORIES:
            return self
        present = self.values[np.isfinite(self.values)].astype(int)
        counts = np.bincount(present, minlength=len(self.categories))
        kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_CATEGORIES - 1])
        number = np.full(len(self.categories), len(kept))
        number[kept] = np.arange(len(kept))
        values = np.full(len(self.values), np.nan)
        values[np.isfinite(self.values)] = number[present]
        return Column(self.name, values, (*(self.categories[code] for code in kept), OTHERS))


def robust_range(values: NDArray) -> tuple[float, float]:
    """Return the ends of a scale of values (n,) that few far ones do not stretch; it is never empty."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0, 1.0
    low, high = (float(each) for each in np.percentile(finite, ROBUST))
    if low == high:
        low, high = float(finite.min()), float(finite.max())
    return (low, high) if high > low else (low - 0.5, low + 0.5)


class RowColumns:
    """The columns of the rows of a scene, those that no method learns from as well.

    A text from which methods learn by indicators is one column; `get` knows the indicators, too.

    `parts`: the rows (n, m), in pieces; `features`: names of their columns; `metadata`: of other columns, their values
    (n,).
    """

    def __init__(
        self, parts: Sequence[NDArray], features: Sequence[str], metadata: Mapping[str, NDArray] | None = None
    ) -> None:
        self._parts, self.features = parts, tuple(features)
        self._metadata = dict(metadata or {})
        self._numbers = {name: number for number, name in enumerate(self.features)}
        self._read: dict[str, Column] = {}

    @property
    def metadata(self) -> list[str]:
        """Names of the columns that are no features: texts as they are written, and what no method learns from."""
        return list(self._metadata)

    @property
    def learnt(self) -> list[str]:
        """Names of the columns that methods learn from; of a text that became indicators, its own name."""
        texts = {name for name, values in self._metadata.items() if values.dtype == object}
        return list(dict.fromkeys(_text_of(name, texts) or name for name in self.features))

    @property
    def others(self) -> list[str]:
        """Names of the columns that no method learns from."""
        learnt = set(self.learnt)
        return [name for name in self._metadata if name not in learnt]

    @property
    def names(self) -> list[str]:
        """Names of all columns, each once."""
        return [*self.learnt, *self.others]

    def get(self, name: str) -> Column | None:
        """Return the column of this name; None: there is none."""
        if name not in self._read:
            if name in self._metadata:
                values = self._metadata[name]
            elif name in self._numbers:
                values = np.concatenate([part[:, self._numbers[name]] for part in self._parts])
            else:
                return None
            self._read[name] = _column(name, values)
        return self._read[name]


def _text_of(feature: str, texts: Set[str]) -> str:
    """Return of which column of texts a feature is an indicator: ``island`` of ``island=Dream``; empty: of none."""
    starts = (feature[:place] for place, letter in enumerate(feature) if letter == "=") if texts else iter(())
    return next((start for start in starts if start in texts), "")


def _column(name: str, values: NDArray) -> Column:
    """Make a column of numbers, or of categories where there are texts or only two different numbers."""
    if values.dtype != object:
        levels = np.unique(values[np.isfinite(values)])
        if len(levels) != 2:
            return Column(name, values)
        return Column(name, np.where(np.isnan(values), np.nan, values == levels[1]), tuple(f"{x:g}" for x in levels))
    present = np.array([value is not None for value in values])
    categories, codes = np.unique(values[present].astype(str), return_inverse=True)
    numbers = np.full(len(values), np.nan)
    numbers[present] = codes
    return Column(name, numbers, tuple(map(str, categories)))
