"""The optimisation problem of SDR-GLM, shared by its solvers; the objective stands in `sdr_glm.estimator`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import check_shapes
from supdr.engine.iterate import Problem, generator, workspace_property
from supdr.engine.sparse_rows import SparseRows, has_missing
from supdr.functions import families
from supdr.methods.sdr_glm.features import ColumnSums, GramFeatures, SharedFeatures, WeightedFeatures
from supdr.methods.sdr_glm.state import Point, SDRGLMState, Values
from supdr.methods.sdr_glm.targets import NullFacts, TargetSide, null_facts, null_head
from supdr.rows.in_memory import InMemoryRows, largest
from supdr.solvers.low_rank import blocks_of, leading_rows, product_singular_values, solve_systems
from supdr.solvers.nonnegative import solve_nonnegative

POWER_STEPS = 30

# Singular values of UV below this share of N D, as a root, do not count for the effective rank.
DEAD = 1e-6


@dataclass(frozen=True, eq=False)
class SDRGLMProblem(Problem):
    """Data and hyper-parameters of SDR-GLM.

    X (N, D): preprocessed data, NaN where not observed.
    codes (D,): family of every column.
    weight: lam.
    reg_u, reg_v, reg_w: ridges, already scaled.
    c, bound, inner, gauge, init: as in `supdr.SDRGLM`, `inner` resolved.
    column_weight (D,): None: 1.
    size: r of negative binomial columns.
    nonnegative: whether U and V are >= 0; the biases and W are free.
    """

    X: NDArray
    codes: NDArray
    targets: TargetSide
    n_components: int
    weight: float
    reg_u: float
    reg_v: float
    reg_w: float
    c: float = 1.0
    bound: str = "jj"
    inner: int | None = None
    gauge: bool = True
    init: Any = "svd"
    column_weight: NDArray | None = None
    size: float = 1.0
    nonnegative: bool = False

    advice = "Try stronger ridges (reg_u, reg_v, reg_w)."

    # --- rows, in memory or in partitions: see `supdr.rows.in_memory` -------------------------------------------------

    @cached_property
    def all_rows(self) -> Any:
        """What works on the rows."""
        return InMemoryRows(len(self.X))

    @property
    def cells(self) -> Any:
        """The rows of X that it works on."""
        return self.X

    @property
    def feature_part(self) -> Any:
        """The features that it works on."""
        return self.features

    @property
    def target_part(self) -> Any:
        """The targets that it works on."""
        return self.targets

    @workspace_property
    def features(self) -> Any:
        """Return the feature side in the form that suits the data."""
        n_rows, n_columns = self.X.shape
        if self.nonnegative or not (self.codes == families.GAUSSIAN).all() or has_missing(self.X):
            return self.weighted_features
        shape = GramFeatures if n_rows <= n_columns and not isinstance(self.X, SparseRows) else SharedFeatures
        return shape(self.X, self.c, self.column_weight)

    @property
    def weighted_features(self) -> WeightedFeatures:
        """The feature side in the form that every kind of data has."""
        return WeightedFeatures(self.X, self.codes, self.c, self.bound, self.column_weight, self.size)

    @cached_property
    def weighted(self) -> bool:
        """Whether every row and column has a system of its own."""
        return isinstance(self.features, WeightedFeatures)

    @cached_property
    def column_null(self) -> tuple[float, NDArray]:
        """H_X, what the means of columns leave to be explained, and these means (D,)."""
        return column_facts(self.all_rows, self.cells, self.codes, self.c, self.column_weight, self.size)

    @cached_property
    def target_null(self) -> NullFacts:
        """The same of the targets."""
        return null_facts(self.all_rows, self.target_part, self.targets.codes, self.targets.Y.shape[1])

    @cached_property
    def scale(self) -> float:
        """sqrt(N D)."""
        return float(np.sqrt(self.all_rows.n_rows * self.X.shape[1]))

    @cached_property
    def rank_threshold(self) -> float:
        """Reconstruction alone keeps a component only if its singular value in the centred X exceeds this."""
        gaussian = (self.codes == families.GAUSSIAN).all()
        return float(np.sqrt(self.reg_u * self.reg_v) / (self.weight * (2.0 * self.c if gaussian else 1.0)))

    @cached_property
    def ridges(self) -> tuple[float, float, float]:
        """reg_u, reg_v, reg_w."""
        return self.reg_u, self.reg_v, self.reg_w

    def without_targets(self) -> Self:
        """Return the same problem for features alone: unsupervised reduction."""
        nothing = TargetSide(np.zeros((len(self.X), 0)), np.zeros(0, dtype=np.int64), 1.0, self.bound)
        return replace(self, targets=nothing)

    # --- the protocol -------------------------------------------------------------------------------------------------

    def start(self, seed: int) -> SDRGLMState:
        """Return U from the singular vectors (or random, or given), then one V-step and one W-step.

        They start from 0, but for the biases of counts: a step moves their parameters by 1 at most.
        """
        latent = self.all_rows.each(np.ascontiguousarray, self.first_latent(generator(seed, 0)))
        loadings = self._fresh_loadings(latent)
        return self._state(Point(latent, loadings, self._fresh_head(latent)), seed, 0, 0.0)

    def first_latent(self, rng: np.random.Generator) -> Any:
        """Return the U (N, L) that a run starts from."""
        if not isinstance(self.init, str):
            return self.init
        latent = self._drawn_latent(rng)
        if not self.nonnegative:
            return latent
        return abs(latent) if self.init == "random" else _positive_parts(self.X - self.column_null[1], latent)

    def _drawn_latent(self, rng: np.random.Generator) -> Any:
        if self.init == "random":
            return self.all_rows.normal(rng, self.n_components)
        cells, centre = self.cells, self.column_null[1]
        if self.column_weight is not None:
            root = np.sqrt(self.column_weight)
            cells, centre = cells * root, centre * root
        return leading_rows(cells, centre, self.n_components, rng, self.all_rows)

    def adopt(self, state: SDRGLMState) -> SDRGLMState:
        """Check the shapes; refit what belongs to another form of the loadings or to other targets."""
        rows, columns = self.X.shape
        width = rows if state.in_rows else columns
        check_shapes(state, latent=(rows, self.n_components), components=(self.n_components, width))
        point = self._point(state)
        if state.in_rows and not self.features.in_rows:
            point = point._replace(loadings=point.loadings @ self.X)
        elif self.features.in_rows and not state.in_rows:
            point = point._replace(loadings=self._fresh_loadings(state.latent))
        if point.head.shape[1] != self.targets.Y.shape[1]:
            point = point._replace(head=self._fresh_head(state.latent))
        return self._state(point, state.seed, state.iteration, state.change)

    def step(self, state: SDRGLMState) -> SDRGLMState:
        """Return the state after one sweep; J never falls."""
        following, values = self.sweep(self._point(state))
        change = math.sqrt(values.moved / max(values.size, np.finfo(float).tiny))
        result = self._state(following, state.seed, state.iteration + 1, change)
        self._latest["values"] = result, values
        return result

    def sweep(self, point: Point) -> tuple[Point, Values]:
        """Return the point after one sweep, and what the rows say of it."""
        raise NotImplementedError

    @cached_property
    def _latest(self) -> dict[str, tuple[SDRGLMState, Values]]:
        """Where the latest sweep ended, and the sums over rows there: its objective needs no visit of its own."""
        return {}

    def tolerance_scale(self, objective: float) -> float:
        """Return lam H_X + H_Y: the objective itself depends on the units of counts, and its zero means nothing."""
        return self.weight * self.column_null[0] + self.target_null.loss

    def terms(self, state: SDRGLMState) -> dict[str, float]:
        """Return the terms of -J."""
        point = self._point(state)
        latest, values = self._latest.get("values", (None, None))
        if values is None or latest is not state:
            values = self.values(point)
        ridge = (
            self.reg_u * values.size
            + self.reg_v * float(np.trace(self.features.gram(point.loadings)))
            + self.reg_w * float(np.vdot(point.head, point.head))
        )
        return {"reconstruction": -self.weight * values.fit, "label": -values.label, "regularisation": 0.5 * ridge}

    def values(self, point: Point) -> Values:
        """Return what the rows say of a point that no sweep has just left."""
        raise NotImplementedError

    def readings(self, state: SDRGLMState) -> dict[str, float]:
        """Return lam, the change of U, and the threshold of the singular values of UV."""
        return {
            "recon_weight": self.weight,
            "latent_change": state.change,
            "rank_threshold": self.rank_threshold,
        }

    def diagnostics(self, state: SDRGLMState) -> dict[str, float]:
        """Return the training error and the singular values of UV."""
        singular = self.singular_values(state)
        wrong, cells = self.all_rows.total(TargetSide.errors, self.target_part, state.latent, self._point(state).head)
        return {
            "training_error": wrong / cells,
            "effective_rank": float((singular > DEAD * self.scale).sum()),
            **{f"singular_value_{k + 1}": float(value) for k, value in enumerate(singular)},
        }

    def singular_values(self, state: SDRGLMState) -> NDArray:
        """Return the singular values of U V, its columns times the roots of their weights, largest first, (L,)."""
        gram = self.features.gram(self._point(state).loadings)
        return product_singular_values(self.all_rows.total(_square, state.latent), gram[:-1, :-1])

    def all_components_die(self) -> bool:
        """Tell whether the ridges are too strong for the reconstruction alone to keep any component.

        They are if sqrt(reg_u reg_v) / lam exceeds the largest singular value of the likelihood's gradient at the
        column means: ridges on both factors are sqrt(reg_u reg_v) times the nuclear norm of their product.
        """
        centre = self.column_null[1]
        factor = np.select(
            [self.codes == families.GAUSSIAN, self.codes == families.GAMMA, self.codes == families.NEGATIVE_BINOMIAL],
            [2.0 * self.c, 1.0 / np.where(centre > 0.0, centre, 1.0), self.size / (self.size + centre)],
            1.0,
        )
        factor = factor if self.column_weight is None else factor * np.sqrt(self.column_weight)
        level = float(np.sqrt(self.reg_u * self.reg_v)) / self.weight
        # Power iteration: its value only grows towards the largest singular value, and mostly one product decides.
        direction: Any = generator(0, 0).standard_normal(self.X.shape[1])
        for _ in range(POWER_STEPS):
            direction = direction / max(float(np.linalg.norm(direction)), np.finfo(float).tiny)
            image = self.all_rows.total(_power_step, self.cells, centre, factor, direction)
            if float(np.linalg.norm(image)) > level**2:
                return False
            direction = image
        return True

    # --- parts --------------------------------------------------------------------------------------------------------

    def _fresh_loadings(self, latent: Any) -> NDArray:
        if not self.weighted:
            return self.gaussian_loadings(latent)
        null = families.null_parameters(self.codes, self.column_null[1], self.n_components, self.size)
        return self.weighted_loadings(None, latent, null)

    def gaussian_loadings(self, latent: Any) -> NDArray:
        """Return the loadings that are best for U, complete Gaussian data."""
        sums = self.all_rows.total(loading_sums, self.feature_part, latent)
        return self.features.solve_loadings(sums, self.weight, self.reg_v)

    def weighted_loadings(self, sums: ColumnSums | None, latent: Any, loadings: NDArray) -> NDArray:
        """Return the loadings that maximise a minorant, whose sums may be given; limited columns are shortened."""
        if sums is None:
            sums = self.all_rows.total(WeightedFeatures.column_systems, self.feature_part, latent, loadings)
        solution, limited = self.solve_columns(sums, loadings), self.features.limited
        if len(limited):
            change = solution[:, limited] - loadings[:, limited]
            rise = self.all_rows.total(WeightedFeatures.column_rise, self.feature_part, latent, change, add=largest)
            solution[:, limited] = loadings[:, limited] + change / np.maximum(1.0, rise)
        return solution

    def solve_columns(self, sums: ColumnSums, loadings: NDArray) -> NDArray:
        """Return the [V; b_x] (L + 1, D) that maximises the minorant, given its sums; `loadings` fit the bounds.

        The ridge is divided, not the sums multiplied: they are the larger ones.
        """
        ridge, right = self.reg_v / self.weight, sums.rights[:, : len(loadings)]
        if not self.nonnegative:
            return np.ascontiguousarray(solve_systems(sums.grams, ridge, right).T)
        solution = solve_nonnegative(sums.grams, ridge, right, loadings.T, self.n_components)
        return np.ascontiguousarray(solution.T)

    def _fresh_head(self, latent: Any) -> NDArray:
        codes, n_columns = self.targets.codes, self.targets.Y.shape[1]
        head = null_head(self.target_null.centre, codes, self.n_components, n_columns)
        return self.moved_head(self.all_rows.total(TargetSide.head_sums, self.target_part, latent, head), latent, head)

    def moved_head(self, sums: tuple[NDArray, NDArray], latent: Any, head: NDArray) -> NDArray:
        """Return the head that maximises the minorant touching at `head`, steps of counts shortened."""
        solution, poisson = self.targets.solve_head(sums, head, self.reg_w), self.targets.poisson
        if len(poisson):
            change = solution - head
            rise = self.all_rows.total(TargetSide.head_rise, self.target_part, latent, change, add=largest)
            solution[:, poisson] = head[:, poisson] + change[:, poisson] / np.maximum(1.0, rise)
        return solution

    # --- states -------------------------------------------------------------------------------------------------------

    def _point(self, state: SDRGLMState) -> Point:
        # The features remember what they computed for the latest loadings, by identity: the same ones come back.
        base, (n_components, width) = state.components.base, state.components.shape
        whole = base is not None and base is state.intercept_x.base and base.shape == (n_components + 1, width)
        loadings: Any = base if whole else np.concatenate([state.components, state.intercept_x[None]])
        return Point(state.latent, loadings, np.concatenate([state.coef, state.intercept[None]]))

    def _state(self, point: Point, seed: int, iteration: int, change: float) -> SDRGLMState:
        latent, loadings, head = point
        return SDRGLMState(
            latent,
            loadings[:-1],
            loadings[-1],
            head[:-1],
            head[-1],
            seed,
            iteration,
            change,
            self.features.in_rows,
        )


def column_facts(
    rows: Any, cells: Any, codes: NDArray, c: float, column_weight: NDArray | None = None, size: float = 1.0
) -> tuple[float, NDArray]:
    """Return H_X, what the means of columns leave to be explained, and these means (D,); rows may be partitions."""
    count, total = rows.total(families.cell_sums, cells)
    centre = total / np.where(count > 0.0, count, 1.0)
    losses = rows.total(_number_losses, cells, codes, centre, c, size)
    return families.null_loss_about(codes, count, centre, losses, column_weight), centre


# --- the work on rows ---------------------------------------------------------------------------------------------


def _number_losses(X: NDArray, codes: NDArray, centre: NDArray, c: float, size: float) -> NDArray:
    return families.number_losses(codes, X, centre, c, size=size)


def loading_sums(features: SharedFeatures | GramFeatures, latent: NDArray) -> tuple[NDArray, NDArray]:
    """Return the sums over rows that loadings are made of."""
    return features.loading_sums(latent)


def _positive_parts(X: NDArray, latent: NDArray) -> NDArray:
    """Return the positive parts of latent rows (N, L), each turned to the sign that explains more of centred X."""
    directions = (X if isinstance(X, SparseRows) else np.nan_to_num(X)).T @ latent

    def explained(sign: float) -> NDArray:
        return np.linalg.norm((sign * latent).clip(0.0), axis=0) * np.linalg.norm((sign * directions).clip(0.0), axis=0)

    return (latent * np.where(explained(1.0) >= explained(-1.0), 1.0, -1.0)).clip(0.0)


def _square(latent: NDArray) -> NDArray:
    return latent.T @ latent


def _power_step(X: NDArray, centre: NDArray, factor: NDArray, direction: NDArray) -> NDArray:
    image = np.zeros(len(direction))
    for rows in blocks_of(X):
        gradient = (X[rows] - centre) * factor
        gradient = gradient if isinstance(gradient, SparseRows) else np.nan_to_num(gradient)
        image += gradient.T @ (gradient @ direction)
    return image
