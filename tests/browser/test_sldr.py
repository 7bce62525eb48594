"""SLDR in the explorer: its gate's pictures, its toys, its presets, files of several views."""

import re

import numpy as np
import pytest

ZIGZAG = "?data=zigzag&method=SLDR&method.n_components=1&method.solver=lbfgs&method.n_init=5&method.max_iter=200"
DIGITS = "?data=multiview_digits&data.n_samples=200&method=SLDR&method.n_init=1&method.max_iter=200"
TITLES = {"gate": "Gating regions", "local": "Local spaces", "usage": "Gate usage", "margins": "Margins"}


def facts(app):
    text = " ".join(app.page.locator(".said").all_inner_texts())
    return {name.strip(): float(value) for name, value in re.findall(r"([a-z ]+) ([\d.]+)", text)}


def keys(app):
    """Shares of the gates as the legend of the regions names them."""
    text = " ".join(app.page.locator(".keys").all_inner_texts())
    return {name: int(share) for name, share in re.findall(r"(model \d|[a-z]+) (\d+) %", text)}


def show(app, label):
    app.choose("Picture", label)
    app.until_seen(TITLES[label])


def image(app):
    """The pixels of the method's image, None where it has none."""
    size = app.evaluate("named('method').renderers.find((r) => r.glyph.type === 'Image').data_source.data.dw[0]")
    if not size:
        return None
    code = "Array.from(named('method').renderers.find((r) => r.glyph.type === 'Image').data_source.data.image[0])"
    return np.array(app.evaluate(code))


def words(app):
    code = "named('method').renderers.find((r) => r.glyph.type === 'Text').data_source.data.text"
    return app.evaluate(f"Array.from({code})")


def test_the_regions_of_the_zigzag_move_until_the_lines_fit(open_app):
    app = open_app(ZIGZAG)
    app.until(lambda: facts(app).get("support vectors"))
    app.until(lambda: set(keys(app)) == {"model 1", "model 2", "model 3"})
    app.until_settled()
    before, at_start = image(app), facts(app)["support vectors"]
    app.press("Run")
    app.until(lambda: app.chip == "finished", 60)
    app.until_settled()
    app.until(lambda: facts(app)["support vectors"] < 0.3 * at_start)
    app.until(lambda: (image(app) != before).mean() > 0.02)
    shares = app.until_still(lambda: keys(app), lambda found: len(found) == 3)
    assert min(shares.values()) > 5
    assert sum(shares.values()) == pytest.approx(100, abs=2)
    assert app.number("test error") < 1.5
    app.scrub("Home")
    app.until(lambda: facts(app)["support vectors"] == at_start)
    app.until(lambda: np.array_equal(image(app), before))


def test_every_picture_of_the_gate(open_app):
    app = open_app(DIGITS)
    app.run_to(3)
    app.pause()
    views = {"pixels", "profiles", "fourier", "components"}
    shares, seen = app.until_still(lambda: keys(app), lambda found: set(found) == views), []
    for label in TITLES:
        show(app, label)
        seen.append(app.another_picture("method", seen))
        if label == "local":
            said = app.until(lambda: [text for text in words(app) if text])
            found = {text.split()[0]: int(text.split()[-2]) for text in said}
            assert found == {name: share for name, share in shares.items() if share}
            assert list(found.values()) == sorted(found.values(), reverse=True)
        if label == "usage":
            app.until(lambda: words(app)[0] == "pixels")
            assert [int(text.split()[0]) for text in words(app)[1::2]] == list(shares.values())
    show(app, "gate")
    app.until(lambda: image(app) is not None)


def test_a_selection_reaches_the_local_spaces(open_app):
    app = open_app(ZIGZAG)
    show(app, "local")
    app.until(lambda: [text for text in words(app) if text])
    app.lasso("input", 0.0, 0.0, 0.5, 1.0)
    chosen = app.until_still(lambda: app.selected, lambda rows: rows)
    app.until(lambda: app.evaluate("Array.from(named('method points').selected.indices)") == chosen)


def test_an_example_begins_with_its_picture(open_app):
    app = open_app("?data=spirals&data.n_per_class=30&method=LSDR")
    app.choose("Example", "Fig. 3: digits in four views, R = 1")
    app.until(lambda: "method=SLDR" in app.page.url)
    app.until_seen("Local spaces")
    app.press("Run")
    app.until(lambda: app.chip in ("running", "finished") and (app.iteration or 0) >= 2, 60)
    app.until(lambda: "support vectors" in facts(app))


def test_views_of_a_file_have_a_local_model_each(open_app, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    table = np.column_stack([rng.normal(size=(120, 5)) + y[:, None], y])
    file = tmp_path / "mine.csv"
    header = "shape:a,colour:a,shape:b,shape:c,colour:b,class"
    np.savetxt(file, table, delimiter=",", header=header, comments="", fmt="%.5f")
    app = open_app("?data=moons&method=SLDR&method.n_init=1")
    app.choose("Data set", "A file …")
    app.page.locator("input[type=file]").first.wait_for(state="attached")
    app.page.locator("input[type=file]").first.set_input_files(file)
    app.until_seen("120 rows, 6 columns", 30)
    app.press("Use this file")
    app.until_seen("In use: mine")
    app.until(lambda: set(keys(app)) == {"shape", "colour"})
    app.until_seen("Views: shape (3), colour (2).")
