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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Problem
from supdr.engine.reuse import reused
from supdr.methods.mac.certificate import NOTHING, Certificate, balanced, certify
from supdr.methods.mac.classes import class_scores, class_signs, initial_targets, simplex_codes, simplex_numbers
from supdr.methods.mac.mapping import Features, Mapping, choose_centers, choose_gamma
from supdr.methods.mac.target_step import cases
from supdr.solvers.distances import median_distance
from supdr.solvers.lbfgs import LBFGSState
from supdr.solvers.linear_svm import Heads, solve_heads

Array = NDArray[np.float64]

SVM_TOL = 1e-6

DEFAULT_CENTERS = 400


class MACState(NamedTuple):
    """Where a run stands.  Nothing in it is ever written to.

    Attributes
    ----------
    targets : array of shape (n, L)
        Z.
    latent : array of shape (n, L)
        F of the labelled rows.
    weights : array of shape (M, L)
        W'.
    heads : Heads
        U, b and the multipliers alpha.
    multiplier : array of shape (n, P)
        Lambda of the last Z step.
    residual : array of shape (n, L) or None
        "admm": the scaled multiplier of Z = F.
    mu : float
    passes : int
        Passes made at this mu.
    stage : int
    decrease : float
        Relative decrease of the surrogate in the last step.
    surrogate : float
        What the solver descends.
    certificate : Certificate
        Best lower bound on the optimum of E so far.
    mapping : Mapping
    search : LBFGSState or None
        Memory of "lbfgs".
    settings : tuple
        What the rest belongs to.
    seed, iteration : int
    companion : MACState or None
        Where the search for a better lower bound stands, see `supdr.methods.mac.solvers`.
    """

    targets: Array
    latent: Array
    weights: Array
    heads: Heads
    multiplier: Array
    residual: Array | None
    mu: float
    passes: int
    stage: int
    decrease: float
    surrogate: float
    certificate: Certificate
    mapping: Mapping
    search: LBFGSState | None
    settings: tuple
    seed: int
    iteration: int
    companion: MACState | None = None

    def image(self, X: Array) -> Array:
        """Return F (n, L) of preprocessed rows (n, D)."""
        return self.mapping.apply(X, self.weights)


@dataclass(frozen=True, eq=False)
class MACProblem(Problem):
    """Data, hyper-parameters and objective; subclasses are the solvers.

    Attributes
    ----------
    X : array of shape (n, D)
        Preprocessed labelled rows.
    pool : array of shape (N, D)
        All rows: where centres are chosen.
    codes : int array of shape (n,)
        Classes.
    n_classes, n_components : int
        K and L.
    mapping : {"rbf", "linear"}
    n_centers : int or None
    centers : {"kmeans", "random", "all"} or array of shape (M, D)
    gamma : float, "median" or "loo"
    reg_w, C, mu, mu_factor, inner_tol : float
    max_inner : int
    scheme : {"ova", "ovo"}
    init : {"simplex", "blobs", "random"} or array of shape (n, L)
    init_noise : float
    n_jobs : int or None
    bounded : bool
        Whether a lower bound on the optimum is looked for.
    brief : bool
        Whether a step takes a part of its usual inner steps only, as the companion of another run does.
    """

    X: Array
    pool: Array
    codes: NDArray
    n_classes: int
    n_components: int
    mapping: str
    n_centers: int | None
    centers: Any
    gamma: Any
    reg_w: float
    C: float
    mu: float
    mu_factor: float
    inner_tol: float
    max_inner: int
    scheme: str
    init: Any
    init_noise: float
    n_jobs: int | None
    bounded: bool = True
    brief: bool = False
    signs: Array = field(init=False)
    settings: tuple = field(init=False)

    advice = "Try a larger reg_w or a smaller C."

    def __post_init__(self) -> None:
        signs = np.ascontiguousarray(class_signs(self.codes, self.n_classes, self.scheme))
        centers = self.centers if isinstance(self.centers, str) else zlib.crc32(np.asarray(self.centers).tobytes())
        count = self.n_centers if centers in ("kmeans", "random") else None
        features = ("linear",) if self.mapping == "linear" else (self.mapping, count, centers, self.gamma)
        rows = (zlib.crc32(np.ascontiguousarray(self.X).data), zlib.crc32(self.codes.tobytes()), self.scheme)
        object.__setattr__(self, "signs", signs)
        object.__setattr__(self, "settings", (type(self).__name__, features, rows, self.C, self.reg_w, self.mu))

    @cached_property
    def _features(self) -> dict[int, Features]:
        return {}

    def features(self, mapping: Mapping) -> Features:
        """Return the training features of `mapping`, computed once."""
        if id(mapping) not in self._features:
            self._features.clear()
            inputs = (mapping.kind, mapping.centers, mapping.gamma, self.X)
            self._features[id(mapping)] = reused("MAC features", lambda: inputs, lambda: Features(self.X, mapping))
        return self._features[id(mapping)]

    def new_mapping(self, seed: int) -> Mapping:
        """Choose centres and width.  O(n M D), "loo" O(n M^2) besides."""
        ridge = self.reg_w / self.mu if self.gamma == "loo" else 0.0
        chosen = (self.mapping, self.n_centers, self.centers, self.gamma, ridge, seed)
        inputs = (*chosen, self.X, self.pool, self.codes, self.n_classes)
        return reused("MAC mapping", lambda: inputs, lambda: self._new_mapping(seed))

    def _new_mapping(self, seed: int) -> Mapping:
        rng = np.random.default_rng([seed, 1 << 20])
        if self.mapping == "linear":
            return Mapping("linear", self.X.mean(axis=0, keepdims=True), 0.0)
        if not isinstance(self.centers, str):
            centers = np.ascontiguousarray(self.centers, dtype=float)
        elif self.centers == "all":
            centers = self.X
        else:
            count = min(DEFAULT_CENTERS, len(self.pool)) if self.n_centers is None else self.n_centers
            centers = choose_centers(self.pool, count, self.centers, rng)
        if self.gamma == "median":
            gamma = 0.5 / median_distance(self.X, rng) ** 2
        elif self.gamma == "loo":
            ridge = 2.0 * self.reg_w / self.mu
            gamma = choose_gamma(self.X, simplex_codes(self.n_classes)[self.codes], centers, ridge, rng)
        else:
            gamma = float(self.gamma)
        return Mapping("rbf", centers, gamma)

    # --- objective ----------------------------------------------------------------------------------------------------

    def hinge(self, latent: Array, heads: Heads) -> float:
        """Return C times the sum of the hinges of latent rows (n, L)."""
        return self.C * float(np.where(self.signs != 0.0, np.maximum(self.missing(latent, heads), 0.0), 0.0).sum())

    def missing(self, latent: Array, heads: Heads) -> Array:
        """Return 1 - Y (U z + b), (n, P): what every margin lacks."""
        return 1.0 - self.signs * (latent @ heads.coef.T + heads.intercept)

    def terms(self, state: MACState) -> dict[str, float]:
        """Return the terms of E."""
        return {
            "label": self.hinge(state.latent, state.heads),
            "margin": 0.5 * float(np.vdot(state.heads.coef, state.heads.coef)),
            "regularisation": self.reg_w * float(np.vdot(state.weights, state.weights)),
        }

    def penalised(self, targets: Array, latent: Array, weights: Array, heads: Heads, mu: float) -> float:
        """Return Q_mu."""
        ridge = self.reg_w * np.vdot(weights, weights) + 0.5 * np.vdot(heads.coef, heads.coef)
        return float(ridge + self.hinge(targets, heads) + 0.5 * mu * ((targets - latent) ** 2).sum())

    def certified(self, pulled: Array, alpha: Array, known: Certificate | None = None) -> Certificate:
        """Return the lower bound that balanced alpha (n, P) with pulled = Phi'(alpha Y) and a known one prove."""
        return certify(alpha, pulled, self.reg_w, known) if self.bounded else NOTHING

    def diagnostics(self, state: MACState) -> dict[str, float]:
        """Return the surrogate, the certificate and the numbers that describe the latent space."""
        objective = math.fsum(self.terms(state).values())
        scores = class_scores(state.latent @ state.heads.coef.T + state.heads.intercept, self.n_classes, self.scheme)
        guess = scores[:, 0] > 0.0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        case = cases(state.multiplier, 2.0 * self.C / state.mu)
        length = float(np.linalg.norm(state.targets))
        return {
            "surrogate": state.surrogate,
            "bound": state.certificate.bound,
            "gap": objective - state.certificate.bound,
            **simplex_numbers(state.latent, self.codes, self.n_classes),
            "mu": state.mu,
            "target_distance": float(np.linalg.norm(state.targets - state.latent)) / max(length, np.finfo(float).tiny),
            "support_fraction": float((state.heads.alpha > 0.0).any(axis=1).mean()),
            "training_error": float(np.mean(guess != self.codes)),
            **{f"case_{number}": float(np.mean(case == number)) for number in (1, 2, 3)},
        }

    def stage(self, state: MACState) -> int:
        """Return the number of the value of mu (or of the smoothing width) in use."""
        return state.stage

    # --- the run ------------------------------------------------------------------------------------------------------

    def start(self, seed: int) -> MACState:
        """Return targets from `init`, classifiers fitted to them, and the mapping fitted to them."""
        return self.started(self.new_mapping(seed), seed)

    def started(self, mapping: Mapping, seed: int) -> MACState:
        """Return the start of a run with given features."""
        if isinstance(self.init, str):
            rng = np.random.default_rng(seed)
            targets = initial_targets(self.codes, self.n_classes, self.n_components, self.init, self.init_noise, rng)
        else:
            targets = np.array(self.init, dtype=float)
        heads = solve_heads(targets, self.signs, self.C, tol=SVM_TOL, n_jobs=self.n_jobs)
        return self.mapped(targets, heads, mapping, seed, 0)

    def mapped(self, targets: Array, heads: Heads, mapping: Mapping, seed: int, iteration: int) -> MACState:
        """Return a state at given targets and classifiers, with the mapping fitted to the targets."""
        features, L = self.features(mapping), targets.shape[1]
        alpha = balanced(heads.alpha, self.signs)
        pulled = features.pull_back(np.column_stack([targets, alpha * self.signs]))
        weights = features.solve(targets, pulled[:, :L], self.ridge(self.mu, features))
        latent = features.image(weights)
        return self.prepared(
            MACState(
                targets=targets,
                latent=latent,
                weights=weights,
                heads=heads,
                multiplier=np.zeros_like(self.signs),
                residual=None,
                mu=self.mu,
                passes=0,
                stage=0,
                decrease=math.inf,
                surrogate=math.inf,
                certificate=self.certified(pulled[:, L:], alpha),
                mapping=mapping,
                search=None,
                settings=self.settings,
                seed=seed,
                iteration=iteration,
            )
        )

    def adopt(self, state: MACState) -> MACState:
        """Return `state` made consistent with this problem: what depends on changed settings is computed anew.

        The mapping does not depend on rows or labels: both may change within a run.
        """
        fits = state.weights.shape[1] == self.n_components and state.mapping.centers.shape[1] == self.X.shape[1]
        if not fits:
            raise ValueError(
                f"the snapshot to start from maps {state.mapping.centers.shape[1]} columns to n_components="
                f"{state.weights.shape[1]}; these data and parameters need {self.X.shape[1]} and {self.n_components}"
            )
        if state.settings == self.settings:
            return state
        _, features, rows, C, _, _ = state.settings
        latent, targets, heads = state.latent, state.targets, state.heads
        if rows != self.settings[2]:
            latent = targets = self.features(state.mapping).image(state.weights)
            heads = solve_heads(latent, self.signs, self.C, tol=SVM_TOL, n_jobs=self.n_jobs)
        else:
            heads = heads._replace(alpha=np.minimum(heads.alpha * (self.C / C), self.C))
        if features != self.settings[1]:
            return self.mapped(targets, heads, self.new_mapping(state.seed), state.seed, state.iteration)
        alpha = balanced(heads.alpha, self.signs)
        pulled = self.features(state.mapping).pull_back(alpha * self.signs)
        same_mu = state.settings[0] == self.settings[0] and state.settings[-1] == self.settings[-1]
        return self.prepared(
            state._replace(
                targets=targets,
                latent=latent,
                heads=heads,
                multiplier=state.multiplier if rows == self.settings[2] else np.zeros_like(self.signs),
                certificate=self.certified(pulled, alpha),
                mu=state.mu if same_mu else self.mu,
                residual=None,
                search=None,
                passes=0,
                decrease=math.inf,
                stage=state.stage + 1,
                settings=self.settings,
            )
        )

    def prepared(self, state: MACState) -> MACState:
        """Return `state` with the solver's own parts filled in."""
        surrogate = self.penalised(state.targets, state.latent, state.weights, state.heads, state.mu)
        return state._replace(surrogate=surrogate)

    def ridge(self, mu: float, features: Features) -> float:
        """Return 2 reg_w / mu, kept above what rounding destroys."""
        return max(2.0 * self.reg_w / mu, features.smallest_ridge())
