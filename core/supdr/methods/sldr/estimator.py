"""SLDR: supervised and localized dimensionality reduction from several views.

    f(x) = sum_m eta_m(x) sum_i alpha_i y_i eta_m(x_i) k(W_m'x_i^m, W_m'x^m) + b,    eta = softmax(V T'x^G + v0)

    J(V, v0, T, W) = max_alpha  sum alpha - 1/2 sum_ij alpha_i alpha_j y_i y_j sum_m eta_im eta_jm k(z_i^m, z_j^m)
                     subject to 0 <= alpha <= C, alpha'y = 0;   minimised over V, v0, T, W with W_m'W_m = 1, T'T = 1

x^m (D_m) view m   W_m (D_m, R_m) its projection   x^G (D_G) gating columns   T (D_G, R_G) theirs   V (P, R_G), v0 (P,)

Source: M. Gonen, E. Alpaydin, "Supervised and Localized Dimensionality Reduction from Multiple Feature Representations
or Kernels", eq. 1-5, algorithm 1, appendix A.  Errata: in A.2 the kernel inside the sum over h is k_h, not k_m
(`sldr.problem`); eq. 5 maximises over alpha only; eq. 4 must read eta(x | V, T); T made orthonormal without changing
V moves the gate (`sldr.solvers`).  "Small random numbers" do nothing to T and W, which are projected at once; V started
small suits several views, but gates of local models that see the same columns then start without a gradient:
`init_scale` is 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from supdr.engine.checks import check_number
from supdr.engine.column_groups import as_list
from supdr.engine.parameters import Parameter
from supdr.engine.targets import Targets
from supdr.engine.view_layout import Layout, local_dimensions, make_layout
from supdr.functions.kernels import Kernel
from supdr.methods.sldr.fitted import FittedSLDR
from supdr.methods.sldr.parameters import PARAMETERS
from supdr.methods.sldr.problem import SLDRProblem
from supdr.methods.sldr.solvers import SOLVERS
from supdr.methods.sldr.state import HeldOut

# Small steps in a row after which a candidate does not move any more.
SMALL_STEPS = {"alternating": 1, "lbfgs": 3, "joint": 3}


@dataclass(eq=False, repr=False)
class BaseSLDR(FittedSLDR):
    """`SLDR` without early stopping, which comparison methods with the same objective do not have."""

    prepared_attributes = (*FittedSLDR.prepared_attributes, "_layout", "_sizes", "_given", "_made")

    n_components: int | ArrayLike | None = None
    _: KW_ONLY
    n_gating: int | None = 2
    views: Any = None
    n_models: int = 5
    gating_columns: ArrayLike | None = None
    kernel: str = "linear"
    degree: int = 2
    gamma: float | None = None
    coef0: float = 1.0
    C: float = 10.0
    class_weight: Any = None
    solver: str = "lbfgs"
    step_size: float | Sequence[float] | None = None
    preprocessing: str = "zscore"
    init: str = "closed_form"
    init_scale: float = 1.0
    n_init: int = 5
    starts: str = "average"
    max_iter: int = 100
    tol: float = 1e-3
    svm_tol: float = 1e-3
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    # --- the hooks of the shell ---------------------------------------------------------------------------------------

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        self._constant_steps()
        self._layout = self._layout_of(X.shape[1])
        self._sizes = local_dimensions(self.n_components, self._layout.widths, targets.values.shape[1])
        self._kernel()
        self._given = targets

    def _problem(self, X: NDArray, targets: Targets) -> SLDRProblem:
        rows = np.flatnonzero(targets.labelled)
        hidden = np.flatnonzero(self._given.labelled & ~targets.labelled)
        layout, held_out = self._layout, None
        if len(hidden):
            held_out = HeldOut(
                layout.views(X[hidden]),
                layout.gating_columns(X[hidden]),
                self._given.values[hidden],
                self._given.weights[hidden],
            )
        solver = "joint" if self.solver == "lbfgs" and self.kernel != "linear" else self.solver
        self._made = self._problem_of(
            SLDRProblem,
            views=layout.views(X[rows]),
            gating=layout.gating_columns(X[rows]),
            signs=np.ascontiguousarray(targets.values[rows]),
            weights=targets.weights[rows],
            kernel=self._kernel(),
            sizes=self._sizes,
            n_gating=None if self.n_gating is None else min(int(self.n_gating), len(layout.gating)),
            solver=SOLVERS[solver],
            learns_projections=solver != "lbfgs",
            n_small_steps=SMALL_STEPS[self.solver],
            held_out=held_out,
            step_size=self._constant_steps(),
        )
        return self._made

    def _finish(self) -> None:
        failures = int(self.history_["svm_failures"].sum())
        if failures:
            smaller = "" if self.step_size is None else ", a smaller step_size"
            warnings.warn(
                f"{failures} trial steps were refused because their support vector machines did not reach "
                f"svm_tol={self.svm_tol:g}; try a smaller C, a larger svm_tol{smaller} or another kernel",
                ConvergenceWarning,
                stacklevel=5,
            )

    # --- parts --------------------------------------------------------------------------------------------------------

    def _layout_of(self, n_features: int) -> Layout:
        scaled = self.preprocessing != "none"
        return make_layout(self.views, int(self.n_models), self.gating_columns, n_features, scaled=scaled)

    def _constant_steps(self) -> tuple[float, ...] | None:
        """Return `step_size` as one number for W, one for T, one for V and v0, or None."""
        if self.step_size is None:
            return None
        accepted = "> 0, three of them (for W, for T, for V and v0), or None"
        entries = as_list(self.step_size)
        steps = [self.step_size] * 3 if entries is None else entries
        if len(steps) != 3:
            raise ValueError(f"step_size must be a number {accepted}; got {self.step_size!r}")
        for step in steps:
            check_number("step_size", step, accepted, lambda value: value > 0)
        return tuple(map(float, steps))

    def _kernel(self) -> Kernel:
        gamma = 1.0 / max(self._sizes) if self.gamma is None else self.gamma
        return Kernel(self.kernel, self.degree, gamma, self.coef0)

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters whose fits on a few rows compile every kernel."""
        yield {"solver": "alternating", "max_iter": 2}
        yield {"solver": "lbfgs", "n_models": 20, "max_iter": 2}
        yield {"solver": "joint", "kernel": "rbf", "max_iter": 2}


@dataclass(eq=False, repr=False)
class SLDR(BaseSLDR):
    """Supervised and localized dimensionality reduction: a gate chooses, row by row, which view and projection counts.

    Every view (a group of columns, or the same columns seen by several local models) has its own projection and its
    own hyperplane; a softmax gate on projected gating columns weighs them.  One support vector machine trains all.
    More than two classes share the gate and have one head each, one against the rest.

    Parameters
    ----------
    n_components : int, sequence of int, or None, default=None
        R_m, dimension of every local projection, >= 1; at most the columns of the view are used.  None: one for each
        head, since every head of the linear kernel has a direction of its own in every view, but no fewer than 2.
    n_gating : int or None, default=2
        R_G, dimension of the space the gate sees, >= 1; at most the gating columns.  P - 1 or more restricts nothing.
        None: the gate sees its columns as they are, without a projection T.
    views : None, sequence of int, or sequence of sequences of int, default=None
        One local model per view.  Integers: sizes of consecutive column groups; lists: column indices, which views may
        share.  None: one view of all columns, seen by `n_models` local models.
    n_models : int, default=5
        P for ``views=None``, >= 1.
    gating_columns : sequence of int or None, default=None
        Columns the gate sees; None: all distinct columns of the views.
    kernel : {"linear", "poly", "rbf"}, default="linear"
        Kernel between projected rows.
    degree : int, default=2
        Power of "poly", >= 1.
    gamma : float or None, default=None
        exp(-gamma |z - z'|^2) of "rbf", > 0 (the paper's 1 / s^2).  None: 1 / (largest R_m).
    coef0 : float, default=1.0
        Constant of "poly", >= 0.
    C : float, default=10.0
        Weight of the hinge, > 0.
    class_weight
        As in `SupervisedReducer`.
    solver : {"lbfgs", "alternating", "joint"}, default="lbfgs"
        "lbfgs": the gate alone by L-BFGS, projections in closed form, which the linear kernel has; with other kernels
        the same as "joint".  "alternating": the paper's Algorithm 1.  "joint": all blocks by L-BFGS.
    step_size : float, sequence of three float, or None, default=None
        Steps of "alternating", > 0: one for all, or one in W, one in T, one in V and v0.  Constant steps do not look at
        J, which may rise; the gradient grows with C.  None: line searches, by halving until J falls.
    preprocessing : {"zscore", "minmax", "none"}, default="zscore"
        Fitted inside; each view is then divided by the root of its number of columns, except with "none".
    init : {"closed_form", "random"}, default="closed_form"
        Starting projections.  "closed_form": those that are optimal for the starting gate and the linear kernel, at the
        price of one SVM on whole views; "random": the paper's, which end in poor optima far more often.  "lbfgs" with
        the linear kernel needs neither.
    init_scale : float, default=1.0
        Standard deviation of the starting V and v0, > 0.  Small values, as in the paper, suit random projections of
        several views; local models of the same columns whose gates start equal have no gradient to part by.
    n_init : int, default=5
        Random starts, >= 1, advanced together.  The best is shown: by J or, with early stopping, by the held-out rows.
    starts : {"average", "best"}, default="average"
        Whose scores decide.  "average": the mean of the scores of all starts, which end in different optima and err on
        different rows.  "best": those of the start that is shown.  Latent rows, gate, projections, support vectors and
        losses are those of the start that is shown, either way.
    max_iter : int, default=100
        Steps, >= 1: outer iterations of "alternating", accepted steps of the others.
    tol : float, default=1e-3
        Stop when J changes by no more than this share: once for "alternating", three times in a row for the others.
    svm_tol : float, default=1e-3
        Tolerance of the support vector machines, in [1e-8, 0.1].
    random_state, n_jobs, verbose, missing_label
        As in `SupervisedReducer`.
    early_stopping : bool, default=False
        Whether to hide `validation_fraction` of the labels and keep the iterate with the least error on them, ties
        broken by the hinge; the same decides which start is shown.
    validation_fraction, n_iter_no_change
        As in `SupervisedReducer`.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, sum of R_m)
        [eta_m * Z_m] of the training rows; equal to ``transform`` of them.
    transduction_ : array of shape (n_samples,)
        Classes of all training rows, unlabelled ones included; equal to ``predict`` of them.
    training_decision_ : array of shape (n_samples,) or (n_samples, n_classes)
        Their scores; equal to ``decision_function`` of them.
    projections_ : tuple of arrays of shape (D_m, R_m)
        W_m, orthonormal columns, on preprocessed columns.
    gate_projection_ : array of shape (D_G, R_G) or None
        T, orthonormal columns; None with ``n_gating=None``, and R_G is D_G.
    gate_weights_, gate_offset_ : arrays of shape (P, R_G) and (P,)
        V and v0.
    gate_, gating_embedding_, local_embedding_ : arrays
        ``gate``, ``gating_transform`` and ``local_transform`` of the training rows.
    usage_ : array of shape (P,)
        Share of the training rows in which each local model has the largest gate.
    pull_ : array of shape (P,)
        |w_m|, lengths of the local hyperplanes (|g_m| where W_m is in closed form); 0: the view has no direction.
    coef_ : array of shape (K, sum of R_m)
        w_m stacked, linear kernel only; K = 1 for two classes.
    intercept_ : array of shape (K,)
        Biases.  ``transform(X) @ coef_.T + intercept_`` are the scores of the start that is shown.
    support_, n_support_, dual_coef_ : arrays
        Rows with a non-zero multiplier in some head, their number per class, and alpha * y (K, n_support).
    support_fraction_ : float
        Their share of the labelled rows, as the solver found them.
    support_fraction_min_ : float
        Share that the same model needs at least (multipliers of a low-rank kernel are not unique); nan unless the
        kernel is linear.  Never to be compared with `support_fraction_` of another method.
    label_pull_ : array of shape (n_samples,)
        max_k alpha_k / (C times the row's weight) in [0, 1]: how hard a row's label pulls; 0 where unlabelled.
    kernel_ : Kernel
        The kernel with all its parameters.
    classes_, n_features_in_, feature_names_in_, n_iter_, stop_, snapshot_
        As in `SupervisedReducer`.
    history_ : dict of str to array
        "objective" = J and its terms "regularisation" (1/2 sum |w_m|^2) and "label" (C times the slacks); "dual",
        "gap", "step_size", "svm_iterations", "svm_failures" (trial steps refused for an unsolved SVM); of the last
        step only, nan before: "support_fraction", "support_fraction_min", "bounded_fraction", and "usage_m", "pull_m"
        of every local model m = 1..P.

    Notes
    -----
    A lower J is not a lower test error: average the starts, or select by held-out rows (`early_stopping`, or a search
    over C).  With the linear kernel n_components does not restrict "lbfgs" on two classes: one direction per view is
    enough, the other columns of W_m are for the eye.  With more heads than n_components its predictions use all heads'
    directions, ``transform`` and ``projections_`` show the leading ones; "alternating" is restricted to n_components.
    The paper's method is ``SLDR(2, n_gating=10, solver="alternating", starts="best", n_init=1, init="random",
    init_scale=0.01)``; the paper says "small" and gives no number.

    References
    ----------
    M. Gonen, E. Alpaydin, "Supervised and Localized Dimensionality Reduction from Multiple Feature Representations or
    Kernels"; single view: "Localized algorithms for multiple kernel learning", Neurocomputing 73 (2010).

    Examples
    --------
    >>> from supdr import SLDR
    >>> from supdr.datasets import make_zigzag
    >>> X, y = make_zigzag(random_state=0).to_xy()
    >>> SLDR(n_components=1, random_state=0).fit_transform(X, y).shape
    (600, 5)
    """

    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS

    _: KW_ONLY
    early_stopping: bool = False
    validation_fraction: float = 0.2
    n_iter_no_change: int = 10
