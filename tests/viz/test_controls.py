"""Controls: every action of the user is reported once, uploads speak plainly, nothing is built before it is needed."""

from types import SimpleNamespace

import param
import pytest

from supdr.datasets import FileProblem
from supdr_viz.controls import Controls, ShareMenu, TrainingBar
from supdr_viz.controls import openml as openml_module
from supdr_viz.controls import upload as upload_module
from supdr_viz.controls.method import carried_options
from supdr_viz.controls.openml import OpenMLPanel
from supdr_viz.controls.upload import UploadPanel
from supdr_viz.kit.background import Outcome, attempt, in_background
from supdr_viz.kit.dropper import file_dropper
from supdr_viz.kit.markup import EMPTY
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run.status import Phase
from supdr_viz.settings.making import build_dataset
from supdr_viz.settings.state import Settings, to_json
from supdr_viz.stage.components import Hub
from supdr_viz.stage.stage import Stage
from tests.viz.control_cases import csv, knob, let_go


@pytest.fixture
def watched():
    controls = Controls(Settings())
    log = []
    controls.on_change(lambda old, new: log.append((old.settings, new.settings)))
    return controls, log


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
    assert controls.presets.note.object != EMPTY
    controls.presets.select.value = "two-spirals"
    assert controls.settings == PRESETS["two-spirals"].settings
    assert len(log) == 3
    controls.data.menu.value = "iris"
    assert controls.presets.note.object == EMPTY


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

    monkeypatch.setattr(openml_module, "load_openml", unreachable)
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

    monkeypatch.setattr(openml_module, "load_openml", refuse)
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
