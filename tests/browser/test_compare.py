"""The compare page in a browser: add columns, run them in step, brush, open one in the explorer, bad input."""

import json
import re
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import pytest

DATA = "?data=moons&data.n_samples=100"
ENDLESS = "max_iter=5000"
TWO = f"{DATA}&method=LSDR&method.{ENDLESS}&method.tol=0&b=NSDR&b.{ENDLESS}&b.tol=0&b.C=5"
THREE = f"{TWO}&c=PCAProjection"


def rows(app):
    """The table as the page shows it: one list of texts per column."""
    return app.evaluate(
        """() => {
          const all = (root) => [...root.querySelectorAll("*")].flatMap(
            (e) => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e])
          const table = all(document).find((e) => e.matches("table") && e.caption)
          return table ? [...table.rows].slice(1).map((row) => [...row.cells].map((cell) => cell.textContent)) : []
        }"""
    )


def iterations(app):
    return [row[2] for row in rows(app)]


def titles(app):
    return [row[0] for row in rows(app)]


def told(app):
    """The iteration at which the first two columns stand, as it is read out; None while they are not level."""
    found = re.match(r"paused: A .* iteration (\d+),.* B .* iteration (\d+),", app.status)
    return found.group(1) if found and found.group(1) == found.group(2) else None


def query(app):
    return {name: values[-1] for name, values in parse_qs(urlsplit(app.page.url).query).items()}


def lasso(app, figure):
    """Draw a loop around the left upper part of a figure."""
    box = app.evaluate(
        """(f) => {
          const box = Bokeh.index.find_one(named(f)).el.getBoundingClientRect()
          return [box.x, box.y, box.width, box.height]
        }""",
        figure,
    )
    places = [
        (box[0] + box[2] * x, box[1] + box[3] * y)
        for x, y in ((0.02, 0.02), (0.6, 0.02), (0.6, 0.7), (0.02, 0.7), (0.02, 0.02))
    ]
    app.page.mouse.move(*places[0])
    app.page.mouse.down()
    for place in places[1:]:
        app.page.mouse.move(*place, steps=8)
    app.page.mouse.up()


def selected(app, source):
    return app.evaluate("(s) => Array.from(named(s).selected.indices)", source)


@pytest.fixture
def compared(open_app):
    return open_app(THREE, page="compare")


def test_columns_run_in_step_and_stand_level_when_paused(compared):
    compared.press("Run")
    compared.until(lambda: (compared.iteration or 0) >= 5)
    compared.press("Pause")
    compared.until(lambda: compared.chip == "paused")
    standing = compared.until(lambda: told(compared), what="not level")
    compared.until(lambda: iterations(compared)[:2] == [standing] * 2)
    compared.until(lambda: max(compared.column("objective curves", "iteration")) >= 5, what="no objectives")
    assert int(standing) >= 5

    def errors_and_times_are_known():
        return all(re.fullmatch(r"[\d.]+ % [\d.]+ % [\d.]+", " ".join((*row[3:5], row[6]))) for row in rows(compared))

    compared.until(errors_and_times_are_known)
    _first, second, third = rows(compared)
    assert third[2] == ""  # a fit without iterations
    assert "support vectors" in second[5]
    compared.until(lambda: "A LSDR" in compared.status and "test error" in compared.status)
    after = str(int(standing) + 1)
    compared.press("Step")
    compared.until(lambda: iterations(compared)[:2] == [after] * 2)
    compared.until(lambda: told(compared) == after)
    compared.press("Reset")
    compared.until(lambda: iterations(compared)[:2] == ["0", "0"])


def test_brushing_and_pointing_reach_all_columns(compared):
    lasso(compared, "A latent")
    chosen = compared.until_still(lambda: selected(compared, "A latent points"), lambda rows: 0 < len(rows) < 100)
    for source in ("A input points", "B latent points", "B input points", "C latent points"):
        compared.until(lambda s=source: selected(compared, s) == chosen, what=source)
    x, y = (compared.column("B input points", name)[7] for name in "xy")
    compared.page.mouse.move(*compared.place("B input", x, y))
    pointed = compared.until(lambda: compared.evaluate("Array.from(named('A latent points').inspected.indices)"))
    where = [[compared.column("B input points", name)[row] for name in "xy"] for row in pointed[:1]]
    assert where[0] == pytest.approx([x, y], abs=0.15)
    compared.until(lambda: compared.evaluate("Array.from(named('C input points').inspected.indices)") == pointed)
    compared.page.mouse.move(5, 5)
    compared.key("Escape")
    compared.until(lambda: selected(compared, "C input points") == [])


def test_a_run_of_the_explorer_joins_the_comparison_and_leaves_it_again(open_app):
    app = open_app(f"{DATA}&method=LSDR&method.beta=0.3")
    app.press("Add to comparison")
    app.page.wait_for_url("**/compare?**")
    app.until(lambda: len(rows(app)) == 1 and query(app).get("method.beta") == "0.3")
    app.page.go_back()
    app.wait_until_ready()
    app.choose("Method", "NSDR")
    app.press("Add to comparison")
    app.page.wait_for_url("**/compare?**")
    app.until(lambda: titles(app) == ["A · LSDR", "B · NSDR"])
    app.until(lambda: query(app).get("b") == "NSDR" and "add" not in query(app))
    app.page.get_by_role("link", name="Open column A in the explorer").click()
    app.page.wait_for_url("**/explorer?**")
    app.wait_until_ready()
    expected = {"method": "LSDR", "method.beta": "0.3", "data.n_samples": "100"}
    app.until(lambda: expected.items() <= query(app).items())
    app.page.get_by_role("tab", name="Compare").click()  # and the comparison is still there
    app.page.wait_for_url("**/compare?**")
    app.until(lambda: titles(app) == ["A · LSDR", "B · NSDR"])


def test_columns_are_added_changed_and_removed_in_the_page(open_app):
    app = open_app(TWO, page="compare")
    app.press("Step")
    app.until(lambda: iterations(app) == ["1", "1"])
    app.choose("Method to add", "Kernel PCA")
    app.press("Add column")
    app.until(lambda: len(rows(app)) == 3 and rows(app)[2][4] != "–")
    app.until(lambda: query(app).get("c") == "KernelPCAProjection")
    assert iterations(app)[:2] == ["1", "1"]  # what was there goes on

    def marked_in_the_first():
        app.page.mouse.move(5, 5)
        x, y = (app.column("C input points", name)[7] for name in "xy")
        app.page.mouse.move(*app.place("C input", x, y), steps=3)
        app.page.wait_for_timeout(300)
        return app.evaluate("Array.from(named('A latent points').inspected.indices)")

    app.until(marked_in_the_first)  # the pointer on a row of the new column
    app.page.get_by_role("button", name="B", exact=True).click()
    app.until(lambda: app.slider("Margin weight").get_attribute("aria-valuetext") == "5")
    app.slide("Margin weight", "10")
    app.until(lambda: query(app).get("b.C") == "10")
    app.until(lambda: "Margin weight C 10" in rows(app)[1][1])
    app.press("Remove")
    app.until(lambda: titles(app) == ["A · LSDR", "B · Kernel PCA"])
    app.until(lambda: query(app).get("b") == "KernelPCAProjection")
    app.press("by time")
    app.until(lambda: query(app).get("lockstep") == "time")
    app.press("Run")
    app.until(lambda: int(iterations(app)[0]) > 3)


def test_an_example_fills_the_page_and_is_left_by_the_first_change(open_app):
    app = open_app(page="compare")
    app.until_seen("Four squares, four methods")
    app.choose("Example", "MAC, Fig. 6: λ = 0.1")
    app.until_seen("Two steps")
    app.until_seen("three ways down")
    app.press("Run")
    app.until_seen("lower bound")
    app.press("Remove")
    app.until_seen("own settings")
    app.until(lambda: not app.sees("three ways down"))


def test_changed_data_change_for_all(compared):
    def positions():
        return [compared.column(f"{letter} input points", "x") for letter in "ABC"]

    before = positions()
    said = compared.nudge("Noise", times=3)
    compared.until(lambda: query(compared).get("data.noise") == said)
    compared.until(lambda: iterations(compared)[:2] == ["0", "0"])
    first, *others = compared.until_still(positions, lambda now: now[0] != before[0])
    assert others == [first, first]


def test_what_does_not_fit_says_so_in_its_column_only(open_app):
    app = open_app("?data=diabetes&method=SNF&b=NSDR&c=ElasticNet", page="compare")
    app.until_seen("NSDR predicts classes")
    app.until(lambda: "cannot run" in [row[-1] for row in rows(app)[1:2]])
    app.press("Step")
    app.until(lambda: iterations(app)[:1] == ["1"])
    app.until_seen("Test R²")
    app.until(lambda: re.fullmatch(r"-?0\.\d+", rows(app)[2][6]), what="no R²")


def test_a_bad_address_is_said_and_survived(open_app):
    app = open_app(f"{TWO}&b.C=lots&c=<script>alert(1)</script>&lockstep=moon", page="compare")
    app.until_seen("Column B: Margin weight must be a number")
    app.until_seen("There is no method")
    app.until_seen("must be one of iteration, time")
    app.press("Step")
    app.until(lambda: iterations(app)[:2] == ["1", "1"])


def test_data_that_are_not_at_hand_are_asked_for(open_app):
    app = open_app("?data=file&data.name=mine.csv&method=LDA&b=NSDR", page="compare", wait=False)
    app.until_seen("mine.csv")
    app.until(lambda: app.button("Run").is_disabled())
    app.choose("Data set", "Iris")
    app.until(lambda: len(rows(app)) == 2 and rows(app)[0][4] not in ("–", ""))


def test_on_a_phone_everything_fits_and_keys_work(open_app):
    app = open_app(TWO, page="compare", phone=True)
    app.until(lambda: app.evaluate("document.documentElement.scrollWidth <= innerWidth"))
    app.until(lambda: 280 < app.evaluate("Bokeh.index.find_one(named('A latent')).el.clientWidth") < 390)
    app.key(" ")
    app.until(lambda: (app.iteration or 0) >= 2)
    app.key(" ")
    app.until(lambda: app.chip == "paused")
    app.key("r")
    app.until(lambda: iterations(app) == ["0", "0"])


def test_closing_the_page_ends_its_runs(open_app, server):
    app = open_app(THREE, page="compare")
    app.press("Run")
    app.until(lambda: (app.iteration or 0) >= 2)

    def jobs():
        with urllib.request.urlopen(f"{server.url}/counts") as answer:
            return json.load(answer)["jobs"]

    app.until(lambda: jobs() >= 3)
    app.context.close()
    end = time.monotonic() + 40
    while jobs() and time.monotonic() < end:
        time.sleep(0.3)
    assert jobs() == 0


def test_a_crowd_shares_no_models(server):
    known = len(server.errors)

    def visit(_):
        with urllib.request.urlopen(f"{server.url}/compare{TWO}", timeout=60) as answer:
            return answer.status

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(visit, range(8))) == {200}
    assert not server.errors[known:]
