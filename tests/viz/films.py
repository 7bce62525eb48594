"""Finished runs and their films."""

from supdr_viz.experiment.experiment import Experiment
from supdr_viz.export.replay import make_replay
from supdr_viz.run.frame_builder import DisplayOptions
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from tests.viz.hands import Hands


def finished(settings):
    """A session whose run has come to its end."""
    hands = Hands()
    made = Session(hands.pool, lambda: None)
    made.apply(Experiment(settings))
    made.player.set_speed("fast")
    made.player.run()
    hands.until(lambda: made.player.status.phase is Phase.finished)
    return made


def film(session, limit=40, **options):
    return make_replay(
        session.player.recorded,
        session.scene,
        session.split,
        method=session.settings.method,
        losses=session.player.curves(500)[0],
        limit=limit,
        options=DisplayOptions(**{"method_mode": "none", **options}),
    )
