"""Rows and problems for tests of SLDR."""

import numpy as np
import pytest

from supdr.functions.kernels import Kernel
from supdr.methods.sldr.problem import SLDRProblem
from supdr.methods.sldr.solvers import SOLVERS

KERNELS = [Kernel("linear"), Kernel("poly", degree=2), Kernel("poly", degree=3, coef0=0.5), Kernel("rbf", gamma=0.5)]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def rows(n=48, widths=(3, 4, 2), n_classes=2, seed=0):
    """Views, gating columns and signs of overlapping classes."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % n_classes)
    views = tuple(rng.standard_normal((n, width)) + 0.8 * np.eye(n_classes, width)[codes] for width in widths)
    signs = np.where(codes[:, None] == (np.arange(n_classes) if n_classes > 2 else [1]), 1.0, -1.0)
    return views, np.hstack(views), signs


def problem(solver="joint", kernel=KERNELS[0], n_classes=2, **settings):
    views, gating, signs = rows(n_classes=n_classes)
    defaults = {"C": 2.0, "sizes": (2, 2, 1), "n_gating": 2, "svm_tol": 1e-8}
    solving = {"solver": SOLVERS[solver], "learns_projections": solver != "lbfgs"}
    return SLDRProblem(views, gating, signs, kernel, **{**defaults, **solving, **settings})


def three_views(n=150, n_classes=2, seed=0):
    views, X, signs = rows(n, n_classes=n_classes, seed=seed)
    y = (signs[:, 0] > 0).astype(float) if n_classes == 2 else signs.argmax(axis=1).astype(float)
    return X, y, tuple(view.shape[1] for view in views)
