"""The range of MAC's hyper-parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import check_choice, check_choice_or_number, check_integer, check_number, numbers_in
from supdr.methods.mac.regressor import check_mapping
from supdr.solvers.left_out import FEWEST

STARTS = ("simplex", "blobs", "random", "pca")
"""First targets that have a name."""


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
        "scheme": ("ova", "ovo"),
        "latent_reference": ("loo", "train"),
        "head": ("ridge", "mix"),
        "solver": solvers,
    }
    for name, accepted in choices.items():
        check_choice(name, getattr(model, name), accepted)
    check_number("n_layers", model.n_layers, "1 or 2", lambda value: value in (1, 2))
    check_mapping(model)
    for name in ("C", "mu"):
        check_number(name, getattr(model, name), "> 0", lambda value: value > 0.0)
    check_number("mu_factor", model.mu_factor, ">= 1", lambda value: value >= 1.0)
    for name in ("inner_tol", "init_noise"):
        check_number(name, getattr(model, name), ">= 0", lambda value: value >= 0.0)
    for name in ("max_inner", "n_iter_no_change"):
        check_integer(name, getattr(model, name))
    if model.n_components is not None:
        check_integer("n_components", model.n_components)
    check_choice_or_number("reg_w", model.reg_w, ("loo",), "> 0", lambda value: value > 0.0)
    check_choice_or_number("gamma", model.gamma, ("loo", "median"), "> 0", lambda value: value > 0.0)
    by_left_out = isinstance(model.early_stopping, str) and model.early_stopping == "loo"
    if not isinstance(model.early_stopping, (bool, np.bool_)) and not by_left_out:
        raise ValueError(f"early_stopping must be 'loo', True or False; got {model.early_stopping!r}")
    if model.n_layers == 2 and n_labelled < FEWEST * n_classes:
        raise ValueError(
            f"n_layers=2 fits its second layer to left-out codes: it needs {FEWEST} labelled rows a class; y has "
            f"{n_labelled} for {n_classes} classes (n_layers=1 does with one)"
        )
    if model.solver == "fixed_point" and n_classes != 2:
        raise ValueError(f"solver='fixed_point' is for two classes; y has {n_classes}")
    _check_arrays(model, X, n_labelled, n_classes)


def _check_arrays(model: Any, X: NDArray, n_labelled: int, n_classes: int) -> None:
    if isinstance(model.centers, str):
        if model.centers not in ("kmeans", "random", "all"):
            raise ValueError(f"centers must be 'kmeans', 'random', 'all' or an array; got {model.centers!r}")
        if model.n_centers is not None:
            check_integer("n_centers", model.n_centers)
            if model.n_centers > len(X):
                raise ValueError(f"n_centers must be at most n_samples={len(X)}; got {model.n_centers}")
    else:
        centers = numbers_in("centers", model.centers)
        if centers.ndim != 2 or not len(centers) or not np.isfinite(centers).all():
            raise ValueError(f"centers must be a finite array of shape (M, D); got shape {centers.shape}")
        if model.n_layers == 2:
            raise ValueError("centers must be 'kmeans', 'random' or 'all' with n_layers=2; got an array")
    if isinstance(model.init, str):
        if model.init not in STARTS:
            raise ValueError(f"init must be one of {', '.join(STARTS)} or an array; got {model.init!r}")
        return
    if not isinstance(model.early_stopping, str) and model.early_stopping:
        raise ValueError(f"init must be one of {', '.join(STARTS)} with early_stopping=True, which holds rows back")
    init = numbers_in("init", model.init)
    wanted = (n_labelled, model._latent_dimension(n_classes))
    if init.shape != wanted or not np.isfinite(init).all():
        raise ValueError(f"init must be finite and of shape {wanted}, one row per labelled row; got {init.shape}")
