"""Elastic Net with the interface of the library, to compare with the regressions of SDR-GLM and SNF."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import ElasticNet as Model
from sklearn.linear_model import ElasticNetCV

from supdr.baselines._parameters import SHELL
from supdr.baselines.one_shot import SingleTarget, given_rows
from supdr.engine.common_parameters import EXTRAPOLATE
from supdr.engine.parameters import POSITIVE, POSITIVE_SHARE, scale, share
from supdr.engine.targets import Targets

LARGEST_MAX_ITER = 10_000
FOLDS = 5


@dataclass(eq=False, repr=False)
class ElasticNet(SingleTarget):
    """Linear regression with the penalty alpha (l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|^2), by scikit-learn.

    It learns no latent space: `transform` returns the prediction.

    Parameters
    ----------
    alpha : float or "cv", default="cv"
        Weight of the penalty on a target of unit deviation, > 0; "cv" chooses it by cross-validation in 5 folds.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    l1_ratio : float, default=0.5
        Share of the l1 penalty, in (0, 1].
    extrapolate : bool, default=False
        Whether new rows are used as they are.  False: cells that lie further outside of the training rows' range than a
        quarter of it are clipped there, and `predict` warns.
    """

    prepared_attributes = (*SingleTarget.prepared_attributes, "_centre", "_deviation")
    accepts_sparse: ClassVar[bool] = True
    parameters = (
        scale(
            "alpha",
            "Penalty",
            1e-4,
            10,
            "Weight of the penalty. Auto picks it by cross-validation.",
            symbol="α",
            main=True,
            accepts=("cv", POSITIVE),
        ),
        share(
            "l1_ratio",
            "Share of ℓ1",
            0.05,
            1,
            0.05,
            "Share of the ℓ1 penalty. Larger values keep fewer columns.",
            main=True,
            accepts=(POSITIVE_SHARE,),
        ),
        EXTRAPOLATE,
        *SHELL,
    )

    alpha: float | str = "cv"
    _: KW_ONLY
    l1_ratio: float = 0.5
    extrapolate: bool = False

    def _learn(self, X: NDArray, rows: NDArray, targets: Targets) -> tuple[Any, float, dict[str, float]]:
        y = targets.values[rows, 0]
        self._centre, deviation = float(y.mean()), float(y.std())
        self._deviation = deviation if deviation > 0.0 else 1.0
        scaled = (y - self._centre) / self._deviation
        alpha: Any = self.alpha
        if alpha == "cv" and (deviation == 0.0 or len(rows) < FOLDS):
            alpha = 1.0
        if alpha == "cv":
            model = ElasticNetCV(l1_ratio=self.l1_ratio, cv=FOLDS, max_iter=LARGEST_MAX_ITER)
        else:
            model = Model(alpha=alpha, l1_ratio=self.l1_ratio, max_iter=LARGEST_MAX_ITER)
        labelled = given_rows(X[rows], X)
        model.fit(labelled, scaled)
        error = float(np.mean((model.predict(labelled) - scaled) ** 2))
        return model, error, {"active_columns": float(np.count_nonzero(model.coef_))}

    def _latent(self, X: NDArray) -> NDArray:
        return (self.model_.predict(given_rows(X, self._training[0])) * self._deviation + self._centre)[:, None]

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        return latent
