"""The explorer tells the truth in every state, whichever came before: chip, buttons, notice, and whether it is grey."""

from dataclasses import replace

import pytest

from supdr.baselines import KNN
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.explorer.page import Explorer
from supdr_viz.pages.service import Service
from supdr_viz.ui.markup import EMPTY
from tests.viz.hands import Hands

MOONS = Settings(
    data="moons",
    data_options={"n_samples": 60},
    method="LSDR",
    method_options={"tol": -1.0, "max_iter": 5000},
    speed="slow",
)
ENDS = MOONS.with_options(max_iter=2)


def fails(*_arguments, **_options):
    raise ValueError("There are no neighbours.")


class Screen:
    """An explorer that nobody's browser draws: it shows how its run stands when it is told to."""

    def __init__(self, hands):
        self.hands = hands
        self.page = Explorer(Service(pool=hands.pool), MOONS, [])
        self.draw()

    def look(self):
        player = self.page.session.player
        self.page.link._draw(player.take_frame(), player.take_surface(), player.status)
        player.request_frame()

    def draw(self):
        for _ in range(3):
            self.hands.rest()
            self.look()

    # --- ways into each state ---------------------------------------------------------------------------------------

    def become_empty(self):
        self.page.controls.apply(Settings(data="file", data_options={"name": "away.csv"}, method="LSDR"))
        self.draw()

    def become_refused(self):
        self.page.controls.apply(Settings(data="diabetes", method="NSDR"))
        self.draw()

    def become_failed(self):
        self.begin(replace(MOONS, method="KNN", method_options={}))
        self.draw()

    def begin(self, settings):
        self.page.session.player.pause()  # what runs would go on with the new settings
        self.page.controls.apply(replace(settings, seed=self.page.controls.settings.seed + 1))

    def become_preparing(self):
        self.begin(MOONS)
        self.look()

    def become_ready(self):
        self.begin(MOONS)
        self.draw()

    def become_running(self):
        self.become_ready()
        self.page.transport.toggle()
        self.hands.work(1.0)
        self.look()

    def become_finished(self):
        self.begin(ENDS)
        self.draw()
        self.page.transport.toggle()
        self.draw()

    # --- what is seen -----------------------------------------------------------------------------------------------

    @property
    def grey(self):
        """The plots, as a browser is told: what it is not told anew it keeps."""
        styles = self.page.layout.cards.styles
        return {("1", "auto"): False, ("0.3", "none"): True}[styles["opacity"], styles["pointer-events"]]

    @property
    def seen(self):
        bar, layout = self.page.transport.bar, self.page.layout
        return bar._chip[0], self.grey, bar.enabled, layout.notice.shown, layout.about.object != EMPTY


# state: chip, grey, can run, a notice is shown, the rows are described
STATES = {
    "empty": ("waiting", True, False, True, False),
    "refused": ("failed", True, False, True, False),
    "failed": ("failed", True, True, True, True),
    "preparing": ("waiting", True, True, False, True),
    "ready": ("ready", False, True, False, True),
    "running": ("running", False, True, False, True),
    "finished": ("finished", False, True, False, True),
}


@pytest.fixture
def screen(monkeypatch, kernels):
    hands = Hands()
    kernels(True)
    monkeypatch.setattr(KNN, "iterate", fails)
    return Screen(hands)


def walk(states):
    """A way that takes every step from one state to another once."""
    for place, state in enumerate(states):
        for other in states[place + 1 :]:
            yield from (state, other)
    yield states[0]


def test_every_state_is_told_whatever_came_before(screen):
    before = "ready"
    for state in walk(list(STATES)):
        getattr(screen, f"become_{state}")()
        assert screen.seen == STATES[state], f"{before} → {state}"
        before = state


def test_rows_that_are_gone_leave_no_legend(screen):
    assert "keys" in screen.page.finder.legend.html
    screen.become_empty()
    assert "keys" not in screen.page.finder.legend.html
    screen.become_ready()
    assert "keys" in screen.page.finder.legend.html
