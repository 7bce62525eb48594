"""Kernel linear discriminant analysis.

In the space of Gaussian features: directions w with the largest  w'S_b w / w'(S_w + reg I) w,  S_b and S_w the
covariance between and within classes, S their sum.  With the centred kernel matrix K = B B', B the rows' coordinates,
S = B'B / n and S_b = B'Y Y'B, where Y has 1 / sqrt(n n_k) for the rows of class k.  The directions are
(S + reg I)^-1 B'Y v with the eigenvectors v of  Y'B (S + reg I)^-1 B'Y = Y'K A,  A = (K / n + reg I)^-1 Y:  one linear
system for each class, in place of all eigenvectors of K.

Source: S. Mika, G. Rätsch, J. Weston, B. Schölkopf, K.-R. Müller, "Fisher discriminant analysis with kernels", 1999;
G. Baudat, F. Anouar, "Generalized discriminant analysis using a kernel approach", 2000.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from supdr.baselines._parameters import AUTOMATIC_COMPONENTS, HEAD, MEDIAN_GAMMA, SEEDED
from supdr.baselines.projections import Projection, rbf_gamma
from supdr.engine.parameters import scale
from supdr.functions.kernels import Kernel

# Ratios below this share of the largest one are rounding errors.
SMALLEST_RATIO = 1e-12

BLOCK = 2048


@dataclass(eq=False)
class KernelDiscriminants(BaseEstimator):
    """The projection of kernel discriminant analysis.

    `n_components`: latent dimension, at most K - 1. `gamma`: exp(-gamma |x - x'|^2). `reg`: added to the covariance
    within classes, whose trace is at most 1; > 0. `rows_` (n, m): training rows; `coef_` (n, d): weights of the centred
    kernel values.
    """

    n_components: int
    gamma: float
    reg: float

    def fit(self, X: NDArray, y: NDArray) -> KernelDiscriminants:
        """Compute the directions from rows (n, m) and class codes (n,), 0 to K - 1; raise ValueError if there is none.

        O(n^3): one factorisation; 2 n^2 numbers in memory.
        """
        n = len(X)
        self.rows_ = X
        system = self._kernel().matrix(X)
        self._column_means = system.mean(axis=0)
        self._mean = float(self._column_means.mean())
        self._centred(system)
        system /= n
        diagonal = system.diagonal().copy()
        system.flat[:: n + 1] += self.reg
        sizes = np.bincount(y)
        indicators = np.eye(len(sizes))[y] / np.sqrt(n * sizes)
        # The constant vector is no direction: the centred kernel maps it to 0, up to rounding.
        indicators -= indicators.mean(axis=0)
        solved = np.linalg.solve(system, indicators)
        system.flat[:: n + 1] = diagonal  # K / n again, to the last digit however large reg is
        ratios, turns = np.linalg.eigh(n * indicators.T @ (system @ solved))
        if not ratios[-1] > 0.0:
            raise ValueError(f"KLDA finds no direction: with gamma={self.gamma:.3g} all rows are alike to its kernel")
        d = min(self.n_components, len(sizes) - 1, int(np.sum(ratios > SMALLEST_RATIO * ratios[-1])))
        ratios, turns = ratios[::-1][:d], turns[:, ::-1][:, :d]
        # The largest ratio to S_w + reg and to S_b + S_w + reg belong to the same w; here w'(S_w + reg I) w = 1.
        self.coef_ = solved @ (turns / np.sqrt(ratios * np.maximum(1.0 - ratios, np.finfo(float).eps)))
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
        """Centre kernel values (p, n) by the mean of the training rows in feature space, in place, and return them."""
        K -= K.mean(axis=1, keepdims=True)
        K -= self._column_means - self._mean
        return K


@dataclass(eq=False, repr=False)
class KLDA(Projection):
    """Kernel discriminant analysis with Gaussians, then k nearest neighbours or an SVM.

    Parameters
    ----------
    n_components : int or None, default=None
        Latent dimension, at most K - 1; None is K - 1.
    head, n_neighbors, C, head_gamma, preprocessing, random_state, verbose, missing_label
        As in `Projection`.
    gamma : float or "median", default="median"
        exp(-gamma |x - x'|^2), > 0; "median" uses the median distance.
    reg : float, default=1e-3
        Added to the covariance within classes, > 0.
    """

    parameters = (
        AUTOMATIC_COMPONENTS,
        MEDIAN_GAMMA,
        scale("reg", "Ridge", 1e-6, 1e2, "Ridge added to the scatter within classes.", main=True),
        *HEAD,
        *SEEDED,
    )

    n_components: int | None = None
    _: KW_ONLY
    gamma: float | str = "median"
    reg: float = 1e-3

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        n_directions = n_classes - 1 if self.n_components is None else min(self.n_components, n_classes - 1)
        return KernelDiscriminants(n_directions, rbf_gamma(self.gamma, X, self._seed()), float(self.reg))
