"""MAC's objective, its state, and what its solvers share.

    E(W, U, b)      = reg_w |W|^2 + 1/2 |U|^2 + C sum_{n,k} [1 - Y_nk (u_k'F(x_n) + b_k)]_+       F(x) = W phi(x)
    Q_mu(W, U, b, Z) = the same with z_n in place of F(x_n)  +  mu / 2 sum_n |z_n - F(x_n)|^2

The least Q_mu over Z is at most E.  E is what is reported as the objective and what the certificate bounds; Q_mu is
what the passes over Z, the classifiers and F descend at fixed mu.

Source: W. Wang, M. Á. Carreira-Perpiñán, "The role of dimensionality reduction in linear classification", eq. 1-3 and
algorithm 1.  Erratum: "factorise once and for all" does not hold, the ridge 2 reg_w / mu changes with mu.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from supdr.engine.context import show_partial_state
from supdr.engine.iterate import Problem
from supdr.engine.reuse import reused
from supdr.engine.sparse_rows import SparseRows
from supdr.methods.mac.certificate import BoundSearch
from supdr.methods.mac.classes import (
    class_scores,
    class_signs,
    initial_targets,
    principal_targets,
    simplex_codes,
    simplex_numbers,
)
from supdr.methods.mac.labelled_rows import LabelledInMemory
from supdr.methods.mac.mapping import EIGEN_SIZE, Features, choose_centers
from supdr.methods.mac.regressor import RegressorMapping
from supdr.methods.mac.state import Array, MACState, PulledTargets, RowSums, Settings
from supdr.methods.mac.target_step import cases, moved_rows
from supdr.solvers.distances import median_distance
from supdr.solvers.gaussians import Mapping
from supdr.solvers.leave_one_out import (
    RIDGES,
    SQUARE_WEIGHT,
    WIDTHS,
    Choice,
    best_ridge,
    best_ridge_of_rows,
    best_width,
    enough_labels,
    judged,
    lowest_nearby,
    search_share,
)
from supdr.solvers.linear_svm import Heads

# Relative duality gap of the classifiers. Where below it they end depends on the order of addition: it is so narrow
# that the objective's first eight digits do not, so that rows in partitions give the same run as rows in memory.
SVM_TOL = 1e-9

# Where the number of centres is not given: at least so many, and more for more rows, as long as rows times squared
# centres, the multiply-adds of Phi'Phi, are no more than so many: half a minute.
FEWEST_CENTERS = 1000
ROWS_PER_CENTER = 4
CENTERS_WORK = 10**12

# Rows times squared centres of the random subset on which width and ridge are chosen where all would be more, with as
# many rows per centre: with few rows per centre the fit interpolates noise, and its error is not that of all rows.
SEARCH_WORK = 1.3e8

# Rows beyond which centres are not made of the rows that are left out in turn, and widths near the one that is best on
# the subset are compared on a larger one, since few centres need wider Gaussians than many: rows times squared centres,
# and rows at most.
MANY_ROWS = 4_000
NEARBY_WORK = 4e9
NEARBY_ROWS = 20_000

# Factor between such widths.
WIDTH_STEP = 1.2

# Rows of a sample, where it is not all there are, on which width and ridge are chosen.
SEARCH_ROWS = 4_000

# Factor between ridges that are compared on all features: the score is flat, and of closer ones chance would decide.
RIDGE_STEP = 10.0

# reg_w where labels are too few to choose it.
FEW_LABELS_RIDGE = 1e-3


@dataclass(frozen=True, eq=False)
class MACProblem(Problem):
    """Data, hyper-parameters and objective; subclasses are the solvers.

    X (n, D): preprocessed labelled rows.
    pool (N, D): all rows: where centres are chosen.
    labelled (N,): which of them are X; None: all.
    codes (n,): classes.
    n_classes, n_components: K and L.
    mapping: one of "rbf", "linear".
    centers (M, D).
    scheme: one of "ova", "ovo".
    init (n, L).
    row_weights (n,): what C is multiplied by in each row.
    scaling: what was applied to the columns.
    all_rows: the labelled rows that E is a sum over, in partitions, where X, pool, codes and row_weights are those of
        the sample on which mapping, width and ridge are chosen; None: X in memory, see `supdr.rows.in_memory`.
    brief: whether a step takes a part of its usual inner steps only, as in the search for a bound.
    bounded: whether diagnostics look for a lower bound.
    given_features: of the only mapping that the problem is used with; None: made of X and the mapping.
    """

    X: Array
    pool: Array
    codes: NDArray
    n_classes: int
    n_components: int
    mapping: str | RegressorMapping
    n_centers: int | None
    centers: Any
    gamma: Any
    reg_w: Any
    C: float
    mu: float
    mu_factor: float
    inner_tol: float
    max_inner: int
    scheme: str
    init: Any
    init_noise: float
    n_jobs: int | None
    row_weights: Array
    scaling: str
    labelled: NDArray[np.bool_] | None = None
    all_rows: Any = None
    brief: bool = False
    bounded: bool = True
    given_features: Features | None = None
    signs: Array = field(init=False)
    costs: Array = field(init=False)
    settings: Settings = field(init=False)

    advice = "Try a larger reg_w or a smaller C."
    precision: ClassVar[Any] = np.float64  # of the multipliers of the Z step

    def __post_init__(self) -> None:
        rows = self.all_rows
        if rows is None:
            rows = LabelledInMemory(self.X, self.codes, self.row_weights)
            object.__setattr__(self, "all_rows", rows)
        centers = self.centers if isinstance(self.centers, str) else zlib.crc32(np.asarray(self.centers).tobytes())
        count = self.n_centers if centers in ("kmeans", "random") else None
        features = (self.mapping, count, centers, self.gamma) if self.mapping == "rbf" else (self.mapping,)
        features = (*features, self.scaling)
        checksums = (*rows.checksums, self.scheme)
        settings = Settings(type(self).__name__, features, checksums, self.C, self.reg_w, self.mu)
        object.__setattr__(self, "signs", rows.delay(class_signs, rows.codes, self.n_classes, self.scheme))
        object.__setattr__(self, "costs", rows.each(np.multiply, rows.weights, self.C))
        object.__setattr__(self, "settings", settings)

    def features(self, mapping: Mapping) -> Features:
        """Return the training features of `mapping`, computed once."""
        if self.given_features is not None:
            return self.given_features
        latest, features = self.workspace.get("features", (None, None))
        if latest is not mapping:
            features = self.all_rows.features(mapping)
            self.workspace["features"] = mapping, features
        return cast("Features", features)

    def features_of(self, state: MACState) -> Features:
        """Return the training features of a state, which may hold Phi'Phi."""
        features = self.features(state.mapping)
        features.use_gram(state.gram)
        return features

    def images(self, state: MACState) -> Array:
        """Return F (n, L) of the training rows."""
        if isinstance(state.mapping, RegressorMapping):
            return state.image(self.X)
        return self.features(state.mapping).image(state.weights)

    def chosen(self, seed: int) -> tuple[Any, float]:
        """Return centres with their width, and reg_w.  O(n M D), and for "loo" O(n M^2 + M^3) a width, of a subset.

        They are chosen on the sample; a chosen reg_w grows with the rows as Phi'Phi does.
        """
        settings = (self.mapping, self.n_centers, self.centers, self.gamma, self.reg_w, self.mu, seed)
        inputs = (*settings, self.X, self.pool, self.codes, self.n_classes, self.all_rows.n_rows)
        mapping, reg_w = reused("MAC mapping", lambda: inputs, lambda: self._chosen(seed))
        return mapping, reg_w * (self.all_rows.n_rows / len(self.X) if isinstance(self.reg_w, str) else 1.0)

    def _chosen(self, seed: int) -> tuple[Mapping, float]:
        rng = np.random.default_rng([seed, 1 << 20])
        if self.mapping == "linear":
            mapping = Mapping("linear", self.X.mean(axis=0, keepdims=True), 0.0)
            return mapping, self.chosen_ridge(mapping, seed)
        if not isinstance(self.centers, str):
            centers = np.ascontiguousarray(self.centers, dtype=float)
        elif self.centers == "all":
            centers = self.X
        else:
            count = self._default_count() if self.n_centers is None else self.n_centers
            centers = choose_centers(self._rows_for_centers(count), count, self.centers, rng)
        unit = median_distance(self.X, rng)
        if self.gamma == "loo" and enough_labels(self.codes):
            choice = self._search(centers, unit, WIDTHS, rng)
            mapping = Mapping("rbf", centers, choice.gamma)
            return mapping, self._as_reg_w(choice, mapping)
        gamma = 0.5 / unit**2 if isinstance(self.gamma, str) else float(self.gamma)
        mapping = Mapping("rbf", centers, gamma)
        return mapping, self.chosen_ridge(mapping, seed)

    def _default_count(self) -> int:
        """Return how many centres there are where their number is not given."""
        n = self.all_rows.n_rows
        return min(len(self.pool), max(FEWEST_CENTERS, min(n // ROWS_PER_CENTER, math.isqrt(CENTERS_WORK // n))))

    def chosen_ridge(self, mapping: Mapping, seed: int) -> float:
        """Return reg_w for a given mapping."""
        if not isinstance(self.reg_w, str):
            return float(self.reg_w)
        if not enough_labels(self.codes):
            return FEW_LABELS_RIDGE
        rng = np.random.default_rng([seed, 1 << 19])
        if mapping.kind == "rbf":
            return self._as_reg_w(self._search(mapping.centers, 1.0, (math.sqrt(0.5 / mapping.gamma),), rng), mapping)
        corners = simplex_codes(self.n_classes)
        if isinstance(self.X, SparseRows):
            return self._as_reg_w(best_ridge_of_rows(self.X - mapping.centers[0], self.codes, corners, rng), mapping)
        Phi = mapping.features(self.X)
        size = float((Phi**2).sum(axis=1).mean()) or 1.0
        return self._as_reg_w(best_ridge(Phi, self.codes, corners, RIDGES * size, symmetric=False), mapping)

    def _search(self, centers: Array, unit: float, widths: tuple[float, ...], rng: np.random.Generator) -> Choice:
        """Return the best width and ridge, on a subset of rows and centres if all are many.

        Where there are very many, more widths near the best of a small subset are compared on a larger one.
        """
        X, codes, of_sample = self.X, self.codes, 1.0
        if SEARCH_ROWS < len(X) < self.all_rows.n_rows:
            some = np.sort(rng.choice(len(X), SEARCH_ROWS, replace=False))
            X, codes, of_sample = X[some], codes[some], len(X) / SEARCH_ROWS
        share = search_share(len(X), len(centers), SEARCH_WORK)
        if share < 1.0:
            same = centers is X
            rows = np.sort(rng.choice(len(X), max(int(share * len(X)), 2), replace=False))
            X, codes = X[rows], codes[rows]
            count = max(int(share * len(centers)), 1)
            few = X if same else centers[rng.choice(len(centers), count, replace=False)]
        else:
            few = centers
        choice = self._best_width(X, codes, few, unit, widths, share)
        if len(widths) > 1 and self._leaves_rows_for_centers(len(centers)):
            return self._nearby_width(centers, unit, choice.width, rng)
        return choice._replace(ridge=choice.ridge * of_sample)

    def _best_width(
        self,
        X: Array,
        codes: NDArray,
        centers: Array,
        unit: float,
        widths: tuple[float, ...],
        share: float,
        some: NDArray | None = None,
    ) -> Choice:
        """Return the best width on a share of the rows and centres, with the ridge for all rows."""
        ridges = RIDGES if isinstance(self.reg_w, str) else np.array([share * 2.0 * self.reg_w / self.mu])
        corners = simplex_codes(self.n_classes)
        choice = best_width(X, codes, corners, centers, unit, widths=widths, ridges=ridges, some=some)
        return choice._replace(ridge=choice.ridge / share)

    def _nearby_width(self, centers: Array, unit: float, width: float, rng: np.random.Generator) -> Choice:
        """Return the best of some widths near one, on a larger subset, judged by rows that no centre was made of."""
        n, left_out = len(self.X), self.sample_rows.judged
        share = search_share(n, len(centers), NEARBY_WORK)
        more = max(min(int(share * n), NEARBY_ROWS) - len(left_out), 0)
        others = rng.choice(np.delete(np.arange(n), left_out), more, replace=False)
        rows = np.union1d(left_out, others)
        share = len(rows) / n
        few = centers[rng.choice(len(centers), max(int(share * len(centers)), 1), replace=False)]
        X, codes, some = self.X[rows], self.codes[rows], np.searchsorted(rows, left_out)
        choices = dict[int, Choice]()

        def score(number: int) -> float:
            """Return the score at so many steps from the first width."""
            widths = (width * WIDTH_STEP**number,)
            choices[number] = self._best_width(X, codes, few, unit, widths, share, some)
            return choices[number].score

        return choices[lowest_nearby(score)]

    def _rows_for_centers(self, count: int) -> Array:
        """Return the rows (q, D) of which centres are made: of many rows, those that are not left out in turn.

        Of a centre that is a row hardly another row says what its weight should be: without the row, the row is
        predicted worse than new ones are.
        """
        if not self._leaves_rows_for_centers(count):
            return self.pool
        judged = self.sample_rows.judged
        return np.delete(self.pool, judged if self.labelled is None else np.flatnonzero(self.labelled)[judged], axis=0)

    def _leaves_rows_for_centers(self, count: int) -> bool:
        """Whether rows are many, and enough for so many centres without those that are left out in turn."""
        by_name = isinstance(self.centers, str) and self.centers != "all"
        return by_name and len(self.X) > MANY_ROWS and count <= len(self.pool) - len(self.sample_rows.judged)

    @cached_property
    def sample_rows(self) -> LabelledInMemory:
        """The rows in memory on which mapping, width and ridge are chosen."""
        rows = self.all_rows
        return rows if isinstance(rows, LabelledInMemory) else LabelledInMemory(self.X, self.codes)

    def _as_reg_w(self, choice: Choice, mapping: Mapping) -> float:
        """Return the reg_w whose ridge at the first mu is the chosen one."""
        if not isinstance(self.reg_w, str):
            return float(self.reg_w)
        many = mapping.kind == "rbf" and mapping.n_features > EIGEN_SIZE
        return 0.5 * self.mu * (self._nearby_ridge(mapping, choice.ridge) if many else choice.ridge)

    def _nearby_ridge(self, mapping: Mapping, ridge: float) -> float:
        """Return the ridge at which all features do best on left-out rows: in steps from one that a subset suggests.

        O(M^3 + p M^2) a step for p judged rows.
        """
        rows = self.sample_rows
        features = self.features(mapping) if rows is self.all_rows else rows.features(mapping)
        corners = simplex_codes(self.n_classes)
        targets, Phi = corners[rows.codes], features.of_rows(rows.judged)
        pulled = features.pull_back(targets)

        def score(number: int) -> float:
            """Return the score at so many steps from the first ridge."""
            value = ridge * RIDGE_STEP**number
            images = Phi @ features.solve(targets, pulled, value)
            left_out = features.left_out(rows.judged, value, images, targets[rows.judged])
            error, square = judged(left_out, rows.codes[rows.judged], corners)
            return error + SQUARE_WEIGHT * square

        return max(ridge * RIDGE_STEP ** lowest_nearby(score), features.smallest_ridge())

    # --- objective ----------------------------------------------------------------------------------------------------

    def hinge(self, latent: Array, heads: Heads) -> float:
        """Return C times the weighted sum of the hinges of latent rows (n, L)."""
        return self.all_rows.total(hinge_sum, latent, self.signs, self.costs, heads.coef, heads.intercept)

    def missing(self, latent: Array, heads: Heads) -> Array:
        """Return 1 - Y (U z + b), (n, P): what every margin lacks."""
        return 1.0 - self.signs * (latent @ heads.coef.T + heads.intercept)

    def sums(self, state: MACState) -> RowSums:
        """Return the sums over rows of which E and Q_mu are made: those of the state, or by one visit of the rows."""
        if state.sums is not None:
            return state.sums
        of_classifiers = self.signs, self.costs, state.heads.coef, state.heads.intercept
        return self.all_rows.total(row_sums, state.latent, state.targets, *of_classifiers)

    def terms(self, state: MACState) -> dict[str, float]:
        """Return the terms of E."""
        return {
            "label": self.sums(state).image_hinge,
            "margin": 0.5 * float(np.vdot(state.heads.coef, state.heads.coef)),
            "regularisation": state.reg_w * float(np.vdot(state.weights, state.weights)),
        }

    def penalised(self, state: MACState) -> float:
        """Return Q_mu."""
        sums = self.sums(state)
        terms = self.terms(state._replace(sums=sums)) | {"label": sums.target_hinge}
        return math.fsum(terms.values()) + 0.5 * state.mu * sums.distance

    def readings(self, state: MACState) -> dict[str, float]:
        """Return the surrogate with its mu."""
        return {"surrogate": state.surrogate, "mu": state.mu}

    def diagnostics(self, state: MACState) -> dict[str, float]:
        """Return the numbers that describe the latent space, and the shares of rows that are wrong, or support it."""
        heads, rows = state.heads, self.all_rows
        of_rows = rows.codes, state.latent, heads.coef, heads.intercept, heads.alpha
        wrong, support = rows.total(error_counts, *of_rows, self.n_classes, self.scheme) / rows.n_rows
        shares = {"training_error": float(wrong), "support_fraction": float(support)}
        return {**self.latent_diagnostics(state), **shares}

    def latent_diagnostics(self, state: MACState) -> dict[str, float]:
        """Return the numbers that need all latent rows at once."""
        case = cases(state.multiplier, 2.0 * self.costs / state.mu)
        length = float(np.linalg.norm(state.targets))
        return {
            **simplex_numbers(state.latent, self.codes, self.n_classes),
            "target_distance": float(np.linalg.norm(state.targets - state.latent)) / max(length, np.finfo(float).tiny),
            **{f"case_{number}": float(np.mean(case == number)) for number in (1, 2, 3)},
        }

    def stage(self, state: MACState) -> int:
        """Return the number of the value of mu (or of the smoothing width) in use."""
        return state.stage

    # --- the run ------------------------------------------------------------------------------------------------------

    def start(self, seed: int) -> MACState:
        """Return targets from `init`, classifiers fitted to them, and the mapping fitted to them."""
        return self.started(*self.chosen(seed), seed)

    def started(self, mapping: Any, reg_w: float, seed: int) -> MACState:
        """Return the start of a run with given features and reg_w."""
        targets = self.first_targets(seed)
        return self.mapped(targets, self.classify(targets), mapping, reg_w, seed, 0)

    def first_targets(self, seed: int) -> Array:
        """Return the targets (n, L) that a run starts from."""
        if not isinstance(self.init, str):
            return np.array(self.init, dtype=float)
        rng = np.random.default_rng(seed)
        if self.init == "pca":
            return principal_targets(self.X, self.n_components, self.init_noise, rng)
        means = rng.standard_normal((self.n_classes, self.n_components)) if self.init == "blobs" else None
        normal = self.all_rows.normal(rng, self.n_components)
        return self.all_rows.each(
            initial_targets, self.all_rows.codes, self.n_classes, self.init, self.init_noise, normal, means
        )

    def move(self, images: Array, state: MACState) -> tuple[Array, Array]:
        """Return targets (n, L) and multipliers (n, P) of the Z step from images (n, L)."""
        moved = self.all_rows.each(moved_rows, *self._of_move(state._replace(latent=images)), self.n_jobs)
        targets, multiplier = self.all_rows.entries(moved, 2)
        return targets, multiplier

    def _of_move(self, state: MACState) -> tuple:
        """Return the first arguments of `moved_rows`."""
        return (
            *(state.latent, state.heads.coef, state.heads.intercept),
            *(self.signs, self.costs, state.mu, state.multiplier),
        )

    def refitted(self, state: MACState, targets: Array, pulled: PulledTargets) -> MACState:
        """Return `state` with the mapping fitted to targets (n, L)."""
        features = self.features_of(state)
        state = state._replace(gram=features.gram_to_keep(), pulls=pulled.parts)
        ridge = least_ridge(state.reg_w, state.mu, features)
        state = state._replace(weights=features.solve(targets, pulled.total, ridge))
        self.show_partial(state)
        return state._replace(latent=features.image(state.weights))

    def show_partial(self, state: MACState) -> None:
        """Show a state that a step has before it is complete; only on partitions, where a step takes long.

        Its rows are the images of the map, whatever partition they are in.
        """
        if self.all_rows.partial_states_observed():
            show_partial_state(state._replace(latent=None))  # type: ignore[arg-type]

    def classify(self, targets: Array, start: Heads | None = None, **on_partitions: Any) -> Heads:
        """Return classifiers fitted to targets (n, L)."""
        options = {"n_heads": self.n_heads, "tol": SVM_TOL, "n_jobs": self.n_jobs, **on_partitions}
        return self.all_rows.fit_svms(targets, self.signs, self.costs, start, **options)

    @property
    def n_heads(self) -> int:
        """P, the number of classifiers."""
        return class_signs(self.codes[:1], self.n_classes, self.scheme).shape[1]

    def rescaled(self, alpha: Array, C: float) -> Array:
        """Return multipliers (n, P) of costs for another C, fit for these costs."""
        return self.all_rows.each(rescaled_multipliers, alpha, self.C / C, self.costs)

    def no_multipliers(self) -> Array:
        """Return multipliers 0, (n, P)."""
        return self.all_rows.each(zeros_like, self.signs, self.precision)

    def mapped(self, targets: Array, heads: Heads, mapping: Any, reg_w: float, seed: int, iteration: int) -> MACState:
        """Return a state at given targets and classifiers, with the mapping fitted to the targets."""
        state = MACState(
            targets=targets,
            latent=targets,
            weights=np.empty((0, self.n_components)),
            heads=heads,
            multiplier=self.no_multipliers(),
            residual=None,
            mu=self.mu,
            passes=0,
            stage=0,
            decrease=math.inf,
            surrogate=math.inf,
            mapping=mapping,
            reg_w=reg_w,
            scaling=self.scaling,
            search=None,
            settings=self.settings,
            seed=seed,
            iteration=iteration,
            bound_search=BoundSearch(),
        )
        return self.prepared(self.refitted(state, targets, self.pulled(mapping, targets)))

    def pulled(self, mapping: Any, targets: Array) -> PulledTargets:
        """Return Phi' targets (M, L)."""
        return PulledTargets(self.features(mapping).pull_back(targets))

    def adopt(self, state: MACState) -> MACState:
        """Return `state` made consistent with this problem: what depends on changed settings is computed anew.

        The mapping does not depend on rows or labels: both may change within a run.
        """
        fits = state.weights.shape[1] == self.n_components and state.mapping.n_columns == self.X.shape[1]
        if not fits:
            raise ValueError(
                f"the snapshot to start from maps {state.mapping.n_columns} columns to n_components="
                f"{state.weights.shape[1]}; these data and parameters need {self.X.shape[1]} and {self.n_components}"
            )
        self.show_partial(state)  # observers see at once what a run continues from
        if state.settings == self.settings:
            return state
        before = Settings(*state.settings)
        same_rows = before.rows == self.settings.rows
        latent, targets, heads = state.latent, state.targets, state.heads
        if not same_rows:
            latent = targets = self.images(state)
            heads = self.classify(latent)
        else:
            heads = heads._replace(alpha=self.rescaled(heads.alpha, before.C))
        if before.features != self.settings.features:
            return self.mapped(targets, heads, *self.chosen(state.seed), state.seed, state.iteration)
        same_mu = (before.solver, before.mu) == (self.settings.solver, self.settings.mu)
        chosen = state.reg_w if before.reg_w == self.reg_w else self.chosen_ridge(state.mapping, state.seed)
        same_optimum = same_rows and before.C == self.C and chosen == state.reg_w
        return self.prepared(
            state._replace(
                targets=targets,
                latent=latent,
                heads=heads,
                multiplier=state.multiplier if same_rows else self.no_multipliers(),
                reg_w=chosen,
                mu=state.mu if same_mu else self.mu,
                residual=None,
                search=None,
                sums=None,
                passes=0,
                decrease=math.inf,
                stage=state.stage + 1,
                settings=self.settings,
                bound_search=state.bound_search if same_optimum else BoundSearch(),
            )
        )

    def prepared(self, state: MACState) -> MACState:
        """Return `state` with the solver's own parts filled in."""
        state = self.measured(state)
        return state._replace(surrogate=self.penalised(state))

    def measured(self, state: MACState) -> MACState:
        """Return `state` with its sums over rows."""
        return state._replace(sums=self.sums(state._replace(sums=None)))


def least_ridge(reg_w: float, mu: float, features: Features) -> float:
    """Return 2 reg_w / mu, kept above what rounding destroys."""
    return max(2.0 * reg_w / mu, features.smallest_ridge())


# --- of rows, or of those of a partition ------------------------------------------------------------------------------


def error_counts(
    codes: NDArray, latent: Array, coef: Array, intercept: Array, alpha: NDArray, n_classes: int, scheme: str
) -> Array:
    """Return the numbers of rows that are wrong, and that support a classifier."""
    scores = class_scores(latent @ coef.T + intercept, n_classes, scheme)
    guess = scores[:, 0] > 0.0 if scores.shape[1] == 1 else scores.argmax(axis=1)
    return np.array([(guess != codes).sum(), (alpha > 0.0).any(axis=1).sum()])


def hinge_sum(latent: Array, signs: Array, costs: Array, coef: Array, intercept: Array) -> float:
    """Return the sum of costs (n,) times the hinges of latent rows (n, L)."""
    missing = 1.0 - signs * (latent @ coef.T + intercept)
    return float(costs @ np.where(signs != 0.0, np.maximum(missing, 0.0), 0.0).sum(axis=1))


def row_sums(latent: Array, targets: Array, signs: Array, costs: Array, coef: Array, intercept: Array) -> RowSums:
    """Return the sums over rows with images and targets (n, L)."""
    image_hinge, target_hinge = (hinge_sum(points, signs, costs, coef, intercept) for points in (latent, targets))
    return RowSums(image_hinge, target_hinge, float(((targets - latent) ** 2).sum()))


def rescaled_multipliers(alpha: NDArray, share: float, costs: Array) -> NDArray:
    """Return multipliers (n, P) times a share, at most costs (n,)."""
    return np.minimum(alpha * share, costs[:, None]).astype(alpha.dtype)


def zeros_like(signs: Array, precision: Any) -> NDArray:
    """Return zeros in the shape of signs (n, P)."""
    return np.zeros(signs.shape, precision)
