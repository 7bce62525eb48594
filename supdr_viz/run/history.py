"""Records of a run: curves of scalars, and a bounded set of snapshots to scrub through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr_viz.data.quotas import most
from supdr_viz.pictures.types import Curves

MAX_SNAPSHOTS = 240
MAX_SNAPSHOT_BYTES = 64_000_000
MAX_DRAWN = 500


class CurveLog:
    """Named scalars by iteration, in growing arrays."""

    def __init__(self) -> None:
        self._size = 0
        self._iteration = np.empty(256, dtype=np.int64)
        self._values: dict[str, np.ndarray] = {}
        self._thinned: dict[int, Curves] = {}

    def __len__(self) -> int:
        return self._size

    def append(self, iteration: int, values: Mapping[str, float]) -> None:
        """Add one column; what is there of its iteration, or later, is replaced."""
        self.extend([iteration], [values])

    def extend(self, iterations: Sequence[int], rows: Sequence[Mapping[str, float]]) -> None:
        """Add columns of rising iterations; what is there of the first one's, or later, is replaced."""
        names = tuple({key: None for row in rows for key in row})
        self.extend_table(iterations, names, np.array([[row.get(key, np.nan) for key in names] for row in rows]))

    def extend_table(self, iterations: Sequence[int], names: Sequence[str], values: NDArray) -> None:
        """Add columns as `extend` does, given as an array of shape (iterations, names)."""
        self._thinned = {}
        self.truncate(iterations[0] - 1)
        begin, end = self._size, self._size + len(iterations)
        while end > len(self._iteration):
            self._iteration = np.concatenate([self._iteration, np.empty_like(self._iteration)])
            self._values = {key: np.concatenate([v, np.full_like(v, np.nan)]) for key, v in self._values.items()}
        self._iteration[begin:end] = iterations
        for key in self._values.keys() - set(names):
            self._values[key][begin:end] = np.nan  # there may be values that were forgotten
        for key, column in zip(names, values.T, strict=True):
            if key not in self._values:
                self._values[key] = np.full(len(self._iteration), np.nan)
            self._values[key][begin:end] = column
        self._size = end

    def insert(self, iteration: int, values: Mapping[str, float]) -> None:
        """Add a column at its place; used for values that arrive late or for an earlier iteration."""
        self._thinned = {}
        place = int(np.searchsorted(self._iteration[: self._size], iteration))
        if place == self._size:
            self.append(iteration, values)
        elif self._iteration[place] == iteration:
            for key, value in values.items():
                column = self._values.setdefault(key, np.full(len(self._iteration), np.nan))
                column[place] = value
        else:
            tail = slice(place, self._size)
            later = [
                (int(self._iteration[i]), {k: float(v[i]) for k, v in self._values.items()})
                for i in range(*tail.indices(self._size))
            ]
            self._size = place
            for moment, numbers in ((iteration, values), *later):
                self.append(moment, numbers)

    def latest(self, iteration: int, within: int) -> dict[str, float]:
        """Return the values of the last column up to `iteration`; none if it is more than `within` iterations back."""
        place = int(np.searchsorted(self._iteration[: self._size], iteration, side="right")) - 1
        if place < 0 or iteration - self._iteration[place] > within:
            return {}
        return {key: float(column[place]) for key, column in self._values.items()}

    def truncate(self, iteration: int) -> None:
        """Forget everything after `iteration`."""
        self._thinned = {}
        if self._size and self._iteration[self._size - 1] > iteration:
            self._size = int(np.searchsorted(self._iteration[: self._size], iteration, side="right"))

    def curves(self, limit: int = MAX_DRAWN) -> Curves:
        """Return at most `limit` points of every curve, first and last included.

        The stride doubles as the curves grow, so that the points before stay where they were.  While nothing is added
        the answer is the same object.
        """
        if limit not in self._thinned:
            self._thinned[limit] = self._at_most(limit)
        return self._thinned[limit]

    def _at_most(self, limit: int) -> Curves:
        stride = 1
        while (self._size - 1) // stride + 2 > limit and stride < self._size:
            stride *= 2
        index = np.arange(0, self._size, stride)
        if self._size and index[-1] != self._size - 1:
            index = np.append(index, self._size - 1)
        return Curves(self._iteration[index], {key: _thinned(v, index) for key, v in self._values.items()})

    def table(self) -> Curves:
        """Return every point."""
        return self._at_most(self._size + 2)


def _thinned(column: NDArray, index: NDArray) -> NDArray:
    """Return the values at `index`; where none is known the latest one since the index before."""
    values = column[index]
    gaps = np.isnan(values)
    if gaps.any() and len(index):
        present = np.flatnonzero(~np.isnan(column[: index[-1] + 1]))
        if len(present):
            latest = present[np.maximum(np.searchsorted(present, index, side="right") - 1, 0)]
            recent = gaps & (latest <= index) & (latest > np.concatenate([[-1], index[:-1]]))
            values[recent] = column[latest[recent]]
    return values


class SnapshotRing:
    """Snapshots at a stride that doubles when they grow too many or too large; the newest is always there.

    `max_items`: most snapshots kept; `max_bytes`: most bytes of state kept, as long as there are few runs: of many each
    keeps its share of what all may. `n_runs`: returns how many there are.
    """

    def __init__(
        self,
        max_items: int = MAX_SNAPSHOTS,
        max_bytes: int = MAX_SNAPSHOT_BYTES,
        n_runs: Callable[[], int] = lambda: 1,
    ) -> None:
        self.max_items, self.max_bytes, self._n_runs = max_items, max_bytes, n_runs
        self._sample: list[Snapshot] = []
        self._stride = 1
        self.newest: Snapshot | None = None

    def append(self, snapshot: Snapshot) -> None:
        """Keep `snapshot` as the newest."""
        self.newest = snapshot
        if self._sample and self._sample[-1].iteration >= snapshot.iteration:
            self._sample = [earlier for earlier in self._sample if earlier.iteration < snapshot.iteration]
        if self._sample and not self.keeps(snapshot):
            return
        self._sample.append(snapshot)
        room = min(self.max_bytes, 1_000_000 * most("history-mb") // max(1, self._n_runs()))
        allowed = max(2, min(self.max_items, room // max(1, state_bytes(snapshot.state))))
        while len(self._sample) > allowed:
            self._stride *= 2
            self._sample = [s for i, s in enumerate(self._sample) if i == 0 or s.iteration % self._stride == 0]

    def keeps(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot is kept when another one becomes the newest."""
        return snapshot.iteration % self._stride == 0

    def nearest(self, iteration: int) -> Snapshot | None:
        """Return the recorded snapshot closest to `iteration`."""
        # One reading of the list: the worker replaces it, never changes it under a reader.
        candidates = [*self._sample, *([self.newest] if self.newest else [])]
        return min(candidates, key=lambda s: abs(s.iteration - iteration), default=None)

    def truncate(self, snapshot: Snapshot) -> None:
        """Forget everything after `snapshot`, which becomes the newest."""
        self._sample = [kept for kept in self._sample if kept.iteration <= snapshot.iteration]
        self.newest = snapshot

    @property
    def snapshots(self) -> list[Snapshot]:
        """Recorded snapshots in order, the newest last."""
        kept = list(self._sample)
        if self.newest is not None and (not kept or kept[-1].iteration != self.newest.iteration):
            kept.append(self.newest)
        return kept

    @property
    def iterations(self) -> list[int]:
        """Recorded iterations in order."""
        recorded = [kept.iteration for kept in self._sample]
        if self.newest and (not recorded or recorded[-1] != self.newest.iteration):
            recorded.append(self.newest.iteration)
        return recorded


def state_bytes(state: Any) -> int:
    """Return the bytes of the arrays in a (nested) tuple."""
    if isinstance(state, np.ndarray):
        return state.nbytes
    if isinstance(state, (tuple, list)):
        return sum(state_bytes(part) for part in state)
    return 0
