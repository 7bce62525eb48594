"""Run, pause, step, reset, speed, keys; what a screen reader hears; nothing jumps."""

import pytest

from tests.browser.app import FIGURES


def test_waits_runs_pauses_and_goes_on(app):
    app.until_settled()
    assert (app.iteration, app.chip) == (0, "ready")
    before, objective = app.column("latent points", "x"), app.number("objective")
    app.page.wait_for_timeout(500)
    assert app.iteration == 0
    assert app.can_run
    app.run_to(8)
    assert app.chip == "running"
    app.pause()
    reached = app.iteration
    assert app.chip == "paused"
    assert app.number("objective") < objective
    assert app.column("latent points", "x") != before
    app.page.wait_for_timeout(400)
    assert app.iteration == reached
    app.run_to(reached + 3)
    app.press("Step")  # a step pauses a run
    app.until_settled()
    assert app.chip == "paused"


def test_steps_and_resets_to_the_same_start(app):
    app.until_settled()
    start = app.numbers, app.column("latent points", "x")
    seen = []
    for _ in range(2):
        for expected in (1, 2, 3):
            app.press("Step")
            app.until(lambda e=expected: app.iteration == e)
            app.until(lambda e=expected: f"iteration {e}," in app.status)
        app.until_settled()
        assert app.chip == "paused"
        seen.append((app.number("objective"), app.column("latent points", "x")))
        app.press("Reset")
        app.until(lambda: app.iteration == 0 and app.chip == "ready")
        app.until(lambda: (app.numbers, app.column("latent points", "x")) == start)
    assert seen[0] == seen[1]


def test_speeds(app):
    app.press("slow")
    app.run_to(2)
    began = app.iteration
    app.page.wait_for_timeout(1500)
    assert app.iteration - began <= 8  # 3 a second
    app.press("fast")
    app.run_to(began + 100, seconds=20)
    app.until(lambda: "speed=fast" in app.page.url)


def test_ends_at_its_last_step_and_goes_on_when_asked(open_app):
    app = open_app("?data=iris&method=LSDR&method.max_iter=8&method.tol=0&speed=fast")
    app.press("Run")
    app.until(lambda: app.chip == "finished" and app.iteration == 8)
    app.press("Run")
    app.until(lambda: app.chip == "finished" and app.iteration == 16)


def test_keys(app):
    app.key("Space")
    app.until(lambda: app.chip == "running" and (app.iteration or 0) > 5)
    app.key("Space")
    app.until(lambda: app.chip == "paused")
    app.until_settled()
    reached = app.iteration
    app.key("ArrowRight")
    app.until(lambda: app.iteration == reached + 1)
    app.key("r")
    app.until(lambda: app.iteration == 0 and app.chip == "ready")


def test_keys_inside_widgets_stay_there(app):
    app.run_to(3)
    app.pause()
    reached, label = app.iteration, "Reconstruction share"
    before = app.slider(label).get_attribute("aria-valuetext")
    assert app.nudge(label) != before  # the slider moved, the run did not
    app.open_fold("Test rows, labels, seed")
    app.page.get_by_label("Seed").first.fill("")
    app.page.get_by_label("Seed").first.type("r 0")
    app.page.wait_for_timeout(400)
    assert (app.iteration, app.chip) == (reached, "paused")


def test_space_on_the_focused_button_acts_once(app):
    app.button("Run").focus()
    app.key("Space")
    app.until(lambda: app.chip == "running" and (app.iteration or 0) > 3)
    app.key("Space")
    app.until(lambda: app.chip == "paused")


def test_a_screen_reader_hears_changes_of_state_not_every_iteration(app):
    app.evaluate("""() => {
        window.heard = []
        const watch = () => window.heard.push(document.getElementById("status").textContent)
        new MutationObserver(watch).observe(document.getElementById("status"), {childList: true, subtree: true})
    }""")
    app.run_to(40)
    app.pause()
    app.until(lambda: app.status.startswith("paused, LSDR on"))
    heard = app.until_still(lambda: app.evaluate("window.heard"))
    assert 2 <= len(heard) <= 4
    assert heard[0].startswith("running, LSDR on")
    assert heard[-1].startswith("paused, LSDR on")
    for word in ("iteration", "objective", "train error", "test error"):
        assert word in heard[-1]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720)])
def test_nothing_jumps_while_it_runs(open_app, width, height):
    app = open_app("?data=spirals&data.n_per_class=60&speed=fast", viewport={"width": width, "height": height})
    boxes = [[app.box(name) for name in FIGURES]]
    app.press("Run")
    for _ in range(8):
        app.page.wait_for_timeout(150)
        boxes.append([app.box(name) for name in FIGURES])
    app.until(lambda: (app.iteration or 0) > 0)
    boxes.append([app.box(name) for name in FIGURES])
    assert all(box == boxes[0] for box in boxes)
