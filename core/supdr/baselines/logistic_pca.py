"""Logistic PCA: principal components of bits.

Bits have natural parameters U V + b, and their likelihood is maximised, with ridges, by the steps of SDR-GLM without
targets.

Source: A. I. Schein, L. K. Saul, L. H. Ungar, "A Generalized Linear Model for Principal Component Analysis of Binary
Data", AISTATS 2003, whose bound is the same one.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supdr.baselines.udr import LogisticUDR
from supdr.engine.parameters import Parameter, without


class LogisticPCA(LogisticUDR):
    """Logistic PCA of a matrix of 0 and 1; labels are then predicted by logistic regression on it.

    Parameters
    ----------
    n_components, reg_u, reg_v, solver, init
        As in `supdr.SDRGLM`.
    max_iter, tol, random_state, n_jobs, verbose, missing_label
        As in `supdr.SDRGLM`.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = without(LogisticUDR.parameters, "family_x", "preprocessing")

    family_x = "bernoulli"
    preprocessing = "none"

    def __init__(
        self,
        n_components: int = 2,
        *,
        reg_u: float = 0.01,
        reg_v: float = 0.01,
        solver: str = "fast",
        init: str | ArrayLike = "svd",
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        missing_label: Any = np.nan,
    ) -> None:
        self.n_components = n_components
        self.reg_u = reg_u
        self.reg_v = reg_v
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.missing_label = missing_label
