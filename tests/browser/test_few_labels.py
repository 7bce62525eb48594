"""Few labels in the explorer: the unrolling sheet, colours, methods at work, hidden knobs, pairs of pictures."""

import itertools

import numpy as np
import pytest

from tests.browser.app import FIGURES

SHEET = (
    "?data=curved_sheet&data.n_samples=120&data.n_features=10&method=SNF&method.preprocessing=none"
    "&test=0&labels=0.1&seed=2&view.colour=truth"
)


def colours(app, source="latent points"):
    return np.array(app.column(source, "k"), dtype=float)


def n_rings(app):
    return np.isfinite(np.array(app.column("latent points", "ring"), dtype=float)).sum()


def legend(app, card):
    return app.page.locator(".head").filter(has_text=card).locator(".key").all_inner_texts()


@pytest.fixture
def sheet(open_app):
    app = open_app(SHEET)
    app.until_settled()
    return app


def test_the_sheet_unrolls_slowly_and_beats_the_constant(open_app):
    app = open_app("?data=iris&method=LSDR")
    app.choose("Example", "A sheet unrolls, SNF")
    app.until_seen("A folded horseshoe opens")
    app.until(lambda: app.iteration == 0 and "data=curved_sheet" in app.page.url)
    app.until(lambda: "view.colour=truth" in app.page.url)
    before = app.until(lambda: app.number("unlabelled MSE"))
    app.press("Run")
    app.until(lambda: app.chip == "finished", 90)
    app.until_settled()
    assert app.number("unlabelled MSE") < 0.15 * before
    app.until(lambda: {"labelled", "unlabelled", "constant predictor"} <= set(legend(app, "Error")))


def test_labelled_rows_are_ringed_and_colours_change_meaning(sheet):
    sheet.until(lambda: n_rings(sheet) == 12)
    truth = colours(sheet)
    assert np.isfinite(truth).all()
    sheet.press("label")
    sheet.until(lambda: np.isfinite(colours(sheet)).sum() == 12)
    sheet.until(lambda: "view.colour" not in sheet.page.url)
    sheet.until_seen("label hidden")
    sheet.press("prediction")
    sheet.until(lambda: np.isfinite(colours(sheet)).all() and not np.allclose(colours(sheet), truth))
    predicted = colours(sheet)
    sheet.press("error")
    sheet.until_seen("error 0 to")
    sheet.until(lambda: np.allclose(colours(sheet), abs(predicted - truth), atol=1e-4))
    assert sheet.iteration == 0  # none of it touched the run


def test_the_share_of_labels_starts_again_with_more_rings(sheet):
    sheet.run_to(3)
    sheet.pause()
    sheet.open_fold("Test rows, labels, seed")
    assert sheet.nudge("Labelled share", times=10) == "0.2"
    sheet.until(lambda: sheet.iteration == 0)
    sheet.until_settled()
    sheet.until(lambda: n_rings(sheet) == 24)
    sheet.nudge("Labelled share", "End")
    sheet.until(lambda: "labels=1" in sheet.page.url)
    sheet.until(lambda: n_rings(sheet) == 0)
    assert "view.colour=truth" in sheet.page.url  # what was chosen is kept, though there is less to choose from


def test_pictures_of_snf(sheet):
    sheet.run_to(5)
    sheet.pause()
    seen = []
    for label, title in (("predicted", "Predicted"), ("spread", "Spread"), ("reconstruct", "Reconstruction")):
        sheet.choose("Picture", label)
        sheet.until_seen(title)
        seen.append(sheet.another_picture("method", seen))


def said(app):
    return " ".join(app.page.locator(".said").all_inner_texts())


def test_methods_come_in_one_after_the_other(sheet):
    sheet.choose("Picture", "methods")
    sheet.until(lambda: "done" in said(sheet))
    first = said(sheet)
    sheet.until(lambda: said(sheet) != first, 60, "no error came in")
    sheet.until(lambda: "labels 12" in said(sheet))
    sheet.choose("Picture", "more labels")
    sheet.until_seen("MSE by share of labels")
    sheet.until(lambda: "done" in said(sheet))
    sheet.press("Step")  # a run goes first
    sheet.until(lambda: sheet.iteration == 1)


def test_a_table_of_the_paper_begins_when_its_data_come(open_app, tmp_path):
    rng = np.random.default_rng(0)
    columns = np.round(rng.normal(size=(54, 8)), 4)
    rows = [",".join(f"{cell}" for cell in (*row, round(row[0] + row[1] ** 2, 4))) for row in columns]
    file = tmp_path / "bears.csv"
    file.write_text("\n".join([",".join([*(f"a{k}" for k in range(8)), "weight"]), *rows]))
    app = open_app("?data=iris&method=LSDR")
    app.choose("Example", "Tables 1 and 2: Bears")
    app.until_seen("Bears is not included")
    chooser = app.page.locator("input[type=file]").first
    chooser.wait_for(state="attached")
    chooser.set_input_files(file)
    app.until_seen("54 rows, 9 columns", 30)
    app.press("Use this file")
    app.until_seen("Four and five labels", 30)
    app.until_seen("MSE, 5.56 % labels", 30)
    app.until(lambda: "the paper's" in " ".join(app.page.locator(".keys").all_inner_texts()))
    app.until(lambda: "labels 4" in said(app) and "done" in said(app))


def test_regression_hides_the_choice_of_a_loss(open_app):
    app = open_app("?data=iris&method=LSDR")
    app.until_settled()
    app.until(lambda: app.page.get_by_role("combobox", name="Loss").is_visible())
    app.choose("Data set", "Diabetes (regression)")
    app.until(lambda: not app.page.get_by_role("combobox", name="Loss").is_visible())
    app.choose("Data set", "Wine")
    app.until(lambda: app.page.get_by_role("combobox", name="Loss").is_visible())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_digits_stand_beside_their_reconstruction(open_app, scheme):
    app = open_app("?data=digits&method=LSDR&method.n_components=9&test=0.7", scheme=scheme)
    app.press("pictures")
    app.until_seen("original, copy")
    app.until(lambda: "not reconstructed" in said(app))
    at_start = app.another_picture("method", [])
    app.run_to(2)
    app.pause()
    app.another_picture("method", [at_start])
    app.choose("Data set", "Iris")
    app.until(lambda: not app.button("pictures").is_visible())
    app.until_seen("Reconstruction")


def test_few_labels_on_a_phone(open_app):
    app = open_app(SHEET, phone=True)
    boxes = app.until_still(lambda: [app.box(name) for name in FIGURES])
    assert all(above["y"] + above["height"] <= below["y"] for above, below in itertools.pairwise(boxes))
    app.button("error").tap()
    app.until_seen("error 0 to")
