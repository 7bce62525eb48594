"""SNF: supervised nonlinear factorisation, latent rows from which all columns and the target are regressions.

    F(Z) = sum_j P_j(Z) + mu P_y(Z) + reg_z |Z|^2

    P_j = min over v, b of |X_j - psi(Z) v - b|^2 + reg_v |v|^2     (all n rows)
    P_y = min over w, b of |y - psi(Z_L) w - b|^2 + reg_w |w|^2     (the N labelled rows L; several targets add up;
                                                                     with weights of rows, a weighted sum of squares)

X (n, M) data   Z (n, D) latent   psi the features of a polynomial or Gaussian kernel   mu = `target_weight`

With S = reg_v a a' + mu reg_w o o' (a, o: dual weights; the second part on labelled rows) the gradient is
-2 (S o K') Z + 2 reg_z Z for the polynomial kernel, K'_il = degree (z_i.z_l + coef0)^(degree - 1).
Z = 0 is always stationary there.

Source: J. Grabocka, E. Bedalli, L. Schmidt-Thieme, "Supervised Nonlinear Factorizations Excel In Semi-supervised
Regression", eq. 1-13, algorithm 1.  Errata are noted where the corrected formulas stand:
`supdr.solvers.kernel_ridge` (eq. 6-11), `supdr.methods.snf.solvers` (eq. 13, algorithm 1).  Eq. 4 prints p(V_i,j) where
the column V_:,j is meant.  The variances below eq. 4 do not drop out: their ratio is mu, which the paper hides in its
two learning rates.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from supdr.engine.checks import check_cells, warn_of_many_components
from supdr.engine.diagnostics import Diagnostics
from supdr.engine.estimator import SharedFit
from supdr.engine.iterate import Snapshot, Stop
from supdr.engine.parameters import Parameter
from supdr.engine.preprocessing import fit_preprocessing
from supdr.engine.reuse import reused
from supdr.engine.targets import Targets
from supdr.methods.snf.distributed import SUPPORT, DistributedSNF
from supdr.methods.snf.fitted import FittedSNF
from supdr.methods.snf.parameters import PARAMETERS, check_matrices, check_settings, component_count, initial_rows
from supdr.methods.snf.problem import SNFProblem
from supdr.methods.snf.solvers import SOLVERS
from supdr.rows.in_partitions import PartitionSupport
from supdr.solvers.kernel_ridge import Dual
from supdr.solvers.reconstruction import split_missing

# Latent rows that explain a smaller share of X than this count as collapsed.
LEAST_EXPLAINED = 1e-3


@dataclass(eq=False, repr=False)
class BaseSNF(FittedSNF):
    """`SNF` without early stopping, which comparison methods with the same objective do not have."""

    partition_support: ClassVar[PartitionSupport] = SUPPORT
    takes_several_targets: ClassVar[bool] = True
    accepts_missing_cells: ClassVar[bool] = True
    prepared_attributes = (
        *FittedSNF.prepared_attributes,
        "_labelled",
        "_weights",
        "_targets",
        "_target_map",
        "_on_all",
        "_on_labelled",
    )

    n_components: int | None = None
    _: KW_ONLY
    task: str = "regression"
    class_weight: Any = None
    kernel: str = "poly"
    degree: int = 2
    gamma: float = 0.5
    coef0: float = 1.0
    target_weight: float = 1.0
    reg_v: float = 1.0
    reg_z: float = 1.0
    reg_w: float | None = None
    solver: str = "lbfgs"
    lr_reconstruction: float = 1e-3
    lr_target: float | None = None
    preprocessing: str = "minmax"
    calibrate: bool = True
    extrapolate: bool = False
    init: str | ArrayLike = "pca"
    init_scale: float | None = None
    n_init: int = 1
    max_iter: int = 100
    tol: float = 1e-8
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    # --- the hooks of the shell ---------------------------------------------------------------------------------------

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        self._kernel()
        check_settings(self, *X.shape)
        check_cells(X)

    def _problem(self, X: NDArray, targets: Targets) -> SNFProblem:
        if self.n_components is not None:
            warn_of_many_components(self.n_components, X.shape[1])
        n_components = component_count(self, targets, X.shape)
        filled, observed = split_missing(X)
        self._labelled = np.flatnonzero(targets.labelled)
        weights = targets.weights[self._labelled]
        self._weights = None if (weights == 1.0).all() else weights
        Y = np.ascontiguousarray(targets.values[self._labelled])
        if self._partitioned:
            self._target_map = self.partitions_.target_map
        else:
            self._target_map = fit_preprocessing(Y, self._target_scaling(targets))
        self._targets = self._target_map.transform(Y)
        scale = {"random": 0.01}.get(str(self.init), 1.0 if self.kernel == "rbf" else 0.5)
        problem = self._problem_of(
            SNFProblem,
            distributed=DistributedSNF,
            X=filled,
            missing=np.empty(0, np.int64) if observed is None else np.flatnonzero(observed == 0.0),
            rows=self._labelled,
            Y=self._targets,
            weights=self._weights,
            kernel=self._kernel(),
            n_components=n_components,
            target_weight=self._target_weight(X.shape[1]),
            reg_w=self._target_ridge(),
            init=initial_rows(self, len(X)),
            init_scale=scale if self.init_scale is None else float(self.init_scale),
            solver=SOLVERS[self.solver],
        )
        self._on_all, self._on_labelled = problem.on_all, problem.on_labelled
        check_matrices(self, isinstance(self._on_all, Dual) or self.solver == "sgd", len(X))
        return problem

    def _target_weight(self, n_columns: int) -> float:
        """Return the weight of the target; with solver "sgd", `lr_target` sets it."""
        if self.solver != "sgd" or self.lr_target is None:
            return float(self.target_weight)
        return float(self.lr_target) * n_columns * self.reg_v / (self.lr_reconstruction * self._target_ridge())

    def _finish(self) -> None:
        if self.calibrate:
            self._refitted()
        if self.solver == "sgd":
            self._warn_if_falling("raise max_iter or lr_reconstruction, or use solver 'lbfgs'")
        X = self._training[0]
        total = float(np.nansum((X - np.nanmean(X, axis=0)) ** 2))
        if self._partitioned:
            total *= self.partitions_.n_rows / len(X)
        if self._state.predictors.loss >= (1.0 - LEAST_EXPLAINED) * total:
            warnings.warn(
                f"the latent rows collapsed: they explain less than {LEAST_EXPLAINED:.1%} of X, and predictions are "
                f"close to constant. reg_v * reg_z = {self.reg_v * self.reg_z:g} is too strong for these data; lower "
                "reg_z or reg_v",
                ConvergenceWarning,
                stacklevel=4,
            )

    # --- parts --------------------------------------------------------------------------------------------------------

    def _target_scaling(self, targets: Targets) -> str:
        """Return what is applied to the targets."""
        scaling = self.preprocessing if targets.classes is None else "none"
        return "zscore" if scaling == "whiten" else scaling

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters whose fits on a few rows compile every kernel."""
        for task in ("regression", "classification"):
            yield {"task": task, "degree": 1, "max_iter": 2}
        yield {"solver": "sgd", "max_iter": 2, "lr_reconstruction": 1e-4}
        yield {"solver": "sgd", "kernel": "rbf", "max_iter": 2, "lr_reconstruction": 1e-4}


@dataclass(eq=False, repr=False)
class SNF(BaseSNF):
    """Supervised nonlinear factorisation for regression with few labels.

    Every row has a few latent coordinates; each column of X and the target are kernel ridge regressions on them.  Rows
    without a label take part through X.  The bends of the kernel let a curved sheet of data unroll in latent space.

    Parameters
    ----------
    n_components : int or None, default=None
        D, latent dimension, 1 to min(n_samples - 1, 200).  None: as many as there are columns, at most 30, but at least
        one fewer than there are classes (as many as there are targets).  Take 2 for pictures.
    task : {"regression", "classification"}, default="regression"
        Regression takes several targets.  Classification regresses on +-1, one column per class (one for two classes):
        an extension of the paper.
    class_weight
        As in `SupervisedReducer`.
    kernel : {"poly", "rbf", "linear"}, default="poly"
        Kernel between latent rows.  "linear" and degree 1 make a linear factorisation.
    degree : int, default=2
        Power of "poly", 1 to 6; from 4 on keep latent rows near length 1.
    gamma : float, default=0.5
        exp(-gamma |z - z'|^2) of "rbf", > 0.
    coef0 : float, default=1.0
        Constant of "poly", >= 0.
    target_weight : float, default=1.0
        mu, weight of the target's regression, >= 0.  At large values labelled rows move to where they fit their label,
        unlabelled rows do not, and predictions suffer unless calibrated.  Ignored where `lr_target` sets it.
    reg_v, reg_z : float, default=1.0
        Ridges (lambda_V, lambda_Z) on the regressions of X and on the latent rows, > 0.  Too large a product of the two
        makes all latent rows 0.
    reg_w : float or None, default=None
        Ridge (lambda_W) on the regression of the target, > 0.  None: 0.1 while the latent rows are learnt; then the
        calibrated regression takes the degree, 1 to 3, and the ridge, 0.001 to 10, under which the labels are most
        likely.
    solver : {"lbfgs", "sgd"}, default="lbfgs"
        "lbfgs": quasi-Newton on the latent rows, one factorisation for all columns, never raises F.  "sgd": the
        paper's loop, one factorisation per column.
    lr_reconstruction : float, default=1e-3
        eta_X, step size of "sgd" on the reconstruction, > 0.
    lr_target : float or None, default=None
        eta_Y, step size of "sgd" on the target, > 0.  It sets the target's weight to lr_target n_features reg_v /
        (lr_reconstruction reg_w), reg_w = 0.1 for None.  None: eta_Y follows from `target_weight` by the same formula.
    preprocessing : {"minmax", "zscore", "whiten", "none"}, default="minmax"
        Fitted inside, on X and, for regression, on the given targets (which "whiten" only z-scores).  The ridges refer
        to the preprocessed units.
    calibrate : bool, default=True
        Whether `predict` uses a regression refitted on labelled rows that were embedded without their labels; see
        `reg_w`.
    extrapolate : bool, default=False
        Whether new rows are used as they are.  False: cells that lie further outside of the training rows' range than a
        quarter of it are clipped there, unless a kernel "rbf" or a class makes this needless, and `predict` warns.
    init : {"pca", "random"} or array of shape (n_samples, n_components), default="pca"
        Starting latent rows.
    init_scale : float or None, default=None
        Standard deviation of the first principal component's scores or of a random start, > 0.  None: 0.5 (1 with
        kernel "rbf"), random 0.01.
    n_init : int, default=1
        Starts, 1 to 10: other choices of principal components, then random ones.  Each is followed for up to 100 L-BFGS
        steps in the first step, and the run goes on from the beginning of the one that came lowest.
    max_iter : int, default=100
        Steps, >= 1.
    tol : float, default=1e-8
        Stop when F falls by no more than this share.
    random_state, n_jobs, verbose, missing_label, early_stopping, validation_fraction, n_iter_no_change
        As in `SupervisedReducer`.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        Z, learnt with labels.
    transduction_ : array of shape (n_samples,) or (n_samples, n_targets)
        Predictions of all training rows from their own latent rows (eq. 12), by the regression that `predict` uses.
    training_decision_ : array of shape (n_samples,) or (n_samples, K)
        Scores, or predicted values, of all training rows, likewise.
    dual_coef_ : array of shape (T, n_labelled)
        Dual weights of the target's regression, in preprocessed units of the target.
    intercept_ : array of shape (T,)
        Its bias, in the same units.
    label_pull_ : array of shape (n_samples,)
        How hard each label pulls: its residual as a share of the largest; 0 where unlabelled.
    reconstruction_ : array of shape (n_samples, n_features)
        Training rows as their latent rows reconstruct them; fills missing cells.
    kernel_ : Kernel
        The kernel with its parameters.
    classes_, n_features_in_, feature_names_in_, n_iter_, stop_, snapshot_
        As in `SupervisedReducer`.
    history_ : dict of str to array
        "objective" and its terms "reconstruction", "label", "regularisation"; "gradient_norm", "step_size"; one value
        per step.

    Notes
    -----
    With polynomial kernels of fewer than 0.6 n monomials a step costs O(n F (F + M + degree)) for F monomials; else
    kernel matrices are factorised in O(n^3), and at most 10,000 rows are accepted.

    Algorithm 1 of the paper has two rates and a decay lambda_Z.  "sgd" takes its steps with lr_reconstruction = eta_X,
    lr_target = eta_Y and reg_z = lambda_Z reg_v n_features n_samples; the decay of labelled rows is lowered so that
    `reg_z` means the same for all rows.

    Missing cells (NaN in X) have no error.  While the run goes on they are variables of their own, which cost nothing
    once they equal their reconstruction.  `transform` leaves them out.

    `transform` descends from the latent rows of the three nearest training rows and keeps the lowest end.

    References
    ----------
    J. Grabocka, E. Bedalli, L. Schmidt-Thieme, "Supervised Nonlinear Factorizations Excel In Semi-supervised
    Regression".

    Examples
    --------
    >>> from supdr import SNF
    >>> from supdr.datasets import make_curved_sheet
    >>> X, y = make_curved_sheet(random_state=2).to_xy()
    >>> SNF(2, preprocessing="none").fit(X, y).transduction_.shape
    (400,)
    """

    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS

    _: KW_ONLY
    early_stopping: bool = False
    validation_fraction: float = 0.2
    n_iter_no_change: int = 10

    def _fit_shared(self, part: Any, metrics: Collection[Any]) -> SharedFit | None:
        if not _is_label_free(self):
            return None
        return SharedFit(_fit_from_label_free(self, part), None, "label-free fit shared")


def _is_label_free(estimator: Any) -> bool:
    """Whether the latent rows of a fit do not depend on labels."""
    return estimator.target_weight == 0 and estimator.solver == "lbfgs" and not estimator.early_stopping


def _fit_from_label_free(estimator: Any, part: Any) -> Any:
    """Return the estimator fitted to a part of a sweep's rows: the end of the run without labels, then its targets."""
    others = {name: value for name, value in estimator.get_params().items() if name not in ("reg_w", "calibrate")}
    end, steps, stop, history = reused(
        "label-free SNF", lambda: (part.features_key, others), lambda: _label_free_end(estimator, part)
    )
    fitted = clone(estimator)
    fixed = {name: getattr(fitted, name) for name in sorted(fitted.restart_parameters)}
    start = Snapshot(end.iteration, 0, {}, Diagnostics({}), end, 0.0, fixed=fixed)
    fitted = fitted.at(next(fitted.iterate(part.X, part.y, start=start)))
    fitted.n_iter_, fitted.stop_, fitted.history_ = steps, stop, history
    return fitted


def _label_free_end(estimator: Any, part: Any) -> tuple[Any, int, Stop | None, dict[str, NDArray]]:
    fitted = clone(estimator).set_params(calibrate=False).fit(part.X, part.y)
    return fitted.snapshot_.state, fitted.n_iter_, fitted.stop_, fitted.history_
