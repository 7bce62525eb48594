"""Regularisation by the Hessian energy: functions that are linear along the surface of the data cost nothing."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from supdr.baselines._direct import DirectMethod, check_neighbours
from supdr.baselines._parameters import DIRECT, GRAPH, SMOOTHNESS, TANGENT
from supdr.baselines.laplacian import warn_of_unlabelled
from supdr.engine.common_parameters import EXTRAPOLATE
from supdr.engine.targets import Targets
from supdr.solvers.graphs import LocalPlanes, hessian_energy, neighbours, solve_labelled, tangents


@dataclass(eq=False, repr=False)
class HessianEnergy(DirectMethod):
    """Values on the rows: sum over labelled rows of (f - y)^2 + reg f'Bf / mean(diag B), B the Hessian energy.

    Unlike a graph Laplacian it lets f grow linearly beyond the labels.  New rows lie on the tangent plane of f at the
    nearest training row.

    Parameters
    ----------
    reg : float, default=0.1
        Weight of the energy, > 0.
    preprocessing, random_state, verbose, missing_label, task
        As in `DirectMethod`.
    n_neighbors : int, default=12
        k, neighbours of every row, >= m + m (m + 1) / 2; no more than there are other rows are used.
    dimension : int, default=2
        m, dimension of the surface, >= 1; no more than there are columns is used.  Too large a value lets f explode
        between few labels.
    extrapolate : bool, default=False
        Whether new rows are used as they are.  False: cells that lie further outside of the training rows' range than a
        quarter of it are clipped there for regression, and `predict` warns.

    Notes
    -----
    Parts of the neighbourhood graph without a label get the mean of the labels, with a warning.

    References
    ----------
    K. I. Kim, F. Steinke, M. Hein, "Semi-supervised Regression using Hessian Energy with an Application to
    Semi-supervised Dimensionality Reduction", 2009.
    """

    parameters = (
        SMOOTHNESS,
        replace(GRAPH, low=9),  # quadratics on three tangent dimensions have nine coefficients
        TANGENT,
        EXTRAPOLATE,
        *DIRECT,
    )

    reg: float = 0.1
    _: KW_ONLY
    n_neighbors: int = 12
    dimension: int = 2
    extrapolate: bool = False

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        m = min(self.dimension, X.shape[1])
        check_neighbours(self.n_neighbors, m + m * (m + 1) // 2, m, X)

    def _solve(self, X: NDArray, rows: NDArray, values: NDArray) -> tuple[NDArray, LocalPlanes]:
        index, _ = neighbours(X, min(self.n_neighbors, len(X) - 1))
        bases = tangents(X, index, min(self.dimension, X.shape[1]))
        energy, gradients = hessian_energy(X, index, bases)
        warn_of_unlabelled(energy, rows)
        scale = max(float(energy.diagonal().mean()), np.finfo(float).tiny)
        f = solve_labelled(energy * (self.reg / scale), rows, values)
        slopes = gradients @ (f[index] - f[:, None, :])  # (n, m, T)
        return f, LocalPlanes(X, f, bases, slopes)
