"""Plots of fitted estimators: what they show is what the estimator says."""

import holoviews as hv
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import supdr
from supdr.datasets import make_curved_sheet, make_spirals, make_zigzag
from supdr.sensitivity import InProcess, Sweep
from supdr_viz import plots

DATA = make_spirals(3, 30, turns=0.7, random_state=0)


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
