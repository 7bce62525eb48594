"""Logistic PCA: principal components of bits.

Bits have natural parameters U V + b, and their likelihood is maximised, with ridges, by the steps of SDR-GLM without
targets.

Source: A. I. Schein, L. K. Saul, L. H. Ungar, "A Generalized Linear Model for Principal Component Analysis of Binary
Data", AISTATS 2003, whose bound is the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from supdr.baselines.udr import LogisticUDR
from supdr.engine.parameters import without


@dataclass(eq=False, repr=False)
class LogisticPCA(LogisticUDR):
    """Logistic PCA of a matrix of 0 and 1; labels are then predicted by logistic regression on it.

    Parameters
    ----------
    n_components, reg_u, reg_v, solver, init, max_iter, tol, random_state, n_jobs, verbose, missing_label
        As in `_Unsupervised`.
    """

    parameters = without(LogisticUDR.parameters, "family_x", "preprocessing")

    family_x: str | Sequence[str] = field(default="bernoulli", init=False)
    preprocessing: str = field(default="none", init=False)
