"""A file of one's own, from the file chooser to the live boundary; every bad file gets a plain sentence."""

import numpy as np
import pandas as pd
import pytest


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


def chooser(app):
    return app.page.locator("input[type=file]").first


def test_from_file_chooser_to_live_boundary(app, radar, open_app):
    app.choose("Data set", "A file …")
    app.page.locator("input[type=file]").first.wait_for(state="attached")
    chooser(app).set_input_files(radar)
    app.until_seen("351 rows, 35 columns", 30)
    app.until_seen("pulse3")
    app.press("Use this file")
    app.until_seen("In use: radar.csv")
    app.until(lambda: app.iteration == 0 and app.number("train error") is not None)
    before = app.another_picture("input", [])
    app.run_to(5)
    app.pause()
    app.another_picture("input", [before])
    assert app.number("test error") < 40
    for name in ("good", "bad"):
        app.until(app.page.locator(".keys").first.get_by_text(name, exact=True).is_visible)
    app.until(lambda: "principal components" in app.page.locator(".head").first.inner_text())
    app.until(lambda: "data=file&data.name=radar.csv" in app.page.url)
    # Whoever gets the link is told which file it wants.
    other = open_app(app.page.url[app.page.url.index("?") :], wait=False)
    other.page.wait_for_selector(".status .chip")
    other.until_seen("radar.csv")
    other.until(lambda: other.button("Run").is_disabled())
    other.page.locator("input[type=file]").first.wait_for(state="attached")
    chooser(other).set_input_files(radar)
    other.until_seen("351 rows, 35 columns", 30)
    other.press("Use this file")
    other.until(lambda: other.iteration == 0 and other.button("Run").is_enabled())


def test_another_target_and_a_regression(app, radar):
    app.choose("Data set", "A file …")
    app.page.locator("input[type=file]").first.wait_for(state="attached")
    chooser(app).set_input_files(radar)
    app.until_seen("351 rows, 35 columns", 30)
    app.choose("Target", "pulse0")
    app.until(lambda: "regression" in app.page.get_by_role("combobox", name="Task").first.inner_text())
    app.choose("Target", "class")
    app.until(lambda: "classification" in app.page.get_by_role("combobox", name="Task").first.inner_text())


def bad_files(folder):
    """Name, content, words of the sentence."""
    rows = "\n".join(f"{k},{k % 7},{'ab'[k % 2]}" for k in range(40))
    yield "empty.csv", b"", "empty"
    yield "header.csv", b"x,y,class\n", "no rows"
    yield "picture.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "png"
    yield "truncated.parquet", b"PAR1" + bytes(50), "arquet"
    yield "pickle.npz", b"PK\x03\x04" + bytes(40), "npz"
    yield "one-class.csv", ("x,y,class\n" + rows.replace("b", "a")).encode(), "class"
    yield "text.csv", ("x,y,class\n" + rows.replace("3,3,b", "3,oops,b")).encode(), "oops"
    yield "twice.csv", ("x,x,class\n" + rows).encode(), "distinct"


def test_every_bad_file_gets_a_plain_sentence(app, tmp_path):
    app.choose("Data set", "A file …")
    app.page.locator("input[type=file]").first.wait_for(state="attached")
    for name, content, word in bad_files(tmp_path):
        (tmp_path / name).write_bytes(content)
        chooser(app).set_input_files(tmp_path / name)
        usable = app.button("Use this file")
        looked_at = app.page.get_by_text(f"{name}: 40 rows")
        app.until(lambda w=word, n=looked_at: n.is_visible() or w in sentence(app), 20, name)
        if looked_at.is_visible():
            usable.click()
            app.until(lambda w=word: w in sentence(app), 20, name)
        assert word in sentence(app), name
        assert sentence(app).endswith(".")
    assert app.chip == "ready"  # the run before is untouched
    app.run_to(3)


def test_a_file_that_is_too_large_is_not_sent(app, tmp_path):
    app.choose("Data set", "A file …")
    app.page.locator("input[type=file]").first.wait_for(state="attached")
    file = tmp_path / "large.csv"
    file.write_bytes(b"1,2,3\n" * 7_000_000)
    chooser(app).set_input_files(file)
    app.until_seen("File is too large")
    app.until_seen("40 MB")


def sentence(app):
    """What is said to be wrong, or nothing."""
    return " ".join(app.page.locator("p.error").all_inner_texts())
