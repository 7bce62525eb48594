"""The linear mapping of sparse rows: ridge regression on centred columns that are never formed.

Up to `DIRECT_SIZE` rows or columns an eigendecomposition of X X' or X'X serves every ridge and all leverages.  Beyond,
weights are found by LSMR, and the leverage of row i, the entry (i, i) of f(X X') with f(t) = t / (t + ridge), by Gauss
quadrature: Lanczos steps from the unit vector of the row give nodes and weights that serve every ridge.

Sources: D. Fong, M. Saunders, "LSMR: An iterative algorithm for sparse least-squares problems", 2011; G. Golub,
G. Meurant, "Matrices, moments and quadrature", 1994.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.sparse.linalg import LinearOperator, lsmr

from supdr.engine.interruption import abandonable, checkpoint
from supdr.engine.sparse_rows import SparseRows
from supdr.methods.mac.mapping import EIGEN_SIZE, SMALLEST_RIDGE, Features
from supdr.rows.in_memory import InMemoryRows
from supdr.solvers.gaussians import Mapping

Array = NDArray[np.float64]

DIRECT_SIZE = 1500

# Cells up to which features of few sparse columns are formed: 32 MB.
FORMED_CELLS = 4_000_000

# Relative size of the gradient at which a ridge regression ends.
LSMR_TOL = 1e-12

# Most steps of LSMR, as a multiple of the smaller number of rows and columns: without rounding it would be 1.
LSMR_STEPS = 4

LANCZOS_STEPS = 30
# Rows whose Lanczos steps are taken together.
LANCZOS_ROWS = 64


def may_be_formed(X: SparseRows) -> bool:
    """Whether the features of sparse rows (n, D) are few enough to be kept as an array."""
    return X.size <= FORMED_CELLS and X.shape[1] <= EIGEN_SIZE


class SparseFeatures(Features):
    """Centred columns of sparse training rows.

    `X` (n, D): training rows; `mapping`: the linear one; `direct_size`: rows or columns up to which an
    eigendecomposition is made.
    """

    def __init__(self, X: SparseRows, mapping: Mapping, direct_size: int = DIRECT_SIZE) -> None:
        super().__init__(InMemoryRows(len(X)), mapping)
        self.X, self.Phi, self.is_direct = X, X - mapping.centers[0], min(X.shape) <= direct_size
        self._judged: NDArray[np.intp] | None = None

    @property
    def part(self) -> SparseFeatures:
        """The features of all rows."""
        return self

    def image(self, weights: Array) -> Array:
        """Return F = Phi W' (n, L) for W' (M, L)."""
        return self.Phi @ weights

    def pull_back(self, values: Array) -> Array:
        """Return Phi' values (M, q) for values (n, q)."""
        return self.Phi.T @ values

    def smallest_ridge(self) -> float:
        """Return the ridge below which `solve` is not accurate."""
        return SMALLEST_RIDGE * self.Phi.square

    def solve(self, values: Array, pulled: Array, ridge: float) -> Array:
        """Return W' (M, L), the minimiser of |values - Phi W'|^2 + ridge |W|^2.

        `values` (n, L): targets; `pulled` (M, L): Phi' values; `ridge`: > 0.
        """
        if not self.is_direct:
            return np.column_stack([self._solved(column, ridge) for column in values.T])
        e, Q = self._eigenvectors()
        if len(Q) == len(self.X):
            return self.pull_back(Q @ ((Q.T @ values) / (e + ridge)[:, None]))
        return Q @ ((Q.T @ pulled) / (e + ridge)[:, None])

    def leverages(self, rows: NDArray[np.intp], ridge: float) -> Array:
        """Return entries of the diagonal of Phi (Phi'Phi + ridge)^-1 Phi'.

        `rows` (p,): the same in every call; `ridge`: > 0.
        """
        if self._judged is None:
            self._judged = rows
        nodes, weights = self._quadrature
        return (weights * (nodes / (nodes + ridge))).sum(axis=1)

    @cached_property
    def _quadrature(self) -> tuple[Array, Array]:
        """Nodes (p, k), or (k,), and weights (p, k): a leverage is the weighted sum of node / (node + ridge)."""
        assert self._judged is not None
        if self.is_direct:
            e, Q = self._eigenvectors()
            if len(Q) == len(self.X):
                return e, Q[self._judged] ** 2
            return e, (self.Phi[self._judged] @ Q) ** 2 / np.maximum(e, np.finfo(float).tiny)
        chunks = np.split(self._judged, range(LANCZOS_ROWS, len(self._judged), LANCZOS_ROWS))
        nodes, weights = zip(*(self._lanczos(rows) for rows in chunks))
        return np.concatenate(nodes), np.concatenate(weights)

    def _lanczos(self, rows: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return nodes and weights (p, k) of the measure of each row under Phi Phi'."""
        shape = LANCZOS_STEPS, len(rows)
        diagonal, beside = np.zeros(shape), np.zeros(shape)
        before, now = np.zeros((len(self.X), len(rows))), np.zeros((len(self.X), len(rows)))
        now[rows, np.arange(len(rows))] = 1.0
        for step in range(shape[0]):
            checkpoint()
            following = self.Phi @ (self.Phi.T @ now) - beside[step - 1] * before
            diagonal[step] = np.einsum("ij,ij->j", now, following)
            following -= diagonal[step] * now
            beside[step] = np.linalg.norm(following, axis=0)
            before, now = now, following / np.where(beside[step] > 0.0, beside[step], 1.0)
        found = [eigh_tridiagonal(one, other) for one, other in zip(diagonal.T, beside[:-1].T)]
        return np.maximum([e for e, _ in found], 0.0), np.array([vectors[0] ** 2 for _, vectors in found])

    def _eigenvectors(self) -> tuple[Array, Array]:
        """Return eigenvalues and eigenvectors of the smaller one of Phi Phi' and Phi'Phi."""
        if self._eigen is None:
            gram = self.Phi.row_gram if self.X.shape[0] <= self.X.shape[1] else self.Phi.column_gram
            e, Q = abandonable(lambda: np.linalg.eigh(gram()))
            self._eigen = np.maximum(e, 0.0), Q
        return self._eigen

    def _solved(self, values: Array, ridge: float) -> Array:
        """Return the weights (M,) for one column of targets (n,)."""
        Phi = LinearOperator(self.Phi.shape, self.Phi.__matmul__, self.Phi.T.__matmul__, dtype=np.float64)
        settings = {"damp": np.sqrt(ridge), "atol": LSMR_TOL, "btol": LSMR_TOL, "conlim": 0.0}
        most = LSMR_STEPS * min(self.X.shape)
        return abandonable(lambda: lsmr(Phi, values, **settings, maxiter=most))[0]
