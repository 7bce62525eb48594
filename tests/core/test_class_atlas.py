"""ClassAtlas: what its parts promise, degenerate data, and the figures of its specification."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import squareform
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.manifold import trustworthiness
from sklearn.manifold._t_sne import _joint_probabilities, _kl_divergence
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from supdr import ClassAtlas
from supdr.methods.class_atlas.affinities import OTHER_CLASS, _conditional, affinities, squared_distances
from supdr.methods.class_atlas.model import believed
from supdr.methods.class_atlas.neighbours import neighbour_loss
from supdr.methods.class_atlas.problem import cell_logs
from supdr.methods.class_atlas.solvers import GatePath


def classes_of(n_rows=90, n_classes=3, n_columns=5, spread=2.0, seed=0):
    """Overlapping classes; rows of each lie along a direction of their own."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.standard_normal((n_rows, n_columns)) + spread * rng.standard_normal((n_classes, n_columns))[codes]
    return X, codes


def problem(X, codes, **settings):
    return GatePath(np.ascontiguousarray(X), codes, int(codes.max()) + 1, settings.pop("n_components", 2), **settings)


def evaluated(made, state, point=None, lam=3.0):
    return made.evaluate(state.atlas, state.basis, lam, state.search.point if point is None else point)


# --- objective --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_gradient(n_components):
    made = problem(*classes_of(), n_components=n_components)
    state = made.start(0)
    rng = np.random.default_rng(1)
    point = state.search.point + 0.3 * rng.standard_normal(len(state.search.point))
    _, gradient, _ = evaluated(made, state, point)
    for number in (*rng.choice(len(point) - 1, 20, replace=False), len(point) - 1):
        step = np.zeros(len(point))
        step[number] = 1e-5
        up, down = (evaluated(made, state, point + sign * step)[0] for sign in (1, -1))
        assert abs((up - down) / 2e-5 - gradient[number]) < 1e-6 * np.abs(gradient).max()


def test_the_neighbour_term_is_that_of_tsne():
    """Without classes: the same affinities as scikit-learn's, up to its tolerance, and the same value and gradient."""
    X, _ = classes_of(120)
    squares = squared_distances(X, X)
    P = affinities(X, None, 10.0)
    theirs = squareform(_joint_probabilities(squares.astype(np.float32), 10.0, 0))
    ours = np.zeros_like(theirs)
    for i in range(120):
        part = slice(P.starts[i], P.starts[i + 1])
        ours[i, P.partners[part]] = ours[P.partners[part], i] = P.values[part] / 2.0
    assert ours.sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(ours, theirs, atol=2e-3 * theirs.max())
    Z = 5.0 * np.random.default_rng(0).standard_normal((120, 2))
    value, gradient = neighbour_loss(P, Z)
    expected, slope = _kl_divergence(Z.ravel(), squareform(ours, checks=False), 1, 120, 2)
    assert value == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(gradient.ravel(), slope, atol=1e-6 * np.abs(slope).max())


def test_every_row_has_the_entropy_that_was_asked_for():
    X, codes = classes_of(100)
    squares = squared_distances(X, X)
    proba = np.full((100, 3), 0.1) + 0.7 * np.eye(3)[codes]
    share = np.log(OTHER_CLASS + (1 - OTHER_CLASS) * proba @ proba.T)
    out = np.empty((100, 100))
    _conditional(squares, share, np.log(12.0), 0, out)
    entropy = -(out * np.log(np.where(out > 0, out, 1.0))).sum(axis=1)
    np.testing.assert_allclose(np.exp(entropy), 12.0, rtol=1e-6)
    np.testing.assert_allclose(out.sum(axis=1), 1.0)
    same = codes[:, None] == codes
    blind = np.empty((100, 100))
    _conditional(squares, np.zeros_like(share), np.log(12.0), 0, blind)
    assert (out * same).sum() > (blind * same).sum()  # classes pull neighbours to their side


def test_distances_do_not_count_where_a_class_has_fewer_rows_than_neighbours_asked_for():
    """No beta gives the entropy: the least one does, and a row's own class has nearly all of P."""
    X, codes = classes_of(60, 20)
    share = np.log(np.where(codes[:, None] == codes, 1.0, OTHER_CLASS))
    out = np.empty((60, 60))
    _conditional(squared_distances(X, X), share, np.log(15.0), 0, out)
    expected = np.exp(share) * (1.0 - np.eye(60))
    np.testing.assert_allclose(out, expected / expected.sum(axis=1, keepdims=True), rtol=1e-6, atol=0.0)


def test_the_picture_may_be_turned_and_moved():
    X, _ = classes_of()
    P = affinities(X, None, 10.0)
    Z = np.random.default_rng(0).standard_normal((90, 2))
    centres = np.random.default_rng(1).standard_normal((3, 2))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert neighbour_loss(P, Z @ turn + 3.0)[0] == pytest.approx(neighbour_loss(P, Z)[0], rel=1e-10)
    np.testing.assert_allclose(
        cell_logs(Z @ turn + 3.0, centres @ turn + 3.0, 0.7)[0], cell_logs(Z, centres, 0.7)[0], atol=1e-10
    )


def test_threads_change_no_sum():
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((700, 3)), rng.standard_normal((700, 2))
    P = affinities(X, None, 10.0)
    one, several = neighbour_loss(P, Z, 1), neighbour_loss(P, Z, 3)
    assert one[0] == several[0]
    np.testing.assert_array_equal(one[1], several[1])


def test_the_objective_never_rises_at_one_weight():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((150, 4)), rng.integers(0, 3, 150)  # noise: the path goes on to its end
    snapshots = list(ClassAtlas(random_state=0, tol=1e-3).iterate(X, codes))
    weights = [snapshot.diagnostics["lam"] for snapshot in snapshots]
    assert {1.0, 3.0} <= set(weights)
    for before, after in itertools.pairwise(snapshots):
        if before.stage == after.stage:
            assert after.objective <= before.objective
            assert after.diagnostics["lam"] == before.diagnostics["lam"]


def test_the_least_weight_that_does_as_well_is_kept():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((150, 4)), rng.integers(0, 3, 150)
    fitted = ClassAtlas(random_state=0, tol=1e-3).fit(X, codes)
    passed = fitted.snapshot_.state.passed
    weights, errors = zip(*fitted.stages_)
    best = passed[np.argmin(errors)]
    differ = [np.sqrt(np.sum(each.wrong != best.wrong)) / 150 for each in passed]
    assert fitted.lam_ == next(w for w, error, se in zip(weights, errors, differ) if error <= best.error + se)
    assert fitted.snapshot_.diagnostics["knn_error"] == errors[weights.index(fitted.lam_)]
    easy = ClassAtlas(random_state=0).fit(*load_iris(return_X_y=True))
    assert [weight for weight, _ in easy.stages_] == [1.0]  # the plane obeys at once
    assert ClassAtlas(lam=7.0, random_state=0, max_iter=20).fit(X, codes).lam_ == 7.0


class Unhelped(GatePath):
    """A plane in which every row errs, whatever the weight."""

    def wrong_in_plane(self, state):
        return np.ones(len(self.judged(state)), dtype=bool)


def test_a_weight_that_has_not_helped_is_the_last():
    X, codes = classes_of()
    made = Unhelped(X, codes, 3, 2, tol=1.0)
    state = made.start(0)
    for _ in range(10):
        state = made.step(state)
    assert state.complete
    assert [each.lam for each in state.passed] == [1.0, 3.0]
    assert state.lam == 1.0


def test_the_plane_is_compared_with_the_gate_on_the_same_rows():
    """Landmarks only, not all rows: a gate that errs on these alone asks no more of the plane."""
    X, codes = classes_of(300)
    made = problem(X, codes, n_landmarks=60, tol=1.0)
    state = made.start(0)
    by_gate = state.atlas.proba[state.atlas.rows].argmax(axis=1) != codes[state.atlas.rows]
    np.testing.assert_array_equal(made.wrong_by_gate(state), by_gate)
    assert len(made.wrong_in_plane(state)) == len(by_gate) == len(state.atlas.rows) < 80


def test_whitened_coordinates_are_the_same_map():
    made = problem(*classes_of())
    state = made.step(made.start(0))
    own, p = state.atlas.charts.coordinates(state.atlas.charts.rows, own=True), state.atlas.proba
    v = state.search.point[:-1].reshape(-1, 2)
    features = state.atlas.features(own, p, 4.0)
    np.testing.assert_allclose(features @ state.picture.theta, state.basis.features @ v, atol=1e-9)


# --- the map ----------------------------------------------------------------------------------------------------------


def test_new_rows_are_placed_as_training_rows_are():
    """With the stored probabilities, only what leaves a row out of its own neighbours differs."""
    X, y = load_wine(return_X_y=True)
    flat = ClassAtlas(charts="pca", random_state=0).fit(X, y)
    state, rows = flat.snapshot_.state, flat._training[0]
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


# --- few labels, other labels, many rows ------------------------------------------------------------------------------


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


# --- degenerate data --------------------------------------------------------------------------------------------------


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


@pytest.mark.papers
def test_multifeat(data_dir):
    arrays = np.load(data_dir / "multifeat.npz")
    X = StandardScaler().fit_transform(np.hstack([arrays[view] for view in arrays.files if view != "y"]))
    error, trust = judged(X, arrays["y"], 3)
    assert error <= 0.02
    assert trust >= 0.965
