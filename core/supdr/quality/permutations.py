"""Could chance do this: the held-out error of a fit beside those of fits to shuffled labels.

    p = (1 + #{permuted error <= error}) / (B + 1)

Source: M. Ojala, G. C. Garriga, "Permutation Tests for Studying Classifier Performance", JMLR 11 (2010), test 1.  The
same as `sklearn.model_selection.permutation_test_score` where `cv` is given.  Without it, methods that have left-out
errors in closed form (MAC, ClassAtlas) are fitted once for each permutation; what does not depend on labels, the
kernels and their decompositions, is computed once for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from supdr.engine.checks import check_integer, check_seed
from supdr.engine.context import run_context
from supdr.engine.docstrings import with_entries_of
from supdr.engine.interruption import Interrupted, checkpoint
from supdr.engine.reuse import ResultCache
from supdr.engine.targets import as_labels, missing_values
from supdr.engine.threads import map_threads
from supdr.quality.checking import check_rows, usable_neighbors
from supdr.quality.votes import knn_error

# Bytes of decompositions that the fits of one test share.
SHARED_BYTES = 512 << 20

# Chance levels at which a map is deceptive: the held-out error is no better than that, its picture is.
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class LabelPermutation:
    """Held-out errors by the true labels and by shuffled ones.

    Errors are 1 - score: the share of errors of a classifier, 1 - R² of a regressor.

    Attributes
    ----------
    score : float
        Held-out score by the true labels: accuracy, or R².
    permuted_scores : array of shape (b,)
        Held-out scores by shuffled labels, as far as they are computed.
    n_permutations : int
        B, how many there will be.
    left_out : bool
        Whether errors are the method's own left-out ones; else they are means over the folds of a cross-validation.
    map_error : float
        Error of the 5 nearest neighbours on the map of the training rows, fitted to the true labels; NaN where there is
        no map, or none of classes.
    twin_map_error : float
        The same of the twin; NaN before the first permutation.
    twin_labels : array of shape (n,) or None
        The first shuffled labels.
    twin_map : array of shape (n, d) or None
        The map of the training rows by a fit to them: the separation that labels alone can make.
    twin : estimator or None
        This fit.
    """

    score: float
    permuted_scores: NDArray
    n_permutations: int
    left_out: bool
    map_error: float
    twin_map_error: float = float("nan")
    twin_labels: NDArray | None = field(default=None, repr=False)
    twin_map: NDArray | None = field(default=None, repr=False)
    twin: Any = field(default=None, repr=False)

    @property
    def error(self) -> float:
        """Held-out error by the true labels."""
        return 1.0 - self.score

    @property
    def permuted_errors(self) -> NDArray:
        """Held-out errors by shuffled labels, (b,)."""
        return 1.0 - self.permuted_scores

    @property
    def pvalue(self) -> float:
        """(1 + number of permuted errors that are no larger) / (b + 1); of scores, as rounding makes errors equal."""
        return float((1 + np.sum(self.permuted_scores >= self.score)) / (1 + len(self.permuted_scores)))

    def band(self, coverage: float = 0.95) -> tuple[float, float]:
        """Return the range that holds the middle share of the permuted errors.

        Parameters
        ----------
        coverage : float, default=0.95
            Share, in (0, 1).

        Returns
        -------
        low, high : float
            NaN before the first permutation.

        Raises
        ------
        ValueError
            If `coverage` is out of range.
        """
        if not isinstance(coverage, float) or not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must be a number > 0 and < 1; got {coverage!r}")
        if not len(self.permuted_errors):
            return float("nan"), float("nan")
        low, high = np.quantile(self.permuted_errors, [0.5 - 0.5 * coverage, 0.5 + 0.5 * coverage])
        return float(low), float(high)

    @property
    def deceptive(self) -> bool:
        """Whether the map of the training rows looks separated though chance may do as well on held-out rows.

        Its neighbours err at most half as often as held-out rows by shuffled labels do, and p is above .05, not only
        because permutations are few.
        """
        if not (self.permuted_scores >= self.score).any():
            return False
        return self.pvalue > SIGNIFICANT and self.map_error <= 0.5 * float(np.median(self.permuted_errors))

    def __str__(self) -> str:
        low, high = self.band()
        return (
            f"held-out error {self.error:.3g}; with shuffled labels {low:.3g} to {high:.3g}; p = {self.pvalue:.2g} "
            f"({len(self.permuted_errors)} permutations)"
        )


def iterate_label_permutation(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_permutations: int = 99,
    cv: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    interrupted: Callable[[], bool] | None = None,
) -> Iterator[LabelPermutation]:
    """Check the arguments at once and yield the result so far: by the true labels, then after every permutation.

    Parameters
    ----------
    estimator : estimator
        Not fitted, with `fit` and `score`; it is cloned.  Its seed should be a number: else fits differ by more than
        their labels.
    X : array-like of shape (n, D)
        Rows.
    y : array-like of shape (n,)
        Labels; NaN and None mark unlabelled rows: they are in every fit and never shuffled.
    n_permutations : int, default=99
        B, >= 1; the smallest p is 1 / (B + 1).
    cv : int, splitter, iterable or None, default=None
        How rows are held out, as in scikit-learn; splits are made anew of each shuffled y.  None: by the left-out
        errors that the method has in closed form, else 5 folds.
    n_jobs : int or None, default=None
        Threads over permutations; they change no number.
    random_state : int, RandomState or None, default=0
        Seed of the shuffles.
    interrupted : callable, optional
        Polled meanwhile, also within fits of this library; True ends it.

    Returns
    -------
    iterator of LabelPermutation
        It ends early, without an error, where it is interrupted.

    Raises
    ------
    ValueError
        If an argument is out of range, y does not fit or holds less than two labelled rows.
    TypeError
        If the estimator has no `fit` or no `score`.
    """
    check_integer("n_permutations", n_permutations)
    check_seed("random_state", random_state)
    if not (hasattr(estimator, "fit") and hasattr(estimator, "score")) or isinstance(estimator, type):
        raise TypeError(f"estimator must be an estimator with fit and score; got {estimator!r}")
    X = check_rows(X, made_dense=False, ensure_all_finite="allow-nan")
    labels = as_labels(y)
    if labels.ndim != 1 or len(labels) != X.shape[0]:
        raise ValueError(f"y must hold one label for each of the {X.shape[0]} rows; got shape {labels.shape}")
    labelled = np.flatnonzero(~missing_values(labels, getattr(estimator, "missing_label", None)))
    if len(labelled) < 2:
        raise ValueError(f"y must hold two labelled rows at least; got {len(labelled)}")
    if cv is None:
        cv = None if _knows_left_out(estimator) else 5
    splitter = None if cv is None else check_cv(cv, labels[labelled], classifier=is_classifier(estimator))
    trial = _Trial(estimator, X, labels, labelled, splitter, ResultCache(SHARED_BYTES), interrupted)
    return _permuted(trial, n_permutations, n_jobs, check_random_state(random_state))


@with_entries_of(iterate_label_permutation)
def label_permutation(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_permutations: int = 99,
    cv: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    interrupted: Callable[[], bool] | None = None,
) -> LabelPermutation:
    """Test whether chance could separate the classes as well: fit to shuffled labels, over and over.

    Parameters
    ----------
    estimator, X, y, n_permutations, cv, n_jobs, random_state, interrupted
        As in `iterate_label_permutation`.

    Returns
    -------
    LabelPermutation
        With fewer permutations where it was interrupted.

    Raises
    ------
    ValueError
        As `iterate_label_permutation`.
    TypeError
        If the estimator has no `fit` or no `score`.
    Interrupted
        If it was interrupted before the fit to the true labels was done.
    """
    options = {"n_permutations": n_permutations, "cv": cv, "n_jobs": n_jobs, "random_state": random_state}
    results = list(iterate_label_permutation(estimator, X, y, **options, interrupted=interrupted))
    if not results:
        raise Interrupted("the test was stopped before the fit to the true labels was done")
    return results[-1]


class _Trial(NamedTuple):
    """What a permutation needs: estimator, rows, labels, numbers of labelled rows, splitter or None, cache, stop."""

    estimator: Any
    X: NDArray
    labels: NDArray
    labelled: NDArray
    splitter: Any
    cache: ResultCache
    interrupted: Callable[[], bool] | None

    def context(self) -> Any:
        """Return the surroundings of its fits."""
        stop = {} if self.interrupted is None else {"stop_requested": self.interrupted}
        return run_context(cache=self.cache, **stop)

    def unfitted(self) -> Any:
        """Return a clone, which computes nothing that a score does not need."""
        lean = getattr(self.estimator, "_to_be_scored", None)
        return clone(self.estimator) if lean is None else lean()

    def scored(self, labels: NDArray) -> tuple[float, Any]:
        """Return the held-out score of fits to these labels, and the fit to all rows if there was one, else None."""
        if self.splitter is None:
            model = self.fitted(labels)
            return 1.0 - model._left_out_error(), model
        own, unlabelled = labels[self.labelled], np.setdiff1d(np.arange(len(labels)), self.labelled)
        scores = []
        for train, test in self.splitter.split(self.X[self.labelled], own):
            rows = np.concatenate([self.labelled[train], unlabelled])
            model = self.unfitted().fit(self.X[rows], labels[rows])
            checkpoint()  # a fit that is interrupted ends early
            scores.append(model.score(self.X[self.labelled[test]], own[test]))
        return float(np.mean(scores)), None

    def fitted(self, labels: NDArray) -> Any:
        """Return the estimator fitted to all rows; raise `Interrupted` if it was stopped before its end."""
        try:
            model = self.unfitted().fit(self.X, labels)
        except StopIteration:  # stopped before its first iterate
            raise Interrupted from None
        checkpoint()
        return model

    def map_of_training_rows(self, labels: NDArray, model: Any) -> tuple[Any, NDArray | None, float]:
        """Return a fit to all rows (`model`, if it is there), its map of them, and the error of 5 neighbours there."""
        model = self.fitted(labels) if model is None else model
        places = training_map(model, self.X)
        if places is None or not is_classifier(model):
            return model, places, float("nan")
        neighbours = min(5, usable_neighbors(len(self.labelled)))
        return model, places, knn_error(places[self.labelled], labels[self.labelled], n_neighbors=neighbours)


def training_map(model: Any, X: NDArray) -> NDArray | None:
    """Return the places of the rows of a fit, with what their labels did to them; None where there is no map."""
    places = getattr(model, "embedding_", None)
    if places is None and hasattr(model, "transform"):
        places = model.transform(X)
    return None if places is None else np.asarray(places, dtype=float)


def _knows_left_out(estimator: Any) -> bool:
    has_error = getattr(estimator, "_has_left_out_error", None)
    return has_error is not None and has_error()


def _permuted(
    trial: _Trial, n_permutations: int, n_jobs: int | None, rng: np.random.RandomState
) -> Iterator[LabelPermutation]:
    """Yield the result so far."""
    left_out, scores = trial.splitter is None, np.empty(0)
    try:
        with trial.context():
            score, model = trial.scored(trial.labels)
            _, _, map_error = trial.map_of_training_rows(trial.labels, model)
        yield LabelPermutation(score, scores, n_permutations, left_out, map_error)
        at_once = max(1, effective_n_jobs(n_jobs))
        twin: tuple[Any, ...] = ()
        for start in range(0, n_permutations, at_once):
            shuffled = [_shuffled(trial, rng) for _ in range(min(at_once, n_permutations - start))]
            with trial.context():
                scored = map_threads(trial.scored, shuffled, n_jobs)
                if not twin:
                    model, places, error = trial.map_of_training_rows(shuffled[0], scored[0][1])
                    twin = (error, shuffled[0], places, model)
            for each, _ in scored:
                scores = np.append(scores, each)
                yield LabelPermutation(score, scores, n_permutations, left_out, map_error, *twin)
    except Interrupted:
        return


def _shuffled(trial: _Trial, rng: np.random.RandomState) -> NDArray:
    """Return labels that are shuffled among the labelled rows."""
    labels = trial.labels.copy()
    labels[trial.labelled] = labels[trial.labelled][rng.permutation(len(trial.labelled))]
    return labels
