"""LLR: a linear factorisation whose latent rows also predict the target; SNF of degree 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supdr.engine.parameters import Parameter, chosen, of_run
from supdr.methods.snf.estimator import SNF
from supdr.rows.in_partitions import PartitionSupport


class LLR(SNF):
    """Log-linear factorisation with squared loss: SNF with a linear kernel.

    Parameters
    ----------
    n_components : int or None, default=None
        D, latent dimension, 1 to min(n_samples - 1, 200); None as in `SNF`.
    task, class_weight, target_weight, reg_v, reg_w, reg_z, preprocessing, calibrate, init, max_iter, tol, \
random_state, verbose, missing_label
        As in `SNF`.  Without labels only the product of reg_v and reg_z matters.

    References
    ----------
    A. K. Menon, C. Elkan, "A Log-Linear Model with Latent Features for Dyadic Prediction", 2010.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = (
        *chosen(
            SNF.parameters,
            *("n_components", "task", "target_weight", "reg_v", "reg_w", "reg_z", "preprocessing", "calibrate"),
            *("init", "max_iter", "tol", "random_state", "verbose", "missing_label"),
        ),
        of_run("class_weight"),
    )
    partition_support: ClassVar[PartitionSupport] = SNF.partition_support._replace(
        accepted={name: SNF.partition_support.accepted[name] for name in ("init", "class_weight")}
    )

    # What SNF would ask for beyond the parameters below.
    kernel, degree, gamma, coef0 = "linear", 1, 0.5, 1.0
    solver, lr_reconstruction, lr_target = "lbfgs", 1e-3, None
    init_scale, n_init = None, 1

    def __init__(
        self,
        n_components: int | None = None,
        *,
        task: str = "regression",
        class_weight: Any = None,
        target_weight: float = 1.0,
        reg_v: float = 1.0,
        reg_w: float | None = None,
        reg_z: float = 1.0,
        preprocessing: str = "minmax",
        calibrate: bool = True,
        init: str | ArrayLike = "pca",
        max_iter: int = 100,
        tol: float = 1e-8,
        random_state: Any = None,
        verbose: int = 0,
        missing_label: Any = np.nan,
    ) -> None:
        self.n_components = n_components
        self.task = task
        self.class_weight = class_weight
        self.target_weight = target_weight
        self.reg_v = reg_v
        self.reg_w = reg_w
        self.reg_z = reg_z
        self.preprocessing = preprocessing
        self.calibrate = calibrate
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.missing_label = missing_label

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters; fitting each on a small data set compiles every kernel."""
        yield {"max_iter": 2}
