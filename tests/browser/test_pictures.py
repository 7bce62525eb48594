"""The pictures of each method as the browser draws them, and what is said over and below them."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from supdr_viz.pictures.methods.mac import DIRECTIONS, EDGES, SPREAD
from tests.browser.conftest import SHEET

MAC = (
    "?data=spirals&data.n_classes=3&data.n_per_class=60&data.turns=1"
    "&method=MAC&method.n_centers=40&method.n_components=2&method.max_iter=12&method.tol=0&method.mu_factor=1.05"
    "&speed=fast"
)
ZIGZAG = "?data=zigzag&method=SLDR&method.n_components=1&method.n_models=3&method.n_init=5&method.max_iter=200"
DIGITS = (
    "?data=multiview_digits&data.n_samples=200&method=SLDR&method.solver=alternating&method.n_init=1&method.max_iter=3"
    "&speed=fast"
)
BITS = (
    "?data=latent_bits&data.n_samples=80&data.n_features=60"
    "&method=SDRGLM&method.max_iter=8&method.tol=0&method.solver=literal&speed=fast"
)


def numbers_said(app):
    return {name.strip(): float(value) for name, value in re.findall(r"([a-z ÷]+) ([\d.]+)", app.texts(".said"))}


def shares(app):
    """Shares of the gates as the legend of the regions names them."""
    found = re.findall(r"(model \d|[a-z]+) (\d+) %", app.texts(".keys"))
    return {name: int(share) for name, share in found}


def image(app):
    """The levels of the method's image, none where it has none."""
    return np.array(app.evaluate("Array.from(square('method').tree.picture?.image ?? [])"))


def words(app):
    return [tag[2] for tag in app.shown("method", "picture", "tags")]


def scrub(app, key, times=1):
    app.slider("Iteration").focus()
    app.key(key, times).settle()


def look(app, seen):
    """Add what the method's figure shows to the pictures seen, of which none may be like it."""
    picture = app.picture("method")
    assert picture not in seen
    seen.append(picture)


@pytest.mark.slow
def test_the_bound_of_mac_closes_in_from_below(open_app):
    app = open_app(MAC)
    at_start = numbers_said(app)
    assert set(at_start) == {EDGES, SPREAD, DIRECTIONS}
    app.press("Run").settle()
    objective, bound = app.columns("losses", "objective", "lower bound")  # the bound is that of steps that were shown
    assert len(bound) >= 2
    assert (bound <= objective * (1 + 1e-5)).all()
    assert (np.diff(bound) >= -1e-5 * bound[:-1]).all()
    gap = re.search(r"gap ([\d.]+) %", app.page.locator(".key").filter(has_text="lower bound").inner_text())
    assert float(gap[1]) == pytest.approx(100 * (1 - bound[-1] / objective[-1]), abs=0.2)
    at_end = numbers_said(app)
    assert at_end != at_start
    assert 0 < at_end[EDGES] <= 1
    seen = []
    for label, title in (("targets", "Targets"), ("means", "Class means"), ("margins", "Margins")):
        app.choose("Picture", label).settle()
        assert app.sees(title)
        look(app, seen)
    assert numbers_said(app) == {}  # margins have none
    app.choose("Picture", "targets").settle()
    assert "stays" in app.texts(".keys")
    scrub(app, "Home")
    assert numbers_said(app) == at_start
    scrub(app, "ArrowRight", 3)  # later arrows may be too short to be drawn
    assert app.evaluate("square('method').tips.some(Number.isFinite)")
    app.lasso("input", right=0.5)
    assert 0 < len(app.selected()) < 180
    assert app.selected("method") == app.selected()
    app.choose("Method", "LSDR").settle()  # which has modes of its own
    assert app.sees("Reconstruction")
    assert numbers_said(app) == {}


def test_the_regions_of_the_zigzag_move_until_the_lines_fit(open_app):
    app = open_app(ZIGZAG)
    assert set(shares(app)) == {"model 1", "model 2", "model 3"}
    before, at_start = image(app), numbers_said(app)["support vectors"]
    app.press("Run").settle()
    assert app.chip == "finished"
    assert numbers_said(app)["support vectors"] < 0.3 * at_start
    assert (image(app) != before).mean() > 0.02
    assert min(shares(app).values()) > 5
    assert sum(shares(app).values()) == pytest.approx(100, abs=2)
    assert app.number("test error") < 1.5
    scrub(app, "Home")
    assert numbers_said(app)["support vectors"] == at_start
    assert np.array_equal(image(app), before)


@pytest.mark.slow
def test_every_picture_of_the_gate(open_app):
    app = open_app(DIGITS)
    app.press("Run").settle()
    gates, seen = shares(app), []
    assert set(gates) == {"pixels", "profiles", "fourier", "components"}
    titles = {"gate": "Gating regions", "local": "Local spaces", "usage": "Gate usage", "margins": "Margins"}
    for label, title in titles.items():
        app.choose("Picture", label).settle()
        assert app.sees(title)
        look(app, seen)
        if label == "local":
            said = [text for text in words(app) if text]
            found = {text.split()[0]: int(text.split()[-2]) for text in said}
            assert found == {name: share for name, share in gates.items() if share}
            assert list(found.values()) == sorted(found.values(), reverse=True)
        if label == "usage":
            assert words(app)[0] == "pixels"
            assert [int(text.split()[0]) for text in words(app)[1::2]] == list(gates.values())
    app.choose("Picture", "gate").settle()
    assert image(app).size
    app.choose("Picture", "local").settle()
    app.lasso("input", right=0.5)
    assert app.selected()
    assert app.selected("method") == app.selected()


@pytest.mark.slow
def test_every_picture_of_sdr_glm(open_app):
    app = open_app(BITS)
    assert "too little to draw regions" in app.head("input")
    app.press("Run").settle()
    said = {
        ("as new rows", "New rows"): "size of transform",
        ("X against Y", "Balance"): "explains X",
        ("spectrum", "what the ridges leave"): "threshold",
        ("parameters", "and what they mean"): "parameters within ±",
        ("J and its parts", "rises in every sweep"): "least rise",
    }
    seen = []
    for (label, title), name in said.items():
        app.choose("Picture", label).settle()
        assert app.sees(title)
        assert name in app.facts
        look(app, seen)
    assert float(app.facts["least rise"]) > 0
    assert float(app.facts["J"]) == pytest.approx(-app.number("objective"), rel=2e-3)
    scrub(app, "Home")
    assert set(app.facts) == {"J"}  # the start alone has no rise
    app.press("Live").settle()
    assert "settings changed" not in app.texts(".keys")
    app.nudge("Reconstruction ratio", times=6)
    app.press("Run").settle()
    assert "settings changed" in app.texts(".keys")
    assert float(app.facts["least rise"]) > 0
    app.choose("Picture", "margins").settle()
    assert app.sees("Margins")
    assert app.facts == {}


def colour_by(app, meaning):
    app.page.get_by_label("Colour", exact=True).select_option(meaning)
    app.settle()


def colours(app):
    return np.array(
        app.evaluate("Array.from(board('explorer').tree.rows.colour, (value) => value ?? NaN)"), dtype=float
    )


def n_rings(app):
    bits = np.array(app.evaluate("Array.from(square('latent').tree.ring.rows)"), dtype=np.uint8)
    return int(np.unpackbits(bits).sum())


@pytest.mark.slow
def test_colours_of_the_sheet_change_meaning_and_labels_are_ringed(open_app):
    app = open_app(SHEET)
    truth = colours(app)
    assert n_rings(app) == 12
    assert np.isfinite(truth).all()
    colour_by(app, "label")
    assert np.isfinite(colours(app)).sum() == 12
    assert app.sees("label hidden")
    assert "view.colour" not in app.page.url
    colour_by(app, "prediction")
    predicted = colours(app)
    assert np.isfinite(predicted).all()
    assert not np.allclose(predicted, truth)
    colour_by(app, "error")
    assert app.sees("error 0")
    np.testing.assert_allclose(colours(app), abs(predicted - truth), atol=1e-4)
    assert app.iteration == 0  # none of it touched the run
    app.press("Step").press("Step").settle()
    seen = []
    for label, title in (("predicted", "Predicted"), ("spread", "Spread"), ("reconstruct", "Reconstruction")):
        app.choose("Picture", label).settle()
        assert app.sees(title)
        look(app, seen)
    app.open_fold("Test rows, labels, seed")
    assert app.nudge("Labelled share", times=10) == "0.2"
    app.settle()
    assert app.iteration == 0
    assert n_rings(app) == 24


@pytest.mark.slow
def test_digits_show_their_pictures_and_stand_beside_their_reconstruction(open_app):
    app = open_app("?data=digits&method=LSDR&method.n_components=9&test=0.7")
    tip = app.page.locator(".stage-tip").first
    for row in (3, 40, 77):
        app.page.mouse.move(*app.place_of("input", row), steps=4)
        expect(tip).to_be_visible()
        assert tip.locator("canvas").evaluate("(picture) => picture.width * picture.height") == 64
        expect(tip).to_contain_text("row")
        expect(tip).to_contain_text("predicted")
    box = app.box("losses")
    app.page.mouse.move(box["x"] + 40, box["y"] + 40)
    expect(tip).not_to_be_visible()
    app.choose("Picture", "pictures").settle()
    assert app.sees("original, copy")
    assert "not reconstructed" in app.texts(".said")
    seen = []
    look(app, seen)
    app.press("Step").press("Step").settle()
    look(app, seen)
    app.toggle_theme()
    look(app, seen)
    app.choose("Data set", "Iris").settle()
    assert not app.page.get_by_text("original, copy").first.is_visible()
    assert app.sees("Reconstruction")


@pytest.mark.slow
def test_words_stand_beside_a_picture_and_not_over_it(open_app):
    app = open_app("?data=wide_regression&data.n_samples=200&method=SDRGLM&view.colour=trust", size=(1280, 720))
    app.choose("Picture", "predicted").settle()
    assert app.facts.keys() >= {"R² train", "correlation"}
    assert "Misplaced" in app.texts(".said")
    for width, height in ((1280, 720), (390, 844)):
        app.resize(width, height)
        app.settle()
        for square in ("latent", "method"):
            picture = app.box(square)
            card = app.page.locator(f".card.{square}")
            said = [each.bounding_box() for each in card.locator(".keys, .said").filter(visible=True).all()]
            assert said
            assert all(
                each["y"] + each["height"] <= picture["y"] or picture["y"] + picture["height"] <= each["y"]
                for each in said
            ), (square, width)
            assert picture["height"] == pytest.approx(picture["width"], abs=0.5)
            own, other = card.bounding_box(), app.page.locator(".card.input").bounding_box()
            assert own["y"] != other["y"] or abs(own["height"] - other["height"]) <= 1  # where they stand side by side
