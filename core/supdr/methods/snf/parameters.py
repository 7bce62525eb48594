"""The range of SNF's hyper-parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import check_choice, check_integer, check_number, numbers_in
from supdr.engine.targets import Targets

MOST_COMPONENTS, HIGHEST_DEGREE, MOST_STARTS = 200, 6, 10

ENOUGH_COMPONENTS = 30
"""Where nobody says how many: beyond this, monomials of degree 2 (495 of 30 coordinates) get dear."""

MOST_DUAL_ROWS = 10_000
"""Most rows of a fit that needs kernel matrices (three of them, 8 n^2 bytes each)."""


def check_settings(estimator: Any, n_rows: int, n_columns: int) -> None:
    """Raise ValueError for a hyper-parameter of an `SNF` that is out of range for data of this size."""
    if n_rows < 3:
        raise ValueError(f"X must have at least 3 rows (n_samples = {n_rows})")
    highest = {
        "n_components": min(n_rows - 1, MOST_COMPONENTS),
        "degree": HIGHEST_DEGREE,
        "n_init": MOST_STARTS,
    }
    for name, most in highest.items():
        value = getattr(estimator, name)
        if name == "n_components" and value is None:
            continue
        check_integer(name, value)
        if value > most:
            raise ValueError(f"{name} must be at most {most} (n_samples = {n_rows}); got {value!r}")
    if hasattr(estimator, "n_iter_no_change"):  # what stands on SNF without early stopping has none
        check_integer("n_iter_no_change", estimator.n_iter_no_change)
    for name in ("reg_v", "reg_z", "lr_reconstruction"):
        check_number(name, getattr(estimator, name), "> 0", lambda value: value > 0.0)
    for name in ("reg_w", "lr_target", "init_scale"):
        if getattr(estimator, name) is not None:
            check_number(name, getattr(estimator, name), "> 0, or None", lambda value: value > 0.0)
    check_number("target_weight", estimator.target_weight, ">= 0", lambda value: value >= 0.0)
    decay = estimator.lr_reconstruction * estimator.reg_z / (estimator.reg_v * n_columns * n_rows)
    if estimator.solver == "sgd" and decay >= 1.0:
        raise ValueError(
            "lr_reconstruction * reg_z / (reg_v * n_samples * n_features) must be below 1 with solver 'sgd': it is the "
            f"share of a latent row that decays with every pair; got {decay:g}"
        )
    initial_rows(estimator, n_rows)


def component_count(estimator: Any, targets: Targets, shape: tuple[int, int]) -> int:
    """Return the number of latent coordinates; what None stands for is said in the docstring of `SNF`."""
    if estimator.n_components is not None:
        return int(estimator.n_components)
    if not isinstance(estimator.init, str):
        return np.asarray(estimator.init).shape[1]
    n_rows, n_columns = shape
    others = targets.values.shape[1] if targets.classes is None else len(targets.classes) - 1
    return min(max(min(n_columns, ENOUGH_COMPONENTS), others), n_rows - 1, MOST_COMPONENTS)


def initial_rows(estimator: Any, n_rows: int) -> str | NDArray:
    """Return the parameter `init`, checked: a name, or a copy of an array of shape (n_rows, n_components)."""
    if isinstance(estimator.init, str):
        check_choice("init", estimator.init, ("pca", "random"))
        return estimator.init
    rows = numbers_in("init", estimator.init)
    columns = rows.shape[-1] if estimator.n_components is None and rows.ndim == 2 else estimator.n_components
    shape = (n_rows, columns)
    if rows.shape != shape or not np.isfinite(rows).all():
        raise ValueError(f"init must be 'pca', 'random' or a finite array of shape {shape}; got shape {rows.shape}")
    if not rows.any():
        raise ValueError("init must not be all 0: the gradient vanishes there and no step is possible")
    return rows


def check_matrices(estimator: Any, needed: bool, n_rows: int) -> None:
    """Raise ValueError if kernel matrices of all rows are needed and there are too many rows."""
    if needed and n_rows > MOST_DUAL_ROWS:
        raise ValueError(
            f"X has {n_rows} rows; kernel matrices are accepted up to {MOST_DUAL_ROWS} rows, and {estimator._kernel()} "
            f"with n_components={estimator.n_components}, solver={estimator.solver!r} needs one: take solver 'lbfgs' "
            "and a polynomial kernel of lower degree"
        )
