"""Within three seconds of Run every example shows the change that its note promises: measured on its frames."""

from __future__ import annotations

import numpy as np
import pytest

from supdr_viz.experiment.build import build_estimator
from supdr_viz.export.replay import make_replay
from supdr_viz.lessons.claims import read_claim
from supdr_viz.pictures.types import Curves
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run.run_machine import SLOW_START, STEPS_PER_SECOND
from tests.viz.prepared import prepared
from tests.viz.presets.preset_claims import CHANGES, CLAIMS, QUICK

SECONDS = 3.0


def steps_within(seconds, preset):
    """Return how many steps a run takes at most in that time at the example's pace."""
    slow = min(preset.slow_start, int(seconds * SLOW_START))
    return slow + int((seconds - slow / SLOW_START) * STEPS_PER_SECOND[preset.settings.speed])


def frames_of(preset):
    """Return the first frame and the one after three seconds, each with the errors of its surface, and snapshots."""
    dataset, parts, scene = prepared(preset.settings)
    estimator = build_estimator(preset.settings, dataset.task, views=dataset.views)
    run = []
    for snapshot in estimator.iterate(parts.X_train, parts.y_train):
        run.append(snapshot)
        if snapshot.iteration >= steps_within(SECONDS, preset):
            break
    shown = [(snapshot, estimator) for snapshot in (run[0], run[-1])]
    losses = Curves(np.array([snapshot.iteration for snapshot, _ in shown]))
    return make_replay(shown, scene, parts, method="", losses=losses).moments, (run[0], run[-1])


def change_of(preset):
    """Measure how the picture differs after three seconds.

    Returns ``moved``: how far rows move, root mean square in widths of the plot; ``flattened``: how much narrower the
    cloud is in its short direction, of its long one; ``error``: points of per cent by which the error of training
    rows has fallen, or the share of the mean squared error; ``objective`` and ``reconstruction``: the share by
    which they have fallen.
    """
    (first, last), (start, end) = frames_of(preset)
    places = [moment.frame.latent / np.ptp(moment.frame.latent_extent[:2]) for moment in (first, last)]
    widths = [np.linalg.svd(each - each.mean(axis=0), compute_uv=False) for each in places]
    numbers = {
        "moved": np.sqrt(((places[1] - places[0]) ** 2).sum(axis=1).mean()),
        "flattened": 1.0 - (widths[1][1] / widths[1][0]) / (widths[0][1] / widths[0][0]),
        "objective": 1.0 - end.objective / start.objective,
    }
    errors = [moment.numbers for moment in (first, last)]
    for name in ("train", "test"):
        if all(name in each for each in errors):
            before, after = (each[name] for each in errors)
            regression = prepared(preset.settings).scene.task == "regression"
            numbers[f"{name}_error"] = 1.0 - after / before if regression else before - after
    if "reconstruction" in start.losses:
        numbers["reconstruction"] = 1.0 - end.losses["reconstruction"] / start.losses["reconstruction"]
    return {name: float(value) for name, value in numbers.items()}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in CHANGES]
)
def test_the_change_shows_within_three_seconds(name):
    numbers = change_of(PRESETS[name])
    claims = [read_claim(text) for text in CHANGES[name]]
    assert None not in claims
    false = [f"{claim}, but it is {numbers.get(claim.name)}" for claim in claims if not claim.holds(numbers)]
    assert not false, "\n".join(false)


def test_every_example_at_hand_promises_a_change():
    assert set(CHANGES) == set(CLAIMS)
