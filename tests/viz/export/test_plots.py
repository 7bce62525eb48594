"""Plots of fitted estimators: what they show is what the estimator says."""

from html.parser import HTMLParser

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import supdr
from supdr.datasets import make_curved_sheet, make_spirals, make_zigzag
from supdr.engine.optional import PackageMissing
from supdr.sensitivity import InProcess, Sweep
from supdr_viz import plots
from supdr_viz.ui.theme import DARK, LIGHT

DATA = make_spirals(3, 30, turns=0.7, random_state=0)


@pytest.fixture(autouse=True)
def _document():
    """A document of its own: that of a page of an earlier test may be gone."""
    with set_curdoc(Document()):
        yield


@pytest.fixture(scope="module")
def model():
    return supdr.MAC(random_state=0, max_iter=5).fit(DATA.X, DATA.y)


@pytest.fixture(scope="module")
def gated():
    data = make_zigzag(120, random_state=0)
    return supdr.SLDR(1, n_init=1, max_iter=5, random_state=0).fit(data.X, data.y), data


def drawn(element):
    """Make the Bokeh figure: an element that cannot be drawn is worth nothing."""
    return hv.render(element, backend="bokeh")


def test_latent_shows_the_embedding_or_the_transform(model):
    learnt = plots.latent(model, DATA.y)
    np.testing.assert_allclose(learnt.array([0, 1]).astype(float), model.embedding_)
    new = plots.latent(model, X=DATA.X[:7])
    np.testing.assert_allclose(new.array([0, 1]), model.transform(DATA.X[:7]))
    drawn(learnt)
    drawn(new)


@pytest.mark.parametrize("n_components", [1, 4])
def test_latent_of_one_and_of_many_dimensions(n_components):
    reducer = supdr.LSDR(n_components, max_iter=3, random_state=0).fit(*supdr.datasets.load("iris").to_xy())
    element = plots.latent(reducer)
    rows = element.array([0, 1])
    assert rows.shape == (150, 2)
    if n_components == 1:
        np.testing.assert_allclose(rows[:, 0], reducer.embedding_[:, 0])
    else:  # the first of two main directions carries more
        assert rows[:, 0].var() >= rows[:, 1].var()
    drawn(element)


def test_boundary_says_what_predict_says(model):
    for estimator in (model, LogisticRegression().fit(DATA.X, DATA.y)):
        overlay = plots.boundary(estimator, DATA.X, DATA.y, resolution=20)
        image = overlay.Image.I
        for x in (-0.4, 0.1, 0.7):
            for y in (-0.6, 0.2):
                column, row = image.closest((x, y))
                assert image[x, y] == estimator.predict([[column, row]])[0]
        drawn(overlay)


FRAME = pd.DataFrame(DATA.X, columns=["east", "north"])
NAMES = np.array(["red", "green", "blue"])[DATA.y.astype(int)]


@pytest.mark.parametrize("X", [FRAME, DATA.X], ids=["frame", "array"])
@pytest.mark.parametrize("learnt", [FRAME, DATA.X], ids=["on names", "on numbers"])
@pytest.mark.parametrize("steps", [(), (StandardScaler(),)], ids=["estimator", "pipeline"])
def test_names_of_columns_are_those_that_were_learnt(X, learnt, steps):
    """Warnings are errors here, and scikit-learn warns of names that come or go."""
    whole = make_pipeline(*steps, supdr.LSDR(max_iter=2, random_state=0)) if steps else LogisticRegression()
    whole.fit(learnt, NAMES)
    image = plots.boundary(whole, X, NAMES, resolution=8).Image.I
    place = image.closest((0.3, -0.4))
    known = pd.DataFrame([place], columns=FRAME.columns) if learnt is FRAME else [place]
    assert whole.classes_[int(image[place])] == whole.predict(known)[0]
    if steps:
        new = plots.latent(whole, X=X.iloc[:5] if X is FRAME else X[:5])
        np.testing.assert_allclose(new.array(), whole.transform(learnt[:5]))


def test_columns_of_text_lie_on_the_plane_by_their_category():
    table = FRAME.assign(side=np.where(DATA.X[:, 0] > 0, "right", "left"))
    table.loc[3, "north"] = np.nan
    columns = make_column_transformer((SimpleImputer(), ["east", "north"]), (OneHotEncoder(), ["side"]))
    whole = make_pipeline(columns, LogisticRegression()).fit(table, NAMES)
    overlay = plots.boundary(whole, table, NAMES, axes=(0, 2), resolution=9)
    assert set(overlay.Points.I.array([1])[:, 0]) == {0, 1}
    image = overlay.Image.I
    for x, y in ((-0.4, 0.0), (0.5, 1.0)):
        east, side = image.closest((x, y))
        frequent = table["side"].value_counts().index[round(side)]
        row = pd.DataFrame({"east": [east], "north": [table["north"].mean()], "side": [frequent]})
        assert whole.classes_[int(image[east, side])] == whole.predict(row)[0]
    drawn(overlay)


def test_every_plot_takes_a_pipeline(gated):
    data = gated[1]
    made = make_pipeline(FunctionTransformer(np.fliplr), supdr.SLDR(1, n_init=1, max_iter=2, random_state=0))
    whole = make_pipeline(StandardScaler(), made).fit(data.X, data.y)  # a pipeline in a pipeline
    last = made[-1]
    image = plots.gating(whole, data.X, data.y, resolution=8).Image.I
    place = image.closest((-2.0, 0.0))
    assert image[place] == last.gate(np.fliplr(whole[0].transform([place]))).argmax()
    np.testing.assert_array_equal(plots.latent(whole).array(), plots.latent(last).array())
    np.testing.assert_array_equal(
        plots.latent(whole, X=data.X[:5]).array(),
        plots.latent(last, X=np.fliplr(whole[0].transform(data.X[:5]))).array(),
    )
    np.testing.assert_array_equal(
        plots.losses(whole, ["objective"])["objective"].dimension_values("loss"), last.history_["objective"]
    )
    with pytest.raises(ValueError, match="gate, such as SLDR; got LogisticRegression"):
        plots.gating(make_pipeline(StandardScaler(), LogisticRegression()), data.X)


@pytest.mark.parametrize(("dark", "palette"), [(False, LIGHT), (True, DARK)])
def test_rows_and_regions_of_a_class_have_one_colour(dark, palette):
    """Also where some classes are not among the rows that are shown."""
    model = LogisticRegression().fit(DATA.X, NAMES)  # blue, green, red
    wanted = dict(zip(["blue", "green", "red"], palette.classes))
    for shown in (NAMES != "", NAMES != "blue"):
        overlay = plots.boundary(model, DATA.X[shown], NAMES[shown], resolution=5, dark=dark)
        assert list(overlay.Image.I.opts.get().kwargs["cmap"]) == list(palette.classes[:3])
        assert overlay.Points.I.opts.get().kwargs["cmap"] == {name: wanted[name] for name in np.unique(NAMES[shown])}
        figure = drawn(overlay)
        assert figure.background_fill_color == figure.border_fill_color == palette.card
        assert figure.title.text_color == palette.text


def test_rows_and_surface_of_a_regression_have_one_scale():
    X = np.linspace(0.0, 1.0, 40)[:, None] ** [1, 2]
    y = np.where(np.arange(40) == 7, 5.0, X[:, 0])
    overlay = plots.boundary(LinearRegression().fit(X, y), X, y, resolution=5)
    limits = overlay.Image.I.opts.get().kwargs["clim"]
    assert overlay.Points.I.opts.get().kwargs["clim"] == limits
    assert limits[0] <= 0.0
    assert limits[1] == 5.0


@pytest.mark.parametrize("values", [DATA.y, DATA.X[:, 0]], ids=["classes", "values"])
def test_rows_without_a_label_are_grey(model, values):
    y = values.copy()
    y[::2] = np.nan
    figure = drawn(plots.latent(model, y))
    (rows,) = figure.renderers
    mapper = rows.glyph.fill_color["transform"]
    if values is DATA.y:
        assert dict(zip(mapper.factors, mapper.palette))["unlabelled"] == LIGHT.muted
    else:
        assert mapper.nan_color == LIGHT.muted
        assert list(mapper.palette) == list(LIGHT.regions)


def test_a_page_is_whole_in_itself(model, tmp_path):
    """A browser without a network shows it: tests/browser/test_saved_plots.py."""
    picture = plots.boundary(model, DATA.X, DATA.y, resolution=5) + plots.losses(model)
    page = plots.save(picture, tmp_path / "spirals.html").read_text()
    assert "<title>spirals</title>" in page
    wanted = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, given: wanted.extend(name for name, _ in given if name in ("src", "href"))
    parser.feed(page)
    assert not wanted


def test_formats_and_backends_are_named(model, tmp_path):
    with pytest.raises(ValueError, match=r'saved as \.html; got \'a\.svg\'.*draw it with backend="matplotlib"'):
        plots.save(plots.losses(model), tmp_path / "a.svg")
    with pytest.raises(ValueError, match=r"backend must be .*; got 'plotly'"):
        plots.losses(model, backend="plotly")


@pytest.mark.parametrize("how", [{"backend": "matplotlib"}, {"ax": object()}])
def test_a_backend_that_is_missing_says_what_to_install(model, missing, how):
    missing("matplotlib")
    with pytest.raises(PackageMissing, match=r'needs matplotlib: pip install "supdr-viz\[notebook\]"'):
        plots.losses(model, **how)


def test_boundary_of_regression_and_of_wide_data():
    data = make_curved_sheet(60, n_features=6, label_share=0.5, random_state=0)
    regressor = supdr.SNF(max_iter=3, preprocessing="none", random_state=0).fit(data.X, data.y)
    drawn(plots.boundary(regressor, data.X, data.y, resolution=6))
    drawn(plots.boundary(regressor, data.X, axes=(1, 4), resolution=6))


def test_gating_shows_the_winner(gated):
    estimator, data = gated
    image = plots.gating(estimator, data.X, data.y, resolution=15).Image.I
    for x, y in ((-2.0, 0.0), (0.0, 0.5), (2.0, -0.5)):
        place = image.closest((x, y))
        assert image[x, y] == estimator.gate(np.array([place])).argmax()
    drawn(plots.gating(estimator, data.X, data.y, resolution=15))


def test_losses_show_the_history(model):
    overlay = plots.losses(model)
    assert {"objective", "bound"} <= set(overlay.keys())
    np.testing.assert_allclose(overlay["objective"].dimension_values("loss"), model.history_["objective"])
    assert list(plots.losses(model, ["objective"]).keys()) == ["objective"]
    drawn(overlay)


@pytest.mark.parametrize("grid", [{"beta": [0.2, 0.8]}, {"beta": [0.2, 0.8], "reg_w": [0.1, 1.0, 10.0]}])
def test_sensitivity_shows_the_means(grid):
    sweep = Sweep(supdr.LSDR(max_iter=2, random_state=0), grid, cv=2)
    cells = list(sweep.run(*supdr.datasets.load("iris").to_xy(), InProcess()))
    assert len(cells) == np.prod([len(values) for values in grid.values()])
    result = sweep.result(cells)
    element = plots.sensitivity(result)
    if len(grid) == 2:
        values = element.dimension_values(2, flat=False)
        assert values.size == 6
        np.testing.assert_allclose(np.sort(values.ravel()), np.sort(result.means().ravel()))
    drawn(element)
    with pytest.raises(ValueError, match="metric must be one of"):
        plots.sensitivity(result, "beauty")


def test_mistakes_are_named(model):
    with pytest.raises(ValueError, match="has no embedding_"):
        plots.latent(supdr.MAC())
    with pytest.raises(ValueError, match="has no history_"):
        plots.losses(LogisticRegression())
    with pytest.raises(ValueError, match=r"objective, .*got 'joy'"):
        plots.losses(model, ["joy"])
    with pytest.raises(ValueError, match="needs an estimator with a gate"):
        plots.gating(model, DATA.X)
    with pytest.raises(ValueError, match="label for each of the 90 rows; got 3"):
        plots.latent(model, [0, 1, 2])
    with pytest.raises(ValueError, match="two columns from 0 to 1"):
        plots.boundary(model, DATA.X, axes=(0, 2))
    with pytest.raises(ValueError, match="resolution"):
        plots.boundary(model, DATA.X, resolution=1)


def test_unlabelled_rows_are_named():
    y = DATA.y.copy()
    y[::2] = np.nan
    element = plots.latent(supdr.MAC(random_state=0, max_iter=2).fit(DATA.X, y), y)
    assert (element.dimension_values("y") == "unlabelled").sum() == 45
