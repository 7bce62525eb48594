"""The stage: what only a browser can show of it."""

import re

SMALL = "?data=spirals&data.n_per_class=60&method=LSDR&method.max_iter=5000&method.tol=0&seed=1"


def test_points_move_between_frames_and_stop_where_the_last_one_says(open_app):
    app = open_app(SMALL, motion="no-preference")
    assert app.longest_motion > 0.05
    app.press("Run").until_going()
    painted, received = app.evaluate(
        """async () => {
          const count = () => [supdrStage.clock.painted, board("explorer").received]
          const before = count()
          await new Promise((done) => {
            const wait = () => (board("explorer").received >= before[1] + 8 ? done() : requestAnimationFrame(wait))
            wait()
          })
          return count().map((value, k) => value - before[k])
        }"""
    )
    assert painted > received  # it looks smoother than what is sent
    app.press("Pause").settle()
    assert not app.evaluate("document.documentElement.hasAttribute('data-moving')")
    assert app.evaluate("['input', 'latent', 'method'].every((name) => !square(name).moves)")
    assert app.evaluate("square('latent').position.values === square('latent').position.to")


def test_curves_say_what_stands_at_the_pointer(open_app):
    app = open_app(SMALL.replace("5000", "30") + "&speed=fast")
    app.press("Run").settle()
    objective = app.curve("losses", "objective")
    assert len(objective) == 31
    assert f"objective {objective[-1]:.4g}" in app.figure("losses").get_attribute("aria-label")
    box = app.box("losses")
    app.page.mouse.move(box["x"] + 60, box["y"] + 40)
    tips = app.page.locator(".stage-tip:visible")
    said = re.search(r"iteration (\d+).*objective ([\d.]+)", tips.inner_text().replace("\n", " "))
    assert float(said[2]) == float(f"{objective[int(said[1])]:.4g}")
    assert app.evaluate("chart('errors').board.pointed") == int(said[1])  # marked in the other chart, too
    app.page.mouse.move(box["x"] + 60, box["y"] - 20)
    assert tips.count() == 0
