"""MAC: a nonlinear mapping and linear support vector machines, learnt together by auxiliary coordinates.

    E(W, U, b) = reg_w |W|^2 + 1/2 |U|^2 + C sum_{n,k} [1 - Y_nk (u_k'F(x_n) + b_k)]_+,      F(x) = W phi(x)

X (N, D) inputs   phi(x) (M,) Gaussians around centres, or the columns themselves   Z (N, L) a free target per point
U (P, L), b (P,) classifiers: P = 1 for two classes, K one against the rest, K (K - 1) / 2 one against one

Source: W. Wang, M. Á. Carreira-Perpiñán, "The role of dimensionality reduction in linear classification", AAAI 2014.
Errata: besides those noted where the formulas stand, a random start does not work with one-vs-rest classifiers (the
trivial classifier u = 0, b = -1 attracts), L = K - 1 is not always enough for the optimum of E, and "stop when the
validation error does not change" stops on any plateau: `n_iter_no_change` such steps in a row do.
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

from supdr.engine.estimator import SharedFit
from supdr.engine.iterate import Monitor, Problem, Snapshot
from supdr.engine.parameters import Parameter
from supdr.engine.preprocessing import Preprocessing, fit_preprocessing
from supdr.engine.reuse import reused
from supdr.engine.targets import Targets
from supdr.methods.mac.bounds import Bounded
from supdr.methods.mac.classes import simplex_codes
from supdr.methods.mac.distributed import SUPPORT, PartitionedPenalty
from supdr.methods.mac.fitted import FittedMAC
from supdr.methods.mac.parameters import PARAMETERS, check_beside_data
from supdr.methods.mac.problem import MACProblem
from supdr.methods.mac.regressor import as_mapping, has_features
from supdr.methods.mac.solvers import SOLVERS, LeftOut, Passes, RegressorPenalty
from supdr.methods.mac.state import MACState
from supdr.methods.mac.two_layer import TwoLayerProblem, TwoLayerState
from supdr.rows.in_partitions import PartitionSupport
from supdr.solvers.leave_one_out import best_scaling

# A classifier whose scores differ by less, where the margin is 1 on either side, does not separate the points.
TRIVIAL = 0.01


@dataclass(eq=False, repr=False)
class MAC(FittedMAC):
    """Low-dimensional support vector machine on a learnt nonlinear mapping.

    Rows are mapped into L dimensions by a radial basis function network, linearly, or by any regressor with several
    outputs; linear support vector machines classify them there; both minimise one objective.  Every row has an
    auxiliary target in the latent space, so that each half of a pass is an ordinary fit: support vector machines on the
    targets, regression onto them.

    Parameters
    ----------
    n_components : int or None, default=None
        L, >= 1.  None: K - 1, the room a simplex of K classes needs.  K allows the optimum of E.
    mapping : {"rbf", "linear", "perceptron"} or regressor, default="rbf"
        F: Gaussians around centres, the columns themselves, or a scikit-learn regressor, which is cloned and fitted to
        the targets in every pass, see Notes.  "perceptron": an ``MLPRegressor`` with two hidden layers of 32 units that
        continues from its weights.  A regressor needs ``solver="mac"``, one layer and rows in memory.
    n_centers : int or None, default=None
        M, 1 to n_samples.  None: a quarter of the labelled rows n, at least 1000 (or all rows, if they are fewer), more
        than 1000 only as far as n M^2 <= 1e12; with two layers see Notes.
    centers : {"kmeans", "random", "all"} or array of shape (M, D), default="kmeans"
        Where the Gaussians sit; an array is in preprocessed coordinates.
    gamma : float, "loo" or "median", default="loo"
        1 / (2 sigma^2), > 0.  "loo": sigma is a multiple of the median distance, chosen together with `reg_w`;
        "median": the median distance.
    reg_w : float or "loo", default="loo"
        lambda, ridge on the mapping, > 0.  "loo": the one at which the first pass, a ridge regression on the class
        codes, has the smallest leave-one-out score, see Notes.  Not for a regressor, which has its own.
    C : float, default=1.0
        Weight of the hinge, > 0.
    class_weight
        As in `SupervisedReducer`.
    mu : float, default=2.0
        First value of the penalty that ties targets to images, > 0.
    mu_factor : float, default=1.5
        What mu is multiplied by, >= 1; 1 keeps it.  With a regressor mu keeps its value, see Notes.
    inner_tol : float, default=1e-2
        mu grows when a pass lowers the penalised objective by a smaller share than this, >= 0 ...
    max_inner : int, default=1
        ... or after this many passes, >= 1.  1: after every pass.  The paper raises mu when the passes at this mu have
        converged: so does 50, and mostly ends at a lower E where `early_stopping` is False.
    scheme : {"ova", "ovo"}, default="ova"
        One classifier per class against the rest, or one per pair of classes.
    init : {"simplex", "blobs", "random", "pca"} or array of shape (n_labelled, L), default="simplex"
        First targets.  The paper starts from a simplex, from blobs around random means, and at random, which rarely
        works with "ova".  "pca", not in the paper: principal coordinates of the rows: a run begins at the data.
    init_noise : float, default=0.01
        Standard deviation of the noise added to a simplex start, >= 0.  Without it coordinates beyond K - 1 stay 0.
    calibrate : bool, default=True
        Whether `predict` uses a softmax that is fitted to the leave-one-out images of the labelled rows, in place of
        the classifiers of E.  One layer, "rbf" or "linear", solvers "mac" and "admm", three labelled rows a class; else
        it does nothing.
    n_layers : {1, 2}, default=1
        2: a second mapping from leave-one-out codes of the first to a plane; see Notes.
    latent_reference : {"loo", "train"}, default="loo"
        Two layers: whether `embedding_` shows leave-one-out positions, comparable with those of new rows, or fitted
        ones.
    head : {"ridge", "mix"}, default="mix"
        Two layers: ridge regression to the plane, or class corners mixed by probabilities.  "mix" has fewer errors with
        five classes and more, "ridge" shows more within a class.
    solver : {"mac", "admm", "lbfgs", "fixed_point"}, default="mac"
        "mac": the paper's passes with growing mu, see `max_inner`; "admm": fixed mu with multipliers; "lbfgs": mapping
        and classifiers jointly, reaches a much lower E; "fixed_point": the optimum of E, two classes only.
    early_stopping : "loo" or bool, default="loo"
        "loo": the passes ("mac", "admm") go on while the closed-form leave-one-out error of F falls by one standard
        error within `n_iter_no_change` passes, and the last pass that lowered it so is kept; no label is hidden.
        A regressor has no such closed form: all `max_iter` passes.
        True: hide `validation_fraction` of the labels and keep the iterate with the smallest error on them.
        False: `max_iter` passes.
    validation_fraction
        As in `SupervisedReducer`.
    n_iter_no_change : int, default=4
        Steps without improvement before early stopping ends the run.
    max_iter : int, default=30
        Steps, >= 1.
    tol : float, default=1e-6
        Stop when E changes by no more than this share within a stage.
    random_state
        As in `SupervisedReducer`.
    n_jobs : int or None, default=None
        Threads over points (targets) and over classifiers.
    verbose
        As in `SupervisedReducer`.
    missing_label : object, default=nan
        Marks unlabelled rows, besides NaN and None.  They are mapped, and may become centres; nothing else.
    preprocessing : {"loo", "zscore", "none", "minmax", "whiten"}, default="loo"
        Fitted inside.  "loo": "zscore", "none" or "minmax", by the leave-one-out score, see Notes; "zscore" for a
        regressor.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, L)
        F of the training rows; with two layers see `latent_reference`.
    transduction_ : array of shape (n_samples,)
        Classes of all rows, unlabelled ones included, from `embedding_`.
    training_decision_ : array of shape (n_samples,) or (n_samples, n_classes)
        Scores of all training rows from `embedding_`; shaped as by ``decision_function``.
    targets_ : array of shape (n_samples, L)
        z; the image itself for unlabelled rows.
    case_ : int array of shape (n_samples,)
        1: the target stays on its image, which satisfies every margin; 2: it was pulled to where margins are met;
        3: it was pulled as far as C allows; 0: unlabelled.
    class_means_ : array of shape (K, L)
        Means of the images of every class.
    simplex_ : dict
        "edge_ratio", "spread", "sv_ratio" of the class means: how close they are to a regular simplex.
    coef_, intercept_ : arrays of shape (P, L) and (P,)
        The classifiers.
    mapping_weights_ : array of shape (L, M)
        W; not for a regressor.
    mapping_ : Mapping or regressor
        Kind, centres and gamma of the features; the fitted regressor, which takes preprocessed rows.
    centers_ : array of shape (M, D)
        Centres in preprocessed coordinates (the mean, for the linear mapping); not for a regressor.
    gamma_ : float
        Chosen or given gamma; not for a regressor.
    reg_w_ : float
        Chosen or given reg_w; one layer; not for a regressor.
    scaling_ : str
        What was applied to the columns, chosen or given.
    support_ : int array of shape (n_support,)
        Rows with a non-zero multiplier in some classifier.
    n_support_ : int array of shape (K,)
        Their number in every class.
    support_fraction_ : float
        Their share of the labelled rows.
    dual_coef_ : array of shape (P, n_support)
        alpha Y.
    label_pull_ : array of shape (n_samples,)
        max_k alpha_k / (C times the row's weight) in [0, 1]: how hard a row's label pulls; 0 for unlabelled rows.
    classes_, n_features_in_, feature_names_in_, n_iter_, stop_, snapshot_
        As in `SupervisedReducer`.
    history_ : dict of str to array
        "objective" (E) and its terms "label", "margin", "regularisation"; "surrogate" (what the solver descends at
        fixed "mu": Q_mu, or the rounded E), "bound" (certified: no mapping and classifiers have a smaller E), "gap",
        "edge_ratio", "spread", "sv_ratio", "target_distance", "support_fraction", "training_error", "case_1" to
        "case_3" (shares of rows); one value per step.  "bound" and "gap" are found when the passes are over and hold
        for all steps; of "edge_ratio" and what follows only the last value is computed, NaN before.

    Notes
    -----
    E rises and falls under "mac": passes descend Q_mu, and mu changes.  "bound" comes from the convex problem that E
    is without the limit on the dimension.  `fit` searches for it at its end, until it is within 1 % of a point in
    enough dimensions or about a second of work is done; a snapshot's diagnostics move the search on by a step.

    "loo": width and ridge are those at which the ridge regression on the class codes does best on rows that it has not
    seen, by exact leave-one-out: share of wrong rows, where a code near 0 counts as wrong, plus .3 times the mean
    squared distance to the own code (with many rows and centres on a random subset).  The scaling of the columns is
    chosen by the same score on at most 400 rows.  With more than 4000 labelled rows, those that are left out in turn,
    2000 at most, make no centres; widths near the one chosen on the subset are compared on a larger one, and with more
    than 1000 centres ridges near the chosen one on all rows.  Fewer than three labelled rows a class: the median
    distance, reg_w = 1e-3 and z-scores.  Weights of rows play no part in these choices.

    Two layers (``n_layers=2``, n_components=None is 2): kernel ridge regression from the rows to simplex codes, then
    from leave-one-out codes to K points on a circle.  Widths and ridges are chosen by leave-one-out error; every step
    tries one width, the last uses all rows.  `n_centers` (None: all rows up to 2000, else 2000 random ones) and `head`
    apply, the parameters of passes and classifiers do not.  A class becomes a spoke: a row's radius is its typicality,
    doubtful rows lie near the centre.  Attributes: `hidden_`, `hidden_left_out_` (n_labelled, K - 1), `plane_`,
    `plane_left_out_` (n_labelled, L), `widths_`; `coef_` and `intercept_` score nearness to the K points; there are no
    support vectors.  History: "label" and "square" (left-out error and squared error of the codes), "plane_error".

    A regressor as `mapping` is fitted to preprocessed rows and targets (n, L), or (n,) for L = 1 where it takes single
    outputs.  The objective is then Q_mu without a ridge on F, ``"label"`` + ``"margin"`` + ``"penalty"``:

        1/2 |U|^2 + C sum [1 - Y_nk (u_k'z_n + b_k)]_+ + mu / 2 sum_n |z_n - F(x_n)|^2

    It falls from pass to pass where `fit` minimises the squared error.  A regressor's regularisation weighs as much
    beside the squared distances at every mu: under a growing mu F would shrink, so that mu stays; set another one to go
    on from a snapshot.  ``warm_start=True`` of the regressor, or of the last step of a pipeline, continues from its
    weights; ensembles, whose warm start keeps the members for earlier targets, are refused with it.  Every
    ``random_state`` of the regressor is drawn from that of this estimator.  Weights of rows multiply the hinge alone
    and are not passed on, as with the other mappings.  There is no "bound", "gap" or "surrogate": a bound needs a
    mapping that is linear in its parameters.

    Sparse rows are for ``mapping="linear"``, one layer and the solvers "mac", "admm" and "lbfgs".  They are not made
    dense, but for features of at most 1000 columns and 4 million cells.  `reg_w` is then chosen on at most 1500 rows.
    With more than 1500 rows and columns W is found by LSMR, and left-out images are those of 256 rows, their leverages
    found by 30 Lanczos steps.  Where features are not formed, "bound" rests on the multipliers of the passes.

    Features of the training rows are kept in half of scikit-learn's ``working_memory``, or computed again in blocks.

    References
    ----------
    W. Wang, M. Á. Carreira-Perpiñán, "The role of dimensionality reduction in linear classification", AAAI 2014.

    Examples
    --------
    >>> from supdr import MAC
    >>> from supdr.datasets import make_spirals
    >>> X, y = make_spirals(random_state=0).to_xy()
    >>> MAC(max_iter=10, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    partition_support: ClassVar[PartitionSupport] = SUPPORT
    solvers: ClassVar[dict[str, type[MACProblem]]] = SOLVERS

    _bounded = True  # Whether a run searches for a lower bound, which takes time.

    n_components: int | None = None
    _: KW_ONLY
    mapping: Any = "rbf"
    n_centers: int | None = None
    centers: str | ArrayLike = "kmeans"
    gamma: float | str = "loo"
    reg_w: float | str = "loo"
    C: float = 1.0
    class_weight: Any = None
    mu: float = 2.0
    mu_factor: float = 1.5
    inner_tol: float = 1e-2
    max_inner: int = 1
    scheme: str = "ova"
    init: str | ArrayLike = "simplex"
    init_noise: float = 0.01
    calibrate: bool = True
    n_layers: int = 1
    latent_reference: str = "loo"
    head: str = "mix"
    solver: str = "mac"
    early_stopping: bool | str = "loo"
    validation_fraction: float = 0.2
    n_iter_no_change: int = 4
    max_iter: int = 30
    tol: float = 1e-6
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan
    preprocessing: str = "loo"

    # --- the hooks of the shell ---------------------------------------------------------------------------------------

    def _dense_only(self) -> str:
        if self.n_layers == 2:
            return "n_layers=2 takes distances between dense rows; n_layers=1 with mapping='linear' takes sparse ones"
        if not isinstance(self.mapping, str) or self.mapping != "linear":
            return f"mapping={self.mapping!r} takes dense rows; mapping='linear' takes sparse ones"
        if self.solver == "fixed_point":
            return (
                "solver='fixed_point' keeps all features in memory; solver='mac', 'admm' and 'lbfgs' take sparse rows"
            )
        return ""

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        n_classes = len(targets.classes) if targets.classes is not None else 0
        check_beside_data(self, X, int(targets.labelled.sum()), n_classes)

    def _problem(self, X: NDArray, targets: Targets) -> Problem:
        assert targets.classes is not None
        rows = targets.labelled
        labelled = X[rows] if not rows.all() else X
        n_classes = len(targets.classes)
        if not isinstance(self.centers, str) and np.shape(self.centers)[1] != X.shape[1]:
            raise ValueError(
                f"centers must have {X.shape[1]} columns like preprocessed rows; got {np.shape(self.centers)[1]}"
            )
        shared = {
            "X": labelled,
            "codes": targets.codes[rows],
            "n_classes": n_classes,
            "n_components": self._latent_dimension(n_classes),
            "scaling": self._preprocessing.kind,
        }
        if self.n_layers == 2:
            if (targets.weights != 1.0).any():
                raise ValueError("sample_weight and class_weight must be None with n_layers=2, which cannot weigh rows")
            n_centers = len(labelled) if self.centers == "all" else self.n_centers
            shared |= {"n_centers": n_centers}
            return self._problem_of(TwoLayerProblem, distributed=TwoLayerProblem, **shared)
        mapping = as_mapping(self.mapping, X.shape[1])
        solver = self.solvers[self.solver] if isinstance(mapping, str) else RegressorPenalty
        return self._problem_of(
            solver,
            distributed=PartitionedPenalty,
            **shared,
            pool=X,
            labelled=rows,
            mapping=mapping,
            n_jobs=None if self._partitioned else self.n_jobs,  # a worker has its own number of threads
            row_weights=targets.weights[rows],
            bounded=self._bounded,
        )

    def _fit_preprocessing(self, X: NDArray, targets: Targets, start: Snapshot | None) -> Preprocessing:
        if not (isinstance(self.preprocessing, str) and self.preprocessing == "loo"):
            return fit_preprocessing(self._columns_of(X), self.preprocessing)
        if start is not None:
            return fit_preprocessing(self._columns_of(X), start.state.scaling)
        if not has_features(self.mapping):
            return fit_preprocessing(self._columns_of(X), "zscore")  # the choice is one of Gaussians
        assert targets.classes is not None
        rows, corners = targets.labelled, simplex_codes(len(targets.classes))
        inputs = (X, rows, targets.codes)
        kind = reused("MAC scaling", lambda: inputs, lambda: best_scaling(X, rows, targets.codes[rows], corners))
        return fit_preprocessing(self._columns_of(X), kind)

    def _monitor(self, problem: Problem) -> Monitor | None:
        return LeftOut(problem) if self.early_stopping == "loo" and isinstance(problem, Passes) else None

    def _unfitted(self) -> Any:
        other = super()._unfitted()
        if not self._bounded:
            other._bounded = False
        return other

    def _to_be_scored(self) -> Any:
        other = super()._to_be_scored()
        other._bounded = False
        return other

    def _fit_shared(self, part: Any, metrics: Collection[Any]) -> SharedFit | None:
        """Fit without the search for a lower bound, of which the passes know nothing, unless a metric needs it."""
        if type(self) is not MAC or self.n_layers != 1 or not all(map(_knows_no_bound, metrics)):
            return None
        other = clone(self)
        other._bounded = False
        return SharedFit(other.fit(part.X, part.y), None, "")

    def _finish(self) -> None:
        if self.n_layers == 2:
            return
        if self._calibrated():
            self._calibrated_head()
        problem = self._problem_in_use()
        if self._bounded and isinstance(problem, Bounded):
            bound = problem.closed_bound(self._state)
            self.history_["bound"][:] = bound  # of the optimum, hence of every step
            self.history_["gap"] = self.history_["objective"] - bound
        scores = self._state.latent @ self.coef_.T
        trivial = int((np.ptp(scores, axis=0) < TRIVIAL).sum())
        if trivial:
            warnings.warn(
                f"{trivial} of {scores.shape[1]} classifiers say the same of every point: use "
                "init='simplex', scheme='ovo', a larger C or a smaller reg_w",
                ConvergenceWarning,
                stacklevel=5,
            )

    # --- parts --------------------------------------------------------------------------------------------------------

    def _latent_dimension(self, n_classes: int) -> int:
        if self._component_setting is None:
            return 2 if self.n_layers == 2 else n_classes - 1
        return int(self._component_setting)

    @staticmethod
    def _components_of(state: MACState | TwoLayerState) -> int | None:
        return None if isinstance(state, TwoLayerState) else state.weights.shape[1]

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters whose fits on a few rows compile every kernel."""
        yield {"max_iter": 2}
        yield {"max_iter": 2, "scheme": "ovo", "n_jobs": 2}
        yield {"max_iter": 2, "n_layers": 2}


def _knows_no_bound(metric: Any) -> bool:
    return isinstance(metric, str) and metric not in ("bound", "gap")
