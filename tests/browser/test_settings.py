"""Knobs, methods and examples."""

import pytest

from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.settings.menu import MENU


def test_a_live_knob_carries_on(app):
    app.run_to(10)
    app.pause()
    reached, objective = app.iteration, app.number("objective")
    said = app.nudge("Reconstruction share", times=20)
    app.until(lambda: f"method.beta={said}" in app.page.url)
    app.until(lambda: app.number("objective") != objective)
    app.until_settled()
    assert app.iteration == reached
    app.run_to(reached + 5)
    before = app.number("objective")
    app.nudge("Reconstruction share", times=20)
    app.until(lambda: (app.number("objective") or 0.0) > 1.1 * before)
    assert app.chip == "running"
    assert app.iteration > reached


def test_a_knob_marked_restart_restarts(app):
    label = "Latent dimensions"
    assert "↻" in app.slider(label).get_attribute("aria-label")
    assert "↻" not in app.slider("Reconstruction share").get_attribute("aria-label")
    app.run_to(20)
    app.nudge(label)
    app.until(lambda: app.iteration in range(15), what="did not start again")
    app.until(lambda: app.chip == "running" and (app.iteration or 0) > 3, what="did not go on running")
    app.pause()
    app.nudge(label)
    app.until(lambda: app.iteration == 0 and app.chip == "ready")


def test_data_knobs_seed_and_shares_restart(app):
    app.until_settled()
    seen = [app.column("input points", "x")]
    app.run_to(5)
    app.pause()
    app.nudge("Noise", times=4)
    app.until(lambda: app.iteration == 0 and app.chip == "ready")
    app.until_settled()
    seen.append(app.column("input points", "x"))
    app.open_fold("Test rows, labels, seed")
    seed = app.page.get_by_label("Seed").first
    seed.fill("7")
    seed.press("Enter")
    app.until(lambda: "seed 7" in app.numbers)
    app.until_settled()
    seen.append(app.column("input points", "x"))
    assert seen[0] != seen[1] != seen[2] != seen[0]
    app.nudge("Labelled share", "PageDown", times=5)
    app.until_seen("label hidden")
    app.slide("Test share", "0")
    app.until_seen("120 training and 0 test rows")
    app.until_settled()
    app.until(lambda: app.number("test error") is None and app.number("train error") is not None)
    seed.fill("many")
    seed.press("Enter")
    app.until_seen("Type a number")
    assert "seed 7" in app.numbers


OFTEN = ("LinearSVM", "PolySVM", "RBFSVM", "PCASVM", "LDA", "KNN", "NSDR", "LSDR")
RARELY = tuple(name for name in MENU if name not in OFTEN)
LONG = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("names", [OFTEN, pytest.param(RARELY, marks=LONG)], ids=["often", "rarely"])
def test_every_method_can_be_chosen(open_app, names):
    app = open_app("?data=iris&method=LSDR")
    for method in [MENU[name] for name in names]:
        if "classification" not in method.tasks() or method.bits_only:
            continue
        app.choose("Method", method.label)
        app.until(lambda m=method: f"method={m.name}" in app.page.url)
        app.until_settled()
        if app.iteration == 0:
            app.press("Step")
        app.until(lambda: app.iteration == 1, what=method.label)
        app.until_settled()
        app.until(lambda: app.number("test error") is not None, what=method.label)
        if not method.iterates:
            app.until(lambda: app.chip == "finished", what=method.label)


START = next(iter(PRESETS.values())).group
EXAMPLES = {
    "first": [
        *(preset for preset in PRESETS.values() if preset.group == START and preset.needs is None),
        next(preset for preset in PRESETS.values() if preset.needs is not None),
    ],
    "all": list(PRESETS.values()),
}


@pytest.mark.parametrize("examples", ["first", pytest.param("all", marks=LONG)])
def test_every_example_runs_or_says_how_to_get_its_data(app, examples):
    for preset in EXAMPLES[examples]:
        app.choose("Example", preset.label)
        if preset.needs is not None:
            app.until_seen(preset.needs.title + " is not included")
            app.until(lambda: app.button("Run").is_disabled())
            continue
        app.until_seen(preset.note[:40])
        app.until(lambda p=preset: f"method={p.settings.method}" in app.page.url, what=preset.label)
        if not MENU[preset.settings.method].iterates:
            app.until(lambda: app.iteration == 1 and app.chip == "finished", what=preset.label)
            continue
        app.until(lambda: app.iteration == 0, what=preset.label)  # the one before was left at 1
        app.until_settled()
        app.press("Step")
        app.until(lambda: app.iteration == 1, 60, preset.label)
    app.choose("Example", EXAMPLES[examples][0].label)
    app.until(lambda: app.chip == "ready" and app.button("Run").is_enabled())


def test_a_method_that_does_not_fit_the_data_says_so(open_app):
    app = open_app("?data=diabetes&method=KNN", wait=False)
    app.page.wait_for_selector(".status .chip")
    app.until_seen("predicts classes; these data are for regression")
    app.until(lambda: app.button("Run").is_disabled())
    app.choose("Method", "LSDR")
    app.until(lambda: app.chip == "ready" and app.iteration == 0)
