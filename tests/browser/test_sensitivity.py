"""The page of sweeps in a real browser: it fills, pauses, resumes, says what it knows, and leads to the explorer."""

import re
from pathlib import Path

import pytest

SWEEP = (
    "?data=moons&data.n_samples=60&method=LSDR&method.max_iter=40&method.tol=0&seed={seed}"
    "&sweep.x=reg_u:log:0.001:10:5&sweep.y=beta:list:0.1,0.5,0.9&sweep.folds=3"
)


@pytest.fixture
def open_page(server, chromium):
    """Open the page of sweeps; any error in its console or in the server's log fails the test."""
    opened, known = [], len(server.errors)

    def open_(query, **options):
        from tests.browser.app import App

        options = {"viewport": {"width": 1440, "height": 900}, **options}
        context = chromium.new_context(accept_downloads=True, **options)
        app = App(context, f"{server.url}/sensitivity{query}")
        opened.append(app)
        app.page.wait_for_selector(".chip")
        app.page.wait_for_function("window.Bokeh && Bokeh.documents.length && Bokeh.index.find_one(named('heatmap'))")
        return app

    yield open_
    problems = [problem for app in opened for problem in app.problems]
    for app in opened:
        app.close()
    assert not problems, "errors in the browser:\n" + "\n".join(problems)
    assert not server.errors[known:], "errors in the server's log:\n" + "\n\n".join(server.errors[known:])


def values(app):
    return [value for value in app.column("sweep cells", "value") if isinstance(value, float) and value == value]


def test_a_sweep_fills_and_leads_to_the_explorer(open_page):
    app = open_page(SWEEP.format(seed=1))
    app.until(lambda: app.chip == "ready")
    assert not values(app)
    app.page.get_by_role("button", name="Run", exact=True).click()
    app.until(lambda: app.chip == "finished", 120)
    app.until(lambda: len(values(app)) == 15)
    app.until(lambda: app.numbers.startswith("45 of 45 fits"))
    app.until(lambda: "15 of 15 cells" in app.status)
    app.until_seen("hence optimistic")
    app.until(lambda: [len(app.column(f"sweep curve {k}", "mean")) for k in (0, 1)] == [5, 3])
    x, y = app.evaluate("place('heatmap', 2, 1)")
    app.page.mouse.move(x, y)
    app.until(lambda: app.sees("ended:"), 10)
    with app.context.expect_page() as opened:
        app.page.mouse.click(x, y)
    opened.value.wait_for_url("**/explorer?**", wait_until="commit")
    query = opened.value.url
    assert "method=LSDR" in query
    assert "method.beta=0.5" in query
    assert "test=0.333" in query
    with app.page.expect_download() as csv:
        app.page.get_by_role("button", name="CSV").click()
    lines = Path(csv.value.path()).read_text().splitlines()
    assert lines[0].startswith("reg_u,beta,error,error sd")
    assert len(lines) == 16
    with app.page.expect_download() as png:
        app.page.get_by_role("button", name="PNG").click()
    assert Path(png.value.path()).read_bytes().startswith(b"\x89PNG")


def test_a_finished_sweep_is_known_to_whoever_opens_its_link(open_page):
    first = open_page(SWEEP.format(seed=1))
    first.page.get_by_role("button", name="Run", exact=True).click()
    first.until(lambda: first.chip == "finished", 120)
    second = open_page(SWEEP.format(seed=1))
    second.page.get_by_role("button", name="Run", exact=True).click()
    second.until(lambda: second.chip == "finished", 30)
    second.until(lambda: "45 known from before" in second.numbers)


def test_pause_resume_and_cancel(open_page):
    slow = SWEEP.format(seed=2).replace("max_iter=40", "max_iter=4000").replace("n_samples=60", "n_samples=600")
    app = open_page(slow)
    app.page.get_by_role("button", name="Run", exact=True).click()
    app.until(lambda: re.match(r"[1-9]\d* of 45", app.numbers), 60)
    app.page.get_by_role("button", name="Pause", exact=True).click()
    app.until(lambda: app.chip == "paused")
    done = app.until_still(lambda: app.numbers, seconds=180, pause=5.0)  # what workers had begun is finished
    app.page.wait_for_timeout(1500)
    assert app.numbers == done
    app.page.get_by_role("button", name="Resume", exact=True).click()
    app.until(lambda: app.chip == "running")
    app.page.get_by_role("button", name="Cancel", exact=True).click()
    app.until(lambda: app.chip == "cancelled", 60)
    app.page.get_by_role("button", name="Run", exact=True).click()
    app.until(lambda: "known from before" in app.numbers, 30)
    app.page.get_by_role("button", name="Cancel", exact=True).click()


def test_wrong_ranges_are_said_and_the_old_ones_stay(open_page):
    app = open_page(SWEEP.format(seed=3))
    field = app.page.get_by_label("From", exact=True).first
    field.fill("nonsense")
    field.press("Enter")
    app.until(lambda: app.sees("Type numbers"))
    assert len(app.column("sweep cells", "x")) == 15

    def taken():
        field.fill("0.1")
        field.press("Enter")
        app.page.wait_for_timeout(700)
        return "reg_u:log:0.1:10:5" in app.page.url

    app.until(taken)
    odd = open_page("?data=moons&method=NSDR&sweep.x=wings:log:1:2:3&sweep.metric=glory")
    odd.until(lambda: odd.sees("is not a parameter of NSDR"))


def test_data_that_must_be_loaded_are_asked_for(open_page):
    app = open_page("?data=openml&data.name=336&method=NSDR")
    app.until(lambda: app.sees("Press Load"))
    app.until(lambda: app.page.get_by_role("button", name="Run", exact=True).is_disabled())


def test_the_page_on_a_phone(open_page):
    from tests.browser.conftest import PHONE

    app = open_page(SWEEP.format(seed=1), **PHONE)
    app.until(lambda: app.evaluate("document.documentElement.scrollWidth") <= 390)
    app.until(lambda: app.chip == "ready")
