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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.context import partial_states_observed
from supdr.engine.iterate import Snapshot
from supdr.engine.targets import Targets
from supdr.methods.mac.classes import simplex_codes
from supdr.methods.mac.labelled_rows import judged_numbers
from supdr.methods.mac.mapping import Features
from supdr.methods.mac.solvers import Penalty
from supdr.methods.mac.state import Array, MACState
from supdr.methods.mac.two_layer import SECOND_RIDGES, FirstLayer, TwoLayerProblem, TwoLayerState
from supdr.rows.in_partitions import PartitionSupport
from supdr.rows.partitioned import PartitionedRows, fits_in_memory, taken
from supdr.rows.partitions import Partitions, delay, from_list, gather, persist, persist_in_background
from supdr.solvers.gaussians import Mapping
from supdr.solvers.leave_one_out import (
    RIDGES,
    SQUARE_WEIGHT,
    Spectrum,
    feature_blocks,
    judged_sums,
    leave_one_out,
    nystroem_spectrum,
)
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
        self,
        targets: Any,
        signs: Any,
        costs: Any,
        start: Heads | None,
        *,
        n_jobs: int | None,
        **options: Any,
    ) -> Heads:
        """Return a support vector machine per column of `signs`, see `solve_distributed_svms`."""
        return solve_distributed_svms(targets, signs, costs, start=start, **options)

    def among(self, numbers: NDArray[np.intp], labelled: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the numbers among the labelled rows of those of some rows that are labelled."""
        if self.sizes == self.all_sizes:
            return numbers[labelled]
        return taken(self.places, self.all_sizes, numbers[labelled])


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
        sampled=taken(places, rows.sizes, rows.sampled)[sample.labelled],
        fingerprint=rows.fingerprint,
        codes=codes,
        judged=judged,
        judged_X=taken(X, counts, judged),
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
    return {"calibrated": loo_softmax(left_out, problem.judged_codes, problem.judged_weights)}


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


class PartFeatures(NamedTuple):
    """Features of the rows of a partition: a matrix (n, M), or formed of rows X (n, D) block by block."""

    matrix: Array | None
    X: Any = None
    mapping: Any = None

    @property
    def n_features(self) -> int:
        """M."""
        return self.mapping.n_features if self.matrix is None else self.matrix.shape[1]

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield slices of rows with their features."""
        if self.matrix is not None:
            return iter([(slice(None), self.matrix)])
        return feature_blocks(self.X, self.mapping)

    def image(self, weights: Array) -> Array:
        """Return F (n, L) for W' (M, L)."""
        return self.mapping.apply(self.X, weights)

    def pull_back(self, values: Array) -> Array:
        """Return Phi' values (M, q)."""
        pulled = np.zeros((self.n_features, values.shape[1]))
        return sum((block.T @ values[part] for part, block in self.blocks()), pulled)

    def gram(self) -> Array:
        """Return Phi'Phi (M, M)."""
        return sum((block.T @ block for _, block in self.blocks()), np.zeros((self.n_features,) * 2))


class DistributedFeatures(Features):
    """Features of rows in partitions: only their products are here; `X` are the rows that are left out in turn.

    `rows`: all labelled rows.
    """

    def __init__(self, rows: LabelledRows, mapping: Mapping) -> None:
        super().__init__(rows.judged_X, mapping)
        self.matrix, self.symmetric = None, False
        self._labelled = rows

    @cached_property
    def _matrix(self) -> Partitions | None:
        """Phi, where workers have room for it; leverages alone do not need it."""
        rows, mapping = self._labelled, self.mapping
        return persist(_features, mapping, rows.X) if fits_in_memory(rows.n_rows, mapping.n_features) else None

    @cached_property
    def part(self) -> Partitions:
        """The `PartFeatures`."""
        if self._matrix is not None:
            return delay(PartFeatures, self._matrix)
        return delay(PartFeatures, None, self._labelled.X, self.mapping)

    def image(self, weights: Array) -> Any:
        """Return F in partitions."""
        if self._matrix is not None:
            return persist_in_background(np.matmul, self._matrix, weights, n_rows=self._labelled.n_rows)
        return self._labelled.each(PartFeatures.image, self.part, weights)  # pieces would each be sent the mapping

    def pull_back(self, values: Any) -> Array:
        """Return the sum of Phi' values (M, q)."""
        return self._labelled.total(PartFeatures.pull_back, self.part, values)

    def gram(self) -> Array:
        """Return the sum of Phi'Phi (M, M)."""
        if self._gram is None:
            self._gram = self._labelled.total(PartFeatures.gram, self.part)
        return self._gram

    def gram_to_keep(self) -> Array:
        """Return Phi'Phi, so that a run that resumes does not sum it again."""
        return self.gram()

    def _rows(self, rows: NDArray[np.intp]) -> Array:
        return self.mapping.features(self.X)


# --- passes -----------------------------------------------------------------------------------------------------------


class PartitionedPenalty(Penalty):
    """solver="mac" on rows in partitions: states name this class."""

    precision = np.float32  # of multipliers of the Z step, which only say where the next search begins

    def latent_diagnostics(self, state: MACState) -> dict[str, float]:
        """Return nothing: the latent rows are on the workers."""
        return {}


# --- two layers -------------------------------------------------------------------------------------------------------


class PartitionedTwoLayers(TwoLayerProblem):
    """n_layers=2 on rows in partitions: ridge regressions on all rows take one visit more, for their sums."""

    def _complete(self, width: float, seed: int) -> FirstLayer:
        centers = self._centers(seed)
        if len(centers) == self.n_rows:
            return super()._complete(width, seed)  # all rows are centres: the sample is all there is
        mapping = self._around(centers, width, seed)
        ridges = _Ridges(self.all_rows, mapping, self.all_rows.X, simplex_codes(self.n_classes), RIDGES)
        best = int(np.argmin([error + SQUARE_WEIGHT * square for error, square in ridges.scores]))
        hidden, left_out = self.all_rows.entries(self.all_rows.each(_ridge_codes, *ridges.at(best)), 2)
        return FirstLayer(
            mapping, ridges.coef(best), hidden, left_out, *ridges.scores[best], width, float(RIDGES[best])
        )

    def _second_fits(self, hidden: Any, mapping: Mapping, corners: Array) -> Iterator[tuple[float, float, Array, Any]]:
        """Yield error, mean square, weights and left-out images, not yet computed, at every ridge."""
        ridges = _Ridges(self.all_rows, mapping, hidden, corners, SECOND_RIDGES)
        for number, (error, square) in enumerate(ridges.scores):
            yield error, square, ridges.coef(number), delay(_left_out_codes, *ridges.at(number))


class _Ridges:
    """Ridge regression of class codes on Gaussian features of rows in partitions, at many ridges.

    `rows`: all labelled rows. `X` (n, D): what the features are of. `corners` (K, q): codes of the classes. `ridges`
    (R,). `scores`: error and mean square of the left-out codes at each ridge.
    """

    def __init__(self, rows: LabelledRows, mapping: Mapping, X: Partitions, corners: Array, ridges: Array) -> None:
        sums = rows.total(_moments, mapping, X, rows.codes, corners)
        M = mapping.n_features
        self.spectrum = nystroem_spectrum(sums[:, :M], mapping.features(mapping.centers))
        self.pulled, self.ridges = self.spectrum.back.T @ sums[:, M:], ridges
        self._rows = mapping, X, rows.codes, corners, self.spectrum, self.pulled
        wrong, squares = rows.total(_left_out_sums, *self._rows, ridges).T / rows.n_rows
        self.scores = list(zip(wrong.tolist(), squares.tolist()))

    def coef(self, number: int) -> Array:
        """Return the weights (M, q) of the features at a ridge."""
        return self.spectrum.back @ (self.pulled / (self.spectrum.e + self.ridges[number])[:, None])

    def at(self, number: int) -> tuple:
        """Return the arguments of `_ridge_codes` for a ridge."""
        return *self._rows, self.ridges[number : number + 1]


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


def _features(mapping: Mapping, X: Array) -> Array:
    return mapping.features(X)


def _moments(mapping: Mapping, X: Array, codes: NDArray, corners: Array) -> Array:
    """Return Phi'[Phi, T] (M, M + q)."""
    M, targets = mapping.n_features, corners[codes]
    sums = np.zeros((M, M + targets.shape[1]))
    for part, block in feature_blocks(X, mapping):
        sums[:, :M] += block.T @ block
        sums[:, M:] += block.T @ targets[part]
    return sums


def _left_out_sums(
    mapping: Mapping, X: Array, codes: NDArray, corners: Array, spectrum: Spectrum, pulled: Array, ridges: Array
) -> Array:
    """Return the number of wrong left-out codes and the sum of their squares (R, 2)."""
    sums = np.zeros((len(ridges), 2))
    for part, block in feature_blocks(X, mapping):
        targets = corners[codes[part]]
        _, lefts = leave_one_out(block @ spectrum.back, pulled, spectrum.e, ridges, targets)
        sums += [judged_sums(left, codes[part], corners) for left in lefts]
    return sums


def _ridge_codes(
    mapping: Mapping, X: Array, codes: NDArray, corners: Array, spectrum: Spectrum, pulled: Array, ridge: Array
) -> tuple[Array, Array]:
    """Return fitted and left-out codes (n, q) at one ridge."""
    fits, lefts = np.empty((len(X), corners.shape[1])), np.empty((len(X), corners.shape[1]))
    for part, block in feature_blocks(X, mapping):
        (fits[part],), (lefts[part],) = leave_one_out(
            block @ spectrum.back, pulled, spectrum.e, ridge, corners[codes[part]]
        )
    return fits, lefts


def _left_out_codes(*arguments: Any) -> Array:
    return _ridge_codes(*arguments)[1]
