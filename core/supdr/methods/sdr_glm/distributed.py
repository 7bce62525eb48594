"""SDR-GLM on rows in partitions: latent rows stay there, loadings and heads come from sums over partitions.

A pass sends [V; b_x] (L + 1, D) and [W; b_y] (L + 1, K) out, and brings back the systems of the columns (one of size
L + 1 for complete Gaussian data, else D packed ones), those of the heads, and [U, 1]'[U, 1] for the gauge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import workspace_property
from supdr.engine.targets import Targets
from supdr.functions.families import GAUSSIAN
from supdr.methods.sdr_glm.columns import decode_column_part
from supdr.methods.sdr_glm.facts import Facts, gather_facts
from supdr.methods.sdr_glm.features import SharedFeatures, WeightedFeatures
from supdr.methods.sdr_glm.problem import loading_sums
from supdr.methods.sdr_glm.solvers import Fast
from supdr.methods.sdr_glm.targets import TargetSide
from supdr.rows.in_partitions import PartitionSupport, decode_classes
from supdr.rows.partitioned import PartitionedRows
from supdr.rows.partitions import Partitions, delay, persist
from supdr.solvers.low_rank import SMALL_SIDE, leading_rows


@dataclass(frozen=True, eq=False)
class GLMRows(PartitionedRows):
    """Rows with their targets and the sums over all of them; `complete`: no cell of X is missing."""

    sides: Partitions
    facts: Facts
    complete: bool


def held_rows(run: Any, rows: Any) -> GLMRows:
    """Return what `run`, a `supdr.SDRGLM`, keeps of its `supdr.rows.running.ReadRows`."""
    plain = PartitionedRows(rows.X, rows.sizes, rows.sampled, rows.fingerprint)
    facts, sides = gather_facts(plain, rows.X, run._codes, run._training[1], rows.targets, **run._target_settings())
    complete = plain.total(_missing, rows.X) == 0
    return GLMRows(rows.X, rows.sizes, rows.sampled, rows.fingerprint, sides, facts, complete)


def part_decoder(run: Any, targets: Targets) -> Callable[[NDArray], Targets]:
    """Return the function that decodes labels of a partition, given the decoded labels of the sample."""
    if run._single_target:
        return decode_classes(run, targets)
    return partial(decode_column_part, task=run._task(), missing_label=run.missing_label)


SUPPORT = PartitionSupport(
    accepted={
        "solver": ("fast",),
        "init": ("svd", "random"),
        "early_stopping": (False,),
        "class_weight": (None,),
        "column_weight": (None,),
        "nonnegative": (False,),
    },
    held_rows=held_rows,
    several_targets=True,
    part_decoder=part_decoder,
)


@dataclass(frozen=True, eq=False)
class DistributedFast(Fast):
    """solver="fast" on rows in partitions; X and targets are those of the sample."""

    all_rows: Any = None

    @property
    def cells(self) -> Any:
        """The rows of X that it works on."""
        return self.all_rows.X

    @cached_property
    def feature_part(self) -> Any:
        """The features that it works on."""
        if self.features.__class__ is WeightedFeatures:
            return delay(_weighted_features, self.all_rows.X, self.codes, self.c, self.bound, self.size)
        return delay(SharedFeatures, self.all_rows.X, self.c)

    @property
    def target_part(self) -> Any:
        """The targets that it works on."""
        return self.all_rows.sides

    @workspace_property
    def features(self) -> Any:
        """Return the feature side in the form that suits all rows."""
        if not (self.codes == GAUSSIAN).all() or not self.all_rows.complete:
            return self.weighted_features
        return SummedFeatures(self.all_rows, self.c)

    @property
    def column_null(self) -> tuple[float, NDArray]:
        """H_X, what the means of columns leave to be explained, and these means (D,)."""
        return self.all_rows.facts.column_null

    def gaussian_fit(self, latent: Any, loadings: NDArray, sums: Any) -> float:
        """Return L_X, complete Gaussian data: of the sums that loadings are made of, without a visit of its own."""
        if sums is None:
            sums = self.all_rows.total(loading_sums, self.feature_part, latent), loadings
        return self.features.value_of(*sums)

    def without_targets(self) -> Self:
        """Return the same problem for features alone: unsupervised reduction."""
        rows = replace(self.all_rows, sides=persist(_without_targets, self.all_rows.sides, self.bound))
        nothing = TargetSide(np.zeros((len(self.X), 0)), np.zeros(0, dtype=np.int64), 1.0, self.bound)
        return replace(self, targets=nothing, all_rows=rows)

    def first_latent(self, rng: np.random.Generator) -> Any:
        """Return the U that a run starts from; few rows, of which the sample holds all, as in memory."""
        if self.init == "svd" and self.all_rows.n_rows <= min(self.X.shape[1], SMALL_SIDE):
            return self.all_rows.split(leading_rows(self.X, self.column_null[1], self.n_components, rng))
        return super().first_latent(rng)


class SummedFeatures(SharedFeatures):
    """Complete Gaussian data in partitions: what all rows are needed for."""

    def __init__(self, rows: GLMRows, c: float) -> None:
        self._rows, self.c, self.weights = rows, c, None

    @cached_property
    def total(self) -> float:
        """|X|^2."""
        return float(self._rows.total(_size, self._rows.X))

    def value_of(self, sums: tuple[NDArray, NDArray], loadings: NDArray) -> float:
        """Return L_X, given the sums of `loading_sums` over all rows."""
        square, pulled = sums
        explained = 2.0 * np.vdot(pulled, loadings) - np.vdot(square, self.gram(loadings))
        return -self.c * float(self.total - explained)


# --- on a partition -----------------------------------------------------------------------------------------------


def _missing(X: NDArray) -> int:
    return int(np.isnan(X).sum())


def _size(X: NDArray) -> float:
    return float(np.vdot(X, X))


def _weighted_features(X: NDArray, codes: NDArray, c: float, bound: str, size: float) -> WeightedFeatures:
    return WeightedFeatures(X, codes, c, bound, size=size)


def _without_targets(side: TargetSide, bound: str) -> TargetSide:
    return TargetSide(np.zeros((len(side.Y), 0)), np.zeros(0, dtype=np.int64), 1.0, bound)
