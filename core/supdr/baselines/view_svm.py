"""Linear SVMs on several views: on all of them side by side, and on the view with the best cross-validation score."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from supdr.baselines._parameters import SEEDED
from supdr.baselines.pipelines import _SVM
from supdr.engine.common_parameters import SVM_WEIGHT, UNWHITENED
from supdr.engine.parameters import Whole, count, of_run
from supdr.engine.targets import Targets
from supdr.engine.unweighted import Unweighted
from supdr.engine.view_layout import Layout, make_layout


class OnViews(Unweighted):
    """Base of comparison methods on several views.

    Parameters
    ----------
    C : float, default=1.0
        Hinge weight, > 0.
    views : None, sequence of int, or sequence of sequences of int, default=None
        Column groups, as `supdr.SLDR` takes them; None: one view.
    preprocessing : {"zscore", "minmax", "none"}, default="zscore"
        Each view is then divided by the root of its number of columns, except with "none".
    """

    views: Any
    preprocessing: str

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        super()._check_parameters(X, targets)
        self._layout()

    def _layout(self) -> Layout:
        return make_layout(self.views, 1, None, self.n_features_in_, scaled=self.preprocessing != "none")


@dataclass(eq=False, repr=False)
class _ColumnsSVC(BaseEstimator):
    """A linear SVC on some columns, each times a number."""

    columns: NDArray
    scale: NDArray
    C: float

    def _rows(self, X: NDArray) -> NDArray:
        return X[:, self.columns] * self.scale

    def fit(self, X: NDArray, y: NDArray) -> _ColumnsSVC:
        self.svm_ = SVC(C=self.C, kernel="linear", break_ties=True).fit(self._rows(X), y)
        self.support_, self.dual_coef_ = self.svm_.support_, self.svm_.dual_coef_
        return self

    def decision_function(self, X: NDArray) -> NDArray:
        return self.svm_.decision_function(self._rows(X))

    def predict(self, X: NDArray) -> NDArray:
        return self.svm_.predict(self._rows(X))


@dataclass(eq=False, repr=False)
class _ViewsSVM(OnViews, _SVM):
    """A linear SVM on the columns of some views."""

    C: float = 1.0
    _: KW_ONLY
    views: Any = None

    def _on(self, numbers: list[int]) -> _ColumnsSVC:
        layout = self._layout()
        columns = np.concatenate([layout.groups[number] for number in numbers])
        scale = np.concatenate([np.full(len(layout.groups[number]), layout.scales[number]) for number in numbers])
        return _ColumnsSVC(columns, scale, self.C)


@dataclass(eq=False, repr=False)
class AllViewsSVM(_ViewsSVM):
    """Linear SVM on all views side by side: the sum of their kernels, each with the same weight.

    Parameters
    ----------
    C, preprocessing
        As in `OnViews`.
    random_state, verbose, missing_label
        As in `OneShot`.
    views
        As in `OnViews`.
    """

    parameters = (SVM_WEIGHT, of_run("views"), UNWHITENED, *SEEDED)

    def _model(self) -> BaseEstimator:
        return self._on(list(range(len(self._layout().groups))))


@dataclass(eq=False, repr=False)
class BestViewSVM(_ViewsSVM):
    """Linear SVM on the one view that is best by cross-validation on the labelled rows.

    Parameters
    ----------
    C, preprocessing
        As in `OnViews`.
    random_state, verbose, missing_label
        As in `OneShot`.
    views
        As in `OnViews`.
    n_folds : int, default=5
        Folds of the choice, >= 2; no more than the smallest class has rows.  With a single row in a class the
        training accuracy decides.

    Attributes
    ----------
    best_view_ : int
        Number of the chosen view.
    view_scores_ : array of shape (P,)
        Accuracy of every view.
    """

    prepared_attributes = (*_ViewsSVM.prepared_attributes, "view_scores_", "best_view_")
    parameters = (
        SVM_WEIGHT,
        of_run("views"),
        count("n_folds", "Folds", 2, 10, "Number of cross-validation folds.", accepts=(Whole(2),)),
        UNWHITENED,
        *SEEDED,
    )

    _: KW_ONLY
    n_folds: int = 5

    def _model(self) -> BaseEstimator:
        X, targets = self._training
        rows, codes = X[targets.labelled], targets.codes[targets.labelled]
        candidates = [self._on([number]) for number in range(len(self._layout().groups))]
        n_folds = min(self.n_folds, int(np.bincount(codes).min()))
        if n_folds >= 2:
            folds = StratifiedKFold(n_folds)
            scores = [cross_val_score(each, rows, codes, cv=folds, scoring="accuracy").mean() for each in candidates]
        else:
            scores = [float(np.mean(each.fit(rows, codes).predict(rows) == codes)) for each in candidates]
        self.view_scores_ = np.array(scores)
        self.best_view_ = int(self.view_scores_.argmax())
        return candidates[self.best_view_]
