"""Links, Python, exports: whoever gets them sees the same numbers."""

import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from playwright.sync_api import expect

from supdr_viz.export.film import GAP, HEAD, SIDE
from supdr_viz.lessons import LESSONS
from tests.browser.app import AT_REST
from tests.browser.axe import findings
from tests.browser.conftest import SMALL

LESSON = LESSONS["1-why-supervise"]
SVG = "{http://www.w3.org/2000/svg}"


def run_python(code, folder):
    """Run a copied snippet as a user would; return the figures it prints by name."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr + code
    return {name: float(value) for name, value in re.findall(r"^(\w+ \w+) ([-+\d.e]+)$", done.stdout, re.M)}


@pytest.mark.slow
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


@pytest.mark.slow
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
        assert page.settle().stands == ("ready", 0)  # visitors are on their own
        page.press("Step").press("Step").settle()
        assert page.stands == ("paused", 2)
    for name in ("objective", "train error", "test error"):
        assert other.number(name) == app.number(name)
    assert other.places("latent") == app.places("latent")


def test_everything_is_saved_and_settings_are_loaded_again(app, tmp_path):
    app.press("Step").press("Step").settle()
    app.press("Export")
    starts = {"PNG": b"\x89PNG", "SVG": b"<svg"}
    for plot in ("Input space", "Losses"):
        app.choose("Plot", plot)
        for format, start in starts.items():
            file = app.save(format, tmp_path)
            assert file.suffix == f".{format.lower()}"
            assert start in file.read_bytes()[:200]
            assert file.stat().st_size > 2000
    with Image.open(tmp_path / "supdr-losses.png") as image:
        assert image.width >= 2 * app.box("losses")["width"]
    strokes = {path.get("stroke") for path in ElementTree.parse(file).getroot().findall(f".//{SVG}path")}
    assert strokes >= set(app.evaluate("chart('losses').tree.lines.map((line) => line.colours[0])"))
    app.choose("Plot", "Latent space")
    file = app.save("SVG", tmp_path)
    assert file.name == "supdr-latent.svg"
    drawing = ElementTree.parse(file).getroot()
    visible = app.evaluate("square('latent').places.filter(Number.isFinite).length / 2")
    assert len(drawing.findall(f".//{SVG}path")) >= visible == 120  # every row
    assert re.fullmatch(r"\d+", drawing.get("width"))
    words = {text.text for text in drawing.iter(f"{SVG}text")}
    assert words >= {"Latent space", "arm 1", "arm 2", "test"}
    embedding = pd.read_csv(app.save("Embedding (CSV)", tmp_path))
    assert len(embedding) == 120
    assert {"row", "split", "label", "predicted", "z1", "z2"} <= set(embedding.columns)
    test_rows = embedding[embedding["split"] == "test"]
    wrong = 100 * (test_rows["label"] != test_rows["predicted"]).mean()
    assert wrong == pytest.approx(app.number("test error"), abs=0.06)
    losses = pd.read_csv(app.save("Losses (CSV)", tmp_path))
    assert losses["iteration"].iloc[-1] == app.iteration
    assert losses["objective"].iloc[-1] == pytest.approx(app.number("objective"), rel=1e-3)
    file = app.save("Settings (JSON)", tmp_path)
    settings = json.loads(file.read_text())
    assert (settings["data"], settings["method"]) == ("spirals", "LSDR")
    app.close_dialog()
    address = app.page.url
    app.choose("Data set", "Iris").choose("Method", "LDA").settle()
    assert "data=iris&method=LDA" in app.page.url
    app.press("Export")
    app.until_seen("Settings (JSON)")
    app.choose_file(file)
    app.until_seen("are in use")
    app.settle()
    assert app.page.url == address
    assert SMALL.split("&")[0] in address


def open_without_network(app, file):
    """Open a file from disk while the network is off."""
    app.page.goto("about:blank")  # what the page before still loads is not missed
    app.page.context.set_offline(True)
    app.open(file.as_uri())
    app.requests.clear()


def back_on_line(app):
    assert not [url for url in app.requests if not url.startswith(("file:", "data:", "blob:"))]
    app.page.context.set_offline(False)


def shot(page, selector):
    page.evaluate(AT_REST)
    return page.locator(selector).screenshot()


def latent_of(film, number):
    """The latent space in a picture of a film."""
    film.seek(number)
    left = 2 * GAP + SIDE
    return film.convert("RGB").crop((left, HEAD, left + SIDE, HEAD + SIDE))


def away(picture, png):
    """How far the colours of a picture are from those of another, of 255."""
    with Image.open(io.BytesIO(png)) as image:
        other = np.asarray(image.convert("RGB").resize(picture.size), dtype=float)
    return np.abs(np.asarray(picture, dtype=float) - other).mean()


DASH_OF_THE_FIRST_LINE = """(dash) => {
  supdrStage.boards.get("film").tree.charts.losses.lines[0].dash = dash
}"""


@pytest.mark.slow
def test_report_and_film_of_a_run(open_app, tmp_path):
    app = open_app("?data=spirals&data.n_per_class=30&method=LSDR&method.max_iter=12&method.tol=0&speed=fast")
    app.press("Run").settle()
    assert app.stands == ("finished", 12)
    objective, error = app.number("objective"), app.number("test error")
    app.press("Export")
    report = app.save("Report (HTML)", tmp_path)
    with Image.open(app.save("Film (GIF)", tmp_path)) as image:
        assert image.n_frames == 13
        filmed = [latent_of(image, number) for number in (0, 12)]
    open_without_network(app, report)
    page = app.page
    page.emulate_media(reduced_motion="no-preference")
    said = page.locator("#numbers")
    expect(said).to_contain_text(f"iteration 12 · objective {objective:.4g}")
    assert f"test error {error:g} %" in said.text_content()
    key = page.locator("#keys .key i").first
    slider = page.get_by_role("slider", name="Iteration")
    slider.press("Home")
    patterns = {}
    for dash, scheme in zip(("dashed", "dotted", "dotdash", "solid"), ("dark", "light") * 2):
        page.evaluate(DASH_OF_THE_FIRST_LINE, dash)
        page.emulate_media(color_scheme=scheme)  # then the legend is drawn anew
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
        patterns[dash] = key.evaluate("(mark) => getComputedStyle(mark).backgroundImage")
    slider.press("End")
    assert patterns.pop("solid") == "none"
    assert len(set(patterns.values())) == 3  # a key has the pattern of its line
    end, reconstructed = shot(page, "#latent"), shot(page, "#method")
    other, same = (away(each, end) for each in filmed)
    assert same < 0.3 * other  # the film shows what the page shows
    assert page.get_by_text("Reconstruction: lines lead to the originals").is_visible()
    assert page.get_by_text("error of reconstruction").is_visible()
    slider.press("Home")
    expect(said).to_contain_text("iteration 0 ")
    assert shot(page, "#latent") != end
    assert shot(page, "#method") != reconstructed
    page.get_by_role("button", name="Play").click()
    page.get_by_text("iteration 12").wait_for()
    assert shot(page, "#latent") == end
    assert "model" in page.get_by_label("Python code").text_content()
    assert findings(page) == []
    back_on_line(app)


@pytest.mark.slow
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
    expect(slider).to_be_disabled()
    page.get_by_role("button", name="Next").click()
    assert page.get_by_role("heading", name=second.title).is_visible()
    assert not page.get_by_role("heading", name=first.title).is_visible()
    expect(said).to_contain_text("iteration 0 ")
    assert not page.get_by_text("We measured").first.is_visible()
    page.get_by_role("button", name="Show answer").click()
    assert page.get_by_text("The answer is 1. In some runs.").is_visible()
    expect(said).to_contain_text(f"iteration {second.until} ")  # without motion: the end at once
    end = shot(page, "#latent")
    slider.press("Home")
    expect(said).to_contain_text("iteration 0 ")
    assert shot(page, "#latent") != end
    page.keyboard.press("PageDown")
    assert page.url.endswith("#3")
    assert page.get_by_role("heading", name=third.title).is_visible()
    page.keyboard.press(str(third.question.answer + 1))
    assert page.get_by_text("Right.", exact=True).is_visible()
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


@pytest.mark.slow
def test_a_class_follows_a_run(app):
    app.press("Share").press("Open a link for students")
    app.until_seen("No one is watching yet.")
    link = app.page.get_by_label("Link for students").input_value()
    app.close_dialog()
    problems = []
    page = app.page.context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(link)
    expect(page.locator("#said")).to_be_hidden()
    app.press("Step").press("Step").settle()
    status = page.locator("[data-slot='words/status'] .status")
    expect(status).to_have_text(app.page.locator(".status").text_content())
    expect(status).to_contain_text("iteration 2")
    places = "(board) => Array.from(board.tree.planes.latent.place.levels)"
    theirs = page.evaluate(f"({places})([...supdrStage.boards.values()][0])")
    assert theirs == app.evaluate(f"({places})([...supdrStage.boards.values()][0])")
    assert not findings(page)
    own = page.get_by_text("Open my own copy")
    expect(own).to_have_attribute("href", re.compile(r"explorer\?data=.*&iteration=2$"))
    app.press("Share · 1").press("End the link for students")
    expect(page.locator("#said")).to_have_text("The run is not shown any more.")
    page.close()
    assert not problems
