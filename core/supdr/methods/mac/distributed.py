"""MAC on rows in partitions: the formulas of `problem`, with sums over partitions where all rows are needed.

A pass sends the weights (M, L) and the classifiers out.  Back come the sum Phi'Z (M, L) with the moments of the
targets, for every visit of the classifiers the rows nearest to their margins and means of the others, see
`supdr.solvers.margin_working_set`, and a few scalars; once, Phi'Phi (M, M).  What is chosen from the data (centres,
width, ridge, scaling) is chosen on a random sample.

Two layers: widths are tried on random rows of the sample; the codes of all rows follow from the map.  The complete
first layer, and the second at each of its widths, visit all rows twice: one visit sums Phi'Phi (M, M) and Phi'T (M, q),
the other the errors of the left-out codes at every ridge.  Then the codes of the best ridge are formed, and stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.context import partial_states_observed
from supdr.engine.iterate import Snapshot
from supdr.engine.targets import Targets
from supdr.methods.mac.labelled_rows import judged_numbers
from supdr.methods.mac.mapping import FeatureRows, Features
from supdr.methods.mac.solvers import Penalty
from supdr.methods.mac.state import Array, MACState
from supdr.methods.mac.two_layer import TwoLayerState
from supdr.rows.in_partitions import PartitionSupport
from supdr.rows.partitioned import PartitionedRows, fits_in_memory, take_rows
from supdr.rows.partitions import Partitions, delay, from_list, gather, persist, persist_in_background
from supdr.solvers.gaussians import Mapping
from supdr.solvers.linear_svm import Heads
from supdr.solvers.margin_visits import moments_of
from supdr.solvers.margin_working_set import solve_distributed_svms
from supdr.solvers.softmax_head import loo_softmax

# --- what a run keeps of its rows -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LabelledRows(PartitionedRows):
    """Labelled, preprocessed rows in partitions.

    codes (n,): classes.
    judged (p,): numbers of the rows that are left out in turn.
    judged_X (p, D): those rows.
    all_sizes: rows of each partition, unlabelled ones included.
    places: the number of each of these among the labelled rows.
    """

    codes: Partitions
    judged: NDArray[np.intp]
    judged_X: Array
    all_sizes: tuple[int, ...]
    places: Partitions

    @cached_property
    def weights(self) -> Partitions:
        """Weights of the rows (n,): 1."""
        return delay(_ones, self.codes)

    @property
    def checksums(self) -> tuple:
        """Of the partitions."""
        return (self.fingerprint,)

    def features(self, mapping: Mapping) -> DistributedFeatures:
        """Return the features of these rows."""
        return DistributedFeatures(self, mapping)

    svm_moments = staticmethod(moments_of)

    def partial_states_observed(self) -> bool:
        """Tell whether a step shows what it has before it is complete."""
        return partial_states_observed()

    def fit_svms(
        self, targets: Any, signs: Any, costs: Any, start: Heads | None, *, n_jobs: int | None, **options: Any
    ) -> Heads:
        """Return a support vector machine per column of `signs`, see `solve_distributed_svms`."""
        return solve_distributed_svms(targets, signs, costs, start=start, **options)

    def among(self, numbers: NDArray[np.intp], labelled: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the numbers among the labelled rows of those of some rows that are labelled."""
        if self.sizes == self.all_sizes:
            return numbers[labelled]
        return take_rows(self.places, self.all_sizes, numbers[labelled])


def held_rows(run: Any, rows: Any) -> LabelledRows:
    """Return the labelled rows of a `supdr.rows.running.ReadRows`."""
    sample: Targets = run._training[1]
    assert sample.classes is not None
    X = delay(_labelled_only, rows.X, rows.targets)
    codes = persist(_codes, rows.targets)
    counts, firsts = zip(*gather(_first_of_each, codes, len(sample.classes)))
    n_rows, offsets = sum(counts), np.cumsum((0, *counts[:-1]))
    first_rows = np.array([np.where(first >= 0, first + offset, n_rows) for first, offset in zip(firsts, offsets)])
    one_of_each = first_rows.min(axis=0)
    judged = judged_numbers(n_rows, one_of_each)
    places = delay(_places, rows.targets, from_list(offsets.tolist()))
    return LabelledRows(
        X=X,
        sizes=counts,
        sampled=take_rows(places, rows.sizes, rows.sampled)[sample.labelled],
        fingerprint=rows.fingerprint,
        codes=codes,
        judged=judged,
        judged_X=take_rows(X, counts, judged),
        all_sizes=rows.sizes,
        places=places,
    )


def _complete(model: Any, state: MACState | TwoLayerState) -> MACState | TwoLayerState:
    """Return a partial state with the images of its rows."""
    if not isinstance(state, MACState) or state.latent is not None:
        return state
    X, targets = model._training
    return state._replace(latent=state.image(np.ascontiguousarray(X[targets.labelled])))


def _calibration(run: Any, snapshot: Snapshot) -> dict[str, Any]:
    """Return the calibrated head, fitted to the left-out images of the run's judged rows."""
    problem = run._own_problem()
    left_out = problem.left_out_images(snapshot.state)
    return {"_calibrated_head": loo_softmax(left_out, problem.judged_codes, problem.judged_weights)}


def _latent_partitions(model: Any) -> tuple[Any, Any] | None:
    """Return images and classes of the labelled rows, in partitions; None for two layers."""
    state = model.snapshot_.state
    return (state.latent, model.partitions_.codes) if isinstance(state, MACState) else None


SUPPORT = PartitionSupport(
    accepted={
        "solver": ("mac",),
        "mapping": ("rbf", "linear"),
        "centers": ("kmeans", "random"),
        "init": ("simplex", "random"),
        "early_stopping": ("loo", False),
        "class_weight": (None,),
    },
    held_rows=held_rows,
    resumes_prepared=True,
    complete=_complete,
    calibration=_calibration,
    latent=_latent_partitions,
)


# --- features ---------------------------------------------------------------------------------------------------------


class DistributedFeatures(Features):
    """Features of `LabelledRows`: only their products are in this process."""

    @cached_property
    def _matrix(self) -> Partitions | None:
        """Phi, where workers have room for it; leverages alone do not need it."""
        fits = fits_in_memory(self.rows.n_rows, self.mapping.n_features)
        return persist(Mapping.features, self.mapping, self.rows.X) if fits else None

    @cached_property
    def part(self) -> Partitions:
        """The `FeatureRows`."""
        if self._matrix is not None:
            return delay(FeatureRows, self._matrix)
        return delay(FeatureRows, None, self.rows.X, self.mapping)

    def image(self, weights: Array) -> Any:
        """Return F in partitions."""
        if self._matrix is not None:
            return persist_in_background(np.matmul, self._matrix, weights, n_rows=self.rows.n_rows)
        return super().image(weights)  # pieces would each be sent the mapping

    def gram_to_keep(self) -> Array:
        """Return Phi'Phi, so that a run that resumes does not sum it again."""
        return self.gram()

    def of_rows(self, rows: NDArray[np.intp]) -> Array:
        """Return the features (p, M) of the judged rows."""
        return self.mapping.features(self.rows.judged_X)


# --- passes -----------------------------------------------------------------------------------------------------------


class PartitionedPenalty(Penalty):
    """solver="mac" on rows in partitions: states name this class."""

    precision = np.float32  # of multipliers of the Z step, which are only the start of the next search

    def latent_diagnostics(self, state: MACState) -> dict[str, float]:
        """Return nothing: the latent rows are on the workers."""
        return {}


# --- on a partition ---------------------------------------------------------------------------------------------------


def _labelled_only(X: NDArray, targets: Targets) -> NDArray:
    return X if targets.labelled.all() else np.ascontiguousarray(X[targets.labelled])


def _ones(codes: NDArray) -> Array:
    return np.ones(len(codes))


def _codes(targets: Targets) -> NDArray:
    return targets.codes[targets.labelled]


def _places(targets: Targets, offset: int) -> NDArray:
    return np.cumsum(targets.labelled) - 1 + offset


def _first_of_each(codes: NDArray, n_classes: int) -> tuple[int, NDArray]:
    """Return the number of labelled rows, and where each class first occurs (-1: not)."""
    first = np.full(n_classes, -1)
    present, at = np.unique(codes, return_index=True)
    first[present] = at
    return len(codes), first
