"""Which row's label would teach a classifier most: the one that it is least sure of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.data.split import Split

# Most rows whose scores are compared: a click is answered at once.
MAX_ASKED = 2000


def least_certain_rows(fitted: Any, split: Split, shown: NDArray | None = None) -> tuple[NDArray, NDArray]:
    """Order training rows by the margin between their two best classes, the smallest first.

    Rows without a label come alone where there are any; else those with one: their labels may be wrong.

    `fitted`: fitted to `split`; `shown`: the rows that are drawn, training rows first: others have no
    place on display. Returns `places` (k,): of training rows; of very many, an even choice; `likely` (k, 2): codes of
    the best class and of the second.
    """
    rows_shown = np.arange(len(split.y_train)) if shown is None else np.sort(shown[shown < len(split.y_train)])
    unlabelled = rows_shown[np.isnan(split.y_train[rows_shown])]
    candidates = unlabelled if len(unlabelled) else rows_shown
    if len(candidates) > MAX_ASKED:
        candidates = candidates[np.linspace(0, len(candidates) - 1, MAX_ASKED).astype(int)]
    scores = np.asarray(fitted.decision_function(split.X_train[candidates]), dtype=float)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    best = np.argsort(-scores, axis=1, kind="stable")[:, :2]
    rows = np.arange(len(scores))
    margin = scores[rows, best[:, 0]] - scores[rows, best[:, 1]]
    order = np.argsort(margin, kind="stable")
    return candidates[order], fitted.classes_[best[order]].astype(int)
