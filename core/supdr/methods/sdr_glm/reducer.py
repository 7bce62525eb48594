"""What SDR-GLM does between its constructor and its problem: targets, latent rows, predictions, warnings."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from supdr.engine.fitted import predicts_classes
from supdr.engine.preprocessing import Preprocessing
from supdr.engine.reconstruction import Reconstructing
from supdr.engine.targets import Targets
from supdr.functions.families import BERNOULLI, FAMILIES, check_values, means, null_loss
from supdr.methods.sdr_glm.features import WeightedFeatures
from supdr.methods.sdr_glm.prediction import embed, fit_head
from supdr.methods.sdr_glm.problem import SDRGLMProblem, SDRGLMState
from supdr.methods.sdr_glm.shell import column_preprocessing, decode_columns, target_side
from supdr.methods.sdr_glm.solvers import SOLVERS
from supdr.solvers.low_rank import leading_singular_values

DROWNED = 100.0
"""From this lam H_X / H_Y on the labels hardly move the latent rows."""


def _is_probabilistic(estimator: Any) -> bool:
    return predicts_classes(estimator) and estimator.is_probabilistic


class GLMReducer(Reconstructing):
    """Base of `supdr.SDRGLM` and of the reductions it is compared with, whose constructors set the hyper-parameters."""

    accepts_missing_cells: ClassVar[bool] = True
    is_probabilistic: ClassVar[bool] = True

    n_components: int
    family_x: Any
    family_y: Any
    recon_weight: Any
    recon_ratio: float
    reg_u: float
    reg_v: float
    reg_w: float
    reg_scaling: str
    gaussian_c: float
    bound: str
    solver: str
    inner: int | None
    gauge: bool
    preprocessing: str
    calibrate: bool
    init: Any
    missing_label: Any
    _input_codes: NDArray

    # --- use ----------------------------------------------------------------------------------------------------------

    @available_if(_is_probabilistic)
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Return class probabilities; with several labels, the probability of each being 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples, n_classes) or (n_samples, n_labels)
        """
        theta = self._theta(self._latent(self._prepare(X)), self._calibrated())
        probability = self._targets.expected(theta)
        if self._several_labels:
            return probability
        if probability.shape[1] == 1:
            return np.concatenate([1.0 - probability, probability], axis=1)
        return probability / probability.sum(axis=1, keepdims=True)  # one-vs-rest heads do not add up to 1

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy (with several labels: of all of them at once), or R² for regression.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            True labels or values.
        sample_weight : array-like of shape (n_samples,), optional
            Weights.

        Returns
        -------
        float
        """
        if not self._several_labels:
            return super().score(X, y, sample_weight)
        return float(accuracy_score(np.asarray(y).astype(int), self.predict(X), sample_weight=sample_weight))

    @property
    def components_(self) -> NDArray:
        """Loadings V, (n_components, m)."""
        return self._loadings()[0]

    @property
    def intercept_x_(self) -> NDArray:
        """Biases b_x, (m,)."""
        return self._loadings()[1]

    @property
    def label_pull_(self) -> NDArray:
        """Largest pull of a target on each training row, (n_samples,), in [0, 1]."""
        check_is_fitted(self)
        pull = np.abs(self._targets.pull(self._theta(self._own_latent(), False))).max(axis=1)
        labels = self._targets.codes is None or (self._targets.codes == BERNOULLI).all()
        return pull if labels else pull / max(float(pull.max()), np.finfo(float).tiny)

    @property
    def null_losses_(self) -> dict[str, float]:
        """By how much ``"reconstruction"`` and ``"label"`` can fall, from the means of columns and targets."""
        check_is_fitted(self)
        label_loss, feature_loss = self._balance
        return {"reconstruction": self.recon_weight_ * feature_loss, "label": label_loss}

    @property
    def data_singular_values_(self) -> NDArray:
        """Largest singular values of preprocessed X minus its column means, (n_components,); missing cells count as 0.

        Without targets, the ridges leave a component to those that exceed ``history_["rank_threshold"]``.
        """
        check_is_fitted(self)
        return leading_singular_values(self._training[0], int(self.n_components))

    # --- what the shell asks for --------------------------------------------------------------------------------------

    def _validate(self, X: ArrayLike, y: ArrayLike | None) -> tuple[NDArray, Targets]:
        labels: NDArray = np.empty(0) if y is None else np.asarray(y)
        self._several_labels = predicts_classes(self) and labels.ndim == 2 and labels.shape[1] > 1
        if labels.ndim < 2 or (predicts_classes(self) and not self._several_labels):
            return super()._validate(X, y)
        X = self._checked(X, reset=True)
        targets = decode_columns(labels, len(X), self.task, self.missing_label)
        if self._several_labels:
            self.classes_ = np.arange(labels.shape[1])
        self._single_target = False
        return X, targets

    def _fit_preprocessing(self, X: NDArray) -> Preprocessing:
        preprocessing, self._codes = column_preprocessing(X, self.preprocessing, self._input_codes)
        return preprocessing

    def _problem(self, X: NDArray, targets: Targets) -> SDRGLMProblem:
        n_columns = X.shape[1]
        if isinstance(self.init, str) and self.init == "svd" and self.n_components > min(X.shape):
            raise ValueError(
                f"n_components={self.n_components} exceeds the {len(X)} rows or {n_columns} columns: init='svd' allows "
                f"{min(X.shape)} at most, n_samples = {len(X)}, n_features = {n_columns}; init='random' allows more"
            )
        self._targets, self._target_mean, self._target_scale = target_side(
            self.family_y, targets, self._several_labels, float(self.gaussian_c), self.bound
        )
        self._balance = self._targets.null_loss(), null_loss(self._codes, X, float(self.gaussian_c))[0]
        weight: Any = self.recon_weight
        if weight == "auto":
            weight = float(self.recon_ratio) * _ratio(*self._balance)
        self.recon_weight_ = float(weight)
        self.family_x_ = np.array(FAMILIES)[self._codes]
        scaling = self.recon_weight_ if self.reg_scaling == "lam" else 1.0
        self._reg_u = scaling * float(self.reg_u)
        return SOLVERS[self.solver](
            X=X,
            codes=self._codes,
            targets=self._targets,
            n_components=int(self.n_components),
            weight=self.recon_weight_,
            reg_u=self._reg_u,
            reg_v=scaling * float(self.reg_v),
            reg_w=float(self.reg_w),
            c=float(self.gaussian_c),
            bound=self.bound,
            inner=1 if self.solver == "literal" else self.inner,
            gauge=bool(self.gauge),
            init=self.init if isinstance(self.init, str) else np.array(self.init, dtype=float),
        )

    def _expose(self, state: SDRGLMState) -> None:
        self.coef_ = state.coef.T * self._target_scale[:, None]
        self.intercept_ = state.intercept * self._target_scale + self._target_mean

    def _latent(self, X: NDArray) -> NDArray:
        check_values(self._codes, X, "X")
        features = WeightedFeatures(X, self._codes, float(self.gaussian_c), self.bound)
        components, intercept_x = self._loadings()
        loadings = np.concatenate([components, intercept_x[None]])
        return embed(features, loadings, self.recon_weight_, self._reg_u)

    def _reconstructed(self, latent: NDArray) -> NDArray:
        """Return the families' means of U V + b_x."""
        theta = latent @ self.components_
        theta += self.intercept_x_
        return means(self._codes, theta)

    def _theta(self, latent: NDArray, calibrated: bool) -> NDArray:
        """Return the natural parameters of the targets of latent rows, (n, K)."""
        coef, intercept = self._calibrated_head() if calibrated else (self._state.coef, self._state.intercept)
        return latent @ coef + intercept

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        theta = self._theta(latent, calibrated)
        if not predicts_classes(self):
            return self._targets.expected(theta) * self._target_scale + self._target_mean
        if self._targets.codes is None and theta.shape[1] == 2:
            return theta[:, 1:] - theta[:, :1]
        return theta

    def _decide(self, scores: NDArray) -> NDArray:
        return (scores > 0.0).astype(int) if self._several_labels else super()._decide(scores)

    def _loadings(self) -> tuple[NDArray, NDArray]:
        check_is_fitted(self)
        state = self._state
        if not state.in_rows:
            return state.components, state.intercept_x
        if "loadings" not in self._memo:
            X = self._training[0]
            self._memo["loadings"] = state.components @ X, state.intercept_x @ X
        return self._memo["loadings"]

    def _calibrated_head(self) -> tuple[NDArray, NDArray]:
        """Return W and b_y refitted on the embedding of the labelled rows; computed once per snapshot."""
        if "calibrated" not in self._memo:
            rows = self._targets.observed
            features = np.zeros((len(rows), len(self._state.coef)))
            features[rows] = self._latent(self._training[0][rows])
            self._memo["calibrated"] = fit_head(features, self._targets)
        return self._memo["calibrated"]

    def _finish(self) -> None:
        if self.calibrate:
            self._calibrated_head()
        label_loss, feature_loss = self._balance
        if feature_loss > 0.0 and self._problem(*self._training).all_components_die():
            warnings.warn(
                "the ridges outweigh the reconstruction: sqrt(reg_u reg_v) / recon_weight is so large that it keeps no "
                f"component by itself, and the effective rank is {int(self.history_['effective_rank'][-1])} of "
                f"{self.n_components}. Raise recon_weight ({self.recon_weight_:g}), lower reg_u or reg_v, or set "
                "reg_scaling='lam'",
                UserWarning,
                stacklevel=4,
            )
        if self.recon_weight_ * feature_loss > DROWNED * (1.0 + 1e-9) * label_loss:
            warnings.warn(
                f"the reconstruction outweighs the targets {self.recon_weight_ * feature_loss / label_loss:.0f} times: "
                f"the latent rows hardly see them. Lower recon_weight ({self.recon_weight_:g}) or recon_ratio",
                UserWarning,
                stacklevel=4,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = self.task == "regression"
        return tags


def _ratio(label_loss: float, feature_loss: float) -> float:
    """Return H_Y / H_X, 1 where X (or Y) has nothing to explain."""
    return label_loss / feature_loss if label_loss > 0.0 and feature_loss > 0.0 else 1.0
