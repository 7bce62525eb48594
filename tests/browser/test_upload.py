"""A file of one's own, from the file chooser to the live boundary."""

import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.browser.app import SHOWN


@pytest.fixture
def radar(tmp_path):
    """A file of the size of ionosphere: 351 rows, 34 columns, and a class written in words, last."""
    generator = np.random.default_rng(0)
    good = generator.random(351) < 0.64
    signal = generator.normal(size=(351, 34)) * 0.4
    signal[good, :6] += 0.8
    table = pd.DataFrame(np.clip(signal, -1, 1).round(5), columns=[f"pulse{k}" for k in range(34)])
    table["class"] = np.where(good, "good", "bad")
    file = tmp_path / "radar.csv"
    table.to_csv(file, index=False)
    return file


def test_from_what_cannot_be_used_to_a_live_boundary(app, radar, tmp_path):
    app.choose("Data set", "A file …").settle()
    bad = {
        "header.csv": (b"x,y,class\n", "no rows"),
        "picture.png": (b"\x89PNG\r\n\x1a\n" + bytes(100), "png"),
    }
    for name, (content, word) in bad.items():
        file = tmp_path / name
        file.write_bytes(content)
        app.choose_file(file)
        expect(app.page.locator("p.error")).to_contain_text(word)
    large = tmp_path / "large.csv"
    large.write_bytes(b"1,2,3\n" * 7_000_000)
    app.choose_file(large)
    app.until_seen("File is too large")  # it is not even sent
    app.until_seen("40 MB")
    app.settle()
    assert app.stands == ("ready", 0)  # the run before is untouched
    app.close_dialog()
    app.press("Step").settle()
    assert app.stands == ("paused", 1)

    app.press("Open a file …").settle()
    app.choose_file(radar)
    app.until_seen("351 rows, 35 columns")
    app.until_seen("pulse3")
    app.choose("Target", "pulse0").settle()
    assert "regression" in app.page.get_by_role("combobox", name="Task").first.inner_text()
    app.choose("Target", "class").settle()
    assert "classification" in app.page.get_by_role("combobox", name="Task").first.inner_text()
    app.press("Use this file").settle()
    assert app.sees("In use: radar.csv")
    assert app.iteration == 0
    before = app.picture("input")
    for _ in range(5):
        app.press("Step")
    app.settle()
    assert app.picture("input") != before
    assert app.number("test error") < 40
    for name in ("good", "bad"):
        assert app.page.locator(".keys").first.get_by_text(name, exact=True).is_visible()
    assert "PCA plane" in app.head("input")
    assert "data=file&data.name=radar.csv" in app.page.url


def use(app, file):
    """Learn from a file."""
    app.choose_file(file)
    app.until_seen("Use this file")
    app.settle()
    app.press("Use this file").settle()


@pytest.mark.slow
def test_rows_and_values_far_from_zero_are_drawn_apart(open_app, tmp_path):
    generator = np.random.default_rng(0)
    across, upward = generator.uniform(-20, 20, (2, 120)).round(2)
    far = pd.DataFrame({"seconds": 1.7e9 + across, "northing": 5_412_345_000 + upward})
    sides, times = tmp_path / "sides.csv", tmp_path / "times.csv"
    far.assign(side=np.where(across > upward, "east", "west")).to_csv(sides, index=False)
    pd.DataFrame({"a": across, "b": upward, "when": 1.7e9 + (across + upward) / 2}).to_csv(times, index=False)
    app = open_app("?data=spirals&data.n_per_class=60&method=LDA")
    app.choose("Data set", "A file …").settle()
    use(app, sides)
    seen = app.evaluate(SHOWN, "input")
    assert len({(round(x, 1), round(y, 1)) for x, y in seen["rows"]}) > 115
    line = np.array(seen["boundary"])
    assert len(line) > 20
    _, _, (_, normal) = np.linalg.svd(line - line.mean(axis=0))
    assert np.abs((line - line.mean(axis=0)) @ normal).max() < 0.5  # of a pixel: it is straight

    app.choose("Method", "LSDR").settle()
    app.press("Open a file …").settle()
    use(app, times)
    for _ in range(3):
        app.press("Step")
    app.settle()
    app.choose("Picture", "predicted").settle()
    assert len(app.evaluate(SHOWN, "input")["palette"]) > 30
    ticks = [word for word in app.evaluate(SHOWN, "method")["words"] if re.fullmatch(r"−?[\d.]+", word)]
    assert {"−20", "0", "20"} <= set(ticks)
    assert {"true − 1,700,000,000", "predicted − 1,700,000,000"} <= set(app.evaluate(SHOWN, "method")["words"])
    x, y = app.place_of("input", 7)
    app.page.mouse.move(x, y, steps=3)
    said = app.page.locator(".stage-tip").filter(visible=True).first.text_content()
    value, row = re.match(r"(17000000\d\d\.?\d*|16999999\d\d\.?\d*)row (\d+)", said).groups()
    assert float(value) == pytest.approx(1.7e9 + (across + upward)[int(row)] / 2, abs=0.01)
    assert 0 < app.number("test MSE") < 20
