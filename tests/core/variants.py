"""Every variant of every method, with data on which it runs in no time, for tests of what all promise."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import supdr

SOLVERS = {
    "LSDR": [{"solver": "bcd"}, {"solver": "sgd"}, {"solver": "lbfgs"}, {"task": "regression"}, {"row_bias": True}],
    "NSDR": [{"solver": "bcd"}, {"solver": "sgd"}, {"solver": "lbfgs"}, {"kernel": "poly", "row_bias": True}],
    "MAC": [
        {"solver": "mac"},
        {"solver": "admm"},
        {"solver": "lbfgs"},
        {"solver": "fixed_point"},
        {"scheme": "ovo"},
        {"mapping": "linear"},
        {"n_layers": 2},
    ],
    "SDRGLM": [
        {"solver": "fast"},
        {"solver": "literal"},
        {"task": "regression"},
        {"family_y": "bernoulli", "inner": 2},
    ],
    "SLDR": [
        {"solver": "alternating"},
        {"solver": "alternating", "step_size": 1e-3},
        {"solver": "lbfgs"},
        {"solver": "joint"},
        {"kernel": "rbf"},
        {"kernel": "poly", "solver": "joint"},
        {"n_init": 2},
    ],
    "SNF": [
        {"solver": "lbfgs"},
        {"solver": "sgd"},
        {"kernel": "rbf"},
        {"kernel": "rbf", "solver": "sgd"},
        {"task": "regression"},
        {"task": "regression", "solver": "sgd"},
        {"n_init": 3},
    ],
    "ClassAtlas": [{"charts": "pca+embed"}, {"charts": "pca"}, {"charts": "embed"}, {"n_landmarks": 15}],
}
"""Constructor parameters of the variants of every method."""

ALWAYS = {
    "SNF": {"task": "classification", "n_components": 2},
    "SLDR": {"n_components": 1, "n_models": 2, "n_init": 1},
    "MAC": {"n_components": 2, "early_stopping": False},
}
"""What a method needs to classify with two latent coordinates, if that is not its default; SLDR from one start."""

PARAMETRIC = {"MAC", "SLDR", "ClassAtlas"}
"""Methods whose states hold no latent rows, only parameters: rows may change within a run."""

TWO_CLASSES = {"fixed_point"}
"""Solvers for two classes only."""

EXACT = [{"n_layers": 2}]
"""Variants whose few rows are all used: neither the seed nor a live parameter has a part in them."""

LIVE = {
    "LSDR": {"beta": 0.3, "reg_u": 0.5},
    "NSDR": {"beta": 0.3, "reg_u": 0.5, "C": 0.7},
    "MAC": {"C": 0.3, "reg_w": 0.1},
    "SDRGLM": {"recon_ratio": 1.0, "reg_u": 0.02, "gaussian_c": 0.5},
    "SLDR": {"C": 3.0, "svm_tol": 1e-4},
    "SNF": {"target_weight": 3.0, "reg_z": 0.5, "degree": 3},
    "ClassAtlas": {"lam": 3.0, "perplexity": 12.0},
}
"""Hyper-parameters that may change within a run."""

DIVERGING = {
    "LSDR": {"lr_reconstruction": 5.0, "beta": 0.9, "init": "random", "init_scale": 1.0},
    "NSDR": {"lr_reconstruction": 5.0, "beta": 0.9, "init": "random", "init_scale": 1.0},
    "SNF": {"lr_reconstruction": 5.0, "reg_v": 1e-3, "reg_z": 1e-2, "init": "random", "init_scale": 1.0},
}
"""Settings at which solver "sgd" diverges."""

RESTART = {
    "n_components": 3,
    "preprocessing": "none",
    "row_bias": True,
    "family_x": "gaussian",
    "family_y": "softmax",
    "column_weight": [2.0] * 5,
    "nonnegative": True,
    "init": "random",
    "init_scale": 0.7,
    "n_init": 4,
    "n_gating": 1,
    "n_models": 3,
    "charts": "pca",
    "n_pcs": 1,
    "n_neighbors": 3,
    "n_landmarks": 40,
    "scheme": "ovo",
    "init_noise": 0.5,
    "n_layers": 2,
    "head": "ridge",
    "views": (2, 3),
    "gating_columns": (0, 1),
    "kernel": "linear",
    "degree": 3,
    "gamma": 0.123,
    "task": "regression",
    "random_state": 99,
    "missing_label": -7,
}
"""A different value for every restart parameter that some method has."""

BASELINES = {
    "TSNE": [{"perplexity": 5.0}],
    "TwoStep": [{}],
    "MKL": [{"views": (2, 3)}],
    "LMKL": [{}],
    "SVDM": [{}],
    "LogisticUDR": [{"solver": "fast"}, {"solver": "literal"}],
    "SVMUDR": [{}],
    "LLR": [{"task": "classification"}, {"task": "regression"}],
}
"""Constructor parameters of the variants of every baseline that iterates."""

REGRESSION = [
    *(("LSDR", {"task": "regression", "solver": solver}) for solver in ("bcd", "sgd", "lbfgs")),
    *(("SDRGLM", {"task": "regression", "solver": solver}) for solver in ("fast", "literal")),
]
"""More variants of regression: its solvers, of which only one stands above."""

JOINED = [
    ("LSDR", {"row_bias": True}),
    ("MAC", {"scheme": "ovo"}),
    ("SLDR", {"solver": "alternating", "step_size": 1e-3}),
    ("SLDR", {"kernel": "poly", "solver": "joint"}),
    ("SNF", {"kernel": "rbf", "solver": "sgd"}),
    ("SNF", {"task": "regression", "solver": "sgd"}),
    ("ClassAtlas", {"charts": "pca"}),
]
"""Variants whose parts others have, in part each: run by make test-all."""


def marks_of(name, settings):
    """Return the marks of a variant."""
    return [pytest.mark.slow] if (name, settings) in JOINED else []


every_variant = pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param(
            name, settings, marks=marks_of(name, settings), id=f"{name}-{'-'.join(map(str, settings.values()))}"
        )
        for name, variants in SOLVERS.items()
        for settings in variants
    ],
)
every_method = pytest.mark.parametrize("name", list(SOLVERS))


def data(settings=None, n_rows=60):
    """Overlapping classes, every sixth row unlabelled; or, for regression, a linear target."""
    rng = np.random.default_rng(0)
    n_classes = 2 if (settings or {}).get("solver") in TWO_CLASSES else 3
    codes = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.standard_normal((n_rows, 5)) + 2.0 * np.eye(n_classes, 5)[codes]
    y = X @ rng.standard_normal(5) if (settings or {}).get("task") == "regression" else codes.astype(float)
    y[::6] = np.nan
    return X, y


def make(name, settings=None, **more):
    defaults = {"random_state": 0, "tol": -1.0, "max_iter": 20, **ALWAYS.get(name, {})}
    return {**supdr.METHODS, **supdr.BASELINES}[name](**{**defaults, **(settings or {}), **more})


def arrays_of(value, path="state"):
    """Every array in a state, however deep."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, tuple):
        for number, part in enumerate(value):
            yield from arrays_of(part, f"{path}.{getattr(value, '_fields', {number: number})[number]}")
    elif is_dataclass(value):
        for each in fields(value):
            yield from arrays_of(getattr(value, each.name), f"{path}.{each.name}")


def assert_same_state(left, right):
    for (path, first), (_, second) in zip(arrays_of(left), arrays_of(right), strict=True):
        np.testing.assert_array_equal(first, second, err_msg=path)
