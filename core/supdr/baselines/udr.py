"""Unsupervised reduction with generalised linear models, then a classifier: the baselines of SDR-GLM.

The reduction is SDR-GLM without targets and with lam = 1, which also embeds new rows; the classifier is fitted to the
embedding of the labelled rows.

Source: I. Rish, G. Grabarnik, G. Cecchi, F. Pereira, G. Gordon, "Closed-Form Supervised Dimensionality Reduction with
Generalized Linear Models", ICML 2008, section 5 (Logistic-UDR, SVM-UDR).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Tags

from supdr.engine.common_parameters import SVM_WEIGHT
from supdr.engine.docstrings import with_entries_of
from supdr.engine.fitted import FittedReducer, once_per_snapshot
from supdr.engine.parameters import subset
from supdr.engine.targets import Targets
from supdr.methods.sdr_glm.estimator import SDRGLM, BaseSDRGLM
from supdr.methods.sdr_glm.problem import SDRGLMProblem
from supdr.methods.sdr_glm.state import SDRGLMState
from supdr.solvers.linear_heads import column_spread
from supdr.solvers.linear_svm import Heads, solve_heads

LOGISTIC_TOL = 1e-8


@with_entries_of(SDRGLM)
@dataclass(eq=False, repr=False)
class _Unsupervised(BaseSDRGLM):
    """SDR-GLM without targets, then a classifier on the embedding of the labelled rows.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimension L, >= 1; with ``init="svd"`` no more than there are rows or columns.
    reg_u, reg_v : float, default=0.01
        Ridges of latent rows and loadings, biases included, > 0.
    family_x, solver
        As in `supdr.SDRGLM`.
    preprocessing : {"zscore", "minmax", "whiten", "none"}, default="zscore"
        Applied to Gaussian columns only; "whiten" becomes "zscore" in the cases that `supdr.SDRGLM` lists.
    init, max_iter
        As in `supdr.SDRGLM`.
    tol : float, default=1e-6
        Change of J that counts as convergence, as a share of what the means leave unexplained.
    random_state, n_jobs, verbose, missing_label
        As in `supdr.SDRGLM`.
    """

    embedding_note: ClassVar[str] = "placed without labels"

    # Hyper-parameters of SDR-GLM that are fixed here.
    task: str = field(default="classification", init=False)
    class_weight: Any = field(default=None, init=False)
    column_weight: ArrayLike | None = field(default=None, init=False)
    recon_weight: float | str = field(default=1.0, init=False)
    recon_ratio: float = field(default=1.0, init=False)
    reg_w: float = field(default=1.0, init=False)
    reg_scaling: str = field(default="none", init=False)
    family_y: str | Sequence[str] = field(default="auto", init=False)
    gaussian_c: float = field(default=1.0, init=False)
    negative_binomial_size: float = field(default=1.0, init=False)
    bound: str = field(default="jj", init=False)
    nonnegative: bool = field(default=False, init=False)
    inner: int | None = field(default=1, init=False)
    gauge: bool = field(default=True, init=False)
    calibrate: bool = field(default=True, init=False)
    extrapolate: bool = field(default=True, init=False)

    n_components: int = 2
    _: KW_ONLY
    reg_u: float = 0.01
    reg_v: float = 0.01
    preprocessing: str = "zscore"
    tol: float = 1e-6

    def _problem(self, X: NDArray, targets: Targets) -> SDRGLMProblem:
        return super()._problem(X, targets).without_targets()

    def _expose(self, state: SDRGLMState) -> None:
        """Set nothing: the classifier is fitted when it is needed."""

    @property
    def coef_(self) -> NDArray:
        """Weights of the classifier, (K, n_components)."""
        return self._calibrated_head()[0].T

    @property
    def intercept_(self) -> NDArray:
        """Biases of the classifier, (K,)."""
        return self._calibrated_head()[1]

    def _theta(self, latent: NDArray, calibrated: bool) -> NDArray:
        return super()._theta(latent, True)

    def _finish(self) -> None:
        self._calibrated_head()

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield nothing: the kernels are those of `supdr.SDRGLM`."""
        yield from ()


@dataclass(eq=False, repr=False)
class LogisticUDR(_Unsupervised):
    """Unsupervised reduction, then logistic regression (softmax for several classes) with ridge 1.

    Parameters
    ----------
    n_components, reg_u, reg_v, family_x, solver, preprocessing, init, max_iter, tol
        As in `_Unsupervised`.
    random_state, n_jobs, verbose, missing_label
        As in `_Unsupervised`.
    """

    parameters = (
        *subset(
            SDRGLM.parameters,
            *("n_components", "reg_u", "reg_v", "family_x", "solver", "preprocessing", "init", "max_iter", "tol"),
            *("random_state", "n_jobs", "verbose", "missing_label"),
        ),
    )

    @once_per_snapshot
    def _calibrated_head(self) -> tuple[NDArray, NDArray]:
        Y, codes = self._targets.Y, self._targets.codes
        latent = self._latent(self._training[0])
        spread = column_spread(latent[self._targets.observed])
        # One softmax, or one model for each label, whose cells may be missing.
        labels = np.where(self._targets.observed, Y.argmax(axis=1), np.nan)[:, None] if codes is None else Y
        weights = self._training[1].weights
        machines = [_logistic(latent / spread, labels[:, k], weights) for k in range(labels.shape[1])]
        coef, intercept = (np.concatenate(parts) for parts in zip(*machines))
        return coef.T / spread[:, None], intercept


def _logistic(latent: NDArray, labels: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
    """Return weights (K, L) and biases (K,) of the rows whose label is not NaN; K = 1 for two classes."""
    labelled = ~np.isnan(labels)
    model = LogisticRegression(tol=LOGISTIC_TOL, max_iter=1000)
    model.fit(latent[labelled], labels[labelled], sample_weight=weights[labelled])
    return model.coef_, model.intercept_


@dataclass(eq=False, repr=False)
class SVMUDR(_Unsupervised):
    """Unsupervised reduction, then linear support vector machines on latent columns of unit deviation.

    Parameters
    ----------
    n_components, reg_u, reg_v, family_x, solver, preprocessing, init, max_iter, tol
        As in `_Unsupervised`.
    random_state, n_jobs, verbose, missing_label
        As in `_Unsupervised`.
    C : float, default=1.0
        Hinge weight, > 0.
    """

    parameters = (replace(SVM_WEIGHT, main=True), *LogisticUDR.parameters)

    family_y: str | Sequence[str] = field(default="bernoulli", init=False)

    _: KW_ONLY
    C: float = 1.0

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        super()._check_parameters(X, targets)
        if self._several_labels:
            raise ValueError("y should be a 1d array: SVMUDR predicts one label")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        return tags

    # Scores of a machine are no probabilities, unlike those of SDR-GLM's own heads.
    predict_proba = FittedReducer.predict_proba

    @property
    def label_pull_(self) -> NDArray:
        """Largest multiplier of each training row as a share of C, (n_samples,); 0 for rows beyond their margins."""
        pull = np.zeros(len(self._targets.observed))
        largest = float(self.C) * self._training[1].weights[self._targets.observed]
        pull[self._targets.observed] = (self._machines()[0].alpha / largest[:, None]).max(axis=1)
        return np.clip(pull, 0.0, 1.0)

    def _calibrated_head(self) -> tuple[NDArray, NDArray]:
        machines, spread = self._machines()
        return machines.coef.T / spread[:, None], machines.intercept

    @once_per_snapshot
    def _machines(self) -> tuple[Heads, NDArray]:
        """Return one machine per class (one for two), and the deviations by which the columns were divided."""
        X, targets = self._training
        features = self._latent(X[targets.labelled])
        spread = column_spread(features)
        signs, C = targets.values[targets.labelled], float(self.C) * targets.weights[targets.labelled]
        return solve_heads(features / spread, signs, C, n_jobs=self.n_jobs), spread
