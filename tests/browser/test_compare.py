"""The compare page in a browser: columns in step, brushing, pointing, adding, removing, and the way to the explorer."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.axe import serious

DATA = "?data=moons&data.n_samples=100"
ENDLESS = "max_iter=5000"
TWO = f"{DATA}&method=LSDR&method.{ENDLESS}&method.tol=0&b=NSDR&b.{ENDLESS}&b.tol=0&b.C=5"
THREE = f"{TWO}&c=PCAProjection"


def rows(app):
    """The table as the page shows it: one list of texts per column."""
    table = app.page.locator("table:has(caption)").first.locator("tr")
    return [row.locator("th, td").all_text_contents() for row in table.all()[1:]]


def iterations(app):
    return [row[2] for row in rows(app)]


def titles(app):
    return [row[0] for row in rows(app)]


def query(app):
    return {name: values[-1] for name, values in parse_qs(urlsplit(app.page.url).query).items()}


def pointed_at(app, square):
    """The row that a square marks as the one under the pointer."""
    return app.evaluate("(name) => board(run_of(name)).group.hovered", square)


def point(app, column, row):
    """Move the pointer to a row of a column's input space."""
    x, y = app.places(f"{column} input")[row]
    app.page.mouse.move(*app.place(f"{column} input", x, y), steps=3)
    app.settle()
    return x, y


def test_columns_run_in_step_and_share_selection_and_pointer(open_app):
    app = open_app(THREE, page="compare")
    app.press("Run")
    expect(app.numbers_shown).to_contain_text(re.compile(r"iteration ([5-9]|\d\d)"))
    app.press("Pause").settle()
    reached = app.iteration
    assert app.chip == "paused"
    assert reached >= 5
    assert iterations(app)[:2] == [str(reached)] * 2
    assert re.match(rf"paused: A LSDR.* iteration {reached},.* B .* iteration {reached},", app.status)
    assert "test error" in app.status
    assert all(len(app.curve("objectives", letter)) > 5 for letter in "AB")
    for row in rows(app):
        assert re.fullmatch(r"[\d.]+ % [\d.]+ % [\d.]+", " ".join((*row[3:5], row[-2])))
    _first, second, third = rows(app)
    assert third[2] == ""  # a fit without iterations
    assert "support vectors" in second[-3]
    app.press("Step").settle()
    assert iterations(app)[:2] == [str(reached + 1)] * 2
    expect(app.page.get_by_role("group", name="Columns")).not_to_be_visible()  # the columns stand side by side

    app.lasso("A latent", 0.02, 0.02, 0.6, 0.7)
    chosen = app.selected("A latent")
    assert 0 < len(chosen) < 100
    for source in ("A input", "B latent", "B input", "C latent"):
        assert app.selected(source) == chosen
    x, y = point(app, "B", 7)
    pointed = pointed_at(app, "A latent")
    assert app.places("B input")[pointed] == pytest.approx([x, y], abs=0.15)
    assert pointed_at(app, "C input") == pointed
    app.page.mouse.move(5, 5)
    app.key("Escape").settle()
    assert app.selected("C input") == []

    places = [app.places(f"{letter} input") for letter in "ABC"]
    said = app.nudge("Noise", times=3)
    app.settle()
    assert query(app)["data.noise"] == said
    assert iterations(app)[:2] == ["0", "0"]
    first, *others = [app.places(f"{letter} input") for letter in "ABC"]
    assert first != places[0]
    assert others == [first, first]


@pytest.mark.slow
def test_a_run_of_the_explorer_joins_the_comparison_and_leaves_it_again(open_app):
    app = open_app(f"{DATA}&method=LSDR&method.beta=0.3")
    app.press("Add to comparison")
    app.until_url("/compare?")
    app.settle()
    assert len(rows(app)) == 1
    assert query(app)["method.beta"] == "0.3"
    app.page.get_by_role("link", name="Open column A in Explore").click()
    app.until_url("/explorer?")
    app.settle()
    assert {"method": "LSDR", "method.beta": "0.3", "data.n_samples": "100"}.items() <= query(app).items()
    app.choose("Method", "NSDR").settle()
    app.press("Add to comparison")
    app.until_url("/compare?")
    app.settle()
    assert titles(app) == ["A · LSDR", "B · NSDR"]
    assert query(app)["b"] == "NSDR"
    assert "add" not in query(app)
    app.open(f"{app.home}/explorer{DATA}&method=LDA")
    app.page.get_by_role("tab", name="Compare").click()  # and the comparison is still there
    app.until_url("/compare?")
    app.settle()
    assert titles(app) == ["A · LSDR", "B · NSDR"]


@pytest.mark.slow
def test_columns_are_added_changed_and_removed_in_the_page(open_app):
    app = open_app(TWO, page="compare")
    app.press("Step").settle()
    assert iterations(app) == ["1", "1"]
    app.choose("Method to add", "Kernel PCA")
    app.press("Add column").settle()
    assert app.focused == "page"  # the Space key adds no other
    assert rows(app)[2][4] != "–"
    assert query(app)["c"] == "KernelPCAProjection"
    assert iterations(app)[:2] == ["1", "1"]  # what was there goes on
    point(app, "C", 7)  # the pointer on a row of the new column
    assert pointed_at(app, "A latent points")
    app.page.get_by_role("button", name="B", exact=True).click()
    app.settle()
    assert app.slider("Margin weight").get_attribute("aria-valuetext") == "5"
    said = app.nudge("Margin weight", times=2)
    app.settle()
    assert query(app)["b.C"] == said
    assert f"Margin weight: {said}" in rows(app)[1][1]
    app.press("Remove").settle()
    assert titles(app) == ["A · LSDR", "B · Kernel PCA"]
    assert query(app)["b"] == "KernelPCAProjection"
    assert serious(app) == []


@pytest.mark.slow
def test_on_a_phone_everything_fits_and_keys_work(open_app):
    app = open_app(TWO, page="compare", phone=True)
    assert app.width <= 390
    assert 280 < app.evaluate("element('A latent').clientWidth") < 390
    app.key(" ").until_going()
    app.key(" ").settle()
    assert app.chip == "paused"
    app.key("r").settle()
    assert iterations(app) == ["0", "0"]


@pytest.mark.slow
def test_on_a_phone_a_strip_compares_the_columns_and_leads_to_each(open_app):
    app = open_app(
        f"{DATA}&data.noise=0.3&method=PCAProjection&b=LDA&c=KernelPCAProjection", page="compare", phone=True
    )
    app.settle()
    strip = app.page.get_by_role("group", name="Columns").get_by_role("button")
    errors = [row[3] for row in rows(app)]
    assert [re.search(r"[\d.]+ %", text)[0] for text in strip.all_text_contents()] == errors
    best = min(float(error.split()[0]) for error in errors)
    for button, error in zip(strip.all(), errors):
        assert ("best" in button.text_content()) == (float(error.split()[0]) == best)
        box = button.bounding_box()
        assert box["height"] >= 44
        assert box["y"] + box["height"] < 350
    last = strip.last
    last.focus()
    last.press("Enter")
    heading = app.page.get_by_role("heading", name="Kernel PCA")
    expect(heading).to_be_focused()
    app.settle()
    top = heading.bounding_box()["y"]
    assert 40 < top < 200  # in sight, below the bar at the window's top
    assert serious(app) == []


@pytest.mark.slow
def test_both_maps_of_a_column_begin_at_one_edge(open_app):
    app = open_app("?data=xor&data.n_samples=100&data.n_noise_features=3&method=PCAProjection", page="compare")
    assert app.shown("A input", "axis_words") != ["", ""]
    lefts = [app.evaluate("(name) => square(name).frame.left", f"A {view}") for view in ("latent", "input")]
    assert lefts[0] == lefts[1]


@pytest.mark.slow
def test_the_whole_table_is_in_sight(open_app):
    app = open_app(
        f"{DATA}&method=PCAProjection&b=LSDR&b.max_iter=3&c=NSDR&c.max_iter=3&d=MAC&d.max_iter=3", page="compare"
    )
    app.press("Run").settle()
    assert "basis functions" in rows(app)[3][-3]
    assert len(rows(app)[0]) >= 12  # how true the maps are is measured
    region = app.page.get_by_role("region", name="Results")
    for width in (1440, 1280):
        app.resize(width, 900)
        app.settle()
        assert region.evaluate("(each) => each.scrollWidth - each.clientWidth") <= 0
    app.open(f"{app.home}/compare?data=xor&method=PCAProjection&b=LSDR&c=NSDR&d=MAC")
    app.resize(1440, 900)
    app.press("Step").settle()
    head, *lines = region.locator("tr").all()
    assert head.bounding_box()["height"] < 45  # no title takes three lines
    assert "support vectors" in lines[-1].text_content()
    assert all(line.bounding_box()["height"] < 26 for line in lines)  # one line each
    last = lines[-1].bounding_box()
    assert last["y"] + last["height"] <= 900
