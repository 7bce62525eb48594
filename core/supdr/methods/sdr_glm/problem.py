"""The optimisation problem of SDR-GLM, shared by its solvers; the objective stands in `sdr_glm.estimator`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Problem, generator
from supdr.functions.families import GAUSSIAN, null_loss, null_parameters
from supdr.methods.sdr_glm.features import GramFeatures, SharedFeatures, WeightedFeatures
from supdr.methods.sdr_glm.targets import TargetSide
from supdr.solvers.low_rank import (
    leading_rows,
    product_singular_values,
    row_blocks,
)

POWER_STEPS = 30

DEAD = 1e-6
"""Singular values of UV below this share of N D, as a root, do not count for the effective rank."""


class SDRGLMState(NamedTuple):
    """Iterate of SDR-GLM.  Nothing in it is ever written to.

    Attributes
    ----------
    latent : array of shape (N, L)
        U.
    components : array of shape (L, D), or (L, N) if `in_rows`
        V, or its coordinates in the rows of X: V = components X.
    intercept_x : array of shape (D,), or (N,) if `in_rows`
        b_x, or its coordinates in the rows of X.
    coef : array of shape (L, K)
        W.
    intercept : array of shape (K,)
        b_y.
    seed, iteration : int
    change : float
        |U - previous U| / |U|.
    in_rows : bool
        Whether the loadings are kept as coordinates in the rows of X.
    """

    latent: NDArray
    components: NDArray
    intercept_x: NDArray
    coef: NDArray
    intercept: NDArray
    seed: int
    iteration: int
    change: float = 0.0
    in_rows: bool = False


class Point(NamedTuple):
    """U (N, L), [V; b_x] in the form of the features, [W; b_y] (L + 1, K)."""

    latent: NDArray
    loadings: NDArray
    head: NDArray


@dataclass(frozen=True, eq=False)
class SDRGLMProblem(Problem):
    """Data and hyper-parameters of SDR-GLM.

    Attributes
    ----------
    X : array of shape (N, D)
        Preprocessed data, NaN where not observed.
    codes : int array of shape (D,)
        Family of every column.
    targets : TargetSide
    n_components : int
    weight : float
        lam.
    reg_u, reg_v, reg_w : float
        Ridges, already scaled.
    c, bound, inner, gauge, init
        As in `supdr.SDRGLM`, `inner` resolved.
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

    advice = "Try stronger ridges (reg_u, reg_v, reg_w)."

    @cached_property
    def features(self) -> SharedFeatures | GramFeatures | WeightedFeatures:
        """The feature side in the form that suits the data."""
        n_rows, n_columns = self.X.shape
        if not (self.codes == GAUSSIAN).all() or np.isnan(self.X).any():
            return WeightedFeatures(self.X, self.codes, self.c, self.bound)
        return GramFeatures(self.X, self.c) if n_rows <= n_columns else SharedFeatures(self.X, self.c)

    def release(self) -> None:
        """Free the Gram matrix; it is computed again when needed."""
        self.__dict__.pop("features", None)

    @cached_property
    def scale(self) -> float:
        """sqrt(N D)."""
        return float(np.sqrt(self.X.size))

    @cached_property
    def rank_threshold(self) -> float:
        """Reconstruction alone keeps a component only if its singular value in the centred X exceeds this."""
        gaussian = (self.codes == GAUSSIAN).all()
        return float(np.sqrt(self.reg_u * self.reg_v) / (self.weight * (2.0 * self.c if gaussian else 1.0)))

    @cached_property
    def null_losses(self) -> tuple[float, float]:
        """H_X and H_Y: what the means of columns and targets leave to be explained."""
        return null_loss(self.codes, self.X, self.c)[0], self.targets.null_loss()

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
        rng = generator(seed, 0)
        n_rows = len(self.X)
        if not isinstance(self.init, str):
            latent = self.init
        elif self.init == "random":
            latent = rng.standard_normal((n_rows, self.n_components))
        else:
            latent = leading_rows(self.X, null_loss(self.codes, self.X)[1], self.n_components, rng)
        loadings = self._fresh_loadings(latent)
        return self._state(Point(latent, loadings, self._fresh_head(latent)), seed, 0, 0.0)

    def adopt(self, state: SDRGLMState) -> SDRGLMState:
        """Check the shapes; refit what belongs to another form of the loadings or to other targets."""
        rows, columns = self.X.shape
        width = rows if state.in_rows else columns
        expected = {"latent": (rows, self.n_components), "components": (self.n_components, width)}
        found = {name: getattr(state, name).shape for name in expected}
        if found != expected:
            raise ValueError(f"start does not fit: its shapes are {found}, this run needs {expected}")
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
        following = self.sweep(self._point(state))
        size = max(float(np.linalg.norm(following.latent)), np.finfo(float).tiny)
        change = float(np.linalg.norm(following.latent - state.latent)) / size
        return self._state(following, state.seed, state.iteration + 1, change)

    def sweep(self, point: Point) -> Point:
        """Return the point after one sweep."""
        raise NotImplementedError

    def yardstick(self, objective: float) -> float:
        """Return lam H_X + H_Y: the objective itself depends on the units of counts, and its zero means nothing."""
        feature_loss, label_loss = self.null_losses
        return self.weight * feature_loss + label_loss

    def terms(self, state: SDRGLMState) -> dict[str, float]:
        """Return the terms of -J."""
        point = self._point(state)
        theta = state.latent @ state.coef + state.intercept
        ridge = (
            self.reg_u * float(np.vdot(state.latent, state.latent))
            + self.reg_v * float(np.trace(self.features.gram(point.loadings)))
            + self.reg_w * float(np.vdot(point.head, point.head))
        )
        return {
            "reconstruction": -self.weight * self.features.value(state.latent, point.loadings),
            "label": -self.targets.value(theta),
            "regularisation": 0.5 * ridge,
        }

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
        return {
            "training_error": self.targets.error(state.latent @ state.coef + state.intercept),
            "effective_rank": float((singular > DEAD * self.scale).sum()),
            **{f"singular_value_{k + 1}": float(value) for k, value in enumerate(singular)},
        }

    def singular_values(self, state: SDRGLMState) -> NDArray:
        """Return the singular values of U V, largest first, (L,)."""
        gram = self.features.gram(self._point(state).loadings)
        return product_singular_values(state.latent, gram[:-1, :-1])

    def all_components_die(self) -> bool:
        """Tell whether the ridges are too strong for the reconstruction to keep any component by itself.

        They are if sqrt(reg_u reg_v) / lam exceeds the largest singular value of the likelihood's gradient at the
        column means: ridges on both factors are sqrt(reg_u reg_v) times the nuclear norm of their product.
        """
        centre = null_loss(self.codes, self.X)[1]
        factor = np.where(self.codes == GAUSSIAN, 2.0 * self.c, 1.0)
        level = float(np.sqrt(self.reg_u * self.reg_v)) / self.weight
        # Power iteration: its value only grows towards the largest singular value, and mostly one product decides.
        direction: Any = generator(0, 0).standard_normal(self.X.shape[1])
        for _ in range(POWER_STEPS):
            direction = direction / max(float(np.linalg.norm(direction)), np.finfo(float).tiny)
            image = np.zeros(len(direction))
            for rows in row_blocks(self.X.shape):
                gradient = np.nan_to_num((self.X[rows] - centre) * factor)
                image += gradient.T @ (gradient @ direction)
            if float(np.linalg.norm(image)) > level**2:
                return False
            direction = image
        return True

    # --- parts --------------------------------------------------------------------------------------------------------

    def _fresh_loadings(self, latent: NDArray) -> NDArray:
        if not isinstance(self.features, WeightedFeatures):
            return self.features.solve_loadings(latent, self.weight, self.reg_v)
        begin = null_parameters(self.codes, self.X, latent.shape[1])
        sums = self.features.column_systems(latent, begin)
        return self.features.solve_loadings(sums, latent, begin, self.weight, self.reg_v)

    def _fresh_head(self, latent: NDArray) -> NDArray:
        return self.targets.solve_head(latent, self.targets.null_head(latent.shape[1]), self.reg_w)

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
            np.ascontiguousarray(latent),
            loadings[:-1],
            loadings[-1],
            head[:-1],
            head[-1],
            seed,
            iteration,
            change,
            self.features.in_rows,
        )
