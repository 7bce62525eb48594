"""The optimisation problem of LSDR and its three solvers; the objective stands in `supdr.methods.lsdr.estimator`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Problem, generator
from supdr.functions.losses import loss_gradient, total_loss
from supdr.methods.lsdr.kernels import label_epoch, pull_rows, row_losses, score_gradients
from supdr.solvers.lbfgs import LBFGSState, lbfgs_adopt, lbfgs_start, lbfgs_step
from supdr.solvers.linear_heads import fit_heads
from supdr.solvers.positive_definite import solve_positive
from supdr.solvers.reconstruction import (
    fit_loadings,
    initial_factors,
    latent_system,
    reconstruct,
    reconstruction_epoch,
    reconstruction_terms,
    sgd_cells,
    sgd_shrinkage,
)

SOLVERS = ("bcd", "sgd", "lbfgs")
MAX_SWEEPS = 30
"""Sweeps of the proximal map of several heads: 2 (hinge), 7 (logistic, smooth hinge), 16 (squared) as a rule."""

HEAD_STEPS = 5
"""Newton steps per head and round; the next round carries on."""


class LSDRState(NamedTuple):
    """Iterate of LSDR.  Nothing in it is ever written to.

    Attributes
    ----------
    latent : array of shape (N, D)
        Z = [U, bu] (D = d + 1) with row biases, else U (D = d).
    components : array of shape (d, m)
        V.
    intercept_x : array of shape (m,)
        bv.
    coef : array of shape (d, K)
        W.
    intercept : array of shape (K,)
        w0.
    seed, iteration : int
    search : LBFGSState or None
        Memory of solver "lbfgs".
    """

    latent: NDArray
    components: NDArray
    intercept_x: NDArray
    coef: NDArray
    intercept: NDArray
    seed: int
    iteration: int
    search: LBFGSState | None = None


@dataclass(frozen=True)
class LSDRProblem(Problem):
    """Data and hyper-parameters of LSDR.

    Attributes
    ----------
    X : array of shape (N, m)
        Preprocessed data, missing cells filled with anything finite.
    observed : array of shape (N, m) or None
        1.0 where a cell is observed, else 0.0.
    rows : int array of shape (n,)
        Labelled rows.
    Y : array of shape (n, K)
        Their targets, one column per head.
    code : int
        The loss.
    n_components, beta, reg_u, reg_v, reg_w, solver, lr_reconstruction, lr_classification, row_bias, init, init_scale
        As in `supdr.LSDR`.
    """

    X: NDArray
    observed: NDArray | None
    rows: NDArray
    Y: NDArray
    code: int
    n_components: int
    beta: float
    reg_u: float
    reg_v: float
    reg_w: float
    solver: str
    lr_reconstruction: float
    lr_classification: float
    row_bias: bool
    init: Any
    init_scale: float

    @property
    def advice(self) -> str:  # type: ignore[override]
        """What to do when the run diverges."""
        if self.solver != "sgd":
            return Problem.advice
        return (
            f"Lower the learning rates: lr_reconstruction={self.lr_reconstruction:g}, "
            f"lr_classification={self.lr_classification:g}."
        )

    def start(self, seed: int) -> LSDRState:
        """Return the starting point: the paper's random one, or PCA (or given rows) with zero heads."""
        rng = generator(seed, 0)
        factors = initial_factors(
            self.X,
            self.n_components,
            self.init,
            self.init_scale,
            rng,
            reg_v=self.reg_v,
            beta=self.beta,
            row_bias=self.row_bias,
            observed=self.observed,
        )
        coef = np.zeros((self.n_components, self.Y.shape[1]))
        if isinstance(self.init, str) and self.init == "random":
            coef = self.init_scale * rng.standard_normal(coef.shape)
        state = LSDRState(*factors, coef, np.zeros(self.Y.shape[1]), seed, 0)
        return state._replace(search=self._search(state)) if self.solver == "lbfgs" else state

    def adopt(self, state: LSDRState) -> LSDRState:
        """Check the shapes; start heads of other classes anew; keep L-BFGS's memory only for the same objective."""
        width, (n_rows, m), n_heads = self.n_components + self.row_bias, self.X.shape, self.Y.shape[1]
        for name, shape in {"latent": (n_rows, width), "components": (self.n_components, m)}.items():
            found = getattr(state, name).shape
            if found != shape:
                raise ValueError(f"start does not fit: its {name} has shape {found}, this run needs {shape}")
        if state.coef.shape[1] != n_heads:
            state = state._replace(
                coef=np.zeros((self.n_components, n_heads)), intercept=np.zeros(n_heads), search=None
            )
        if self.solver != "lbfgs":
            return state._replace(search=None)
        search = self._search(state) if state.search is None else lbfgs_adopt(state.search, self._evaluate)
        return state._replace(search=search)

    def step(self, state: LSDRState) -> LSDRState:
        """Return the state after one round of block descent, one epoch, or one L-BFGS step."""
        return {"bcd": bcd_round, "sgd": sgd_epoch, "lbfgs": lbfgs_move}[self.solver](self, state)

    def terms(self, state: LSDRState) -> dict[str, float]:
        """Return the terms of F; the heads' ridge is part of the regularisation."""
        terms = reconstruction_terms(
            self.X,
            state.latent,
            state.components,
            state.intercept_x,
            beta=self.beta,
            reg_u=self.reg_u,
            reg_v=self.reg_v,
            observed=self.observed,
        )
        label = (1.0 - self.beta) * total_loss(self.code, self.Y, self.scores(state))
        ridge = terms["regularisation"] + self.reg_w * float(np.vdot(state.coef, state.coef))
        return {"reconstruction": terms["reconstruction"], "label": label, "regularisation": ridge}

    def settled(self, previous: LSDRState, state: LSDRState) -> bool:
        """Tell that a standstill is convergence, unless it is L-BFGS's first, cautious step."""
        return state.search is None or previous.search is None or bool(previous.search.pairs) or state.search.step == 0

    def scores(self, state: LSDRState) -> NDArray:
        """Return the scores (n, K) of the labelled rows."""
        return state.latent[self.rows] @ self.extended_coef(state.coef) + state.intercept

    def extended_coef(self, coef: NDArray) -> NDArray:
        """Return Wt (D, K): the row bias enters every score with weight 1."""
        return np.concatenate([coef, np.ones((1, coef.shape[1]))]) if self.row_bias else coef

    # --- the objective as a function of one long vector -----------------------------------------------------------

    def _search(self, state: LSDRState) -> LBFGSState:
        blocks = (state.latent, state.components, state.intercept_x, state.coef, state.intercept)
        return lbfgs_start(np.concatenate([block.ravel() for block in blocks]), self._evaluate)

    def unpack(self, point: NDArray) -> tuple[NDArray, ...]:
        """Cut the vector into latent, components, intercept_x, coef, intercept (views)."""
        d, (n_rows, m), n_heads = self.n_components, self.X.shape, self.Y.shape[1]
        shapes = [(n_rows, d + self.row_bias), (d, m), (m,), (d, n_heads), (n_heads,)]
        ends = np.cumsum([np.prod(shape) for shape in shapes])
        return tuple(part.reshape(shape) for part, shape in zip(np.split(point, ends[:-1]), shapes))

    def _evaluate(self, point: NDArray) -> tuple[float, NDArray, None]:
        """Return F and its gradient by (latent, components, intercept_x, coef, intercept)."""
        latent, components, intercept_x, coef, intercept = self.unpack(point)
        d = self.n_components
        visible = latent[:, :d]
        e = self.X - reconstruct(latent, components, intercept_x)  # (N, m)
        if self.observed is not None:
            e *= self.observed
        wide = self.extended_coef(coef)  # (D, K)
        total, first = loss_gradient(self.code, self.Y, latent[self.rows] @ wide + intercept)
        first *= 1.0 - self.beta  # (n, K)
        by_latent = np.empty_like(latent)
        by_latent[:, :d] = (-2.0 * self.beta) * (e @ components.T) + (2.0 * self.reg_u) * visible
        if self.row_bias:
            by_latent[:, d] = (-2.0 * self.beta) * e.sum(axis=1)
        by_latent[self.rows] += first @ wide.T
        by_components = (-2.0 * self.beta) * (visible.T @ e) + (2.0 * self.reg_v) * components
        by_coef = visible[self.rows].T @ first + (2.0 * self.reg_w) * coef
        value = (
            self.beta * float(np.vdot(e, e))
            + self.reg_u * float(np.vdot(visible, visible))
            + self.reg_v * float(np.vdot(components, components))
            + self.reg_w * float(np.vdot(coef, coef))
            + (1.0 - self.beta) * total
        )
        blocks = (by_latent, by_components, (-2.0 * self.beta) * e.sum(axis=0), by_coef, first.sum(axis=0))
        return value, np.concatenate([block.ravel() for block in blocks]), None


def bcd_round(problem: LSDRProblem, state: LSDRState) -> LSDRState:
    """Minimise over (V, bv), then over all latent rows, then over the heads; F never rises.

    O(N m d + N d^2 + n d^2 + n K^2 per sweep of the proximal map).
    """
    d = problem.n_components
    offset = state.latent[:, d] if problem.row_bias else None
    components, intercept_x = fit_loadings(
        problem.X, state.latent[:, :d], problem.reg_v, problem.beta, row_offset=offset, observed=problem.observed
    )
    latent = _latent_rows(problem, state, components, intercept_x)
    labelled = latent[problem.rows]
    coef, intercept = fit_heads(
        labelled[:, :d],
        problem.Y,
        problem.code,
        state.coef,
        state.intercept,
        weight=1.0 - problem.beta,
        reg=problem.reg_w,
        offset=labelled[:, d] if problem.row_bias else None,
        max_steps=HEAD_STEPS,
    )
    return LSDRState(latent, components, intercept_x, coef, intercept, state.seed, state.iteration + 1)


def _latent_rows(problem: LSDRProblem, state: LSDRState, components: NDArray, intercept_x: NDArray) -> NDArray:
    """Minimise F over all latent rows: the fold-in T, and for labelled rows Z = T - q A^-1 Wt g with g = loss'(z).

    q = (1 - beta) / 2.  With several heads g is found by coordinate ascent; a row whose part of F would rise stays.
    """
    beta, rows, Y, code = problem.beta, problem.rows, problem.Y, problem.code
    system, extended = latent_system(
        components, problem.reg_u, beta, row_bias=problem.row_bias, observed=problem.observed
    )
    wide = problem.extended_coef(state.coef)  # Wt (D, K)
    centred = problem.X - intercept_x
    if problem.observed is None:
        m = centred.shape[1]
        solution = solve_positive(system, np.concatenate([beta * extended, wide], axis=1))  # (D, m + K)
        latent = centred @ solution[:, :m].T  # T
        reach = solution[None, :, m:]  # A^-1 Wt (1, D, K)
    else:
        right = np.empty((*system.shape[:2], 1 + wide.shape[1]))
        right[:, :, 0] = (problem.observed * centred) @ (beta * extended.T)
        right[:, :, 1:] = wide
        solution = solve_positive(system, right)  # (N, D, 1 + K)
        latent = np.ascontiguousarray(solution[:, :, 0])
        reach, system = solution[rows, :, 1:], system[rows]
    grams = np.ascontiguousarray(wide.T @ reach)  # G = Wt' A^-1 Wt, (1 or n, K, K)
    q = 0.5 * (1.0 - beta)
    folded, before = latent[rows], state.latent[rows]
    free, scores = folded @ wide + state.intercept, before @ wide + state.intercept
    pull = np.empty_like(free)
    score_gradients(code, Y, scores, pull)
    pull_rows(code, Y, free, grams, q, pull, MAX_SWEEPS)
    change = -q * (pull @ reach[0].T if len(reach) == 1 else (reach @ pull[:, :, None])[:, :, 0])
    after = folded + change
    if Y.shape[1] > 1:
        worse = _row_objectives(problem, change, system, after @ wide + state.intercept) > _row_objectives(
            problem, before - folded, system, scores
        )
        after[worse] = before[worse]
    latent[rows] = after
    return latent


def _row_objectives(problem: LSDRProblem, change: NDArray, system: NDArray, scores: NDArray) -> NDArray:
    """Return (Z - T)' A (Z - T) + (1 - beta) sum_k loss, (n,): each labelled row's part of F up to a constant."""
    total = np.empty(len(change))
    row_losses(problem.code, problem.Y, scores, total)
    moved = change @ system if system.ndim == 2 else (system @ change[:, :, None])[:, :, 0]
    return (moved * change).sum(axis=1) + (1.0 - problem.beta) * total


def sgd_epoch(problem: LSDRProblem, state: LSDRState) -> LSDRState:
    """Return the state after one epoch of the paper's algorithm 1, corrected: all cells, then all labelled rows."""
    rng = generator(state.seed, state.iteration + 1)
    shape, observed = problem.X.shape, problem.observed
    latent, intercept_x, intercept = state.latent.copy(), state.intercept_x.copy(), state.intercept.copy()
    loadings, coef = state.components.T.copy(order="C"), state.coef.T.copy(order="C")  # (m, d), (K, d)
    reconstruction_epoch(
        problem.X,
        latent,
        loadings,
        intercept_x,
        rng.permutation(sgd_cells(shape, observed)),
        problem.lr_reconstruction,
        problem.beta,
        sgd_shrinkage(problem.reg_u, shape, observed, axis=1),
        sgd_shrinkage(problem.reg_v, shape, observed, axis=0),
    )
    label_epoch(
        problem.code,
        problem.Y,
        problem.rows,
        rng.permutation(len(problem.rows)),
        latent,
        coef,
        intercept,
        problem.lr_classification,
        1.0 - problem.beta,
        problem.reg_w / len(problem.rows),
    )
    components = np.ascontiguousarray(loadings.T)
    return LSDRState(
        latent, components, intercept_x, np.ascontiguousarray(coef.T), intercept, state.seed, state.iteration + 1
    )


def lbfgs_move(problem: LSDRProblem, state: LSDRState) -> LSDRState:
    """Return the state after one accepted L-BFGS step on all blocks at once."""
    assert state.search is not None  # start and adopt see to it
    search = lbfgs_step(state.search, problem._evaluate)
    latent, components, intercept_x, coef, intercept = problem.unpack(search.point)
    return LSDRState(latent, components, intercept_x, coef, intercept, state.seed, state.iteration + 1, search)
