"""What every method promises through the core protocol: the stream, and states that show what was computed."""

import itertools
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import supdr
from supdr import Stop
from supdr.baselines.one_shot import OneShot
from supdr.engine.reuse import fingerprint
from tests.core.variants import (
    BASELINES,
    EXACT,
    LIVE,
    REGRESSION,
    SOLVERS,
    TWO_CLASSES,
    arrays_of,
    assert_same_state,
    data,
    every_variant,
    make,
    marks_of,
)


def test_every_method_is_covered():
    assert set(SOLVERS) == set(LIVE) == set(supdr.METHODS)
    assert set(BASELINES) == {name for name, each in supdr.BASELINES.items() if not issubclass(each, OneShot)}
    for method in supdr.METHODS.values():
        assert method.restart_parameters <= set(method().get_params())


# --- the stream -------------------------------------------------------------------------------------------------------


@every_variant
def test_snapshots(name, settings):
    X, y = data(settings)
    snapshots = list(make(name, settings, max_iter=6).iterate(X, y))
    assert [snapshot.iteration for snapshot in snapshots] == list(range(7))
    assert [snapshot.stop for snapshot in snapshots] == [None] * 6 + [Stop.max_iter]
    elapsed = [snapshot.elapsed for snapshot in snapshots]
    assert elapsed[0] == 0.0
    assert all(after > before for before, after in itertools.pairwise(elapsed))
    for snapshot in snapshots:
        terms = [value for key, value in snapshot.losses.items() if key != "objective"]
        assert snapshot.objective == pytest.approx(sum(terms), rel=1e-12)
        assert all(np.isfinite(value) for value in snapshot.diagnostics.values())


@every_variant
def test_same_seed_same_numbers(name, settings):
    X, y = data(settings)
    X = X**2  # linear discriminants, in which no seed has a part, are not enough for these classes
    start = {"init": "random"} if "init" in supdr.METHODS[name]().get_params() else {}
    exact = settings in EXACT
    settings = {**settings, **start, "max_iter": 4}
    first, second = (list(make(name, settings).iterate(X, y))[-1] for _ in range(2))
    assert_same_state(first.state, second.state)
    other = list(make(name, settings, random_state=1).iterate(X, y))[-1]
    assert (other.losses == first.losses) == exact
    np.random.seed(0)  # noqa: NPY002 (the global generator must not matter)
    third = list(make(name, settings).iterate(X, y))[-1]
    assert_same_state(first.state, third.state)


# --- what is shown is what was computed -------------------------------------------------------------------------------


def matrix():
    """Yield every method, solver, number of classes (None: regression), with and without unlabelled rows."""
    for name, variants in {**SOLVERS, **BASELINES}.items():
        for settings in variants:
            regression = settings.get("task") == "regression"
            for n_classes in (None,) if regression else (2,) if settings.get("solver") in TWO_CLASSES else (2, 3):
                yield name, settings, n_classes
    for name, settings in REGRESSION:
        yield name, settings, None


AGAIN = {(2, "some"), (3, "all")}
"""Pairs of the number of classes and of labels that others have in part: two classes with all, three with some."""


def cell(name, settings, n_classes, labels):
    slow = (n_classes, labels) in AGAIN and settings.get("solver") not in TWO_CLASSES
    words = [name, *map(str, settings.values()), str(n_classes), labels]
    marks = [pytest.mark.slow] if slow else marks_of(name, settings)
    return pytest.param(name, settings, n_classes, labels, marks=marks, id="-".join(words))


CELLS = [cell(*each, labels) for each in matrix() for labels in ("all", "some")]


def few_rows(n_classes, labels):
    """Thirty rows, of two or three overlapping classes or with a linear target; read-only arrays."""
    rng = np.random.default_rng(1)
    codes = np.arange(30) % (n_classes or 2)
    X = rng.standard_normal((30, 5)) + np.eye(5)[codes]
    y = codes.astype(float) if n_classes else X @ rng.standard_normal(5)
    if labels == "some":
        y[4::5] = np.nan
    X.flags.writeable = y.flags.writeable = False
    return X, y


def frozen(state):
    """Set every array of a state read-only; return a digest of all that it holds."""
    for _, array in arrays_of(state):
        array.flags.writeable = False
    return fingerprint(plain(state))


def plain(value):
    """Return nested tuples of arrays and numbers: what a state holds, however deep."""
    if is_dataclass(value):
        return tuple(plain(getattr(value, each.name)) for each in fields(value))
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


@pytest.mark.filterwarnings("ignore:the objective still falls")
@pytest.mark.parametrize(("name", "settings", "n_classes", "labels"), CELLS)
def test_a_snapshot_never_changes_and_can_be_carried_on_from(name, settings, n_classes, labels):
    """Nothing writes to a state that was given out, nor to X and y; the way from it is the same, bit for bit."""
    X, y = few_rows(n_classes, labels)
    before = X.copy(), y.copy()
    snapshots, digests = [], []
    estimator = make(name, settings, max_iter=6)
    for snapshot in estimator.iterate(X, y):
        snapshots.append(snapshot)
        digests.append(frozen(snapshot.state))
    middle = snapshots[3]
    again = list(make(name, settings, max_iter=3).iterate(X, y, start=middle))
    for snapshot in snapshots[::2]:
        dict(snapshot.diagnostics)
        fitted = estimator.at(snapshot)
        fitted.predict(X)
        fitted.transform(X)
        assert len(fitted.embedding_) == len(X)
    assert [fingerprint(plain(snapshot.state)) for snapshot in snapshots] == digests
    assert [snapshot.iteration for snapshot in again] == [3, 4, 5, 6]
    assert [dict(snapshot.losses) for snapshot in again] == [dict(snapshot.losses) for snapshot in snapshots[3:]]
    assert [fingerprint(plain(snapshot.state)) for snapshot in again] == digests[3:]
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@every_variant
def test_fit_never_writes_to_what_it_is_given(name, settings):
    X, y = data(settings)
    weights = np.linspace(0.0, 2.0, len(X))
    before = X.copy(), y.copy(), weights.copy()
    X.flags.writeable = y.flags.writeable = weights.flags.writeable = False
    estimator = make(name, settings, max_iter=3, preprocessing="none")
    weighted = estimator.accepts_weights and settings.get("n_layers") != 2  # two layers refuse them
    estimator.fit(X, y, **({"sample_weight": weights} if weighted else {}))
    estimator.transform(X)
    estimator.predict(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    np.testing.assert_array_equal(weights, before[2])
