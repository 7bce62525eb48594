"""Maps from latent rows to the input space: bases of the methods whose latent rows reconstruct X."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from supdr.engine.estimator import SupervisedReducer
from supdr.engine.fitted import as_fitted


def _reconstructs(estimator: Any) -> bool:
    if getattr(estimator._as_fitted(), "row_bias", False):
        raise AttributeError("inverse_transform needs row_bias=False: a latent row does not contain its row bias")
    return True


class Reconstructing(SupervisedReducer):
    """Base of the methods whose state has ``latent``, of which ``_reconstructed(latent)`` returns preprocessed rows."""

    @available_if(_reconstructs)
    @as_fitted
    def inverse_transform(self, latent: ArrayLike) -> NDArray:
        """Map latent rows to the input space, in the units of X.

        Parameters
        ----------
        latent : array-like of shape (n_samples, n_components)
            Latent rows.

        Returns
        -------
        array of shape (n_samples, n_features)

        Raises
        ------
        ValueError
            If the number of columns is wrong.
        """
        check_is_fitted(self)
        latent, d = np.ascontiguousarray(latent, dtype=float), self._n_features_out
        if latent.ndim != 2 or latent.shape[1] != d:
            raise ValueError(f"latent must have shape (n_samples, {d}); got {latent.shape}")
        return self._preprocessing.inverse_transform(self._reconstructed(latent))

    @property
    @as_fitted
    def reconstruction_(self) -> NDArray:
        """Training rows (n, m), in the units of X, as their own latent rows (and row biases) reconstruct them."""
        check_is_fitted(self)
        return self._preprocessing.inverse_transform(self._reconstructed(self._own_latent()))

    def _own_latent(self) -> NDArray:
        return self._state.latent

    def _reconstructed(self, latent: NDArray) -> NDArray:
        raise NotImplementedError


class Factorisation(Reconstructing):
    """Base of the matrix factorisations, X ~ U V + bv, with or without a bias per row.

    A row bias is the last column of ``latent``: part of the reconstruction, not of the latent rows that users get.
    """

    row_bias: bool
    components_: NDArray
    intercept_x_: NDArray

    def _visible(self, latent: NDArray) -> NDArray:
        return latent[:, : len(self.components_)]

    def _padded(self, latent: NDArray) -> NDArray:
        return np.pad(latent, ((0, 0), (0, 1))) if self.row_bias else latent
