"""Pictures of many rows: the density of all of them under a fixed sample."""

from dataclasses import replace

import numpy as np
import pytest

from supdr.datasets import Dataset
from supdr_viz.experiment.build import Unusable, build_dataset, build_estimator, check_columns
from supdr_viz.experiment.settings import Settings
from supdr_viz.experiment.splitting import split
from supdr_viz.pictures.density import COSTLY, CROWD, DENSEST, SAMPLE, VALUE_LAYERS, density, sampled
from supdr_viz.pictures.map_quality import InputRows, measuring
from supdr_viz.pictures.row_colours import colour_layers, row_colours, scene_density
from supdr_viz.pictures.scene import build_scene, thinned
from supdr_viz.pictures.surface import evaluate
from supdr_viz.pictures.types import Curves, MapQuality
from supdr_viz.run.frame_builder import DisplayOptions, FrameBuilder
from supdr_viz.ui.theme import palette
from supdr_viz.views.board import Board
from supdr_viz.views.colours import layer_colours
from supdr_viz.views.plane import class_legend
from supdr_viz.views.stage.wire import decode, encode
from tests.viz.made_frames import SQUARE, make_frame, make_scene, make_surface
from tests.viz.prepared import counting

MANY = CROWD + 1000


def crowded(**changes):
    scene = make_scene(MANY, **changes)
    scene = replace(scene, drawn=sampled(MANY))
    return replace(scene, density=scene_density(scene, scene.position, SQUARE))


def test_the_sample_is_fixed_and_only_there_where_it_is_needed():
    assert sampled(CROWD) is None
    rows = sampled(MANY)
    assert len(set(rows)) == len(rows) == SAMPLE
    np.testing.assert_array_equal(rows, sampled(MANY))
    assert (np.diff(rows) < 0).mean() == pytest.approx(0.5, abs=0.1)  # in random order


def test_a_density_shows_every_class_in_proportion_and_does_not_depend_on_the_order():
    rng = np.random.default_rng(0)
    points, layer = rng.normal(size=(4000, 2)), np.repeat([0, 1], [3000, 1000])
    found = density(points, layer, 3, (-4, 4, -4, 4))
    shares = found.levels.astype(float).sum(axis=(1, 2))
    assert shares[1] / shares.sum() == pytest.approx(0.25, abs=0.05)
    assert shares[2] == 0
    assert found.levels.sum(axis=0, dtype=int).max() <= DENSEST + 3
    order = rng.permutation(4000)
    again = density(points[order], layer[order], 3, (-4, 4, -4, 4))
    np.testing.assert_array_equal(again.levels, found.levels)


def test_rows_of_a_density_stand_where_they_are():
    points = np.array([[-0.85, -0.85], [0.85, -0.85], [np.nan, 0.0], [5.0, 0.0]])
    levels = density(points, np.zeros(4, dtype=int), 1, (-1, 1, -1, 1), cells=20).levels[0]
    line, column = np.nonzero(levels == levels.max())
    assert set(zip(line, column)) == {(1, 1), (1, 18)}
    assert levels[5:].max() == 0
    assert not density(points[2:], np.zeros(2, dtype=int), 1, (-1, 1, -1, 1)).levels.any()


def test_every_row_has_a_layer():
    for scene in (make_scene(), make_scene(task="regression")):
        layer, count = colour_layers(scene, row_colours(scene, None, "label"), "label")
        hidden = ~scene.is_test & ~scene.is_labelled
        assert layer.min() >= 0
        assert layer.max() < count
        np.testing.assert_array_equal(layer == count - 1, hidden)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_browser_gets_a_sample_and_the_density_of_all(task):
    board, scene = Board(), crowded(task=task)
    board.show_scene(scene)
    board.show_frame(replace(make_frame(scene, 1), latent=scene.position[:, ::-1].copy()))
    surface = make_surface(scene)
    board.show_surface(replace(surface, density=scene_density(scene, scene.position, SQUARE)))
    tree = decode(encode(board.stage.tree))
    rows = [tree["rows"][name] for name in ("colour", "shape", "kind")]
    facts = [tree["facts"][name] for name in ("row", "truth", "split", "predicted")]
    places = [tree["planes"][view]["place"]["levels"] for view in ("input", "latent")]
    assert {len(each) for each in (*rows, *facts, *places)} == {SAMPLE}
    np.testing.assert_array_equal(tree["facts"]["row"], scene.row[scene.drawn])
    np.testing.assert_allclose(board.points.places("latent")[:, 0], scene.position[scene.drawn, 1], atol=1e-3)
    for view in ("input", "latent"):
        shown = tree["planes"][view]["density"]
        assert shown["levels"].any()
        assert [len(colours) for colours in shown["colours"]] == [len(shown["levels"])] * 2
    board.show_scene(make_scene())
    for view in ("input", "latent"):
        assert board.stage.get("planes", view, "density") is None


def test_what_is_selected_of_a_sample_are_rows_of_the_scene():
    board, scene = Board(), crowded()
    board.show_scene(scene)
    board.stage.hear({"kind": "select", "rows": [0, 7]})
    assert board.points.selection.indices == list(scene.drawn[[0, 7]])
    np.testing.assert_array_equal(board.stage.get("selected"), [0, 7])
    unseen = next(row for row in range(MANY) if row not in set(scene.drawn))
    board.points.selection.indices = [unseen, int(scene.drawn[3])]
    np.testing.assert_array_equal(board.stage.get("selected"), [3])
    board.stage.hear({"kind": "select", "rows": [SAMPLE]})
    assert len(board.points.selection.indices) == 2


def test_the_legend_counts_all_rows_and_a_note_says_how_many_are_drawn():
    settings = Settings(data="blobs", data_options={"n_samples": MANY})
    dataset = build_dataset(settings)
    scene = build_scene(dataset, split(dataset, settings))
    assert len(scene.position) == MANY
    assert any(f"{SAMPLE:,} of {MANY:,} rows" in note for note in scene.notes)
    assert sum(int(entry.name.split("· ")[1].replace(",", "")) for entry in class_legend(scene)[:3]) == MANY


def test_of_many_training_rows_only_those_drawn_are_predicted_as_new_ones():
    settings = Settings(data="blobs", method="LSDR", data_options={"n_samples": MANY})
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    scene = build_scene(dataset, parts)
    snapshot = next(iter((fit := build_estimator(settings, dataset.task)).iterate(parts.X_train, parts.y_train)))
    plain, builder = fit.at(snapshot), FrameBuilder(scene, parts)
    fitted, asked = counting(plain, "predict")
    curves = Curves(np.arange(1))
    builder.build(fitted, snapshot, DisplayOptions(), span=(0, 0), live=True, losses=curves, errors=curves, numbers={})
    asked.clear()
    surface = evaluate(fitted, scene, parts, builder.plane, iteration=0, resolution=10)
    drawn_train = scene.drawn[scene.drawn < scene.n_train]
    assert sorted(asked)[:2] == sorted([len(drawn_train), len(parts.X_test)])
    own = plain.predict(parts.X_train[drawn_train])
    np.testing.assert_array_equal(surface.beyond[drawn_train], own != parts.truth_train[drawn_train])
    assert len(surface.wrong) == MANY  # errors are of all rows
    assert builder.counted(surface, fitted, snapshot).density.levels.any()


def test_of_many_new_rows_a_sample_moves_and_all_stand_at_rest():
    n_rows = COSTLY + 1000
    settings = Settings(
        data="blobs", method="MAC", data_options={"n_samples": n_rows}, method_options={"n_centers": 10}
    )
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    scene = build_scene(dataset, parts)
    assert scene.drawn is None  # each is drawn singly
    snapshot = next(iter((fit := build_estimator(settings, dataset.task)).iterate(parts.X_train, parts.y_train)))
    plain, builder, curves = fit.at(snapshot), FrameBuilder(scene, parts), Curves(np.arange(1))
    fitted, asked = counting(plain, "transform")
    options = {"span": (0, 0), "live": True, "losses": curves, "errors": curves, "numbers": {}}
    moving = builder.build(fitted, snapshot, DisplayOptions(), everyone=False, **options)
    seen = np.isfinite(moving.latent).all(axis=1)
    assert seen[: scene.n_train].all()
    assert asked == [(scene.sample >= scene.n_train).sum()] == [seen[scene.n_train :].sum()]
    assert not builder.complete
    assert np.isfinite(builder.latent).all()  # what asks for all rows gets them
    still = builder.build(fitted, snapshot, DisplayOptions(), **options)
    assert builder.complete
    assert np.isfinite(still.latent).all()
    np.testing.assert_allclose(still.latent[seen], moving.latent[seen], rtol=1e-4, atol=1e-5)


def test_files_have_a_sample_of_many_rows():
    scene = make_scene(COSTLY + 1000, sample=sampled(COSTLY + 1000, COSTLY))
    thin = thinned(scene)
    assert len(thin.drawn) == SAMPLE
    assert thin.density.levels.any()
    assert thinned(thin) is thin
    assert thinned(small := make_scene()) is small


def test_methods_say_how_many_rows_they_take():
    dataset = Dataset(np.zeros((100_001, 1)), np.arange(100_001) % 2)
    with pytest.raises(
        Unusable, match=r"NSDR takes up to 100,000 rows here and these are 100,001; .*MAC.* take more\.$"
    ):
        check_columns(Settings(method="NSDR"), dataset)
    for method in ("MAC", "LSDR", "SDRGLM"):
        check_columns(Settings(method=method), dataset)


def test_a_frame_of_many_rows_embeds_only_those_that_are_drawn():
    settings = Settings(data="blobs", method="MAC", data_options={"n_samples": MANY}, method_options={"n_centers": 10})
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    scene = build_scene(dataset, parts)
    snapshot = next(iter((fit := build_estimator(settings, dataset.task)).iterate(parts.X_train, parts.y_train)))
    plain, builder, curves = fit.at(snapshot), FrameBuilder(scene, parts), Curves(np.arange(1))
    fitted, asked = counting(plain, "transform")
    frame = builder.build(
        fitted, snapshot, DisplayOptions(), span=(0, 0), live=True, losses=curves, errors=curves, numbers={}
    )
    assert sum(asked) == (scene.drawn >= scene.n_train).sum()
    assert np.isfinite(frame.latent).all(axis=1).sum() == SAMPLE
    every = builder.plane.place(np.concatenate([fitted.embedding_, plain.transform(parts.X_test)]))
    np.testing.assert_allclose(frame.latent[scene.drawn], every[scene.drawn], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(builder.latent, every, rtol=1e-4, atol=1e-5)
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    inside = (np.abs(every) < 0.5).all(axis=1).sum()
    assert builder.count_within("latent", corners, None) == pytest.approx(inside, abs=2)


def shown_layers(board, view):
    """Opacity that each colour of a view's density has in all, by colour."""
    shown = board.stage.get("planes", view, "density")
    sums = shown["levels"].astype(float).sum(axis=(1, 2))
    return {colour: total for colour, total in zip(shown["colours"][0], sums) if total}


def looked_at(colour_by="label", task="classification", truth=None):
    """A board with the densities of many rows, of which a third is predicted wrongly."""
    board, scene = Board(), crowded(task=task)
    board.show_scene(scene)
    board.show_colours(colour_by)
    latent = scene.position[:, ::-1].copy()
    board.show_frame(replace(make_frame(scene, 1), latent=latent, truth=truth))
    wrong = np.random.default_rng(1).random(MANY) < 1 / 3
    off = np.where(wrong, 1000.0, 0.0) if task == "regression" else wrong
    predicted = scene.target + off if task == "regression" else (scene.code + wrong) % len(scene.class_names)
    surface = replace(make_surface(scene), wrong=wrong, predicted=predicted.astype(np.float32))
    inside, outside = (scene_density(scene, at, SQUARE, surface, colour_by, truth) for at in (latent, scene.position))
    board.show_surface(replace(surface, density=inside, input_density=outside))
    return board, scene


@pytest.mark.parametrize("view", ["input", "latent"])
def test_the_density_has_the_colours_of_the_rows(view):
    light = palette(False)
    board, scene = looked_at()
    by_label = shown_layers(board, view)
    shares = shown_layers(looked_at("error")[0], view)
    assert set(shares) == {light.error, light.muted}
    assert shares[light.error] / sum(shares.values()) == pytest.approx(1 / 3, abs=0.05)
    predicted = shown_layers(looked_at("prediction")[0], view)
    assert set(predicted) == set(light.classes[: len(scene.class_names)])
    assert predicted != by_label
    board.show_colours("error")
    assert shown_layers(board, view) == by_label  # until they are counted by their errors


@pytest.mark.parametrize("view", ["input", "latent"])
def test_the_density_of_values_and_of_their_errors(view):
    by_value = shown_layers(looked_at(task="regression")[0], view)
    board, scene = looked_at("error", "regression")
    largest = shown_layers(board, view)
    none, most = layer_colours(scene, VALUE_LAYERS + 1, False, "error")[:: VALUE_LAYERS - 1]
    assert set(largest) == {none, most}
    assert largest[most] / sum(largest.values()) == pytest.approx(1 / 3, abs=0.05)
    assert not set(by_value) & set(largest)


@pytest.mark.parametrize("view", ["input", "latent"])
def test_the_density_of_trust_counts_the_rows_whose_trust_is_known(view):
    board, scene = looked_at("trust")
    assert set(shown_layers(board, view)) == {palette(False).muted}
    trust = np.full(MANY, np.nan, dtype=np.float32)
    trust[scene.drawn] = np.where(np.arange(SAMPLE) % 4, 1.0, 0.5)
    nobody = np.full((MANY, 3), -1, dtype=np.int32)
    numbers = {"trustworthiness": 0.9, "continuity": 0.9, "neighbourhood_overlap": 0.5, "knn_error": 0.1}
    truth = MapQuality(2, 3, trust, trust, nobody, nobody, numbers, 0)
    shares = shown_layers(looked_at("trust", truth=truth)[0], view)
    chance, certain = layer_colours(scene, VALUE_LAYERS + 1, False, "trust")[:: VALUE_LAYERS - 1]
    assert set(shares) == {chance, certain}
    assert shares[chance] / sum(shares.values()) == pytest.approx(1 / 4, abs=0.06)
    assert any(f"of {SAMPLE:,} rows" in entry.name for entry in class_legend(scene, "trust"))


@pytest.mark.slow
def test_trust_is_measured_of_every_row_that_is_drawn():
    settings = Settings(data="blobs", data_options={"n_samples": MANY})
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    scene = build_scene(dataset, parts)
    work = measuring(InputRows(scene, parts), scene.position, 1)
    while True:
        try:
            next(work)
        except StopIteration as end:
            truth = end.value
            break
    known = np.flatnonzero(np.isfinite(truth.trust))
    np.testing.assert_array_equal(known, np.sort(scene.drawn))
