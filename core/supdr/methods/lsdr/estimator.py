"""LSDR: a matrix factorisation whose latent rows also feed a linear predictor.

    F = beta sum_ij e_ij^2 + reg_u |U|^2 + reg_v |V|^2          e = X - U V - bu 1' - 1 bv', over observed cells
        + (1 - beta) sum_i sum_k loss(Y_ik, z_ik) + reg_w |W|^2  z_ik = U_i . W_k + bu_i + w0_k, over labelled rows

bu, the row biases, are 0 unless ``row_bias=True``.

Source: J. Grabocka, L. Schmidt-Thieme, "Learning Through Non-linearly Supervised Dimensionality Reduction", eq. 1-27,
algorithm 1.  Errata are noted where the corrected formulas stand: `supdr.functions.losses` (eq. 15, 20-25),
`supdr.solvers.reconstruction` (eq. 5, biases), `supdr.methods.lsdr.kernels` (eq. 17-25, biases).  Eq. 16 prints the
ridges without weights; here they have theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from supdr.engine.checks import check_cells, check_start, warn_of_many_components
from supdr.engine.components import component_count
from supdr.engine.fitted import as_fitted, once_per_snapshot
from supdr.engine.iterate import Snapshot
from supdr.engine.parameters import Parameter
from supdr.engine.preprocessing import FEW_ROWS, Preprocessing, fit_preprocessing, scaling_of_rows
from supdr.engine.probabilities import class_probabilities
from supdr.engine.reconstruction import Factorisation
from supdr.engine.targets import Targets
from supdr.functions.losses import LOSSES, SQUARED, loss_code, loss_gradient
from supdr.methods.lsdr.distributed import SUPPORT, DistributedLSDR
from supdr.methods.lsdr.parameters import PARAMETERS
from supdr.methods.lsdr.problem import LSDRProblem, LSDRState
from supdr.methods.lsdr.solvers import SOLVERS
from supdr.rows.in_partitions import InPartitions, PartitionSupport
from supdr.solvers.linear_heads import column_spread, loo_ridge
from supdr.solvers.reconstruction import fold_in, fold_in_derivative, reconstruct, split_missing
from supdr.solvers.softmax_head import loo_softmax


@dataclass(eq=False, repr=False)
class LSDR(InPartitions, Factorisation):
    """Linearly supervised dimensionality reduction: factorise X so that a linear predictor reads the latent rows.

    X ~ U V + bv, and the labels of labelled rows are predicted from U by one linear head per class (one-vs-rest), all
    at once.  `beta` weighs reconstruction against labels.  Labelled rows are moved by their labels, unlabelled and new
    rows are not: `embedding_` and ``transform(X)`` differ, and predictions come from a head refitted on the latter
    unless ``calibrate=False``.

    Parameters
    ----------
    n_components : int or None, default=None
        Latent dimension d, >= 1.  None: half as many as there are preprocessed columns (or rows, if these are fewer),
        at most 50, but at least 2 and K - 1 for K classes.  Take 2 for a picture.
    task : {"classification", "regression"}, default="classification"
        Regression standardises y inside, takes several targets, and always uses the squared loss.
    loss : {"smooth_hinge", "squared", "logistic", "hinge"}, default="smooth_hinge"
        Loss of the heads that learn with the embedding; ignored for regression.
    class_weight
        As in `SupervisedReducer`.
    beta : float, default=0.02
        Weight of the reconstruction, in (0, 1]; the labels have 1 - beta.  At 1 the labels are ignored.
    reg_u, reg_v : float or None, default=None
        Ridge weights (lambda_U, lambda_V) of latent rows and loadings, >= 0.  None: 0.1, or 1 when cells are missing,
        where weaker ridges overfit.
    reg_w : float, default=0.01
        Ridge weight (lambda_W) of the heads, > 0.
    solver : {"bcd", "sgd", "lbfgs"}, default="bcd"
        ``"bcd"``: exact block descent, the objective never rises, by far the quickest.  ``"sgd"``: the paper's loop
        (algorithm 1, corrected); give it about 300 iterations.  ``"lbfgs"``: quasi-Newton on all blocks at once.
    lr_reconstruction, lr_classification : float, default=1e-3, 1e-4
        Step sizes (eta_R, eta_CA) of solver "sgd", > 0.
    preprocessing : {"whiten", "zscore", "minmax", "none"}, default="whiten"
        Fitted inside and applied in `transform`.  Whitening is by a covariance shrunk as Ledoit and Wolf propose, and
        becomes "zscore" when cells are missing, for classes of half a row to three rows a column, and, with a warning,
        for sparse rows if the matrix that whitens them would have more than 4,194,304 entries.  On whitened data the
        first latent axis is close to that of linear discriminant analysis; with two classes the second axis is then
        arbitrary.
    row_bias : bool, default=False
        Whether every row has a bias bu_i, as in the paper: a hidden latent coordinate with fixed loadings.
    calibrate : bool, default=True
        Whether `predict` uses heads refitted on ``transform`` of the labelled rows; see Notes.  With half a row to
        three rows a column, classes are predicted by the heads learnt with the embedding all the same: refitted ones
        err more.
    extrapolate : bool, default=False
        Whether new rows are used as they are.  False: cells that lie further outside of the training rows' range than a
        quarter of it are clipped there for regression, and `predict` warns.
    init : {"pca", "random"} or array of shape (n_samples, n_components), default="pca"
        Starting U.  "random" starts everything at N(0, init_scale^2), as the paper does.
    init_scale : float, default=0.1
        Standard deviation of a random start, > 0.
    early_stopping : bool, default=False
        Hide `validation_fraction` of the labels, stop when their error has not improved for `n_iter_no_change` steps,
        keep the best iterate.
    validation_fraction, n_iter_no_change
        As in `SupervisedReducer`.
    max_iter : int, default=40
        Number of steps; acts as a regulariser as well.
    tol : float, default=1e-5
        Relative change of the objective that counts as convergence.
    random_state, n_jobs, verbose, missing_label
        As in `SupervisedReducer`.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        U, learnt with labels.
    transduction_ : array of shape (n_samples,)
        Predictions of all training rows from their own latent rows.
    training_decision_ : array of shape (n_samples,) or (n_samples, K)
        Scores, or predicted values, of all training rows from their own latent rows.
    components_ : array of shape (n_components, m)
        V, on preprocessed columns (after whitening m is the rank of the centred rows).
    intercept_x_ : array of shape (m,)
        bv.
    coef_ : array of shape (K, n_components)
        Heads learnt with the embedding, not the calibrated ones; K = 1 for two classes, the number of classes or of
        regression targets else.
    intercept_ : array of shape (K,)
        w0.
    reconstruction_ : array of shape (n_samples, n_features)
        Training rows, in the units of X, as their own latent rows reconstruct them; fills missing cells.
    label_pull_ : array of shape (n_samples,)
        How hard each label pulls: the slope of the loss as a share of its largest (squared loss: of the steepest
        row's); 0 where unlabelled.
    classes_
        As in `SupervisedReducer`.
    history_ : dict of arrays
        ``"objective"``, ``"reconstruction"``, ``"label"``, ``"regularisation"``: one value per step.
    n_iter_, stop_, snapshot_, n_features_in_, feature_names_in_
        As in `SupervisedReducer`.

    Notes
    -----
    Calibration: the columns of ``transform`` of the labelled rows (and their row biases, if any) are divided by their
    standard deviations (1 where constant).  Classification: multinomial logistic regression, whatever `loss` is, its
    ridge by approximate leave-one-out log loss.  Regression: a ridge by exact leave-one-out error.

    Missing cells (NaN in X) are left out of the reconstruction.  A row needs one observed cell.

    Sparse rows are not made dense, and none of their cells is missing.  Solver "sgd" does not take them.

    A linear head tells few more classes apart than n_components + 1: a picture of ten classes misclassifies many.

    References
    ----------
    J. Grabocka, L. Schmidt-Thieme, "Learning Through Non-linearly Supervised Dimensionality Reduction".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from supdr import LSDR
    >>> X, y = load_wine(return_X_y=True)
    >>> LSDR(n_components=2).fit_transform(X, y).shape
    (178, 2)
    """

    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    partition_support: ClassVar[PartitionSupport] = SUPPORT
    takes_several_targets: ClassVar[bool] = True
    accepts_missing_cells: ClassVar[bool] = True
    accepts_sparse: ClassVar[bool] = True
    prepared_attributes = (*InPartitions.prepared_attributes, "_target_mean", "_target_scale", "_reg_u", "_reg_v")

    n_components: int | None = None
    _: KW_ONLY
    task: str = "classification"
    loss: str = "smooth_hinge"
    class_weight: Any = None
    beta: float = 0.02
    reg_u: float | None = None
    reg_v: float | None = None
    reg_w: float = 0.01
    solver: str = "bcd"
    lr_reconstruction: float = 1e-3
    lr_classification: float = 1e-4
    preprocessing: str = "whiten"
    row_bias: bool = False
    calibrate: bool = True
    extrapolate: bool = False
    init: str | ArrayLike = "pca"
    init_scale: float = 0.1
    early_stopping: bool = False
    validation_fraction: float = 0.2
    n_iter_no_change: int = 10
    max_iter: int = 40
    tol: float = 1e-5
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    @property
    @as_fitted
    def label_pull_(self) -> NDArray:
        """How hard each label pulls at its training row, (n,): the loss's slope as a share of its largest.

        The largest slope over the heads counts; 0 where there is no label.  Losses without a largest slope (squared)
        are measured against the steepest row.
        """
        check_is_fitted(self)
        scores, targets = self._latent_scores(self._own_latent(), False), self._training[1]
        rows = np.flatnonzero(targets.labelled)
        scores = (scores[rows] - self._target_mean) / self._target_scale
        values = (targets.values[rows] - self._target_mean) / self._target_scale
        code = self._loss_code()
        _, gradient = loss_gradient(code, np.ascontiguousarray(values), np.ascontiguousarray(scores))
        slope = np.abs(gradient).max(axis=1)
        return self._over_training_rows(slope / (max(slope.max(), np.finfo(float).tiny) if code == SQUARED else 1.0))

    # --- the hooks of the shell ---------------------------------------------------------------------------------------

    def _dense_only(self) -> str:
        return "solver='sgd' visits every cell; solver='bcd' and 'lbfgs' take sparse rows" * (self.solver == "sgd")

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        check_start(self.init, ("pca", "random"), (len(X), self.n_components))
        self._columns_of(X).map_parts(check_cells)

    def _fit_preprocessing(self, X: NDArray, targets: Targets, start: Snapshot | None) -> Preprocessing:
        columns, kind = self._columns_of(X), self.preprocessing
        if self._has_few_rows(*columns.shape):
            kind = scaling_of_rows(kind, *columns.shape)
        return fit_preprocessing(columns, kind)

    def _calibrated(self) -> bool:
        """Whether predictions come from refitted heads; of few rows these follow what the labels did to the map."""
        return self.calibrate and (self._partitioned or not self._has_few_rows(*self._training[0].shape))

    def _has_few_rows(self, n_rows: int, n_columns: int) -> bool:
        """Whether classes have half a row to three rows a column; fewer rows are whitened as well, on Arcene better."""
        return self.task == "classification" and n_columns <= 2 * n_rows and n_rows <= FEW_ROWS * n_columns

    @staticmethod
    def _components_of(state: Any) -> int:
        return len(state.components)

    def _problem(self, X: NDArray, targets: Targets) -> LSDRProblem:
        n_components = component_count(self._component_setting, targets, X.shape, self.init)
        warn_of_many_components(n_components, X.shape[1])
        filled, observed = split_missing(X)
        rows = np.flatnonzero(targets.labelled)
        Y, weights = targets.values[rows], targets.weights[rows]
        self._target_mean, self._target_scale = np.zeros(Y.shape[1]), np.ones(Y.shape[1])
        if self._partitioned:
            self._target_mean, self._target_scale = self.partitions_.mean, self.partitions_.scale
        elif targets.classes is None:
            self._target_mean = np.average(Y, axis=0, weights=weights)
            deviation = np.sqrt(np.average((Y - self._target_mean) ** 2, axis=0, weights=weights))
            self._target_scale = np.where(deviation > 0.0, deviation, 1.0)
        Y = (Y - self._target_mean) / self._target_scale
        complete = self.partitions_.observed is None if self._partitioned else observed is None
        self._reg_u, self._reg_v = (
            (0.1 if complete else 1.0) if reg is None else float(reg) for reg in (self.reg_u, self.reg_v)
        )
        return self._problem_of(
            LSDRProblem,
            distributed=DistributedLSDR,
            X=filled,
            observed=observed,
            rows=rows,
            Y=np.ascontiguousarray(Y),
            weights=weights,
            code=self._loss_code(),
            n_components=n_components,
            reg_u=self._reg_u,
            reg_v=self._reg_v,
            solver=SOLVERS[self.solver],
        )

    def _expose(self, state: LSDRState) -> None:
        self.components_, self.intercept_x_ = state.components, state.intercept_x
        self.coef_ = state.coef.T * self._target_scale[:, None]
        self.intercept_ = state.intercept * self._target_scale + self._target_mean

    def _latent(self, X: NDArray) -> NDArray:
        return self._fold_in()(X)

    def _row_map(self) -> Callable[[NDArray], NDArray]:
        return partial(_embedded, self._fold_in(), len(self.components_))

    def _fold_in(self) -> Callable[[NDArray], NDArray]:
        """Return the map from preprocessed rows to internal latent rows, with their biases."""
        settings = self._reg_u, float(self.beta), bool(self.row_bias)
        return partial(_folded_in, self.components_, self.intercept_x_, *settings)

    def _latent_derivative(self, X: NDArray) -> NDArray:
        _, observed = split_missing(X)
        slopes = fold_in_derivative(
            self.components_, self._reg_u, float(self.beta), row_bias=bool(self.row_bias), observed=observed
        )
        return np.broadcast_to(slopes[..., : len(self.components_), :], (len(X), *self.components_.shape))

    def _reconstructed(self, latent: NDArray) -> NDArray:
        return reconstruct(latent, self.components_, self.intercept_x_)

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        if calibrated:
            coef, intercept = self._calibrated_heads()
            scores = latent @ coef + intercept
        else:
            scores = self._visible(latent) @ self._state.coef + self._state.intercept
            if self.row_bias:
                scores += latent[:, -1:]
        return scores * self._target_scale + self._target_mean

    def _probabilities(self, scores: NDArray) -> NDArray:
        """Return class probabilities; the scores of calibrated heads are log-odds, whose ridge left-out rows chose."""
        return class_probabilities(scores, 1.0) if self._calibrated() else super()._probabilities(scores)

    def _finish(self) -> None:
        if self._calibrated():
            self._calibrated_heads()
        self._warn_if_few_components()
        if self.solver == "sgd":
            self._warn_if_falling("raise max_iter or the learning rates, or use solver 'bcd'")

    # --- heads --------------------------------------------------------------------------------------------------------

    def _loss_code(self) -> int:
        return SQUARED if self.task == "regression" else loss_code(self.loss)

    @once_per_snapshot
    def _calibrated_heads(self) -> tuple[NDArray, NDArray]:
        """Return heads (D, K) and (K,) fitted on the fold-in of the labelled rows."""
        X, targets = self._training
        features = self._latent(X[targets.labelled])
        spread = column_spread(features)
        features, Y = features / spread, targets.values[targets.labelled]
        weights = targets.weights[targets.labelled]
        if targets.classes is None:
            coef, intercept = loo_ridge(features, (Y - self._target_mean) / self._target_scale, weights)
        else:
            coef, intercept = loo_softmax(features, targets.codes[targets.labelled], weights)
        return coef / spread[:, None], intercept

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters; fitting each on a small data set compiles every kernel."""
        for loss in LOSSES:
            yield {"loss": loss, "max_iter": 2}
        yield {"task": "regression", "max_iter": 2}
        yield {"solver": "sgd", "row_bias": True, "init": "random", "max_iter": 2, "lr_reconstruction": 1e-4}
        yield {"solver": "lbfgs", "max_iter": 2}


def _folded_in(
    components: NDArray, intercept_x: NDArray, reg_u: float, beta: float, row_bias: bool, X: NDArray
) -> NDArray:
    """Return the internal latent rows of preprocessed rows."""
    check_cells(X)
    filled, observed = split_missing(X)
    return fold_in(filled, components, intercept_x, reg_u, beta, row_bias=row_bias, observed=observed)


def _embedded(internal: Callable[[NDArray], NDArray], n_components: int, X: NDArray) -> NDArray:
    """Return latent rows without their biases."""
    return internal(X)[:, :n_components]
