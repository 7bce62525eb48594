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
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.context import partial_states_observed, show_partial_state
from supdr.engine.iterate import Snapshot
from supdr.engine.targets import Targets
from supdr.methods.mac.certificate import NOTHING, BoundSearch, certify
from supdr.methods.mac.classes import class_scores, class_signs, simplex_codes
from supdr.methods.mac.mapping import Features
from supdr.methods.mac.problem import SVM_TOL, least_ridge
from supdr.methods.mac.solvers import MOST_JUDGED, Penalty
from supdr.methods.mac.state import Array, MACState
from supdr.methods.mac.target_step import moved_rows
from supdr.methods.mac.two_layer import SECOND_RIDGES, FirstLayer, TwoLayerProblem, TwoLayerState, image
from supdr.rows.in_partitions import PartitionSupport
from supdr.rows.partitioned import PartitionedRows, fits_in_memory, taken
from supdr.rows.partitions import Partitions, gathered, listed, planned, spread, spread_meanwhile
from supdr.solvers.gaussians import Mapping
from supdr.solvers.leave_one_out import (
    RIDGES,
    SQUARE_WEIGHT,
    Choice,
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

# Rows of a sample on which width and ridge are chosen.
SEARCH_ROWS = 4_000


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

    def among(self, numbers: NDArray[np.intp], labelled: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the numbers among the labelled rows of those of some rows that are labelled."""
        if self.sizes == self.all_sizes:
            return numbers[labelled]
        return taken(self.places, self.all_sizes, numbers[labelled])


def held_rows(run: Any, rows: Any) -> LabelledRows:
    """Return the labelled rows of a `supdr.rows.running.ReadRows`."""
    sample: Targets = run._training[1]
    assert sample.classes is not None
    X = planned(_labelled_only, rows.X, rows.targets)
    codes = spread(_codes, rows.targets)
    counts, firsts = zip(*gathered(_first_of_each, codes, len(sample.classes)))
    n_rows, offsets = sum(counts), np.cumsum((0, *counts[:-1]))
    first_rows = np.array([np.where(first >= 0, first + offset, n_rows) for first, offset in zip(firsts, offsets)])
    one_of_each = first_rows.min(axis=0)
    judged = np.union1d(np.arange(0, n_rows, -(-n_rows // MOST_JUDGED)), one_of_each)
    places = planned(_places, rows.targets, listed(offsets.tolist()))
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

    def use_gram(self, gram: Array | None) -> None:
        """Take Phi'Phi (M, M), if it is known, in place of summing it."""
        if self._gram is None:
            self._gram = gram

    @cached_property
    def _matrix(self) -> Partitions | None:
        """Phi, where workers have room for it; leverages alone do not need it."""
        rows, mapping = self._labelled, self.mapping
        return spread(_features, mapping, rows.X) if fits_in_memory(rows.n_rows, mapping.n_features) else None

    @cached_property
    def part(self) -> Partitions:
        """The `PartFeatures`."""
        if self._matrix is not None:
            return planned(PartFeatures, self._matrix)
        return planned(PartFeatures, None, self._labelled.X, self.mapping)

    def image(self, weights: Array) -> Any:
        """Return F in partitions."""
        if self._matrix is not None:
            return spread_meanwhile(np.matmul, self._matrix, weights, n_rows=self._labelled.n_rows)
        return self._labelled.each(PartFeatures.image, self.part, weights)  # pieces would each be sent the mapping

    def pull_back(self, values: Any) -> Array:
        """Return the sum of Phi' values (M, q)."""
        return self._labelled.total(PartFeatures.pull_back, self.part, values)

    def gram(self) -> Array:
        """Return the sum of Phi'Phi (M, M)."""
        if self._gram is None:
            self._gram = self._labelled.total(PartFeatures.gram, self.part)
        return self._gram


# --- passes -----------------------------------------------------------------------------------------------------------


class Pulled(NamedTuple):
    """Phi' targets (M, L) of all rows, with what else a visit of the targets brings.

    moments: sum of `moments_of` over the partitions; None: not known.
    parts: Phi' targets of each partition by its number, where partial states were observed.
    """

    total: Array
    moments: tuple[int, Array, Array] | None = None
    parts: dict[int, Array] | None = None


@dataclass(frozen=True, eq=False)
class PartitionedPenalty(Penalty):
    """solver="mac" on rows in partitions.

    X, pool, codes and row_weights are those of the sample on which mapping, width and ridge are chosen.

    `all_rows`: all labelled rows.
    """

    all_rows: Any = None

    precision: ClassVar[Any] = np.float32  # of multipliers of the Z step, which only say where the next search begins

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "settings", self.settings._replace(rows=(self.all_rows.fingerprint, self.scheme)))
        object.__setattr__(self, "signs", planned(class_signs, self.all_rows.codes, self.n_classes, self.scheme))
        object.__setattr__(self, "costs", spread(_costs, self.all_rows.codes, self.C))

    @property
    def row_codes(self) -> Any:
        """Their classes."""
        return self.all_rows.codes

    # --- the mapping --------------------------------------------------------------------------------------------------

    def new_features(self, mapping: Mapping) -> Features:
        """Return the features of `mapping`, whose products are summed once."""
        return DistributedFeatures(self.all_rows, mapping)

    def features_of(self, state: MACState) -> Features:
        """Return the features of a state, which knows the sum of Phi'Phi."""
        features: Any = self.features(state.mapping)
        features.use_gram(state.gram)
        return features

    def chosen(self, seed: int) -> tuple[Mapping, float]:
        """Return what is chosen on the sample; a chosen reg_w grows with the rows as Phi'Phi does."""
        mapping, reg_w = self._chosen(seed)
        return mapping, reg_w * (self.all_rows.n_rows / len(self.X) if isinstance(self.reg_w, str) else 1.0)

    def _search(self, centers: Array, unit: float, widths: tuple[float, ...], rng: np.random.Generator) -> Choice:
        """Return the best width and ridge, on some of the sample where there are more rows than it has."""
        n = len(self.X)
        if n == self.all_rows.n_rows or n <= SEARCH_ROWS:
            return super()._search(centers, unit, widths, rng)
        some = np.sort(rng.choice(n, SEARCH_ROWS, replace=False))
        given = {each.name: getattr(self, each.name) for each in fields(Penalty) if each.init}
        fewer = {name: given[name][some] for name in ("X", "codes", "row_weights")}
        choice = Penalty(**given | fewer)._search(centers, unit, widths, rng)
        return choice._replace(ridge=choice.ridge * n / SEARCH_ROWS)

    def adopt(self, state: MACState) -> MACState:
        """Return `state` made consistent with this problem; observers see at once what it continues from."""
        self.features_of(state)
        if state.n_components == self.n_components:
            self.show_partial(state)
        return super().adopt(state)

    def pulled(self, mapping: Any, targets: Any) -> Pulled:
        """Return Phi' targets."""
        return Pulled(super().pulled(mapping, targets))

    def refitted(self, state: MACState, targets: Any, pulled: Pulled) -> MACState:
        """Return `state` with the mapping fitted to targets in partitions."""
        gram = self.features(state.mapping).gram()
        return super().refitted(state._replace(gram=gram, pulls=pulled.parts), targets, pulled.total)

    def move_and_pull(self, state: MACState) -> tuple[Any, Any, Pulled]:
        """Return targets and multipliers of the Z step, in partitions, and Phi' targets: one visit of the rows."""
        features: Any = self.features(state.mapping)
        partial_map = _PartialMap(self, features, state) if partial_states_observed() else None
        both, (pulled, moments) = self.all_rows.both(
            _moved_and_pulled, features.part, *self._of_move(state), so_far=partial_map
        )
        targets, multiplier = self.all_rows.entries(both, 2)
        return targets, multiplier, Pulled(pulled, moments, None if partial_map is None else partial_map.pulls)

    # --- the classifiers ----------------------------------------------------------------------------------------------

    def classify(self, targets: Any, start: Heads | None = None, **of_solver: Any) -> Heads:
        """Return classifiers fitted to the targets."""
        signs: Any = self.signs
        costs: Any = self.costs
        n_heads = class_signs(self.codes[:1], self.n_classes, self.scheme).shape[1]
        return solve_distributed_svms(targets, signs, costs, n_heads, start, tol=SVM_TOL, **of_solver)

    def reclassified(self, state: MACState, targets: Any, pulled: Pulled) -> Heads:
        """Return classifiers fitted to new targets, from those of `state` on, which observers see change."""
        show = partial(self._show_classifiers, state) if partial_states_observed() else None
        return self.classify(targets, state.heads, observe=show, moments=pulled.moments)

    def show_partial(self, state: MACState) -> None:
        """Show a partial state: its rows are the images of the map, whatever partition they are in."""
        show_partial_state(state._replace(latent=None))  # type: ignore[arg-type]

    def _show_classifiers(self, state: MACState, coef: Array, intercept: Array) -> None:
        self.show_partial(state._replace(heads=state.heads._replace(coef=coef, intercept=intercept)))

    # --- diagnostics and the bound ------------------------------------------------------------------------------------

    def diagnostics(self, state: MACState) -> dict[str, float]:
        """Return the shares of rows that support the classifiers, and of those that are wrong, and the bound."""
        heads = state.heads
        arguments = self.row_codes, state.latent, heads.coef, heads.intercept, heads.alpha
        wrong, support = self.all_rows.total(_counts, *arguments, self.n_classes, self.scheme) / self.all_rows.n_rows
        search = self._search_of(state)
        with search.lock:
            self._certify(state, search)
        of_rows = {"training_error": float(wrong), "support_fraction": float(support)}
        return {**of_rows, **self._bound_and_gap(state, search)}

    def closed_bound(self, state: MACState) -> float:
        """Return what the multipliers of the states seen prove; there is no companion on partitions."""
        return self._search_of(state).best.bound

    def _certify(self, state: MACState, search: BoundSearch) -> None:
        """Let the multipliers of a state prove what they can, by sums over partitions."""
        up, down = self.all_rows.total(_balances, self.signs, state.heads.alpha)
        least = np.minimum(up, down)
        factors = np.divide(least, [up, down], out=np.zeros((2, len(up))), where=np.array([up, down]) > 0.0)
        signed: Any = planned(_signed, self.signs, state.heads.alpha, factors)
        pulled = self.features_of(state).pull_back(signed)
        best = search.best if search.best is not NOTHING else None
        search.best = certify(2.0 * least, pulled, state.reg_w, best)

    # --- left-out rows ------------------------------------------------------------------------------------------------

    @property
    def judged_rows(self) -> NDArray[np.intp]:
        """Rows that are left out in turn."""
        return self.all_rows.judged

    @property
    def judged_weights(self) -> Array:
        """Their weights."""
        return np.ones(len(self.all_rows.judged))

    def left_out_images(self, state: MACState) -> Array:
        """Return the images (p, L) of the judged rows by the mapping without them, targets fixed."""
        features = self.features_of(state)
        numbers = np.arange(len(self.all_rows.judged))
        q = np.minimum(features.leverages(numbers, least_ridge(state.reg_w, state.mu, features)), 1.0 - 1e-10)[:, None]
        targets = self.all_rows.taken(state.targets, self.all_rows.judged)
        return (state.image(features.X) - q * targets) / (1.0 - q)


class _PartialMap:
    """Shows the map while targets move: partitions that are done count with their new targets, others with the old.

    `start`: where the pass begins, at its mu. `pulls`: Phi' targets of the partitions that are done.
    """

    def __init__(self, problem: PartitionedPenalty, features: Features, start: MACState) -> None:
        self._problem, self._features, self._start = problem, features, start
        self.pulls: dict[int, Array] = {}

    def __call__(self, shares: dict[int, tuple[Array, Any]]) -> None:
        """Take Phi' targets and moments of the partitions that are done."""
        self.pulls = {number: pulled for number, (pulled, _moments) in shares.items()}
        start, features, before = self._start, self._features, self._start.pulls or {}
        if len(shares) < len(before):
            pulled = sum((self.pulls.get(number, old) for number, old in before.items()), np.zeros(1))
            weights = features.solve(None, pulled, least_ridge(start.reg_w, start.mu, features))  # type: ignore[arg-type]
            self._problem.show_partial(start._replace(weights=weights))


# --- two layers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PartitionedTwoLayers(TwoLayerProblem):
    """n_layers=2 on rows in partitions; X and codes are those of the sample.

    `all_rows`: all labelled rows.
    """

    all_rows: Any = None

    @property
    def row_codes(self) -> Any:
        """Their classes."""
        return self.all_rows.codes

    def adopt(self, state: TwoLayerState) -> TwoLayerState:
        """Return `state`; that rows, labels and the number of latent coordinates are the same is known."""
        return state

    # --- the first layer ----------------------------------------------------------------------------------------------

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

    def _among_all(self, first: FirstLayer, rows: NDArray) -> FirstLayer:
        """Return a first layer fitted to rows of the sample with codes of all rows, in partitions."""
        numbers = self.all_rows.sampled[rows]
        hidden = self.all_rows.each(image, first.mapping, self.all_rows.X, first.coef)
        left_out = self.all_rows.replaced(hidden, numbers, first.left_out)
        if len(rows) == self.n_rows:
            hidden = self.all_rows.replaced(hidden, numbers, first.hidden)
        return first._replace(hidden=hidden, left_out=left_out)

    # --- the second layer ---------------------------------------------------------------------------------------------

    def _seen(self, hidden: Any) -> Array:
        """Return the codes of the sample."""
        return self.all_rows.taken(hidden, self.all_rows.sampled)

    def _second_fits(self, hidden: Any, mapping: Mapping, corners: Array) -> Iterator[tuple[float, float, Array, Any]]:
        """Yield error, mean square, weights and left-out images, not yet computed, at every ridge."""
        ridges = _Ridges(self.all_rows, mapping, hidden, corners, SECOND_RIDGES)
        for number, (error, square) in enumerate(ridges.scores):
            yield error, square, ridges.coef(number), planned(_left_out_codes, *ridges.at(number))


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


def _costs(codes: NDArray, C: float) -> Array:
    return np.full(len(codes), C)


def _moved_and_pulled(part: PartFeatures, *arguments: Any) -> tuple[tuple, tuple]:
    """Return targets with multipliers, and Phi' targets with the moments of the targets."""
    targets, multiplier = moved_rows(*arguments)
    return (targets, multiplier), (part.pull_back(targets), moments_of(targets))


def _counts(
    codes: NDArray, latent: Array, coef: Array, intercept: Array, alpha: Array, n_classes: int, scheme: str
) -> Array:
    """Return the numbers of rows that are wrong, and that support a classifier."""
    scores = class_scores(latent @ coef.T + intercept, n_classes, scheme)
    guess = scores[:, 0] > 0.0 if scores.shape[1] == 1 else scores.argmax(axis=1)
    return np.array([(guess != codes).sum(), (alpha > 0.0).any(axis=1).sum()])


def _balances(signs: Array, alpha: NDArray) -> Array:
    """Return the sums of the multipliers of either sign (2, P)."""
    return np.array(
        [(alpha * (signs > 0.0)).sum(axis=0, dtype=float), (alpha * (signs < 0.0)).sum(axis=0, dtype=float)]
    )


def _signed(signs: Array, alpha: NDArray, factors: Array) -> Array:
    return alpha * np.where(signs > 0.0, factors[0], factors[1]) * signs


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
