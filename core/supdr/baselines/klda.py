"""Kernel linear discriminant analysis.

In the space of Gaussian features: directions w with the largest  w'S_b w / w'(S_w + reg I) w,  S_b and S_w the
covariance between and within classes.  With the centred kernel matrix Q diag(e) Q' the rows have coordinates
B = Q sqrt(e), in which the total covariance is diag(e) / n; whitening by it leaves the singular value decomposition of
an r x K matrix.

Source: S. Mika, G. Rätsch, J. Weston, B. Schölkopf, K.-R. Müller, "Fisher discriminant analysis with kernels", 1999;
G. Baudat, F. Anouar, "Generalized discriminant analysis using a kernel approach", 2000.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from supdr.baselines.projections import Projection, rbf_gamma
from supdr.engine.checks import check_number
from supdr.engine.targets import Targets
from supdr.functions.kernels import Kernel

SMALLEST_EIGENVALUE = 1e-10
BLOCK = 2048


class KernelDiscriminants(BaseEstimator):
    """The projection of kernel discriminant analysis.

    Parameters
    ----------
    n_components : int
        Latent dimension, at most K - 1.
    gamma : float
        exp(-gamma |x - x'|^2).
    reg : float
        Added to the covariance within classes, whose trace is at most 1; > 0.

    Attributes
    ----------
    rows_ : array of shape (n, m)
        Training rows.
    coef_ : array of shape (n, d)
        Weights of the centred kernel values.
    """

    def __init__(self, n_components: int, gamma: float, reg: float) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.reg = reg

    def fit(self, X: NDArray, y: NDArray) -> KernelDiscriminants:
        """Find the directions.  O(n^3), n^2 numbers in memory.

        Parameters
        ----------
        X : array of shape (n, m)
            Rows.
        y : int array of shape (n,)
            Class codes 0 to K - 1.

        Returns
        -------
        self : KernelDiscriminants
        """
        n = len(X)
        self.rows_ = X
        K = self._kernel().matrix(X)
        self._column_means = K.mean(axis=0)
        self._mean = float(self._column_means.mean())
        e, Q = np.linalg.eigh(self._centred(K))
        kept = e > SMALLEST_EIGENVALUE * max(e[-1], np.finfo(float).tiny)
        e, Q = e[kept], Q[:, kept]
        sizes = np.bincount(y)
        basis = Q * np.sqrt(e)
        means = np.array([basis[y == k].sum(axis=0) for k in range(len(sizes))]).T / np.sqrt(n * sizes)  # S_b = M M'
        whiten = 1.0 / np.sqrt(e / n + self.reg)
        directions, strength, _ = np.linalg.svd(whiten[:, None] * means, full_matrices=False)
        d = min(self.n_components, len(sizes) - 1, len(e))
        # The largest ratio to S_w + reg and to S_b + S_w + reg belong to the same w; here w'(S_w + reg I) w = 1.
        scale = np.sqrt(np.maximum(1.0 - strength[:d] ** 2, np.finfo(float).eps))
        self.coef_ = (Q / np.sqrt(e)) @ (whiten[:, None] * directions[:, :d] / scale)
        return self

    def transform(self, X: NDArray) -> NDArray:
        """Return the projections (n, d) of rows (n, m), in blocks."""
        parts = [
            self._centred(self._kernel().matrix(X[start : start + BLOCK], self.rows_)) @ self.coef_
            for start in range(0, len(X), BLOCK)
        ]
        return np.concatenate(parts)

    def _kernel(self) -> Kernel:
        return Kernel("rbf", 1, self.gamma, 0.0)

    def _centred(self, K: NDArray) -> NDArray:
        """Return kernel values (p, n) with training rows as origin's mean, computed in place."""
        K -= K.mean(axis=1, keepdims=True)
        K -= self._column_means - self._mean
        return K


class KLDA(Projection):
    """Kernel discriminant analysis with Gaussians, then k nearest neighbours or a linear SVM.

    Parameters
    ----------
    n_components : int or None, default=None
        Latent dimension, at most K - 1; None is K - 1.
    gamma : float or "median", default="median"
        exp(-gamma |x - x'|^2), > 0; "median" uses the median distance.
    reg : float, default=1e-3
        Added to the covariance within classes, > 0.
    head : {"knn", "svm"}, default="knn"
        Classifier on the projected rows.
    n_neighbors : int, default=5
        Neighbours of "knn".
    C : float, default=1.0
        Hinge weight of "svm".
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        gamma: float | str = "median",
        reg: float = 1e-3,
        head: str = "knn",
        n_neighbors: int = 5,
        C: float = 1.0,
        preprocessing: str = "zscore",
        random_state: int | None = None,
        verbose: int = 0,
        missing_label: Any = np.nan,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.reg = reg
        self.head = head
        self.n_neighbors = n_neighbors
        self.C = C
        self.preprocessing = preprocessing
        self.random_state = random_state
        self.verbose = verbose
        self.missing_label = missing_label

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        super()._check_parameters(X, targets)
        check_number("reg", self.reg, "> 0", lambda value: value > 0.0)

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        wanted = n_classes - 1 if self.n_components is None else min(self.n_components, n_classes - 1)
        return KernelDiscriminants(wanted, rbf_gamma(self.gamma, X, self._seed()), float(self.reg))
