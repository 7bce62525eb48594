"""LSDR on rows in partitions: latent rows stay there, loadings and heads come from sums over partitions.

A pass sends V (d, m), bv and the heads (d + 1, K) out, and brings back [U, 1]'[U, 1] and [U, 1]'X (with missing cells a
Gram a column), and for every Newton step of the heads their gradients and Hessians, K (d + 1)(d + 2) numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.targets import Targets
from supdr.methods.lsdr.problem import Labels, LSDRProblem, labelled_rows
from supdr.rows.in_partitions import PartitionSupport
from supdr.rows.partitioned import PartitionedRows
from supdr.rows.partitions import Partitions, delay
from supdr.solvers.reconstruction import observed_sums


@dataclass(frozen=True, eq=False)
class FactorRows(PartitionedRows):
    """Rows with their labels.

    `observed` (n, m): 1.0 where a cell is observed, else 0.0, where X holds column means; None if no cell is missing.
    `labels`: of the labelled rows, scaled. `mean`, `scale` (K,): what targets are scaled by; 0 and 1 for
    classification.
    """

    observed: Partitions | None
    labels: Partitions
    mean: NDArray
    scale: NDArray


def held_rows(run: Any, rows: Any) -> FactorRows:
    """Return what a run keeps of its `supdr.rows.running.ReadRows`."""
    sample: Targets = run._training[1]
    plain = PartitionedRows(rows.X, rows.sizes, rows.sampled, rows.fingerprint)
    mean, scale = np.zeros(sample.values.shape[1]), np.ones(sample.values.shape[1])
    if sample.classes is None:
        total, count = plain.total(_target_sums, rows.targets)
        mean = total / count
        deviation = np.sqrt(plain.total(_target_squares, rows.targets, mean) / count)
        scale = np.where(deviation > 0.0, deviation, 1.0)
    X, observed = rows.X, None
    total, count = plain.total(observed_sums, X)
    if (count < plain.n_rows).any():
        X, observed = delay(_filled, X, total / np.maximum(count, 1.0)), delay(_observed, X)
    labels = plain.each(_labels, rows.targets, mean, scale)
    return FactorRows(X, rows.sizes, rows.sampled, rows.fingerprint, observed, labels, mean, scale)


SUPPORT = PartitionSupport(
    accepted={
        "solver": ("bcd",),
        "init": ("pca", "random"),
        "early_stopping": (False,),
        "class_weight": (None,),
    },
    held_rows=held_rows,
    several_targets=True,
)


@dataclass(frozen=True, eq=False)
class DistributedLSDR(LSDRProblem):
    """LSDR on rows in partitions, for solver="bcd"; X, rows, Y and weights are those of the sample."""

    all_rows: Any = None

    @cached_property
    def part(self) -> Any:
        """The rows that it works on, as problems of their own."""
        names = [name for name in LSDRProblem.__dataclass_fields__ if name not in ("X", "observed", *Labels._fields)]
        settings = {name: getattr(self, name) for name in names}
        return delay(_problem, self.all_rows.X, self.all_rows.observed, self.all_rows.labels, settings)

    def first_factors(self, rng: np.random.Generator, cells: Any = None) -> tuple[Any, NDArray, NDArray]:
        """Return the starting Z, V and bv."""
        return super().first_factors(rng, (self.all_rows.X, self.all_rows.observed))

    def labelled(self, latent: Any) -> Any:
        """Return the labelled rows as heads take them."""
        return self.all_rows.each(labelled_rows, self.all_rows.labels, latent, self.n_components, 1.0 - self.beta)


# --- on a partition -----------------------------------------------------------------------------------------------


def _problem(X: NDArray, observed: NDArray | None, labels: Labels, settings: dict[str, Any]) -> LSDRProblem:
    return LSDRProblem(X=X, observed=observed, **labels._asdict(), **settings)


def _target_sums(targets: Targets) -> tuple[NDArray, int]:
    values = targets.values[targets.labelled]
    return values.sum(axis=0), len(values)


def _target_squares(targets: Targets, mean: NDArray) -> NDArray:
    return ((targets.values[targets.labelled] - mean) ** 2).sum(axis=0)


def _labels(targets: Targets, mean: NDArray, scale: NDArray) -> Labels:
    rows = np.flatnonzero(targets.labelled)
    return Labels(rows, np.ascontiguousarray((targets.values[rows] - mean) / scale), targets.weights[rows])


def _filled(X: NDArray, means: NDArray) -> NDArray:
    return np.where(np.isnan(X), means, X)


def _observed(X: NDArray) -> NDArray:
    return np.where(np.isnan(X), 0.0, 1.0)
