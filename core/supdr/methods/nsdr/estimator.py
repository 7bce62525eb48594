"""NSDR: non-linearly supervised dimensionality reduction, a matrix factorisation that feeds kernel SVMs.

    F = beta |X - Z Vt - bv|^2 + reg_u |U|^2 + reg_v |V|^2 + (1 - beta) S(Z)

    S(Z) = sum_k max over alpha_k of  sum alpha - 1/2 sum_il alpha_i alpha_l Y_i Y_l k(Z_i, Z_l)
                 subject to           0 <= alpha <= C,  alpha'Y = 0

X (N, m) data, labelled or not   Z = U (N, d) latent, or [U, bu] with row biases   V (d, m) components, Vt = [V; 1']
Y (n, K) signs of the one-vs-rest heads on the n labelled rows   k a kernel between latent rows

Source: J. Grabocka, L. Schmidt-Thieme, "Learning Through Non-linearly Supervised Dimensionality Reduction", eq. 28-40,
algorithms 2 and 3.  Errata: eq. 28 adds bu_i with weight 1, eq. 29 puts it into the inner product; here bu is one more
latent coordinate.  Eq. 35 prints -(a_i + a_l) / n^2 where the sum needs -(a_i + a_l) / (2n).  Eq. 32 has the wrong
sign.  Eq. 40 prints sign(..): what is compared is the decision value.  The claim that the alternation must converge
does not hold: see `supdr.methods.nsdr.min_max`, which also lists the errata of the algorithms.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from supdr.engine.checks import check_cells, check_start, warn_of_many_components
from supdr.engine.components import component_count
from supdr.engine.fitted import as_fitted, once_per_snapshot
from supdr.engine.parameters import Parameter
from supdr.engine.reconstruction import Factorisation
from supdr.engine.targets import Targets
from supdr.functions.kernels import Kernel
from supdr.methods.nsdr.parameters import PARAMETERS
from supdr.methods.nsdr.problem import NSDRProblem, NSDRState
from supdr.methods.nsdr.solvers import PRECISIONS, SOLVERS
from supdr.solvers.kernel_heads import KernelHead, close_gap
from supdr.solvers.linear_heads import column_spread
from supdr.solvers.reconstruction import fold_in, fold_in_derivative, reconstruct, split_missing


@dataclass(eq=False, repr=False)
class NSDR(Factorisation):
    """Non-linearly supervised dimensionality reduction.

    Every row of X is reconstructed from a few latent coordinates; a kernel support vector machine reads the class from
    the same coordinates, and both terms move them.  Rows without a label take part in the reconstruction.  More than
    two classes: one head per class, one against the rest.

    Parameters
    ----------
    n_components : int or None, default=None
        d, number of latent coordinates, >= 1.  None: half as many as there are preprocessed columns (or rows, if these
        are fewer), at most 50, but at least 2 and K - 1 for K classes.  Take 2 for a picture.
    kernel : {"rbf", "poly", "linear"}, default="rbf"
        Kernel between latent rows; the paper has "poly".
    degree : int, default=2
        Power of "poly", >= 1.
    gamma : float or None, default=None
        exp(-gamma |z - z'|^2) of "rbf", > 0.  None or "auto": 1 / n_components.
    coef0 : float, default=1.0
        Constant of "poly", >= 0.
    C : float, default=1.0
        Weight of the hinge, > 0.
    class_weight
        As in `SupervisedReducer`.
    beta : float, default=0.1
        Weight of the reconstruction, in (0, 1]; the labels weigh 1 - beta.
    reg_u, reg_v : float, default=1.0
        Ridges on the latent rows and the components, >= 0.  Their ratio sets the scale of the latent space; very
        different values make the SVMs slow.
    solver : {"bcd", "lbfgs", "sgd"}, default="bcd"
        "bcd": block descent, quick to a good objective; "lbfgs": all factors at once, goes lower, a tighter SVM solve
        per step; both never raise the objective.  "sgd": the paper's loop, which wants max_iter=300 or more.
    lr_reconstruction : float, default=1e-3
        Learning rate of "sgd" for the reconstruction, > 0.
    lr_classification : float, default=1e-4
        Learning rate of "sgd" for the label term, > 0.
    preprocessing : {"whiten", "zscore", "minmax", "none"}, default="whiten"
        Fitted inside.  "whiten" is by a covariance shrunk as Ledoit and Wolf propose; with missing cells "zscore".
    row_bias : bool, default=False
        Whether every row has a bias, as in the paper: one more latent coordinate, which no picture shows.
    calibrate : bool, default=True
        Whether `predict` uses SVMs refitted on ``transform`` of the labelled rows, with the same C and kernel, columns
        divided by their standard deviation.  Labelled rows were moved by their labels, new rows are not.
    init : {"pca", "random"} or array of shape (n_samples, n_components), default="pca"
        Starting latent rows.
    init_scale : float, default=0.1
        Standard deviation of a random start, > 0.
    early_stopping, validation_fraction, n_iter_no_change
        As in `SupervisedReducer`.
    max_iter : int, default=40
        Steps, >= 1.  A lower objective is not a lower test error: the number of steps regularises.
    tol : float, default=1e-5
        Stop when the objective changes by no more than this share.
    random_state
        As in `SupervisedReducer`.
    n_jobs : int or None, default=None
        Threads over the heads.
    verbose, missing_label
        As in `SupervisedReducer`.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        Latent rows, learnt with labels; ``transform(X)`` of the same rows differs.
    transduction_ : array of shape (n_samples,)
        Classes of all rows, unlabelled ones included, from their own latent rows.
    training_decision_ : array of shape (n_samples,) or (n_samples, n_classes)
        Scores of all training rows from their own latent rows; shaped as by ``decision_function``.
    components_ : array of shape (n_components, m)
        V, in preprocessed coordinates (m of them: after whitening, the rank of the centred rows).
    intercept_x_ : array of shape (m,)
        bv.
    support_ : int array of shape (n_support,)
        Training rows with a non-zero multiplier in some head.
    n_support_ : int array of shape (n_classes,)
        Their number in every class.
    support_fraction_ : float
        Their share of the labelled rows.
    dual_coef_ : array of shape (K, n_support)
        alpha * Y; K = 1 for two classes, else one head per class.
    intercept_ : array of shape (K,)
        Biases of the heads.
    reconstruction_ : array of shape (n_samples, n_features)
        Training rows, in the units of X, as their own latent rows reconstruct them; fills missing cells.
    label_pull_ : array of shape (n_samples,)
        max_k alpha_k / (C times the row's weight) in [0, 1]: how hard a row's label pulls; 0 where unlabelled.
    kernel_ : Kernel
        The kernel with all its parameters.
    classes_, n_features_in_, feature_names_in_, n_iter_, stop_, snapshot_
        As in `SupervisedReducer`.
    history_ : dict of str to array
        "objective" and its terms "reconstruction", "label", "regularisation"; "dual", "gap", "step_size",
        "svm_iterations", "support_fraction"; one value per step.

    Notes
    -----
    "label" is (1 - beta) times the primal value of the SVMs, an upper bound; "dual" is (1 - beta) times their dual
    value, a lower bound; "gap" the difference, which "bcd" and "lbfgs" close before they accept a step.  The kernel
    matrix of the labelled rows is held in memory: 8 n^2 bytes.

    References
    ----------
    J. Grabocka, L. Schmidt-Thieme, "Learning Through Non-linearly Supervised Dimensionality Reduction".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supdr import NSDR
    >>> X, y = load_iris(return_X_y=True)
    >>> NSDR(2, random_state=0).fit_transform(X, y).shape
    (150, 2)
    """

    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    accepts_missing_cells: ClassVar[bool] = True

    n_components: int | None = None
    _: KW_ONLY
    kernel: str = "rbf"
    degree: int = 2
    gamma: float | str | None = None
    coef0: float = 1.0
    C: float = 1.0
    class_weight: Any = None
    beta: float = 0.1
    reg_u: float = 1.0
    reg_v: float = 1.0
    solver: str = "bcd"
    lr_reconstruction: float = 1e-3
    lr_classification: float = 1e-4
    preprocessing: str = "whiten"
    row_bias: bool = False
    calibrate: bool = True
    init: str | ArrayLike = "pca"
    init_scale: float = 0.1
    early_stopping: bool = False
    validation_fraction: float = 0.2
    n_iter_no_change: int = 10
    max_iter: int = 40
    tol: float = 1e-5
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    @property
    @as_fitted
    def label_pull_(self) -> NDArray:
        """How hard each label pulls at its training row, (n,): the largest multiplier over the heads by its bound."""
        check_is_fitted(self)
        weights = self._training[1].weights[self._training[1].labelled]
        return self._over_training_rows(self._state.heads.alpha.max(axis=1) / (self.C * weights))

    # --- the hooks of the shell ---------------------------------------------------------------------------------------

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        self._kernel(1)
        check_start(self.init, ("pca", "random"), (len(X), self.n_components))
        check_cells(X)

    @staticmethod
    def _components_of(state: Any) -> int:
        return len(state.components)

    def _problem(self, X: NDArray, targets: Targets) -> NSDRProblem:
        n_components = component_count(self._component_setting, targets, X.shape, self.init)
        warn_of_many_components(n_components, X.shape[1])
        filled, observed = split_missing(X)
        return self._problem_of(
            NSDRProblem,
            X=filled,
            observed=observed,
            rows=np.flatnonzero(targets.labelled),
            signs=targets.values[targets.labelled],
            kernel=self._kernel(n_components),
            n_components=n_components,
            weights=targets.weights[targets.labelled],
            solver=SOLVERS[self.solver],
            precision=PRECISIONS.get(self.solver, NSDRProblem.precision),
        )

    def _expose(self, state: NSDRState) -> None:
        targets: Targets = self._training[1]
        support = state.heads.alpha.any(axis=1)
        self.kernel_ = self._kernel(len(state.components))
        self.components_, self.intercept_x_ = state.components, state.intercept_x
        self._expose_support(support)
        self.dual_coef_ = (state.heads.alpha[support] * targets.values[self.support_]).T
        self.intercept_ = state.heads.bias

    def _latent(self, X: NDArray) -> NDArray:
        missing, observed = np.isnan(X), None
        if missing.any():
            check_cells(X)
            X, observed = np.where(missing, 0.0, X), np.where(missing, 0.0, 1.0)
        weights = float(self.reg_u), float(self.beta)
        return fold_in(X, self.components_, self.intercept_x_, *weights, row_bias=self.row_bias, observed=observed)

    def _latent_derivative(self, X: NDArray) -> NDArray:
        _, observed = split_missing(X)
        slopes = fold_in_derivative(
            self.components_, float(self.reg_u), float(self.beta), row_bias=bool(self.row_bias), observed=observed
        )
        return np.broadcast_to(slopes[..., : len(self.components_), :], (len(X), *self.components_.shape))

    def _reconstructed(self, latent: NDArray) -> NDArray:
        return reconstruct(latent, self.components_, self.intercept_x_)

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        if calibrated:
            return self._calibrated_head().scores(latent)
        head = KernelHead(self.kernel_, self._state.latent[self.support_], self.dual_coef_.T, self.intercept_)
        return head.scores(latent)

    def _finish(self) -> None:
        if self.calibrate:
            self._calibrated_head()
        self._warn_if_few_components()
        if self.solver == "sgd":
            self._warn_if_falling("raise max_iter or the learning rates, or use solver 'bcd'")

    # --- parts --------------------------------------------------------------------------------------------------------

    def _kernel(self, n_components: int) -> Kernel:
        gamma: Any = self.gamma
        if gamma is None or (isinstance(gamma, str) and gamma == "auto"):
            gamma = 1.0 / n_components
        return Kernel(self.kernel, self.degree, gamma, self.coef0)

    @once_per_snapshot
    def _calibrated_head(self) -> KernelHead:
        """Return the SVMs refitted on what new rows will look like."""
        X, targets = self._training
        latent = self._latent(X[targets.labelled])
        scale = column_spread(latent)
        latent, signs = latent / scale, targets.values[targets.labelled]
        costs = float(self.C) * targets.weights[targets.labelled]
        heads = close_gap(self.kernel_.matrix(latent), signs, costs, n_jobs=self.n_jobs)
        if not heads.closed:
            message = f"the calibrated head (C={self.C:g}, {self.kernel_}) did not close its gap"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        support = heads.alpha.any(axis=1)
        weights = heads.alpha[support] * signs[support]
        return KernelHead(self.kernel_, latent[support], weights, heads.bias, scale)

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters whose fits on a few rows compile every kernel."""
        yield {"solver": "bcd", "max_iter": 2}
        yield {"solver": "sgd", "kernel": "poly", "row_bias": True, "max_iter": 2}
        yield {"solver": "sgd", "kernel": "rbf", "max_iter": 2}
