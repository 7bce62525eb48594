"""What a run of MAC keeps of rows in partitions: those that are labelled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.targets import Targets
from supdr.methods.mac.solvers import MOST_JUDGED
from supdr.methods.mac.summed_features import LabelledRows
from supdr.rows.partitioned import taken
from supdr.rows.partitions import gathered, listed, planned, spread


def labelled_rows(rows: Any, sample: Targets) -> LabelledRows:
    """Return the labelled rows.

    `rows`: all rows; `sample`: labels of the sample.
    """
    assert sample.classes is not None
    prepared = planned(_of_labelled, rows.X, rows.targets)
    codes = spread(_codes, rows.targets)
    facts = gathered(_facts, codes, len(sample.classes))
    counts = tuple(count for count, _ in facts)
    offsets = np.cumsum((0, *counts[:-1]))
    firsts = np.array([first + offset * (first >= 0) for (_, first), offset in zip(facts, offsets)])
    one_of_each = np.where(firsts >= 0, firsts, sum(counts)).min(axis=0)
    judged = np.union1d(np.arange(0, sum(counts), -(-sum(counts) // MOST_JUDGED)), one_of_each)
    numbers = planned(_numbers, rows.targets, listed(offsets.tolist()))
    return LabelledRows(
        X=prepared,
        sizes=counts,
        sampled=taken(numbers, rows.sizes, rows.sampled)[sample.labelled],
        fingerprint=rows.fingerprint,
        codes=codes,
        judged=judged,
        judged_X=taken(prepared, counts, judged),
        all_sizes=rows.sizes,
        places=numbers,
    )


# --- on a partition -----------------------------------------------------------------------------------------------


def _of_labelled(X: NDArray, targets: Targets) -> NDArray:
    return X if targets.labelled.all() else np.ascontiguousarray(X[targets.labelled])


def _codes(targets: Targets) -> NDArray:
    return targets.codes[targets.labelled]


def _numbers(targets: Targets, offset: int) -> NDArray:
    return np.cumsum(targets.labelled) - 1 + offset


def _facts(codes: NDArray, n_classes: int) -> tuple[int, NDArray]:
    """Return the number of labelled rows, and where each class first occurs (-1: not)."""
    first = np.full(n_classes, -1)
    present, at = np.unique(codes, return_index=True)
    first[present] = at
    return len(codes), first
