"""Runs without threads and without waiting: a test lets the time pass and the work be done."""

from types import SimpleNamespace

from supdr_viz.experiment.build import build_dataset, build_estimator
from supdr_viz.experiment.settings import Settings
from supdr_viz.experiment.splitting import split
from supdr_viz.pictures.scene import build_scene
from supdr_viz.run.pool import ManualPool

SPIRALS = Settings(
    data="spirals", data_options={"n_per_class": 60}, method="LSDR", method_options={"max_iter": 100_000, "tol": 0.0}
)
"""A quick run that does not end by itself."""


class Hands:
    """A pool and a clock in the hands of a test.

    `turn`: seconds that a turn takes; `look`: seconds that pass whenever the pool or a run looks at the clock.
    """

    def __init__(self, turn=0.001, look=0.0):
        self.now, self._turn_takes, self._look_takes = 100.0, turn, look
        self.pool = ManualPool(self._clock)

    def _clock(self):
        self.now += self._look_takes
        return self.now

    def work(self, seconds):
        """Let so much time pass, and do what is due meanwhile."""
        end = self.now + seconds
        while self._turn(end):
            pass
        self.now = end

    def until(self, condition):
        """Let time pass and do what is due until the condition holds; return what it says."""
        while not (value := condition()):
            assert self._turn(float("inf")), "nothing is left to do, and the condition does not hold"
        return value

    def rest(self):
        """Do everything that is due, now or later."""
        while self._turn(float("inf")):
            pass

    def _turn(self, end):
        due = self.pool.due
        if due is None or self.now + due > end:
            return False
        self.now += max(0.0, due)
        self.pool.turn(0.0)
        self.now += self._turn_takes
        return self.now < end


def load(player, settings):
    """Give a player these settings; return the rows as they were divided."""
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    player.load(build_estimator(settings, dataset.task), parts, build_scene(dataset, parts))
    return parts


def next_frame(hands, player, condition=lambda frame: True):
    """Let time pass until a frame comes for which the condition holds; return it."""

    def look():
        frame = player.take_frame()
        if frame is not None:
            player.request_frame()
        return frame if frame is not None and condition(frame) else None

    return hands.until(look)


def reach(hands, player, iteration):
    """Let time pass until a run has come so far."""
    hands.until(lambda: player.iteration >= iteration)


def press(bridge, key):
    """Let the browser of a page report a key, by its name in `supdr_viz.ui.bridge.KEYS`."""
    bridge._received(SimpleNamespace(data={"kind": "key", "key": key}))
