"""A run goes on from where it is with other labels of the same rows: what teaching a map needs."""

import itertools

import numpy as np
import pytest

import supdr
from supdr.datasets import make_blobs

VARIANTS = {
    "LSDR": ("LSDR", {}),
    "LSDR sgd": ("LSDR", {"solver": "sgd"}),
    "LSDR lbfgs": ("LSDR", {"solver": "lbfgs"}),
    "NSDR": ("NSDR", {}),
    "NSDR rbf": ("NSDR", {"kernel": "rbf"}),
    "MAC": ("MAC", {}),
    "MAC lbfgs": ("MAC", {"solver": "lbfgs"}),
    "MAC two layers": ("MAC", {"n_layers": 2}),
    "MAC two layers ridge": ("MAC", {"n_layers": 2, "head": "ridge"}),
    "SDRGLM": ("SDRGLM", {}),
    "SLDR": ("SLDR", {"n_init": 1}),
    "SNF": ("SNF", {"task": "classification"}),
}
N = 60
FIRST = np.arange(N) % 3 > 0
"""Rows that are labelled before anybody teaches."""


@pytest.fixture(scope="module")
def data():
    blobs = make_blobs(n_samples=N, n_classes=3, random_state=0)
    noise = np.random.default_rng(0).standard_normal((N, 2))
    X, y = blobs.to_xy()
    return np.column_stack([X, noise]), y.astype(float)


def taught(y, lesson):
    """Return other labels than the first ones."""
    labels = np.where(FIRST, y, np.nan)
    known = np.flatnonzero(FIRST)
    if lesson == "corrected":
        labels[known[:2]] = (labels[known[:2]] + 1) % 3
    elif lesson == "labelled":
        labels[~FIRST] = y[~FIRST]
    elif lesson == "unlabelled":
        labels[known[:8]] = np.nan
    elif lesson == "a new class":
        labels[np.flatnonzero((labels == 2) & FIRST)[:6]] = 3
    elif lesson == "a class gone":
        labels[labels == 2] = 1
    elif lesson == "a class renamed":
        labels[labels == 0] = 7
    return labels


def begun(variant, data, max_iter=6):
    name, settings = VARIANTS[variant]
    model = supdr.METHODS[name](max_iter=max_iter, random_state=0, **settings)
    *_, snapshot = model.iterate(data[0], np.where(FIRST, data[1], np.nan))
    return model, snapshot


@pytest.mark.parametrize(
    "lesson", ["corrected", "labelled", "unlabelled", "a new class", "a class gone", "a class renamed"]
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_run_goes_on_with_other_labels(variant, lesson, data):
    model, start = begun(variant, data)
    before = model.at(start)
    labels = taught(data[1], lesson)
    snapshots = list(model.iterate(data[0], labels, start=start))
    first, last = model.at(snapshots[0]), model.at(snapshots[-1])
    assert snapshots[0].iteration == start.iteration
    known = ~np.isnan(labels)
    np.testing.assert_array_equal(last.classes_, np.unique(labels[known]))
    assert np.isfinite(last.embedding_).all()
    assert set(last.predict(data[0])) <= set(last.classes_)
    if variant not in ("SLDR", "MAC two layers", "MAC two layers ridge"):  # there the map itself is made of the labels
        np.testing.assert_allclose(first.embedding_, before.embedding_, atol=1e-6)
    if variant == "SLDR":
        np.testing.assert_allclose(first.gate(data[0]), before.gate(data[0]), atol=1e-9)
    else:
        assert last.embedding_.shape == before.embedding_.shape
    if variant not in ("LSDR sgd", "LSDR lbfgs"):  # they take more than six steps
        hard = lesson in ("corrected", "a new class")
        assert np.mean(last.transduction_[known] != labels[known]) <= (0.2 if hard else 0.05)
    if "MAC" not in variant:  # descends a surrogate, or searches
        objectives = [snapshot.objective for snapshot in snapshots]
        assert all(later <= sooner + 1e-9 * abs(sooner) for sooner, later in itertools.pairwise(objectives))


@pytest.mark.parametrize("variant", VARIANTS)
def test_taking_a_lesson_back_is_the_run_without_it(variant, data):
    """Undo: the old labels from the old snapshot, whatever was tried since."""
    model, start = begun(variant, data)
    labels = np.where(FIRST, data[1], np.nan)
    *_, expected = model.iterate(data[0], labels, start=start)
    expected = model.at(expected).embedding_
    list(model.iterate(data[0], taught(data[1], "a new class"), start=start))
    *_, undone = model.iterate(data[0], labels, start=start)
    np.testing.assert_array_equal(model.at(undone).embedding_, expected)


def test_two_layers_learn_what_is_taught(data):
    model, start = begun("MAC two layers", data)
    labels = taught(data[1], "a class renamed")
    *_, last = model.iterate(data[0], labels, start=start)
    fresh = supdr.MAC(n_layers=2, max_iter=20, random_state=0).fit(data[0], labels)
    known = ~np.isnan(labels)
    np.testing.assert_array_equal(model.at(last).predict(data[0])[known], fresh.predict(data[0])[known])


def test_a_model_that_starts_anew_forgets_the_dimension_of_another_run(data):
    model, start = begun("LSDR", data)
    labels = np.concatenate([np.where(FIRST, data[1], np.nan)])
    four = taught(data[1], "a new class")
    assert model.fit(data[0], four, start=start).embedding_.shape[1] == 2
    assert model.fit(data[0], four).embedding_.shape[1] == 3
    assert model.fit(data[0], labels).embedding_.shape[1] == 2
