"""One plot as large as the window, and back."""

import pytest


@pytest.mark.parametrize(("name", "title"), [("latent", "Latent space"), ("losses", "Losses")])
def test_a_plot_fills_the_window_and_returns(open_app, name, title):
    app = open_app("?data=spirals&data.n_per_class=60", viewport={"width": 1280, "height": 720})
    before = app.box(name)
    app.press(f"Enlarge {title}")
    app.until(lambda: 600 < app.box(name)["height"] <= 720)
    box = app.box(name)
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 720
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1280
    if name == "latent":
        assert abs(box["width"] - box["height"]) <= 1
    app.key("ArrowRight")  # keys work on behind it
    app.until(lambda: app.iteration == 1)
    app.key("Escape")
    app.until(lambda: app.box(name) == before)
