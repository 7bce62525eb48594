"""Which rows ClassAtlas takes: few labels, other labels, more rows than landmarks, and what hardly is data."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.manifold import trustworthiness
from sklearn.neighbors import KNeighborsClassifier

from supdr import ClassAtlas
from tests.core.class_atlas_cases import classes_of


def test_unlabelled_rows_are_on_the_map():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300].astype(float)
    hidden = y.copy()
    hidden[100:] = np.nan
    fitted = ClassAtlas(random_state=0, max_iter=60).fit(X, hidden)
    np.testing.assert_array_equal(fitted.proba_[100:].argmax(axis=1), fitted.predict(X[100:]).astype(int))
    assert np.mean(fitted.predict(X[100:]) != y[100:]) < 0.25
    alone = ClassAtlas(random_state=0, max_iter=60).fit(X[:100], y[:100])
    np.testing.assert_allclose(fitted.proba_[:100], alone.proba_, atol=0.35)  # the gate learns from labels alone
    rest = trustworthiness(X[100:], fitted.transform(X[100:])), trustworthiness(X[100:], alone.transform(X[100:]))
    assert rest[0] > rest[1]


def test_changed_labels_carry_the_picture_on():
    """A row is taught another class: everybody stays where they were, nearly, and the row goes to its new class."""
    X, y = load_iris(return_X_y=True)
    model = ClassAtlas(random_state=0, max_iter=80)
    *_, last = model.iterate(X, y)
    taught = y.copy()
    taught[100:140] = 3  # a new class out of an old one
    resumed = list(model.iterate(X, taught, start=last))
    assert resumed[0].iteration == last.iteration
    assert resumed[0].stage == last.stage + 1
    before, after = last.state.picture.latent, resumed[0].state.picture.latent
    spread = before.std()
    assert np.sqrt(((after - before) ** 2).sum(axis=1)).mean() < 0.35 * spread
    fitted = model.at(resumed[-1])
    assert list(fitted.classes_) == [0, 1, 2, 3]
    assert fitted.centres_.shape == (4, 2)


def test_more_rows_than_landmarks():
    X, codes = classes_of(700, 3, spread=2.0)
    fitted = ClassAtlas(n_landmarks=150, random_state=0, max_iter=60).fit(X[:600], codes[:600])
    assert len(fitted.landmarks_) == pytest.approx(150, abs=3)
    assert fitted.embedding_.shape == (600, 2)
    np.testing.assert_array_equal(fitted.embedding_[fitted.landmarks_], fitted.snapshot_.state.drawn)
    left_out = fitted.left_out_embedding_
    np.testing.assert_array_equal(left_out[fitted.landmarks_], fitted.snapshot_.state.picture.latent)
    others = np.setdiff1d(np.arange(600), fitted.landmarks_)
    spread = fitted.embedding_[fitted.landmarks_].std()
    assert fitted.embedding_[others].std() == pytest.approx(spread, rel=0.25)
    nearest = KNeighborsClassifier(5).fit(fitted.embedding_, codes[:600])
    error = np.mean(nearest.predict(fitted.transform(X[600:])) != codes[600:])
    assert error < np.mean(fitted.predict(X[600:]) != codes[600:]) + 0.06


def degenerate():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    yield "two classes, XOR", X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    yield "noise", X, rng.integers(0, 2, 60)
    yield "twenty classes of three rows", X, np.arange(60) % 20
    yield "classes of one and of two rows", X, np.r_[0, 1, 1, 2 + np.arange(57) % 2]
    yield "only single rows", X[:6], np.arange(6)
    yield "every row three times", np.repeat(X[:20], 3, axis=0), np.repeat(np.arange(20) % 3, 3)
    yield "constant classes", np.repeat(np.eye(3), 20, axis=0), np.repeat(np.arange(3), 20)
    yield "all rows equal", np.ones((30, 2)), np.arange(30) % 2
    yield "one column", X[:, :1], (X[:, 0] > 0).astype(int)
    yield "six rows", X[:6], np.arange(6) % 2
    yield "two rows", X[:2], np.arange(2)
    yield "more columns than rows", rng.standard_normal((20, 200)), np.arange(20) % 2
    yield "rows closer than numbers can tell", 1e-160 * X, np.arange(60) % 2
    yield "one class rules", X, (np.arange(60) > 56).astype(int)


@pytest.mark.parametrize(("X", "codes"), [pytest.param(X, codes, id=name) for name, X, codes in degenerate()])
def test_degenerate_data_are_drawn(X, codes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        snapshots = list(ClassAtlas(random_state=0, max_iter=30).iterate(X, codes))
        fitted = ClassAtlas(random_state=0, max_iter=30).fit(X, codes)
        rng = np.random.default_rng(1)
        near = X + 0.1 * np.abs(X).max() * rng.standard_normal(X.shape)
        new = fitted.transform(near), fitted.transform(X)
    for values in (fitted.embedding_, fitted.proba_, fitted.radii_, *new):
        assert np.isfinite(values).all()
    for snapshot in snapshots:
        assert np.isfinite(list(snapshot.diagnostics.values())).all()
    for before, after in itertools.pairwise(snapshots):
        assert after.objective <= before.objective or after.stage > before.stage


def test_missing_cells_are_refused():
    X, codes = classes_of()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        ClassAtlas().fit(X, codes)
