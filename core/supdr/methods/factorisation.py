"""What LSDR and NSDR have in common: latent rows U that reconstruct X as U V + bv, with or without a bias per row."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from supdr.engine.estimator import SupervisedReducer
from supdr.solvers.reconstruction import reconstruct


def _reconstructs(estimator: Factorisation) -> bool:
    if estimator.row_bias:
        raise AttributeError("inverse_transform needs row_bias=False: a latent row does not contain its row bias")
    return True


class Factorisation(SupervisedReducer):
    """Base of the methods whose state has ``latent`` (N, d or d + 1), ``components`` (d, m), ``intercept_x`` (m,).

    A row bias, where there is one, is the last column of ``latent``: it is part of the reconstruction, not of a latent
    row that a user sees.
    """

    row_bias: bool
    components_: NDArray
    intercept_x_: NDArray

    @available_if(_reconstructs)
    def inverse_transform(self, latent: ArrayLike) -> NDArray:
        """Map latent rows to the input space, ``latent @ components_ + intercept_x_`` with preprocessing undone.

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
        latent = np.asarray(latent, dtype=float)
        d = len(self.components_)
        if latent.ndim != 2 or latent.shape[1] != d:
            raise ValueError(f"latent must have shape (n_samples, {d}); got {latent.shape}")
        return self._preprocessing.inverse_transform(reconstruct(latent, self.components_, self.intercept_x_))

    @property
    def reconstruction_(self) -> NDArray:
        """Training rows (n, m), in the units of X, as their own latent rows and row biases reconstruct them."""
        check_is_fitted(self)
        return self._preprocessing.inverse_transform(
            reconstruct(self._own_latent(), self.components_, self.intercept_x_)
        )

    def _own_latent(self) -> NDArray:
        return self._state.latent

    def _visible(self, latent: NDArray) -> NDArray:
        return latent[:, : len(self.components_)]

    def _padded(self, latent: NDArray) -> NDArray:
        return np.pad(latent, ((0, 0), (0, 1))) if self.row_bias else latent
