"""The explorer as a visitor uses it, without a browser: what acts on the run, and what the page says."""

import gc
import re
import threading
import weakref

import numpy as np
import pytest

from supdr_viz.experiment.methods import MENU
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run.session import Session
from tests.viz.visitor import Visitor

SMALL = "?data=spirals&data.n_per_class=60&method=LSDR&method.tol=0&speed=fast"
SGD = "?data=spirals&data.n_per_class=60&method=LSDR&method.solver=sgd&method.max_iter=500&speed=fast"


def steps(visitor, number):
    for _ in range(number):
        visitor.press("Step")
    return visitor.settle()


# --- the run ----------------------------------------------------------------------------------------------------------


def test_a_run_ends_at_its_last_step_and_goes_on_when_asked():
    with Visitor("?data=iris&method=LSDR&method.max_iter=8&method.tol=0&speed=fast") as visitor:
        for end in (8, 16):
            visitor.press("Run").settle()
            assert visitor.stands == ("finished", end)
            assert f"iteration {end}," in visitor.status


def test_latent_coordinates_on_offer_are_those_that_the_method_chose():
    with Visitor("?data=wine&method=LSDR&method.n_components=auto&view.latent=4,5") as visitor:
        plane = visitor.open_fold("Planes").settle().widget("Latent plane")
        assert (plane.value, plane.disabled) == ("chosen", False)
        assert visitor.widget("Vertical axis").value == 5
        assert len(visitor.widget("Vertical axis").options) == 6


def test_speed_is_part_of_the_address():
    with Visitor("?data=iris&method=LSDR") as visitor:
        visitor.do(lambda: visitor.widget("Speed").param.update(value="slow"))
        assert "speed=slow" in visitor.settle().query


def test_a_run_that_diverges_says_so_and_can_be_mended():
    with Visitor(SGD + "&method.lr_reconstruction=1&method.beta=0.9") as visitor:
        visitor.press("Run").settle()
        assert visitor.chip == "diverged"
        assert visitor.sees("Try a smaller learning rate")
        assert "diverged" in visitor.status
        assert visitor.iteration is not None  # the numbers are those of what is shown
        assert "nan" not in visitor.numbers.lower()
        assert np.isfinite(visitor.places("latent")).all()
        visitor.choose("Solver", "block descent").settle()
        assert visitor.chip in ("paused", "ready")
        visitor.press("Reset").settle()
        assert visitor.stands == ("ready", 0)
        assert steps(visitor, 2).iteration == 2


def test_a_run_that_fails_says_so_and_the_page_survives(monkeypatch):
    def iterate(*_arguments, **_options):
        raise ValueError("There are no neighbours.")

    monkeypatch.setattr(MENU["KNN"].estimator, "iterate", iterate)
    with Visitor(SMALL) as visitor:
        visitor.choose("Method", "k nearest neighbours").settle()
        assert visitor.chip == "failed"
        assert visitor.sees("The run failed: There are no neighbours.")
        assert "There are no neighbours" in visitor.status
        visitor.choose("Method", "LSDR").settle()
        assert visitor.stands == ("ready", 0)
        assert not visitor.sees("The run failed")


def test_a_closed_page_leaves_no_session_behind():
    def sessions():
        gc.collect()
        return [each for each in gc.get_objects() if isinstance(each, Session)]

    before = weakref.WeakSet(sessions())  # of other tests
    gone = threading.Event()
    with Visitor(SMALL) as visitor:
        steps(visitor, 1)
        (own,) = (each for each in sessions() if each not in before)
        weakref.finalize(own, gone.set)
        del own
    del visitor
    for _ in range(300):  # a step that is on its way comes to its end first
        gc.collect()
        if gone.wait(0.1):
            break
    assert gone.is_set()


# --- settings ---------------------------------------------------------------------------------------------------------

OFTEN = ("RBFSVM", "LDA", "NSDR")
RARELY = tuple(name for name in MENU if name not in OFTEN)
LONG = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("names", [OFTEN, pytest.param(RARELY, marks=LONG)], ids=["often", "rarely"])
def test_every_method_can_be_chosen(names):
    with Visitor("?data=iris&method=LSDR") as visitor:
        for method in [MENU[name] for name in names]:
            if "classification" not in method.tasks() or method.bits_only:
                continue
            visitor.choose("Method", method.label).settle()
            assert f"method={method.name}" in visitor.query
            if visitor.iteration == 0:
                visitor.press("Step").settle()
            assert visitor.iteration == (1 if method.iterates else None), method.label
            assert visitor.number("test error") is not None, method.label
            if not method.iterates:
                assert visitor.chip == "finished", method.label


GROUPS = list(dict.fromkeys(preset.group for preset in PRESETS.values()))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("group", GROUPS)
def test_every_example_runs_or_says_how_to_get_its_data(group):
    with Visitor("?data=iris&method=LDA") as visitor:
        for preset in (each for each in PRESETS.values() if each.group == group):
            visitor.choose("Example", preset.label).settle()
            if preset.needs is not None:
                assert visitor.sees(preset.needs.title + " is not included")
                assert visitor.widget("Run").disabled
                continue
            assert visitor.sees(preset.note[:40])
            assert f"method={preset.settings.method}" in visitor.query
            if MENU[preset.settings.method].iterates:
                assert visitor.iteration == 0, preset.label
                visitor.press("Step").settle()
            assert visitor.iteration == 1, preset.label


def test_a_method_that_does_not_fit_the_data_says_so():
    with Visitor("?data=diabetes&method=KNN") as visitor:
        assert visitor.sees("needs classes, but this target is numeric")
        assert visitor.widget("Run").disabled
        visitor.choose("Method", "LSDR").settle()
        assert visitor.stands == ("ready", 0)


def test_logistic_pca_names_the_column_that_is_no_bit():
    with Visitor("?data=iris&method=LogisticPCA") as visitor:
        assert visitor.sees("Logistic PCA takes columns of 0 and 1 only; sepal length (cm) is 5.1 in row 0")
        visitor.choose("Method", "Unsupervised, then logistic").settle()
        assert "method=LogisticUDR" in visitor.query
        assert visitor.iteration is not None


def test_junk_in_a_link_falls_back_with_a_sentence():
    query = "?data=spirals&data.noise=nan&method=NSDR&method.C=1e99&junk=%3Cscript%3E&seed=x&view.latent=9,9"
    with Visitor(query) as visitor:
        assert visitor.sees("is unknown and is ignored")
        assert visitor.sees("9,9")
        assert steps(visitor, 1).iteration == 1
        assert "junk" not in visitor.query


def test_an_unknown_method_in_a_link_falls_back():
    with Visitor("?method=__import__&data=../../etc/passwd") as visitor:
        assert visitor.sees("There is no method")
        assert "method=NSDR" in visitor.query


def test_a_link_to_a_file_says_which_file_it_wants():
    with Visitor("?data=file&data.name=radar.csv&method=LSDR") as visitor:
        assert visitor.sees("radar.csv")
        assert visitor.widget("Run").disabled


@pytest.mark.slow
def test_views_of_a_file_have_a_local_model_each():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    rows = np.column_stack([rng.normal(size=(120, 5)) + y[:, None], y])
    lines = [",".join(f"{cell:.5f}" for cell in row) for row in rows]
    with Visitor("?data=moons&method=SLDR&method.n_init=1") as visitor:
        visitor.choose("Data set", "A file …")
        visitor.upload("mine.csv", "\n".join(["shape:a,colour:a,shape:b,shape:c,colour:b,class", *lines]))
        assert visitor.sees("120 rows, 6 columns")
        visitor.press("Use this file").settle()
        assert visitor.sees("In use: mine")
        assert visitor.sees("Views: shape (3), colour (2).")
        for view in ("shape", "colour"):
            assert re.search(rf"{view} \d+ %", visitor.text)


@pytest.mark.slow
def test_a_table_of_a_paper_begins_when_its_data_come():
    rng = np.random.default_rng(0)
    columns = np.round(rng.normal(size=(54, 8)), 4)
    rows = [",".join(f"{cell}" for cell in (*row, round(row[0] + row[1] ** 2, 4))) for row in columns]
    content = "\n".join([",".join([*(f"a{k}" for k in range(8)), "weight"]), *rows])
    with Visitor("?data=iris&method=LSDR") as visitor:
        visitor.choose("Example", "Tables 1 and 2: Bears")
        assert visitor.sees("Bears is not included")
        visitor.upload("bears.csv", content)
        assert visitor.sees("54 rows, 9 columns")
        visitor.press("Use this file").settle()  # and the methods of the table come in
        for text in ("With four or five labels", "MSE, 5.56 % labels", "labels 4", "done"):
            assert visitor.sees(text), text
        # These are other bears than the paper's, though as many; the note speaks of the paper's figures all the same.
        assert "the paper's" not in visitor.text.replace("the paper's figures", "")


# --- what the planes show ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_embedding_transform_and_pull():
    with Visitor(SMALL) as visitor:
        steps(visitor, 5)
        assert visitor.sees("placed using labels")
        learnt = visitor.places("latent")
        visitor.mark("pull").settle()
        assert np.isfinite(visitor.places("latent", ends="ends")).any()
        visitor.mark("transform").settle()
        assert visitor.sees("placed without labels")
        assert "view.shown=transform" in visitor.query
        assert not np.array_equal(visitor.places("latent"), learnt)
        visitor.mark("transform").settle()
        np.testing.assert_array_equal(visitor.places("latent"), learnt)


@pytest.mark.slow
def test_many_classes_and_dimensions():
    with Visitor("?data=digits&method=LSDR&method.n_components=9") as visitor:
        steps(visitor, 3)
        assert visitor.number("test error") < 30
        assert visitor.sees("PCA plane")
        assert visitor.sees("2 of 9 dimensions")
        before = visitor.places("latent")
        visitor.open_fold("Planes").choose("Latent plane", "two columns").settle()
        assert "view.latent=0,1" in visitor.query
        assert not np.array_equal(visitor.places("latent"), before)
        plane = visitor.places("input")
        visitor.choose("Input plane", "two columns").settle()
        assert not np.array_equal(visitor.places("input"), plane)
        assert visitor.iteration == 3  # looking does not touch the run


@pytest.mark.slow
def test_regression():
    with Visitor("?data=diabetes&method=LSDR") as visitor:
        steps(visitor, 3)
        assert visitor.number("train MSE") > 0
        assert visitor.number("test MSE") < 5900  # the variance of the target
        assert "%" not in visitor.numbers
        assert visitor.stage().get("charts", "errors", "title") == "Mean squared error"
        assert "train MSE" in visitor.status


def test_who_cannot_see_hears_the_errors_of_what_is_shown():
    with Visitor("?data=diabetes&method=LSDR&method.max_iter=60&method.tol=0") as visitor:
        visitor.press("Run").settle()
        assert visitor.stands == ("finished", 60)
        assert visitor.status.startswith("finished, LSDR on diabetes, iteration 60")
        for word in ("train MSE", "test MSE"):
            heard = float(re.search(rf"{word} ([\d.,]+\d)", visitor.status)[1].replace(",", ""))
            assert heard == pytest.approx(visitor.number(word), rel=1e-2)


def test_predicted_values_come_first_for_a_regression():
    query = (
        "?data=wide_regression&data.n_samples=120&data.n_features=60&method=SDRGLM&method.n_components=3&method.tol=0"
    )
    with Visitor(query) as visitor:
        steps(visitor, 3)
        for text in ("against true values", "R² train", "R² test", "correlation"):
            assert visitor.sees(text), text
        x, y = visitor.places("method").T
        assert np.corrcoef(x, y)[0, 1] > 0.7
        visitor.choose("Method", "Elastic Net").settle()
        assert visitor.chip == "finished"
        assert visitor.sees("R² test")


@pytest.mark.slow
def test_one_latent_dimension_is_a_strip():
    with Visitor("?data=moons&data.n_samples=80&method=LSDR&method.n_components=1") as visitor:
        steps(visitor, 3)
        assert len(set(visitor.places("latent")[:, 1])) > 50
        assert visitor.sees("one dimension; random heights")


@pytest.mark.slow
def test_wide_generated_data_say_what_their_plane_is():
    with Visitor("?data=disc&data.n_samples=100&data.n_noise_features=20&method=LSDR") as visitor:
        assert "one slice" in visitor.head("Input space")


def test_regression_hides_the_choice_of_a_loss():
    with Visitor("?data=iris&method=LSDR") as visitor:
        loss = visitor.widget("Loss")
        assert loss.visible
        visitor.choose("Data set", "Diabetes (regression)").settle()
        assert not loss.visible
        visitor.choose("Data set", "Wine").settle()
        assert visitor.widget("Loss").visible


# --- few labels -------------------------------------------------------------------------------------------------------

SHEET = (
    "?data=curved_sheet&data.n_samples=120&data.n_features=10&method=SNF&method.preprocessing=none"
    "&test=0&labels=0.1&seed=2&view.colour=truth"
)


@pytest.mark.slow
def test_the_sheet_unrolls_and_beats_the_constant():
    with Visitor("?data=iris&method=LSDR") as visitor:
        visitor.choose("Example", "A sheet unrolls, SNF").settle()
        assert visitor.sees("folded horseshoe opens")
        assert "view.colour=truth" in visitor.query
        assert visitor.iteration == 0
        before = visitor.number("unlabelled MSE")
        visitor.press("Run").settle()
        assert visitor.chip == "finished"
        assert visitor.number("unlabelled MSE") < 0.15 * before
        for text in ("labelled", "unlabelled", "constant predictor"):
            assert visitor.sees(text)


@pytest.mark.slow
def test_methods_come_in_one_after_the_other():
    with Visitor(SHEET) as visitor:
        visitor.choose("Picture", "methods").settle()
        assert visitor.sees("labels 12")
        assert visitor.sees("done")
        visitor.choose("Picture", "more labels").press("Step").settle()
        assert visitor.sees("MSE by share of labels")
        assert visitor.iteration == 1


def test_all_rows_labelled_leave_no_ring_and_keep_the_choice():
    with Visitor(SHEET) as visitor:
        visitor.open_fold("Test rows, labels, seed").slide("Labelled share", 1.0).settle()
        assert "labels=1&" in visitor.query + "&"
        assert not visitor.stage().get("planes", "latent", "ring", "rows").any()
        assert "view.colour=truth" in visitor.query  # what was chosen is kept, though there is less to choose from


@pytest.mark.parametrize(
    ("query", "words", "more"),
    [
        ("?data=iris&method=LDA", "Fitted in one step.", 0),
        ("?data=iris&method=MAC&method.max_iter=5", "Stopped at the iteration limit. Run adds more.", 5),
        ("?data=moons&method=MAC&method.max_iter=500", "Converged. Run adds one step.", 1),
    ],
)
def test_a_finished_run_says_what_run_would_do(query, words, more):
    with Visitor(query) as visitor:
        visitor.press("Run").settle()
        assert visitor.numbers.endswith(words)
        before = visitor.iteration
        visitor.press("Run").settle()
        assert visitor.iteration == (before + more if more else None)
        assert visitor.numbers.endswith(words)
