"""ClassAtlas: what its map promises, and the figures of its specification."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.manifold import trustworthiness
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from supdr import ClassAtlas
from supdr.methods.class_atlas.model import believed
from supdr.methods.class_atlas.problem import cell_logs
from tests.core.class_atlas_cases import classes_of, problem
from tests.core.inside import learnt_rows


def test_new_rows_are_placed_as_training_rows_are():
    """With the stored probabilities, only what leaves a row out of its own neighbours differs."""
    X, y = load_wine(return_X_y=True)
    flat = ClassAtlas(charts="pca", random_state=0).fit(X, y)
    state, rows = flat.snapshot_.state, learnt_rows(flat)
    np.testing.assert_allclose(state.image(rows, flat.proba_), flat.left_out_embedding_, atol=1e-8)
    full = ClassAtlas(random_state=0).fit(X, y)
    state = full.snapshot_.state
    coordinates = state.atlas.charts.coordinates(rows, own=True)
    own = state.atlas.features(coordinates, full.proba_, 4.0) @ full.theta_
    np.testing.assert_allclose(own, full.left_out_embedding_, atol=1e-8)
    assert np.abs(state.image(rows, full.proba_) - own).max() > 1e-3
    known = state.atlas.features(coordinates, state.atlas.believed, 4.0) @ full.theta_
    np.testing.assert_allclose(known, full.embedding_, atol=1e-8)


def test_a_label_is_believed_as_far_as_the_gate_finds_labels():
    """Bayes' rule for a label that is another one with the probability of the gate's error."""
    rng = np.random.default_rng(0)
    p, codes = rng.dirichlet(np.ones(4), 50), rng.integers(-1, 4, 50)
    np.testing.assert_allclose(believed(p, codes, 0.75), p)  # noise says nothing
    sure = believed(p, codes, 0.0)
    np.testing.assert_array_equal(sure.argmax(axis=1)[codes >= 0], codes[codes >= 0])
    assert sure[np.arange(50), codes][codes >= 0].min() > 1.0 - 1e-6
    half = believed(p, codes, 0.3)
    for row, code in enumerate(codes):
        given = p[row] * np.where(np.arange(4) == code, 0.7, 0.1) if code >= 0 else p[row]
        np.testing.assert_allclose(half[row], given / given.sum())
    np.testing.assert_array_equal(believed(np.ones((3, 1)), np.zeros(3, dtype=int), 0.0), np.ones((3, 1)))


def test_noise_is_not_drawn_apart_and_classes_are():
    """The error of new rows among training rows is that of the gate, and hardly less where there is nothing to know."""
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((200, 4)), rng.integers(0, 2, 200)
    fitted = ClassAtlas(random_state=0, tol=1e-3).fit(X, noise)
    own = KNeighborsClassifier(5).fit(fitted.embedding_, noise).predict(fitted.embedding_)
    assert np.mean(own != noise) > 0.15
    errors = {"embedding_": [], "left_out_embedding_": [], "gate": []}
    for seed in range(3):
        X, codes = classes_of(700, 2, spread=0.5, seed=seed)
        fitted = ClassAtlas(random_state=0).fit(X[:300], codes[:300])
        new = fitted.transform(X[300:])
        errors["gate"].append(np.mean(fitted.predict(X[300:]) != codes[300:]))
        for name in ("embedding_", "left_out_embedding_"):
            votes = KNeighborsClassifier(5).fit(getattr(fitted, name), codes[:300]).predict(new)
            errors[name].append(np.mean(votes != codes[300:]))
    drawn, left_out, gate = (np.mean(each) for each in errors.values())
    assert gate > 0.1
    assert drawn < gate + 0.02 < left_out + 0.01


def test_one_class_is_its_chart():
    """The estimator asks for two; the problem has a limit all the same."""
    X, _ = classes_of(80, 1)
    made = problem(X, np.zeros(80, dtype=int))
    state = made.start(0)
    assert state.picture.terms[1] == 0.0
    z = state.centres[0] + state.atlas.charts.coordinates(X, own=True) @ state.picture.theta[1:]
    np.testing.assert_allclose(z, state.picture.latent, atol=1e-9)
    for _ in range(5):
        following = made.step(state)
        assert following.search.value < state.search.value
        state = following
    assert state.picture.terms[1] == 0.0


def test_names_of_classes_do_not_matter():
    X, y = load_iris(return_X_y=True)
    swap = np.array([2, 0, 1])
    one = ClassAtlas(random_state=0, max_iter=5).fit(X, y)
    other = ClassAtlas(random_state=0, max_iter=5).fit(X, swap[y])
    assert other.gate_.width == one.gate_.width
    # Folds are dealt class by class: probabilities differ a little, the picture is the same but for that.
    distances = [np.linalg.norm(each.embedding_[:, None] - each.embedding_, axis=2).ravel() for each in (one, other)]
    assert np.corrcoef(*distances)[0, 1] > 0.97


def test_doubt_is_between_the_classes():
    X, codes = classes_of(300, 2, spread=1.0, seed=3)
    fitted = ClassAtlas(random_state=0).fit(X, codes)
    doubtful = fitted.doubt_ > 0.3
    assert doubtful.sum() > 10
    c, places = fitted.centres_, fitted.left_out_embedding_
    gap = np.abs(np.exp(cell_logs(places, c, fitted.beta_)[0])[:, 1] - 0.5)
    assert gap[doubtful].mean() < 0.7 * gap[~doubtful].mean()
    drawn = np.abs(fitted.cells_[:, 1] - 0.5)
    assert drawn[doubtful].mean() < drawn[~doubtful].mean()
    along = (places - c.mean(axis=0)) @ (c[1] - c[0]) / np.sum((c[1] - c[0]) ** 2)
    assert np.abs(along[doubtful]).mean() < np.abs(along[~doubtful]).mean()


def test_what_a_view_draws():
    X, y = load_iris(return_X_y=True)
    fitted = ClassAtlas(random_state=0).fit(X, y)
    assert fitted.centres_.shape == (3, 2)
    assert [axes.shape for axes in fitted.axes_] == [(6, 2)] * 3  # four principal coordinates and two of the embedding
    distances = np.linalg.norm(fitted.embedding_ - fitted.centres_[y], axis=1)
    for k in range(3):
        assert np.mean(distances[y == k] <= fitted.radii_[k]) == pytest.approx(0.9, abs=0.03)
    np.testing.assert_allclose(fitted.doubt_, 1 - fitted.proba_.max(axis=1))
    np.testing.assert_allclose(fitted.cells_.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.transduction_, fitted.cells_.argmax(axis=1))
    assert np.mean(fitted.predict(X) == y) > 0.95


def test_three_dimensions():
    X, y = load_wine(return_X_y=True)
    fitted = ClassAtlas(3, random_state=0).fit(X, y)
    assert fitted.embedding_.shape == fitted.transform(X).shape == (178, 3)
    assert np.linalg.matrix_rank(fitted.embedding_ - fitted.embedding_.mean(axis=0), tol=1e-2) == 3
    plane = ClassAtlas(2, random_state=0).fit(X, y)
    assert fitted.snapshot_.losses["neighbours"] < plane.snapshot_.losses["neighbours"]


# --- figures ----------------------------------------------------------------------------------------------------------


def judged(X, y, folds):
    train, test = next(StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y))
    fitted = ClassAtlas(random_state=0).fit(X[train], y[train])
    Z = fitted.transform(X[test])
    error = np.mean(KNeighborsClassifier(5).fit(fitted.embedding_, y[train]).predict(Z) != y[test])
    return error, trustworthiness(X[test], Z, n_neighbors=10)


def test_digits():
    X, y = load_digits(return_X_y=True)
    error, trust = judged(X / 16.0, y, 5)
    assert error <= 0.012
    assert trust >= 0.965


@pytest.mark.slow
@pytest.mark.papers
def test_multifeat(data_dir):
    arrays = np.load(data_dir / "multifeat.npz")
    X = StandardScaler().fit_transform(np.hstack([arrays[view] for view in arrays.files if view != "y"]))
    error, trust = judged(X, arrays["y"], 3)
    assert error <= 0.02
    assert trust >= 0.965
