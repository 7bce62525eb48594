"""Would it look the same again: maps of fits to other seeds or other samples of the rows, brought to lie on each other.

    min over turns R, scales s, shifts t of  sum_i |s z_i R + t - m_i|^2,   m the mean of the maps

over and over, until the mean stays (generalised Procrustes analysis).  A map has no orientation and no unit: turns,
reflections, scales and shifts are no differences.  Places that are left different are each row's spread.

Source: J. C. Gower, "Generalized Procrustes analysis", Psychometrika 40 (1975).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from supdr.engine.checks import check_choice, check_integer, check_number, check_seed
from supdr.engine.context import run_context
from supdr.engine.docstrings import with_entries_of
from supdr.engine.interruption import Interrupted, checkpoint
from supdr.engine.reuse import ResultCache
from supdr.engine.targets import as_labels, missing_values, uniform_labels
from supdr.engine.threads import map_threads
from supdr.quality.checking import check_neighbors, check_rows, usable_neighbors
from supdr.quality.summary import map_of

RESAMPLES = ("seed", "bootstrap", "subsample")

# The mean of the maps stands still when it moves by less than this share of its size.
STILL = 1e-9
MOST_ROUNDS = 100


@dataclass(frozen=True)
class Stability:
    """Maps of several fits, on each other.

    Attributes
    ----------
    resample : {"seed", "bootstrap", "subsample"}
        What differs between the fits.
    n_fits : int
        How many there will be.
    n_neighbors : int
        k of `kept`.
    maps : array of shape (m, n, d)
        Places of all rows by each fit so far, on each other, of size 1: the mean square distance of `places` from their
        middle.
    places : array of shape (n, d)
        Their mean.
    spread : array of shape (n,)
        Root mean square distance of each row's places from their mean, as a share of the size of the map; where charts
        are aligned apart, within its chart and as a share of the size of that.  NaN before the second fit.
    kept : array of shape (n,)
        Share of each row's k neighbours on the map that stay from one fit to another, over all pairs of fits.
    chance : float
        What `kept` would be of maps that know nothing of each other: k / (n - 1).
    classes : array of shape (K,)
        Sorted; empty for regression.
    agreeing : int array of shape (K,)
        How many of the m fits put each class where the reference does: nearest to its place there, of all classes.
    reference : int
        The fit that others agree with most.
    """

    resample: str
    n_fits: int
    n_neighbors: int
    maps: NDArray = field(repr=False)
    places: NDArray = field(repr=False)
    spread: NDArray = field(repr=False)
    kept: NDArray = field(repr=False)
    chance: float
    classes: NDArray
    agreeing: NDArray
    reference: int

    def sentence(self, label: Any) -> str:
        """Return in words how many fits agree about the place of a class.

        Parameters
        ----------
        label : object
            One of `classes`.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there is no such class.
        """
        place = np.flatnonzero(self.classes == label)
        if not len(place):
            raise ValueError(f"label must be one of {', '.join(map(str, self.classes))}; got {label!r}")
        what = {"seed": "seeds", "bootstrap": "bootstrap samples", "subsample": "subsamples"}[self.resample]
        return f"{self.agreeing[place[0]]} of {len(self.maps)} {what} agree about the place of class {label}"


def iterate_stability(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    resample: str = "seed",
    n: int = 20,
    share: float = 0.8,
    charts: Any = None,
    n_neighbors: int | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    interrupted: Callable[[], bool] | None = None,
) -> Iterator[Stability]:
    """Check the arguments at once and yield the result so far, fit by fit.

    Parameters
    ----------
    estimator : estimator
        Not fitted, with `fit` and `transform`; it is cloned.
    X : array-like of shape (n_rows, D)
        Rows; every fit maps all of them, as new rows are mapped.
    y : array-like of shape (n_rows,)
        Labels; NaN and None mark unlabelled rows.
    resample : {"seed", "bootstrap", "subsample"}, default="seed"
        "seed": the same rows, another ``random_state``.  "bootstrap": as many rows, drawn with replacement from each
        class.  "subsample": a share of the rows of each class.
    n : int, default=20
        Number of fits, >= 2.
    share : float, default=0.8
        Of the rows of a subsample, in (0, 1).
    charts : array-like of shape (n_rows,), optional
        Which parts of the map are aligned apart, by any names.  None: for ClassAtlas the class that most fits predict
        for a row, as every class has a chart of its own; for others the whole map is one.
    n_neighbors : int, optional
        k of the neighbours that stay, less than half of the rows.  None: 10, or fewer of few rows.
    n_jobs : int or None, default=None
        Threads over fits; they change no number.
    random_state : int, default=0
        The first seed, or the seed of the samples; fits to samples have the estimator's own seed.
    interrupted : callable, optional
        Polled meanwhile, also within fits of this library; True ends it.

    Returns
    -------
    iterator of Stability
        It ends early, without an error, where it is interrupted.

    Raises
    ------
    ValueError
        If an argument is out of range, y does not fit, or resample is "seed" and the estimator has none.
    TypeError
        If the estimator has no `fit` or no `transform`.
    """
    check_choice("resample", resample, RESAMPLES)
    check_integer("n", n, 2)
    check_number("share", share, "> 0 and < 1", lambda value: 0.0 < value < 1.0)
    check_seed("random_state", random_state)
    check_integer("random_state", random_state, 0)
    if not (hasattr(estimator, "fit") and hasattr(estimator, "transform")) or isinstance(estimator, type):
        raise TypeError(f"estimator must be an estimator with fit and transform; got {estimator!r}")
    if resample == "seed" and "random_state" not in estimator.get_params(deep=False):
        raise ValueError(
            f"resample must be 'bootstrap' or 'subsample': {type(estimator).__name__} has no random_state; got 'seed'"
        )
    X = check_rows(X, made_dense=False, ensure_all_finite="allow-nan", ensure_min_samples=3)
    labels, n_rows = as_labels(y), X.shape[0]
    if len(labels) != n_rows:
        raise ValueError(f"y must hold one label for each of the {n_rows} rows; got shape {labels.shape}")
    k = usable_neighbors(n_rows) if n_neighbors is None else n_neighbors
    check_neighbors(k, n_rows)
    given = None if charts is None else np.unique(np.asarray(charts), return_inverse=True)[1].ravel()
    if given is not None and given.shape != (n_rows,):
        raise ValueError(f"charts must hold one name for each of the {n_rows} rows; got shape {np.shape(charts)}")
    classes, codes = _classes(estimator, labels)
    rows = _samples(codes, resample, n, share, random_state)
    trial = _Trial(estimator, X, labels, resample, random_state, given, ResultCache(), interrupted)
    return _stabilities(trial, rows, (classes, codes), k, n_jobs)


@with_entries_of(iterate_stability)
def stability(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    resample: str = "seed",
    n: int = 20,
    share: float = 0.8,
    charts: Any = None,
    n_neighbors: int | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    interrupted: Callable[[], bool] | None = None,
) -> Stability:
    """Return how much a map changes with the seed, or with the rows that happen to be in the sample.

    Parameters
    ----------
    estimator, X, y, resample, n, share, charts, n_neighbors, n_jobs, random_state, interrupted
        As in `iterate_stability`.

    Returns
    -------
    Stability
        Of fewer fits where it was interrupted.

    Raises
    ------
    ValueError
        As `iterate_stability`.
    TypeError
        If the estimator has no `fit` or no `transform`.
    Interrupted
        If it was interrupted before the first fit was done.
    """
    options = {"share": share, "charts": charts, "n_neighbors": n_neighbors, "n_jobs": n_jobs}
    options |= {"random_state": random_state, "interrupted": interrupted}
    results = list(iterate_stability(estimator, X, y, resample=resample, n=n, **options))
    if not results:
        raise Interrupted("stability was stopped before the first fit was done")
    return results[-1]


def procrustes(Z: NDArray, target: NDArray) -> NDArray:
    """Return places (n, d) shifted, turned, reflected and scaled to lie nearest to others (n, d)."""
    centred, centred_target = Z - Z.mean(axis=0), target - target.mean(axis=0)
    U, singular, V = np.linalg.svd(centred.T @ centred_target)
    size = float((centred**2).sum())
    scale = singular.sum() / size if size > 0.0 else 0.0
    return scale * centred @ (U @ V) + target.mean(axis=0)


def aligned(maps: NDArray) -> NDArray:
    """Return maps (m, n, d) on each other, in the orientation of the first; their mean is around 0 and of size 1."""
    maps = np.stack([_of_size_one(each) for each in maps])
    mean = maps[0]
    for _ in range(MOST_ROUNDS):
        checkpoint()
        placed = np.stack([procrustes(each, mean) for each in maps])
        following = _of_size_one(placed.mean(axis=0))
        moved = float(np.abs(following - mean).max())
        mean = following
        if moved < STILL:
            break
    placed = np.stack([procrustes(each, mean) for each in maps])
    size = _size(placed.mean(axis=0))
    return placed / size if size > 0.0 else placed


class _Trial(NamedTuple):
    """What fits need: estimator, rows, labels, what differs, first seed, charts or None, cache, stop."""

    estimator: Any
    X: NDArray
    labels: NDArray
    resample: str
    seed: int
    charts: NDArray | None
    cache: ResultCache
    interrupted: Callable[[], bool] | None

    def mapped(self, drawn: tuple[int, NDArray]) -> tuple[NDArray, NDArray | None]:
        """Return the places of all rows by one fit and, where charts follow from them, the classes it predicts."""
        number, rows = drawn
        model = clone(self.estimator)
        if self.resample == "seed":
            model.set_params(random_state=self.seed + number)
        lean = getattr(model, "_to_be_scored", None)
        try:
            model = (model if lean is None else lean()).fit(self.X[rows], self.labels[rows])
        except StopIteration:  # stopped before its first iterate
            raise Interrupted from None
        checkpoint()
        charted = self.charts is None and getattr(model, "map_has_charts", False)
        return map_of(model, self.X), model.predict(self.X) if charted else None


def _classes(estimator: Any, labels: NDArray) -> tuple[NDArray, NDArray]:
    """Return the classes and their codes (n,), -1 where a row has none; no class for regression."""
    missing = missing_values(labels, getattr(estimator, "missing_label", None))
    codes = np.full(len(labels), -1)
    task = getattr(estimator, "_task", lambda: "regression" if is_regressor(estimator) else "classification")
    if labels.ndim > 1 or task() == "regression":
        return np.empty(0), codes
    classes, codes[~missing] = np.unique(uniform_labels(labels[~missing]), return_inverse=True)
    return classes, codes


def _samples(codes: NDArray, resample: str, n: int, share: float, seed: int) -> list[NDArray]:
    """Return the numbers of the rows of every fit: of each class as many as its share."""
    rng, everything = check_random_state(seed), np.arange(len(codes))
    if resample == "seed":
        return [everything] * n
    members = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    size, replace = (1.0, True) if resample == "bootstrap" else (share, False)
    return [
        np.sort(
            np.concatenate([rng.choice(each, max(1, round(size * len(each))), replace=replace) for each in members])
        )
        for _ in range(n)
    ]


def _stabilities(
    trial: _Trial, rows: Sequence[NDArray], classes: tuple[NDArray, NDArray], k: int, n_jobs: int | None
) -> Iterator[Stability]:
    """Yield the result so far, fit by fit."""
    maps, predicted, at_once = [], [], max(1, effective_n_jobs(n_jobs))
    stop = {} if trial.interrupted is None else {"stop_requested": trial.interrupted}
    try:
        for start in range(0, len(rows), at_once):
            drawn = list(enumerate(rows))[start : start + at_once]
            with run_context(cache=trial.cache, **stop):
                mapped = map_threads(trial.mapped, drawn, n_jobs)
                for places, labels in mapped:
                    maps.append(places)
                    predicted.append(labels)
                charts = trial.charts if trial.charts is not None else _most_predicted(predicted)
                result = _stability(trial.resample, len(rows), _alike(maps), charts, classes, k)
            yield result
    except Interrupted:
        return


def _most_predicted(predicted: Sequence[NDArray | None]) -> NDArray | None:
    """Return the number of the class (n,) that most fits predict for each row; None where there are no charts."""
    predictions = [each for each in predicted if each is not None]
    if not predictions:
        return None
    classes, codes = np.unique(np.stack(predictions), return_inverse=True)
    codes = codes.reshape(len(predictions), -1)
    return np.stack([(codes == number).sum(axis=0) for number in range(len(classes))]).argmax(axis=0)


def _alike(maps: Sequence[NDArray]) -> NDArray:
    """Return maps (m, n, d) with zeros in coordinates that others have more of."""
    d = max(each.shape[1] for each in maps)
    return np.stack([np.pad(each, ((0, 0), (0, d - each.shape[1]))) for each in maps])


def _stability(
    resample: str, n_fits: int, maps: NDArray, charts: NDArray | None, classes: tuple[NDArray, NDArray], k: int
) -> Stability:
    placed = aligned(maps)
    neighbours = np.stack(
        [NearestNeighbors(n_neighbors=k).fit(each).kneighbors(return_distance=False) for each in maps]
    )
    agreeing, reference = _agreement(placed, *classes)
    n = maps.shape[1]
    return Stability(
        resample,
        n_fits,
        k,
        placed,
        placed.mean(axis=0),
        _spread(placed, maps, charts),
        _kept(neighbours),
        k / (n - 1),
        classes[0],
        agreeing,
        reference,
    )


def _spread(placed: NDArray, maps: NDArray, charts: NDArray | None) -> NDArray:
    """Return the root mean square distance (n,) of places from their mean, within charts that are aligned apart."""
    if len(maps) < 2:
        return np.full(maps.shape[1], np.nan)
    if charts is None:
        return np.sqrt(placed.var(axis=0, ddof=1).sum(axis=1))
    spread = np.zeros(maps.shape[1])
    for chart in np.unique(charts):
        rows = charts == chart
        spread[rows] = np.sqrt(aligned(maps[:, rows]).var(axis=0, ddof=1).sum(axis=1))
    return spread


def _kept(neighbours: NDArray) -> NDArray:
    """Return the share of neighbours (m, n, k) that two maps have in common, over all pairs of maps, (n,)."""
    m, n, k = neighbours.shape
    if m < 2:
        return np.full(n, np.nan)
    pairs = np.empty(n)
    for row in range(n):
        counts = np.unique(neighbours[:, row], return_counts=True)[1]
        pairs[row] = (counts * (counts - 1) // 2).sum()
    return pairs / (k * m * (m - 1) / 2)


def _agreement(placed: NDArray, classes: NDArray, codes: NDArray) -> tuple[NDArray, int]:
    """Return how many maps put each class where the reference does, (K,), and the reference."""
    if not len(classes):
        return np.empty(0, dtype=int), 0
    members = np.stack([codes == code for code in range(len(classes))]).astype(float)
    members /= members.sum(axis=1, keepdims=True)
    agree = np.empty((len(placed), len(placed), len(classes)), dtype=bool)
    for number, target in enumerate(placed):
        targets = members @ target
        for other, each in enumerate(placed):
            centres = members @ procrustes(each, target)
            distances = np.linalg.norm(centres[:, None] - targets, axis=2)
            agree[number, other] = distances.diagonal() <= distances.min(axis=1)
    reference = int(agree.sum(axis=(1, 2)).argmax())
    return agree[reference].sum(axis=0), reference


def _size(Z: NDArray) -> float:
    """Return the root mean square distance of places from their middle."""
    return float(np.sqrt(((Z - Z.mean(axis=0)) ** 2).sum(axis=1).mean()))


def _of_size_one(Z: NDArray) -> NDArray:
    """Return places around 0, of size 1; a map of one place stays at 0."""
    size = _size(Z)
    return (Z - Z.mean(axis=0)) / (size if size > 0.0 else 1.0)
