"""SNF on rows in partitions: latent rows stay there, the regressions come from sums over partitions.

An evaluation of F visits all rows twice.  The first visit brings means and products of F monomials with themselves, the
M columns and the T targets, F (2 F + M + T) numbers a partition; out go the weights, F (M + T); the second brings the
sums of squares, and leaves the gradient where it is.  A step sums 6 m + 9 inner products besides, m <= 20.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from supdr.engine.iterate import generator
from supdr.engine.preprocessing import Preprocessing, fit_preprocessing
from supdr.engine.targets import Targets
from supdr.functions.kernels import Kernel
from supdr.methods.snf.parameters import component_count
from supdr.methods.snf.problem import LBFGS, NO_FIT, RANDOM_SPREAD, SNFProblem, SNFState
from supdr.rows.in_partitions import PartitionSupport
from supdr.rows.partitioned import PartitionedRows, Taken
from supdr.rows.partitions import Partitions, delay, gather, persist, total
from supdr.rows.summed_columns import SummedColumns
from supdr.solvers.distributed_lbfgs import SummedSearch, summed_start, summed_step
from supdr.solvers.distributed_ridge import Moments, joined, moments, pull
from supdr.solvers.kernel_ridge import Fit, Primal
from supdr.solvers.monomials import monomials, n_monomials

# F of a fit on partitions: their products take 8 F² bytes a partition.
MOST_MONOMIALS = 2000


class Labels(NamedTuple):
    """Targets of a partition: its labelled `rows` (n,) and their preprocessed `values` (n, T)."""

    rows: NDArray
    values: NDArray


@dataclass(frozen=True, eq=False)
class SNFRows(PartitionedRows):
    """Rows with their targets, of which `target_map` is the preprocessing."""

    labels: Partitions
    target_map: Preprocessing

    def on_sample(self, state: Any, fetched: Taken = ()) -> tuple[Any, Taken]:
        """Return a state with the rows of the sample in place of references to all rows, and without its search."""
        return super().on_sample(state._replace(search=None) if isinstance(state, SNFState) else state, fetched)


def held_rows(run: Any, rows: Any) -> SNFRows:
    """Return what a run of SNF keeps of its rows; ValueError if cells are missing or monomials are too many."""
    X, targets = run._training
    missing = total(_missing, rows.X)
    if missing:
        raise ValueError(f"X must have no missing cell where rows come in partitions; got {missing}")
    n_components, exponent = component_count(run, targets, X.shape), run._kernel().exponent
    if n_monomials(n_components, exponent) > MOST_MONOMIALS:
        raise ValueError(
            f"n_components and degree must make at most {MOST_MONOMIALS} monomials where rows come in partitions; "
            f"n_components={n_components} and degree={exponent} make {n_monomials(n_components, exponent)}"
        )
    counts = gather(_count, rows.targets)
    labelled = rows.targets.some([number for number, count in enumerate(counts) if count])
    columns = SummedColumns(delay(_labelled_targets, labelled), (sum(counts), targets.values.shape[1]))
    target_map = fit_preprocessing(columns, run._target_scaling(targets))
    labels = persist(_labels, rows.targets, target_map)
    return SNFRows(rows.X, rows.sizes, rows.sampled, rows.fingerprint, labels, target_map)


SUPPORT = PartitionSupport(
    accepted={
        "kernel": ("poly", "linear"),
        "solver": ("lbfgs",),
        "init": ("pca", "random"),
        "n_init": (1,),
        "early_stopping": (False,),
        "class_weight": (None,),
    },
    held_rows=held_rows,
    several_targets=True,
    any_rows=False,
)


class Payload(NamedTuple):
    """What belongs to a point beside F and its gradient: |Z|^2, and the hyper-parameters of F."""

    predictors: Fit
    target: Fit
    square: float
    settings: tuple


@dataclass(frozen=True, eq=False)
class DistributedSNF(SNFProblem):
    """SNF by L-BFGS on rows in partitions, a weight for every monomial; X, rows and Y are those of the sample."""

    all_rows: Any = None

    def __post_init__(self) -> None:
        kernel: Kernel = self.kernel
        features = monomials(self.n_components, kernel.exponent, kernel.constant)
        object.__setattr__(self, "on_all", Primal(features, self.reg_v))
        object.__setattr__(self, "on_labelled", Primal(features, self.reg_w))

    @property
    def forms(self) -> tuple[Any, Any]:
        """The regressions of columns and of targets."""
        return self.on_all, self.on_labelled

    @property
    def settings(self) -> tuple:
        """The hyper-parameters of F."""
        return self.kernel, self.target_weight, self.reg_v, self.reg_w, self.reg_z

    def evaluate(self, point: Any) -> tuple[float, Any, Any]:
        """Return F, its gradient in partitions, and a `Payload`; F is inf where a regression cannot be solved."""
        rows, forms = self.all_rows, self.forms
        sums = rows.total(_moments, forms, point, rows.X, rows.labels, add=_joined)
        try:
            fits = tuple(each.fit(form) for each, form in zip(sums, forms))
        except LinAlgError:
            return math.inf, point, Payload(NO_FIT, NO_FIT, math.nan, self.settings)
        means = tuple(each.mean for each in sums)
        weights = self.target_weight, self.reg_z
        gradient, (loss, label_loss, square) = rows.both(
            _slopes, forms, fits, means, weights, point, rows.X, rows.labels
        )
        payload = Payload(fits[0]._replace(loss=loss), fits[1]._replace(loss=label_loss), square, self.settings)
        return math.fsum(self._terms(payload).values()), gradient, payload

    def _terms(self, payload: Payload) -> dict[str, float]:
        predictors, target, square, _ = payload
        ridge = predictors.penalty + self.target_weight * target.penalty + self.reg_z * square
        return {
            "reconstruction": predictors.loss,
            "label": self.target_weight * target.loss,
            "regularisation": ridge,
        }

    def terms(self, state: SNFState) -> dict[str, float]:
        """Return the terms of F at `state`."""
        search: Any = state.search
        return self._terms(search.payload)

    # --- the run ------------------------------------------------------------------------------------------------------

    def start(self, seed: int) -> SNFState:
        """Return the starting point."""
        rng, rows, d = generator(seed, 0), self.all_rows, self.n_components
        if self.init == "pca":
            latent = self._principal(rng)
        else:
            latent = rows.each(np.multiply, rows.normal(rng, d), self.init_scale)
        return self._state_of(summed_start(rows, latent, self.evaluate), seed, 0)

    def step(self, state: SNFState) -> SNFState:
        """One accepted L-BFGS step, or the same point if none was found."""
        search: Any = state.search
        reach = LBFGS.first_move * self.all_rows.n_rows * self.n_components
        search = summed_step(self.all_rows, search, self.evaluate, memory=LBFGS.memory, reach=reach)
        return self._state_of(search, state.seed, state.iteration + 1)

    def adopt(self, state: SNFState) -> SNFState:
        """Return `state`, of the same rows and partitions, measured by this problem's objective."""
        search: Any = state.search
        if search.payload.settings == self.settings:
            return state
        return self._state_of(summed_start(self.all_rows, search.point, self.evaluate), state.seed, state.iteration)

    def _state_of(self, search: SummedSearch, seed: int, iteration: int) -> SNFState:
        predictors, target, _, _ = search.payload
        norm, kept = math.sqrt(search.products[-1, -1]), search
        return SNFState(search.point, np.empty(0), predictors, target, norm, search.step, kept, seed, iteration)  # type: ignore[arg-type]

    def _principal(self, rng: np.random.Generator) -> Any:
        """Return principal component scores, the first of standard deviation `init_scale`; see `pca_starts`."""
        rows, d = self.all_rows, self.n_components
        ones = np.ones(self.X.shape[1])
        columns = SummedColumns(rows.X, (rows.n_rows, len(ones)))
        mean = columns.mean_minus(np.zeros(len(ones)))
        singular, directions, _ = columns.directions(mean, ones, ones > 0.0)
        rank = min(d, int((singular > 1e-10 * max(singular[0], np.finfo(float).tiny)).sum()))
        directions = directions[:rank].T
        if rank:
            ends = rows.total(_largest, rows.X, mean, directions, add=_larger)
            directions = directions * (np.sign(ends) * self.init_scale * math.sqrt(rows.n_rows) / singular[0])
        rest = rows.normal(rng, d - rank) if rank < d else None
        return rows.each(_scores, rows.X, mean, directions, rest)


# --- on a partition -----------------------------------------------------------------------------------------------


def _missing(X: NDArray) -> int:
    return int(np.isnan(X).sum())


def _count(targets: Targets) -> int:
    return int(targets.labelled.sum())


def _labelled_targets(targets: Targets) -> NDArray:
    return targets.values[targets.labelled]


def _labels(targets: Targets, target_map: Preprocessing) -> Labels:
    return Labels(
        np.flatnonzero(targets.labelled), target_map.transform(np.ascontiguousarray(_labelled_targets(targets)))
    )


def _moments(forms: tuple[Primal, Primal], Z: NDArray, X: NDArray, labels: Labels) -> tuple[Moments, Moments]:
    return moments(forms[0], Z, X), moments(forms[1], Z[labels.rows], labels.values)


def _joined(parts: list[tuple[Moments, Moments]]) -> tuple[Moments, Moments]:
    return joined([columns for columns, _ in parts]), joined([targets for _, targets in parts])


def _slopes(
    forms: tuple[Primal, Primal],
    fits: tuple[Fit, Fit],
    means: tuple[NDArray, NDArray],
    weights: tuple[float, float],
    Z: NDArray,
    X: NDArray,
    labels: Labels,
) -> tuple[NDArray, NDArray]:
    """Return the gradient, and the sums of squared residuals of columns and of targets, and |Z|^2."""
    gradient, loss = pull(forms[0], fits[0], means[0], Z, X)
    target_weight, reg_z = weights
    gradient += 2.0 * reg_z * Z
    by_label, label_loss = pull(forms[1], fits[1], means[1], Z[labels.rows], labels.values)
    if target_weight > 0.0:
        gradient[labels.rows] += target_weight * by_label
    return gradient, np.array([loss, label_loss, float(np.vdot(Z, Z))])


def _largest(X: NDArray, mean: NDArray, directions: NDArray) -> NDArray:
    """Return the score along each direction whose absolute value is the largest."""
    scores = (X - mean) @ directions
    return scores[np.abs(scores).argmax(axis=0), np.arange(scores.shape[1])]


def _larger(parts: list[NDArray]) -> NDArray:
    ends = np.array(parts)
    return ends[np.abs(ends).argmax(axis=0), np.arange(ends.shape[1])]


def _scores(X: NDArray, mean: NDArray, directions: NDArray, rest: NDArray | None) -> NDArray:
    scores = (X - mean) @ directions
    return np.ascontiguousarray(scores if rest is None else np.hstack([scores, RANDOM_SPREAD * rest]))
