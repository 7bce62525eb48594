"""ClassAtlas from a neighbour map without labels to classes that stand apart."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris
from sklearn.manifold import trustworthiness

from supdr import ClassAtlas
from supdr.methods.class_atlas.affinities import OTHER_CLASS, affinities
from supdr.methods.class_atlas.cells import cell_logs
from supdr.methods.class_atlas.charts import SharedClass, distances_by_class
from supdr.methods.class_atlas.model import sharpened
from supdr.methods.class_atlas.neighbours import neighbour_loss
from tests.core.class_atlas_cases import classes_of, problem

IRIS, SPECIES = load_iris(return_X_y=True)
SHUFFLED = np.random.default_rng(0).permutation(SPECIES)
NEW = IRIS[::7] + 0.05


def fitted(separation, X=IRIS, y=SPECIES, max_iter=80, **settings):
    settings = {"preprocessing": "zscore", "max_iter": max_iter, "random_state": 0, **settings}
    return ClassAtlas(separation=separation, **settings).fit(X, y)


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("separation", [0.0, 0.4])
def test_gradient(n_components, separation):
    made = problem(*classes_of(), n_components=n_components, separation=separation)
    state = made.start(0)
    rng = np.random.default_rng(1)
    point = state.search.point + 0.3 * rng.standard_normal(len(state.search.point))

    def energy(at):
        return made.evaluate(state.atlas, state.basis, 3.0, at)

    gradient = energy(point)[1]
    for number in (*rng.choice(len(point) - 1, 15, replace=False), len(point) - 1):
        step = np.zeros(len(point))
        step[number] = 1e-5
        slope = (energy(point + step)[0] - energy(point - step)[0]) / 2e-5
        assert abs(slope - gradient[number]) < 1e-6 * max(np.abs(gradient).max(), 1e-3)


@pytest.mark.parametrize("separation", [0.0, 0.3, 1.0])
def test_terms_of_the_objective(separation):
    """Neighbours of other classes count epsilon^s, the gate's word lambda^s s, the room s."""
    made = problem(*classes_of(), separation=separation)
    state = made.start(0)
    Z, proba = state.picture.latent, state.basis.proba
    P = affinities(state.atlas.charts.rows, proba, made.perplexity, OTHER_CLASS**separation)
    divergence = (proba * (np.log(proba) - cell_logs(Z, state.centres, state.beta)[0])).sum() / len(Z)
    picture = made.evaluate(state.atlas, state.basis, 5.0, state.search.point)[2]
    assert picture.terms[0] == pytest.approx(neighbour_loss(P, Z)[0])
    assert picture.terms[1] == pytest.approx(5.0**separation * separation * divergence)
    whole = problem(*classes_of()).start(0)
    assert picture.terms[2] == pytest.approx(separation * whole.picture.terms[2])


def test_without_separation_labels_have_no_part():
    one, other = fitted(0.0), fitted(0.0, y=SHUFFLED)
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    np.testing.assert_array_equal(one.left_out_embedding_, other.left_out_embedding_)
    np.testing.assert_array_equal(one.transform(NEW), other.transform(NEW))
    assert np.mean(one.predict(NEW) == SPECIES[::7]) > 0.9  # the gate is there all the same


def test_without_separation_the_order_of_rows_has_no_part():
    order = np.random.default_rng(1).permutation(len(IRIS))
    few = {"max_iter": 10}  # before rounding has grown
    one, other = fitted(0.0, **few).embedding_[order], fitted(0.0, IRIS[order], SPECIES[order], **few).embedding_
    signs = np.sign((one * other).sum(axis=0))  # of principal axes
    np.testing.assert_allclose(one, signs * other, atol=1e-3 * one.std())


@pytest.mark.parametrize("separation", [0.0, 0.6])
def test_new_rows_have_a_formula(separation):
    *_, middle, last = ClassAtlas(separation=separation, preprocessing="zscore", random_state=0).iterate(IRIS, SPECIES)
    for snapshot in (middle, last):
        model = ClassAtlas(separation=separation, preprocessing="zscore", random_state=0).fit(IRIS, SPECIES)
        model = model.at(snapshot)
        state = snapshot.state
        rows = (NEW - IRIS.mean(axis=0)) / IRIS.std(axis=0)
        proba, tau = model.predict_proba(NEW), state.settings.tau
        features = state.atlas.features(state.atlas.charts.coordinates(rows), proba, tau)
        shared = state.atlas.shared_class(sharpened(proba, tau), separation)
        g = state.atlas.neighbours.coordinates(rows, shared=shared)
        expected = separation * features @ model.theta_ + (1.0 - separation) * g
        np.testing.assert_allclose(model.transform(NEW), expected, atol=1e-9)


def test_a_training_row_stands_in_its_place_without_separation():
    model = fitted(0.0)
    unique = np.unique(IRIS, axis=0, return_index=True)[1]
    np.testing.assert_allclose(model.transform(IRIS[unique]), model.embedding_[unique], atol=1e-6)


def test_landmarks_of_other_classes_are_farther_by_what_the_separation_leaves_of_them():
    """exp(-d^2 / u) has the factor e + (1 - e) q't, u being the mean of the nearest d^2."""
    rng = np.random.default_rng(0)
    squares, q, t = rng.random((4, 9)), rng.dirichlet(np.ones(3), 4), np.eye(3)[np.arange(9) % 3]
    share = SharedClass(q, t, 0.2).of(slice(None))
    np.testing.assert_allclose(share, 0.2 + 0.8 * q[:, np.arange(9) % 3])
    unit = np.sort(squares, axis=1)[:, :5].mean(axis=1, keepdims=True)
    farther = distances_by_class(squares, share, 5)
    np.testing.assert_allclose(np.exp(-farther / unit), share * np.exp(-squares / unit))


def test_the_neighbour_map_is_found_step_by_step_and_is_the_one_found_at_once():
    model = ClassAtlas(separation=0.4, preprocessing="zscore", random_state=0)
    snapshots = list(model.iterate(IRIS, SPECIES))
    embedding = [each for each in snapshots if each.state.embedding is not None]
    assert len(embedding) > 5
    objectives = [each.objective for each in embedding]
    assert objectives == sorted(objectives, reverse=True)
    assert all(np.ptp(each.state.drawn) > 0.0 for each in embedding)
    at_once = next(iter(model.set_params(early_stopping=True).iterate(IRIS, SPECIES)))  # its labels have no part in it
    assert at_once.state.embedding is None
    np.testing.assert_array_equal(snapshots[-1].state.atlas.neighbours.places, at_once.state.atlas.neighbours.places)


def test_less_separation_is_truer_where_classes_overlap():
    X, y = classes_of(240, 4, spread=0.4)
    trust = [trustworthiness(X, fitted(each, X, y).left_out_embedding_, n_neighbors=10) for each in (0.0, 0.5, 1.0)]
    assert trust[0] > trust[1] > trust[2]


def test_moving_it_carries_the_run_on():
    """The neighbour map is fitted once, and a small move of the separation moves rows a little."""
    model = ClassAtlas(separation=0.6, preprocessing="zscore", random_state=0)
    *_, last = model.iterate(IRIS, SPECIES)
    resumed = next(iter(model.set_params(separation=0.58).iterate(IRIS, SPECIES, start=last)))
    assert (resumed.iteration, resumed.stage) == (last.iteration, last.stage + 1)
    before, after = last.state, resumed.state
    assert after.atlas.neighbours is before.atlas.neighbours
    moved = np.linalg.norm(after.picture.latent - before.picture.latent, axis=1).mean()
    assert 0.0 < moved < 0.1 * before.picture.latent.std()
    *_, end = model.iterate(IRIS, SPECIES, start=resumed)
    assert end.objective <= resumed.objective


def test_a_neighbour_map_comes_when_it_is_needed_and_lies_on_the_picture():
    model = ClassAtlas(preprocessing="zscore", random_state=0)
    *_, last = model.iterate(IRIS, SPECIES)
    assert last.state.atlas.neighbours is None
    resumed = next(iter(model.set_params(separation=0.9).iterate(IRIS, SPECIES, start=last)))
    assert resumed.state.embedding is not None
    g, before = resumed.state.atlas.neighbours.places, last.state.picture.latent
    overlap = np.linalg.svd((g - g.mean(axis=0)).T @ (before - before.mean(axis=0)), compute_uv=False).sum()
    assert np.sum((g - g.mean(axis=0)) * (before - before.mean(axis=0))) == pytest.approx(overlap)
    back = next(iter(model.set_params(separation=1.0).iterate(IRIS, SPECIES, start=resumed)))
    assert back.state.atlas.neighbours is None
    np.testing.assert_allclose(back.state.picture.latent, before, atol=1e-9)


def test_another_perplexity_is_that_of_the_neighbour_map_too():
    model = ClassAtlas(separation=0.0, preprocessing="zscore", random_state=0)
    *_, last = model.iterate(IRIS, SPECIES)
    *_, end = model.set_params(perplexity=5.0).iterate(IRIS, SPECIES, start=last)
    before, after = (pdist(each.state.atlas.neighbours.places) for each in (last, end))
    assert np.abs(before - after).mean() > 0.1 * before.mean()


def test_other_labels_leave_the_neighbour_map_as_it_is():
    model = ClassAtlas(separation=0.5, preprocessing="zscore", random_state=0)
    *_, last = model.iterate(IRIS, SPECIES)
    other = np.where(np.arange(150) == 60, 2, SPECIES)
    resumed = next(iter(model.iterate(IRIS, other, start=last)))
    assert resumed.state.atlas.neighbours is last.state.atlas.neighbours


@pytest.mark.parametrize("rows", [2, 3])
def test_few_rows_and_rows_in_one_place(rows):
    X = IRIS[::40][:rows]
    assert np.isfinite(fitted(0.5, X, np.arange(rows)).embedding_).all()
    assert np.isfinite(fitted(0.5, np.ones((4, 2)), np.arange(4) % 2).transform(np.zeros((1, 2)))).all()


@pytest.mark.parametrize("value", [-0.1, 1.1, "half"])
def test_what_is_no_separation(value):
    with pytest.raises((TypeError, ValueError), match="separation"):
        ClassAtlas(separation=value).fit(IRIS, SPECIES)
