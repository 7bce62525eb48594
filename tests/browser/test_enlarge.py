"""One plot as large as the window, and back."""

import pytest

# Notes each box of a figure that the browser was about to paint.
WATCH_BOX = """
(figure) => {
  window.boxes = []
  const look = () => {
    const {x, y, width, height} = figure.getBoundingClientRect(), last = boxes.at(-1)
    if (!last || last.x !== x || last.y !== y || last.width !== width || last.height !== height)
      boxes.push({x, y, width, height})
    requestAnimationFrame(look)
  }
  look()
}
"""


@pytest.mark.parametrize(("name", "title"), [("latent", "Latent space"), ("losses", "Losses")])
def test_a_plot_fills_the_window_and_returns(open_app, name, title):
    app = open_app("?data=spirals&data.n_per_class=60", viewport={"width": 1280, "height": 720})
    before = app.until_still(lambda: app.box(name))
    app.figure(name).evaluate(WATCH_BOX)
    app.press(f"Enlarge {title}")
    app.until(lambda: app.box(name) != before)
    box = app.until_still(lambda: app.box(name))
    assert 600 < box["height"] <= 720
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
    assert app.evaluate("boxes") == [before, box, before]  # nothing in between was painted
