"""scikit-learn classifiers with the interface of the papers' methods, so that every view can show them.

They are fitted in one step: `iterate` yields one snapshot, the fitted model.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from supdr.baselines._parameters import AUTOMATIC_COMPONENTS, NEIGHBOURS, SCALED_GAMMA, SHELL
from supdr.baselines.one_shot import OneShot, given_rows
from supdr.baselines.projections import Reduced, head_scores, principal_components
from supdr.engine.checks import check_choice, check_integer, check_rows_differ
from supdr.engine.common_parameters import COEF0, COMPONENTS, DEGREE, KERNEL, POLY, SVM_WEIGHT
from supdr.engine.sparse_rows import SparseRows
from supdr.engine.targets import Targets
from supdr.functions.kernels import KERNELS
from supdr.solvers.sparse_svm import solve_sparse_svm


class _HasMargins(OneShot):
    """A method whose last part is an SVM with a hinge weight C."""

    C: float

    def _svm(self) -> SVC:
        return self.model_

    @property
    def label_pull_(self) -> NDArray:
        """Influence of each label, (n,): the largest dual variable of the row as a share of C; 0 without one."""
        check_is_fitted(self)
        svm = self._svm()
        pull = np.zeros(len(self._state.X))
        pull[self._state.labelled[svm.support_]] = np.abs(svm.dual_coef_).max(axis=0) / self.C
        return pull


class _SVM(_HasMargins):
    """Support vector machine; its latent space is the line, or space, of decision values."""

    def _latent(self, X: NDArray) -> NDArray:
        return self.model_.decision_function(given_rows(X, self._training[0])).reshape(len(X), -1)

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        return latent


@dataclass(eq=False, repr=False)
class PolySVM(_SVM):
    """SVM with the kernel (⟨x,x'⟩ + coef0)^degree on the input; the papers' baseline.

    Parameters
    ----------
    C : float, default=1.0
        Hinge weight, > 0.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    degree : int, default=2
        Degree of the polynomial, >= 1.
    coef0 : float, default=1.0
        Offset inside the power.
    """

    parameters = (SVM_WEIGHT, DEGREE, COEF0, *SHELL)

    C: float = 1.0
    _: KW_ONLY
    degree: int = 2
    coef0: float = 1.0

    def _model(self) -> BaseEstimator:
        return SVC(C=self.C, kernel="poly", degree=self.degree, gamma=1.0, coef0=self.coef0, break_ties=True)


@dataclass(eq=False, repr=False)
class LinearSVM(_SVM):
    """SVM with the linear kernel on the input: LIBSVM's of dense rows, `supdr.solvers.sparse_svm` of sparse ones.

    Parameters
    ----------
    C : float, default=1.0
        Hinge weight, > 0.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    """

    parameters = (SVM_WEIGHT, *SHELL)
    accepts_sparse: ClassVar[bool] = True

    C: float = 1.0

    def _model(self) -> BaseEstimator:
        if isinstance(self._training[0], SparseRows):
            return SparseSVC(self.C, self._seed())
        return SVC(C=self.C, kernel="linear", break_ties=True)


@dataclass(eq=False)
class SparseSVC(BaseEstimator):
    """A linear support vector machine for each pair of classes on sparse rows, with what views read of an `SVC`.

    `C`: hinge weight, > 0; `seed`: orders the steps of the solver. After `fit`, dual variables in `dual_coef_`
    (pairs, support vectors) are negative for the first class of a pair.
    """

    C: float
    seed: int

    def fit(self, X: Any, y: NDArray) -> SparseSVC:
        """Fit to sparse rows (n, m) and class codes 0, 1, … (n,)."""
        pairs = list(combinations(range(int(y.max()) + 1), 2))
        coef, intercept, dual, short = [], [], np.zeros((len(pairs), len(y))), 0
        for k, (first, second) in enumerate(pairs):
            rows = np.flatnonzero((y == first) | (y == second))
            signs = np.where(y[rows] == second, 1.0, -1.0)
            solution = solve_sparse_svm(X[rows], signs, self.C, random_state=self.seed)
            coef.append(solution.coef)
            intercept.append(solution.bias)
            dual[k, rows] = signs * solution.alpha
            short += not solution.converged
        if short:
            message = f"{short} of {len(pairs)} classifiers did not converge; a smaller C converges sooner"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        self.pairs_, self.coef_, self.intercept_ = pairs, np.array(coef), np.array(intercept)
        self.support_ = np.flatnonzero(dual.any(axis=0))
        self.dual_coef_ = dual[:, self.support_]
        return self

    def decision_function(self, X: Any) -> NDArray:
        """Return the margins (n,) of two classes, else votes of the pairs of classes (n, K), ties broken by margins."""
        margins = X @ self.coef_.T + self.intercept_
        if len(self.pairs_) == 1:
            return margins[:, 0]
        votes, sums = np.zeros((2, len(margins), self.pairs_[-1][1] + 1))
        for margin, (first, second) in zip(margins.T, self.pairs_):
            votes[:, second] += margin > 0.0
            votes[:, first] += margin <= 0.0
            sums[:, second] += margin
            sums[:, first] -= margin
        return votes + sums / (3.0 * (np.abs(sums) + 1.0))

    def predict(self, X: Any) -> NDArray:
        """Return the class codes (n,) of rows (n, m)."""
        scores = self.decision_function(X)
        return (scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


@dataclass(eq=False, repr=False)
class RBFSVM(_SVM):
    """SVM with the Gaussian kernel exp(−gamma‖x−x'‖²) on the input.

    Parameters
    ----------
    C : float, default=1.0
        Hinge weight, > 0.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    gamma : float or "scale", default="scale"
        Inverse squared width, > 0; ``"scale"`` is 1 / (number of columns × their variance).
    """

    parameters = (SVM_WEIGHT, SCALED_GAMMA, *SHELL)

    C: float = 1.0
    _: KW_ONLY
    gamma: float | str = "scale"

    def _model(self) -> BaseEstimator:
        return SVC(C=self.C, kernel="rbf", gamma=self.gamma, break_ties=True)


class _Projected(Reduced):
    """PCA of all labelled rows, then an SVM on the scores that PCA itself returns of them."""

    def _reduced(self, X: NDArray, y: NDArray) -> NDArray:
        return self.reducer.fit_transform(X)


@dataclass(eq=False, repr=False)
class PCASVM(_HasMargins):
    """PCA to the latent space, then an SVM with a polynomial, linear or Gaussian kernel.

    Parameters
    ----------
    n_components : int or float, default=2
        Latent dimension; no more than rows or columns allow is used.  A float between 0 and 1 is a share of the
        variance of the labelled rows, which must be dense: as many components as explain it.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    C : float, default=1.0
        Hinge weight, > 0.
    kernel : {"poly", "linear", "rbf"}, default="poly"
        ``"poly"``: (⟨z,z'⟩ + coef0)^degree; ``"rbf"``: exp(−‖z−z'‖² / (d·var)).
    degree : int, default=2
        Degree of the polynomial.
    coef0 : float, default=1.0
        Offset inside the power.
    """

    parameters = (
        replace(COMPONENTS, accepts=()),  # may be a share of the variance
        KERNEL,
        replace(DEGREE, shown_when=POLY),
        SVM_WEIGHT,
        replace(COEF0, shown_when=POLY),
        *SHELL,
    )
    accepts_sparse: ClassVar[bool] = True

    n_components: int | float = 2
    _: KW_ONLY
    C: float = 1.0
    kernel: str = "poly"
    degree: int = 2
    coef0: float = 1.0

    def _dense_only(self) -> str:
        if _is_share(self.n_components):
            return f"n_components={self.n_components!r} needs all components; with an integer PCASVM takes sparse rows"
        return super()._dense_only()

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        super()._check_parameters(X, targets)
        if not _is_share(self.n_components):
            _check_components(self.n_components)
        check_choice("kernel", self.kernel, KERNELS)

    def _model(self) -> BaseEstimator:
        X, targets = self._training
        share = _is_share(self.n_components)
        n_components = self.n_components if share else min(self.n_components, X.shape[1], int(targets.labelled.sum()))
        gamma = "scale" if self.kernel == "rbf" else 1.0
        svm = SVC(C=self.C, kernel=self.kernel, degree=self.degree, gamma=gamma, coef0=self.coef0, break_ties=True)
        return _Projected(principal_components(n_components, X, self._seed()), svm)

    def _svm(self) -> SVC:
        return self.model_.head

    @property
    def reconstruction_(self) -> NDArray:
        """Training rows (n, m), in the units of X, as their principal components reconstruct them."""
        check_is_fitted(self)
        rows = self.model_.reducer.inverse_transform(self.embedding_)
        if isinstance(self._state.X, SparseRows):
            rows -= self._state.X.shift
        return self._preprocessing.inverse_transform(rows)

    def _latent(self, X: NDArray) -> NDArray:
        return self.model_.reducer.transform(given_rows(X, self._training[0]))

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        return head_scores(self.model_.head, latent)


def _is_share(n_components: Any) -> bool:
    """Whether the number of components is a share of the variance."""
    return isinstance(n_components, (float, np.floating)) and bool(0.0 < n_components < 1.0)


def _check_components(n_components: Any) -> None:
    """Raise ValueError unless this is a number of components."""
    if isinstance(n_components, (float, np.floating)):
        raise ValueError(
            f"n_components must be an integer of at least 1 or a share of the variance in (0, 1); got {n_components!r}"
        )
    check_integer("n_components", n_components)


@dataclass(eq=False, repr=False)
class LDA(OneShot):
    """Linear discriminant analysis; its latent space has at most K − 1 dimensions.

    In that space the classes are spheres of unit variance, so that the scores are distances to the class means.

    Parameters
    ----------
    n_components : int or None, default=None
        Latent dimension; None is min(K − 1, columns).
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    """

    parameters = (AUTOMATIC_COMPONENTS, *SHELL)

    n_components: int | None = None

    def _model(self) -> BaseEstimator:
        X, targets = self._training
        assert targets.classes is not None
        check_rows_differ("LDA", X[targets.labelled])
        largest = min(len(targets.classes) - 1, X.shape[1])
        return LinearDiscriminantAnalysis(n_components=min(self.n_components or largest, largest))

    def _latent(self, X: NDArray) -> NDArray:
        return self.model_.transform(X)

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        means = self.model_.transform(self.model_.means_)
        scores = latent @ means.T - 0.5 * (means**2).sum(axis=1) + np.log(self.model_.priors_)
        return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores


@dataclass(eq=False, repr=False)
class KNN(OneShot):
    """k nearest neighbours.  It learns no latent space: `transform` returns the preprocessed rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours, >= 1; no more than there are labelled rows are used.
    preprocessing, random_state, verbose, missing_label
        As in `OneShot`.
    """

    parameters = (NEIGHBOURS, *SHELL)

    n_neighbors: int = 5

    def _model(self) -> BaseEstimator:
        return KNeighborsClassifier(min(self.n_neighbors, int(self._training[1].labelled.sum())))

    def _latent(self, X: NDArray) -> NDArray:
        return X

    def _latent_scores(self, latent: NDArray, calibrated: bool) -> NDArray:
        return head_scores(self.model_, latent)
