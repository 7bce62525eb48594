"""Pipelines of a projection and a classifier, which the papers compare with.

The projection is learnt with or without labels; k nearest neighbours or a support vector machine, linear or Gaussian,
is then trained on the projected rows.
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
from supdr.baselines.one_shot import OneShot, given_rows
from supdr.engine.common_parameters import COMPONENTS
from supdr.engine.sparse_rows import SparseRows
from supdr.solvers.distances import median_distance


@dataclass(eq=False)
class Reduced(BaseEstimator):
    """A transformer, then a classifier on the transformed rows."""

    reducer: Any
    head: Any

    def fit(self, X: NDArray, y: NDArray) -> Reduced:
        """Fit the transformer, then the classifier, to rows (n, m) and class codes (n,)."""
        self.head.fit(self._reduced(X, y), y)
        if hasattr(self.head, "support_"):
            self.support_ = self.head.support_
        return self

    def predict(self, X: NDArray) -> NDArray:
        """Return the class codes (n,) of rows (n, m)."""
        return self.head.predict(self.reducer.transform(X))

    def _reduced(self, X: NDArray, y: NDArray) -> NDArray:
        return self.reducer.fit(X, y).transform(X)


@dataclass(eq=False, repr=False)
class ClassifierHead:
    """The parameters of a classifier on latent rows."""

    _: KW_ONLY
    head: str = "knn"
    n_neighbors: int = 5
    C: float = 1.0
    head_gamma: float | str = "scale"

    def _new_head(self, n_rows: int) -> Any:
        """Return the classifier before its fit to `n_rows` rows; there are no more neighbours than rows."""
        if self.head == "svm":
            return SVC(C=self.C, kernel="linear", break_ties=True)
        if self.head == "rbf":
            return SVC(C=self.C, kernel="rbf", gamma=self.head_gamma, break_ties=True)
        return KNeighborsClassifier(min(self.n_neighbors, n_rows))


def head_scores(head: Any, latent: NDArray) -> NDArray:
    """Return the scores (n, K), or (n, 1) for two classes, that a fitted classifier gives to latent rows (n, d)."""
    if isinstance(head, SVC):
        return head.decision_function(latent).reshape(len(latent), -1)
    share = head.predict_proba(latent)
    return share[:, 1:] - 0.5 if share.shape[1] == 2 else share


@dataclass(eq=False, repr=False)
class Projection(OneShot, ClassifierHead):
    """Base of the pipelines: subclasses define ``_reducer``, the transformer before its fit.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimension, >= 1; no more than there are columns or labelled rows is used.
    head : {"knn", "svm", "rbf"}, default="knn"
        Classifier on the projected rows: nearest neighbours, a linear support vector machine or one with the kernel
        exp(-head_gamma |z - z'|^2).
    n_neighbors : int, default=5
        Neighbours of "knn", >= 1.
    C : float, default=1.0
        Hinge weight of "svm" and "rbf", > 0.
    head_gamma : float or "scale", default="scale"
        Sharpness of "rbf", > 0; "scale" is 1 / (d v), with the number d of latent coordinates and the variance v of all
        their values.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    """

    n_components: int | None = 2

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        raise NotImplementedError

    def _model(self) -> BaseEstimator:
        X, targets = self._training
        assert targets.classes is not None
        labelled = targets.labelled
        n_labelled, n_classes = int(labelled.sum()), len(targets.classes)
        n_components = min(2 if self.n_components is None else self.n_components, X.shape[1], n_labelled)
        return Reduced(self._reducer(X[labelled], n_classes, n_components), self._new_head(n_labelled))

    def _latent(self, X: NDArray) -> NDArray:
        return np.asarray(self.model_.reducer.transform(given_rows(X, self._training[0])))

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        return head_scores(self.model_.head, latent)


def rbf_gamma(gamma: float | str, X: NDArray, seed: int) -> float:
    """Return `gamma` as a float; "median" is 1 / (2 s^2), s the median distance between some rows of X (n, m)."""
    if isinstance(gamma, str):
        return 0.5 / median_distance(X, np.random.default_rng(seed)) ** 2
    return float(gamma)


def principal_components(n_components: int | float, X: Any, seed: int) -> PCA:
    """Return PCA before its fit to rows (n, m); of sparse rows ARPACK's finds fewer components than n and m."""
    small = isinstance(X, SparseRows) and min(X.shape) <= n_components
    return PCA(n_components, svd_solver="covariance_eigh" if small else "auto", random_state=seed)


@dataclass(eq=False, repr=False)
class PCAProjection(Projection):
    """Principal components, then k nearest neighbours or an SVM.

    Parameters
    ----------
    n_components, head, n_neighbors, C, head_gamma, preprocessing, random_state, verbose, missing_label
        As in `Projection`.
    """

    parameters = (COMPONENTS, *HEAD, *SEEDED)
    accepts_sparse: ClassVar[bool] = True

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        return principal_components(n_components, X, self._seed())


@dataclass(eq=False, repr=False)
class KernelPCAProjection(Projection):
    """Kernel principal components with Gaussians, then k nearest neighbours or an SVM.

    Parameters
    ----------
    n_components, head, n_neighbors, C, head_gamma, preprocessing, random_state, verbose, missing_label
        As in `Projection`.
    gamma : float or "median", default="median"
        exp(-gamma |x - x'|^2), > 0; "median" uses the median distance.
    """

    parameters = (COMPONENTS, MEDIAN_GAMMA, *HEAD, *SEEDED)

    _: KW_ONLY
    gamma: float | str = "median"

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        gamma = rbf_gamma(self.gamma, X, self._seed())
        return KernelPCA(n_components, kernel="rbf", gamma=gamma, random_state=self._seed())


class _Discriminants(LinearDiscriminantAnalysis):
    """Linear discriminant analysis that refuses rows which do not differ within their classes."""

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
    head, n_neighbors, C, head_gamma, preprocessing, random_state, verbose, missing_label
        As in `Projection`.
    """

    parameters = (AUTOMATIC_COMPONENTS, *HEAD, *SEEDED)

    n_components: int | None = None

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        largest = min(n_classes - 1, X.shape[1])
        return _Discriminants(n_components=min(self.n_components or largest, largest))


@dataclass(eq=False, repr=False)
class NCA(Projection):
    """Neighbourhood components analysis (scikit-learn's), then k nearest neighbours or an SVM.

    Parameters
    ----------
    n_components, head, n_neighbors, C, head_gamma, preprocessing, random_state, verbose, missing_label
        As in `Projection`.
    n_steps : int, default=50
        Steps of the optimisation, >= 1.
    """

    parameters = (COMPONENTS, replace(STEPS, main=True), *HEAD, *SEEDED)

    _: KW_ONLY
    n_steps: int = 50

    def _reducer(self, X: NDArray, n_classes: int, n_components: int) -> Any:
        return NeighborhoodComponentsAnalysis(
            n_components, init="pca", max_iter=self.n_steps, random_state=self._seed()
        )
