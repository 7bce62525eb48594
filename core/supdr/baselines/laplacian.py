"""Regularisation by a graph Laplacian: on the graph alone, or of a kernel expansion (Laplacian RLS)."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lu_factor, lu_solve

from supdr.baselines._direct import DirectMethod, input_kernel
from supdr.baselines._parameters import DIRECT, GRAPH, SCALED_GAMMA, SMOOTHNESS
from supdr.engine.parameters import scale
from supdr.functions.kernels import Kernel
from supdr.solvers.graphs import NeighbourMeans, laplacian, similarity_graph, solve_labelled, unlabelled_rows


@dataclass(eq=False, repr=False)
class GraphLaplacian(DirectMethod):
    """Values on a neighbourhood graph: sum over labelled rows of (f - y)^2 + reg f'Lf / mean(diag L).

    New rows get the mean of their neighbours, weighted by inverse squared distance.

    Parameters
    ----------
    reg : float, default=0.1
        Weight of the graph term, > 0.
    preprocessing, random_state, verbose, missing_label, task
        As in `DirectMethod`.
    n_neighbors : int, default=12
        Neighbours of every row in the graph, >= 1; no more than there are other rows are used.

    Notes
    -----
    Parts of the graph without a label get the mean of the labels, with a warning.

    References
    ----------
    M. Belkin, P. Niyogi, V. Sindhwani, "Manifold Regularization", 2006.
    """

    parameters = (SMOOTHNESS, GRAPH, *DIRECT)

    reg: float = 0.1
    _: KW_ONLY
    n_neighbors: int = 12

    def _solve(self, X: NDArray, rows: NDArray, values: NDArray) -> tuple[NDArray, NeighbourMeans]:
        count = min(self.n_neighbors, len(X) - 1)
        graph = similarity_graph(X, count)
        warn_of_unlabelled(graph, rows)
        energy = laplacian(graph)
        f = solve_labelled(energy * (self.reg / max(energy.diagonal().mean(), np.finfo(float).tiny)), rows, values)
        return f, NeighbourMeans(X, f, count)


@dataclass(frozen=True, eq=False)
class _Expansion:
    """A kernel expansion around all training rows."""

    kernel: Kernel
    coef: NDArray
    X: NDArray

    def predict(self, X: NDArray) -> NDArray:
        return self.kernel.matrix(X, self.X) @ self.coef


@dataclass(eq=False, repr=False)
class LapRLS(DirectMethod):
    """Laplacian regularised least squares: a kernel expansion that is smooth on the graph of all rows.

    1/N sum over labelled rows of (f - y)^2 + reg_ambient |f|_K^2 + reg_intrinsic / n^2 f'Lf, with y minus the mean of
    the labels and f = K a: a = (J K + reg_ambient N I + reg_intrinsic N / n^2 L K)^-1 J y.

    Parameters
    ----------
    reg_ambient : float, default=1e-3
        gamma_A, ridge of the expansion, > 0.
    preprocessing, random_state, verbose, missing_label, task
        As in `DirectMethod`.
    reg_intrinsic : float, default=1.0
        gamma_I, weight of the graph term, > 0.
    gamma : float or "scale", default="scale"
        exp(-gamma |x - x'|^2), > 0; "scale" is 1 / (number of columns times their variance).
    n_neighbors : int, default=6
        Neighbours of every row in the graph, >= 1; no more than there are other rows are used.

    References
    ----------
    M. Belkin, P. Niyogi, V. Sindhwani, "Manifold Regularization", 2006.
    """

    parameters = (
        scale("reg_ambient", "Ridge", 1e-6, 1e2, "Ridge penalty on the kernel expansion.", symbol="λ_A", main=True),
        scale("reg_intrinsic", "Smoothness", 1e-6, 1e3, "Weight of a smooth prediction.", symbol="λ_I", main=True),
        GRAPH,
        replace(SCALED_GAMMA, main=False),
        *DIRECT,
    )

    reg_ambient: float = 1e-3
    _: KW_ONLY
    reg_intrinsic: float = 1.0
    gamma: float | str = "scale"
    n_neighbors: int = 6

    def _solve(self, X: NDArray, rows: NDArray, values: NDArray) -> tuple[NDArray, _Expansion]:
        n_rows, n_labelled = len(X), len(rows)
        kernel = input_kernel("rbf", X, 1, self.gamma, 0.0)
        K = kernel.matrix(X)
        energy = laplacian(similarity_graph(X, min(self.n_neighbors, n_rows - 1)))
        labelled = np.zeros(n_rows)
        labelled[rows] = 1.0
        system = (sparse.diags_array(labelled) + (self.reg_intrinsic * n_labelled / n_rows**2) * energy) @ K
        system.flat[:: n_rows + 1] += self.reg_ambient * n_labelled
        right = np.zeros((n_rows, values.shape[1]))
        right[rows] = values
        coef = lu_solve(lu_factor(system.T, overwrite_a=True), right, trans=1)  # as columns it needs no copy
        if not np.isfinite(coef).all():
            raise np.linalg.LinAlgError(
                f"the system of LapRLS is singular, as where rows are the same; got reg_ambient={self.reg_ambient:g}, "
                "a larger one makes it regular"
            )
        return K @ coef, _Expansion(kernel, coef, X)


def warn_of_unlabelled(graph: Any, rows: NDArray) -> None:
    """Warn of rows to which no path of the graph leads from a labelled one."""
    alone = int(unlabelled_rows(graph, rows).sum())
    if alone:
        warnings.warn(
            f"{alone} of {graph.shape[0]} rows are in parts of the graph without a label and get the mean of the "
            "labels; more neighbours may connect them",
            UserWarning,
            stacklevel=5,
        )
