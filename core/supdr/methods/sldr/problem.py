"""SLDR's objective and its gradients, shared by its solvers.

    J(V, v0, T, W) = sum_k max_beta_k  y_k'beta_k - 1/2 beta_k'K beta_k,     K_ij = sum_m eta_im eta_jm k(z_i^m, z_j^m)

is MINIMISED over the gate and the projections.  By the envelope theorem beta is held fixed in derivatives.  With
a_m = beta * eta_m, c_ih = a_ih (K_h a_h)_i summed over the heads, and G = -(c - eta * rowsum(c)):

    dJ/dV = G'Z_G     dJ/dv0 = colsum(G)     dJ/dT = X_G'G V     dJ/dW_m = X_m' dJ/dZ_m

Erratum: appendix A.2 prints k_m in dJ/dv_m where the sum over h needs k_h; the printed gradient is no descent
direction for the polynomial kernel.  Eq. 5 says that J is maximised: that is over alpha only.

What is reported is the primal value of the SVMs, an upper bound of J that meets it at the optimum.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supdr.engine.column_groups import Views
from supdr.engine.interruption import checkpoint
from supdr.engine.iterate import workspace_property
from supdr.engine.solver import SolvedProblem, Solver
from supdr.functions.kernels import LARGEST_MATRIX, Kernel
from supdr.methods.sldr.model import GatedModel, Point, closed_form_projections
from supdr.methods.sldr.objective import FlatObjective, flat_gradient, pack, unpack
from supdr.methods.sldr.state import Candidate, HeldOut, SLDRState, Solved
from supdr.solvers.gated_kernels import gram, mixture
from supdr.solvers.kernel_heads import Heads, heads_on_features, heads_on_kernel
from supdr.solvers.lbfgs import LBFGSState
from supdr.solvers.stiefel import random_orthonormal
from supdr.solvers.support_vectors import AT_BOUND, purify, support_share

# Up to this many features in total the SVM is solved in their space, else on the kernel matrix.
FEATURES = 50

# Below this tolerance the duality gap, of second order in it, drowns in rounding: the kernel matrix is used.
FINEST = 3e-6


@dataclass(frozen=True)
class SLDRProblem(SolvedProblem):
    """Data, hyper-parameters and objective.

    views (n, D_m): labelled rows; local models that see the same view share the array.
    gating (n, D_G): their gating columns.
    signs (n, K): one column per head.
    sizes: R_m.
    n_gating: R_G; None: no T, the gate sees its columns as they are.
    solver: takes a step of one candidate.
    learns_projections: False: full linear kernels stand for the best projections, which follow in closed form.
    init: one of "closed_form", "random".
    weights (n,): what C is multiplied by in each row; None: 1.
    step_size: constant steps of "alternating" in W, in T, and in V and v0; None: line searches.
    """

    views: Views
    gating: NDArray
    signs: NDArray
    kernel: Kernel
    C: float
    sizes: tuple[int, ...]
    n_gating: int | None
    solver: Solver
    learns_projections: bool = True
    init: str = "closed_form"
    init_scale: float = 1.0
    svm_tol: float = 1e-3
    tol: float = 1e-3
    n_init: int = 1
    n_small_steps: int = 1
    held_out: HeldOut | None = None
    weights: NDArray | None = None
    step_size: tuple[float, ...] | None = None
    costs: NDArray = field(init=False)
    settings: tuple = field(init=False)

    general_advice = "Try a smaller C or a smaller svm_tol."

    def __post_init__(self) -> None:
        data = 0
        for array in (self.gating, *{id(X): X for X in self.views}.values()):
            data = zlib.crc32(array.tobytes(), data)
        weights = (self.C, self.svm_tol, self.tol, self.n_small_steps, self.step_size)
        row_weights = np.ones(len(self.signs)) if self.weights is None else self.weights
        object.__setattr__(self, "costs", self.C * row_weights)
        solver = type(self.solver).__name__, self.learns_projections
        labels = zlib.crc32(self.signs.tobytes() + row_weights.tobytes())
        object.__setattr__(self, "settings", (solver, self.kernel, *weights, data, labels))

    # --- objective ----------------------------------------------------------------------------------------------------

    @cached_property
    def which(self) -> NDArray:
        """Number of the distinct view of every local model, (P,)."""
        distinct = {id(X): None for X in self.views}
        return np.array([list(distinct).index(id(X)) for X in self.views])

    @workspace_property
    def full_kernels(self) -> NDArray:
        """Return Gram matrices (M, n, n) of the distinct views, without projections."""
        n, distinct = len(self.gating), list({id(X): X for X in self.views}.values())
        if len(distinct) * n * n > LARGEST_MATRIX**2:
            raise ValueError(
                f"the kernel matrices of {len(distinct)} views of {n} labelled rows need "
                f"{8e-9 * len(distinct) * n * n:.1f} GB of memory; use init='random' and solver 'alternating'"
            )
        return np.stack([gram(X) for X in distinct])

    @workspace_property
    def linear(self) -> SLDRProblem:
        """Return the same problem with the linear kernel."""
        return self if self.kernel.name == "linear" else replace(self, kernel=Kernel("linear"), held_out=None)

    def solve(self, point: Point, start: Heads | None) -> Solved:
        """Solve the SVMs at `point`, warm from `start`."""
        gate, local = point.gate(self.gating), point.local(self.views)
        none = np.empty((0, 0, 0))
        alpha = np.zeros_like(self.signs) if start is None else start.alpha
        if not (np.isfinite(gate).all() and all(np.isfinite(W).all() for W in point.projections)):
            refused = Heads(alpha, np.zeros(alpha.shape[1]), math.inf, -math.inf, 0, False, False)
            return Solved(point, gate, local, none, refused)
        kernels = none
        if self.kernel.name == "linear":
            if sum(Z.shape[1] for Z in local) <= FEATURES and self.svm_tol >= FINEST:
                features = self.features(gate, local)
                heads = heads_on_features(features, self.signs, self.costs, self.svm_tol, start)
                return Solved(point, gate, local, none, heads)
            if point.projections:
                K = self.kernel.matrix(self.features(gate, local))
            else:
                K = mixture(self.full_kernels, self.which, gate)
        else:
            kernels = np.stack([self.kernel.matrix(Z) for Z in local])
            K = mixture(kernels, np.arange(len(local)), gate)
        return Solved(point, gate, local, kernels, heads_on_kernel(K, self.signs, self.costs, self.svm_tol, alpha))

    def again(self, candidate: Candidate) -> Solved:
        """Return what `solve` returned for a candidate, without solving."""
        local, kernels = candidate.point.local(self.views), np.empty((0, 0, 0))
        if self.kernel.name != "linear":
            kernels = np.stack([self.kernel.matrix(Z) for Z in local])
        return Solved(candidate.point, candidate.gate, local, kernels, candidate.heads)

    def features(self, gate: NDArray, local: Views) -> NDArray:
        """Return [eta_m * Z_m] (n, sum R_m), in which the SVM of the linear kernel is linear."""
        return np.hstack([gate[:, m, None] * Z for m, Z in enumerate(local)])

    # --- gradients ----------------------------------------------------------------------------------------------------

    def gated_duals(self, solved: Solved) -> tuple[NDArray, NDArray]:
        """Return the support rows (s,) and a (P, s, K) = beta * eta."""
        duals = solved.heads.alpha * self.signs
        support = np.flatnonzero(duals.any(axis=1))
        return support, solved.gate[support].T[:, :, None] * duals[support]

    def responses(self, solved: Solved, support: NDArray, a: NDArray) -> NDArray:
        """Return K_m a_m at the support rows, (P, s, K)."""
        responses = np.empty_like(a)
        for m, Z in enumerate(solved.local):
            if self.kernel.name == "linear":
                rows = Z[support]
                responses[m] = rows @ (rows.T @ a[m])
            else:
                responses[m] = solved.kernels[m][np.ix_(support, support)] @ a[m]
        return responses

    def gate_gradient(self, solved: Solved) -> tuple[NDArray, NDArray, NDArray]:
        """Return dJ/dT (D_G, R_G), dJ/dV (P, R_G), dJ/dv0 (P,); dJ/dT is empty where there is no T."""
        support, a = self.gated_duals(solved)
        c = (a * self.responses(solved, support, a)).sum(axis=2).T  # (s, P)
        G = solved.gate[support] * c.sum(axis=1, keepdims=True) - c
        X, point = self.gating[support], solved.point
        in_projection = np.empty((0, 0)) if point.gate_projection is None else X.T @ (G @ point.gate_weights)
        return in_projection, G.T @ point.gating(X), G.sum(axis=0)

    def projection_gradient(self, solved: Solved) -> tuple[NDArray, ...]:
        """Return dJ/dW_m (D_m, R_m) of every local model."""
        support, a = self.gated_duals(solved)
        gradients = []
        for X, Z, weights in zip(self.views, solved.local, a):
            checkpoint()
            gradients.append(-(X[support].T @ self.kernel.gradient(np.ascontiguousarray(Z[support]), weights)))
        return tuple(gradients)

    # --- the hooks of `QuasiNewton` -----------------------------------------------------------------------------------

    def first_search(self, candidate: Candidate) -> LBFGSState:
        """Return a search at the point of a candidate."""
        flat = pack(candidate.point)
        gradient = flat_gradient(self, flat, self.again(candidate))
        return LBFGSState(flat, candidate.heads.primal, gradient, payload=(candidate.gate, candidate.heads))

    def objective(self, candidate: Candidate) -> FlatObjective:
        """Return J of the vector, near the point of a candidate."""
        return FlatObjective(self, candidate)

    def at_point(self, candidate: Candidate, search: LBFGSState, objective: FlatObjective) -> Candidate:
        """Return a candidate at the point of a search."""
        gate, heads = search.payload
        point = unpack(search.point, candidate.point)
        return Candidate(point, gate, heads, search=search, length=search.step, failures=objective.failures)

    # --- the model at a state -----------------------------------------------------------------------------------------

    def model(self, candidate: Candidate) -> GatedModel:
        """Return the model of a candidate, ready for new rows."""
        duals = candidate.heads.alpha * self.signs
        support = np.flatnonzero(duals.any(axis=1))
        rows = candidate.point.local(tuple(X[support] for X in self.views))
        weights = tuple(candidate.gate[support, m, None] * duals[support] for m in range(len(rows)))
        return GatedModel(self.kernel, candidate.point, rows, weights, candidate.heads.bias)

    def pulls(self, candidate: Candidate) -> tuple[NDArray, ...]:
        """Return g_m = X_m'a_m (D_m, K) of every local model."""
        duals = candidate.heads.alpha * self.signs
        support = np.flatnonzero(duals.any(axis=1))
        return tuple(
            X[support].T @ (candidate.gate[support, m, None] * duals[support]) for m, X in enumerate(self.views)
        )

    def fewest(self, candidate: Candidate, model: GatedModel) -> NDArray:
        """Return multipliers (n, K) of the same model with as few support vectors as possible.

        Linear kernel only.  Without learnt projections those are one direction per head, as in
        `closed_form_projections`; its scale does not matter.
        """
        duals = candidate.heads.alpha * self.signs
        support = np.flatnonzero(duals.any(axis=1))
        local = model.support
        if not candidate.point.projections:
            local = tuple(Z @ normal for Z, normal in zip(model.support, model.normals()))
        features = self.features(candidate.gate[support], local)
        multipliers = np.zeros_like(duals)
        for k in range(duals.shape[1]):
            multipliers[support, k] = np.abs(purify(duals[support, k], self.costs[support], features))
        return multipliers

    def terms(self, state: SLDRState) -> dict[str, float]:
        """Return 1/2 sum |w_m|^2 and C sum of the slacks."""
        heads = state.best.heads
        regularisation = float(heads.alpha.sum()) - heads.dual
        return {"regularisation": regularisation, "label": heads.primal - regularisation}

    def readings(self, state: SLDRState) -> dict[str, float]:
        """Return the dual value with its gap, and what the steps and their support vector machines did."""
        best, heads = state.best, state.best.heads
        return {
            "dual": heads.dual,
            "gap": heads.gap,
            "step_size": best.length,
            "svm_iterations": float(heads.iterations),
            "svm_failures": float(sum(candidate.failures for candidate in state.candidates)),
        }

    def diagnostics(self, state: SLDRState) -> dict[str, float]:
        """Return support fractions (raw and, for the linear kernel, fewest) and what every view is used for."""
        best, heads, model = state.best, state.best.heads, self.model(state.best)
        numbers = {
            "support_fraction": support_share(heads.alpha, self.costs),
            "bounded_fraction": float((heads.alpha >= self.costs[:, None] * (1.0 - AT_BOUND)).any(axis=1).mean()),
        }
        if self.kernel.name == "linear":
            numbers["support_fraction_min"] = support_share(self.fewest(best, model), self.costs)
        usage = np.bincount(best.gate.argmax(axis=1), minlength=best.gate.shape[1]) / len(best.gate)
        for m, (share, length) in enumerate(zip(usage, model.lengths()), 1):
            numbers[f"usage_{m}"], numbers[f"pull_{m}"] = float(share), float(length)
        return numbers

    # --- the run ------------------------------------------------------------------------------------------------------

    def start(self, seed: int) -> SLDRState:
        """Return `n_init` random candidates with solved SVMs; the first is the one a single start would make."""
        candidates = []
        for restart in range(self.n_init):
            rng = np.random.default_rng([seed, 0, restart] if restart else seed)
            candidates.append(self.candidate(self._first_point(rng), None))
        if self.learns_projections:
            self.release()
        return self._state(tuple(candidates), SLDRState((), 0, 0, self.settings, seed, 0))

    def _first_point(self, rng: np.random.Generator) -> Point:
        """Return a random gate with random projections or those that suit it: the linear kernel's closed form."""
        n_models, width = len(self.views), self.gating.shape[1]
        T = None if self.n_gating is None else random_orthonormal(width, self.n_gating, rng)
        V = self.init_scale * rng.standard_normal((n_models, width if T is None else T.shape[1]))
        point = Point(T, V, self.init_scale * rng.standard_normal(n_models), ())
        if not self.learns_projections:
            return point
        if self.init == "random":
            sizes = zip(self.views, self.sizes)
            return point._replace(projections=tuple(random_orthonormal(X.shape[1], R, rng) for X, R in sizes))
        unreduced = self.linear.candidate(point, None)
        pulls = self.pulls(unreduced)
        return point._replace(projections=closed_form_projections(pulls, self.views, unreduced.gate, self.sizes))

    def adopt(self, state: SLDRState) -> SLDRState:
        """Return `state` made consistent with this problem: SVMs solved anew, memories dropped if settings changed."""
        point, width = state.best.point, self.gating.shape[1]
        columns = point.gate_weights.shape[1] if point.gate_projection is None else len(point.gate_projection)
        if (len(point.gate_offset), columns) != (len(self.views), width):
            raise ValueError(
                f"the snapshot to start from has {len(point.gate_offset)} local models and {columns} gating columns; "
                f"these data and parameters have {len(self.views)} and {width}"
            )
        n_columns = tuple(X.shape[1] for X in self.views)
        if point.projections and tuple(len(W) for W in point.projections) != n_columns:
            raise ValueError(
                f"the snapshot to start from has views of {tuple(len(W) for W in point.projections)} columns; "
                f"these data and parameters have {n_columns}"
            )
        if state.settings == self.settings:
            return state
        candidates = []
        for candidate in state.candidates:
            same_labels = state.settings[-1] == self.settings[-1]
            # Scaled with C the multipliers stay feasible, and bounded ones stay bounded.
            heads = None
            if same_labels:
                alpha = np.minimum(candidate.heads.alpha * (self.C / state.settings[2]), self.costs[:, None])
                heads = candidate.heads._replace(alpha=alpha)
            candidates.append(self.candidate(self._adapted(candidate, state), heads))
        return self._state(tuple(candidates), state._replace(settings=self.settings))

    def _adapted(self, candidate: Candidate, state: SLDRState) -> Point:
        """Return the candidate's point with projections exactly where this solver learns them."""
        point = candidate.point
        if not self.learns_projections:
            return point._replace(projections=())
        if point.projections:
            return point
        if state.settings[-1] == self.settings[-1]:
            pulls = self.pulls(candidate)
        else:  # other labels: there are no multipliers of them yet
            pulls = tuple(np.zeros((X.shape[1], 1)) for X in self.views)
        gate = point.gate(self.gating)
        return point._replace(projections=closed_form_projections(pulls, self.views, gate, self.sizes))

    def candidate(self, point: Point, heads: Heads | None) -> Candidate:
        """Return `point` with its heads solved, as where a step begins."""
        solved = self.solve(point, heads)
        if not solved.heads.closed:
            raise ValueError(
                f"the support vector machine with C={self.C:g} and the {self.kernel} did not reach "
                f"svm_tol={self.svm_tol:g}; try a smaller C, a larger svm_tol or another kernel"
            )
        return self._judged(Candidate(point, solved.gate, solved.heads))

    def _judged(self, candidate: Candidate) -> Candidate:
        """Note how the candidate does on the held-out rows, if there are any."""
        if self.held_out is None:
            return candidate
        scores, signs = self.model(candidate).scores(self.held_out.views, self.held_out.gating), self.held_out.signs
        hinge = np.maximum(0.0, 1.0 - signs * scores).mean(axis=1)
        if signs.shape[1] == 1:
            wrong = (scores[:, 0] > 0.0) != (signs[:, 0] > 0.0)
        else:
            wrong = scores.argmax(axis=1) != signs.argmax(axis=1)
        weights = self.held_out.weights
        held_out = float(np.average(wrong, weights=weights)), float(np.average(hinge, weights=weights))
        return candidate._replace(held_out=held_out)

    def _state(self, candidates: tuple[Candidate, ...], state: SLDRState) -> SLDRState:
        """Return `state` with new candidates, the best of them shown."""
        scores = [each.held_out or (each.heads.primal,) for each in candidates]
        shown = min(range(len(candidates)), key=lambda k: (scores[k], k != state.shown))
        worse = state.candidates and candidates[shown].heads.primal > state.best.heads.primal
        return state._replace(candidates=candidates, shown=shown, stage=state.stage + bool(worse))

    def step(self, state: SLDRState) -> SLDRState:
        """Advance every candidate that still moves."""
        candidates = []
        for candidate in state.candidates:
            if candidate.stalled < self.n_small_steps:
                checkpoint()
                moved = self.solver.step(self, candidate)
                change = abs(candidate.heads.primal - moved.heads.primal)
                small = change <= self.tol * max(abs(candidate.heads.primal), np.finfo(float).tiny)
                candidate = self._judged(moved._replace(stalled=candidate.stalled + 1 if small else 0))
            candidates.append(candidate)
        return self._state(tuple(candidates), state)._replace(iteration=state.iteration + 1)

    def stage(self, state: SLDRState) -> int:
        """Return how often another candidate was chosen although its J is higher."""
        return state.stage

    def may_converge(self, previous: SLDRState, state: SLDRState) -> bool:
        """Whether every candidate has been still for `n_small_steps` steps."""
        return all(candidate.stalled >= self.n_small_steps for candidate in state.candidates)
