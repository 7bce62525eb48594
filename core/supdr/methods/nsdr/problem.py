"""NSDR's objective, shared by its solvers.

    F = R + (1 - beta) S(Z)

R is the reconstruction part (`supdr.solvers.reconstruction`), S the value of the kernel SVMs on the labelled latent
rows (`supdr.solvers.kernel_heads`).  By the envelope theorem no derivative of the multipliers appears:

    dS/dZ = - d/dZ  1/2 sum_k sum_il c_ik c_lk k(Z_i, Z_l),   c = alpha * Y held fixed at the solution.

The value that is reported and tested is F with the primal value of the SVMs, an upper bound of F.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.solver import SolvedProblem, Solver
from supdr.functions.kernels import Kernel
from supdr.solvers.kernel_heads import FIRST_CAP, Heads, close_gap
from supdr.solvers.lbfgs import LBFGSState
from supdr.solvers.reconstruction import reconstruct, reconstruction_terms
from supdr.solvers.reconstruction_start import initial_factors

# Pair updates per head and trial; doubled after every step in which it bit.
CAP = 30_000

# Kernel values beyond this are not worth an SVM solve: the trial is refused.
HUGE = 1e100

# First length of a label move: a full one from a small start overshoots to where the SVMs are ill-conditioned.
FIRST_STEP = 0.25

# Z (N, D), V (d, m), bv (m,).
Factors = tuple[NDArray, NDArray, NDArray]


class NSDRState(NamedTuple):
    """Where a run stands.  Nothing in it is ever written to.

    latent (N, D): Z = U, or [U, bu] with row biases.
    components, intercept_x (d, m) and (m,): V and bv.
    heads: multipliers (n, K), biases (K,), bounds of S at `latent`.
    label_gradient (n, D): dS/dZ of the labelled rows; empty where the solver does not need it.
    step_size: length of the next label move, in (0, 1] ("bcd"); of the last step ("lbfgs").
    accepted: whether the last step moved the labelled rows.
    cap: work cap of an SVM solve.
    search: memory of "lbfgs".
    settings: what `heads` and the memories belong to.
    """

    latent: NDArray
    components: NDArray
    intercept_x: NDArray
    heads: Heads
    label_gradient: NDArray
    step_size: float
    accepted: bool
    cap: int
    search: LBFGSState | None
    settings: tuple
    seed: int
    iteration: int


@dataclass(frozen=True)
class NSDRProblem(SolvedProblem):
    """Data, hyper-parameters and objective.

    X (N, m): preprocessed; missing cells filled.
    observed (N, m): 1.0 where observed.
    rows (n,): labelled rows.
    signs (n, K): one column per one-vs-rest head.
    weights (n,): what C is multiplied by in each row.
    init (N, d).
    solver: takes the steps.
    precision: relative duality gap of the support vector machines.
    lr_reconstruction, lr_classification: learning rates of solver="sgd".
    """

    X: NDArray
    observed: NDArray | None
    rows: NDArray
    signs: NDArray
    kernel: Kernel
    C: float
    beta: float
    reg_u: float
    reg_v: float
    n_components: int
    row_bias: bool
    weights: NDArray
    solver: Solver
    precision: float = 1e-3
    init: Any = "pca"
    init_scale: float = 0.1
    lr_reconstruction: float = 1e-3
    lr_classification: float = 1e-4
    n_jobs: int | None = None
    costs: NDArray = field(init=False)
    settings: tuple = field(init=False)

    general_advice = "Try stronger regularisation, a smaller C or the solver 'bcd'."

    def __post_init__(self) -> None:
        object.__setattr__(self, "costs", self.C * self.weights)
        digest = zlib.crc32(self.rows.tobytes() + self.signs.tobytes() + self.weights.tobytes())
        weights = (self.C, self.beta, self.reg_u, self.reg_v)
        object.__setattr__(self, "settings", (type(self.solver).__name__, self.kernel, *weights, digest))

    # --- objective ----------------------------------------------------------------------------------------------------

    def reconstruction(self, latent: NDArray, components: NDArray, intercept_x: NDArray) -> dict[str, float]:
        """Return R as its two terms."""
        return reconstruction_terms(
            self.X,
            latent,
            components,
            intercept_x,
            beta=self.beta,
            reg_u=self.reg_u,
            reg_v=self.reg_v,
            observed=self.observed,
        )

    def terms(self, state: NSDRState) -> dict[str, float]:
        """Return the terms; "label" is (1 - beta) times the primal value."""
        terms = self.reconstruction(state.latent, state.components, state.intercept_x)
        return {**terms, "label": (1.0 - self.beta) * state.heads.primal}

    def readings(self, state: NSDRState) -> dict[str, float]:
        """Return the label term's lower bound and gap in units of the objective, and what the solver did."""
        heads, weight = state.heads, 1.0 - self.beta
        return {
            "dual": weight * heads.dual,
            "gap": weight * heads.gap,
            "step_size": state.step_size,
            "svm_iterations": float(heads.iterations),
            "support_fraction": float((heads.alpha > 0).any(axis=1).mean()),
        }

    def solve_heads(self, latent: NDArray, alpha: NDArray, cap: int, ceiling: float = math.inf) -> Heads:
        """Solve the SVMs on labelled latent rows (n, D), warm from `alpha`."""
        if not self.kernel.diagonal(latent).max() < HUGE:  # bounds the whole matrix; nan is refused too
            return Heads(alpha, np.zeros(alpha.shape[1]), math.inf, -math.inf, 0, False, False)
        K = self.kernel.matrix(latent)
        return close_gap(
            K,
            self.signs,
            self.costs,
            alpha=alpha,
            precision=self.precision,
            cap=cap,
            ceiling=ceiling,
            n_jobs=self.n_jobs,
        )

    def label_gradient(self, latent: NDArray, alpha: NDArray) -> NDArray:
        """Return dS/dZ (n, D) at labelled latent rows (n, D); rows that are no support vectors have none."""
        duals = alpha * self.signs
        support = np.flatnonzero(duals.any(axis=1))
        gradient = np.zeros_like(latent)
        gradient[support] = -self.kernel.gradient(latent[support], duals[support])
        return gradient

    # --- the run ------------------------------------------------------------------------------------------------------

    def start(self, seed: int) -> NSDRState:
        """Return the initial factors with solved heads."""
        factors = initial_factors(
            self.X,
            self.n_components,
            self.init,
            self.init_scale,
            np.random.default_rng(seed),
            reg_v=self.reg_v,
            beta=self.beta,
            row_bias=self.row_bias,
            observed=self.observed,
        )
        return self.prepared(factors, np.zeros_like(self.signs), np.zeros(self.signs.shape[1]), seed, 0)

    def adopt(self, state: NSDRState) -> NSDRState:
        """Return `state` made consistent with this problem: heads solved anew, memories dropped if settings changed."""
        width = self.n_components + self.row_bias
        shapes = (len(self.X), width), (self.n_components, self.X.shape[1])
        if (state.latent.shape, state.components.shape) != shapes:
            raise ValueError(
                f"the snapshot to start from has latent rows {state.latent.shape} and components "
                f"{state.components.shape}; these data and parameters need {shapes[0]} and {shapes[1]}"
            )
        if state.settings == self.settings:
            return state
        # Scaled with C the multipliers stay feasible, and bounded ones stay bounded.
        same_labels = state.settings[-1] == self.settings[-1]
        alpha, bias = np.zeros_like(self.signs), np.zeros(self.signs.shape[1])
        if same_labels:
            alpha = np.minimum(state.heads.alpha * (self.C / state.settings[2]), self.costs[:, None])
            bias = state.heads.bias
        factors = state.latent, state.components, state.intercept_x
        fresh = self.prepared(factors, alpha, bias, state.seed, state.iteration)
        same_solver = state.settings[0] == self.settings[0]
        return fresh._replace(step_size=state.step_size) if same_solver and state.step_size > 0 else fresh

    def prepared(self, factors: Factors, alpha: NDArray, bias: NDArray, seed: int, iteration: int) -> NSDRState:
        """Return a state at `factors` (Z, V, bv), ready for the solver, whose multipliers begin from `alpha`."""
        state = NSDRState(
            latent=factors[0],
            components=factors[1],
            intercept_x=factors[2],
            heads=Heads(alpha, bias, math.nan, math.nan, 0, False, False),
            label_gradient=np.empty((0, factors[0].shape[1])),
            step_size=FIRST_STEP,
            accepted=True,
            cap=CAP,
            search=None,
            settings=self.settings,
            seed=seed,
            iteration=iteration,
        )
        return self.solver.begin(self, state)

    def solved(self, state: NSDRState, cap: int = FIRST_CAP) -> NSDRState:
        """Return `state` with solved heads and their gradient; this first solve has a work cap of its own."""
        labelled = state.latent[self.rows]
        heads = self.solve_heads(labelled, state.heads.alpha, cap)
        if not heads.closed:
            raise ValueError(
                f"the support vector machine with C={self.C:g} and the {self.kernel} did not close its gap within "
                f"{cap:,} updates; try a smaller C, another kernel or a smaller degree"
            )
        return state._replace(heads=heads, label_gradient=self.label_gradient(labelled, heads.alpha))

    # --- the objective as a function of one long vector, the multipliers eliminated -----------------------------------

    def first_search(self, state: NSDRState) -> LBFGSState:
        """Return a search at Z, V, bv as one vector."""
        state = self.solved(state)
        factors = state.latent, state.components, state.intercept_x
        point, value = np.concatenate([np.ravel(factor) for factor in factors]), math.fsum(self.terms(state).values())
        return LBFGSState(point, value, self.gradient(factors, state.label_gradient), payload=state.heads)

    def objective(self, state: NSDRState) -> EliminatedHeads:
        """Return F of the vector, near the point of a state."""
        return EliminatedHeads(self, state)

    def at_point(self, state: NSDRState, search: LBFGSState, objective: EliminatedHeads | None) -> NSDRState:
        """Return `state` at the point of a search; where a cap bit the next step may do twice the work."""
        latent, components, intercept_x = self.unpack(search.point)
        moved = search.step > 0
        return state._replace(
            latent=latent,
            components=components,
            intercept_x=intercept_x,
            heads=search.payload if moved or objective is None else search.payload._replace(iterations=0),
            step_size=search.step,
            accepted=moved,
            cap=2 * state.cap if objective is not None and objective.capped else state.cap,
            search=search,
        )

    def may_rest(self, previous: NSDRState, state: NSDRState) -> bool:
        """Tell whether no progress is possible: a capped solve gets twice the work next time."""
        return state.accepted or state.cap == previous.cap

    def unpack(self, point: NDArray) -> Factors:
        """Return Z, V, bv as views of the flat point."""
        (n_rows, m), d = self.X.shape, self.n_components
        first = n_rows * (d + self.row_bias)
        second = first + d * m
        return point[:first].reshape(n_rows, -1), point[first:second].reshape(d, m), point[second:]

    def gradient(self, factors: Factors, label_gradient: NDArray) -> NDArray:
        """Return the gradient of F in the flat point."""
        latent, components, intercept_x = factors
        d = self.n_components
        error = reconstruct(latent, components, intercept_x) - self.X
        if self.observed is not None:
            error *= self.observed
        error *= 2.0 * self.beta
        in_latent = np.empty_like(latent)
        in_latent[:, :d] = error @ components.T + 2.0 * self.reg_u * latent[:, :d]
        if self.row_bias:
            in_latent[:, d] = error.sum(axis=1)
        in_latent[self.rows] += (1.0 - self.beta) * label_gradient
        in_components = latent[:, :d].T @ error + 2.0 * self.reg_v * components
        return np.concatenate([in_latent.ravel(), in_components.ravel(), error.sum(axis=0)])


class EliminatedHeads:
    """F of (Z, V, bv) as one vector: each call solves the SVMs from a state's; `capped`: whether a work cap bit."""

    def __init__(self, problem: NSDRProblem, state: NSDRState) -> None:
        self._problem, self._state = problem, state
        self.capped = False

    def __call__(self, point: NDArray) -> tuple[float, NDArray, Heads]:
        """Return value and gradient at a point, with the heads solved there."""
        problem, state, weight = self._problem, self._state, 1.0 - self._problem.beta
        assert state.search is not None
        factors = problem.unpack(point)
        labelled = factors[0][problem.rows]
        reconstruction = math.fsum(problem.reconstruction(*factors).values())
        ceiling = (state.search.value - reconstruction) / weight if weight > 0 else math.inf
        heads = problem.solve_heads(labelled, state.heads.alpha, state.cap, ceiling)
        self.capped |= heads.capped
        if not heads.closed:
            return math.inf, point, heads
        gradient = problem.gradient(factors, problem.label_gradient(labelled, heads.alpha))
        return reconstruction + weight * heads.primal, gradient, heads
