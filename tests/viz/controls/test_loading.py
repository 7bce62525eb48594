"""Files and OpenML in the controls: data that a visitor brings are taken once, and what fails is said in a sentence."""

from types import SimpleNamespace

import pytest

from supdr.datasets import FileProblem
from supdr_viz.controls.openml import OpenMLPanel
from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.settings import Settings
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.ui.background import Background, Latest, Outcome, attempt
from supdr_viz.ui.dropper import file_dropper
from supdr_viz.ui.visitor import HeldFiles
from tests.viz.control_cases import csv, watched_controls


@pytest.fixture
def watched():
    return watched_controls()


def choose_file(controls, name, content):
    controls.data.menu.value = "file"
    panel = controls.data._upload
    panel.dropper.value = {name: content}
    return panel


AS_PROPOSED = {
    **{"sheet": "", "target": "", "task": "auto", "ignore": "", "groups": "", "impute": "median"},
    **{"accept": "", "decline": "", "missing": ""},
}


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
    dropper = file_dropper(
        HeldFiles(), lambda name, content: taken.append((name, content)), taken.append, max_bytes=1e6
    )

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


def test_late_answers_to_what_was_asked_earlier_are_dropped():
    waiting, answers = [], []
    latest = Latest(lambda work, done: waiting.append((work, done)))
    for name in ("first", "second"):
        latest.ask(lambda name=name: name, answers.append)
    for work, done in reversed(waiting):
        done(attempt(work))
    assert [each.value for each in answers] == ["second"]


def test_openml_offline_says_so():
    def unreachable(name, **options):
        raise FileProblem("OpenML could not be reached (no network); check the network connection.")

    panel = OpenMLPanel(Background().run, lambda dataset, options: pytest.fail("nothing was loaded"), unreachable)
    panel.load.clicks += 1
    assert "Type the name" in panel.message.object
    panel.field.value = "ionosphere"
    panel.load.clicks += 1
    assert "could not be reached" in panel.message.object
    assert not panel.load.loading


def test_the_target_of_a_link_belongs_to_the_data_set_of_the_link():
    asked = []

    def refuse(name, *, target, limits):
        asked.append((name, target))
        raise FileProblem("not now")

    panel = OpenMLPanel(Background().run, lambda dataset, options: pytest.fail("nothing was loaded"), refuse)
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
        Background().run(work, seen.append)
        assert seen[0].value is None
        assert seen[0].problem.endswith(".")
    assert attempt(lambda: 3) == Outcome(3)
