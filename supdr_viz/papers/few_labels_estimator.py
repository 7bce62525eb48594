"""The comparison with few labels as estimators, for sweeps: see `supdr_viz.papers.few_labels`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from supdr import SNF
from supdr.engine.reuse import cached
from supdr.functions.kernels import Kernel
from supdr.solvers.kernel_ridge import regression
from supdr_viz.papers.few_labels import PLAIN, folds, predictions, result_of

RIDGES = (0.1, 1.0, 10.0)
# Ridges to choose from, in the units of eq. 5: of X and the latent rows, and of the target.
TARGET_RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)

# Latent coordinates to choose from, as shares of the number of columns: the paper's.
SHARES = (0.5, 0.75)

DECADES = tuple(10.0**k for k in range(-6, 2))
RATES = tuple(10.0**k for k in range(-5, 0))
# The paper's grid: three ridges, eta_X and eta_Y, the degree; with `SHARES` 102,400 settings.
DEGREES = (1, 2, 3, 4)


# SNF in the coordinates of the data, predicting by eq. 12.
EXACT: dict[str, Any] = {"calibrate": False, "random_state": 0, **PLAIN}


class _Transductive(RegressorMixin, BaseEstimator):
    """Predicts its training rows."""

    _predicted: NDArray

    @property
    def transduction_(self) -> NDArray:
        """Predictions of all training rows, (n,)."""
        return self._predicted

    def fit(self, X: NDArray, y: NDArray) -> Self:
        """Choose settings, where there is a choice, then fit.

        `X` (n, m); `y` (n,): NaN where unlabelled.
        """
        self._predicted = self._predict_all(X, np.asarray(y, dtype=float))
        return self

    def _predict_all(self, X: NDArray, y: NDArray) -> NDArray:
        raise NotImplementedError


class Chosen(_Transductive):
    """A method as the comparison takes it, some with settings chosen on the labelled rows.

    `method`: of `supdr_viz.papers.few_labels.CORE` and `GRAPHS`.
    """

    def __init__(self, method: str = "SNF") -> None:
        self.method = method

    def _predict_all(self, X: NDArray, y: NDArray) -> NDArray:
        return result_of(predictions(self.method, X, y))


class Searched(_Transductive):
    """SNF with settings found by random search and cross-validation over the labelled rows, solved by L-BFGS.

    While settings are compared the target has no weight: one fit serves all draws, folds and ridges on the target.  The
    chosen ones are fitted anew with a weight of 1, and eq. 12 predicts.

    `degrees`: of the kernel; (1,) makes it LLR. `n_settings`: settings of degree, dimension and two ridges, each tried
    with five ridges on the target.
    """

    def __init__(self, degrees: tuple[int, ...] = DEGREES, n_settings: int = 16) -> None:
        self.degrees = degrees
        self.n_settings = n_settings

    def _predict_all(self, X: NDArray, y: NDArray) -> NDArray:
        best, lowest = {}, np.inf
        for settings, Z in zip(self.settings(X.shape[1]), _latents(X, self.degrees, self.n_settings)):
            for reg_w in TARGET_RIDGES:
                error = _validated(Z, y, settings["degree"], reg_w)
                if error < lowest:
                    best, lowest = {**settings, "reg_w": reg_w}, error
        return SNF(**best, **EXACT).fit(X, y).transduction_

    def settings(self, n_columns: int) -> Iterator[dict[str, Any]]:
        """Yield parameters of `SNF`, without the ridge on the target."""
        rng = np.random.default_rng(0)
        for _ in range(self.n_settings):
            yield {
                "degree": int(rng.choice(self.degrees)),
                "n_components": max(1, round(float(rng.choice(SHARES)) * n_columns)),
                "reg_v": float(rng.choice(RIDGES)),
                "reg_z": float(rng.choice(RIDGES)),
            }


@cached
def _latents(X: NDArray, degrees: tuple[int, ...], n_settings: int) -> tuple[NDArray, ...]:
    """Return the latent rows of every setting of `Searched`; with a target weight of 0 labels have no part in them."""
    y = np.full(len(X), np.nan)
    y[0] = 0.0  # fit refuses a target without any label
    return tuple(
        SNF(**settings, **EXACT, target_weight=0.0, max_iter=60).fit(X, y).embedding_.copy()
        for settings in Searched(degrees, n_settings).settings(X.shape[1])
    )


def _validated(Z: NDArray, y: NDArray, degree: int, reg_w: float) -> float:
    """Return the sum of squared errors of eq. 12 on labelled rows that are left out, fold by fold."""
    error, kernel = 0.0, Kernel("poly", degree)
    for train, test in folds(y):
        form = regression(kernel, reg_w, Z.shape[1], len(train))
        fit, _ = form.solve(Z[train], y[train, None])
        error += float(((form.predict(fit, Z[train], Z[test])[:, 0] - y[test]) ** 2).sum())
    return error


# Ranges of eta_X / lambda_V, of reg_z and of the target's weight in which `Loop` draws. Most other settings of the grid
# stand still or diverge.
STEP, RIDGE, WEIGHT = (5e-5, 5e-3), (1e-2, 10.0), (0.1, 100.0)


class Loop(_Transductive):
    """SNF by Algorithm 1 from a random start, with one setting drawn from the paper's grid.

    `setting`: number of the draw: of the settings of the grid those in `STEP`, `RIDGE` and `WEIGHT`.
    """

    def __init__(self, setting: int = 0, epochs: int = 1000) -> None:
        self.setting = setting
        self.epochs = epochs

    def _predict_all(self, X: NDArray, y: NDArray) -> NDArray:
        settings = {**self.settings(*X.shape), **EXACT, "solver": "sgd", "init": "random"}
        model = SNF(**settings, max_iter=self.epochs, tol=0.0)
        return model.fit(X, y).transduction_

    def settings(self, n: int, M: int) -> dict[str, Any]:
        """Return the parameters of `SNF` for n rows of M columns."""
        rng = np.random.default_rng(self.setting)
        while True:
            reg_v, reg_w, decay = (float(value) for value in rng.choice(DECADES, 3))
            rate, target_rate = (float(value) for value in rng.choice(RATES, 2))
            reg_z, weight = decay * reg_v * M * n, target_rate * M * reg_v / (rate * reg_w)
            ranges = zip((rate / reg_v, reg_z, weight), (STEP, RIDGE, WEIGHT))
            if all(low <= value <= high for value, (low, high) in ranges):
                break
        return {
            "n_components": max(1, round(float(rng.choice(SHARES)) * M)),
            "degree": int(rng.choice(DEGREES)),
            "reg_v": reg_v,
            "reg_w": reg_w,
            "reg_z": reg_z,
            "lr_reconstruction": rate,
            "lr_target": target_rate,
        }
