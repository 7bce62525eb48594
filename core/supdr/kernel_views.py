"""Precomputed kernels as views, with a map for new rows: kernel principal components, or the kernel's columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from supdr.engine.checks import check_choice, check_integer, check_number
from supdr.engine.documentation_link import link_parameters, link_template

# Largest accepted asymmetry, as a share of the largest entry.
ASYMMETRY = 1e-8

# Largest accepted negative eigenvalue, as a share of the largest eigenvalue.
NEGATIVE = 1e-6


@dataclass(eq=False, repr=False)
class KernelViews(TransformerMixin, BaseEstimator):
    """Turn precomputed kernels into column groups, one view per kernel.

    Kernel principal components ("kpca"): Kc = HKH = U diag(l) U' of every kernel; its features are U diag(l)^1/2, whose
    inner products are Kc.  New rows, given by their kernel values with the training rows, are centred with the training
    means and folded in by (k* - rowmean(k*) - colmean(K) + mean(K)) U diag(l)^-1/2.  Centring is part of the model: a
    gated sum of kernels without a bias per view changes with it.

    The empirical kernel map ("empirical"): the features of a row are its kernel values with the training rows,
    (k(x, x_1), ..., k(x, x_n)).  Inner products of the training rows' features are K K', not K.  The kernel may be
    indefinite, since nothing is decomposed.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of features of every kernel with "kpca", >= 1; None: all with an eigenvalue above `tol`.  "empirical" has
        one per training row and takes None only.
    method : {"kpca", "empirical"}, default="kpca"
        The features of a row, see above.  Gonen and Alpaydin (section 3) recommend kernel principal components.
    tol : float, default=1e-10
        "kpca" drops eigenvalues up to this share of the largest one, in [0, 1).

    Attributes
    ----------
    views_ : tuple of int
        Numbers of columns of every view, for `supdr.SLDR`'s `views`.
    eigenvalues_ : tuple of arrays
        Eigenvalues of the features of every kernel; empty with "empirical".

    References
    ----------
    B. Scholkopf, A. Smola, K.-R. Muller, "Nonlinear component analysis as a kernel eigenvalue problem", Neural
    Computation 10 (1998); B. Scholkopf et al., "Input space versus feature space in kernel-based methods", IEEE
    Transactions on Neural Networks 10 (1999), for the empirical kernel map; M. Gonen, E. Alpaydin, "Supervised and
    Localized Dimensionality Reduction from Multiple Feature Representations or Kernels", section 3.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.random.default_rng(0).standard_normal((20, 3))
    >>> front = KernelViews().fit([A @ A.T, np.exp(-((A[:, None] - A) ** 2).sum(axis=2))])
    >>> front.transform([A[:4] @ A.T, np.exp(-((A[:4, None] - A) ** 2).sum(axis=2))]).shape
    (4, 22)
    """

    n_components: int | None = None
    _: KW_ONLY
    method: str = "kpca"
    tol: float = 1e-10

    _doc_link_module = "supdr"
    _doc_link_template = property(link_template)
    _doc_link_url_param_generator = link_parameters

    def fit(self, X: ArrayLike | Sequence[ArrayLike], y: Any = None) -> Self:
        """Fit to the kernels of the training rows.

        Parameters
        ----------
        X : sequence of array-likes of shape (n, n), or array-like of shape (P, n, n) or (n, P n)
            Symmetric kernel matrices, positive semi-definite for "kpca"; one table holds them side by side.
        y : object
            Ignored.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            If a parameter is out of range, or a kernel is not square, not symmetric or not finite; with "kpca", if it
            is not positive semi-definite or zero after centring.
        """
        self._check_parameters()
        tables = [_checked(K, number) for number, K in enumerate(_kernels(X))]
        self._n_rows = len(tables[0])
        if self.method == "empirical":
            self.eigenvalues_: tuple[NDArray, ...] = ()
            self.views_ = (self._n_rows,) * len(tables)
        else:
            self._find_components(tables)
        return self

    def _check_parameters(self) -> None:
        check_choice("method", self.method, ("kpca", "empirical"))
        if self.n_components is not None:
            check_integer("n_components", self.n_components)
            if self.method == "empirical":
                raise ValueError(f"n_components must be None with method='empirical'; got {self.n_components!r}")
        check_number("tol", self.tol, "in [0, 1)", lambda value: 0 <= value < 1)

    def _find_components(self, tables: Sequence[NDArray]) -> None:
        """Compute the maps for new rows from the eigenvectors of the centred kernels."""
        self._maps, self._means, values = [], [], []
        for number, K in enumerate(tables):
            means = K.mean(axis=0)
            eigenvalues, vectors = _decompose(K, means, number)
            selected = eigenvalues > self.tol * eigenvalues[0]
            if self.n_components is not None:
                selected[self.n_components :] = False
            # The sign of an eigenvector is arbitrary: its largest entry is made positive.
            vectors = vectors[:, selected]
            vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
            self._maps.append(vectors / np.sqrt(eigenvalues[selected]))
            self._means.append(means)
            values.append(eigenvalues[selected])
        self.eigenvalues_ = tuple(values)
        self.views_ = tuple(map(len, values))

    def transform(self, X: ArrayLike | Sequence[ArrayLike]) -> NDArray:
        """Return the features of rows from their kernel values with the training rows.

        Parameters
        ----------
        X : sequence of array-likes of shape (n_new, n), or array-like of shape (P, n_new, n) or (n_new, P n)
            One table per kernel, columns in the order of the training rows.

        Returns
        -------
        array of shape (n_new, sum of views_)

        Raises
        ------
        ValueError
            If the number of kernels or of columns differs from those of the fit, or values are not finite.
        """
        check_is_fitted(self, "views_")
        n = self._n_rows
        tables = _kernels(X, n_columns=n)
        if len(tables) != len(self.views_):
            raise ValueError(f"X must hold {len(self.views_)} kernels, as in fit; got {len(tables)}")
        for number, K in enumerate(tables):
            if K.shape[1] != n or not np.isfinite(K).all():
                raise ValueError(
                    f"kernel {number} must be finite with {n} columns, one per training row; got {K.shape}"
                )
        if not self.eigenvalues_:
            return np.hstack(tables)
        features = [
            (K - K.mean(axis=1, keepdims=True) - means + means.mean()) @ matrix
            for K, matrix, means in zip(tables, self._maps, self._means)
        ]
        return np.ascontiguousarray(np.hstack(features))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "views_")


def _kernels(X: Any, n_columns: int | None = None) -> list[NDArray]:
    """Return the tables of X, from one table, a stack or a sequence of them."""
    if isinstance(X, np.ndarray) and X.ndim == 2:
        width = n_columns or len(X)
        if X.shape[1] % width:
            raise ValueError(f"X must hold kernels of {width} columns side by side; got shape {X.shape}")
        tables = np.split(X.astype(np.float64), X.shape[1] // width, axis=1)
    else:
        tables = [np.asarray(table, dtype=np.float64) for table in X]
    if not tables:
        raise ValueError("X must hold at least one kernel; got none")
    if any(table.ndim != 2 or len(table) != len(tables[0]) for table in tables):
        raise ValueError(f"kernels must be tables with the same rows; got shapes {[table.shape for table in tables]}")
    return tables


def _checked(K: NDArray, number: int) -> NDArray:
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"kernel {number} must be square; got shape {K.shape}")
    if not np.isfinite(K).all():
        raise ValueError(f"kernel {number} contains NaN or infinity")
    if np.abs(K - K.T).max() > ASYMMETRY * np.abs(K).max():
        raise ValueError(f"kernel {number} must be symmetric; entries differ by up to {np.abs(K - K.T).max():.3g}")
    return K


def _decompose(K: NDArray, means: NDArray, number: int) -> tuple[NDArray, NDArray]:
    """Return eigenvalues, falling, and eigenvectors of the centred kernel."""
    centred = K - means - means[:, None] + means.mean()
    values, vectors = np.linalg.eigh(0.5 * (centred + centred.T))
    values, vectors = values[::-1], vectors[:, ::-1]
    scale = np.abs(K).max()
    if values[0] <= 1e-12 * len(K) * scale:
        raise ValueError(f"kernel {number} must not be constant: it is 0 after centring")
    if values[-1] < -NEGATIVE * values[0]:
        raise ValueError(f"kernel {number} must be positive semi-definite; its smallest eigenvalue is {values[-1]:.3g}")
    return values, vectors
