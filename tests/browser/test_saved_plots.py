"""Saved plots in a browser without a network."""

import io

import numpy as np
import pytest
from PIL import Image

import supdr
from supdr_viz import plots
from supdr_viz.ui.theme import LIGHT

pytestmark = pytest.mark.browser


def test_a_saved_plot_needs_no_network(chromium, tmp_path):
    data = supdr.datasets.make_spirals(3, 30, random_state=0)
    model = supdr.LSDR(max_iter=3, random_state=0).fit(data.X, data.y)
    picture = plots.boundary(model, data.X, data.y, resolution=20) + plots.losses(model)
    path = plots.save(picture, tmp_path / "spirals.html")
    context = chromium.new_context(offline=True)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function("Bokeh.documents.length && Bokeh.documents[0].is_idle")
    shown = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).reshape(-1, 3)
    context.close()
    assert asked == [path.as_uri()]
    for colour in LIGHT.classes[:3]:
        wanted = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
        assert (shown == wanted).all(axis=1).sum() > 100, f"{colour} is not to be seen"
