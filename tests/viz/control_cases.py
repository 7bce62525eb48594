"""What tests of the controls do to them."""

import io

import numpy as np

from supdr_viz.controls import Controls
from supdr_viz.experiment.settings import Settings
from supdr_viz.ui.visitor import Visit


def watched_controls():
    """Return controls, and a list of what they report: settings before and after."""
    controls = Controls(Visit(), Settings())
    log = []
    controls.on_change(lambda old, new: log.append((old.settings, new.settings)))
    return controls, log


def let_go(slider, position):
    """Drag a slider's thumb to a position and let go of it, as the browser reports it."""
    slider.widget.value = position
    slider.widget.value_throttled = position


def knob(form, name):
    return form.knobs[name]


def shown(form):
    """Names of the knobs that a visitor sees, from the top down."""
    names = {id(each.widget): name for name, each in form.knobs.items()}
    parts = [*form.view.objects, *(form.fold.content.objects if form.fold is not None else [])]
    return [names[id(part)] for part in parts if id(part) in names and part.visible]


def csv(rows=80, columns=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    X = rng.normal(size=(rows, columns)) + y[:, None]
    text = io.StringIO()
    text.write(",".join([*(f"f{j}" for j in range(columns)), "kind"]) + "\n")
    for row, label in zip(X, y):
        text.write(",".join([*(f"{value:.4f}" for value in row), "bad" if label else "good"]) + "\n")
    return text.getvalue()
