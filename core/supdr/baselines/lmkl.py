"""LMKL: localized multiple kernel learning, SLDR's model without reduction: linear kernels on whole views, no T.

Source: M. Gonen, E. Alpaydin, "Localized multiple kernel learning", ICML 2008.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supdr.baselines._parameters import SEEDED
from supdr.engine.checks import check_choice
from supdr.engine.common_parameters import LIMITS, SVM_TOL, SVM_WEIGHT, UNWHITENED
from supdr.engine.docstrings import with_entries_of
from supdr.engine.parameters import count, of_run, scale
from supdr.methods.sldr.estimator import SLDR, BaseSLDR


@with_entries_of(SLDR)
@dataclass(eq=False, repr=False)
class LMKL(BaseSLDR):
    """Localized multiple kernel learning: a softmax gate on the columns themselves weighs the views' linear kernels.

    The same J as `supdr.SLDR` with solver "lbfgs", minimised over V and v0.  Its latent space is the line, or space, of
    decision values.

    Parameters
    ----------
    C : float, default=1.0
        Hinge weight, > 0.
    views : None, sequence of int, or sequence of sequences of int, default=None
        Column groups, as `supdr.SLDR` takes them; None: one view seen by `n_models` local models.
    n_models : int, default=3
        P for ``views=None``.
    gating_columns : sequence of int or None, default=None
        Columns of the gate; None: all.
    preprocessing : {"zscore", "minmax", "none"}, default="zscore"
        Each view is then divided by the root of its number of columns, except with "none".
    init_scale : float, default=1.0
        Standard deviation of the starting V and v0, > 0.
    n_init : int, default=1
        Random starts; the lowest J is kept.
    max_iter : int, default=100
        Steps, >= 1.
    tol : float, default=1e-3
        Stop when J changes by no more than this share three times in a row.
    svm_tol
        As in `SLDR`.
    random_state : int, RandomState or None, default=0
        Seed of the start.  An int by default: results of a baseline are reproducible.
    verbose, missing_label
        As in `SLDR`.

    Attributes
    ----------
    gate_weights_, gate_offset_, usage_, pull_, support_, n_support_, support_fraction_, intercept_
        As in `supdr.SLDR`.
    """

    parameters = (
        SVM_WEIGHT,
        of_run("views", restart=True),
        of_run("gating_columns", restart=True),
        count(
            "n_models",
            "Local models",
            1,
            10,
            "Number of local models on data with one view.",
            symbol="P",
            main=True,
            restart=True,
        ),
        count(
            "n_init", "Starts", 1, 10, "Number of starts that run side by side. The best one is shown.", restart=True
        ),
        scale("init_scale", "Start scale", 1e-2, 10, "Standard deviation of the first gate weights.", restart=True),
        UNWHITENED,
        *LIMITS,
        SVM_TOL,
        *SEEDED,
    )

    # Hyper-parameters of SLDR that are fixed here.
    n_components: int | ArrayLike | None = field(default=1, init=False)
    n_gating: int | None = field(default=None, init=False)
    kernel: str = field(default="linear", init=False)
    degree: int = field(default=1, init=False)
    gamma: float | None = field(default=None, init=False)
    coef0: float = field(default=0.0, init=False)
    class_weight: Any = field(default=None, init=False)
    solver: str = field(default="lbfgs", init=False)
    step_size: float | Sequence[float] | None = field(default=None, init=False)
    init: str = field(default="random", init=False)
    starts: str = field(default="best", init=False)
    n_jobs: int | None = field(default=None, init=False)

    C: float = 1.0
    _: KW_ONLY
    n_models: int = 3
    n_init: int = 1
    random_state: Any = 0

    def latent_decision_function(self, latent: ArrayLike, *, head: str = "fitted") -> NDArray:
        """Return rows of `transform`, which are the decision values, unchanged.

        Parameters
        ----------
        latent : array-like of shape (n_samples, K)
            Decision values.
        head : {"fitted", "calibrated"}
            Both are the same head here.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, K)
        """
        check_choice("head", head, ("fitted", "calibrated"))
        scores = np.asarray(latent, dtype=float)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _visible(self, latent: NDArray) -> NDArray:
        return self._latent_scores(latent, False)

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters whose fits on a few rows compile every kernel."""
        yield {"max_iter": 2, "n_models": 20}
