"""Regression with few labels: draws of labelled rows, and the choice of hyper-parameters by cross-validation on them.

SNF and LLR are chosen at target_weight 0, where one factorisation, which knows no labels, serves all draws and folds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from supdr import SNF
from supdr.baselines import LSSVM
from supdr.engine.reuse import reused
from supdr.methods._snf_regression import regression

FOLDS = 8
REGS, REG_WS = (0.1, 1.0, 10.0), (0.01, 0.1, 1.0, 10.0)
DECADES = (1e-2, 1e-1, 1.0, 10.0, 100.0)

Found = list[tuple[dict[str, Any], NDArray]]


def drawn(y: NDArray, share: float, seed: int, least: int = 4) -> NDArray:
    """Return the labelled rows of a draw."""
    return np.random.default_rng(seed).permutation(len(y))[: max(least, round(share * len(y)))]


def known(y: NDArray, rows: NDArray) -> NDArray:
    """Return y with NaN outside of `rows`."""
    hidden = np.full(len(y), np.nan)
    hidden[rows] = y[rows]
    return hidden


def folds(rows: NDArray, most: int = FOLDS) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield (kept, held out) labelled rows."""
    for part in np.array_split(np.arange(len(rows)), min(most, len(rows))):
        yield np.delete(rows, part), rows[part]


def factorisations(X: NDArray, degrees: Sequence[int]) -> Found:
    """Return settings and latent rows, fitted without labels, that serve every draw of a set."""
    columns = X.shape[1]
    sizes = sorted({max(1, round(share * columns)) for share in (0.5, 0.75)})
    found = []
    for degree, size, reg in itertools.product(degrees, sizes, REGS):
        settings = {"n_components": size, "degree": degree, "reg_v": reg, "reg_z": reg}
        model = SNF(**settings, target_weight=0.0, preprocessing="none", calibrate=False, max_iter=60)
        found.append((settings, model.fit(X, known(X[:, 0], np.arange(1))).embedding_))
    return found


def chosen_snf(found: Found, y: NDArray, rows: NDArray) -> dict[str, Any]:
    """Return the settings with the lowest cross-validated error."""
    best: dict[str, Any] = {}
    lowest = np.inf
    for (settings, latent), reg_w in itertools.product(found, REG_WS):
        kernel = SNF(**settings)._kernel()
        error = 0.0
        for kept, held in folds(rows):
            form = regression(kernel, reg_w, latent.shape[1], len(kept))
            fit, _ = form.solve(latent[kept], y[kept][:, None])
            error += float(((form.predict(fit, latent[kept], latent[held])[:, 0] - y[held]) ** 2).sum())
        if error < lowest:
            best, lowest = {**settings, "reg_w": reg_w}, error
    return best


def chosen(models: Sequence[Any], X: NDArray, y: NDArray, rows: NDArray, n_folds: int = FOLDS) -> Any:
    """Return the estimator with the lowest cross-validated error."""

    def error(model: Any) -> float:
        """Return the squared errors of all folds."""
        return sum(
            float(((model.fit(X, known(y, kept)).transduction_[held] - y[held]) ** 2).sum())
            for kept, held in folds(rows, n_folds)
        )

    return min(models, key=error)


def ls_svms(columns: int) -> list[LSSVM]:
    """Return 25 Gaussian and 15 polynomial settings."""
    gammas = [gamma / columns for gamma in (0.03, 0.1, 0.3, 1.0, 3.0)]
    gaussian = [LSSVM(C, gamma=gamma, preprocessing="none") for C in DECADES for gamma in gammas]
    polynomial = [LSSVM(C, kernel="poly", degree=degree, preprocessing="none") for C in DECADES for degree in (1, 2, 3)]
    return gaussian + polynomial


class _Chosen(RegressorMixin, BaseEstimator):
    """Predicts the unlabelled rows of its own training data."""

    _predicted: NDArray

    @property
    def transduction_(self) -> NDArray:
        """Predictions of all training rows, (n,)."""
        return self._predicted


class ChosenSNF(_Chosen):
    """SNF (degree 1: LLR) with hyper-parameters by cross-validation on the labelled rows, refitted with all of them.

    Parameters
    ----------
    degrees : sequence of int
        To choose from.
    """

    def __init__(self, degrees: Sequence[int] = (1, 2, 3)) -> None:
        self.degrees = degrees

    def fit(self, X: NDArray, y: NDArray) -> Self:
        """Choose, then fit.

        Parameters
        ----------
        X : array of shape (n, m)
        y : array of shape (n,)
            NaN where unlabelled.

        Returns
        -------
        self
        """
        rows, degrees = np.flatnonzero(~np.isnan(y)), tuple(self.degrees)
        found = reused("few labels", lambda: (X, degrees), lambda: factorisations(X, degrees))
        model = SNF(**chosen_snf(found, y, rows), preprocessing="none", max_iter=60).fit(X, y)
        self._predicted = model.latent_decision_function(model.embedding_, head="calibrated")
        return self


class ChosenLSSVM(_Chosen):
    """Least squares support vector machine with kernel and weight by cross-validation on the labelled rows.

    Parameters
    ----------
    n_folds : int
        Folds, at most; one row each if there are fewer rows.
    """

    def __init__(self, n_folds: int = FOLDS) -> None:
        self.n_folds = n_folds

    def fit(self, X: NDArray, y: NDArray) -> Self:
        """Choose, then fit.

        Parameters
        ----------
        X : array of shape (n, m)
        y : array of shape (n,)
            NaN where unlabelled.

        Returns
        -------
        self
        """
        rows = np.flatnonzero(~np.isnan(y))
        self._predicted = chosen(ls_svms(X.shape[1]), X, y, rows, self.n_folds).fit(X, y).transduction_
        return self
