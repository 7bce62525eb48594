"""The rows of a run in partitions, with the methods of `supdr.rows.in_memory.InMemoryRows`."""

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
from supdr.rows.partitions import Partitions, delay, from_list, gather, persist, persist_and_total, total

# Pairs of an array in partitions and its rows of the sample.
Taken = tuple[tuple[Partitions, NDArray], ...]

# Number of rows for which random numbers are drawn at a time.
DRAWN = 1 << 16


@dataclass(frozen=True, eq=False)
class PartitionedRows:
    """Rows of a run in partitions.

    X (n, m): preprocessed rows.
    sizes: number of rows of each partition.
    sampled (s,): numbers of the rows of the sample.
    fingerprint: checksums of the partitions.
    """

    X: Partitions
    sizes: tuple[int, ...]
    sampled: NDArray[np.intp]
    fingerprint: tuple

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return sum(self.sizes)

    def each(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return the values of `work`, one entry per row, kept on the workers that computed them."""
        checkpoint()
        return persist(work, *arguments)

    def delay(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Return the values of `work`, computed at each use."""
        return delay(work, *arguments)

    def total(self, work: Callable[..., Any], *arguments: Any, add: Callable[[list[Any]], Any] | None = None) -> Any:
        """Return the sum of the values of `work`, by `rows.in_memory.added` or by `add`, a function of a list."""
        checkpoint()
        return total(work, *arguments, add=added if add is None else add)

    def both(
        self, work: Callable[..., Any], *arguments: Any, so_far: Callable[[dict[int, Any]], Any] | None = None
    ) -> tuple[Any, Any]:
        """Return the pairs that `work` returns: one entry per row, kept on the workers, and a sum."""
        checkpoint()
        return persist_and_total(work, *arguments, add=added, so_far=so_far)

    def entries(self, values: Partitions, count: int) -> tuple[Partitions, ...]:
        """Return the `count` entries of the tuples that `each` or `both` has kept."""
        return tuple(values.item(number) for number in range(count))

    def normal(self, rng: np.random.Generator, width: int) -> Partitions:
        """Return standard normal numbers (N, width), which do not depend on the partitions."""
        return persist(_normal, self.streams(rng, width), from_list(self.sizes), width)

    def streams(self, rng: np.random.Generator, width: int) -> Partitions:
        """Return the state of `rng` before the normal numbers of each partition; `rng` draws the numbers of all."""
        states = []
        for size in self.sizes:
            states.append(rng.bit_generator.state)
            for begin in range(0, size, DRAWN):
                checkpoint()
                rng.standard_normal((min(DRAWN, size - begin), width))
        return from_list(states)

    def split(self, values: NDArray) -> Partitions:
        """Divide rows in memory (N, q) into these partitions."""
        return from_list(np.split(values, np.cumsum(self.sizes)[:-1]))

    def take(self, values: Partitions, numbers: NDArray[np.intp]) -> NDArray:
        """Return rows of arrays in partitions; their numbers are in rising order."""
        return take_rows(values, self.sizes, numbers)

    def replaced(self, values: Partitions, numbers: NDArray[np.intp], new: NDArray) -> Partitions:
        """Return a copy of arrays in partitions in which the rows with these numbers, in rising order, are `new`."""
        local = _local_numbers(self.sizes, numbers)
        parts = np.split(new, np.cumsum([len(each) for each in local])[:-1])
        return persist(_replaced_rows, values, from_list(local), from_list(parts))

    def among(self, numbers: NDArray[np.intp], labelled: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return row numbers among the rows held here; a method that holds the labelled rows only overrides this."""
        return numbers

    def on_sample(self, state: Any, fetched: Taken = ()) -> tuple[Any, Taken]:
        """Return a state with the sample's rows in place of its `Partitions`, and these rows, fetched in one round.

        `fetched`: the second result of an earlier call; its rows are not fetched again.
        """
        needed = list(_partitions_in(state))
        rows = {id(values): of_sample for values, of_sample in fetched}
        new = [values for values in dict.fromkeys(needed) if id(values) not in rows]
        if new:
            parts = gather(_rows_of_each, from_list(_local_numbers(self.sizes, self.sampled)), *new)
            rows |= {id(values): np.concatenate(each) for values, each in zip(new, zip(*parts, strict=True))}
        sample_rows = tuple((values, rows[id(values)]) for values in dict.fromkeys(needed))
        return _replaced(state, (rows[id(values)] for values in needed)), sample_rows


def take_rows(values: Partitions, sizes: tuple[int, ...], rows: NDArray[np.intp]) -> NDArray:
    """Return the rows with sorted numbers (p,) of arrays in partitions of these sizes."""
    return np.concatenate(gather(partial(np.take, axis=0), values, from_list(_local_numbers(sizes, rows))))


def _local_numbers(sizes: tuple[int, ...], rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return sorted row numbers, for each partition relative to its first row."""
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
    """Tell whether `n_numbers` floats per row fit into half of scikit-learn's ``working_memory``."""
    return 8 * n_rows * n_numbers <= get_config()["working_memory"] * 2**19


def random_rows(state: dict[str, Any]) -> np.random.Generator:
    """Return a generator with a state of `PartitionedRows.streams`."""
    rng = np.random.default_rng()
    rng.bit_generator.state = state
    return rng


def _normal(state: dict[str, Any], size: int, width: int) -> NDArray:
    return random_rows(state).standard_normal((size, width))
