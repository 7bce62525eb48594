"""Controls: every action of the user is reported once, and the program's own are not."""

from types import SimpleNamespace

import panel as pn
import panel_material_ui as pmui
import param
import pytest

from supdr_viz.controls.forms import make_knob
from supdr_viz.controls.method import carried_options
from supdr_viz.experiment.settings import Settings, to_json
from supdr_viz.pages.share import ShareMenu
from supdr_viz.pages.training_bar import TrainingBar
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run.status import Phase
from supdr_viz.ui.markup import EMPTY
from supdr_viz.ui.panel_workarounds import BoundedDropper
from supdr_viz.ui.visitor import Visit
from supdr_viz.views.stage.components import Hub
from supdr_viz.views.stage.stage import Stage
from tests.viz.control_cases import knob, let_go, watched_controls


@pytest.fixture
def watched():
    return watched_controls()


def ignored(*_reported):
    """Do nothing with what a control reports."""


def press(layout, label):
    """Press the button with this label, as the browser reports it."""
    buttons = layout.select(lambda part: isinstance(part, pmui.Button) and part.label == label)
    buttons[0].param.trigger("clicks")


# --- all controls ---------------------------------------------------------------------------------------------------


def test_apply_reports_once_and_only_changes(watched):
    controls, log = watched
    settings = Settings(data="iris", method="LSDR", method_options={"beta": 0.5}, seed=4, test_share=0.5)
    controls.apply(settings)
    assert log == [(Settings(), settings)]
    controls.apply(settings)
    assert len(log) == 1
    controls.apply(Settings(), notify=False)
    assert len(log) == 1
    assert controls.settings == Settings()


@pytest.mark.parametrize("start", list(PRESETS)[:6])
def test_widgets_show_what_was_applied(start, watched):
    controls, log = watched
    controls.apply_preset(start)
    settings = PRESETS[start].settings
    for fold in (controls.split.fold, controls.planes.fold, controls.method.form.fold):
        fold.view.active = [0]
    assert controls.method.menu.value == settings.method
    assert controls.data.menu.value == settings.data
    for name, made in controls.method.form.knobs.items():
        assert made.value == settings.method_options[name]
        spec = next(spec for spec in controls.method.form.specs if spec.name == name)
        assert made.widget.value == make_knob(spec, made.value, ignored).widget.value
    assert len(log) == 1


def test_user_actions_are_reported_once(watched):
    controls, log = watched
    let_go(knob(controls.data.form, "noise"), 0.1)
    controls.data.menu.value = "moons"  # first: other data begin with the method's defaults
    controls.method.menu.value = "LSDR"
    let_go(knob(controls.method.form, "beta"), 0.3)
    controls.split.fold.view.active = [0]
    let_go(controls.split.knobs["test"], 0.5)
    controls.split.knobs["seed"].widget.value = "5"
    controls.planes.describe(("a", "b", "c"), 3)
    controls.planes.fold.view.active = [0]
    controls.planes.input_plane.kind.value = "pca"
    assert len(log) == 7
    assert all(old != new for old, new in log)
    assert [new for _, new in log[:-1]] == [old for old, _ in log[1:]]
    last = log[-1][1]
    assert (last.data, last.method, last.seed, last.test_share, last.input_plane) == ("moons", "LSDR", 5, 0.5, "pca")
    assert last.method_options["beta"] == 0.3


def test_the_same_axis_twice_becomes_two(watched):
    controls, log = watched
    controls.describe(("a", "b", "c"), 2)
    controls.planes.fold.view.active = [0]
    controls.planes.input_plane.kind.value = "chosen"
    controls.planes.input_plane.second.value = 0
    assert log[-1][1].input_plane == (0, 1)
    assert controls.planes.latent_plane.kind.disabled


def test_other_method_keeps_what_was_set():
    settings = Settings(method="NSDR", method_options={"C": 30.0, "n_components": 3, "kernel": "rbf"})
    assert carried_options(settings, "PCASVM") == {"C": 30.0, "n_components": 3}
    assert carried_options(settings, "KNN") == {}


def test_a_slider_that_leaves_auto_begins_at_what_the_method_has_chosen(watched):
    controls, log = watched
    controls.apply(Settings(method="MAC"))
    controls.method.form.fold.view.active = [0]
    gamma = knob(controls.method.form, "gamma")
    controls.describe(("a", "b"), 2, numbers={"gamma": 0.4567}.get)
    let_go(gamma, gamma.widget.start + gamma.widget.step)
    assert log[-1][1].method_options["gamma"] == gamma.value == 0.457


def test_changed_examples_can_be_restored(watched):
    controls, log = watched
    controls.presets.select.value = "two-spirals"
    let_go(knob(controls.method.form, "C"), 0.0)
    assert controls.presets.select.value == ""
    assert controls.presets.note.object != EMPTY
    controls.presets.select.value = "two-spirals"
    assert controls.settings == PRESETS["two-spirals"].settings
    assert len(log) == 3
    controls.method.menu.value = "PCAProjection"
    assert controls.presets.note.object == EMPTY  # it speaks of the example's method
    controls.presets.select.value = "two-spirals"
    controls.data.menu.value = "iris"
    assert controls.presets.note.object == EMPTY


# --- training bar and sharing ---------------------------------------------------------------------------------------


@pytest.fixture
def bar():
    log = []
    actions = {
        f"on_{name}": lambda *arguments, name=name: log.append((name, *arguments))
        for name in ("run", "step", "reset", "live", "speed", "scrub")
    }
    return TrainingBar(Hub(Stage()), **actions), log


def test_training_bar_reports_the_user_and_not_the_program(bar):
    bar, log = bar
    bar.set_range(0, 50, 50)
    bar.set_speed("fast")
    assert log == []
    bar.scrubber.value = 20
    bar.run.clicks += 1
    bar.speed.value = "slow"
    assert log == [("scrub", 20), ("run",), ("speed", "slow")]


def test_a_value_that_a_slow_browser_repeats_is_not_the_users(bar):
    bar, log = bar
    for iteration in (40, 45):
        bar.set_range(0, 50, iteration)
    bar.scrubber.value = 40
    assert log == []
    with param.edit_constant(bar.scrubber):
        bar.scrubber.value_throttled = 40  # this one is
    assert log == [("scrub", 40)]


def test_the_thumb_goes_with_a_run_without_being_told_again(bar):
    """The kit's slider would forget a drag that has just begun."""
    bar, log = bar
    bar.set_range(0, 10, 10)
    told = []
    bar.scrubber.param.watch(lambda event: told.append(event.new), "value")
    for last in (11, 20, 400):
        bar.set_range(0, last, last)
        assert bar.scrubber.value >= bar.scrubber.end == last
    assert told == []
    bar.scrubber.value = 130
    bar.set_range(0, 500, 130)  # what the hand has chosen stays
    assert bar.scrubber.value == 130
    bar.set_range(0, 0, 0)
    assert (bar.scrubber.value, bar.scrubber.disabled) == (0, True)
    assert log == [("scrub", 130)]


def test_training_bar_shows_the_state(bar):
    bar, _ = bar
    bar.set_state(Phase.running, running=True)
    bar.show_numbers(64, {"rate": 24.6, "objective": 243.1234, "test_error": 0.71, "train_error": float("nan")})
    assert bar.run.label == "Pause"
    for part in ("running", "<b>64</b>", "25 it/s", "243.1", "test error <b>0.7 %</b>"):
        assert part in bar.status.text
    assert "train" not in bar.status.text
    bar.set_viewing(22, running=True)
    assert "viewing 22" in bar.status.text
    assert bar.run.label == "Pause"
    bar.set_state(Phase.finished, ending="All done: <Run> goes on.")
    assert bar.status.text.index("test error") < bar.status.text.index("All done: &lt;Run&gt; goes on.")
    bar.set_state(Phase.failed, "C must be <positive>")
    assert "All done" not in bar.status.text
    assert "C must be &lt;positive&gt;" in bar.status.text


def test_share_menu():
    sent = []
    bridge = SimpleNamespace(
        visit=Visit(),
        origin="http://here/explorer",
        copy=lambda text, done: (sent.append(text), done(True)),
        announce=sent.append,
        download=lambda *file: sent.append(file),
    )
    loaded = []
    menu = ShareMenu(
        bridge,
        get_link=lambda: "?data=iris",
        get_python=lambda: "x < 1",
        get_json=lambda: to_json(Settings()),
        get_csv=lambda what: "a\n1\n" if what == "losses" else "",
        on_load_json=lambda text: loaded.append(text) or ["Noise was wrong."],
    )
    assert len(menu.dialogs) == 0
    menu.share()
    press(menu.dialogs, "Copy link")
    menu.python()
    menu.export()
    assert all(dialog.open for dialog in menu.dialogs)

    def says(text):
        return any(text in str(pane.object) for pane in menu.dialogs.select(pn.pane.HTML))

    assert says("x &lt; 1")
    press(menu.dialogs, "Losses (CSV)")
    assert not says("nothing to save")
    press(menu.dialogs, "Embedding (CSV)")
    assert says("nothing to save")
    (dropper,) = menu.dialogs.select(BoundedDropper)
    dropper.value = {"s.json": "{}"}
    assert loaded == ["{}"]
    assert says("Noise was wrong")
    dropper.value = {"long.json": " " * 100_000 + "{}"}
    assert loaded[1].endswith("{}")
    dropper.value = {"huge.json": " " * 2_000_000}
    assert len(loaded) == 2
    assert says("huge.json is too large")
    assert sent == ["http://here/explorer?data=iris", "Link copied", ("supdr-losses.csv", "a\n1\n", "text/csv")]
