"""A file of one's own, from the file chooser to the live boundary."""

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect


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
        "truncated.parquet": (b"PAR1" + bytes(50), "arquet"),
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
    app.press("Step").settle()
    assert app.stands == ("paused", 1)

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
    assert "PCA, " in app.head("input")
    assert "data=file&data.name=radar.csv" in app.page.url
    # Whoever gets the link is told which file it wants.
    app.open(app.page.url)
    app.settle()
    assert app.sees("radar.csv")
    assert app.button("Run").is_disabled()
    app.choose_file(radar)
    app.until_seen("351 rows, 35 columns")
    app.press("Use this file").settle()
    assert app.iteration == 0
    assert app.button("Run").is_enabled()
