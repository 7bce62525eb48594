"""Columns of the data and values of the fit as colours and sizes of rows."""

import dataclasses
from urllib.parse import parse_qsl

import numpy as np
import pytest

from supdr_viz.experiment.build import build_dataset, build_estimator
from supdr_viz.experiment.settings import Settings, from_json, parse_query, to_json, to_query
from supdr_viz.experiment.splitting import split
from supdr_viz.pictures.fitted_values import class_shares, fitted_values
from supdr_viz.pictures.row_colours import categories, row_colours, row_shapes, row_sizes, scale_ends, value_choices
from supdr_viz.pictures.row_columns import MOST_CATEGORIES, OTHERS, RowColumns, robust_range
from supdr_viz.pictures.scene import build_scene
from supdr_viz.pictures.selected_rows import confusion, distributions, nearest_rows
from supdr_viz.pictures.surface import LatentPlane, evaluate, latent_axes
from supdr_viz.views.board import Board
from supdr_viz.views.colours import scale
from supdr_viz.views.marker_shapes import SHAPES
from supdr_viz.views.plane import class_legend
from tests.viz.made_frames import make_frame, make_scene, make_surface

RNG = np.random.default_rng(0)


def scene_with(**columns):
    scene = make_scene()
    features = {name: values for name, values in columns.items() if values.dtype != object}
    texts = {name: values for name, values in columns.items() if values.dtype == object}
    X = np.column_stack(list(features.values())) if features else np.zeros((40, 0))
    return dataclasses.replace(scene, columns=RowColumns((X[:30], X[30:]), list(features), texts))


def of_settings(**fields):
    """A scene, its split and a fitted method."""
    settings = Settings(**fields)
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    fitted = build_estimator(settings, dataset.task, parts.n_train).fit(parts.X_train, parts.y_train)
    return build_scene(dataset, parts), parts, fitted


def surface_of(scene, parts, fitted):
    latent = fitted.embedding_
    plane = LatentPlane(*latent_axes(latent))
    return evaluate(fitted, scene, parts, plane, iteration=1, resolution=12)


def test_numbers_have_a_scale_that_few_far_values_do_not_stretch():
    values = RNG.normal(size=40)
    values[3], values[5] = 1e6, np.nan
    scene = scene_with(weight=values)
    low, high = scale_ends(scene, "column:weight")
    assert -5 < low < high < 1e6
    np.testing.assert_array_equal(row_colours(scene, None, "column:weight"), values)
    assert categories(scene, "column:weight") is None
    (entry, *_) = class_legend(scene, "column:weight", values)
    assert entry.kind == "scale"
    assert "weight" in entry.name


@pytest.mark.parametrize("values", [np.full(5, np.nan), np.full(5, 3.0), np.zeros(0), np.array([1.0, np.nan])])
def test_a_scale_is_never_empty(values):
    low, high = robust_range(values)
    assert low < high


def test_texts_are_categories_with_colours_shapes_and_keys_that_can_be_pressed():
    names = np.array(["bay", None, "cliff", "dune"] * 10, dtype=object)
    scene = scene_with(place=names)
    assert categories(scene, "column:place") == ("bay", "cliff", "dune")
    codes = row_colours(scene, None, "column:place")
    np.testing.assert_array_equal(codes[:4], [0, 3, 1, 2])
    np.testing.assert_array_equal(row_shapes(scene, "column:place")[:4], [0, 0, 1, 2])
    for dark in (False, True):
        colours = scale(scene, "column:place", dark)
        assert len(set(colours["palette"])) == 4
        assert (colours["low"], colours["high"]) == (-0.5, 3.5)
    picks = {entry.name.split(" · ")[0]: entry.pick for entry in class_legend(scene, "column:place")}
    assert {name: picks[name] for name in ("bay", "cliff", "dune", "missing")} == {
        "bay": 0,
        "cliff": 1,
        "dune": 2,
        "missing": 3,
    }


def test_of_many_categories_the_rarest_share_a_colour():
    names = np.array([f"kind {min(k, 25)}" for k in range(40)], dtype=object)
    scene = scene_with(kind=names)
    shown = categories(scene, "column:kind")
    assert len(shown) == MOST_CATEGORIES
    assert shown[-1] == OTHERS
    assert "kind 25" in shown  # the most frequent one
    assert len(scene.columns.get("kind").categories) == 26  # all of them can be looked for


def test_two_numbers_are_categories():
    scene = scene_with(smokes=np.array([0.0, 1.0] * 20))
    assert categories(scene, "column:smokes") == ("0", "1")


@pytest.mark.parametrize("key", ["column:height", "probability:nobody", "spread", "no such thing"])
def test_what_the_data_do_not_have_means_labels(key):
    scene = scene_with(weight=RNG.normal(size=40))
    np.testing.assert_array_equal(row_colours(scene, None, key), row_colours(scene, None, "label"))
    assert categories(scene, key) == scene.class_names


def test_values_of_the_fit_are_those_of_the_method():
    scene, parts, fitted = of_settings(data="wine", method="LSDR")
    surface = surface_of(scene, parts, fitted)
    share = class_shares(fitted, parts)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.classes_[share.argmax(axis=1)], surface.predicted)
    latent = np.concatenate([fitted.embedding_, fitted.transform(parts.X_test)])

    def values(key):
        return fitted_values(key, fitted, scene, parts, surface, latent)

    ordered = np.sort(share, axis=1)
    np.testing.assert_allclose(values("doubt"), 1.0 - (ordered[:, -1] - ordered[:, -2]))
    np.testing.assert_allclose(values(f"probability:{scene.class_names[1]}"), share[:, 1])
    np.testing.assert_allclose(np.exp(-values("loss")), share[np.arange(len(share)), scene.target.astype(int)])
    np.testing.assert_array_equal(values("latent:2"), latent[:, 1])
    for absent in ("latent:99", "latent:0", "latent:x", "probability:nobody"):
        assert np.isnan(values(absent)).all()


def test_the_loss_of_a_regression_is_the_squared_error():
    scene, parts, fitted = of_settings(data="wide_regression", method="SDRGLM", data_options={"n_samples": 60})
    surface = surface_of(scene, parts, fitted)
    loss = fitted_values("loss", fitted, scene, parts, surface, None)
    np.testing.assert_allclose(loss, (surface.predicted - scene.target) ** 2)
    assert np.isnan(fitted_values("doubt", fitted, scene, parts, surface, None)).all()


def test_sizes_grow_with_values_and_missing_ones_are_the_smallest():
    sizes = row_sizes(np.array([0.0, 5.0, 10.0, 99.0, -3.0, np.nan]), (0.0, 10.0))
    assert sizes[0] == sizes[4] == sizes[5] == 0
    assert sizes[0] < sizes[1] < sizes[2] == sizes[3]


def test_the_stage_gets_colours_shapes_and_sizes():
    weights, places = RNG.normal(size=40), np.array(["bay", "cliff"] * 20, dtype=object)
    scene, board = scene_with(weight=weights, place=places), Board()
    board.show_scene(scene)
    board.show_frame(make_frame(scene))
    classes = board.stage.get("rows", "shape").copy()
    board.show_colours("column:place", "column:weight")
    np.testing.assert_array_equal(board.stage.get("rows", "colour"), [0, 1] * 20)
    np.testing.assert_array_equal(board.stage.get("rows", "shape"), np.array([0, 1] * 20) % SHAPES)
    sizes = board.stage.get("rows", "sizes")
    assert np.all(np.diff(sizes[np.argsort(weights)].astype(int)) >= 0)
    assert sizes.min() < sizes.max()
    board.show_colours("doubt", "")
    assert np.isnan(board.stage.get("rows", "colour")).all()  # nothing is computed yet
    assert board.stage.get("rows", "sizes") is None
    np.testing.assert_array_equal(board.stage.get("rows", "shape"), classes)
    doubt = RNG.uniform(size=40)
    board.show_surface(make_surface(scene, values={"doubt": doubt}))
    np.testing.assert_array_equal(board.stage.get("rows", "colour"), doubt)


def test_a_menu_offers_every_column_class_and_coordinate():
    scene = scene_with(weight=RNG.normal(size=40), place=np.array(["bay", "cliff"] * 20, dtype=object))
    keys = [start + text for _, start, texts in value_choices(scene, 3) for text in texts]
    assert {"column:weight", "column:place", "latent:1", "latent:3", "doubt", "loss"} < set(keys)
    assert {f"probability:{name}" for name in scene.class_names} < set(keys)
    values = [start + text for _, start, texts in value_choices(make_scene(task="regression"), 2) for text in texts]
    assert values == ["loss", "latent:1", "latent:2"]


def test_a_text_that_became_indicators_is_one_column():
    places = np.array(["bay", "cliff", "dune", None] * 10, dtype=object)
    X = np.column_stack([*(places == name for name in ("bay", "cliff", "dune")), np.arange(40)]).astype(float)
    features = [*(f"place=2={name}" for name in ("bay", "cliff", "dune")), "a=b"]
    columns = RowColumns((X[:30], X[30:]), features, {"place=2": places, "a": np.arange(40.0), "note": places})
    assert columns.names == ["place=2", "a=b", "a", "note"]
    assert (columns.learnt, columns.others) == (["place=2", "a=b"], ["a", "note"])
    assert columns.get("place=2").categories == ("bay", "cliff", "dune")
    np.testing.assert_array_equal(columns.get("place=2=dune").values, X[:, 2])  # links and searches know it
    offered = {
        heading: names for heading, _, names in value_choices(dataclasses.replace(make_scene(), columns=columns), 2)
    }
    assert offered["Column"] == columns.learnt
    assert offered["Column not learnt from"] == columns.others


def test_links_and_files_keep_what_colours_and_sizes_mean():
    settings = Settings(data="wine", colour_by="column:od280/od315_of_diluted_wines", size_by="probability:class, one")
    query = {name: [value.encode()] for name, value in parse_qsl(to_query(settings))}
    assert parse_query(query) == (settings, [])
    assert from_json(to_json(settings)) == (settings, [])


@pytest.mark.parametrize("value", ["colour", "column:", "columns:x", ":x"])
def test_a_link_that_asks_for_no_such_colour_says_so(value):
    settings, problems = parse_query({"view.colour": [value.encode()], "view.size": [value.encode()]})
    assert (settings.colour_by, settings.size_by) == ("label", "")
    assert len(problems) == 2
    assert all("column:NAME" in problem and value in problem for problem in problems)


# --- what selected rows have in common -----------------------------------------------------------------------------


def test_distributions_are_shares_of_the_selected_rows_and_of_the_others():
    scene = scene_with(weight=np.arange(40.0), place=np.array(["bay", "cliff"] * 20, dtype=object))
    chosen = np.arange(40) < 10
    weight = distributions(scene.columns.get("weight"), chosen)
    assert weight.selected.sum() == pytest.approx(1.0)
    assert weight.rest.sum() == pytest.approx(1.0)
    assert weight.means == (4.5, 24.5)
    assert weight.difference > 0.8
    place = distributions(scene.columns.get("place"), chosen)
    np.testing.assert_allclose(place.selected, [0.5, 0.5])
    assert place.difference == 0.0
    everything = distributions(scene.columns.get("weight"), np.ones(40, dtype=bool))
    assert everything.difference == 0.0
    assert not everything.rest.any()


def test_confusion_counts_like_scikit_learn():
    from sklearn.metrics import confusion_matrix

    true, predicted = RNG.integers(0, 4, (2, 100)).astype(float)
    np.testing.assert_array_equal(confusion(true, predicted, 4), confusion_matrix(true, predicted, labels=range(4)))
    true[:10] = np.nan
    assert confusion(true, predicted, 4).sum() == 90


def test_nearest_rows_are_those_of_scikit_learn():
    from sklearn.neighbors import NearestNeighbors

    rows = RNG.normal(size=(50, 3))
    apart, found = NearestNeighbors(n_neighbors=7).fit(rows).kneighbors(rows[[4]])
    near, distances = nearest_rows(rows, 4, 6)
    np.testing.assert_array_equal(near, found[0, 1:])
    np.testing.assert_allclose(distances, apart[0, 1:])
    assert len(nearest_rows(rows[:3], 0, 8)[0]) == 2
