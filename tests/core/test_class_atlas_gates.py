"""A gate of one's own: any classifier places the rows, and their own labels have no part in it."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from supdr import ClassAtlas
from supdr.methods.class_atlas.gate import FOLDS, dealt_folds
from tests.core.test_class_atlas import classes_of

QUICK = {"max_iter": 5, "random_state": 0, "preprocessing": "none"}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_new_rows_get_its_probabilities_and_training_rows_those_of_other_folds(n_classes):
    X, codes = classes_of(n_classes=n_classes)
    model = GaussianNB()
    atlas = ClassAtlas(gate=model, **QUICK).fit(X, codes)
    np.testing.assert_allclose(atlas.predict_proba(X), clone(model).fit(X, codes).predict_proba(X), atol=1e-8)
    fold = dealt_folds(codes, np.random.default_rng([atlas.snapshot_.state.seed, 3]))
    expected = np.empty((len(X), n_classes))
    for each in range(FOLDS):
        rows = fold == each
        expected[rows] = clone(model).fit(X[~rows], codes[~rows]).predict_proba(X[rows])
    np.testing.assert_allclose(atlas.proba_, expected, atol=1e-8)
    assert not hasattr(model, "classes_")  # what was given is not fitted
    assert atlas.gate_error_ == np.mean(expected.argmax(axis=1) != codes)


def test_own_labels_have_no_part():
    X, codes = classes_of()
    noise = np.random.default_rng(0).permutation(codes)  # labels that nothing explains
    atlas = ClassAtlas(gate=RandomForestClassifier(30, random_state=0), **QUICK).fit(X, noise)
    assert (atlas.predict(X) == noise).mean() > 0.95  # the forest knows its rows by heart
    assert (atlas.proba_.argmax(axis=1) == noise).mean() < 0.55


def test_rows_without_a_label_and_classes_of_one_row():
    X, codes = classes_of()
    y = codes.astype(float)
    y[::3] = np.nan
    y[1] = 7.0
    atlas = ClassAtlas(gate=LogisticRegression(), **QUICK).fit(X, y)
    assert list(atlas.classes_) == [0.0, 1.0, 2.0, 7.0]
    assert np.isfinite(atlas.embedding_).all()
    np.testing.assert_allclose(atlas.proba_.sum(axis=1), 1.0)
    np.testing.assert_allclose(atlas.proba_[::3], atlas.predict_proba(X[::3]), atol=1e-8)


def test_another_gate_takes_a_run_over():
    X, codes = classes_of()
    *_, last = ClassAtlas(**QUICK).iterate(X, codes)
    other = ClassAtlas(gate=GaussianNB(), **QUICK)
    *_, snapshot = other.iterate(X, codes, start=last)
    expected = GaussianNB().fit(X, codes).predict_proba(X)
    np.testing.assert_allclose(other.at(snapshot).predict_proba(X), expected, atol=1e-8)


def test_it_is_a_parameter_like_others():
    X, codes = classes_of()
    atlas = ClassAtlas(gate=RandomForestClassifier(10, random_state=0), **QUICK)
    assert clone(atlas).set_params(gate__max_depth=2).gate.max_depth == 2
    again = clone(atlas).fit(X, codes)
    np.testing.assert_array_equal(again.embedding_, atlas.fit(X, codes).embedding_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(atlas)).transform(X), atlas.transform(X))


@pytest.mark.parametrize("gate", ["svm", LinearSVC(), LogisticRegression])
def test_what_is_no_gate_is_named(gate):
    with pytest.raises(TypeError, match="gate must be None or a classifier with predict_proba; got"):
        ClassAtlas(gate=gate, **QUICK).fit(*classes_of())
