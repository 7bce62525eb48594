"""Parallel field regularisation: a function whose gradient field is parallel along the surface of the data."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

from numpy.typing import NDArray

from supdr.baselines._direct import DirectMethod, check_neighbours
from supdr.baselines._parameters import DIRECT, GRAPH, TANGENT
from supdr.baselines.laplacian import warn_of_unlabelled
from supdr.engine.common_parameters import EXTRAPOLATE
from supdr.engine.parameters import scale
from supdr.engine.targets import Targets
from supdr.solvers.graphs import LocalPlanes, neighbours, parallel_fields, similarity_graph, solve_labelled, tangents


@dataclass(eq=False, repr=False)
class PFR(DirectMethod):
    """Parallel field regularisation.

    Values f_i and tangent vectors v_i minimise, w the weights of the neighbourhood graph and T the tangent bases,

        sum over labelled rows of (f - y)^2 + reg_field sum_ij w_ij ((x_j - x_i)'T_i v_i - f_j + f_i)^2
        + reg_parallel sum_ij w_ij |T_i'T_j v_j - v_i|^2

    New rows lie on the plane of v at the nearest training row.

    Parameters
    ----------
    reg_field : float, default=0.1
        lambda_1, how closely v must explain f, > 0.
    preprocessing, random_state, verbose, missing_label, task
        As in `DirectMethod`.
    reg_parallel : float, default=1e-3
        lambda_2, how parallel v must be, > 0.
    n_neighbors : int, default=12
        Neighbours of every row, >= the dimension; no more than there are other rows are used.
    dimension : int, default=2
        m, dimension of the surface, >= 1; no more than there are columns is used.
    extrapolate : bool, default=False
        Whether new rows are used as they are.  False: cells that lie further outside of the training rows' range than a
        quarter of it are clipped there for regression, and `predict` warns.

    Notes
    -----
    Parts of the neighbourhood graph without a label get the mean of the labels, with a warning.

    References
    ----------
    B. Lin, C. Zhang, X. He, "Semi-supervised Regression via Parallel Field Regularization", 2011.
    """

    parameters = (
        scale(
            "reg_field",
            "Field weight",
            1e-6,
            1e3,
            "Weight that ties the gradient to the vector field.",
            symbol="λ_1",
            main=True,
        ),
        scale(
            "reg_parallel",
            "Parallelism",
            1e-6,
            1e3,
            "Weight that keeps the vector field parallel.",
            symbol="λ_2",
            main=True,
        ),
        replace(GRAPH, low=3),
        TANGENT,
        EXTRAPOLATE,
        *DIRECT,
    )

    reg_field: float = 0.1
    _: KW_ONLY
    reg_parallel: float = 1e-3
    n_neighbors: int = 12
    dimension: int = 2
    extrapolate: bool = False

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        m = min(self.dimension, X.shape[1])
        check_neighbours(self.n_neighbors, m, m, X)

    def _solve(self, X: NDArray, rows: NDArray, values: NDArray) -> tuple[NDArray, LocalPlanes]:
        count, m = min(self.n_neighbors, len(X) - 1), min(self.dimension, X.shape[1])
        graph = similarity_graph(X, count)
        warn_of_unlabelled(graph, rows)
        index, _ = neighbours(X, count)
        bases = tangents(X, index, m)
        explained, parallel = parallel_fields(X, graph, bases)
        solution = solve_labelled(self.reg_field * explained + self.reg_parallel * parallel, rows, values)
        f, slopes = solution[: len(X)], solution[len(X) :].reshape(len(X), m, -1)
        return f, LocalPlanes(X, f, bases, slopes)
