"""The rows of a run in partitions: what `supdr.rows.in_memory.InMemoryRows` is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from supdr.engine.interruption import checkpoint
from supdr.rows.in_memory import added
from supdr.rows.partitions import Partitions, gathered, listed, spread, spread_and_total, total

# Arrays in partitions, and some of their rows.
Taken = tuple[tuple[Partitions, NDArray], ...]

# Rows for which random numbers are drawn at a time.
DRAWN = 1 << 16


@dataclass(frozen=True, eq=False)
class PartitionedRows:
    """Rows of a run in partitions.

    X (n, m): preprocessed rows.
    sizes: rows of each partition.
    sampled (s,): numbers of the rows of the sample.
    fingerprint: tells these rows in these partitions from others.
    """

    X: Partitions
    sizes: tuple[int, ...]
    sampled: NDArray[np.intp]
    fingerprint: tuple

    @property
    def n_rows(self) -> int:
        """Rows of all partitions."""
        return sum(self.sizes)

    def each(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return what the work gives, one entry a row, kept where it was computed."""
        checkpoint()
        return spread(work, *arguments)

    def total(self, work: Callable[..., Any], *arguments: Any, add: Callable[[list[Any]], Any] | None = None) -> Any:
        """Return the sum of what the work gives, see `rows.in_memory.added`; or what `add` makes of a list of it."""
        checkpoint()
        return total(work, *arguments, add=added if add is None else add)

    def both(
        self, work: Callable[..., Any], *arguments: Any, so_far: Callable[[dict[int, Any]], Any] | None = None
    ) -> tuple[Any, Any]:
        """Return two things that the work gives: one entry a row, kept where it was computed, and a sum.

        `so_far`: see `supdr.rows.partitions.spread_and_total`.
        """
        checkpoint()
        return spread_and_total(work, *arguments, add=added, so_far=so_far)

    def entries(self, values: Partitions, count: int) -> tuple[Partitions, ...]:
        """Return the entries of values that are tuples of so many, which `each` or `both` has kept."""
        return tuple(values.item(number) for number in range(count))

    def normal(self, rng: np.random.Generator, width: int) -> Partitions:
        """Return normally distributed numbers (N, width), the same whatever the partitions."""
        return spread(_normal, self.streams(rng, width), listed(self.sizes), width)

    def streams(self, rng: np.random.Generator, width: int) -> Partitions:
        """Return, for each partition, the state of `rng` before its rows' normal numbers, and draw those of all."""
        states = []
        for size in self.sizes:
            states.append(rng.bit_generator.state)
            for begin in range(0, size, DRAWN):
                checkpoint()
                rng.standard_normal((min(DRAWN, size - begin), width))
        return listed(states)

    def split(self, values: NDArray) -> Partitions:
        """Return rows in memory (N, q) in these partitions."""
        return listed(np.split(values, np.cumsum(self.sizes)[:-1]))

    def taken(self, values: Partitions, numbers: NDArray[np.intp]) -> NDArray:
        """Return some rows, by their numbers in rising order, of arrays in partitions."""
        return taken(values, self.sizes, numbers)

    def replaced(self, values: Partitions, numbers: NDArray[np.intp], new: NDArray) -> Partitions:
        """Return arrays in partitions with other rows in some places, given by their numbers in rising order."""
        local = _local_numbers(self.sizes, numbers)
        parts = np.split(new, np.cumsum([len(each) for each in local])[:-1])
        return spread(_replaced_rows, values, listed(local), listed(parts))

    def among(self, numbers: NDArray[np.intp], labelled: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the numbers among these rows of some of all rows of a run; a method may hold labelled ones only."""
        return numbers

    def on_sample(self, state: Any, fetched: Taken = ()) -> tuple[Any, Taken]:
        """Return a state with the rows of the sample in place of references to all rows, fetched in one round.

        `state`: holds `Partitions`, itself or in states within it; `fetched`: the second result of an earlier call,
        whose rows are not fetched again. Returns `state`; `taken`: the rows of the sample of those in the state.
        """
        needed = list(_partitions_in(state))
        rows = {id(values): of_sample for values, of_sample in fetched}
        new = [values for values in dict.fromkeys(needed) if id(values) not in rows]
        if new:
            parts = gathered(_rows_of_each, listed(_local_numbers(self.sizes, self.sampled)), *new)
            rows |= {id(values): np.concatenate(each) for values, each in zip(new, zip(*parts, strict=True))}
        taken = tuple((values, rows[id(values)]) for values in dict.fromkeys(needed))
        return _replaced(state, (rows[id(values)] for values in needed)), taken


def taken(values: Partitions, sizes: tuple[int, ...], rows: NDArray[np.intp]) -> NDArray:
    """Return some rows of arrays in partitions, whose sizes are given; rows (p,) are sorted."""
    return np.concatenate(gathered(partial(np.take, axis=0), values, listed(_local_numbers(sizes, rows))))


def _local_numbers(sizes: tuple[int, ...], rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return sorted numbers of rows as each partition counts its own."""
    ends = np.cumsum(sizes)
    chosen = np.split(rows, np.searchsorted(rows, ends)[:-1])
    return [each - end + size for each, end, size in zip(chosen, ends, sizes)]


def _partitions_in(state: Any) -> Iterator[Partitions]:
    """Yield the partitions in a state, field by field."""
    if isinstance(state, Partitions):
        yield state
    elif isinstance(state, tuple) and hasattr(state, "_fields"):
        for value in state:
            yield from _partitions_in(value)


def _replaced(state: Any, arrays: Iterator[NDArray]) -> Any:
    """Return a state with arrays in place of its partitions, in the order of `_partitions_in`."""
    if isinstance(state, Partitions):
        return next(arrays)
    if isinstance(state, tuple) and hasattr(state, "_fields"):
        fields: dict[str, Any] = dict(zip(state._fields, state))
        return type(state)(**{name: _replaced(value, arrays) for name, value in fields.items()})
    return state


def _replaced_rows(values: NDArray, numbers: NDArray[np.intp], new: NDArray) -> NDArray:
    replaced = values.copy()
    replaced[numbers] = new
    return replaced


def _rows_of_each(numbers: NDArray[np.intp], *arrays: NDArray) -> tuple[NDArray, ...]:
    return tuple(np.take(values, numbers, axis=0) for values in arrays)


def fits_in_memory(n_rows: int, n_numbers: int) -> bool:
    """Tell whether so many numbers a row fit into half of scikit-learn's ``working_memory``."""
    return 8 * n_rows * n_numbers <= get_config()["working_memory"] * 2**19


def random_rows(state: dict[str, Any]) -> np.random.Generator:
    """Return a generator that stands where `PartitionedRows.streams` says."""
    rng = np.random.default_rng()
    rng.bit_generator.state = state
    return rng


def _normal(state: dict[str, Any], size: int, width: int) -> NDArray:
    return random_rows(state).standard_normal((size, width))
