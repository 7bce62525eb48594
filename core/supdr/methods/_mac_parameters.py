"""The range of MAC's hyper-parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_mac_parameters(model: Any, X: NDArray, n_labelled: int, n_classes: int, solvers: tuple[str, ...]) -> None:
    """Raise ValueError for a hyper-parameter of `model` that is out of range.

    Parameters
    ----------
    model : MAC
    X : array of shape (n_samples, n_features)
        Rows, not preprocessed.
    n_labelled, n_classes : int
    solvers : tuple of str
        Accepted names.
    """
    choices = {
        "mapping": ("rbf", "linear"),
        "scheme": ("ova", "ovo"),
        "n_layers": (1, 2),
        "latent_reference": ("loo", "train"),
        "head": ("ridge", "mix"),
        "solver": solvers,
    }
    for name, accepted in choices.items():
        value = getattr(model, name)
        if value not in accepted:
            raise ValueError(f"{name} must be one of {', '.join(map(str, accepted))}; got {value!r}")
    for name in ("reg_w", "C", "mu"):
        _check_number(name, getattr(model, name), 0.0, "a positive number", strict=True)
    _check_number("mu_factor", model.mu_factor, 1.0, "a number >= 1")
    for name in ("inner_tol", "init_noise"):
        _check_number(name, getattr(model, name), 0.0, "a number >= 0")
    for name in ("max_inner", "n_iter_no_change"):
        _check_integer(name, getattr(model, name), 1)
    if model.n_components is not None:
        _check_integer("n_components", model.n_components, 1)
    if isinstance(model.gamma, str):
        if model.gamma not in ("loo", "median"):
            raise ValueError(f"gamma must be 'loo', 'median' or a positive number; got {model.gamma!r}")
    else:
        _check_number("gamma", model.gamma, 0.0, "'loo', 'median' or a positive number", strict=True)
    if model.solver == "fixed_point" and n_classes != 2:
        raise ValueError(f"solver='fixed_point' is for two classes; y has {n_classes}")
    _check_arrays(model, X, n_labelled, n_classes)


def _check_arrays(model: Any, X: NDArray, n_labelled: int, n_classes: int) -> None:
    if isinstance(model.centers, str):
        if model.centers not in ("kmeans", "random", "all"):
            raise ValueError(f"centers must be 'kmeans', 'random', 'all' or an array; got {model.centers!r}")
        if model.n_centers is not None:
            _check_integer("n_centers", model.n_centers, 1)
            if model.n_centers > len(X):
                raise ValueError(f"n_centers must be at most n_samples={len(X)}; got {model.n_centers}")
    else:
        centers = np.asarray(model.centers, dtype=float)
        if centers.ndim != 2 or not len(centers) or not np.isfinite(centers).all():
            raise ValueError(f"centers must be a finite array of shape (M, D); got shape {centers.shape}")
        if model.preprocessing != "whiten" and centers.shape[1] != X.shape[1]:
            raise ValueError(f"centers must have {X.shape[1]} columns like X; got {centers.shape[1]}")
    if isinstance(model.init, str):
        if model.init not in ("simplex", "blobs", "random"):
            raise ValueError(f"init must be 'simplex', 'blobs', 'random' or an array; got {model.init!r}")
        return
    init = np.asarray(model.init, dtype=float)
    wanted = (n_labelled, model._latent_dimension(n_classes))
    if init.shape != wanted or not np.isfinite(init).all():
        raise ValueError(f"init must be finite and of shape {wanted}, one row per labelled row; got {init.shape}")


def _check_integer(name: str, value: Any, low: int) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < low:
        raise ValueError(f"{name} must be an integer of at least {low}; got {value!r}")


def _check_number(name: str, value: Any, low: float, accepted: str, strict: bool = False) -> None:
    """Raise ValueError unless value is finite and >= low (> low if strict)."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < low or (strict and value == low):
        raise ValueError(f"{name} must be {accepted}; got {value!r}")
