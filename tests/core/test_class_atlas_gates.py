"""ClassAtlas's gate: own labels have no part in a row's probabilities.  A gate of one's own: any classifier."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from supdr import ClassAtlas
from supdr.methods.class_atlas.discriminants import fit_discriminants
from supdr.methods.class_atlas.gate import FOLDS, Choices, crossfitted, dealt_folds, fit_gate, log_loss
from supdr.methods.class_atlas.landmarks import FEWEST, stratified_rows
from supdr.methods.class_atlas.regression import fitted_exactly
from supdr.solvers.gaussians import Mapping
from supdr.solvers.leave_one_out import leave_one_out, mapped_spectrum
from tests.core.class_atlas_cases import classes_of

QUICK = {"max_iter": 5, "random_state": 0, "preprocessing": "none"}


@pytest.mark.parametrize(("kind", "gamma"), [("rbf", 0.05), ("exponential", 0.2)])
@pytest.mark.parametrize("n_centers", [40, 15])
def test_left_out_codes_are_those_of_a_refit(n_centers, kind, gamma):
    X, codes = classes_of(40)
    T = np.eye(3)[codes] - 1.0 / 3.0
    mapping = Mapping(kind, X[:n_centers], gamma)
    e, back = mapped_spectrum(X, mapping, exact=n_centers == 40)
    basis = mapping.features(X) @ back
    ridges = np.array([1e-3, 0.1])
    _, left = leave_one_out(basis, basis.T @ T, e, ridges, T)
    for row in (0, 17):
        rest = np.arange(40) != row
        for number, ridge in enumerate(ridges):
            system = basis[rest].T @ basis[rest] + ridge * np.eye(basis.shape[1])
            refit = basis[row] @ np.linalg.solve(system, basis[rest].T @ T[rest])
            np.testing.assert_allclose(left[number, row], refit, atol=1e-8)


def test_the_gate_is_a_kernel_ridge_regression():
    X, codes = classes_of(40)
    gate, _ = fit_gate(X, codes, 3, 2000, 0)
    K, T = gate.mapping.features(X), np.eye(3)[codes] - 1.0 / 3.0
    chosen = fitted_exactly(K, codes, 3)
    assert (chosen.ridge, chosen.sharpness) == (gate.ridge, gate.sharpness)
    expected = gate.sharpness * K @ np.linalg.solve(K + gate.ridge * np.eye(40), T)
    np.testing.assert_allclose(K @ gate.coef, expected, atol=1e-6)
    rest = np.arange(40) != 9
    refit = K[9, rest] @ np.linalg.solve(K[np.ix_(rest, rest)] + gate.ridge * np.eye(39), T[rest])
    np.testing.assert_allclose(chosen.left_out[9], refit, atol=1e-6)


def test_no_row_has_a_say_in_its_own_probability():
    """Its label changed, its probabilities hardly move but for what was chosen, while those of its neighbours do."""
    _, codes = classes_of(60, spread=1.0)
    features = 5.0 * (np.eye(3)[codes] + 0.3 * np.random.default_rng(0).standard_normal((60, 3)))
    fold = dealt_folds(codes, np.random.default_rng(0))
    before = crossfitted(features, codes, 3, fold, 0.3)
    other = codes.copy()
    other[7] = (codes[7] + 1) % 3
    after = crossfitted(features, other, 3, fold, 0.3)
    np.testing.assert_array_equal(after[fold == fold[7]], before[fold == fold[7]])
    assert np.abs(after[fold != fold[7]] - before[fold != fold[7]]).max() > 1e-3
    np.testing.assert_allclose(before.sum(axis=1), 1.0)


def test_the_gate_knows_how_often_it_errs():
    X, codes = classes_of(600, 4, spread=0.8)
    gate, proba = fit_gate(X[:300], codes[:300], 4, 2000, 0)
    own = np.mean(proba.argmax(axis=1) != codes[:300])
    new = np.mean(gate.probabilities(X[300:]).argmax(axis=1) != codes[300:])
    assert abs(own - new) < 0.08
    seen = np.mean(gate.probabilities(X[:300]).argmax(axis=1) != codes[:300])
    assert seen < own  # what the rows would say with their own labels
    confidence = proba.max(axis=1).mean()
    assert abs(confidence - (1 - own)) < 0.08


def test_landmarks_stand_for_all_rows():
    X, codes = classes_of(600, spread=2.0)
    full, few = (fit_gate(X, codes, 3, count, 0) for count in (600, 150))
    assert 150 <= few[0].mapping.n_features <= 152
    errors = [np.mean(proba.argmax(axis=1) != codes) for _, proba in (full, few)]
    assert abs(errors[0] - errors[1]) < 0.02
    rows = stratified_rows(np.array([0] * 3000 + [1] * 25 + [2] * 5), 100, np.random.default_rng(0))
    taken = np.bincount(np.array([0] * 3000 + [1] * 25 + [2] * 5)[rows])
    assert list(taken[1:]) == [FEWEST, 5]
    assert abs(taken[0] - 100) <= 1


# --- the kernel of distances that are not squared -------------------------------------------------------------------


@pytest.mark.parametrize("n_columns", [3, 900], ids=["few columns", "so many that Gaussians are in single precision"])
def test_the_exponential_kernel_is_that_of_distances(n_columns):
    X = np.random.default_rng(0).standard_normal((600, n_columns)) + 3.0
    mapping = Mapping("exponential", X, 0.5 / np.sqrt(n_columns))
    expected = np.exp(-0.5 / np.sqrt(n_columns) * cdist(X[:50], X))
    np.testing.assert_allclose(mapping.features(X[:50]), expected, atol=1e-6)


def shells(n_rows, n_columns=10, seed=0):
    """Two classes, one within the other, whose border is round (T. Hastie)."""
    X = np.random.default_rng(seed).standard_normal((n_rows, n_columns))
    return X, ((X**2).sum(axis=1) > 9.34).astype(int)


@pytest.mark.parametrize("n_landmarks", [2000, 150])
def test_it_is_taken_where_it_is_clearly_better_and_places_new_rows(n_landmarks):
    X, codes = shells(2000)
    known, new = slice(0, 600), slice(600, None)
    gate, left_out = fit_gate(X[known], codes[known], 2, n_landmarks, 0)
    assert gate.mapping.kind == "exponential"
    narrow = Choices((("rbf", (0.5, 1.0, 2.0)), ("exponential", (1e-3,))))  # of no use: all rows are strangers
    gaussian, _ = fit_gate(X[known], codes[known], 2, n_landmarks, 0, narrow)
    assert gaussian.mapping.kind == "rbf"
    losses = [log_loss(each.probabilities(X[new]), codes[new]) for each in (gate, gaussian)]
    assert losses[0] < losses[1]
    assert log_loss(left_out, codes[known]) == pytest.approx(losses[0], rel=0.2)


def test_it_is_left_where_the_gaussian_does_as_well():
    for seed in range(5):
        X, codes = classes_of(300, spread=1.0, seed=seed)
        assert fit_gate(X, codes, 3, 2000, 0)[0].mapping.kind == "rbf"


def test_a_run_with_it_goes_on_from_any_snapshot():
    X, codes = shells(300)
    model = ClassAtlas(max_iter=6, random_state=0, preprocessing="none")
    straight = list(model.iterate(X, codes))
    whole = clone(model).fit(X, codes)
    assert whole.gate_.mapping.kind == "exponential"
    again = clone(model).set_params(max_iter=3).fit(X, codes, start=straight[3])  # three steps more
    np.testing.assert_allclose(again.transform(X[:20]), whole.transform(X[:20]), atol=1e-6)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(whole)).transform(X[:20]), whole.transform(X[:20]))


# --- the second opinion -----------------------------------------------------------------------------------------------


def discriminants(X, codes, within, shrinkage, n, n_classes):
    """log n_k - (x - m_k)' M^-1 (x - m_k) / 2 at every row, M's divisor and shrinkage being given."""
    counts = np.bincount(codes, minlength=n_classes)
    means = np.stack([X[codes == k].mean(axis=0) for k in range(n_classes)])
    centred = X - means[codes]
    mixed = (1 - shrinkage) * centred.T @ centred / (n - n_classes) + shrinkage * within * np.eye(X.shape[1])

    def at(rows):
        apart = rows[:, None] - means
        return np.log(counts) - 0.5 * np.einsum("nkd,nkd->nk", apart, apart @ np.linalg.inv(mixed))

    return at, np.trace(centred.T @ centred) / (n - n_classes) / X.shape[1]


def test_left_out_discriminants_are_those_of_a_refit():
    X, codes = classes_of(40)
    X = X * [1.0, 3.0, 0.2, 1.0, 1.0] + 100.0
    for found in fit_discriminants(X, codes, 3, 2.5):
        _, spread = discriminants(X, codes, 1.0, found.shrinkage, 40, 3)
        everybody, _ = discriminants(X, codes, spread, found.shrinkage, 40, 3)
        expected, ours = everybody(X), X @ found.coef + found.offset
        np.testing.assert_allclose(ours - ours[:, :1], expected - expected[:, :1], atol=1e-8)
        for row in (0, 17):
            rest = np.arange(40) != row
            refit, _ = discriminants(X[rest], codes[rest], spread, found.shrinkage, 40, 3)
            np.testing.assert_allclose(found.left_out[row], refit(X[row : row + 1])[0], atol=1e-8)


def test_nobody_knows_the_class_of_its_only_row():
    X, codes = classes_of(40)
    codes[5] = 3
    for found in fit_discriminants(X, codes, 4, 1.0):
        assert found.left_out[5, 3] == -np.inf
        assert np.isfinite(np.delete(found.left_out, 5, axis=0)).all()


def test_where_rows_are_few_or_classes_are_points_there_is_no_second_opinion():
    rng = np.random.default_rng(0)
    assert fit_discriminants(rng.standard_normal((20, 7)), np.arange(20) % 2, 2, 1.0) == []
    assert fit_discriminants(rng.standard_normal((6, 1)), np.arange(6), 6, 1.0) == []
    assert fit_discriminants(np.repeat(np.eye(3), 20, axis=0), np.repeat(np.arange(3), 20), 3, 1.0) == []


def ring(n_rows, rng):
    """Two rings, one in the other."""
    angle, codes = rng.uniform(0.0, 2.0 * np.pi, n_rows), np.arange(n_rows) % 2
    return (1.0 + codes)[:, None] * np.c_[np.cos(angle), np.sin(angle)] + 0.1 * rng.standard_normal((n_rows, 2)), codes


def test_a_second_opinion_counts_where_it_helps():
    """Clouds of one shape are what discriminants are made for; rings are not."""
    X, codes = classes_of(800, 8, spread=1.0)
    gate, _ = fit_gate(X[:200], codes[:200], 8, 2000, 0)
    assert gate.share < 1.0
    ringed, _ = fit_gate(*ring(200, np.random.default_rng(0)), 2, 2000, 0)
    assert ringed.share == 1.0
    assert not ringed.linear.any()
    alone, _ = fit_gate(X[:200], codes[:200], 8, 2000, 0, Choices(shares=()))
    losses = [log_loss(each.probabilities(X[200:]), codes[200:]) for each in (gate, alone)]
    assert losses[0] < losses[1] - 0.02


def test_two_opinions_are_means_of_logarithms():
    X, codes = ring(200, np.random.default_rng(0))
    gate, _ = fit_gate(X, codes, 2, 2000, 0)
    other = fit_discriminants(X, codes, 2, 1.0)[1]
    logs = 0.25 * np.log(gate.probabilities(X)) + 0.75 * log_softmax(X @ other.coef + other.offset, axis=1)
    np.testing.assert_allclose(gate.joined(other, 0.25).probabilities(X), softmax(logs, axis=1), atol=1e-12)


# --- a gate of one's own ----------------------------------------------------------------------------------------------


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
