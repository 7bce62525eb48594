"""Links, Python, exports: whoever gets them sees the same numbers."""

import json
import re
import subprocess
import sys
from urllib.parse import quote

import pandas as pd
import pytest

from tests.browser.conftest import SMALL


def run_python(code, folder):
    """Run a copied snippet as a user would; return the figures it prints by name."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr + code
    return {name: float(value) for name, value in re.findall(r"^(\w+ \w+) ([-+\d.e]+)$", done.stdout, re.M)}


def step(app):
    reached = app.iteration
    app.press("Step")
    app.until(lambda: app.iteration == reached + 1)
    app.until_settled()


def copied_python(app):
    app.press("Python")
    app.until_seen("This run in Python")
    app.press("Copy")
    app.until_seen("Code copied")
    code = app.evaluate("navigator.clipboard.readText()")
    assert code.strip() == app.page.get_by_label("Python code").text_content().strip()
    return code


def check_same_errors(app, printed):
    for name in ("train", "test"):
        if f"{name} MSE" in printed:
            assert app.number(f"{name} MSE") == pytest.approx(printed[f"{name} MSE"], rel=1e-3)
        elif f"{name} error" in printed:
            assert app.number(f"{name} error") == pytest.approx(100 * printed[f"{name} error"], abs=0.051)
    assert printed


def test_the_copied_snippet_repeats_a_run_with_changes(app, tmp_path):
    app.run_to(6)
    app.pause()
    said = app.nudge("Reconstruction share", times=25)
    app.until(lambda: f"method.beta={said}" in app.page.url)
    step(app)
    step(app)
    code = copied_python(app)
    assert "set_params(beta=" in code
    check_same_errors(app, run_python(code, tmp_path))


@pytest.mark.parametrize(
    "query",
    [
        "?data=iris&method=NSDR&labels=0.4&seed=3",
        "?data=diabetes&method=LSDR",
        "?data=digits_odd_even&method=PCASVM&test=0.5",
    ],
)
def test_the_copied_snippet_repeats_other_runs(open_app, tmp_path, query):
    app = open_app(query)
    app.until_settled(60)
    while app.iteration < 2 and app.chip != "finished":
        step(app)
    check_same_errors(app, run_python(copied_python(app), tmp_path))


def test_a_link_shows_the_same_numbers(app, open_app):
    app.choose("Method", "NSDR")
    app.until(lambda: "method=NSDR" in app.page.url)
    app.nudge("Points per arm", times=3)
    app.nudge("Margin weight", times=4)
    app.until_still(lambda: app.page.url, lambda url: "data.n_per_class" in url and "method.C" in url)
    app.until_settled()
    app.press("Share")
    app.until_seen("Share this run")
    link = app.page.get_by_label("Link", exact=True).first.input_value()
    app.press("Copy link")
    app.until_seen("Link copied")
    assert app.evaluate("navigator.clipboard.readText()") == link
    app.key("Escape")
    app.until(lambda: not app.sees("Share this run"))
    other = open_app(link[link.index("?") :])
    app.press("Reset")  # the other starts under the new settings, this page has to
    app.until(lambda: app.chip == "ready")
    app.until_settled()
    for page in (app, other):
        for _ in range(3):
            step(page)
        assert page.iteration == 3
    for name in ("objective", "train error", "test error"):
        assert other.number(name) == app.number(name)
    app.until(lambda: other.column("latent points", "x") == app.column("latent points", "x"))


def test_junk_in_a_link_falls_back_with_a_sentence(open_app):
    app = open_app("?data=spirals&data.noise=nan&method=NSDR&method.C=1e99&junk=%3Cscript%3E&seed=x&view.latent=9,9")
    app.until_seen("is unknown here and was ignored")
    app.until_seen("9,9")
    app.press("Step")
    app.until(lambda: app.iteration == 1)
    app.until(lambda: "junk" not in app.page.url)


def test_an_unknown_method_in_a_link_falls_back(open_app):
    app = open_app("?method=__import__&data=../../etc/passwd")
    app.until_seen("There is no method")
    app.until(lambda: "method=NSDR" in app.page.url)


def test_a_plot_is_saved_as_a_picture(app, tmp_path):
    app.run_to(5)
    app.pause()
    app.press("Export")
    starts = {"PNG": b"\x89PNG", "SVG": b"<svg"}
    for plot in ("Input space", "Losses"):
        app.choose("Plot", plot)
        for format, start in starts.items():
            with app.page.expect_download() as download:
                app.press(format)
            download.value.save_as(tmp_path / "plot")
            content = (tmp_path / "plot").read_bytes()
            assert start in content[:200]
            assert len(content) > 3000
            assert download.value.suggested_filename.endswith(format.lower())


def test_exports_and_loads_again(app, open_app, tmp_path):
    app.run_to(5)
    app.pause()
    app.press("Export")
    files = {}
    for name in ("Settings (JSON)", "Embedding (CSV)", "Losses (CSV)"):
        with app.page.expect_download() as download:
            app.press(name)
        files[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[name])
    embedding = pd.read_csv(files["Embedding (CSV)"])
    assert len(embedding) == 120
    assert {"row", "part", "label", "predicted", "z1", "z2"} <= set(embedding.columns)
    test_rows = embedding[embedding["part"] == "test"]
    assert 100 * (test_rows["label"] != test_rows["predicted"]).mean() == pytest.approx(
        app.number("test error"), abs=0.06
    )
    losses = pd.read_csv(files["Losses (CSV)"])
    assert losses["iteration"].iloc[-1] == app.iteration
    assert losses["objective"].iloc[-1] == pytest.approx(app.number("objective"), rel=1e-3)
    settings = json.loads(files["Settings (JSON)"].read_text())
    assert (settings["data"], settings["method"]) == ("spirals", "LSDR")

    other = open_app("?data=iris&method=LDA")
    other.press("Export")
    other.page.locator("input[type=file]").last.set_input_files(files["Settings (JSON)"])
    other.until_seen("are in use")
    other.until(lambda: "data=spirals" in other.page.url and "method=LSDR" in other.page.url)
    other.until(lambda: other.page.url.split("?")[1] == app.page.url.split("?")[1])
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[1, 2]")
    other.page.locator("input[type=file]").last.set_input_files(wrong)
    other.until_seen("holds no settings of the explorer")
    assert SMALL.split("&")[0] in other.page.url


def test_a_link_cannot_bring_markup_into_the_page(open_app):
    name = "<img src=x onerror='window.harmed=1'>"
    app = open_app(f"?data=openml&data.name={quote(name)}", wait=False)
    app.until_seen(f"Press Load under Data to fetch {name} from OpenML")
    assert app.evaluate("window.harmed") is None
