"""ClassAtlas's room: charts are no specks, and a layout without gaps is left as it is."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from sklearn.datasets import load_digits, make_blobs

from supdr import ClassAtlas
from supdr.methods.class_atlas.room import room, second_moments
from tests.core.class_atlas_cases import classes_of, problem

OWNERS = np.array([0, 0, 1, 2, 2, 2, 3])


def layout(n_components, apart=30.0, seed=0):
    """Centres, maps and moments of four charts."""
    rng = np.random.default_rng(seed)
    blocks = [rng.standard_normal((count + 3, count)) for count in np.bincount(OWNERS)]
    moments = block_diag(*(each.T @ each / len(each) for each in blocks))
    return apart * rng.standard_normal((4, n_components)), rng.standard_normal((7, n_components)), moments


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_slopes(n_components):
    centres, maps, moments = layout(n_components)
    point = np.vstack([centres, maps])
    value, slopes = room(centres, maps, moments, OWNERS, 0.02)
    assert value > 0.1
    for place in np.ndindex(point.shape):
        step = np.zeros(point.shape)
        step[place] = 1e-5
        up, down = (room((point + s * step)[:4], (point + s * step)[4:], moments, OWNERS, 0.02)[0] for s in (1, -1))
        assert abs((up - down) / 2e-5 - slopes[place]) < 1e-7 * max(np.abs(slopes).max(), 1.0)


def test_slopes_of_the_objective_where_charts_lack_room():
    made = problem(*classes_of())
    state = made.start(0)
    point = state.search.point.copy()
    centres = np.zeros(state.picture.theta.shape)
    centres[:3] = 20.0 * state.centres
    point[:-1] += np.linalg.solve(state.basis.back, centres).ravel()
    value, gradient, picture = made.evaluate(state.atlas, state.basis, 1.0, point)
    assert picture.terms[2] > 0.1
    assert value == pytest.approx(sum(picture.terms))
    direction = np.random.default_rng(0).standard_normal(len(point))
    up, down = (made.evaluate(state.atlas, state.basis, 1.0, point + s * 1e-5 * direction)[0] for s in (1, -1))
    assert (up - down) / 2e-5 == pytest.approx(gradient @ direction, rel=1e-6)


def test_moments_are_those_of_each_class():
    rng = np.random.default_rng(0)
    coordinates, members = rng.standard_normal((40, 5)), np.arange(40) % 3
    owners = np.array([0, 0, 2, 0, 2])
    moments = second_moments(coordinates, members, owners)
    maps = rng.standard_normal((5, 2))
    for k in (0, 2):
        drawn = coordinates[members == k][:, owners == k] @ maps[owners == k]
        part = np.ix_(owners == k, owners == k)
        assert np.trace(maps[owners == k].T @ moments[part] @ maps[owners == k]) == pytest.approx(
            (drawn**2).sum(axis=1).mean()
        )
    assert not moments[np.ix_(owners == 0, owners == 2)].any()


def test_only_the_arrangement_counts():
    """Turned, moved, and drawn on another scale: the same room."""
    centres, maps, moments = layout(2)
    maps *= 10.0  # beside which a point is nothing
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    value = room(20 * centres, maps, moments, OWNERS, 0.02)[0]
    assert room(20 * centres @ turn + 5.0, maps @ turn, moments, OWNERS, 0.02)[0] == pytest.approx(value)
    assert room(60 * centres, 3 * maps, moments, OWNERS, 0.02)[0] == pytest.approx(value, rel=1e-3)
    assert room(60 * centres, maps, moments, OWNERS, 0.02)[0] > value


PAIR = np.array([[0.0, 0.0], [1.0, 0.0]])
HEXAGON = np.array([[0.0, 0.0], *([np.cos(angle), np.sin(angle)] for angle in np.arange(6) * np.pi / 3)])


@pytest.mark.parametrize("centres", [PAIR, HEXAGON])
def test_discs_that_touch_have_room(centres):
    """Two discs, or seven in a hexagon; three times as far from each other they have not."""
    owners = np.repeat(np.arange(len(centres)), 2)
    maps = np.tile(np.eye(2), (len(centres), 1)) * 50.0  # discs of diameter 100: r^2 = 1250, of a uniform disc
    moments = np.eye(len(owners)) / 4.0
    touching = room(100.0 * centres, maps, moments, owners, 0.02)
    assert touching[0] == 0.0
    assert not touching[1].any()
    assert room(300.0 * centres, maps, moments, owners, 0.02)[0] > 0.0


def test_the_less_sure_the_gate_is_the_less_it_acts():
    """Where it misclassifies a tenth, charts lie as without the term."""
    centres, maps, moments = layout(2)
    values = [room(centres, maps, moments, OWNERS, error)[0] for error in (0.0, 0.01, 0.05, 0.1, 0.5)]
    assert values[0] > values[1] > values[2] > 0.0
    assert values[3:] == [0.0, 0.0]
    assert not room(centres, maps, moments, OWNERS, 0.1)[1].any()


def test_one_class_and_classes_of_single_rows():
    centres, maps, moments = layout(2)
    assert room(centres[:1], maps[:2], moments[:2, :2], OWNERS[:2], 0.02)[0] == 0.0
    assert room(centres, maps[:0], moments[:0, :0], OWNERS[:0], 0.02)[0] == 0.0
    value, slopes = room(np.vstack([centres, 3 * centres[:1]]), maps, moments, OWNERS, 0.02)
    assert value > 0.0
    assert np.isfinite(slopes).all()
    assert np.abs(slopes[4]).max() > 0.0  # a class without a chart comes nearer all the same


def disc_by_side(state):
    """Median diameter of a chart as a share of the side of the square that holds the rows."""
    return 2.0 * np.median(state.radii) / np.ptp(state.drawn, axis=0).max()


@pytest.mark.parametrize(
    ("rows", "least"),
    [
        ([part[:900] for part in load_digits(return_X_y=True)], 0.15),
        (make_blobs(26 * 45, 12, centers=26, cluster_std=3.0, random_state=0), 0.1),
    ],
    ids=["ten digits", "26 classes"],
)
def test_charts_can_be_seen(rows, least):
    """From the start to the end: a run is no shrinking."""
    snapshots = list(ClassAtlas(random_state=0).iterate(*rows))
    assert len(snapshots) > 20
    assert min(disc_by_side(snapshot.state) for snapshot in snapshots) >= least
