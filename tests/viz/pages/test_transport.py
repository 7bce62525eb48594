"""The transport: buttons, keys and scrubber do the same to one run and to several in step."""

import asyncio
from weakref import WeakSet

import pytest

from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.compare.lockstep import LockStep
from supdr_viz.pages.transport import Transport
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.visitor import Visit
from supdr_viz.views.stage.components import Hub
from supdr_viz.views.stage.stage import Stage
from tests.viz.hands import Hands, press

MOONS = {"data": "moons", "data_options": {"n_samples": 80}}
ENDLESS = {"tol": -1.0, "max_iter": 5000}


class Played:
    """A transport, what it plays, and what it said."""

    def __init__(self, target, hands):
        self.target, self.hands, self.said, self.bridge = target, hands, [], Bridge(Visit())
        self.transport = Transport(
            target,
            self.bridge,
            Hub(Stage()),
            "fast",
            WeakSet(),
            on_speed=lambda speed: self.said.append(speed),
            on_nothing_left=lambda: self.said.append("nothing left"),
            on_escape=lambda: self.said.append("escape"),
            on_key=self.said.append,
        )
        self.bar = self.transport.bar

    def press(self, key):
        press(self.bridge, key)

    def reach(self, iteration):
        self.hands.until(lambda: self.target.iteration >= iteration)


@pytest.fixture(params=["one run", "two in step"])
def played(request):
    hands, lockstep = Hands(), LockStep(speed="fast")
    if request.param == "one run":
        session = Session(hands.pool, lambda: None)
        session.apply(Experiment(Settings(**MOONS, method="LSDR", method_options=ENDLESS, speed="fast")))
        target = session.player
    else:
        for method in ("LSDR", "NSDR"):
            session = Session(hands.pool, lambda: None, lockstep)
            lockstep.join(session.player)
            session.apply(Experiment(Settings(**MOONS, method=method, method_options=ENDLESS)))
        target = lockstep
    hands.rest()
    return Played(target, hands)


class Document:
    """That of a page, in whose loop the test runs."""

    def add_next_tick_callback(self, callback):
        callback()


async def finish(compiler, number):
    """Let the compiler have finished what the page waited for at a place in the order, from a thread of its own."""
    _, callback = compiler.waiting[number]
    await asyncio.to_thread(callback, compiler)
    await asyncio.sleep(0.01)


def test_nothing_runs_until_the_kernels_of_its_method_are_compiled(compiler):
    async def scenario():
        hands, done = Hands(), []
        played = Played(Session(hands.pool, lambda: None).player, hands)
        wait = played.transport.kernels
        assert wait.hold(["MAC"], lambda: done.append("MAC"))
        assert wait.waiting
        assert not compiler.waiting  # there is no page yet to come back to
        wait.attach(Document())
        assert not played.bar.enabled
        assert "Compiling MAC, once per installation: 0 s" in played.bar.status.text
        assert "kernel 3 of 9" in played.bar.status.text
        assert wait.hold(["NSDR", "LSDR"], lambda: done.append("two"))  # something else was chosen meanwhile
        assert compiler.waiting[1][0] == ("NSDR", "LSDR")
        await finish(compiler, 0)
        assert not done
        await finish(compiler, 1)
        assert done == ["two"]
        assert not wait.waiting

    asyncio.run(scenario())


def test_a_compiler_that_fails_holds_nothing_back(compiler):
    async def scenario():
        hands, done = Hands(), []
        wait = Played(Session(hands.pool, lambda: None).player, hands).transport.kernels
        wait.attach(Document())
        assert wait.hold(["MAC"], lambda: done.append(1))
        compiler.error = "no compiler"
        await finish(compiler, 0)
        assert done
        assert not wait.hold(["NSDR"], lambda: done.append(2))

    asyncio.run(scenario())


@pytest.mark.parametrize("how", ["button", "key"])
def test_run_pause_step_and_reset(played, how):
    def press(name):
        if how == "key":
            played.press({"run": " ", "step": "ArrowRight", "reset": "r"}[name])
        else:
            getattr(played.bar, name).clicks += 1

    press("run")
    assert played.target.going
    played.reach(5)
    press("run")
    assert not played.target.going
    played.hands.rest()
    here = played.target.iteration
    press("step")
    played.hands.rest()
    assert played.target.iteration == here + 1
    press("reset")
    played.hands.rest()
    assert played.target.iteration == 0
    assert not played.said


def test_scrubbing_looks_back_and_live_returns(played):
    played.transport.toggle()
    played.reach(20)
    played.transport.show_range(0, 20, 20)
    assert played.bar.live.disabled
    played.bar.scrubber.value = 7
    assert played.transport.viewing
    assert not played.bar.live.disabled
    played.transport.show_range(0, 25, 25)  # the run goes on
    assert played.bar.scrubber.value == 7
    played.transport.show_viewing(7)
    assert "viewing 7" in played.bar.status.text
    assert played.bar.run.label == "Pause"
    played.transport.toggle()
    assert played.transport.viewing  # pausing changes nothing of what is looked at
    played.bar.live.clicks += 1
    assert not played.transport.viewing
    played.transport.show_range(0, 25, 25)
    assert played.bar.scrubber.value >= played.bar.scrubber.end == 25


def test_going_on_from_an_earlier_iteration(played):
    played.transport.toggle()
    played.reach(20)
    played.transport.toggle()
    played.hands.rest()
    played.transport.show_range(0, played.target.iteration, played.target.iteration)
    played.bar.scrubber.value = 7
    played.transport.step()
    played.hands.rest()
    assert played.target.iteration == 8
    assert not played.transport.viewing


def test_the_newest_iteration_is_not_looked_back_at(played):
    played.transport.step()
    played.hands.rest()
    played.transport.scrub(1)
    assert not played.transport.viewing


def test_what_cannot_run_takes_no_keys_but_those_that_do_not_run(played):
    played.transport.refuse("Press Load to fetch ionosphere.", waiting=True)
    for key in (" ", "ArrowRight", "r"):
        played.press(key)
    assert not played.target.going
    assert played.target.iteration == 0
    assert "waiting" in played.bar.status.text
    assert "ionosphere" in played.bar.status.text
    played.press("Escape")
    assert played.said == ["escape"]
    played.transport.refuse("LDA predicts classes.", waiting=False)
    assert "failed" in played.bar.status.text


def test_other_keys_and_the_speed_are_passed_on(played):
    played.bar.speed.value = "slow"
    played.transport.key("next")
    assert played.said == ["slow", "next"]


def test_the_state_is_said_in_the_words_of_the_phases(played):
    played.transport.toggle()
    played.transport.show_state(Phase.running)
    assert "running" in played.bar.status.text
    assert played.bar.run.label == "Pause"
    played.transport.toggle()
    played.transport.show_state(Phase.paused)
    assert "paused" in played.bar.status.text
    assert played.bar.run.label == "Run"


def test_nothing_left_to_run_is_said():
    hands, lockstep = Hands(), LockStep(speed="fast")
    session = Session(hands.pool, lambda: None, lockstep)
    lockstep.join(session.player)
    session.apply(Experiment(Settings(**MOONS, method="LDA")))
    hands.rest()
    played = Played(lockstep, hands)
    played.transport.toggle()
    played.transport.step()
    assert played.said == ["nothing left"] * 2
