"""Reduction first, classifier second: the pipelines that the papers compare with.

A projection is learnt (with or without labels), then k nearest neighbours or a support vector machine, linear or
Gaussian, is trained on the projected rows.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.svm import SVC

from supdr.baselines._parameters import AUTOMATIC_COMPONENTS, HEAD, MEDIAN_GAMMA, SEEDED, STEPS
from supdr.baselines.one_shot import OneShot
from supdr.engine.common_parameters import COMPONENTS
from supdr.engine.parameters import Parameter
from supdr.solvers.distances import median_distance


class Reduced(BaseEstimator):
    """A transformer, then a classifier on what it returns."""

    def __init__(self, reducer: Any, head: Any) -> None:
        self.reducer = reducer
        self.head = head

    def fit(self, X: NDArray, y: NDArray) -> Reduced:
        """Fit the transformer, then the classifier.

        `X` (n, m): rows; `y` (n,): class codes.
        """
        self.reducer.fit(X, y)
        latent = self.reducer.transform(X)
        self.head.fit(latent, y)
        if hasattr(self.head, "support_"):
            self.support_ = self.head.support_
        return self

    def predict(self, X: NDArray) -> NDArray:
        """Return the class codes (n,) of rows (n, m)."""
        return self.head.predict(self.reducer.transform(X))


class Projection(OneShot):
    """Base of the pipelines: subclasses name the transformer.

    Parameters
    ----------
    n_components : int or None
        Latent dimension, >= 1; no more than data or method allow is used.
    head : {"knn", "svm", "rbf"}
        Classifier on the projected rows: nearest neighbours, a linear support vector machine or one with the kernel
        exp(-head_gamma |z - z'|^2).
    n_neighbors : int
        Neighbours of "knn", >= 1.
    C : float
        Hinge weight of "svm" and "rbf", > 0.
    head_gamma : float or "scale"
        Sharpness of "rbf", > 0; "scale" is 1 / (d v), with the number d of latent coordinates and the variance v of all
        their values.
    """

    n_components: int | None
    head: str
    n_neighbors: int
    C: float
    head_gamma: float | str

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        raise NotImplementedError

    def _model(self) -> BaseEstimator:
        X, targets = self._training
        assert targets.classes is not None
        labelled = targets.labelled
        n_labelled, n_classes = int(labelled.sum()), len(targets.classes)
        n_components = min(2 if self.n_components is None else self.n_components, X.shape[1], n_labelled)
        return Reduced(self._reducer(X[labelled], n_classes, n_components), make_head(self, n_labelled))

    def _latent(self, X: NDArray) -> NDArray:
        return np.asarray(self.model_.reducer.transform(X))

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        return head_scores(self.head, self.model_.head, latent)


def make_head(estimator: Any, n_rows: int) -> Any:
    """Return the classifier of a pipeline, not fitted.

    `estimator`: with ``head, n_neighbors, C, head_gamma``. `n_rows`: number of labelled rows; no more neighbours are
    used.
    """
    if estimator.head == "svm":
        return SVC(C=estimator.C, kernel="linear", break_ties=True)
    if estimator.head == "rbf":
        return SVC(C=estimator.C, kernel="rbf", gamma=estimator.head_gamma, break_ties=True)
    return KNeighborsClassifier(min(estimator.n_neighbors, n_rows))


def head_scores(kind: str, head: Any, latent: NDArray) -> NDArray:
    """Return scores (n, K), or (n, 1) for two classes, of latent rows.

    `kind`: one of "knn", "svm", "rbf"; `head`: of `make_head`, fitted; `latent` (n, d).
    """
    if kind != "knn":
        return head.decision_function(latent).reshape(len(latent), -1)
    share = head.predict_proba(latent)
    return share[:, 1:] - 0.5 if share.shape[1] == 2 else share


def rbf_gamma(gamma: float | str, X: NDArray, seed: int) -> float:
    """Return a given gamma, or for "median" 1 / (2 s^2) with the median distance s between rows (n, m).

    `gamma`: > 0; `X` (n, m): rows; `seed`: chooses the rows whose distances are looked at. Raises ValueError if gamma
    is neither.
    """
    if isinstance(gamma, str):
        return 0.5 / median_distance(X, np.random.default_rng(seed)) ** 2
    return float(gamma)


@dataclass(eq=False, repr=False)
class PCAProjection(Projection):
    """Principal components, then k nearest neighbours or an SVM.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimension.
    head : {"knn", "svm", "rbf"}, default="knn"
        Classifier on the projected rows.
    n_neighbors : int, default=5
        Neighbours of "knn".
    C : float, default=1.0
        Hinge weight of "svm" and "rbf".
    head_gamma : float or "scale", default="scale"
        Sharpness of "rbf"; as in `Projection`.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = (COMPONENTS, *HEAD, *SEEDED)

    n_components: int = 2
    _: KW_ONLY
    head: str = "knn"
    n_neighbors: int = 5
    C: float = 1.0
    head_gamma: float | str = "scale"
    preprocessing: str = "zscore"
    random_state: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        return PCA(n_components, random_state=self._seed())


@dataclass(eq=False, repr=False)
class KernelPCAProjection(Projection):
    """Kernel principal components with Gaussians, then k nearest neighbours or an SVM.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimension.
    gamma : float or "median", default="median"
        exp(-gamma |x - x'|^2), > 0; "median" uses the median distance.
    head : {"knn", "svm", "rbf"}, default="knn"
        Classifier on the projected rows.
    n_neighbors : int, default=5
        Neighbours of "knn".
    C : float, default=1.0
        Hinge weight of "svm" and "rbf".
    head_gamma : float or "scale", default="scale"
        Sharpness of "rbf"; as in `Projection`.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = (COMPONENTS, MEDIAN_GAMMA, *HEAD, *SEEDED)

    n_components: int = 2
    _: KW_ONLY
    gamma: float | str = "median"
    head: str = "knn"
    n_neighbors: int = 5
    C: float = 1.0
    head_gamma: float | str = "scale"
    preprocessing: str = "zscore"
    random_state: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        gamma = rbf_gamma(self.gamma, X, self._seed())
        return KernelPCA(n_components, kernel="rbf", gamma=gamma, random_state=self._seed())


class _Discriminants(LinearDiscriminantAnalysis):
    """Linear discriminant analysis that says so where there is nothing to set the classes against."""

    def fit(self, X: NDArray, y: NDArray) -> _Discriminants:
        """Fit to rows and class codes."""
        firsts = X[np.unique(y, return_index=True)[1]]
        if np.array_equal(X, firsts[y]):
            raise ValueError("LDAProjection needs rows that differ within their classes; all of a class are alike here")
        return super().fit(X, y)


@dataclass(eq=False, repr=False)
class LDAProjection(Projection):
    """Discriminant directions, then k nearest neighbours or an SVM.

    Parameters
    ----------
    n_components : int or None, default=None
        Latent dimension, at most K - 1; None is K - 1, or the number of columns if that is smaller.
    head : {"knn", "svm", "rbf"}, default="knn"
        Classifier on the projected rows.
    n_neighbors : int, default=5
        Neighbours of "knn".
    C : float, default=1.0
        Hinge weight of "svm" and "rbf".
    head_gamma : float or "scale", default="scale"
        Sharpness of "rbf"; as in `Projection`.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = (AUTOMATIC_COMPONENTS, *HEAD, *SEEDED)

    n_components: int | None = None
    _: KW_ONLY
    head: str = "knn"
    n_neighbors: int = 5
    C: float = 1.0
    head_gamma: float | str = "scale"
    preprocessing: str = "zscore"
    random_state: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        largest = min(n_classes - 1, X.shape[1])
        return _Discriminants(n_components=min(self.n_components or largest, largest))


@dataclass(eq=False, repr=False)
class NCA(Projection):
    """Neighbourhood components analysis (scikit-learn's), then k nearest neighbours or an SVM.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimension.
    head : {"knn", "svm", "rbf"}, default="knn"
        Classifier on the projected rows.
    n_neighbors : int, default=5
        Neighbours of "knn".
    C : float, default=1.0
        Hinge weight of "svm" and "rbf".
    head_gamma : float or "scale", default="scale"
        Sharpness of "rbf"; as in `Projection`.
    n_steps : int, default=50
        Steps of the optimisation, >= 1.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = (COMPONENTS, replace(STEPS, main=True), *HEAD, *SEEDED)

    n_components: int = 2
    _: KW_ONLY
    head: str = "knn"
    n_neighbors: int = 5
    C: float = 1.0
    head_gamma: float | str = "scale"
    n_steps: int = 50
    preprocessing: str = "zscore"
    random_state: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        return NeighborhoodComponentsAnalysis(
            n_components, init="pca", max_iter=self.n_steps, random_state=self._seed()
        )
