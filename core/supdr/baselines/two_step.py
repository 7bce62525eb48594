"""MAC's objective without auxiliary coordinates: the classifiers and the mapping fitted in turn.

Given the classifiers, the best mapping for two classes is W = u v' / |u|^2 with v an ordinary support vector machine on
the features, of weight C |u|^2 / (2 reg_w) and with b kept: no general quadratic program is needed.  For more classes
the hinges couple; the mapping then takes quasi-Newton steps on the rounded objective.

Source: W. Wang, M. Á. Carreira-Perpiñán, "The role of dimensionality reduction in linear classification", 2014, fig. 6,
which solves the mapping as a generic quadratic program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from supdr.engine.parameters import choice, subset
from supdr.methods.mac.bounds import Bounded
from supdr.methods.mac.estimator import MAC
from supdr.methods.mac.joint import WithoutTargets
from supdr.methods.mac.problem import SVM_TOL, MACProblem
from supdr.methods.mac.state import MACState
from supdr.solvers.lbfgs import lbfgs_start, lbfgs_step
from supdr.solvers.linear_svm import Heads, solve_heads, solve_linear_svm

Array = NDArray[np.float64]

# Widths over which the hinge is rounded off for more than two classes.
WIDTHS = (0.1, 0.01)

# Quasi-Newton steps at each width.
STEPS = 20


class TwoStepProblem(Bounded, WithoutTargets):
    """One step: the mapping for fixed classifiers, then the classifiers for the fixed mapping.  E never rises."""

    def step(self, state: MACState) -> MACState:
        """One alternation."""
        weights = self._mapping_step(state)
        latent = self.features(state.mapping).image(weights)
        heads = solve_heads(latent, self.signs, self.costs, state.heads, tol=SVM_TOL, n_jobs=self.n_jobs)
        return self.moved(state, weights, latent, heads)

    def _mapping_step(self, state: MACState) -> Array:
        """Return W' (M, L), the best mapping for the classifiers of `state`."""
        if not np.vdot(state.heads.coef, state.heads.coef) > 0.0:
            return np.zeros_like(state.weights)
        features = self.features(state.mapping)
        if len(state.heads.coef) > 1 or features.matrix is None:
            return self._descended(state)
        coef, y = state.heads.coef[0], self.signs[:, 0]
        squared = float(coef @ coef)
        solution = solve_linear_svm(
            features.matrix,
            y,
            self.costs * (squared / (2.0 * state.reg_w)),
            tol=SVM_TOL,
            coef=state.weights @ coef,
            bias=float(state.heads.intercept[0]),
            fit_bias=False,
        )
        return np.outer(solution.coef / squared, coef)

    def _descended(self, state: MACState) -> Array:
        """Return the mapping after quasi-Newton steps on the rounded objective, or the old one if that is better."""
        features, heads = self.features(state.mapping), state.heads
        shape, unit = state.weights.shape, 2.0 ** round(0.5 * math.log2(2.0 * state.reg_w))
        point = unit * state.weights.ravel()
        for width in WIDTHS:

            def evaluate(flat: Array, width: float = width) -> tuple[float, Array, None]:
                """Return the rounded objective and its gradient at a flat W'."""
                weights = flat.reshape(shape) / unit
                t = np.where(self.signs != 0.0, self.missing(features.image(weights), heads), 0.0)
                slope = np.clip(t / width, 0.0, 1.0)
                value = float(self.costs @ (slope * (t - 0.5 * width * slope)).sum(axis=1))
                pull = features.pull_back(-(self.costs[:, None] * self.signs * slope) @ heads.coef)
                gradient = (2.0 * state.reg_w * weights + pull) / unit
                return value + state.reg_w * float(np.vdot(weights, weights)), gradient.ravel(), None

            search = lbfgs_start(point, evaluate)
            for _ in range(STEPS):
                search = lbfgs_step(search, evaluate)
            point = search.point
        weights = point.reshape(shape) / unit
        return (
            weights if self._value(weights, heads, state) < self._value(state.weights, heads, state) else state.weights
        )

    def _value(self, weights: Array, heads: Heads, state: MACState) -> float:
        latent = self.features(state.mapping).image(weights)
        return self.hinge(latent, heads) + state.reg_w * float(np.vdot(weights, weights))


_FEATURES = choice("mapping", "Mapping", ("rbf", "Gaussians"), "linear", help="The model behind F.")


@dataclass(eq=False, repr=False)
class TwoStep(MAC):
    """MAC's model fitted by alternating between mapping and classifiers, without auxiliary coordinates.

    The baseline of the paper's figure 6.  It stops early: each half is only optimal for the present state of the other.

    Parameters
    ----------
    n_components
        As in `supdr.MAC`.
    mapping : {"rbf", "linear"}, default="rbf"
        F: Gaussians around centres, or the columns themselves.
    n_centers, centers, gamma
        As in `supdr.MAC`.
    reg_w : float or "loo", default=1e-3
        lambda, ridge on the mapping, > 0; "loo" chooses it as `supdr.MAC` does.
    C, scheme, init, init_noise
        As in `supdr.MAC`.
    early_stopping : "loo" or bool, default=False
        True: hide `validation_fraction` of the labels and keep the iterate with the smallest error on them.
    validation_fraction, n_iter_no_change, max_iter, tol, random_state, n_jobs, verbose, missing_label
        As in `supdr.MAC`.
    preprocessing : {"loo", "zscore", "none", "minmax", "whiten"}, default="zscore"
        Fitted inside; "loo" chooses one as `supdr.MAC` does.
    """

    parameters = tuple(
        _FEATURES if parameter.name == "mapping" else parameter
        for parameter in subset(
            MAC.parameters,
            *("n_components", "mapping", "n_centers", "centers", "gamma", "reg_w", "C", "scheme", "init", "init_noise"),
            *("early_stopping", "validation_fraction", "n_iter_no_change", "max_iter", "tol", "preprocessing"),
            *("random_state", "n_jobs", "verbose", "missing_label"),
        )
    )
    solvers: ClassVar[dict[str, type[MACProblem]]] = {"two_step": TwoStepProblem}
    accepts_sparse: ClassVar[bool] = False

    # Hyper-parameters of MAC that are fixed here.
    solver: str = field(default="two_step", init=False)
    class_weight: Any = field(default=None, init=False)
    calibrate: bool = field(default=False, init=False)
    n_layers: int = field(default=1, init=False)
    latent_reference: str = field(default="loo", init=False)
    head: str = field(default="ridge", init=False)
    mu: float = field(default=2.0, init=False)
    mu_factor: float = field(default=1.5, init=False)
    inner_tol: float = field(default=1e-2, init=False)
    max_inner: int = field(default=1, init=False)

    _: KW_ONLY
    mapping: str = "rbf"
    reg_w: float = 1e-3
    early_stopping: bool = False
    preprocessing: str = "zscore"

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters whose fits on a few rows compile every kernel."""
        yield {"max_iter": 2}
