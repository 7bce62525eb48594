"""ClassAtlas's objective and its gradient, and the path of the weight of its gate."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import squareform
from sklearn.datasets import load_iris
from sklearn.manifold._t_sne import _joint_probabilities, _kl_divergence

from supdr import ClassAtlas
from supdr.methods.class_atlas.affinities import OTHER_CLASS, _conditional, affinities, squared_distances
from supdr.methods.class_atlas.neighbours import neighbour_loss
from supdr.methods.class_atlas.problem import cell_logs
from supdr.methods.class_atlas.solvers import GatePath
from tests.core.class_atlas_cases import classes_of, problem


def evaluated(made, state, point=None, lam=3.0):
    return made.evaluate(state.atlas, state.basis, lam, state.search.point if point is None else point)


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
