"""The page of sweeps as a visitor uses it, without a browser."""

import io
import threading
from urllib.parse import parse_qsl

import numpy as np
import pytest
from PIL import Image

from scripts.example_pictures import heatmap
from supdr_viz.pages.sensitivity import runner as runner_module
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.settings import parse_sweep_query, sweep_query
from supdr_viz.presets.pictures import SIZE, SWEEPS, stored
from tests.viz.visitor import Visitor

SWEEP = (
    "?data=moons&data.n_samples=60&method=LSDR&method.max_iter=4&method.tol=0&seed=5"
    "&sweep.x=reg_u:log:0.01:1:2&sweep.y=beta:list:0.1,0.5&sweep.folds=2"
)


def swept(query=SWEEP):
    return Visitor(query, page="sensitivity")


def test_a_sweep_knows_what_was_computed_before():
    with swept() as visitor:
        assert visitor.chip == "ready"
        visitor.press("Run").settle()
        assert visitor.chip == "finished"
        assert visitor.sees("8 of 8 fits")
        assert "4 of 4 cells" in visitor.status
        visitor.press("Run").settle()
        assert visitor.sees("8 of them from earlier runs")
    with swept() as another:  # whoever opens the link has it, too
        assert another.press("Run").settle().sees("8 of them from earlier runs")


def test_a_sweep_waits_for_the_kernels_of_its_methods(compiler):
    with swept(f"{SWEEP}&sweep.versus=NSDR") as visitor:
        visitor.press("Run")
        assert visitor.chip == "waiting"
        assert visitor.sees("Compiling LSDR and NSDR, once per installation: 0 s · kernel 3 of 9")
        assert visitor.widget("Pause").disabled
        visitor.press("Cancel")
        assert visitor.chip == "ready"
        visitor.press("Run")
        methods, compiled = compiler.waiting[-1]
        assert methods == ("LSDR", "NSDR")
        compiled(compiler)
        assert visitor.settle().chip == "finished"


def test_folds_and_repetitions_are_those_of_the_link_and_then_what_is_chosen():
    with swept(f"{SWEEP}&sweep.repeats=3") as visitor:
        visitor.open_fold("Folds, repetitions, starts")
        assert (visitor.widget("Folds").value, visitor.widget("Repetitions").value) == (2, 3)
        visitor.slide("Folds", 4)
        assert {"sweep.folds=4", "sweep.repeats=3"} <= set(visitor.query.split("&"))


@pytest.fixture
def gate(monkeypatch):
    """Cells come one at a time, when the test lets them."""
    gate = threading.Semaphore(0)
    follow = runner_module.Sweep.run

    def run(self, *arguments, **options):
        for cell in follow(self, *arguments, **options):
            gate.acquire()
            yield cell

    monkeypatch.setattr(runner_module.Sweep, "run", run)
    return gate


def test_pause_resume_and_cancel(gate):
    with swept(SWEEP.replace("seed=5", "seed=6")) as visitor:
        visitor.press("Run")
        visitor.press("Pause")
        gate.release()
        visitor.settle()
        assert visitor.chip == "paused"
        visitor.press("Resume")
        visitor.press("Cancel")
        gate.release(8)
        visitor.settle()
        assert visitor.chip == "cancelled"
        visitor.press("Run")
        gate.release(8)
        visitor.settle()
        assert visitor.chip == "finished"


def test_what_is_wrong_with_a_link_is_said():
    with swept("?data=moons&method=NSDR&sweep.x=wings:log:1:2:3&sweep.metric=glory") as visitor:
        assert visitor.sees("NSDR has no parameter 'wings' to sweep")


@pytest.mark.slow
def test_a_store_that_cannot_be_used_is_said_and_sweeps_run_without_it(tmp_path, keep_sweeps_in):
    path = tmp_path / "other.sqlite"
    path.write_bytes(b"no database at all" * 100)
    keep_sweeps_in(path)
    with Visitor(SWEEP, page="sensitivity") as visitor:
        assert visitor.sees("Finished cells are kept while this page is open only")
        assert visitor.sees("is damaged or not a store of sweeps")
        visitor.press("Run").settle()
        assert visitor.chip == "finished"
    assert path.read_bytes() == b"no database at all" * 100


@pytest.mark.slow
def test_data_that_must_be_loaded_are_asked_for():
    with swept("?data=openml&data.name=336&method=NSDR") as visitor:
        assert visitor.sees("Press Load")
        assert visitor.widget("Run").disabled


@pytest.mark.slow
def test_an_example_chosen_during_a_sweep_can_be_run(gate):
    """The cells of the sweep before are finished first; what is measured is said before there is any cell."""
    with swept(SWEEP.replace("seed=5", "seed=7") + "&sweep.metric=f1") as visitor:
        visitor.press("Run")
        visitor.choose("Example", SWEEP_PRESETS["sldr-dimensions"].label)
        assert visitor.head("Heatmap").strip().startswith("Colour: mean accuracy over 2 folds")
        visitor.choose("Method", "LSDR").choose("Data set", "Iris").press("Run")
        assert visitor.chip == "stopping"
        gate.release(1000)
        visitor.settle()
        assert visitor.chip == "finished"
        assert visitor.sees("Best accuracy")


@pytest.mark.parametrize(
    "name", ["explorer", *(pytest.param(n, marks=pytest.mark.slow) for n in ("sensitivity", "compare"))]
)
def test_what_comes_before_the_page_is_all_there_is_taken(name):
    """A phone tells its width, and its theme, while the page is on its way; without the document's lock at times."""

    def turn(visitor):
        visitor.tell(visitor.bridge, narrow=True, tall=False)
        visitor.tell(visitor.page, dark_theme=True)

    with Visitor(page=name, early=turn) as visitor:
        assert not visitor.page.sidebar_open


def test_what_is_handed_over_without_the_documents_lock_is_heatmap():
    """As it comes where a visitor changes something just before pressing something else."""
    with swept() as visitor:
        before = visitor.model("heatmap").yaxis[0].axis_label_text_color
        visitor.do_unlocked(lambda: visitor.page.param.update(dark_theme=True))
        visitor.settle()
        assert visitor.model("heatmap").yaxis[0].axis_label_text_color != before


@pytest.mark.parametrize(("fits", "mean"), [(3, "mean of 3 such fits"), pytest.param(1, "", marks=pytest.mark.slow)])
def test_a_cell_that_is_opened_runs_and_says_on_which_split(fits, mean):
    """The heatmap's links end in ``cell``: over how many fits its number is a mean."""
    link = "?data=moons&data.n_samples=60&method=LSDR&method.max_iter=5&method.tol=0&test=0.333&seed=4&speed=fast"
    with Visitor(f"{link}&cell={fits}") as visitor:
        visitor.settle()
        assert visitor.stands == ("finished", 5)
        assert "33 % of the rows are held out, by seed 4" in visitor.text
        assert mean in visitor.text
        assert ("The cell is the mean" in visitor.text) == bool(mean)
        assert "cell=" not in visitor.query


def test_prepared_sweeps_have_pictures_and_links():
    with swept("") as visitor:
        cards = {card["name"]: card for shelf in visitor.open_gallery() for card in shelf["cards"]}
        assert visitor.sees("All 64 cells are computed (5 fits each)")
        assert cards[SWEEP_PRESETS.opening.name]["source"] == "320 fits"
    for name, preset in SWEEP_PRESETS.items():
        query = sweep_query(preset.settings)
        settings, problems = parse_sweep_query({key: [value.encode()] for key, value in parse_qsl(query)})
        assert not problems
        assert SWEEP_PRESETS.name_of(settings) == name  # so the page shows its name and its note
        content = stored(SWEEPS, name)
        assert cards[name]["picture"]
        assert Image.open(io.BytesIO(content)).size == (2 * SIZE[0], SIZE[1])


@pytest.mark.slow
def test_a_sweep_that_was_followed_by_its_link_has_its_name():
    with swept("?" + sweep_query(SWEEP_PRESETS["mac-dimensions"].settings)) as visitor:
        assert visitor.widget("Example").value == "mac-dimensions"
        assert visitor.sees("A simplex of ten classes needs")


@pytest.mark.parametrize("means", [np.array([0.3, np.nan, 0.1, 0.2]), np.array([[0.1, 0.2, np.nan], [0.4, 0.3, 0.2]])])
def test_a_picture_leaves_out_what_failed(means):
    content = heatmap(means, "error")
    shown = Image.open(io.BytesIO(content))
    assert shown.size == (2 * SIZE[0], SIZE[1])  # once light, once dark
    assert shown.getchannel("A").getextrema() == (0, 255)
    assert content != heatmap(np.nan_to_num(means, nan=0.15), "error")


def test_nothing_is_no_picture():
    with pytest.raises(ValueError, match="nothing to draw"):
        heatmap(np.full(3, np.nan), "error")
