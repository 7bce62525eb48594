"""A gate, joined with a second one that sees symmetric columns, where that lowers the left-out log loss.

p proportional to sqrt(p_1(x) p_2(v(x))),   v: see `symmetric`

Both count alike.  A share that is chosen lets the second one replace the first, and follows the chances of few rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supdr.methods.class_atlas.discriminants import ROWS_A_COLUMN
from supdr.methods.class_atlas.gate import SEARCH_ROWS, Evened, Gate, fit_gate
from supdr.methods.class_atlas.landmarks import stratified_rows
from supdr.methods.class_atlas.opinions import best_share, log_loss
from supdr.methods.class_atlas.symmetric import fit_symmetric

Array = NDArray[np.float64]

ALIKE = (0.5,)


def fit_two_gates(X: Array, codes: NDArray, n_classes: int, n_landmarks: int, seed: int) -> tuple[Gate, Array]:
    """Fit the gate to labelled rows, and a second one if it helps: twice the cost of one, if it does.

    None is tried where rows are few for their columns, and where there is little left to win: a log loss of D / n.
    Powers are chosen on at most `SEARCH_ROWS` rows.  Of more rows, a second gate on so few must help the first one, of
    all rows, before it is fitted to all.

    Parameters
    ----------
    X : array of shape (n, D)
        Labelled rows.
    codes : int array of shape (n,)
        Their classes.
    n_classes : int
        K.
    n_landmarks : int
        Most centres of the Gaussians of each.
    seed : int
        Decides subsets and folds.

    Returns
    -------
    gate : Gate
    proba : array of shape (n, K)
        Probabilities of these rows, in which their own labels have no part.
    """
    gate, proba = fit_gate(X, codes, n_classes, n_landmarks, seed)
    few = stratified_rows(codes, SEARCH_ROWS, np.random.default_rng([seed, 1]))
    if n_classes == 1 or len(few) < ROWS_A_COLUMN * X.shape[1] or log_loss(proba, codes) <= X.shape[1] / len(few):
        return gate, proba
    columns = fit_symmetric(X[few])
    if (columns.power == 1.0).all():
        return gate, proba
    other, second = fit_gate(columns.apply(X[few]), codes[few], n_classes, n_landmarks, seed)
    joined = best_share(proba[few], np.log(second), codes[few], ALIKE)
    if len(few) < len(X) and joined.share < 1.0:
        other, second = fit_gate(columns.apply(X), codes, n_classes, n_landmarks, seed)
        joined = best_share(proba, np.log(second), codes, ALIKE)
    if joined.share == 1.0:
        return gate, proba
    return gate._replace(evened=Evened(columns, other)), joined.proba
