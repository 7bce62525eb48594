"""Estimators of scikit-learn as of any stage of their fit, through their public interface only.

Four ways lead there: callbacks of scikit-learn (``set_callbacks``), a parameter ``callback``, ``staged_*`` methods, and
ensembles of independent members, of which the first few are an ensemble too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import get_tags

from supdr.engine.diagnostics import Diagnostics
from supdr.engine.iterate import Snapshot

WAYS = (
    "watch needs an estimator whose fit can be followed: one of supdr; one with set_callbacks that shows its iterates, "
    "such as LogisticRegression; one with a parameter callback, such as NeighborhoodComponentsAnalysis; one with "
    "staged predictions, such as gradient boosting or AdaBoost; a forest or bagging"
)

# Rows that vote where an estimator learns a space and no prediction.
NEIGHBOURS = 3

# Ensembles are shown with as many different numbers of members at most, from one to all, at equal ratios.
MOST_STAGES = 40


class FitStage(NamedTuple):
    """What a snapshot keeps: a function from prepared rows to latent ones, and one from there to scores."""

    embed: Callable[[NDArray], NDArray]
    head: Callable[[NDArray], NDArray]


class AsOf:
    """An estimator as of a stage, as pictures ask for it: like one of this library that was fitted up to there.

    `rows` (n, m): training rows, as the estimator gets them; `classes` (K,): None: regression; `note`: what the latent
    rows are.
    """

    def __init__(self, stage: FitStage, rows: Any, classes: NDArray | None, note: str) -> None:
        self._stage, self._rows, self.embedding_note = stage, rows, note
        if classes is not None:
            self.classes_ = classes

    @property
    def embedding_(self) -> NDArray:
        """Latent training rows (n, d)."""
        return self._stage.embed(self._rows)

    @property
    def transduction_(self) -> NDArray:
        """Predictions of the training rows (n,)."""
        return self.predict(self._rows)

    def transform(self, X: Any) -> NDArray:
        """Return latent rows (n, d)."""
        return self._stage.embed(X)

    def decision_function(self, X: Any) -> NDArray:
        """Return scores (n,) of two classes, (n, K) of more."""
        return self.latent_decision_function(self.transform(X))

    def latent_decision_function(self, latent: NDArray, head: str = "fitted") -> NDArray:
        """Return the scores of latent rows (n, d)."""
        return self._stage.head(latent)

    def predict(self, X: Any) -> NDArray:
        """Return classes or values (n,)."""
        scores = self.decision_function(X)
        if not hasattr(self, "classes_"):
            return scores
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


class Staged:
    """An estimator of scikit-learn whose fit can be followed.

    Raises ValueError if there is no public way to follow it.
    """

    notes: ClassVar[dict[bool, str]] = {False: "scores, placed using labels", True: "placed using labels"}

    def __init__(self, learner: Any) -> None:
        self.learner = learner
        self.learns_space = "callback" in learner.get_params(deep=False) and hasattr(learner, "transform")
        ways = {
            self._called: self.learns_space and get_tags(learner).target_tags.required,
            self._with_callbacks: hasattr(learner, "set_callbacks") and is_classifier(learner),
            self._staged: any(hasattr(learner, name) for name in ("staged_decision_function", "staged_predict")),
            self._grown: {"n_estimators", "warm_start"} <= set(learner.get_params(deep=False))
            and hasattr(learner, "predict")
            and not hasattr(learner, "fit_predict"),
        }
        ways_there = [way for way, there in ways.items() if there]
        if not ways_there:
            raise ValueError(f"{WAYS}; {type(learner).__name__} has none of these")
        self._way = ways_there[0]

    def at(self, snapshot: Snapshot) -> AsOf:
        """Return the estimator as of a snapshot."""
        return AsOf(snapshot.state, self._rows, self._classes, self.notes[self.learns_space])

    def follow(self, X: Any, y: Any, fit: Callable[[], Any], on_snapshot: Callable[[Snapshot], None]) -> None:
        """Fit, and tell of every stage: at once where the estimator says so, else when the fit is over.

        `X`, `y`: what the estimator gets; `fit`: fits it; `on_snapshot`: ``on_snapshot(snapshot)``. Raises ValueError
        if no stage was reported.
        """
        self._rows, self._answers, self._on_snapshot, self._stages = X, np.asarray(y), on_snapshot, 0
        discrete = is_classifier(self.learner) or self.learns_space
        self._classes = np.unique(self._answers) if discrete else None
        self._way(fit)
        if not self._stages:
            raise ValueError(f"{WAYS}; {type(self.learner).__name__} showed none of its iterates")

    def _tell(self, stage: FitStage, number: int | None = None) -> None:
        """Tell of a stage, the next one or that of a number."""
        predicted = AsOf(stage, self._rows, self._classes, "").transduction_
        wrong = (predicted - self._answers) ** 2 if self._classes is None else predicted != self._answers
        error = float(np.mean(wrong))
        self._stages = self._stages + 1 if number is None else number
        losses = {"objective": error, "training error": error}
        self._on_snapshot(Snapshot(self._stages, 0, losses, Diagnostics({}), stage, 0.0))

    def _by_scores(self, scores: Callable[[Any], NDArray]) -> FitStage:
        """Return a stage whose latent rows are its scores."""
        return FitStage(lambda X: np.asarray(scores(X), dtype=float).reshape(len(X), -1), _as_scores)

    def _called(self, fit: Callable[[], Any]) -> None:
        theirs = self.learner.callback

        def callback(transformation: NDArray, iteration: int) -> None:
            if theirs is not None:
                theirs(transformation, iteration)
            axes = np.array(transformation, dtype=float).reshape(-1, np.shape(self._rows)[1])
            rows = np.asarray(self._rows, dtype=float) @ axes.T
            voting = KNeighborsClassifier(NEIGHBOURS).fit(rows, self._answers)
            self._tell(
                FitStage(lambda X: np.asarray(X, dtype=float) @ axes.T, lambda Z: _margin(voting.predict_proba(Z)))
            )

        self.learner.set_params(callback=callback)
        try:
            fit()
        finally:
            self.learner.set_params(callback=theirs)

    def _with_callbacks(self, fit: Callable[[], Any]) -> None:
        self.learner.set_callbacks(_Listener(lambda fitted: self._tell(self._by_scores(fitted.decision_function))))
        try:
            fit()
        finally:
            self.learner.set_callbacks()

    def _staged(self, fit: Callable[[], Any]) -> None:
        fit()
        scored = self._classes is not None and hasattr(self.learner, "staged_decision_function")
        staged = self.learner.staged_decision_function if scored else self.learner.staged_predict
        for number in _some(sum(1 for _ in staged(self._rows[:1]))):
            self._tell(self._by_scores(partial(_nth, staged, number)), number)

    def _grown(self, fit: Callable[[], Any]) -> None:
        fit()
        for number in _some(len(self.learner.estimators_)):
            few = copy.copy(self.learner).set_params(n_estimators=number)
            few.estimators_ = self.learner.estimators_[:number]
            scores = few.predict if self._classes is None else partial(_leads, few)
            self._tell(self._by_scores(scores), number)


class _Listener:
    """A callback of scikit-learn that hands on the estimator as it is after every iteration."""

    def __init__(self, on_snapshot: Callable[[Any], None]) -> None:
        self._on_snapshot = on_snapshot

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """End."""

    def on_fit_task_begin(self, estimator: Any, context: Any, **_values: Any) -> None:
        """Do nothing before a task."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None, **_values: Any) -> None:
        """Hand on what a task has left."""
        if fitted_estimator is not None:
            self._on_snapshot(fitted_estimator)


def _nth(staged: Callable[[Any], Iterator[NDArray]], number: int, X: Any) -> NDArray:
    """Return the scores of rows after a number of stages."""
    return next(islice(staged(X), number - 1, None))


def _leads(fitted: Any, X: Any) -> NDArray:
    return _margin(fitted.predict_proba(X))


def _margin(shares: NDArray) -> NDArray:
    """Return scores of class shares (n, K): of two classes by how much the second leads."""
    return shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares


def _some(count: int) -> list[int]:
    """Return numbers from 1 to `count`."""
    return np.unique(np.geomspace(1, count, MOST_STAGES).round().astype(int)).tolist()


def _as_scores(latent: NDArray) -> NDArray:
    return latent[:, 0] if latent.shape[1] == 1 else latent
