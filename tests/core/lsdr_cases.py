"""Rows that tests of LSDR begin with."""

import numpy as np


def toy(n_classes=2, n_rows=40, m=6, missing=False, regression=False):
    """Rows of which every fifth is unlabelled."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n_rows) % n_classes).astype(float)
    X = rng.standard_normal((n_rows, m)) + y[:, None] * rng.standard_normal(m)
    if regression:
        y = X @ rng.standard_normal(m) + rng.standard_normal(n_rows)
    if missing:
        hidden = rng.random(X.shape) < 0.2
        hidden[:, 0] = False
        X[hidden] = np.nan
    y[::5] = np.nan
    return X, y
