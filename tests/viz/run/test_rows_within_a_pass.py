"""Rows on disk, watched: what is shown before a pass is complete, and what is said of all rows meanwhile."""

from dataclasses import replace

import numpy as np
import pytest

from supdr.rows import partitions, waiting
from supdr_viz.data import rows_on_disk
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.run.session import Session
from supdr_viz.views.latent_space import LatentSpace
from supdr_viz.views.points import Points
from tests.viz.clouds import settings_of
from tests.viz.hands import Hands

pytestmark = pytest.mark.usefixtures("in_this_thread")


def watched(experiment):
    """Return hands, a session, and what a page that takes every frame has been shown: frames with their surfaces."""
    hands, seen = Hands(look=0.1), []  # work takes so long that every frame is due

    def look():
        frame = session.player.take_frame()
        if frame is not None:
            seen.append((frame, session.player.take_surface()))
            session.player.request_frame()

    session = Session(hands.pool, look)
    session.apply(experiment)
    hands.rest()
    return hands, session, seen


def test_the_sample_is_shown_before_all_rows_are_known_and_moves_within_a_pass(experiment):
    hands, session, seen = watched(experiment)
    first = seen[0][0]
    assert (first.latent_caption, first.numbers) == ("the sample alone", {})
    assert np.isfinite(first.latent).all()
    start = seen[-1][0]
    assert start.latent_caption == "placed using labels"
    seen.clear()
    session.player.step()
    hands.rest()
    within = [frame for frame, _ in seen if frame.latent_caption == "within pass 1"]
    last = seen[-1][0]
    assert len(within) >= 3
    # Numbers are of complete iterations; places are those of the pass.
    assert all(frame.iteration == 0 and frame.numbers["objective"] == start.numbers["objective"] for frame in within)
    np.testing.assert_allclose(within[-1].latent, last.latent, atol=1e-6)
    assert np.abs(within[-1].latent - start.latent).max() > 1e-3
    assert last.iteration == 1
    assert session.player.curves()[0].iteration.tolist() == [0, 1]


def test_a_knob_is_answered_from_where_the_run_stands(experiment, monkeypatch):
    hands, session, _ = watched(experiment)
    session.player.step()
    hands.rest()
    visits, answered, compute = [], [], waiting.persist_and_compute
    for module in (waiting, partitions):
        monkeypatch.setattr(module, "persist_and_compute", lambda *a, **k: visits.append(1) or compute(*a, **k))

    def look():
        if session.player.hurries:
            answered.append(len(visits))

    session.player._worker._notify = look
    session.apply(Experiment(settings_of(C=5.0), experiment.table))
    hands.rest()
    assert answered[0] <= 1  # the first frame waits for no more than one round over the partitions


def test_what_is_said_of_all_rows_is_of_all_rows_or_says_when_it_was(experiment):
    hands, session, seen = watched(experiment)
    session.player._reel.painter._surfaces._next_count = np.inf  # counting is not due again before the run rests
    session.player.run(until=2)
    hands.rest()
    running = [(frame, surface) for frame, surface in seen if surface is not None and surface.iteration == 1]
    assert running
    for _, surface in running:
        assert surface.counted == 0
        assert surface.rates == {}
    frame, surface = next(pair for pair in reversed(seen) if pair[1] is not None)
    assert surface.iteration == surface.counted == 2
    assert surface.rates
    assert set(session.player.curves()[1].iteration) == {0, 2}
    plane = LatentSpace(points := Points())
    points.frame, points.surface = replace(frame, iteration=1), running[-1][1]
    assert plane.caption() == "placed using labels · density of iteration 0"


@pytest.mark.parametrize("method", ["LSDR", "SDRGLM"])
def test_numbers_are_shown_as_the_sample_begins_before_all_rows_are_known(offered, method):
    options = {"name": "clouds", "target": "column 3", "task": "regression"}
    settings = Settings(data="rows", data_options=options, method=method, test_share=0.25, seed=3, speed="fast")
    _, session, seen = watched(Experiment(settings, rows_on_disk.open_rows(*options.values())))
    first, last = seen[0][0], seen[-1][0]
    assert (first.latent_caption, first.numbers) == ("the sample alone", {})
    assert np.isfinite(first.latent).all()
    assert last.latent_caption == "placed using labels"
    assert session.scene.task == "regression"
