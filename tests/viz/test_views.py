"""Views without a browser: what is sent, what stays, and what awkward data do to them."""

import dataclasses
import html.parser
from types import SimpleNamespace

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.document.events import ColumnDataChangedEvent, ColumnsPatchedEvent, ColumnsStreamedEvent, ModelChangedEvent
from bokeh.models import HoverTool, LassoSelectTool

from supdr_viz.frames.modes import MARGINS, RECONSTRUCTION
from supdr_viz.frames.types import Curves, Frame, Lines, Plane, Scene, Sheet, Surface
from supdr_viz.kit import theme
from supdr_viz.views import Board, class_legend
from supdr_viz.views.colours import colour_choices, written_colours
from supdr_viz.views.curves import bridge, linear_axis, log_axis, round_up
from supdr_viz.views.figures import join_lines
from supdr_viz.views.row_images import encode_picture
from supdr_viz.views.sources import MARKERS, SHADES, UNKNOWN, point_size

SQUARE = (-1.0, 1.0, -1.0, 1.0)


def make_scene(n=40, n_classes=3, task="classification", names=None, **changes):
    rng = np.random.default_rng(0)
    code = (np.arange(n) % n_classes).astype(np.uint8)
    is_test = np.arange(n) >= int(0.75 * n)
    is_labelled = ~is_test
    is_labelled[:4] = False
    plane = Plane("features", ("first", "second"), np.zeros(2), np.eye(2), np.eye(2), True, 1.0, SQUARE)
    regression = task == "regression"
    scene = Scene(
        title="toy",
        description="",
        task=task,
        class_names=() if regression else tuple(names or (f"class {k}" for k in range(n_classes))),
        position=rng.uniform(-1, 1, (n, 2)).astype(np.float32),
        code=np.zeros(n, dtype=np.uint8) if regression else code,
        target=rng.normal(100, 20, n).astype(np.float32) if regression else code.astype(np.float32),
        is_test=is_test,
        is_labelled=is_labelled,
        row=np.arange(n)[::-1].copy(),
        plane=plane,
        n_features=2,
    )
    return dataclasses.replace(scene, **changes)


def make_curves(k, **changes):
    step = np.arange(k)
    losses = {"reconstruction": 5 + 10 * 0.9**step, "label": 1 + 50 * 0.8**step}
    losses["objective"] = losses["reconstruction"] + losses["label"]
    losses["bound"] = 4 - 20 * 0.8**step
    return Curves(step, {**losses, **changes})


def make_picture(scene, iteration=5, mode=RECONSTRUCTION, previous=None, stretch=1.0):
    """What a method shows whose training rows stand at random."""
    rng = np.random.default_rng(iteration)
    scores = stretch * rng.normal(1, 1, (scene.n_train, max(len(scene.class_names), 3)))
    fitted = SimpleNamespace(
        reconstruction_=rng.uniform(-1, 1, (scene.n_train, 2)),
        classes_=np.arange(scores.shape[1]),
        training_decision_=scores,
        label_pull_=rng.uniform(0, 1, scene.n_train),
    )
    return mode.build(fitted, scene, None, None, previous)


def make_frame(scene, iteration=5, **changes):
    rng = np.random.default_rng(iteration)
    n = len(scene.position)
    pulled = rng.normal(size=(n, 2)).astype(np.float32)
    pulled[scene.is_test] = np.nan
    k = iteration + 1
    errors = Curves(np.arange(k), {"train": np.linspace(60, 1, k), "test": np.linspace(65, 3, k)})
    frame = Frame(
        number=iteration,
        iteration=iteration,
        first_iteration=0,
        last_iteration=iteration,
        live=True,
        latent=rng.uniform(-1, 1, (n, 2)).astype(np.float32),
        latent_extent=SQUARE,
        latent_caption="embedding (saw labels)",
        pulled=pulled,
        support=~scene.is_test & (rng.uniform(size=n) < 0.3),
        losses=make_curves(k),
        errors=errors,
        numbers={},
        picture=make_picture(scene, iteration),
    )
    return dataclasses.replace(frame, **changes)


def make_surface(scene, **changes):
    n = len(scene.position)
    image = (np.add.outer(np.arange(10), np.arange(10)) % max(len(scene.class_names), 1)).astype(np.uint8)
    lines = Lines([np.zeros(3, np.float32), np.ones(2, np.float32)], [np.arange(3.0), np.arange(2.0)])
    sheet = Sheet(image, SQUARE, lines, Lines([], []))
    wrong = np.arange(n) % 7 == 0
    surface = Surface(5, sheet, sheet, scene.target.astype(np.float32), wrong)
    return dataclasses.replace(surface, **changes)


class Spy:
    """A document with all figures of a board that notes what would be sent."""

    def __init__(self, board):
        self.events, self.moves = [], board.points._moves
        self.doc = Document()
        for view in board.parts[1:]:
            self.doc.add_root(view.figure)
        self.doc.on_change(self.events.append)

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    def columns(self, source):
        """The columns of a source in every message that has any."""
        sent = []
        for event in self.of(ColumnDataChangedEvent):
            if event.model is source:
                sent.append(set(event.cols or source.data))
            elif event.model is self.moves.source:
                values = event.model.data["values"]
                places = [self.moves.columns[int(place)] for place in values[1 : 1 + int(values[0])]]
                sent.append({name for each, name in places if each is source})
        return [columns for columns in sent if columns]

    def properties(self, model=None):
        return {event.attr for event in self.of(ModelChangedEvent) if model is None or event.model is model}


@pytest.fixture
def shown():
    board = Board()
    spy = Spy(board)
    scene = make_scene()
    board.show_scene(scene)
    board.method.set_method("NSDR", (RECONSTRUCTION, MARGINS))
    board.show_frame(make_frame(scene, 4))
    board.show_surface(make_surface(scene))
    spy.events.clear()
    return board, spy, scene


# --- points -----------------------------------------------------------------------------------------------------------


def test_one_selection_for_all_figures_survives_frames(shown):
    board, _, scene = shown
    points = board.points
    assert points.input.selected is points.latent.selected is points.method.selected is points.selection
    points.selection.indices = [3, 5, 8]
    for iteration in range(5, 9):
        board.show_frame(make_frame(scene, iteration))
        board.show_surface(make_surface(scene))
    assert points.selection.indices == [3, 5, 8]


def test_selection_is_cleared_before_rows_change(shown):
    board, spy, _ = shown
    board.points.selection.indices = [38]
    spy.events.clear()
    board.show_scene(make_scene(12))
    first_selection = next(i for i, e in enumerate(spy.events) if getattr(e, "attr", "") == "indices")
    first_rows = next(
        i
        for i, e in enumerate(spy.events)
        if isinstance(e, ColumnDataChangedEvent | ModelChangedEvent)
        and e.model in (board.points.input, board.points.latent)
    )
    assert board.points.selection.indices == []
    assert first_selection < first_rows


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_columns_are_float32_and_as_long_as_the_scene(task):
    board = Board()
    scene = make_scene(33, task=task)
    board.show_scene(scene)
    board.show_frame(make_frame(scene))
    board.show_surface(make_surface(scene))
    for source in (board.points.input, board.points.latent, board.points.method):
        assert {len(column) for column in source.data.values()} == {33}
        for name in source.column_names:
            if name not in ("m", "k"):
                assert source.data[name].dtype == np.float32, name
    assert board.points.input.data["k"].dtype == (np.float32 if task == "regression" else np.uint8)
    np.testing.assert_array_equal(board.points.latent.data["x"], board.points.frame.latent[:, 0])


def test_a_frame_sends_only_what_moved(shown):
    board, spy, scene = shown
    board.show_frame(make_frame(scene, 5))
    points = board.points
    assert spy.columns(points.latent) == [{"x", "y", "ring"}]
    assert spy.columns(points.method) == [{"x", "y"}]
    assert spy.columns(points.input) == []
    assert spy.columns(points.facts) == []


def test_the_same_frame_sends_nothing(shown):
    board, spy, scene = shown
    frame = make_frame(scene, 5)
    board.show_frame(frame)
    spy.events.clear()
    board.show_frame(frame)
    board.show_frame(dataclasses.replace(frame, number=99, latent=frame.latent.copy(), support=frame.support.copy()))
    assert spy.events == []


def test_only_the_visible_mode_of_the_method_is_sent(shown):
    board, spy, scene = shown
    frame = make_frame(scene, 5)
    board.show_frame(frame)
    np.testing.assert_array_equal(board.points.method.data["x"], frame.picture.rows[:, 0])
    board.method.set_mode("margins")
    spy.events.clear()
    board.show_frame(frame)  # it was asked for before
    assert spy.columns(board.points.method) == []
    margins = make_picture(scene, 5, MARGINS)
    board.show_frame(dataclasses.replace(frame, picture=margins))
    np.testing.assert_array_equal(board.points.method.data["x"], margins.rows[:, 0])
    np.testing.assert_array_equal(board.points.method.data["y"], margins.rows[:, 1])
    board.method.set_method("k-NN", ())
    spy.events.clear()
    board.show_frame(make_frame(scene, 6))
    assert spy.columns(board.points.method) == []


def test_pulled_places_are_sent_on_demand_only(shown):
    board, spy, scene = shown
    assert np.isnan(board.points.latent.data["px"]).all()
    board.latent.show_pulled(True)
    assert spy.columns(board.points.latent) == [{"px", "py"}]
    assert board.latent._threads.visible
    board.show_frame(make_frame(scene, 6, pulled=None))
    assert not board.latent._threads.visible
    board.latent.show_pulled(False)
    spy.events.clear()
    board.show_frame(make_frame(scene, 7))
    assert spy.columns(board.points.latent) == [{"x", "y", "ring"}]


def test_rings_mark_exactly_errors_and_support_vectors(shown):
    board, _, scene = shown
    frame, surface = make_frame(scene, 6), make_surface(scene)
    board.show_frame(frame)
    np.testing.assert_array_equal(np.isfinite(board.points.latent.data["ring"]), frame.support)
    np.testing.assert_array_equal(np.isfinite(board.points.input.data["ring"]), surface.wrong)


def test_test_rows_are_hollow_and_hidden_labels_small_and_grey():
    scene = make_scene()
    board = Board()
    board.show_scene(scene)
    data = board.points.input.data
    hidden = ~scene.is_test & ~scene.is_labelled
    assert (data["fill_alpha"][scene.is_test] == 0).all()
    assert (data["fill_alpha"][~scene.is_test] > 0).all()
    assert (data["k"][hidden] == len(scene.class_names)).all()
    assert data["size"][hidden].max() < data["size"][~hidden].min()
    assert board.points.mapper.palette[-1] == theme.palette(False).muted


def test_points_shrink_with_their_number():
    sizes = [point_size(n) for n in (0, 50, 200, 600, 2000, 10_000, 10**6)]
    assert sizes == sorted(sizes, reverse=True)
    assert point_size(200) == 9
    assert point_size(2000) == pytest.approx(5)
    assert min(sizes) == 4


# --- colours ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_theme_switch_sends_colours_only(task):
    board = Board()
    spy = Spy(board)
    scene = make_scene(task=task)
    board.show_scene(scene)
    board.show_frame(make_frame(scene))
    board.show_surface(make_surface(scene))
    spy.events.clear()
    board.set_theme(True)
    assert spy.of(ColumnDataChangedEvent) + spy.of(ColumnsStreamedEvent) + spy.of(ColumnsPatchedEvent) == []
    assert spy.properties() <= {"palette", "nan_color", "line_color", "text_color", "background_fill_color"}
    if task == "classification":
        assert board.points.mapper.palette[:3] == list(theme.palette(True).classes[:3])
    spy.events.clear()
    board.set_theme(True)
    assert spy.events == []


def test_many_classes_get_colours_and_markers():
    n_classes = 23
    scene = make_scene(92, n_classes=n_classes)
    board = Board()
    board.show_scene(scene)
    board.show_frame(make_frame(scene))
    board.show_surface(make_surface(scene))
    for mapper in (board.points.mapper, board.points.surface_mapper):
        assert len(mapper.palette) == n_classes + 1
        assert (mapper.low, mapper.high) == (-0.5, n_classes + 0.5)
    assert set(board.points.input.data["m"]) == set(MARKERS)
    ten = theme.palette(False).classes
    assert len(set(ten)) == len(ten) >= 10
    assert [entry.name for entry in class_legend(scene)][-2:] == ["test", "label hidden"]


def test_one_class_surface_and_no_surface(shown):
    board, _, scene = shown
    nothing = Lines([], [])
    flat = Sheet(np.zeros((50, 50), dtype=np.uint8), SQUARE, nothing, nothing)
    board.show_surface(make_surface(scene, input=flat, latent=flat, wrong=np.zeros(len(scene.row), dtype=bool)))
    assert np.isnan(board.input._boundary.data["x"]).all()
    assert board.input._image.data["dw"] == [2.0]
    board.show_surface(make_surface(scene, input=None, latent=None))
    assert board.input._image.data["dw"] == [0.0]
    assert np.isnan(board.latent._boundary.data["x"]).all()


def test_regression_surface_and_points_share_one_scale():
    scene = make_scene(task="regression")
    board = Board()
    board.show_scene(scene)
    low, high = 50.0, 250.0
    board.show_surface(make_surface(scene, value_range=(low, high), wrong=np.zeros(40, dtype=bool)))
    points, surface = board.points.mapper, board.points.surface_mapper
    assert points.palette == surface.palette == list(SHADES)
    for value in (scene.target.min(), scene.target.mean(), scene.target.max()):
        level = 255 * (value - low) / (high - low)
        as_point = (value - points.low) / (points.high - points.low)
        as_level = (level - surface.low) / (surface.high - surface.low)
        assert as_level == pytest.approx(as_point, abs=1e-5)
    hidden = ~scene.is_test & ~scene.is_labelled
    np.testing.assert_array_equal(np.isnan(board.points.input.data["k"]), hidden)


COLOURS = ("label", "truth", "prediction", "error")


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("colour_by", COLOURS)
def test_colours_mean_what_was_chosen(task, colour_by):
    scene = make_scene(task=task)
    board = Board()
    board.show_scene(scene)
    board.show_frame(make_frame(scene))
    predicted = np.roll(scene.target, 1)
    wrong = predicted != scene.target if task == "classification" else np.zeros(40, dtype=bool)
    board.show_surface(make_surface(scene, predicted=predicted, wrong=wrong))
    points = board.points
    points.show_colours(colour_by)
    shown, hidden = np.array(points.input.data["k"]), ~scene.is_test & ~scene.is_labelled
    for source in (points.latent, points.method):
        np.testing.assert_array_equal(source.data["k"], shown)
    if task == "regression":
        expected = {
            "label": np.where(hidden, np.nan, scene.target),
            "truth": scene.target,
            "prediction": predicted,
            "error": abs(predicted - scene.target),
        }
    else:
        expected = {
            "label": np.where(hidden, 3, scene.code),
            "truth": scene.code,
            "prediction": predicted,
            "error": np.where(wrong, 4, 3),
        }
    np.testing.assert_array_equal(shown, expected[colour_by].astype(shown.dtype))
    finite = shown[np.isfinite(shown)]
    assert points.mapper.low <= finite.min()
    assert finite.max() <= points.mapper.high or colour_by == "error"
    if task == "classification":
        assert len(points.mapper.palette) == (5 if colour_by == "error" else 4)
        assert len(points.surface_mapper.palette) == 4


@pytest.mark.parametrize("colour_by", ["prediction", "error"])
def test_predicted_colours_follow_the_surface(colour_by):
    scene = make_scene(task="regression")
    board = Board()
    board.points.show_colours(colour_by)
    board.show_scene(scene)
    assert np.isnan(board.points.input.data["k"]).all()  # nothing is predicted yet
    board.show_frame(make_frame(scene))
    board.show_surface(make_surface(scene, predicted=scene.target + 1))
    expected = scene.target + 1 if colour_by == "prediction" else np.ones(40)
    np.testing.assert_allclose(board.points.input.data["k"], expected, rtol=1e-5)


@pytest.mark.parametrize("dark", [False, True])
def test_written_colours_say_what_the_method_sees(dark):
    for scene in (make_scene(), make_scene(task="regression")):
        written, hidden = np.array(written_colours(scene, dark)), ~scene.is_test & ~scene.is_labelled
        assert set(written[hidden]) == {theme.palette(dark).muted}
        if scene.task == "regression":
            places = [SHADES.index(colour) for colour in written[~hidden][np.argsort(scene.target[~hidden])]]
            assert places == sorted(places)
        else:
            assert (written[~hidden] == np.array(theme.palette(dark).classes)[scene.code[~hidden]]).all()


def test_labelled_rows_of_a_regression_are_ringed():
    scene = make_scene(task="regression")
    board = Board()
    board.show_scene(scene)
    board.show_frame(make_frame(scene, support=np.zeros(40, dtype=bool)))
    board.show_surface(make_surface(scene, wrong=np.zeros(40, dtype=bool)))
    for view, source in ((board.input, board.points.input), (board.latent, board.points.latent)):
        np.testing.assert_array_equal(np.isfinite(source.data["ring"]), scene.is_labelled)
        assert [entry.name for entry in view.legend] == ["labelled"]
        assert view._ring.glyph.line_color == theme.LIGHT.text
    board.set_theme(True)
    assert board.latent._ring.glyph.line_color == theme.DARK.text
    everything = make_scene(task="regression", is_labelled=~scene.is_test)
    board.show_scene(everything)
    board.show_surface(make_surface(everything, wrong=np.zeros(40, dtype=bool)))
    assert np.isnan(board.points.input.data["ring"]).all()


def test_legends_say_what_colours_mean():
    values, classes = make_scene(task="regression"), make_scene()
    names = {by: [entry.name for entry in class_legend(values, by)] for by in COLOURS}
    assert "label hidden" in names["label"]
    assert names["truth"] == names["prediction"]
    assert names["error"][0].startswith("error 0 to")
    assert all("labelled" in said for said in names.values())
    assert [entry.name for entry in class_legend(classes, "error")][:2] == ["wrong", "right"]
    assert "label hidden" not in [entry.name for entry in class_legend(classes, "truth")]


def test_choices_of_colours():
    assert list(colour_choices(make_scene())) == list(COLOURS)
    assert list(colour_choices(make_scene(task="regression"))) == list(COLOURS)
    labelled = make_scene()
    labelled = dataclasses.replace(labelled, is_labelled=~labelled.is_test)
    assert colour_choices(labelled) == {}
    values = make_scene(task="regression", is_labelled=labelled.is_labelled)
    assert colour_choices(values) == {"truth": "label", "prediction": "prediction", "error": "error"}


def test_errors_of_unlabelled_rows_replace_those_of_all_training_rows():
    scene = make_scene(task="regression")
    board = Board()
    board.show_scene(scene)
    rising = np.linspace(1, 2, 6)
    curves = {"train": rising, "labelled": rising / 2, "unlabelled": 2 * rising, "constant": np.full(6, 5.0)}
    board.show_frame(make_frame(scene, errors=Curves(np.arange(6), curves)))
    assert [entry.name for entry in board.errors.legend] == ["labelled", "unlabelled", "constant predictor"]
    constant = next(entry for entry in board.errors.legend if entry.name == "constant predictor")
    assert constant.dash == "dashed"


def test_a_single_point_is_a_dash_until_there_is_another():
    scene = make_scene(task="regression")
    board = Board()
    board.show_scene(scene)
    board.show_frame(make_frame(scene, 0, errors=Curves(np.array([0]), {"train": np.array([2.0])})))
    data = board.errors.source.data
    assert len(data["iteration"]) == 2
    assert 0 < data["iteration"][1] < 1
    np.testing.assert_array_equal(data["c0"], [2, 2])
    board.show_frame(make_frame(scene, 3, errors=Curves(np.array([0, 3]), {"train": np.array([2.0, 1.0])})))
    np.testing.assert_array_equal(data["iteration"], [0, 3])
    np.testing.assert_array_equal(data["c0"], [2, 1])


def test_constant_target_and_unlabelled_regression():
    for target in (np.full(40, 3.0, dtype=np.float32), np.full(40, np.nan, dtype=np.float32)):
        board = Board()
        board.show_scene(make_scene(task="regression", target=target))
        assert board.points.mapper.low < board.points.mapper.high


# --- tooltips ---------------------------------------------------------------------------------------------------------


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)


def test_names_never_enter_the_template():
    evil = ("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a{safe}" * 30)
    scene = make_scene(names=evil)
    board = Board()
    board.show_scene(scene)
    for view in (board.input, board.latent, board.method):
        (hover,) = (tool for tool in view.figure.toolbar.tools if isinstance(tool, HoverTool))
        assert set(Tags(hover.tooltips).tags) == {"div", "b", "br"}
        assert "alert" not in hover.tooltips
        assert "{safe}" not in hover.tooltips
        assert hover.formatters == {"$index": board.points.hover_formatter}
    assert "alert" not in board.points.hover_formatter.code
    assert all(len(name) <= 40 for name in board.points.hover_formatter.args["names"])


def test_tooltip_facts(shown):
    board, _, scene = shown
    facts = board.points.facts.data
    np.testing.assert_array_equal(facts["row"], scene.row)
    np.testing.assert_array_equal(facts["predicted"], scene.code)
    np.testing.assert_array_equal(facts["split"] == 1, scene.is_test)
    measure = board.points.hover_formatter.args
    assert not measure["measure"]
    board.method.set_mode("margins")
    board.show_frame(make_frame(scene, picture=make_picture(scene, mode=MARGINS)))
    assert board.points.hover_formatter.args["measure"] == "margin"
    np.testing.assert_array_equal(np.isnan(facts["value"]), ~scene.is_labelled)
    board.method.set_mode("reconstruction")
    board.show_frame(make_frame(scene))
    assert not board.points.hover_formatter.args["measure"]
    board.show_scene(scene)
    assert (board.points.facts.data["predicted"] == UNKNOWN).all()


def test_pictures_are_encoded_once_and_only_when_few():
    images = np.random.default_rng(0).integers(0, 256, (40, 8, 8)).astype(np.uint8)
    board = Board()
    board.show_scene(make_scene(image_shape=(8, 8), images=images))
    assert "<img" in board.points.tooltip
    assert len(set(board.points.facts.data["picture"])) == 40
    many = 3001
    board.show_scene(make_scene(many, image_shape=(8, 8), images=np.zeros((many, 8, 8), np.uint8)))
    assert "<img" not in board.points.tooltip
    assert "picture" not in board.points.facts.data


def test_png_decodes_to_the_same_pixels():
    image = pytest.importorskip("PIL.Image")
    import io

    pixels = np.random.default_rng(1).integers(0, 256, (5, 9)).astype(np.uint8)
    np.testing.assert_array_equal(np.asarray(image.open(io.BytesIO(encode_picture(pixels)))), pixels)


# --- ranges and tools -------------------------------------------------------------------------------------------------


def test_latent_range_follows_the_extent_and_respects_a_zoom(shown):
    board, spy, scene = shown
    board.show_frame(make_frame(scene, 5))
    assert spy.properties(board.latent.figure.x_range) == set()
    board.show_frame(make_frame(scene, 6, latent_extent=(-2.0, 2.0, -2.0, 2.0)))
    x = board.latent.figure.x_range
    assert (x.start, x.end) == (-2.0, 2.0)
    x.start = -0.5
    board.show_frame(make_frame(scene, 7, latent_extent=(-3.0, 3.0, -3.0, 3.0)))
    assert (x.start, x.end, x.reset_start, x.reset_end) == (-0.5, 2.0, -3.0, 3.0)
    board.show_scene(scene)
    board.show_frame(make_frame(scene, 8, latent_extent=(-3.0, 3.0, -3.0, 3.0)))
    assert (x.start, x.end) == (-3.0, 3.0)


def test_tool_switch_names_every_tool():
    board = Board()
    labels, args, code = board.input.tool_switch()
    assert labels == ["select", "pan", "draw"]
    assert set(args) == {"lasso", "tap", "pan", "wheel", "draw"}
    assert all(f"{name}.active" in code for name in args)
    assert board.latent.tool_switch()[0] == ["select", "pan"]
    assert isinstance(board.input.figure.toolbar.active_drag, LassoSelectTool)
    touch = Board(touch=True)
    assert touch.input.tool_switch()[0] == ["scroll", "select", "pan", "draw"]
    assert touch.input.figure.toolbar.active_drag is None


def test_drawn_points_get_the_chosen_class(shown):
    board, _, scene = shown
    calls = []
    board.input.on_drawn(lambda positions, codes: calls.append((positions, codes)))
    drawing = board.input.drawing
    drawing.code = 2
    new = drawing.tool.default_overrides
    drawing.source.data = {"x": [0.1], "y": [0.2], "k": [new["k"]], "m": [new["m"]]}
    drawing.code = 1
    drawing.source.data = {"x": [0.1, 0.5], "y": [0.3, 0.5], "k": [2, new["k"]], "m": [MARKERS[2], new["m"]]}
    assert len(calls) == 2
    positions, codes = calls[-1]
    np.testing.assert_allclose(positions, [[0.1, 0.3], [0.5, 0.5]])
    assert codes.tolist() == [2, 1]
    assert drawing.source.data["m"] == [MARKERS[2], MARKERS[1]]
    board.show_scene(scene)
    assert len(calls) == 2
    assert len(drawing.positions) == 0


# --- the method's view ------------------------------------------------------------------------------------------------


def test_empty_method_view_says_so():
    board = Board()
    scene = make_scene()
    board.show_scene(scene)
    board.method.set_method("k-NN", ())
    board.show_frame(make_frame(scene, picture=None))
    assert "k-NN has no reconstruction" in board.method._empty.text
    assert board.method._empty.visible
    assert not board.method._points.visible


def test_a_mode_must_be_one_of_the_methods(shown):
    board, _, _ = shown
    board.method.set_mode("margins")
    with pytest.raises(ValueError, match="one of reconstruction, margins"):
        board.method.set_mode("simplex")
    assert board.method.mode == "margins"


def test_rows_are_joined_to_where_they_came_from(shown):
    board, spy, scene = shown
    data = board.points.method.data
    np.testing.assert_array_equal(np.column_stack([data["tx"], data["ty"]]), scene.position)
    assert [each.visible for each in (*board.method._origins, *board.method._arrows)] == [True, True, False, False]
    board.show_frame(make_frame(scene, 6))
    assert spy.columns(board.points.method) == [{"x", "y"}]  # the originals stay


def test_of_many_rows_some_are_joined():
    scene, board = make_scene(2000), Board()
    board.show_scene(scene)
    board.method.set_method("NSDR", (RECONSTRUCTION,))
    board.show_frame(make_frame(scene))
    joined = np.isfinite(board.points.method.data["tx"])
    assert 300 < joined.sum() <= 700
    np.testing.assert_array_equal(board.points.method.data["tx"][joined], scene.position[joined, 0])


def test_margins_have_axes_with_their_own_ticks(shown):
    board, _, scene = shown
    board.method.set_mode("margins")
    assert not board.method.has_axes  # nothing is known yet
    board.show_frame(make_frame(scene, picture=make_picture(scene, mode=MARGINS)))
    figure = board.method.figure
    assert board.method.has_axes
    assert [axis.axis_label for axis in (*figure.xaxis, *figure.yaxis)] == ["margin y·f(x)", "pull of the label"]
    assert figure.yaxis[0].ticker.ticks == [0.0, 0.5, 1.0]
    assert [entry.name for entry in board.method.legend] == ["margin 0 and 1"]
    board.method.set_mode("reconstruction")
    board.show_frame(make_frame(scene))
    assert not board.method.has_axes


def test_the_range_of_margins_is_steady(shown):
    board, spy, scene = shown
    board.method.set_mode("margins")
    x, far = board.method.figure.x_range, make_picture(scene, 7, MARGINS, stretch=5.0)
    board.show_frame(make_frame(scene, 7, picture=far))
    assert x.start < np.nanmin(far.rows[:, 0])
    assert x.end > np.nanmax(far.rows[:, 0])
    spy.events.clear()
    board.show_frame(make_frame(scene, 8, picture=make_picture(scene, 7, MARGINS, far, stretch=4.75)))
    assert spy.properties(x) == set()
    unlabelled = dataclasses.replace(scene, is_labelled=np.zeros(len(scene.row), dtype=bool))
    assert make_picture(unlabelled, 8, MARGINS, far).extent == far.extent


# --- curves -----------------------------------------------------------------------------------------------------------


def values_of(view, name):
    number = list(view.styles).index(name)
    return np.asarray(view.source.data[f"c{number}"])


def test_growing_curves_are_streamed_and_equal_the_whole(shown):
    board, spy, scene = shown
    for iteration in range(5, 30):
        board.show_frame(make_frame(scene, iteration))
    assert spy.columns(board.losses.source) == []
    expected = np.log10(make_frame(scene, 29).losses.values["objective"])
    np.testing.assert_allclose(values_of(board.losses, "objective"), expected, rtol=1e-6)
    assert len(spy.of(ColumnsStreamedEvent)) > 0


def test_new_run_thinned_curves_and_late_values_are_sent_right(shown):
    board, _, scene = shown
    rng = np.random.default_rng(0)
    steps = np.arange(50)
    late = rng.uniform(1, 2, 50)
    late[48:] = np.nan
    histories = [
        Curves(steps, {"objective": late}),
        Curves(steps, {"objective": np.where(np.isnan(late), 1.5, late)}),
        Curves(steps[::2], {"objective": rng.uniform(1, 2, 25)}),
        Curves(steps[:3], {"objective": rng.uniform(1, 2, 3)}),
        Curves(steps[:9], {"objective": rng.uniform(1, 2, 9), "label": rng.uniform(0, 1, 9)}),
    ]
    for curves in histories:
        board.show_frame(make_frame(scene, 49, losses=curves))
        np.testing.assert_allclose(
            values_of(board.losses, "objective"), np.log10(curves.values["objective"]), rtol=1e-5
        )
        np.testing.assert_array_equal(board.losses.source.data["iteration"], curves.iteration)


def test_scrubbing_moves_the_line_only(shown):
    board, spy, scene = shown
    frame = make_frame(scene, 20)
    board.show_frame(frame)
    spy.events.clear()
    board.show_frame(dataclasses.replace(frame, iteration=3, live=False))
    assert spy.of(ColumnDataChangedEvent) + spy.of(ColumnsStreamedEvent) == []
    assert spy.properties() == {"location"}
    assert board.losses._viewed.location == 3


def test_empty_losses_and_all_nan():
    board = Board()
    scene = make_scene()
    board.show_scene(scene)
    for curves in (
        Curves(np.empty(0, dtype=int), {}),
        make_curves(0),
        Curves(np.arange(3), {"test": np.full(3, np.nan)}),
    ):
        board.show_frame(make_frame(scene, 2, losses=curves, errors=curves))
        assert board.losses.legend == board.errors.legend == []
    board.show_frame(make_frame(scene, 3))
    assert {entry.name for entry in board.errors.legend} == {"train", "test"}


def test_log_axis_falls_back_to_linear_and_returns():
    board = Board()
    scene = make_scene()
    board.show_scene(scene)
    negative = make_curves(6, label=np.linspace(1, -1, 6))
    board.show_frame(make_frame(scene, 5))
    assert board.losses.log
    board.show_frame(make_frame(scene, 5, losses=negative))
    assert not board.losses.log
    assert "linear" in board.losses.caption()
    assert board.losses._formatter.args == {"log": False}
    np.testing.assert_allclose(values_of(board.losses, "label"), negative.values["label"], rtol=1e-6)
    y = board.losses.figure.y_range
    assert y.start < -1
    assert y.end > np.max(negative.values["objective"])
    board.show_frame(make_frame(scene, 5))
    assert board.losses.log


def test_bound_below_zero_does_not_spoil_the_log_axis():
    board = Board()
    scene = make_scene()
    board.show_scene(scene)
    bound = np.array([-50.0, -1.0, 0.0, 2.0, 4.0, 5.0])
    board.show_frame(make_frame(scene, 5, losses=make_curves(6, bound=bound, tiny=np.full(6, 1e-300))))
    assert board.losses.log
    assert np.isnan(values_of(board.losses, "bound")[:3]).all()
    assert board.losses.figure.y_range.start > -6
    names = [entry.name for entry in board.losses.legend]
    assert names[0] == "objective"
    assert names[-1] == "lower bound"
    assert board.losses.legend[-1].dash == "dashed"
    assert board.losses.legend[0].width > board.losses.legend[1].width


def test_errors_start_at_zero_and_squared_errors_may_be_logarithmic():
    board = Board()
    board.show_scene(make_scene())
    board.show_frame(make_frame(make_scene(), 9))
    assert board.errors.figure.y_range.start <= 0
    scene = make_scene(task="regression")
    board.show_scene(scene)
    steps = np.arange(9)
    for values, log in ((10.0**-steps, True), (3.0 + 0.1 * steps, False)):
        board.show_frame(make_frame(scene, 8, errors=Curves(steps, {"train": values, "test": 2 * values})))
        assert board.errors.log is log
    assert board.errors.caption() == "mean squared error"


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (0, 97), (-3, 5), (1e5, 1.1e5), (-1e-6, 0), (7, 7), (-4, -4), (0, 0)]
)
def test_linear_axis_holds_its_values(low, high):
    start, end, ticks = linear_axis(low, high)
    assert start < low <= high < end or start < low == high < end
    assert 2 <= len(ticks) <= 8
    assert all(start <= tick <= end for tick in ticks)


@pytest.mark.parametrize(
    ("low", "high"), [(1, 1), (1, 1.2), (2, 9), (3, 4000), (1e-9, 1e7), (0.999, 1.001), (5e-5, 6e-5)]
)
def test_log_axis_holds_its_values_and_has_ticks(low, high):
    start, end, ticks = log_axis(low, high)
    assert start < np.log10(low) <= np.log10(high) < end
    assert 1 <= len(ticks) <= 10
    assert all(start <= tick <= end for tick in ticks)


def test_small_helpers():
    np.testing.assert_allclose(bridge(np.array([np.nan, 1, np.nan, 3, np.nan])), [np.nan, 1, 2, 3, np.nan])
    assert [round_up(v) for v in (0, 10, 11, 12, 99, 101, 1999)] == [10, 10, 12, 12, 100, 120, 2000]
    joined = join_lines(Lines([np.arange(2.0), np.arange(3.0)], [np.arange(2.0), np.arange(3.0)]))
    assert len(joined["x"]) == 7
    assert np.isnan(joined["x"][[2, 6]]).all()
    assert joined["x"].dtype == np.float32


def test_traffic_of_a_frame_is_one_array(shown):
    board, spy, scene = shown
    errors = Curves(np.arange(6), {"train": np.full(6, 9.0), "test": np.full(6, 9.0)})
    board.show_frame(make_frame(scene, 5, errors=errors))
    spy.events.clear()
    grown = Curves(np.arange(7), {"train": np.full(7, 9.0), "test": np.full(7, 9.0)})
    board.show_frame(make_frame(scene, 6, errors=grown))
    # Every array costs two websocket frames; curves grow by short lists inside the message.
    (changed,) = spy.of(ColumnDataChangedEvent)
    assert list(changed.model.data) == ["values"]
    assert len(spy.events) <= 8
