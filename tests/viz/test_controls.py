"""Controls: every action of the user is reported once, uploads speak plainly, nothing is built before it is needed."""

import io
from types import SimpleNamespace

import numpy as np
import param
import pytest

from supdr.datasets import FileProblem
from supdr_viz.controls import Controls, ShareMenu, TrainingBar
from supdr_viz.controls import upload as upload_module
from supdr_viz.controls.forms import Form, NumberField
from supdr_viz.controls.method import carried_options
from supdr_viz.controls.upload import OpenMLPanel, UploadPanel
from supdr_viz.kit import widgets
from supdr_viz.kit.background import Outcome, attempt, in_background
from supdr_viz.kit.dropper import file_dropper
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run.status import Phase
from supdr_viz.settings.knobs import TASK
from supdr_viz.settings.making import build_dataset
from supdr_viz.settings.menu import METHOD_FORMS
from supdr_viz.settings.state import SPLIT_FORM, Settings, to_json
from supdr_viz.stage.components import Hub
from supdr_viz.stage.stage import Stage


@pytest.fixture
def watched():
    controls = Controls(Settings())
    log = []
    controls.on_change(lambda old, new: log.append((old.settings, new.settings)))
    return controls, log


def let_go(slider, position):
    """Drag a slider's thumb to a position and let go of it, as the browser reports it."""
    slider.widget.value = position
    slider.widget.value_throttled = position


def knob(form, name):
    return form._knobs[name]


def shown(form):
    """Names of the knobs that a visitor sees, from the top down."""
    names = {id(each.view): name for name, each in form._knobs.items()}
    parts = [*form.view.objects, *(form.fold.content.objects if form.fold is not None else [])]
    return [names[id(part)] for part in parts if id(part) in names and part.visible]


def csv(rows=80, columns=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    X = rng.normal(size=(rows, columns)) + y[:, None]
    text = io.StringIO()
    text.write(",".join([*(f"f{j}" for j in range(columns)), "kind"]) + "\n")
    for row, label in zip(X, y):
        text.write(",".join([*(f"{value:.4f}" for value in row), "bad" if label else "good"]) + "\n")
    return text.getvalue()


# --- widgets --------------------------------------------------------------------------------------------------------


def test_slider_reports_values_once_and_rounds():
    seen = []
    slider = widgets.Slider("C", 1.0, 1e-3, 1e3, 0.1, log=True, on_change=seen.append)
    let_go(slider, 1.0)
    let_go(slider, 1.0)
    let_go(slider, np.log10(7.94321))
    slider.set(1.0)
    let_go(slider, np.log10(7.94321))
    assert seen == [10.0, 7.94, 7.94]


def test_a_slider_that_moves_on_is_not_called_back_to_where_it_was():
    slider = widgets.Slider("share", 0.1, 0.01, 1.0, 0.01)
    let_go(slider, 0.15000000000000002)  # as a browser adds up steps
    slider.widget.value = 0.16000000000000003
    slider.set(0.15)  # the page now shows the settings that it was given first
    assert slider.widget.value == 0.16000000000000003
    slider.set(0.3)
    assert slider.widget.value == 0.3


def test_slider_notch_stands_for_another_value():
    seen = []
    slider = widgets.Slider("γ", None, 0.01, 10, 0.1, log=True, notch="auto", notch_value=None, on_change=seen.append)
    assert slider.widget.value == slider.widget.start
    let_go(slider, -2.0)
    let_go(slider, slider.widget.start)
    assert seen == [0.01, None]


def test_whole_sliders_give_integers():
    seen = []
    slider = widgets.Slider("d", 2, 1, 64, 1, whole=True, on_change=seen.append)
    let_go(slider, 5.0)
    assert seen == [5]
    assert isinstance(seen[0], int)


def test_every_input_is_named():
    controls = Controls(Settings())
    for fold in (controls.split.fold, controls.planes.fold, controls.method._form.fold, controls.data._form.fold):
        fold.view.active = [0]
    named = ("Slider", "Select", "Switch", "TextInput", "Button")
    inputs = controls.view.select(lambda part: type(part).__name__.endswith(named))
    assert len(inputs) > 20
    assert all(part.label for part in inputs)
    assert not controls.view.select(lambda part: "Editable" in type(part).__name__)


def test_few_components_are_built_at_the_start():
    controls = Controls(PRESETS.opening.settings, PRESETS.opening.name)
    kit = controls.view.select(lambda part: type(part).__module__.startswith("panel_material_ui"))
    assert len(kit) <= 25


def test_exceptions_of_callbacks_are_not_lost(monkeypatch):
    shown = []
    area = SimpleNamespace(error=lambda text, duration: shown.append(text))
    call = widgets.guarded(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call()
    monkeypatch.setattr(type(widgets.pn.state), "notifications", area)
    call()
    assert "division by zero" in shown[0]


def test_text_from_outside_is_escaped():
    pane = widgets.html()
    widgets.message(pane, "<script>alert(1)</script>", "error")
    assert "<script>" not in pane.object
    entry = SimpleNamespace(name="<b>", colour='"><i', dash="solid", kind="line", help='"><u>')
    assert "<b>" not in widgets.legend([entry])
    assert "<u>" not in widgets.legend([entry])
    assert "color:&quot;&gt;&lt;i;" in widgets.legend([entry])


# --- forms ----------------------------------------------------------------------------------------------------------


def test_form_builds_knobs_once_they_matter_and_folded_ones_when_opened():
    changes = []
    defaults = {spec.name: spec.default for spec in METHOD_FORMS["NSDR"]}
    form = Form(METHOD_FORMS["NSDR"], defaults, lambda name, value: changes.append((name, value)))

    def wanted(main):
        values = {TASK: "classification", **form.values}
        return [spec.name for spec in METHOD_FORMS["NSDR"] if spec.main == main and spec.applies(values)]

    assert list(form._knobs) == shown(form) == wanted(True)
    assert "degree" not in form._knobs
    knob(form, "kernel").view.value = "poly"
    assert shown(form) == wanted(True)
    assert "degree" in shown(form)
    assert "gamma" not in shown(form)
    form.set({"reg_u": 0.01})
    form.fold.view.active = [0]
    assert shown(form) == wanted(True) + wanted(False)
    assert knob(form, "reg_u")._slider.value == 0.01
    assert changes == [("kernel", "poly")]


@pytest.mark.parametrize("method", METHOD_FORMS)
def test_a_form_shows_the_knobs_that_matter_whichever_way_it_came_there(method):
    specs = METHOD_FORMS[method]
    defaults = {spec.name: spec.default for spec in specs}
    form = Form(specs, defaults, lambda name, value: None)
    if form.fold is not None:
        form.fold.view.active = [0]
    for spec in specs:
        for choice, _text in spec.choices:
            form.set({**defaults, spec.name: choice})
            fresh = Form(specs, form.values, lambda name, value: None)
            if fresh.fold is not None:
                fresh.fold.view.active = [0]
            assert shown(form) == shown(fresh)


def test_knobs_that_a_task_ignores_are_hidden():
    settings = Settings(method="LSDR")
    controls = Controls(settings)
    form = controls.method._form
    assert "loss" in shown(form)
    controls.describe(("a", "b"), 2, "regression")  # the squared loss, whatever is chosen
    assert "loss" not in shown(form)
    assert "beta" in shown(form)
    controls.method.apply(Settings(method="SNF"))
    controls.method.apply(settings)
    assert "loss" not in shown(controls.method._form)
    controls.describe(("a", "b"), 2)
    assert "loss" in shown(controls.method._form)


def test_number_field_refuses_words_and_clamps():
    changes = []
    seed = next(spec for spec in SPLIT_FORM if spec.name == "seed")
    field = NumberField(seed, 0, lambda name, value: changes.append(value))
    field.view.value = "abc"
    assert field.view.error_state
    field.view.value = "7"
    assert not field.view.error_state
    field.view.value = "-3"
    assert "between 0" in field.view.helper_text
    assert changes == [7, 0]


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
    for fold in (controls.split.fold, controls.planes.fold, controls.method._form.fold):
        fold.view.active = [0]
    assert controls.method.menu.value == settings.method
    assert controls.data.menu.value == settings.data
    for name, made in controls.method._form._knobs.items():
        shown = made._slider.value if made._slider else made.view.value
        assert shown == settings.method_options[name]
    assert len(log) == 1


def test_user_actions_are_reported_once(watched):
    controls, log = watched
    let_go(knob(controls.data._form, "noise")._slider, 0.1)
    controls.data.menu.value = "moons"  # first: other data begin with the method's defaults
    controls.method.menu.value = "LSDR"
    let_go(knob(controls.method._form, "beta")._slider, 0.3)
    controls.split.fold.view.active = [0]
    let_go(controls.split._knobs["test"]._slider, 0.5)
    controls.split._knobs["seed"].view.value = "5"
    controls.planes.describe(("a", "b", "c"), 3)
    controls.planes.fold.view.active = [0]
    controls.planes._plane.kind.value = "pca"
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
    controls.planes._plane.kind.value = "chosen"
    controls.planes._plane.second.value = 0
    assert log[-1][1].input_plane == (0, 1)
    assert controls.planes._latent.kind.disabled


def test_other_method_keeps_what_was_set():
    settings = Settings(method="NSDR", method_options={"C": 30.0, "n_components": 3, "kernel": "rbf"})
    assert carried_options(settings, "PCASVM") == {"C": 30.0, "n_components": 3}
    assert carried_options(settings, "KNN") == {}


def test_changed_examples_can_be_restored(watched):
    controls, log = watched
    controls.presets.select.value = "two-spirals"
    let_go(knob(controls.method._form, "C")._slider, 0.0)
    assert controls.presets.select.value == ""
    assert controls.presets.note.visible
    controls.presets.select.value = "two-spirals"
    assert controls.settings == PRESETS["two-spirals"].settings
    assert len(log) == 3
    controls.data.menu.value = "iris"
    assert not controls.presets.note.visible


# --- files and OpenML -----------------------------------------------------------------------------------------------


def choose_file(controls, name, content):
    controls.data.menu.value = "file"
    panel = controls.data._upload
    panel.dropper.value = {name: content}
    return panel


AS_PROPOSED = {"sheet": "", "target": "", "task": "auto", "ignore": "", "groups": "", "impute": "median"}


def test_upload_from_choosing_to_use(watched):
    controls, log = watched
    panel = choose_file(controls, "mine.csv", csv())
    assert log == []
    assert panel.look.target == panel.target.value == "kind"
    assert panel.task.value == "classification"
    assert "80 rows" in panel.message.object
    assert "<table>" in panel.table.object
    panel.use.clicks += 1
    assert len(log) == 1
    assert controls.settings.data_options == {**AS_PROPOSED, "name": "mine.csv"}
    assert controls.experiment.table.n_samples == 80
    assert build_dataset(controls.settings, controls.experiment.table) is controls.experiment.table
    first = controls.experiment
    panel.use.clicks += 1
    assert len(log) == 2  # the file may be another one
    assert controls.experiment.settings == first.settings
    assert controls.experiment != first
    controls.data.menu.value = "iris"
    assert controls.experiment.table is None
    controls.data.menu.value = "file"
    assert controls.settings.data == "file"
    assert controls.experiment.table is not None


def test_another_target_changes_the_task(watched):
    controls, _ = watched
    panel = choose_file(controls, "mine.csv", csv())
    panel.target.value = "f0"
    assert panel.task.value == "regression"
    panel.use.clicks += 1
    assert controls.settings.data_options == {**AS_PROPOSED, "name": "mine.csv", "target": "f0"}
    assert controls.experiment.table.task == "regression"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", ""),
        ("words.csv", "a,b,target\nx,y,1\nz"),
        ("photo.png", b"\x89PNG\r\n"),
        ("cut.parquet", b"PAR1abc"),
        ("bomb.csv.gz", b"\x1f\x8bnot gzip"),
        ("one.csv", "a,target\n1,x\n2,x\n3,x\n"),
        ("numbers.npz", b"PK\x03\x04"),
        ("<img src=x>.txt", "1"),
    ],
)
def test_bad_files_get_a_sentence(name, content, watched):
    controls, log = watched
    panel = choose_file(controls, name, content)
    if panel.look is not None:
        panel.use.clicks += 1
    assert log == []
    assert controls.settings == Settings()
    assert 'class="error' in panel.message.object
    assert 'role="alert"' in panel.message.object
    assert "Traceback" not in panel.message.object
    assert "<img" not in panel.message.object


def test_shared_settings_name_the_file_they_want(watched):
    controls, log = watched
    wanted = Settings(data="file", data_options={"name": "mine.csv", "target": "f1", "task": "regression"})
    controls.apply(wanted)
    assert controls.experiment.table is None
    panel = controls.data._upload
    assert "mine.csv" in panel.message.object
    panel.dropper.value = {"mine.csv": csv()}
    assert panel.target.value == "f1"
    panel.use.clicks += 1
    assert controls.experiment.table.task == "regression"
    assert controls.settings.data_options["target"] == "f1"
    assert len(log) == 2


def test_a_file_is_taken_once_whenever_the_one_before_is_taken_back():
    taken = []
    dropper = file_dropper(lambda name, content: taken.append((name, content)), taken.append, max_bytes=1e6)

    def upload(name, content):
        data = {"name": name, "data": content.encode(), "type": "text/csv", "chunk": 1, "total_chunks": 1}
        dropper._process_event(SimpleNamespace(event_name="upload_event", data=data))

    def take_back(name):
        dropper._process_event(SimpleNamespace(event_name="delete_event", data={"name": name}))

    upload("a.csv", "1")
    upload("b.csv", "2")
    take_back("a.csv")
    take_back("b.csv")
    upload("c.csv", "3")
    upload("b.csv", "4")
    upload("c.csv", "5")
    assert taken == [("a.csv", "1"), ("b.csv", "2"), ("c.csv", "3"), ("b.csv", "4"), ("c.csv", "5")]
    assert not dropper.value  # no file is kept


def test_late_answers_of_an_earlier_file_are_dropped(monkeypatch):
    waiting = []
    monkeypatch.setattr(upload_module, "in_background", lambda work, done: waiting.append((work, done)))
    panel = UploadPanel(lambda dataset, options: None)
    panel.receive("first.csv", csv(rows=10))
    panel.receive("second.csv", csv(rows=20))
    for work, done in reversed(waiting):
        done(attempt(work))
    assert panel.look.name == "second.csv"


def test_openml_offline_says_so(monkeypatch):
    def unreachable(name, **options):
        raise FileProblem("OpenML could not be reached (no network); check the network connection.")

    monkeypatch.setattr(upload_module, "load_openml", unreachable)
    panel = OpenMLPanel(lambda dataset, options: pytest.fail("nothing was loaded"))
    panel.load.clicks += 1
    assert "Type the name" in panel.message.object
    panel.field.value = "ionosphere"
    panel.load.clicks += 1
    assert "could not be reached" in panel.message.object
    assert not panel.load.loading


def test_the_target_of_a_link_belongs_to_the_data_set_of_the_link(monkeypatch):
    asked = []

    def refuse(name, *, target, limits):
        asked.append((name, target))
        raise FileProblem("not now")

    monkeypatch.setattr(upload_module, "load_openml", refuse)
    panel = OpenMLPanel(lambda dataset, options: pytest.fail("nothing was loaded"))
    panel.expect({"name": "ionosphere", "target": "class2"})
    panel.load.clicks += 1
    panel.field.value = "iris"
    panel.load.clicks += 1
    assert asked == [("ionosphere", "class2"), ("iris", None)]


def test_preset_waits_for_its_data_and_takes_them_from_a_file(watched):
    controls, log = watched
    controls.apply_preset("figure-3")
    assert "351 rows" in controls.presets.note.object
    assert controls.settings.data == "openml"
    assert controls.experiment.table is None
    controls.method.menu.value = "KNN"
    panel = choose_file(controls, "radar.csv", csv(rows=351, columns=34))
    panel.use.clicks += 1
    assert controls.settings.data == "file"
    assert controls.settings.method_options == PRESETS["figure-3"].settings.method_options
    assert "351 rows" not in controls.presets.note.object
    controls.apply_preset("table-1-ionosphere-lsdr")
    assert controls.settings.data == "file"
    assert controls.settings.method == "LSDR"
    assert controls.experiment.table is not None
    assert all(old != new for old, new in log)


def test_slow_work_turns_every_error_into_a_sentence():
    for error in (ValueError("x must be"), MemoryError(), OSError("disc"), FileProblem("a.csv is empty.")):

        def work(error=error):
            raise error

        seen = []
        in_background(work, seen.append)
        assert seen[0].value is None
        assert seen[0].problem.endswith(".")
    assert attempt(lambda: 3) == Outcome(3)


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
    bar.show_numbers(64, {"rate": 24.6, "objective": 243.1234, "test_error": 0.71, "train_error": float("nan")}, seed=3)
    assert bar.run.label == "Pause"
    for part in ("running", "<b>64</b>", "25 it/s", "243.1", "test error <b>0.7 %</b>", "seed 3"):
        assert part in bar.status.text
    assert "train" not in bar.status.text
    bar.set_viewing(22, running=True)
    assert "viewing 22" in bar.status.text
    assert bar.run.label == "Pause"
    bar.set_state(Phase.failed, "C must be <positive>")
    assert "C must be &lt;positive&gt;" in bar.status.text


def test_share_menu():
    sent = []
    bridge = SimpleNamespace(
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
    menu._copy(menu._link, "Link")
    menu.python()
    assert "x &lt; 1" in menu._code_pane.object
    menu.export()
    assert all(dialog.open for dialog in menu.dialogs)
    menu._save_csv("losses")
    menu._save_csv("embedding")
    assert "nothing to save" in menu._export_message.object
    menu._dropper.value = {"s.json": "{}"}
    assert loaded == ["{}"]
    assert "Noise was wrong" in menu._export_message.object
    menu._dropper.value = {"long.json": " " * 100_000 + "{}"}
    assert loaded[1].endswith("{}")
    menu._dropper.value = {"huge.json": " " * 2_000_000}
    assert len(loaded) == 2
    assert "huge.json is too large" in menu._export_message.object
    assert sent == ["http://here/explorer?data=iris", "Link copied", ("supdr-losses.csv", "a\n1\n", "text/csv")]
