"""Columns at the axes of a plane: those that rise and fall with it, by their names."""

import numpy as np
import pytest

from supdr.datasets import load_wine
from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.settings import Settings
from supdr_viz.experiment.splitting import split
from supdr_viz.pictures.axis_columns import AxisColumns
from supdr_viz.pictures.scene import build_scene

NAMES = ("bill", "wing", "mass", "noise")


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(300, 4))


def test_an_axis_is_named_by_the_columns_of_its_largest_loadings(rows):
    loadings = np.array([[3.0, 0.0], [-1.5, 0.2], [0.0, 2.0], [0.0, 0.0]])
    across, upward = AxisColumns((rows,), NAMES).words(rows @ loadings)
    assert across.startswith("bill +")
    assert ", wing −0." in across
    assert upward.startswith("mass +")
    assert "noise" not in across + upward


def test_words_agree_with_numpys_correlation(rows):
    along = rows @ np.random.default_rng(1).normal(size=(4, 2))
    expected = np.corrcoef(rows.T, along.T)[:4, 4:]
    for axis, words in enumerate(AxisColumns((rows,), NAMES).words(along)):
        for word in words.split(", "):
            name, value = word.split(" ")
            assert float(value.replace("−", "-")) == pytest.approx(expected[NAMES.index(name), axis], abs=0.006)


def test_scale_and_place_of_columns_do_not_matter(rows):
    along = rows[:, :2] + 0.3 * rows[:, 2:]
    moved = rows * [1.0, 1e6, 1e-6, 5.0] + [0.0, 1e7, 3.0, -2.0]
    assert AxisColumns((moved,), NAMES).words(along) == AxisColumns((rows,), NAMES).words(along)


def test_rows_that_are_not_shown_and_missing_cells_do_not_count(rows):
    along = rows[:, :2].copy()
    along[::3] = np.nan
    rows[1::5, 0] = np.nan
    assert AxisColumns((rows,), NAMES).words(along)[0].startswith("bill +0.")


@pytest.mark.parametrize("names", [("x1", "x2", "x3", "x4"), ("a", "b")])
def test_nothing_is_said_where_names_only_count_or_the_plane_is_all(names, rows):
    X = rows[:, : len(names)]
    assert AxisColumns((X,), names).words(X[:, :2]) == ("", "")


def test_blocks_and_rows_that_are_drawn_make_no_difference(rows):
    along = rows[:, :2] + 0.3 * rows[:, 2:]
    assert AxisColumns((rows[:70], rows[70:]), NAMES).words(along) == AxisColumns((rows,), NAMES).words(along)
    some = np.arange(0, 300, 7)
    hidden = np.full_like(along, np.nan)
    hidden[some] = along[some]
    assert AxisColumns((rows,), NAMES, some).words(hidden) == AxisColumns((rows[some],), NAMES).words(along[some])


def test_a_constant_column_is_never_named(rows):
    rows[:, 3] = 7.0
    assert "noise" not in "".join(AxisColumns((rows,), NAMES).words(rows[:, :2]))


def test_a_scene_of_a_named_table_names_its_axes():
    settings = Settings(data="wine")
    dataset = build_dataset(settings)
    scene = build_scene(dataset, split(dataset, settings))
    assert any(name in scene.axis_words[0] for name in load_wine().feature_names)
    two = build_scene(dataset, split(dataset, settings), (0, 1))
    assert two.axis_words == ("alcohol", "malic_acid")


def test_components_of_columns_without_names_are_numbered():
    settings = Settings(data="curved_sheet")
    dataset = build_dataset(settings)
    scene = build_scene(dataset, split(dataset, settings))
    assert scene.plane.kind == "components"
    assert scene.axis_words == ("component 1", "component 2")
