"""Rows and problems that tests of the class atlas begin with."""

import numpy as np

from supdr.methods.class_atlas.solvers import GatePath


def classes_of(n_rows=90, n_classes=3, n_columns=5, spread=2.0, seed=0):
    """Overlapping classes; rows of each lie along a direction of their own."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.standard_normal((n_rows, n_columns)) + spread * rng.standard_normal((n_classes, n_columns))[codes]
    return X, codes


def problem(X, codes, **settings):
    return GatePath(np.ascontiguousarray(X), codes, int(codes.max()) + 1, settings.pop("n_components", 2), **settings)
