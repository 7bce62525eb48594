"""The optimisation problem of LSDR, shared by its solvers; the objective stands in `supdr.methods.lsdr.estimator`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import check_shapes
from supdr.engine.iterate import generator
from supdr.engine.solver import SolvedProblem, Solver
from supdr.engine.sparse_rows import SparseRows
from supdr.functions.losses import loss_gradient, total_loss
from supdr.rows.in_memory import InMemoryRows
from supdr.solvers.lbfgs import Evaluate, LBFGSState, lbfgs_start
from supdr.solvers.linear_heads import HeadRows, head_rows
from supdr.solvers.reconstruction import SparseResidual, reconstruct, reconstruction_error, with_biases
from supdr.solvers.reconstruction_start import initial_factors


class LSDRState(NamedTuple):
    """Iterate of LSDR.  Nothing in it is ever written to.

    latent (N, D): Z = [U, bu] (D = d + 1) with row biases, else U (D = d).
    components (d, m): V.
    intercept_x (m,): bv.
    coef (d, K): W.
    intercept (K,): w0.
    search: memory of solver "lbfgs".
    """

    latent: NDArray
    components: NDArray
    intercept_x: NDArray
    coef: NDArray
    intercept: NDArray
    seed: int
    iteration: int
    search: LBFGSState | None = None


class Labels(NamedTuple):
    """Labelled rows: their numbers `rows` (n,), targets Y (n, K), and `weights` (n,) of the losses."""

    rows: NDArray
    Y: NDArray
    weights: NDArray


@dataclass(frozen=True, eq=False)
class LSDRProblem(SolvedProblem):
    """Data and hyper-parameters of LSDR.

    X (N, m): preprocessed data, missing cells filled with anything finite.
    observed (N, m): 1.0 where a cell is observed, else 0.0.
    rows (n,): labelled rows.
    Y (n, K): their targets, one column per head.
    weights (n,): what the losses of each labelled row are multiplied by.
    code: the loss.
    n_components, beta, reg_u, reg_v, reg_w, lr_reconstruction, lr_classification, row_bias, init, init_scale: as in
        `supdr.LSDR`.
    solver: takes the steps.
    """

    X: NDArray
    observed: NDArray | None
    rows: NDArray
    Y: NDArray
    weights: NDArray
    code: int
    n_components: int
    beta: float
    reg_u: float
    reg_v: float
    reg_w: float
    lr_reconstruction: float
    lr_classification: float
    row_bias: bool
    init: Any
    init_scale: float
    solver: Solver

    def start(self, seed: int) -> LSDRState:
        """Return the starting point: the paper's random one, or PCA (or given rows) with zero heads."""
        rng = generator(seed, 0)
        latent, components, intercept_x = self.first_factors(rng)
        coef = np.zeros((self.n_components, self.Y.shape[1]))
        if isinstance(self.init, str) and self.init == "random":
            coef = self.init_scale * rng.standard_normal(coef.shape)
        state = LSDRState(latent, components, intercept_x, coef, np.zeros(self.Y.shape[1]), seed, 0)
        return self.solver.begin(self, state)

    # --- rows, in memory or in partitions: see `supdr.rows.in_memory` -------------------------------------------------

    @cached_property
    def all_rows(self) -> Any:
        """What works on the rows."""
        return InMemoryRows(len(self.X))

    @property
    def part(self) -> Any:
        """The rows that it works on, as a problem of their own."""
        return self

    def first_factors(self, rng: np.random.Generator, cells: Any = None) -> tuple[Any, NDArray, NDArray]:
        """Return the starting Z, V and bv; of rows in partitions the cells, X and what is observed, are given."""
        X, observed = (self.X, self.observed) if cells is None else cells
        return initial_factors(
            X,
            self.n_components,
            self.init,
            self.init_scale,
            rng,
            reg_v=self.reg_v,
            beta=self.beta,
            row_bias=self.row_bias,
            observed=observed,
            rows=None if cells is None else (self.X.shape[1], self.all_rows),
        )

    def labelled(self, latent: Any) -> Any:
        """Return the labelled rows as heads take them, `supdr.solvers.linear_heads.HeadRows`."""
        return labelled_rows(Labels(self.rows, self.Y, self.weights), latent, self.n_components, 1.0 - self.beta)

    def adopt(self, state: LSDRState) -> LSDRState:
        """Return `state` with heads for these classes, ready for the solver; ValueError if its shapes are others."""
        (n_rows, m), n_heads = self.X.shape, self.Y.shape[1]
        latent = n_rows, self.n_components + self.row_bias
        check_shapes(state, latent=latent, components=(self.n_components, m))
        if state.coef.shape[1] != n_heads:
            coef, intercept = np.zeros((self.n_components, n_heads)), np.zeros(n_heads)
            state = state._replace(coef=coef, intercept=intercept, search=None)
        return self.solver.begin(self, state)

    def terms(self, state: LSDRState) -> dict[str, float]:
        """Return the terms of F; the heads' ridge is part of the regularisation."""
        values = state.latent, state.components, state.intercept_x, state.coef, state.intercept
        error, size, label = self.all_rows.total(_values, self.part, *values)
        ridge = self.reg_u * size + self.reg_v * float(np.vdot(state.components, state.components))
        ridge += self.reg_w * float(np.vdot(state.coef, state.coef))
        return {"reconstruction": self.beta * error, "label": (1.0 - self.beta) * label, "regularisation": ridge}

    def scores(self, latent: NDArray, coef: NDArray, intercept: NDArray) -> NDArray:
        """Return the scores (n, K) of the labelled rows."""
        return latent[self.rows] @ self.extended_coef(coef) + intercept

    def extended_coef(self, coef: NDArray) -> NDArray:
        """Return Wt (D, K): the row bias enters every score with weight 1."""
        return np.concatenate([coef, np.ones((1, coef.shape[1]))]) if self.row_bias else coef

    # --- the objective as a function of one long vector -----------------------------------------------------------

    def first_search(self, state: LSDRState) -> LBFGSState:
        """Return a search at latent, components, intercept_x, coef and intercept as one vector."""
        blocks = (state.latent, state.components, state.intercept_x, state.coef, state.intercept)
        return lbfgs_start(np.concatenate([block.ravel() for block in blocks]), self.evaluate)

    def objective(self, state: LSDRState) -> Evaluate:
        """Return F of the vector."""
        return self.evaluate

    def at_point(self, state: LSDRState, search: LBFGSState, objective: Evaluate | None) -> LSDRState:
        """Return `state` at the point of a search."""
        latent, components, intercept_x, coef, intercept = self.unpack(search.point)
        return LSDRState(latent, components, intercept_x, coef, intercept, state.seed, state.iteration, search)

    def may_rest(self, previous: LSDRState, state: LSDRState) -> bool:
        """Tell that a standstill is convergence, unless it is the first, cautious step."""
        return state.search is None or previous.search is None or bool(previous.search.pairs) or state.search.step == 0

    def unpack(self, point: NDArray) -> tuple[NDArray, ...]:
        """Cut the vector into latent, components, intercept_x, coef, intercept (views)."""
        d, (n_rows, m), n_heads = self.n_components, self.X.shape, self.Y.shape[1]
        shapes = [(n_rows, d + self.row_bias), (d, m), (m,), (d, n_heads), (n_heads,)]
        ends = np.cumsum([np.prod(shape) for shape in shapes])
        return tuple(part.reshape(shape) for part, shape in zip(np.split(point, ends[:-1]), shapes))

    def evaluate(self, point: NDArray) -> tuple[float, NDArray, None]:
        """Return F and its gradient by (latent, components, intercept_x, coef, intercept)."""
        latent, components, intercept_x, coef, intercept = self.unpack(point)
        d = self.n_components
        visible = latent[:, :d]
        error, e = self.residual(latent, components, intercept_x)
        wide = self.extended_coef(coef)  # (D, K)
        total, first = loss_gradient(self.code, self.Y, latent[self.rows] @ wide + intercept, self.weights)
        first *= 1.0 - self.beta  # (n, K)
        by_latent = np.empty_like(latent)
        by_latent[:, :d] = (-2.0 * self.beta) * (e @ components.T) + (2.0 * self.reg_u) * visible
        if self.row_bias:
            by_latent[:, d] = (-2.0 * self.beta) * e.sum(axis=1)
        by_latent[self.rows] += first @ wide.T
        by_components = (-2.0 * self.beta) * (visible.T @ e) + (2.0 * self.reg_v) * components
        by_coef = visible[self.rows].T @ first + (2.0 * self.reg_w) * coef
        value = (
            self.beta * error
            + self.reg_u * float(np.vdot(visible, visible))
            + self.reg_v * float(np.vdot(components, components))
            + self.reg_w * float(np.vdot(coef, coef))
            + (1.0 - self.beta) * total
        )
        blocks = (by_latent, by_components, (-2.0 * self.beta) * e.sum(axis=0), by_coef, first.sum(axis=0))
        return value, np.concatenate([block.ravel() for block in blocks]), None

    def residual(self, latent: NDArray, components: NDArray, intercept_x: NDArray) -> tuple[float, Any]:
        """Return |E|^2 and E (N, m), over observed cells."""
        if isinstance(self.X, SparseRows):
            e = SparseResidual(self.X, *with_biases(latent, components, intercept_x))
            return self.X.distance(e.latent, e.loadings), e
        e = self.X - reconstruct(latent, components, intercept_x)
        if self.observed is not None:
            e *= self.observed
        return float(np.vdot(e, e)), e


def labelled_rows(labels: Labels, latent: NDArray, n_components: int, weight: float) -> HeadRows:
    """Return the labelled of latent rows (N, D) as heads take them; a row bias is their offset."""
    labelled = latent[labels.rows]
    offset = labelled[:, n_components] if latent.shape[1] > n_components else None
    return head_rows(labelled[:, :n_components], labels.Y, weight, labels.weights, offset)


def _values(
    part: LSDRProblem, latent: NDArray, components: NDArray, intercept_x: NDArray, coef: NDArray, intercept: NDArray
) -> tuple[float, float, float]:
    """Return the squared error, |U|^2, and the losses."""
    visible = latent[:, : len(components)]
    error = reconstruction_error(part.X, latent, components, intercept_x, observed=part.observed)
    label = total_loss(part.code, part.Y, part.scores(latent, coef, intercept), part.weights)
    return error, float(np.vdot(visible, visible)), label
