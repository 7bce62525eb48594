"""SDR-GLM: one latent matrix explains features and targets, each by a generalised linear model.

    J = sum_d m_d (lam sum_n l(X_nd; TX_nd) - reg_v/2 |vt_d|^2) + sum_nk l(Y_nk; TY_nk)
        - reg_u/2 |U|^2 - reg_w/2 |Wt|^2

with TX = [U, 1] Vt and TY = [U, 1] Wt, over observed cells; the last rows of Vt and Wt are the biases b_x and b_y,
which are penalised as well; m_d = 1, or the weight of column d.  J is maximised; snapshots report -J and its parts.
The likelihoods stand in `supdr.functions.families`.  Every step maximises a quadratic minorant that touches J, so J
never falls:

    U-step   [lam sum_d m a v v' + sum_k aY w w' + reg_u I] u_n = lam sum_d m v (g - a b_x) + sum_k w (gY - aY b_y)
    W-step   [sum_n aY ua ua' + reg_w I] wt_k = sum_n gY ua
    V-step   [lam sum_n a ua ua' + reg_v I] vt_d = lam sum_n g ua

Source: I. Rish, G. Grabarnik, G. Cecchi, F. Pereira, G. Gordon, "Closed-Form Supervised Dimensionality Reduction with
Generalized Linear Models", ICML 2008, eq. 1-9; the steps are not printed there.  Errata: eq. 3 and 5 need lam on the
reconstruction; W has L + 1 rows and the condition for U holds for l = 1..L only, the column of ones stays; the closed
form is one joint solve per row or column, not one per entry; only ascent to a stationary point is guaranteed.  Errata
of the bounds are noted in `supdr.functions.families`.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from supdr.engine.checks import check_start, check_weights
from supdr.engine.components import component_count
from supdr.engine.estimator import SharedFit
from supdr.engine.fitted import predicts_classes
from supdr.engine.iterate import Snapshot
from supdr.engine.parameters import Parameter
from supdr.engine.preprocessing import Preprocessing
from supdr.engine.targets import Targets
from supdr.functions.families import FAMILIES
from supdr.methods.sdr_glm.columns import (
    centred,
    checked_column_weight,
    column_preprocessing,
    decode_columns,
    feature_codes,
    target_side,
)
from supdr.methods.sdr_glm.distributed import SUPPORT, DistributedFast
from supdr.methods.sdr_glm.facts import gather_facts
from supdr.methods.sdr_glm.fitted import FittedSDRGLM
from supdr.methods.sdr_glm.parameters import PARAMETERS
from supdr.methods.sdr_glm.problem import SDRGLMProblem
from supdr.methods.sdr_glm.row_space import fit_in_row_space, may_be_rotated
from supdr.methods.sdr_glm.solvers import SOLVERS
from supdr.rows.in_memory import InMemoryRows
from supdr.rows.in_partitions import PartitionSupport

# From this lam H_X / H_Y (of a row) on the labels hardly move the latent rows.
DROWNED = 100.0


@dataclass(eq=False, repr=False)
class BaseSDRGLM(FittedSDRGLM):
    """`SDRGLM` without early stopping, which comparison methods with the same objective do not have."""

    partition_support: ClassVar[PartitionSupport] = SUPPORT
    takes_several_targets: ClassVar[bool] = True
    prepared_attributes = (
        *FittedSDRGLM.prepared_attributes,
        "recon_weight_",
        "family_x_",
        "_input_codes",
        "_column_weight",
        "_several_labels",
        "_codes",
        "_shift",
        "_targets",
        "_target_mean",
        "_target_scale",
        "_balance",
        "_label_share",
        "_reg_u",
    )

    n_components: int | None = None
    _: KW_ONLY
    task: str = "classification"
    class_weight: Any = None
    column_weight: ArrayLike | None = None
    recon_weight: float | str = "auto"
    recon_ratio: float = 0.03
    reg_u: float = 1.0
    reg_v: float = 1.0
    reg_w: float = 0.01
    reg_scaling: str = "lam"
    family_x: str | Sequence[str] = "auto"
    family_y: str | Sequence[str] = "auto"
    gaussian_c: float = 1.0
    negative_binomial_size: float = 1.0
    bound: str = "jj"
    nonnegative: bool = False
    solver: str = "fast"
    inner: int | None = None
    gauge: bool = True
    preprocessing: str = "whiten"
    calibrate: bool = True
    extrapolate: bool = False
    init: str | ArrayLike = "svd"
    max_iter: int = 200
    tol: float = 3e-4
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        check_start(self.init, ("svd", "random"), (len(X), self.n_components))
        if self.nonnegative and not isinstance(self.init, str) and np.min(self.init) < 0.0:
            raise ValueError(f"init must be >= 0 with nonnegative=True; got {np.min(self.init):g}")
        self._input_codes = feature_codes(self.family_x, self._columns_of(X))
        self._column_weight = checked_column_weight(self.column_weight, X.shape[1])

    def _validate(
        self, X: ArrayLike, y: ArrayLike | None, sample_weight: ArrayLike | None = None
    ) -> tuple[NDArray, Targets]:
        labels: NDArray = np.empty(0) if y is None else np.asarray(y)
        self._several_labels = predicts_classes(self) and labels.ndim == 2 and labels.shape[1] > 1
        if labels.ndim < 2 or (predicts_classes(self) and not self._several_labels):
            return super()._validate(X, y, sample_weight)
        X = self._checked(X, reset=True)
        if self._several_labels and self.class_weight is not None:
            raise ValueError(f"class_weight must be None with several labels; got {self.class_weight!r}")
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        targets = decode_columns(labels, len(X), self.task, self.missing_label, weights)
        if self._several_labels:
            self.classes_ = np.arange(labels.shape[1])
        self._single_target = False
        return X, targets

    def _fit_preprocessing(self, X: NDArray, targets: Targets, start: Snapshot | None) -> Preprocessing:
        columns = self._columns_of(X)
        kind = self.preprocessing
        if isinstance(kind, str) and kind == "whiten" and (self._column_weight is not None or self.nonnegative):
            kind = "zscore"  # whitened columns are mixtures of all
        preprocessing, self._codes = column_preprocessing(columns, kind, self._input_codes)
        preprocessing, self._shift = centred(preprocessing, columns, self._codes)
        return preprocessing

    @staticmethod
    def _components_of(state: Any) -> int:
        return len(state.components)

    def _problem(self, X: NDArray, targets: Targets) -> SDRGLMProblem:
        n_components = component_count(self._component_setting, targets, X.shape, self.init)
        if self.n_components is None and isinstance(self.init, str):
            n_components = min(n_components, *X.shape)
        if isinstance(self.init, str) and self.init == "svd" and n_components > min(X.shape):
            n_rows, n_columns = X.shape
            raise ValueError(
                f"n_components={n_components} exceeds the {n_rows} rows or {n_columns} columns: init='svd' allows "
                f"{min(X.shape)} at most, n_samples = {n_rows}, n_features = {n_columns}; init='random' allows more"
            )
        if self._partitioned:
            facts = self.partitions_.facts
            several, c = self._several_labels, float(self.gaussian_c)
            self._targets = target_side(targets, facts.codes, facts.scaling, several, c, self.bound)
        else:
            rows, settings = InMemoryRows(len(X)), self._target_settings()
            facts, self._targets = gather_facts(rows, X, self._codes, targets, targets, **settings)
        self._target_mean, self._target_scale = facts.scaling
        self._balance = facts.target_null.loss, facts.column_null[0]
        self._label_share = facts.target_null.share
        label_loss = self._balance[0] / self._label_share
        self.recon_weight_ = _chosen_weight(self.recon_weight, self.recon_ratio, label_loss, self._balance[1])
        self.family_x_ = np.array(FAMILIES)[self._codes]
        scaling = self.recon_weight_ if self.reg_scaling == "lam" else 1.0
        self._reg_u = scaling * float(self.reg_u)
        return self._problem_of(
            SOLVERS[self.solver],
            distributed=DistributedFast,
            X=X,
            codes=self._codes,
            targets=self._targets,
            n_components=n_components,
            weight=self.recon_weight_,
            reg_u=self._reg_u,
            reg_v=scaling * float(self.reg_v),
            c=float(self.gaussian_c),
            inner=1 if self.solver == "literal" else self.inner,
            column_weight=self._column_weight,
            size=self._size,
        )

    def _finish(self) -> None:
        if self.calibrate:
            self._calibrated_head()
        _warn_of_imbalance(self, self._problem(*self._training))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = True
        return tags

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters; fitting each on a small data set compiles every kernel."""
        yield {"max_iter": 2}
        yield {"solver": "literal", "family_y": "bernoulli", "max_iter": 2}
        yield {"task": "regression", "max_iter": 2}
        yield {"nonnegative": True, "max_iter": 2}


@dataclass(eq=False, repr=False)
class SDRGLM(BaseSDRGLM):
    """Supervised dimensionality reduction with generalised linear models.

    The natural parameters of X are U V + b_x, those of the targets U W + b_y: one latent row explains both.  Cells may
    be real numbers, bits or counts, column by column, and may be missing.  `recon_weight` weighs the reconstruction
    against the targets.

    Parameters
    ----------
    n_components : int or None, default=None
        Latent dimension L, >= 1; with ``init="svd"`` no more than there are rows or columns.  None: half as many as
        there are preprocessed columns (or rows, if these are fewer), at most 50, but at least 2, K - 1 for K classes
        and as many as there are targets.  Take 2 for a picture.
    task : {"classification", "regression"}, default="classification"
        Classification takes a label, or a matrix of 0 and 1 with several; regression one or several targets.
    class_weight : None, "balanced" or dict of class to float, default=None
        What the likelihood of the label is multiplied by for the rows of each class, > 0.  "balanced": every class
        weighs the same in all.  Ignored for regression; not with several labels.
    column_weight : array-like of shape (n_features,) or None, default=None
        What each column of X is multiplied by in the reconstruction, likelihood and ridge of its loadings alike, >= 0:
        with 2 a column counts as if it were there twice, with 0 it has no say in the latent rows, though it gets
        loadings.  None: 1.  The paper names it an extension (section 6) and gives no formula.
    recon_weight : float or "auto", default="auto"
        Weight lam of the reconstruction likelihood, > 0.  ``"auto"``: recon_ratio H_Y / H_X, where H is what the means
        leave unexplained in a labelled row, or in a row of X; it depends neither on the number of columns nor on that
        of unlabelled rows.
    recon_ratio : float, default=0.03
        kappa, > 0; used by "auto" only.  Below 0.1 the targets lead, from 1 on the reconstruction does.
    reg_u, reg_v : float, default=1.0
        Ridges of latent rows and loadings, biases included, > 0.  With ``reg_scaling="lam"`` 1 is a standard normal
        prior on every entry.  The paper has 0.01.
    reg_w : float, default=0.01
        Ridge of the predictor, biases included, > 0.
    reg_scaling : {"lam", "none"}, default="lam"
        ``"lam"``: reg_u and reg_v are multiplied by lam, in the fit and in `transform`.  ``"none"`` is the paper's
        reading; then sqrt(reg_u reg_v) / (2 c lam) is a threshold below which Gaussian components vanish.
    family_x : {"auto", "bernoulli", "gaussian", "poisson", "gamma", "negative_binomial"} or list, default="auto"
        Family of all columns, or one per column.  ``"auto"``: Bernoulli if X holds nothing but 0 and 1, else Gaussian.
        Gamma columns are positive numbers of shape 1 (`column_weight` is another shape), and their parameters are
        logarithms of means; negative binomial columns are overdispersed counts.
    family_y : {"auto", "bernoulli", "softmax", "gaussian", "poisson"} or list of names, default="auto"
        Classification: "bernoulli" (one-vs-rest if there are several classes) or "softmax"; "auto" takes "bernoulli"
        for two classes or several labels, else "softmax".  Regression: "gaussian" ("auto"), "poisson", "bernoulli" (the
        prediction is the mean), or one per target.
    gaussian_c : float, default=1.0
        c, the weight of a Gaussian cell's squared error, > 0.
    negative_binomial_size : float, default=1.0
        r of negative binomial columns, > 0: their variance is m + m^2 / r for a mean m.  Steps get small where it is
        far above the counts, which are nearly Poisson then.
    bound : {"jj", "bohning"}, default="jj"
        Minorant of Bernoulli and negative binomial cells: Jaakkola and Jordan's, or the one of constant curvature,
        which is slower.
    nonnegative : bool, default=False
        Whether U and V are >= 0, so that parts add up, above the level b_x, which is free like the predictor.  Every
        quadratic is then maximised under that bound, coordinate by coordinate, in place of the multiplicative steps of
        nonnegative matrix factorisation, which the paper names (section 6); there is no gauge.  "whiten" becomes
        "zscore".
    solver : {"fast", "literal"}, default="fast"
        ``"literal"``: the paper's sweep.  ``"fast"``: the same steps, with shared matrices for complete Gaussian data
        and one expansion per sweep for others, and with `inner` and `gauge`.
    inner : int or None, default=None
        Alternations of U and W per V-step of solver "fast", >= 1.  None: 3 for complete Gaussian data, where they are
        free, else 1.
    gauge : bool, default=True
        Whether solver "fast" replaces the factors by the equivalent ones with the smallest ridges after every sweep.
    preprocessing : {"whiten", "zscore", "minmax", "none"}, default="whiten"
        Applied to Gaussian columns only.  "whiten" becomes "zscore" if there are others, if cells are missing, if
        columns have weights, if factors are nonnegative, if there are no more than three rows a column, or, with a
        warning, if rows are sparse and the matrix that whitens them would have more than 4,194,304 entries.
    calibrate : bool, default=True
        Whether `predict` uses a predictor refitted on latent rows of the labelled rows that were made without them.
        False is the paper's prediction, which answers the majority when lam is small.
    extrapolate : bool, default=False
        Whether new rows are used as they are.  False: cells that lie further outside of the training rows' range than a
        quarter of it are clipped there for regression, and `predict` warns.
    init : {"svd", "random"} or array of shape (n_samples, n_components), default="svd"
        Starting U: scaled left singular vectors, N(0, 1), or given.
    max_iter : int, default=200
        Number of sweeps.
    tol : float, default=3e-4
        Change of J that counts as convergence, as a share of what the means leave unexplained.  Beyond it J rises by
        making the training labels more certain, and predictions stay; 1e-6 comes close to the maximum.
    random_state, n_jobs, verbose, missing_label
        As in `SupervisedReducer`.
    early_stopping : bool, default=False
        Hide `validation_fraction` of the labels, stop when their error has not improved for `n_iter_no_change` steps,
        keep the best iterate.  Not with several labels.
    validation_fraction, n_iter_no_change
        As in `SupervisedReducer`.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        U, learnt with targets.
    transduction_ : array of shape (n_samples,) or (n_samples, n_targets)
        Predictions of all training rows from their own latent rows.
    training_decision_ : array of shape (n_samples,) or (n_samples, K)
        Scores, or predicted values, of all training rows from their own latent rows.
    components_ : array of shape (n_components, m)
        V, on preprocessed columns.
    intercept_x_ : array of shape (m,)
        b_x.
    coef_ : array of shape (K, n_components)
        W', learnt with the embedding, not the calibrated one; regression: in units of Gaussian targets.
    intercept_ : array of shape (K,)
        b_y.
    reconstruction_ : array of shape (n_samples, n_features)
        Expected X of the training rows, in input units.
    label_pull_ : array of shape (n_samples,)
        Largest derivative of the target likelihood by a natural parameter: for labels |y - p|, in [0, 1]; for Gaussian
        and Poisson targets as a share of the largest one.  0 where unlabelled.
    recon_weight_ : float
        lam as used.
    null_losses_ : dict of float
        By how much ``"reconstruction"`` and ``"label"`` can fall, from the means of columns and targets.
    data_singular_values_ : array of shape (n_components,)
        Largest singular values of preprocessed X minus its column means; missing cells count as 0.
    family_x_ : array of str, shape (m,)
        Family of every preprocessed column.
    classes_ : array
        Sorted class labels; with several labels their positions.
    history_ : dict of arrays
        ``"objective"`` (-J), ``"reconstruction"`` (-lam L_X), ``"label"`` (-L_Y), ``"regularisation"``, and
        ``"recon_weight"``, ``"latent_change"``, ``"rank_threshold"``: one value per sweep; of the last sweep only, nan
        before: ``"training_error"``, ``"effective_rank"``, ``"singular_value_1"``, ... (of UV).
    n_iter_, stop_, snapshot_, n_features_in_, feature_names_in_
        As in `SupervisedReducer`.

    Warns
    -----
    UserWarning
        If the ridges leave the reconstruction no component, or if the reconstruction drowns the targets.

    Notes
    -----
    Calibration: the labelled rows are embedded as new ones, tenth by tenth, by loadings that were made without them;
    the GLM of Y is refitted on that, its ridge chosen by left-out rows.  Loadings remember the labels of the rows that
    made them, so that a predictor fitted on ``transform`` of the training rows would be too sure of itself.

    A row of X without observed cells gets u = 0 from `transform`.

    Sparse rows are not made dense, and none of their cells is missing; with columns that are not Gaussian a few rows at
    a time are.

    References
    ----------
    I. Rish, G. Grabarnik, G. Cecchi, F. Pereira, G. Gordon, "Closed-Form Supervised Dimensionality Reduction with
    Generalized Linear Models", ICML 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from supdr import SDRGLM
    >>> X, y = load_wine(return_X_y=True)
    >>> SDRGLM(n_components=2).fit_transform(X, y).shape
    (178, 2)
    """

    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS

    _: KW_ONLY
    early_stopping: bool = False
    validation_fraction: float = 0.2
    n_iter_no_change: int = 10

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        if self.early_stopping and self._several_labels:
            raise ValueError("early_stopping watches one label; y has several: set early_stopping=False")
        super()._check_parameters(X, targets)

    def _fit_shared(self, part: Any, metrics: Collection[Any]) -> SharedFit | None:
        if not may_be_rotated(self, part):
            return None
        return SharedFit(*fit_in_row_space(self, part), "row space shared")


def _chosen_weight(weight: Any, ratio: float, label_loss: float, feature_loss: float) -> float:
    """Return lam: the given weight, or kappa H_Y / H_X for "auto", kappa alone where either explains nothing."""
    if weight != "auto":
        return float(weight)
    return float(ratio) * (label_loss / feature_loss if label_loss > 0.0 and feature_loss > 0.0 else 1.0)


def _warn_of_imbalance(model: BaseSDRGLM, problem: SDRGLMProblem) -> None:
    """Warn the caller of `fit` of ridges that leave no component, and of labels that are hardly seen."""
    label_loss, feature_loss = model._balance
    if feature_loss > 0.0 and problem.all_components_die():
        rank = int(model.history_["effective_rank"][-1])
        warnings.warn(
            "the ridges outweigh the reconstruction: sqrt(reg_u reg_v) / recon_weight is so large that the "
            f"reconstruction alone would keep no component, and the effective rank is {rank} of "
            f"{problem.n_components}. Raise recon_weight ({model.recon_weight_:g}), lower reg_u or reg_v, or set "
            "reg_scaling='lam'",
            UserWarning,
            stacklevel=5,
        )
    outweighed = model.recon_weight_ * feature_loss * model._label_share
    if label_loss > 0.0 and outweighed > DROWNED * (1.0 + 1e-9) * label_loss:
        warnings.warn(
            f"the reconstruction outweighs the targets {outweighed / label_loss:.0f} times: "
            f"the latent rows hardly see them. Lower recon_weight ({model.recon_weight_:g}) or recon_ratio",
            UserWarning,
            stacklevel=5,
        )
