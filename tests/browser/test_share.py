"""Links, Python, exports: whoever gets them sees the same numbers."""

import json
import re
import subprocess
import sys
from urllib.parse import quote

import pandas as pd
import pytest
from PIL import Image

from supdr_viz.lessons import LESSONS
from tests.browser.axe import findings
from tests.browser.conftest import SMALL

LESSON = LESSONS["1-why-supervise"]


def run_python(code, folder):
    """Run a copied snippet as a user would; return the figures it prints by name."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr + code
    return {name: float(value) for name, value in re.findall(r"^(\w+ \w+) ([-+\d.e]+)$", done.stdout, re.M)}


def test_the_copied_snippet_repeats_a_run_with_changes(app, tmp_path):
    for _ in range(3):
        app.press("Step")
    said = app.nudge("Reconstruction share", times=25)
    app.settle()
    assert f"method.beta={said}" in app.page.url
    app.press("Step").press("Step").settle()
    assert app.iteration == 5
    app.press("Python")
    app.until_seen("This run in Python")
    app.press("Copy")
    app.until_seen("Code copied")
    code = app.evaluate("navigator.clipboard.readText()")
    assert code.strip() == app.page.get_by_label("Python code").text_content().strip()
    assert "set_params(beta=" in code
    printed = run_python(code, tmp_path)
    for name in ("train error", "test error"):
        assert app.number(name) == pytest.approx(100 * printed[name], abs=0.051)


def test_a_link_shows_the_same_numbers(app, open_app):
    app.choose("Method", "NSDR").settle()
    app.nudge("Points per arm", times=3)
    app.nudge("Margin weight", times=4)
    app.settle()
    for setting in ("method=NSDR", "data.n_per_class", "method.C"):
        assert setting in app.page.url
    app.press("Share")
    app.until_seen("Share this run")
    link = app.page.get_by_label("Link", exact=True).first.input_value()
    app.press("Copy link")
    app.until_seen("Link copied")
    assert app.evaluate("navigator.clipboard.readText()") == link
    app.close_dialog()
    app.press("Reset").settle()  # the other starts under the new settings, this page has to
    other = open_app(link[link.index("?") :])
    for page in (app, other):
        page.press("Step").press("Step").settle()
        assert page.stands == ("paused", 2)
    for name in ("objective", "train error", "test error"):
        assert other.number(name) == app.number(name)
    assert other.column("latent points", "x") == app.column("latent points", "x")


def test_everything_is_saved_and_settings_are_loaded_again(app, open_app, tmp_path):
    app.press("Step").press("Step").settle()
    app.press("Export")
    starts = {"PNG": b"\x89PNG", "SVG": b"<svg"}
    for plot in ("Input space", "Losses"):
        app.choose("Plot", plot)
        for format, start in starts.items():
            file = app.save(format, tmp_path)
            assert file.suffix == f".{format.lower()}"
            assert start in file.read_bytes()[:200]
            assert file.stat().st_size > 3000
    embedding = pd.read_csv(app.save("Embedding (CSV)", tmp_path))
    assert len(embedding) == 120
    assert {"row", "part", "label", "predicted", "z1", "z2"} <= set(embedding.columns)
    test_rows = embedding[embedding["part"] == "test"]
    wrong = 100 * (test_rows["label"] != test_rows["predicted"]).mean()
    assert wrong == pytest.approx(app.number("test error"), abs=0.06)
    losses = pd.read_csv(app.save("Losses (CSV)", tmp_path))
    assert losses["iteration"].iloc[-1] == app.iteration
    assert losses["objective"].iloc[-1] == pytest.approx(app.number("objective"), rel=1e-3)
    file = app.save("Settings (JSON)", tmp_path)
    settings = json.loads(file.read_text())
    assert (settings["data"], settings["method"]) == ("spirals", "LSDR")

    other = open_app("?data=iris&method=LDA")
    other.press("Export")
    other.until_seen("Settings (JSON)")
    other.choose_file(file)
    other.until_seen("are in use")
    other.settle()
    assert other.page.url.split("?")[1] == app.page.url.split("?")[1]
    assert SMALL.split("&")[0] in other.page.url


def test_a_link_cannot_bring_markup_into_the_page(open_app):
    name = "<img src=x onerror='window.harmed=1'>"
    app = open_app(f"?data=openml&data.name={quote(name)}")
    assert app.sees(f"Press Load under Data to fetch {name} from OpenML")
    assert app.evaluate("window.harmed") is None


def open_without_network(app, file):
    """Open a file from disk while the network is off."""
    app.page.context.set_offline(True)
    app.open(file.as_uri())
    app.requests.clear()


def back_on_line(app):
    assert not [url for url in app.requests if not url.startswith(("file:", "data:", "blob:"))]
    app.page.context.set_offline(False)


# The files draw with the next frame of the browser.
NEXT_FRAME = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def shot(page, selector):
    page.evaluate(NEXT_FRAME)
    return page.locator(selector).screenshot()


def test_report_and_film_of_a_run(open_app, tmp_path):
    app = open_app("?data=spirals&data.n_per_class=30&method=LSDR&method.max_iter=12&method.tol=0&speed=fast")
    app.press("Run").settle()
    assert app.stands == ("finished", 12)
    objective, error = app.number("objective"), app.number("test error")
    app.press("Export")
    report = app.save("Report (HTML)", tmp_path)
    with Image.open(app.save("Film (GIF)", tmp_path)) as image:
        assert image.n_frames == 13
    open_without_network(app, report)
    page = app.page
    page.emulate_media(reduced_motion="no-preference")
    said = page.locator("#numbers")
    assert f"iteration 12 · objective {objective:.4g}" in said.text_content()
    assert f"test error {error:g} %" in said.text_content()
    end, reconstructed = shot(page, "#latent"), shot(page, "#method")
    assert page.get_by_text("Reconstruction: faint: original").is_visible()
    assert page.get_by_text("error of reconstruction").is_visible()
    page.get_by_role("slider", name="Iteration").press("Home")
    assert said.text_content().startswith("iteration 0 ")
    assert shot(page, "#latent") != end
    assert shot(page, "#method") != reconstructed
    page.get_by_role("button", name="Play").click()
    page.get_by_text("iteration 12").wait_for()
    assert shot(page, "#latent") == end
    assert "model" in page.get_by_label("Python code").text_content()
    assert findings(page) == []
    back_on_line(app)


def test_a_lesson_from_disk(open_app, tmp_path):
    app = open_app(page="lessons")
    app.press("Export")
    file = app.save("Lesson (HTML)", tmp_path)
    app.resize(390, 844)
    open_without_network(app, file)
    page = app.page
    said, slider = page.locator("#numbers"), page.get_by_role("slider", name="Iteration")
    first, second, third = LESSON.steps[:3]
    assert page.get_by_role("heading", name=first.title).is_visible()
    assert not page.get_by_text(second.title).is_visible()
    assert slider.is_disabled()
    page.get_by_role("button", name="Next").click()
    assert page.get_by_role("heading", name=second.title).is_visible()
    assert not page.get_by_role("heading", name=first.title).is_visible()
    assert said.text_content().startswith("iteration 0 ")
    assert not page.get_by_text("We measured").first.is_visible()
    page.get_by_role("button", name="Show answer").click()
    assert page.get_by_text("The answer is 2. In some runs.").is_visible()
    assert said.text_content().startswith(f"iteration {second.until} ")  # without motion: the end at once
    end = shot(page, "#latent")
    slider.press("Home")
    assert said.text_content().startswith("iteration 0 ")
    assert shot(page, "#latent") != end
    page.keyboard.press("PageDown")
    assert page.url.endswith("#3")
    assert page.get_by_role("heading", name=third.title).is_visible()
    page.keyboard.press(str(third.question.answer + 1))
    assert page.get_by_text("Yes.", exact=True).is_visible()
    for _ in LESSON.steps:
        page.keyboard.press("PageDown")
        page.keyboard.press("1")
    assert page.get_by_role("heading", name=LESSON.steps[-1].title).is_visible()
    assert page.get_by_role("button", name="Next").is_disabled()
    assert page.locator("#method-card").is_visible()
    page.keyboard.press("PageUp")
    assert page.get_by_role("heading", name=LESSON.steps[-2].title).is_visible()
    assert app.width <= 390
    assert findings(page) == []
    back_on_line(app)
