"""Neighbourhood graphs, and energies of functions on their points.

A function is its values f (n,) on the rows of X.  Every energy is a quadratic form f'Bf with a sparse B:

    graph Laplacian   1/2 sum_ij w_ij (f_i - f_j)^2
    Hessian energy    sum_i |second derivatives of f at x_i, along the surface|^2
    parallel fields   how far f is from having tangent vectors v_i that explain it and are parallel along edges
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from supdr.engine.reuse import cached

# Added to the diagonal of every system: what neither labels nor energy determine becomes 0.
RIDGE = 1e-9


@cached
def neighbours(X: NDArray, n_neighbors: int) -> tuple[NDArray, NDArray]:
    """Return the nearest other rows of every row.

    `X` (n, M): rows; `n_neighbors`: k, at most n - 1. Returns their numbers (n, k), nearest
    first, and distances (n, k).
    """
    from sklearn.neighbors import NearestNeighbors

    distance, index = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    return index, distance


def similarity_graph(X: NDArray, n_neighbors: int) -> sparse.csr_array:
    """Return weights exp(-d^2 / 2 s^2) between rows of which one is among the other's neighbours.

    `X` (n, M): rows; `n_neighbors`: k, at most n - 1, where s is the median distance to the k-th neighbour. Returns
    (n, n), sparse and symmetric, with an empty diagonal.
    """
    index, distance = neighbours(X, n_neighbors)
    width = max(float(np.median(distance[:, -1])), np.finfo(float).tiny)
    weight = np.exp(-0.5 * (distance / width) ** 2)
    rows = np.repeat(np.arange(len(X)), n_neighbors)
    graph = sparse.csr_array((weight.ravel(), (rows, index.ravel())), shape=(len(X), len(X)))
    return graph.maximum(graph.T)


def laplacian(graph: sparse.csr_array) -> sparse.csr_array:
    """Return the degrees minus the weights: f'Lf = 1/2 sum_ij w_ij (f_i - f_j)^2.

    `graph` (n, n): sparse, symmetric weights. Returns (n, n), sparse.
    """
    return (sparse.diags_array(graph.sum(axis=1)) - graph).tocsr()


@cached
def tangents(X: NDArray, index: NDArray, dimension: int) -> NDArray:
    """Return orthonormal bases of the surface at every row: the leading principal directions of its neighbourhood.

    `X` (n, M): rows; `index` (n, k): neighbours of every row, to which the row itself is added; `dimension`: m, at most
    min(M, k). Returns (n, M, m).
    """
    groups = np.concatenate([X[:, None, :], X[index]], axis=1)  # (n, k + 1, M)
    groups -= groups.mean(axis=1, keepdims=True)
    _, _, directions = np.linalg.svd(groups, full_matrices=False)
    return np.ascontiguousarray(directions[:, :dimension].transpose(0, 2, 1))


@cached
def hessian_energy(X: NDArray, index: NDArray, bases: NDArray) -> tuple[sparse.csr_array, NDArray]:
    """Return the Hessian energy and the maps that estimate gradients.

    At every row a quadratic polynomial through its value is fitted to its neighbours, in tangent coordinates u relative
    to the row (not to the neighbourhood's mean): coefficients c_r of u_r and c_rs of u_r u_s.  The energy is
    sum_r 4 c_rr^2 + 2 sum_{r<s} c_rs^2, the squared Frobenius norm of the Hessian.

    Source: K. I. Kim, F. Steinke, M. Hein, "Semi-supervised Regression using Hessian Energy", 2009; their own code uses
    half of it.

    `X` (n, M): rows; `index` (n, k): neighbours, k >= m + m (m + 1) / 2; `bases` (n, M, m): tangents. Returns the
    energy (n, n), sparse, and maps (n, m, k): map i takes the differences of f to the neighbours of row i to its
    gradient.
    """
    n_rows, k = index.shape
    m = bases.shape[2]
    u = (X[index] - X[:, None, :]) @ bases  # (n, k, m)
    first, second = np.triu_indices(m)
    design = np.concatenate([u, u[:, :, first] * u[:, :, second]], axis=2)  # (n, k, m + m (m + 1) / 2)
    inverse = np.linalg.pinv(design)
    curved = inverse[:, m:] * np.where(first == second, 2.0, np.sqrt(2.0))[:, None]  # (n, q, k)
    curved = np.concatenate([-curved.sum(axis=2, keepdims=True), curved], axis=2)  # columns: the row, its neighbours
    columns = np.concatenate([np.arange(n_rows)[:, None], index], axis=1)  # (n, k + 1)
    blocks = curved.transpose(0, 2, 1) @ curved  # (n, k + 1, k + 1)
    rows = np.repeat(columns, k + 1, axis=1).ravel()
    energy = sparse.csr_array((blocks.ravel(), (rows, np.tile(columns, k + 1).ravel())), shape=(n_rows, n_rows))
    return energy, inverse[:, :m]


@cached
def parallel_fields(X: NDArray, graph: sparse.csr_array, bases: NDArray) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the two energies of parallel field regularisation in the unknowns (f, v), n (m + 1) of them.

    sum_ij w_ij ((x_j - x_i)'T_i v_i - f_j + f_i)^2  and  sum_ij w_ij |T_i'T_j v_j - v_i|^2, with v_i (m,) after all f.

    Source: B. Lin, C. Zhang, X. He, "Semi-supervised Regression via Parallel Field Regularization", 2011.

    `X` (n, M): rows; `graph` (n, n): symmetric weights; `bases` (n, M, m): tangents T. Returns two sparse arrays of
    n (m + 1) rows and columns.
    """
    n_rows, _, m = bases.shape
    edges = graph.tocoo()
    i, j, root = edges.row, edges.col, np.sqrt(edges.data)
    number, size = np.arange(len(i)), n_rows * (m + 1)
    vectors = n_rows + np.arange(n_rows * m).reshape(n_rows, m)  # columns of v

    along = root[:, None] * np.einsum("ea,eam->em", X[j] - X[i], bases[i])  # (e, m)
    rows = np.concatenate([np.repeat(number, m), number, number])
    columns = np.concatenate([vectors[i].ravel(), i, j])
    explained = sparse.csr_array((np.concatenate([along.ravel(), root, -root]), (rows, columns)), (len(i), size))

    turn = root[:, None, None] * np.einsum("eam,eap->emp", bases[i], bases[j])  # (e, m, m): T_i'T_j
    each = np.arange(len(i) * m).reshape(-1, m)
    rows = np.concatenate([np.repeat(each, m), each.ravel()])
    columns = np.concatenate([np.repeat(vectors[j], m, axis=0).ravel(), vectors[i].ravel()])
    data = np.concatenate([turn.ravel(), -np.repeat(root, m)])
    parallel = sparse.csr_array((data, (rows, columns)), (len(i) * m, size))
    return explained.T @ explained, parallel.T @ parallel


def solve_labelled(energy: sparse.csr_array, rows: NDArray, values: NDArray) -> NDArray:
    """Minimise sum over labelled rows of (f - y)^2 + f'energy f; what that leaves open becomes 0.

    `energy` (p, p): sparse, symmetric, positive semi-definite; `rows` (N,): labelled positions; `values` (N, T): their
    y. Returns (p, T).
    """
    size = energy.shape[0]
    labelled, right = np.zeros(size), np.zeros((size, values.shape[1]))
    labelled[rows], right[rows] = 1.0, values
    system = (energy + sparse.diags_array(labelled)).tocsc()
    with_ridge = (system + RIDGE * sparse.eye_array(size)).tocsc()
    factor = splu(with_ridge, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    f = factor.solve(right)
    return f + factor.solve(right - system @ f)  # once more: the ridge's bias becomes its own square


def unlabelled_rows(graph: sparse.csr_array, rows: NDArray) -> NDArray:
    """Return a mask (n,) of the rows in components of the graph that have no row of `rows`."""
    _, component = connected_components(graph, directed=False)
    return ~np.isin(component, component[rows])


@dataclass(frozen=True, eq=False)
class LocalPlanes:
    """A function given at points, with a slope at each: new rows are on the plane of the nearest point.

    X (n, M).
    values (n, T).
    bases (n, M, m): tangents.
    slopes (n, m, T): gradients in tangent coordinates.
    """

    X: NDArray
    values: NDArray
    bases: NDArray
    slopes: NDArray

    def predict(self, X: NDArray) -> NDArray:
        """Return the values at new rows, (p, T)."""
        from sklearn.neighbors import NearestNeighbors

        nearest = NearestNeighbors(n_neighbors=1).fit(self.X).kneighbors(X, return_distance=False)[:, 0]
        u = np.einsum("pa,pam->pm", X - self.X[nearest], self.bases[nearest])
        return self.values[nearest] + np.einsum("pm,pmt->pt", u, self.slopes[nearest])


@dataclass(frozen=True, eq=False)
class NeighbourMeans:
    """A function given at points: new rows get their neighbours' mean, weighted by inverse squared distance."""

    X: NDArray
    values: NDArray
    n_neighbors: int

    def predict(self, X: NDArray) -> NDArray:
        """Return the values at new rows, (p, T); at a given point its own."""
        from sklearn.neighbors import NearestNeighbors

        distance, index = NearestNeighbors(n_neighbors=self.n_neighbors).fit(self.X).kneighbors(X)
        # A floor far below every distance that matters: at a given point the others have no weight.
        floor = 1e-12 * (1.0 + np.abs(self.X).max())
        weight = 1.0 / np.maximum(distance, floor) ** 2
        return np.einsum("pk,pkt->pt", weight / weight.sum(axis=1, keepdims=True), self.values[index])
