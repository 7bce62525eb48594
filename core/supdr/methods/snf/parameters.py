"""SNF's hyper-parameters, and what they allow beside the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine import common_parameters as shared
from supdr.engine.checks import check_choice, numbers_in
from supdr.engine.parameters import POSITIVE, TASK, Whole, choice, count, scale
from supdr.engine.targets import Targets

MOST_COMPONENTS, HIGHEST_DEGREE, MOST_STARTS = 200, 6, 10

# Default for many columns: beyond this, monomials of degree 2 (495 of 30 coordinates) take long.
ENOUGH_COMPONENTS = 30

# Most rows of a fit that needs kernel matrices (three of them, 8 n^2 bytes each).
MOST_DUAL_ROWS = 10_000


PARAMETERS = (
    replace(shared.PLANE, symbol="D"),
    replace(shared.KERNEL, help="Kernel between latent rows."),
    replace(
        shared.DEGREE, high=HIGHEST_DEGREE, symbol="d", shown_when=shared.POLY, accepts=(Whole(1, HIGHEST_DEGREE),)
    ),
    replace(shared.GAMMA, shown_when=shared.RBF),
    scale(
        "target_weight",
        "Target weight",
        1e-3,
        1e3,
        "Weight of the labels relative to X.",
        symbol="μ",
        zero=True,
        main=True,
    ),
    scale(
        "reg_v",
        "Ridge on reconstruction",
        1e-3,
        1e2,
        "Ridge penalty on the regression of X on latent rows.",
        symbol="λ_V",
        main=True,
    ),
    scale("reg_z", "Ridge on latent rows", 1e-3, 1e2, "Keeps the latent rows small.", symbol="λ_Z", main=True),
    scale(
        "reg_w",
        "Ridge on prediction",
        1e-3,
        1e2,
        "Ridge penalty on the regression of the target on latent rows.",
        symbol="λ_W",
        main=True,
        accepts=(POSITIVE, None),
    ),
    choice("solver", "Solver", ("lbfgs", "L-BFGS"), ("sgd", "SGD (the paper's)"), help=shared.SOLVER.help),
    replace(shared.COEF0, shown_when=shared.POLY),
    replace(shared.CLASS_WEIGHT, shown_when={TASK: ("classification",)}),
    count(
        "n_init",
        "Starts",
        1,
        MOST_STARTS,
        "Number of starts. The run continues from the most promising one.",
        accepts=(Whole(1, MOST_STARTS),),
        restart=True,
    ),
    shared.PREPROCESSING,
    shared.CALIBRATE,
    shared.EXTRAPOLATE,
    shared.INIT,
    replace(shared.INIT_SCALE, accepts=(POSITIVE, None)),
    replace(shared.LR_RECONSTRUCTION, help="Step size of stochastic gradient descent on X.", symbol="η_X"),
    replace(
        shared.LR_CLASSIFICATION,
        name="lr_target",
        label="Step, target",
        help="Step size of stochastic gradient descent on the target. Auto follows the target weight.",
        symbol="η_Y",
        accepts=(POSITIVE, None),
    ),
    *shared.RUN,
    shared.TASK_KIND,
    *shared.HOUSEKEEPING,
)


def check_settings(estimator: Any, n_rows: int, n_columns: int) -> None:
    """Raise ValueError for a hyper-parameter of an `SNF` that is out of range for data of this size."""
    if n_rows < 3:
        raise ValueError(f"X must have at least 3 rows (n_samples = {n_rows})")
    most = min(n_rows - 1, MOST_COMPONENTS)
    if estimator.n_components is not None and estimator.n_components > most:
        raise ValueError(f"n_components must be at most {most} (n_samples = {n_rows}); got {estimator.n_components!r}")
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
