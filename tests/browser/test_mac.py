"""MAC in the explorer: its own pictures, the certified bound below the objective, presets, a phone."""

import itertools
import re

import numpy as np
import pytest

from tests.browser.app import FIGURES

SPIRALS = (
    "?data=spirals&data.n_classes=3&data.n_per_class=60&data.turns=1"
    "&method=MAC&method.n_centers=40&method.n_components=2&method.max_iter=500&method.tol=0&method.mu_factor=1.05"
)


@pytest.fixture
def mac(open_app):
    app = open_app(SPIRALS)
    app.until_settled()
    return app


def curve(app, name):
    """A curve of the losses as the browser draws it, in its own units."""
    labels = app.evaluate("named('losses').renderers.filter((r) => r.visible).map((r) => r.glyph.y.field)")
    entries = app.page.locator(".head").filter(has_text="Losses").locator(".key").all_inner_texts()
    assert len(labels) == len(entries)
    values = {field: np.array(app.column("loss curves", field), dtype=float) for field in labels}
    order = drawing_order(entries)
    return 10 ** values[f"c{order.index(name)}"]


def drawing_order(entries):
    """Names in the order in which they are drawn: terms, bound, surrogate, objective."""
    last = ("lower bound", "surrogate", "objective")
    terms = [entry for entry in entries if not entry.startswith(last)]
    return [*terms, *last]


def facts(app):
    text = " ".join(app.page.locator(".said").all_inner_texts())
    return {name.strip(): float(value) for name, value in re.findall(r"([a-z ]+) ([\d.]+)", text)}


def mode(app, label):
    app.press(label)
    app.until(lambda: app.button(label).get_attribute("aria-pressed") == "true")


def test_the_bound_lies_below_the_objective_and_never_falls(mac):
    mac.run_to(15)
    mac.pause()
    objective, bound = curve(mac, "objective"), curve(mac, "lower bound")
    assert (bound <= objective * (1 + 1e-5)).all()
    assert (np.diff(bound) >= -1e-5 * bound[:-1]).all()
    gap = pytest.approx(100 * (1 - bound[-1] / objective[-1]), abs=0.2)
    legend = mac.page.locator(".key").filter(has_text="lower bound")
    mac.until(lambda: float(re.search(r"([\d.]+) % below|$", legend.inner_text())[1] or "nan") == gap)


def test_numbers_follow_the_run_and_the_scrubber(mac):
    at_start = mac.until_still(lambda: facts(mac), lambda found: found)
    assert set(at_start) == {"edge ratio", "spread", "sv ratio", "gap"}
    mac.run_to(15)
    mac.pause()
    at_end = mac.until_still(lambda: facts(mac), lambda found: found != at_start)
    assert 0 < at_end["edge ratio"] <= 1
    mac.scrub("Home")
    mac.until(lambda: mac.iteration == 0)
    mac.until(lambda: facts(mac) == at_start, what="numbers of the start")


def test_modes_draw_different_pictures(mac):
    mac.run_to(5)
    mac.pause()
    seen = []
    for label, title in (("targets", "Targets"), ("means", "Class means"), ("margins", "Margins")):
        mode(mac, label)
        mac.until_seen(title)
        seen.append(mac.another_picture("method", seen))
    mac.until(lambda: facts(mac) == {})  # margins have none
    mode(mac, "targets")
    mac.until(lambda: "stays" in " ".join(mac.page.locator(".keys").all_inner_texts()))
    mac.scrub("Home")
    mac.scrub("ArrowRight", 3)
    mac.until(lambda: mac.iteration == 3)  # later arrows may be too short to be drawn
    mac.until(lambda: np.isfinite(np.array(mac.column("method points", "tx"), dtype=float)).any())


def test_the_modes_are_those_of_the_method(mac):
    mac.choose("Method", "LSDR")
    mac.until_seen("Reconstruction")
    mac.until(lambda: facts(mac) == {})
    mac.until(lambda: not mac.button("targets").is_visible())
    mac.choose("Method", "MAC")
    mac.until(lambda: mac.button("targets").is_visible())
    mac.until(lambda: "spread" in facts(mac))


def test_a_live_knob_carries_on_and_another_dimension_starts_again(mac):
    mac.run_to(6)
    mac.pause()
    reached, before = mac.iteration, mac.number("objective")
    mac.nudge("Basis functions", times=3)
    mac.until(lambda: mac.number("objective") != before, what="other basis functions")
    assert mac.iteration == reached
    mac.nudge("Latent dimensions")
    mac.until(lambda: mac.iteration == 0)
    mac.until_seen("plane of 3 dimensions")


def test_a_rows_selection_reaches_the_targets(mac):
    mac.lasso("input", 0.0, 0.0, 0.5, 1.0)
    chosen = mac.until_still(lambda: mac.selected, lambda rows: 0 < len(rows) < 180)
    mac.until(lambda: mac.evaluate("Array.from(named('method points').selected.indices)") == chosen)


@pytest.mark.parametrize("example", ["K = 3: the bound closes in", "Ten digits on a plane, MAC"])
def test_presets_run(open_app, example):
    app = open_app("?data=spirals&data.n_per_class=30&method=LSDR")
    app.choose("Example", example)
    app.until(lambda: "method=MAC" in app.page.url)
    app.press("Run")
    app.until(lambda: app.chip in ("running", "finished") and (app.iteration or 0) >= 1, 90)
    app.until(lambda: "spread" in facts(app))


def test_a_phone_shows_one_card_below_the_other(open_app):
    app = open_app(SPIRALS, phone=True)
    boxes = app.until_still(lambda: [app.box(name) for name in FIGURES])
    for above, below in itertools.pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"]
    app.button("means").tap()
    app.until_seen("Class means")
