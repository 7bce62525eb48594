"""MAC's passes on rows in partitions: the same formulas, with sums over partitions where all rows are needed.

A pass sends the weights (M, L) and the classifiers out.  Back come the sum Phi'Z (M, L) with the moments of the
targets, for every visit of the classifiers the rows nearest to their margins and means of the others, see
`supdr.solvers.margin_working_set`, and a few scalars; once, Phi'Phi (M, M).  What is chosen from the data (centres,
width, ridge, scaling) is chosen on a random sample.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from supdr.engine.context import partial_states_observed, show_partial_state
from supdr.methods.mac.certificate import NOTHING, BoundSearch, certify
from supdr.methods.mac.classes import class_scores, class_signs, initial_targets
from supdr.methods.mac.mapping import Features
from supdr.methods.mac.problem import SVM_TOL, least_ridge
from supdr.methods.mac.solvers import Penalty
from supdr.methods.mac.state import Array, MACState
from supdr.methods.mac.summed_features import SummedFeatures, product, product_with_rows
from supdr.methods.mac.target_step import move_points
from supdr.rows.partitioned import random_rows
from supdr.rows.partitions import Partitions, planned, spread, total
from supdr.solvers.distributed_svm import solve_distributed_svms
from supdr.solvers.gaussians import Mapping
from supdr.solvers.leave_one_out import Choice
from supdr.solvers.linear_svm import Heads
from supdr.solvers.margin_working_set import moments_of

# Rows of a sample on which width and ridge are chosen.
SEARCHED = 4_000

# What each partition's targets add to Phi'Z, of passes that somebody looks at.
PULLS: WeakKeyDictionary[Partitions, tuple[Mapping, dict[int, Array]]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class PartitionedPenalty(Penalty):
    """solver="mac" on rows in partitions.

    X, pool, codes and row_weights are those of the sample on which mapping, width and ridge are chosen.

    `rows`: all labelled rows.
    """

    rows: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "settings", self.settings._replace(rows=(self.rows.fingerprint, self.scheme)))
        object.__setattr__(self, "signs", planned(class_signs, self.rows.codes, self.n_classes, self.scheme))
        object.__setattr__(self, "costs", spread(_costs, self.rows.codes, self.C))

    @cached_property
    def n_heads(self) -> int:
        """Number of classifiers."""
        return class_signs(self.codes[:1], self.n_classes, self.scheme).shape[1]

    def new_features(self, mapping: Mapping) -> Features:
        """Return the features of `mapping`, whose products are summed once."""
        return SummedFeatures(self.rows, mapping)

    def chosen(self, seed: int) -> tuple[Mapping, float]:
        """Return what is chosen on the sample; a chosen reg_w grows with the rows as Phi'Phi does."""
        mapping, reg_w = self._chosen(seed)
        return mapping, reg_w * self._growth

    def _search(self, centers: Array, unit: float, widths: tuple[float, ...], rng: np.random.Generator) -> Choice:
        """Return the best width and ridge; of a sample of the rows that are there some thousands are enough."""
        n = len(self.X)
        if n == self.rows.n_rows or n <= SEARCHED:
            return super()._search(centers, unit, widths, rng)
        some = np.sort(rng.choice(n, SEARCHED, replace=False))
        given = {each.name: getattr(self, each.name) for each in fields(Penalty) if each.init}
        fewer = {name: given[name][some] for name in ("X", "codes", "row_weights")}
        choice = Penalty(**given | fewer)._search(centers, unit, widths, rng)
        return choice._replace(ridge=choice.ridge * n / SEARCHED)

    def adopt(self, state: MACState) -> MACState:
        """Return `state` made consistent with this problem; who looks on sees at once what it goes on from."""
        if state.n_components == self.n_components:
            self.known(state)
        return super().adopt(state)

    @property
    def _growth(self) -> float:
        return self.rows.n_rows / len(self.X) if isinstance(self.reg_w, str) else 1.0

    def rescaled(self, alpha: Any, C: float) -> Any:
        """Return multipliers found under `C` made fit for these costs, in partitions."""
        return spread(_rescaled, alpha, self.C / C, self.costs)

    # --- what needs all rows ------------------------------------------------------------------------------------------

    def terms(self, state: MACState) -> dict[str, float]:
        """Return the terms of E."""
        self._look(state)
        return super().terms(state)

    def penalised(self, state: MACState) -> float:
        """Return Q_mu."""
        self._look(state)
        return super().penalised(state)

    @cached_property
    def _seen(self) -> dict[str, Any]:
        return {}

    def _look(self, state: MACState) -> None:
        """Visit the rows once for all that E and Q_mu ask of a state, unless that was done last."""
        of = state.latent, state.targets, state.heads
        if any(known is not each for known, each in zip(self._seen.get("of", (None,) * 3), of)):
            heads = state.heads
            sums = total(_hinges, state.latent, state.targets, self.signs, self.costs, heads.coef, heads.intercept)
            self._seen.update(of=of, sums=sums)

    def hinge(self, latent: Any, heads: Heads) -> float:
        """Return C times the sum of the hinges, of a state that was looked at."""
        return float(self._seen["sums"][0 if latent is self._seen["of"][0] else 1])

    def distance(self, targets: Any, latent: Any) -> float:
        """Return |Z - F|^2, of a state that was looked at."""
        return float(self._seen["sums"][2])

    def release(self) -> None:
        """Free what was computed of the rows."""
        super().release()
        self._seen.clear()

    def move(self, images: Any, heads: Heads, mu: float, multiplier: Any) -> tuple[Any, Any]:
        """Return targets and multipliers of the Z step, in partitions."""
        both = spread(_moved, images, heads.coef, heads.intercept, self.signs, self.costs, mu, multiplier)
        return both.item(0), both.item(1)

    def move_and_pull(self, state: MACState) -> tuple[Any, Any, Array]:
        """Return targets and multipliers of the Z step, in partitions, and Phi' targets: one visit of the rows."""
        features: Any = self.features(state.mapping)
        coef, intercept = state.heads.coef, state.heads.intercept
        arguments = state.latent, coef, intercept, self.signs, self.costs, state.mu, state.multiplier
        arriving = _Pulls(self, features, self._seen["so_far"]) if partial_states_observed() else None
        both, (pulled, moments) = features.visited(_moved_and_pulled, *arguments, so_far=arriving)
        targets, multiplier = both.item(0), both.item(1)
        self._seen["moments"] = targets, moments
        if arriving is not None:
            PULLS[targets] = features.mapping, arriving.values
        return targets, multiplier, pulled

    def known(self, state: MACState) -> None:
        """Show what a step knows: the latent rows are the images of the map, whatever partition they are in."""
        if partial_states_observed():
            self._seen["so_far"] = state._replace(latent=None)  # type: ignore[arg-type]
            show_partial_state(self._seen["so_far"])

    def _classified_so_far(self, coef: Array, intercept: Array) -> None:
        so_far = self._seen.get("so_far")
        if so_far is not None:
            show_partial_state(so_far._replace(heads=so_far.heads._replace(coef=coef, intercept=intercept)))

    def classify(self, targets: Any, start: Heads | None = None) -> Heads:
        """Return classifiers fitted to the targets."""
        signs: Any = self.signs
        costs: Any = self.costs
        told = self._classified_so_far if partial_states_observed() else None
        of, moments = self._seen.get("moments", (None, None))
        moments = moments if of is targets else None
        return solve_distributed_svms(
            targets, signs, costs, self.n_heads, start, tol=SVM_TOL, known=told, moments=moments
        )

    def first_targets(self, seed: int) -> Any:
        """Return the targets that a run starts from: whatever the partitions, each row has the same."""
        streams = self.rows.streams(np.random.default_rng(seed), self.n_components)
        return spread(
            _first_targets, self.rows.codes, self.n_classes, self.n_components, self.init, self.init_noise, streams
        )

    def no_multipliers(self) -> Any:
        """Return multipliers 0."""
        return spread(_zeros, self.signs)

    def diagnostics(self, state: MACState) -> dict[str, float]:
        """Return the shares of rows that support the classifiers, and of those that are wrong."""
        heads = state.heads
        wrong, support = (
            total(
                _counts,
                self.rows.codes,
                state.latent,
                heads.coef,
                heads.intercept,
                heads.alpha,
                self.n_classes,
                self.scheme,
            )
            / self.rows.n_rows
        )
        search = self._search_of(state)
        with search.lock:
            self._certify(state, search)
        return {
            "training_error": float(wrong),
            "support_fraction": float(support),
            **self._told(state, search),
        }

    def closed_bound(self, state: MACState) -> float:
        """Return what the multipliers of the states seen prove; there is no companion on partitions."""
        return self._search_of(state).best.bound

    def _certify(self, state: MACState, search: BoundSearch) -> None:
        """Let the multipliers of a state prove what they can, by sums over partitions."""
        up, down = total(_balances, self.signs, state.heads.alpha)
        least = np.minimum(up, down)
        factors = np.divide(least, [up, down], out=np.zeros((2, len(up))), where=np.array([up, down]) > 0.0)
        signed = planned(_signed, self.signs, state.heads.alpha, factors)
        features: Any = self.features(state.mapping)
        pulled = features.pull_back(signed)
        known = search.best if search.best is not NOTHING else None
        search.best = certify(2.0 * least, pulled, state.reg_w, known)

    # --- left-out rows ------------------------------------------------------------------------------------------------

    @cached_property
    def judged_rows(self) -> NDArray[np.intp]:
        """Rows that are left out in turn."""
        return self.rows.judged

    @cached_property
    def judged_codes(self) -> NDArray:
        """Their classes."""
        return self.rows.taken(self.rows.codes, self.rows.judged)

    @cached_property
    def judged_weights(self) -> Array:
        """Their weights."""
        return np.ones(len(self.rows.judged))

    def left_out_images(self, state: MACState) -> Array:
        """Return the images (p, L) of the judged rows by the mapping without them, targets fixed."""
        features = self.features(state.mapping)
        numbers = np.arange(len(self.rows.judged))
        q = np.minimum(features.leverages(numbers, least_ridge(state.reg_w, state.mu, features)), 1.0 - 1e-10)[:, None]
        latent, wanted = state.image(features.X), self.rows.taken(state.targets, self.rows.judged)
        return (latent - q * wanted) / (1.0 - q)


class _Pulls:
    """Shows the map while targets move: partitions that are done count with their new targets, others with the old.

    `begun`: where the pass began, at its mu.
    """

    def __init__(self, problem: PartitionedPenalty, features: Any, begun: MACState) -> None:
        self._problem, self._features, self._begun = problem, features, begun
        mapping, before = PULLS.get(begun.targets, (None, {}))  # type: ignore[call-overload]
        self._before = before if mapping is features.mapping else {}
        self.values: dict[int, Array] = {}

    def __call__(self, values: dict[int, tuple[Array, Any]]) -> None:
        """Take what the partitions that are done add to Phi'Z."""
        self.values = {number: pulled for number, (pulled, _moments) in values.items()}
        if len(values) < len(self._before):
            begun, features = self._begun, self._features
            pulled = sum((self.values.get(number, old) for number, old in self._before.items()), np.zeros(1))
            weights = features.solve(None, pulled, least_ridge(begun.reg_w, begun.mu, features))
            self._problem.known(begun._replace(weights=weights))


# --- on a partition -----------------------------------------------------------------------------------------------


def _costs(codes: NDArray, C: float) -> Array:
    return np.full(len(codes), C)


def _rescaled(alpha: NDArray, share: float, costs: Array) -> NDArray:
    return np.minimum(alpha * share, costs[:, None]).astype(alpha.dtype)


def _zeros(signs: Array) -> NDArray[np.float32]:
    return np.zeros(signs.shape, np.float32)


def _hinge(latent: Array, signs: Array, costs: Array, coef: Array, intercept: Array) -> float:
    missing = 1.0 - signs * (latent @ coef.T + intercept)
    return float(costs @ np.where(signs != 0.0, np.maximum(missing, 0.0), 0.0).sum(axis=1))


def _hinges(
    latent: Array, targets: Array, signs: Array, costs: Array, coef: Array, intercept: Array
) -> NDArray[np.float64]:
    """Return the hinges of latent rows and of targets, and the squared distance between these."""
    of_each = (_hinge(points, signs, costs, coef, intercept) for points in (latent, targets))
    return np.array([*of_each, ((targets - latent) ** 2).sum()])


def _moved(
    images: Array, coef: Array, intercept: Array, signs: Array, costs: Array, mu: float, multiplier: NDArray
) -> tuple[Array, NDArray[np.float32]]:
    """Return targets and multipliers; these only say where the next search begins: half the memory is enough."""
    start = multiplier.astype(np.float64)
    # What has travelled cannot be written to, and a kernel is compiled once more for such arrays.
    targets, multiplier = move_points(images, coef.copy(), intercept.copy(), signs, 2.0 * costs / mu, start)
    return targets, multiplier.astype(np.float32)


def _moved_and_pulled(mapping: Mapping | None, rows: Array, *arguments: Any) -> tuple[tuple, tuple]:
    """Return targets with multipliers, and Phi' targets with their moments; rows are features without a mapping."""
    targets, multiplier = _moved(*arguments)
    pulled = product(rows, targets) if mapping is None else product_with_rows(mapping, rows, targets)
    return (targets, multiplier), (pulled, moments_of(targets))


def _first_targets(
    codes: NDArray, n_classes: int, n_components: int, how: str, noise: float, state: dict[str, Any]
) -> Array:
    return initial_targets(codes, n_classes, n_components, how, noise, random_rows(state))


def _counts(
    codes: NDArray, latent: Array, coef: Array, intercept: Array, alpha: Array, n_classes: int, scheme: str
) -> Array:
    scores = class_scores(latent @ coef.T + intercept, n_classes, scheme)
    guess = scores[:, 0] > 0.0 if scores.shape[1] == 1 else scores.argmax(axis=1)
    return np.array([(guess != codes).sum(), (alpha > 0.0).any(axis=1).sum()])


def _balances(signs: Array, alpha: NDArray) -> Array:
    return np.array(
        [(alpha * (signs > 0.0)).sum(axis=0, dtype=float), (alpha * (signs < 0.0)).sum(axis=0, dtype=float)]
    )


def _signed(signs: Array, alpha: NDArray, factors: Array) -> Array:
    return alpha * np.where(signs > 0.0, factors[0], factors[1]) * signs
