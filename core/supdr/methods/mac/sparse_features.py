"""The linear mapping of sparse rows: ridge regression on centred columns that are never formed.

Up to `DIRECT_SIZE` rows or columns an eigendecomposition of X X' or X'X serves every ridge and all leverages.  Beyond,
weights are found by LSMR, and the leverage of row i, the entry (i, i) of f(X X') with f(t) = t / (t + ridge), by Gauss
quadrature: Lanczos steps from the unit vector of the row give nodes and weights that serve every ridge.

Sources: D. Fong, M. Saunders, "LSMR: An iterative algorithm for sparse least-squares problems", 2011; G. Golub,
G. Meurant, "Matrices, moments and quadrature", 1994.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.sparse.linalg import LinearOperator, lsmr

from supdr.engine.interruption import abandonable, checkpoint
from supdr.engine.reuse import cached
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

# Most Lanczos steps, and the change of what a leverage lacks, as a share of it, below which they end.
LANCZOS_STEPS, LANCZOS_TOL = 30, 1e-7
# The constant vector is an eigenvector if Phi Phi' makes it shorter than this share of what it does on average.
CENTRED = 1e-12
# The ridge at which they end, as a share of the mean squared length of a row: larger ones take no more steps.
LEAST_RIDGE = 1e-8
# Rows whose Lanczos steps are taken together.
LANCZOS_ROWS = 16


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
        self._quadrature: tuple[Array, Array] | None = None

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
        """Return W' (M, L), the minimiser of |values - Phi W'|^2 + ridge |W|^2; `pulled` (M, L) is Phi' values."""
        if not self.is_direct:
            return np.column_stack([self._solved(column, ridge) for column in values.T])
        e, Q = self._eigenvectors()
        if len(Q) == len(self.X):
            return self.pull_back(Q @ ((Q.T @ values) / (e + ridge)[:, None]))
        return Q @ ((Q.T @ pulled) / (e + ridge)[:, None])

    def leverages(self, rows: NDArray[np.intp], ridge: float) -> Array:
        """Return entries (p,) of the diagonal of Phi (Phi'Phi + ridge)^-1 Phi', of the same rows in every call."""
        if self._quadrature is None:
            self._quadrature = self._measured(rows)
        return _leverages(*self._quadrature, ridge)

    def _measured(self, rows: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return nodes (p, k), or (k,), and weights (p, k) of the measures of some rows (p,)."""
        if not self.is_direct:
            return row_measures(rows, self.Phi)
        e, Q = self._eigenvectors()
        if len(Q) == len(self.X):
            return e, Q[rows] ** 2
        return e, (self.Phi[rows] @ Q) ** 2 / np.maximum(e, np.finfo(float).tiny)

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


@cached
def row_measures(rows: NDArray[np.intp], Phi: SparseRows) -> tuple[Array, Array]:
    """Return nodes and weights (p, `LANCZOS_STEPS`) of the measures of some rows (p,) under Phi Phi'."""
    ridge = LEAST_RIDGE * Phi.square / len(Phi)
    nodes, weights = np.zeros((2, len(rows), LANCZOS_STEPS))
    for first in range(0, len(rows), LANCZOS_ROWS):
        some = slice(first, first + LANCZOS_ROWS)
        of_some = _measures(rows[some], Phi, ridge)
        steps = of_some[0].shape[1]
        nodes[some, :steps], weights[some, :steps] = of_some
    return nodes, weights


def _measures(rows: NDArray[np.intp], Phi: SparseRows, ridge: float) -> tuple[Array, Array]:
    """Return nodes and weights (p, k), by as many Lanczos steps as change the leverages at the ridge.

    Of centred columns the constant vector is an eigenvector, of eigenvalue 0, which adds nothing to a leverage: the
    steps begin without it, as it would take the most of them.
    """
    diagonal: list[Array] = []
    beside: list[Array] = []
    latest = np.full(len(rows), np.inf)
    before, now = np.zeros((2, len(Phi), len(rows)))
    now[rows, np.arange(len(rows))] = 1.0
    if Phi.total @ Phi.total <= CENTRED * len(Phi) * Phi.square:
        now -= 1.0 / len(Phi)
    lengths = np.linalg.norm(now, axis=0)
    now /= lengths
    for step in range(1, LANCZOS_STEPS + 1):
        checkpoint()
        following = Phi.row_gram_times(now) - (beside[-1] if beside else 0.0) * before
        diagonal.append(np.einsum("ij,ij->j", now, following))
        following -= diagonal[-1] * now
        if step % 2 == 0 or step == LANCZOS_STEPS:
            spectra = [eigh_tridiagonal(*each) for each in zip(np.transpose(diagonal), np.transpose(beside))]
            nodes = np.maximum([e for e, _ in spectra], 0.0)
            weights = np.array([vectors[0] ** 2 for _, vectors in spectra]) * lengths[:, None] ** 2
            last, latest = latest, (weights * (ridge / (nodes + ridge))).sum(axis=1)
            if (np.abs(latest - last) <= LANCZOS_TOL * latest).all():
                break
        beside.append(np.linalg.norm(following, axis=0))
        before, now = now, following / np.where(beside[-1] > 0.0, beside[-1], 1.0)
    return nodes, weights


def _leverages(nodes: Array, weights: Array, ridge: float) -> Array:
    """Return the leverages (p,) by their quadrature, nodes (p, k) or (k,) and weights (p, k)."""
    return (weights * (nodes / (nodes + ridge))).sum(axis=1)
