"""Maps of cells: all rows, in few bytes, found again in the store, and turned to their neighbours."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from supdr import LSDR, SDRGLM
from supdr.sensitivity import Cell, Outcome, Result, Store, Sweep, aligned_maps
from supdr.sensitivity.maps import LARGEST, map_rows, packed, unpacked

X, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
GRID = {"reg_u": [0.01, 1.0], "beta": [0.1, 0.5]}


def cells_of(sweep, rows=X, labels=Y):
    return {cell.number: cell for cell in sweep.run(rows, labels, "in-process")}


def distances(points):
    """All distances, of which the largest is 1."""
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    return apart / apart.max()


@pytest.mark.parametrize("transductive", [False, True])
def test_a_map_has_the_rows_where_the_first_fit_has_them(transductive):
    sweep = Sweep(
        LSDR(max_iter=5), {"reg_u": [0.1]}, cv=[(np.arange(1, 150), [0])], maps=True, transductive=transductive
    )
    [cell] = cells_of(sweep).values()
    hidden = np.where(np.arange(150) == 0, np.nan, Y)
    model = LSDR(max_iter=5, reg_u=0.1, random_state=0)
    model = model.fit(X, hidden) if transductive else model.fit(X[1:], Y[1:])
    positions = model.embedding_ if transductive else np.concatenate([model.transform(X[:1]), model.embedding_])
    assert cell.map.dtype == np.int16
    np.testing.assert_allclose(distances(cell.map.astype(float)), distances(positions), atol=1e-4)


def test_other_estimators_have_a_map_if_they_transform():
    [cell] = cells_of(Sweep(KNeighborsClassifier(), {"n_neighbors": [3]}, cv=2, maps=True)).values()
    assert cell.map is None
    assert not cell.errors


def test_wide_rows_with_shared_row_space_have_maps():
    wide = RNG.normal(size=(24, 100))
    labels = np.arange(24) % 2
    for shortcuts in (True, False):
        sweep = Sweep(SDRGLM(max_iter=5), {"reg_u": [0.1]}, cv=2, maps=True, shortcuts=shortcuts)
        [cell] = cells_of(sweep, wide, labels).values()
        assert cell.map.shape == (24, 2)
        assert not cell.errors


def test_maps_of_five_hundred_rows_take_less_than_ten_kilobytes_and_are_found_again(tmp_path):
    rows, labels = np.tile(X, (4, 1))[:500], np.tile(Y, 4)[:500]
    sweep = Sweep(LSDR(max_iter=2), GRID, cv=2, maps=True, store=tmp_path / "s.sqlite")
    first = cells_of(sweep, rows, labels)
    with Store(tmp_path / "s.sqlite") as store:
        assert len(store) == 8
        assert max(len(cell.map.tobytes()) for cell in first.values()) <= 10_000
    again = cells_of(sweep, rows, labels)
    assert sweep.progress.stored == 8
    for number, cell in again.items():
        np.testing.assert_array_equal(cell.map, first[number].map)


def test_fits_of_a_store_without_maps_are_completed(tmp_path):
    """Only the fits whose maps are missing are made again, and no score changes."""
    path = tmp_path / "s.sqlite"
    without = Sweep(LSDR(max_iter=3), GRID, cv=3, store=path)
    before = without.result(cells_of(without).values())
    sweep = Sweep(LSDR(max_iter=3), GRID, cv=3, store=path, maps=True)
    cells = cells_of(sweep)
    assert sweep.progress.stored == 8
    assert all(cell.map is not None for cell in cells.values())
    np.testing.assert_array_equal(sweep.result(cells.values()).means(), before.means())
    cells_of(sweep)
    assert sweep.progress.stored == 12


def test_many_rows_are_thinned_evenly():
    assert map_rows(3).tolist() == [0, 1, 2]
    chosen = map_rows(10_001)
    assert len(chosen) == 1000
    assert (chosen[0], chosen[-1]) == (0, 10_000)
    assert set(np.diff(chosen)) <= {10, 11}


def test_packing_keeps_the_shape_and_missing_rows():
    points = RNG.normal(size=(50, 2)) * 1e-3
    points -= points.mean(axis=0)
    points[7] = np.nan
    small = packed(points)
    assert np.abs(small[np.isfinite(points)]).max() == LARGEST
    back = unpacked(small)
    assert np.isnan(back[7]).all()
    others = np.delete(np.arange(50), 7)
    np.testing.assert_allclose(distances(back[others]), distances(points[others]), atol=1e-4)
    assert not packed(np.zeros((3, 2))).any()


def result_of(maps, shape):
    grid = {name: list(range(size)) for name, size in zip("ab", shape)}
    cells = [Cell(number, {}, (Outcome(number, 0, 0, map=packed(points)),)) for number, points in maps.items()]
    return Result(grid, ["error"], cells)


def turn(points, angle, mirrored):
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (points * (-1.0 if mirrored else 1.0, 1.0)) @ rotation


def test_turned_and_mirrored_copies_become_one():
    points = RNG.normal(size=(60, 2))
    maps = {number: 3.0**number * turn(points, number, number % 2) + number for number in range(12)}
    found = aligned_maps(result_of(maps, (3, 4)))
    assert sorted(found) == list(range(12))
    for each in found.values():
        np.testing.assert_allclose(each, found[0], atol=1e-3)
        assert np.mean(np.sum(each**2, axis=1)) == pytest.approx(1.0)


def test_cells_that_change_slowly_are_turned_to_their_neighbours_while_some_are_missing():
    start, end = RNG.normal(size=(2, 40, 2))
    mixed = [start * (1 - t) + end * t for t in np.linspace(0, 1, 9)]
    turned = {number: turn(mixed[number], 2.0 * number, number % 3 == 0) for number in (0, 1, 2, 4, 5, 7, 8)}
    found = aligned_maps(result_of(turned, (9,)))
    plain = aligned_maps(result_of({number: mixed[number] for number in turned}, (9,)))
    for number in turned:
        np.testing.assert_allclose(distances(found[number]), distances(plain[number]), atol=1e-3)
    steps = [np.linalg.norm(found[a] - found[b]) for a, b in ((0, 1), (1, 2), (4, 5), (7, 8))]
    assert max(steps) < 0.5 * np.linalg.norm(found[0] - found[8])


def test_without_maps_there_is_nothing_to_align():
    assert aligned_maps(Result({"a": [1, 2]}, ["error"], [Cell(0, {}, (Outcome(0, 0, 0),))])) == {}


def test_cells_of_an_earlier_run_are_not_computed_again(tmp_path):
    """They come with their maps, and are in the store afterwards; the others are computed."""
    earlier = cells_of(Sweep(LSDR(max_iter=3), GRID, cv=2, maps=True))
    path = tmp_path / "s.sqlite"
    sweep = Sweep(LSDR(max_iter=3), GRID, cv=2, maps=True, finished=list(earlier.values())[:3], store=path)
    cells = cells_of(sweep)
    assert sweep.progress.stored == 6
    for number, cell in cells.items():
        np.testing.assert_array_equal(cell.map, earlier[number].map)
        assert cell.mean("error") == earlier[number].mean("error")
    with Store(path) as store:
        assert len(store) == 8
