"""Methods and rows that tests of weights begin with."""

import numpy as np
import pytest

import supdr

SOLVERS = {
    "LSDR": [{"solver": "bcd"}, {"solver": "lbfgs"}, {"solver": "sgd"}, {"task": "regression"}],
    "NSDR": [{"solver": "bcd"}, {"solver": "lbfgs"}, {"solver": "sgd"}],
    "MAC": [{"solver": "mac"}, {"solver": "admm"}, {"solver": "lbfgs"}, {"solver": "fixed_point"}, {"scheme": "ovo"}],
    "SDRGLM": [
        {},
        {"solver": "literal", "family_y": "bernoulli"},
        {"family_y": "bernoulli", "preprocessing": "none"},
        {"task": "regression"},
    ],
    "SNF": [
        {"task": "classification"},
        {"task": "classification", "degree": 3},
        {"task": "classification", "solver": "sgd", "lr_reconstruction": 1e-5},
        {"task": "regression"},
    ],
    "SLDR": [{"solver": "alternating"}, {"solver": "lbfgs"}, {"solver": "joint", "kernel": "rbf"}],
}
"""Variants of the methods that weigh rows."""


every_method = pytest.mark.parametrize("name", list(SOLVERS))


def data(settings=None, n_rows=60, imbalance=1):
    """Overlapping classes, the first with `imbalance` times the rows of the others; or a linear target."""
    rng = np.random.default_rng(0)
    n_classes = 2 if (settings or {}).get("solver") == "fixed_point" else 3
    codes = rng.permutation(np.maximum(np.arange(n_rows) % (n_classes + imbalance - 1) - imbalance + 1, 0))
    X = rng.standard_normal((n_rows, 5)) + 1.2 * np.eye(n_classes, 5)[codes]
    y = X @ rng.standard_normal(5) if (settings or {}).get("task") == "regression" else codes.astype(float)
    return X, y


def make(name, settings=None, **more):
    small = {
        "MAC": {"early_stopping": False, "gamma": "median", "reg_w": 1e-3, "preprocessing": "zscore"},
        "SLDR": {"n_components": 1, "n_models": 2, "n_init": 1},
        "SNF": {"task": "classification"},
    }.get(name, {})
    return supdr.METHODS[name](**{"random_state": 0, "tol": -1.0, "max_iter": 8, **small, **(settings or {}), **more})
