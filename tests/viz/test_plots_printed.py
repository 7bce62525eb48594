"""Plots for print: matplotlib shows what the estimator says, in the palette's colours, as vectors and letters."""

import io
import re
from xml.etree import ElementTree

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image
from sklearn.linear_model import LinearRegression, LogisticRegression

import supdr
from supdr.datasets import make_spirals, make_zigzag
from supdr.sensitivity import InProcess, Sweep
from supdr_viz import plots
from supdr_viz.ui.theme import DARK, LIGHT

DATA = make_spirals(3, 30, turns=0.7, random_state=0)
NAMES = np.array(["red", "green", "blue"])[DATA.y.astype(int)]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def model():
    return supdr.MAC(random_state=0, max_iter=3).fit(DATA.X, NAMES)


def printed(plot, *arguments, **options):
    return plot(*arguments, backend="matplotlib", **options)


def saved(figure, tmp_path, name="figure.svg"):
    return plots.save(figure, tmp_path / name)


def painted(figure):
    """Places of the rows and their colours."""
    rows = figure.axes[0].collections[-1]
    return np.asarray(rows.get_offsets()), [to_hex(colour) for colour in rows.get_facecolor()]


@pytest.mark.parametrize(("dark", "palette"), [(False, LIGHT), (True, DARK)])
def test_rows_have_the_colours_of_their_class(dark, palette):
    """The colours of Bokeh: those of the palette, by the classes of the estimator."""
    wanted = {name: colour.lower() for name, colour in zip(("blue", "green", "red"), palette.classes)}
    model = LogisticRegression().fit(DATA.X, NAMES)
    for shown in (NAMES != "", NAMES != "blue"):
        figure = printed(plots.boundary, model, DATA.X[shown], NAMES[shown], resolution=15, dark=dark)
        places, colours = painted(figure)
        named = dict(zip(map(tuple, DATA.X[shown].round(9)), NAMES[shown]))
        assert colours == [wanted[named[tuple(place)]] for place in places.round(9)]
        assert to_hex(figure.get_facecolor()) == palette.card.lower()
        keys = {text.get_text() for text in figure.axes[0].get_legend().get_texts()}
        assert keys == set(NAMES[shown])


def test_regions_say_what_predict_says():
    model = LogisticRegression().fit(DATA.X, NAMES)
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    figure = printed(plots.boundary, model, corners, resolution=40)
    figure.savefig(out := io.BytesIO(), format="png", dpi=figure.dpi)
    shown = np.asarray(Image.open(out).convert("RGB")).astype(float)
    seen = set()
    for place in np.random.default_rng(0).uniform(-0.7, 0.7, (40, 2)):
        around = set(model.predict(place + 0.1 * corners))
        if len(around) == 1:  # not on a boundary
            (name,) = around
            colour = LIGHT.classes[list(model.classes_).index(name)]
            full = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)])
            column, row = figure.axes[0].transData.transform(place)
            pixel = shown[len(shown) - 1 - int(row), int(column)]
            np.testing.assert_allclose(pixel, 0.25 * full + 0.75 * 255.0, atol=2)
            seen.add(name)
    assert len(seen) == 3


def test_files_hold_letters_and_vectors(model, tmp_path):
    figure = printed(plots.boundary, model, DATA.X, NAMES, resolution=15)
    root = ElementTree.parse(saved(figure, tmp_path)).getroot()
    written = {"".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")}
    assert {"Prediction", "x1", "x2", "red", "green", "blue"} <= written
    assert not list(root.iter(f"{SVG}image"))
    width = float(root.get("width").removesuffix("pt")) / 72
    assert 2.0 < width < 4.0  # inches
    pdf = saved(figure, tmp_path, "figure.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert b"/Subtype /Type3" not in pdf
    first = (tmp_path / "figure.svg").read_bytes()
    assert saved(figure, tmp_path).read_bytes() == first


def test_unlabelled_rows_are_grey(model):
    y = NAMES.astype(object)
    y[::2] = None
    figure = printed(plots.latent, model, y)
    assert painted(figure)[1].count(LIGHT.muted.lower()) == 45
    assert "unlabelled" in [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    values = np.where(np.arange(90) % 2, DATA.X[:, 0], np.nan)
    figure = printed(plots.latent, model, values)
    figure.savefig(io.BytesIO())  # colours of values are worked out when they are drawn
    assert painted(figure)[1].count(LIGHT.muted.lower()) == 45


def test_values_have_one_scale(tmp_path):
    X = np.linspace(0.0, 1.0, 40)[:, None] ** [1, 2]
    y = np.where(np.arange(40) == 7, 5.0, X[:, 0])
    figure = printed(plots.boundary, LinearRegression().fit(X, y), X, y, resolution=5)
    axes = figure.axes[0]
    assert axes.images[0].get_clim() == axes.collections[-1].get_clim()
    assert axes.images[0].get_clim()[1] == 5.0
    saved(figure, tmp_path)


def test_losses_are_the_history(model, tmp_path):
    figure = printed(plots.losses, model, ["objective", "bound"])
    axes = figure.axes[0]
    for line, name in zip(axes.lines, ("objective", "bound")):
        np.testing.assert_array_equal(line.get_ydata(), model.history_[name])
        assert line.get_label() == name
    assert axes.lines[0].get_linestyle() != axes.lines[1].get_linestyle()
    saved(figure, tmp_path)


@pytest.mark.parametrize("grid", [{"beta": [0.2, 0.8]}, {"beta": [0.2, 0.8], "reg_w": [0.1, 1.0, 10.0]}])
def test_sweeps_are_their_means(grid, tmp_path):
    sweep = Sweep(supdr.LSDR(max_iter=2, random_state=0), grid, cv=2)
    result = sweep.result(sweep.run(*supdr.datasets.load("iris").to_xy(), InProcess()))
    figure = printed(plots.sensitivity, result)
    axes = figure.axes[0]
    if len(grid) == 2:
        np.testing.assert_allclose(axes.images[0].get_array(), result.means().reshape(2, 3).T)
        assert [text.get_text() for text in axes.get_yticklabels()] == ["0.1", "1", "10"]
    else:
        np.testing.assert_allclose(axes.lines[0].get_ydata(), result.means().ravel())
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.2", "0.8"]
    saved(figure, tmp_path)


def test_axes_of_ones_own(model, tmp_path):
    figure = matplotlib.figure.Figure()
    left, right = figure.subplots(1, 2)
    data = make_zigzag(60, random_state=0)
    gated = supdr.SLDR(1, n_init=1, max_iter=2, random_state=0).fit(data.X, data.y)
    assert plots.gating(gated, data.X, data.y, resolution=8, ax=left) is figure
    assert plots.latent(model, ax=right) is figure
    assert left.get_title().startswith("Gate")
    assert len(right.collections[0].get_offsets()) == 90
    saved(figure, tmp_path)


def test_it_shows_itself_and_names_its_formats(model, tmp_path):
    figure = printed(plots.losses, model)
    assert Image.open(io.BytesIO(figure._repr_png_())).size[0] > 300
    with pytest.raises(ValueError, match=re.escape("saved as .pdf, .png, .svg; got 'a.html'")):
        plots.save(figure, tmp_path / "a.html")
