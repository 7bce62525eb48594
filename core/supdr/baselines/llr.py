"""LLR: a linear factorisation whose latent rows also predict the target; SNF of degree 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from supdr.engine.docstrings import with_entries_of
from supdr.engine.parameters import of_run, subset
from supdr.methods.snf.distributed import SUPPORT
from supdr.methods.snf.estimator import SNF, BaseSNF
from supdr.rows.in_partitions import PartitionSupport


@with_entries_of(SNF)
@dataclass(eq=False, repr=False)
class LLR(BaseSNF):
    """Log-linear factorisation with squared loss: SNF with a linear kernel.

    Parameters
    ----------
    n_components : int or None, default=None
        D, latent dimension, 1 to min(n_samples - 1, 200); None is the number that `SNF` takes.
    task, class_weight, target_weight, reg_v, reg_z, reg_w, preprocessing, calibrate, extrapolate, init, max_iter, tol
        As in `SNF`.
    random_state, verbose, missing_label
        As in `SNF`.

    Notes
    -----
    Without labels only the product of reg_v and reg_z matters.

    References
    ----------
    A. K. Menon, C. Elkan, "A Log-Linear Model with Latent Features for Dyadic Prediction", 2010.
    """

    parameters = (
        *subset(
            SNF.parameters,
            *("n_components", "task", "target_weight", "reg_v", "reg_w", "reg_z", "preprocessing", "calibrate"),
            *("extrapolate", "init", "max_iter", "tol", "random_state", "verbose", "missing_label"),
        ),
        of_run("class_weight"),
    )
    partition_support: ClassVar[PartitionSupport] = SUPPORT._replace(
        accepted={name: SUPPORT.accepted[name] for name in ("init", "class_weight")}
    )

    # Hyper-parameters of SNF that are fixed here.
    kernel: str = field(default="linear", init=False)
    degree: int = field(default=1, init=False)
    gamma: float = field(default=0.5, init=False)
    coef0: float = field(default=1.0, init=False)
    solver: str = field(default="lbfgs", init=False)
    lr_reconstruction: float = field(default=1e-3, init=False)
    lr_target: float | None = field(default=None, init=False)
    init_scale: float | None = field(default=None, init=False)
    n_init: int = field(default=1, init=False)
    n_jobs: int | None = field(default=None, init=False)

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters; fitting each on a small data set compiles every kernel."""
        yield {"max_iter": 2}
