"""Class probabilities from decision scores: a softmax whose temperature is fitted on rows that were left out.

    p_k = exp(s_k / T) / sum_l exp(s_l / T),        two classes: p = 1 / (1 + exp(-s / T))

T minimises the log loss of left-out rows.  It does not change the order of the scores: the most probable class is the
predicted one.  The targets are smoothed, (n + 1) / (n + 2) for the true class and the rest shared by the others:
otherwise T would be 0 for n rows without an error.

Sources: C. Guo et al., "On calibration of modern neural networks", 2017 (the temperature); J. Platt, "Probabilistic
outputs for support vector machines", 1999 (left-out scores, smoothed targets).
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from supdr.engine.targets import Targets

FOLDS = 3

# Largest |log| of the temperature in units of the scores' spread.
WIDEST = 10.0


def class_probabilities(scores: NDArray, temperature: float) -> NDArray:
    """Return class probabilities (n, K) of scores (n, K), or (n, 1) for two classes, divided by the temperature."""
    return softmax(_one_per_class(scores) / temperature, axis=1)


def fit_temperature(scores: NDArray, codes: NDArray, weights: NDArray) -> float:
    """Return the temperature with the least log loss on scores (n, K) of left-out rows; 1 if all scores are equal."""
    scores = _one_per_class(scores)
    spread = float(np.ptp(scores, axis=1).max(initial=0.0))
    if not spread > 0.0:
        return 1.0
    n, n_classes = scores.shape
    own = np.arange(n_classes) == codes[:, None]
    targets = weights[:, None] * np.where(own, n + 1.0, 1.0 / (n_classes - 1)) / (n + 2.0)

    def log_loss(exponent: float) -> float:
        """Return the weighted sum of the losses at a temperature of spread / e^exponent."""
        return -float((targets * log_softmax(scores * (math.exp(exponent) / spread), axis=1)).sum())

    return spread / math.exp(minimize_scalar(log_loss, bounds=(-WIDEST, WIDEST), method="bounded").x)


def crossfitted_scores(estimator: Any, X: NDArray, targets: Targets, seed: int) -> tuple[NDArray, NDArray]:
    """Return the scores (p, K) of labelled rows by clones fitted without their labels, and the rows (p,)."""
    rng = np.random.default_rng([seed, FOLDS])
    part = np.full(X.shape[0], -1)
    for code in range(len(targets.classes if targets.classes is not None else ())):
        members = rng.permutation(np.flatnonzero(targets.codes == code))
        if len(members) > 1:
            part[members] = (np.arange(len(members)) + rng.integers(FOLDS)) % FOLDS
    options: dict[str, Any] = {"sample_weight": targets.weights} if estimator.accepts_weights else {}
    settings = {"random_state": seed, "class_weight": None, "missing_label": np.nan, "verbose": 0}
    parameters = estimator.get_params(deep=False)
    scores, rows = [], []
    for fold in range(FOLDS):
        hidden = np.flatnonzero(part == fold)
        if not len(hidden):
            continue
        y = targets.codes.astype(float)
        y[hidden] = np.nan
        y[~targets.labelled] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = estimator._to_be_scored().set_params(
                **{key: value for key, value in settings.items() if key in parameters}
            )
            fitted.fit(X, y, **options)
            scores.append(np.asarray(fitted.decision_function(X[hidden])).reshape(len(hidden), -1))
        rows.append(hidden)
    if not rows:
        return np.zeros((0, targets.values.shape[1])), np.zeros(0, dtype=int)
    return np.concatenate(scores), np.concatenate(rows)


def _one_per_class(scores: NDArray) -> NDArray:
    """Return scores (n, K): of two classes 0 and the score."""
    return np.column_stack([np.zeros(len(scores)), scores[:, 0]]) if scores.shape[1] == 1 else scores
