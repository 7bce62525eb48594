"""Runs side by side: level by iteration or by time, and each as if it were alone."""

import threading
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest

from supdr.baselines import PCAProjection
from supdr.engine.interruption import result_of
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.compare.lockstep import SLACK, LockStep
from supdr_viz.run.pool import Pool
from supdr_viz.run.run_machine import STEPS_PER_SECOND
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from tests.viz.hands import Hands

MOONS = {"data": "moons", "data_options": {"n_samples": 80}}
ENDLESS = {"tol": -1.0, "max_iter": 5000}
BASE = Settings(**MOONS, method="LSDR", method_options=ENDLESS)
OTHERS = (
    BASE,
    replace(BASE, method_options={**ENDLESS, "beta": 0.9}),
    Settings(**MOONS, method="NSDR", method_options=ENDLESS),
    Settings(**MOONS, method="MAC", method_options={**ENDLESS, "n_centers": 20, "mu_factor": 1.01}),
)


class Watched(LockStep):
    """Notes after each step how far the runs are apart, and how long it took, and says so."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.apart, self.news = [], threading.Event()
        self.seconds, self.longest = {}, 0.0

    @property
    def iterations(self):
        return [player.iteration for player in self._members]

    def stepped(self, player):
        first, then = self.iterations, self.iterations
        self.apart.append(max(first) - min(then))  # between the two readings they were at least so far apart
        self.longest = max(self.longest, player.seconds - self.seconds.get(player, 0.0))
        self.seconds[player] = player.seconds
        super().stepped(player)
        self.news.set()


class Group:
    def __init__(self, measure="iteration", speed="fast"):
        self.hands, self.lockstep, self.sessions = Hands(), Watched(measure, speed), []

    def add(self, settings):
        session = Session(self.hands.pool, lambda: None, self.lockstep)
        self.lockstep.join(session.player)
        session.apply(Experiment(settings), like=self.sessions[0] if self.sessions else None)
        self.sessions.append(session)
        self.hands.rest()
        return session

    def until(self, condition):
        return self.hands.until(condition)

    def settle(self):
        self.hands.rest()

    @property
    def iterations(self):
        return [session.player.iteration for session in self.sessions]


@pytest.fixture
def group():
    made = Group()
    for settings in OTHERS:
        made.add(settings)
    return made


def straight(session, count):
    """The method on its own, through the library."""
    estimator = type(session.estimator)(**{**session.estimator.get_params(deep=False), "max_iter": count})
    *_, last = estimator.iterate(session.split.X_train, session.split.y_train)
    return last


def assert_same_state(ours, theirs):
    assert ours.iteration == theirs.iteration
    for mine, expected in zip(ours.state, theirs.state):
        if isinstance(mine, np.ndarray):
            np.testing.assert_array_equal(mine, expected)


def test_all_start_from_the_same_rows_and_split(group):
    first = group.sessions[0]
    for other in group.sessions[1:]:
        assert other.split is first.split
        assert other.dataset is first.dataset
        assert other.settings.seed == first.settings.seed


def test_single_steps_take_all_to_the_same_iteration_and_equal_single_runs(group):
    for _ in range(4):
        assert group.lockstep.step()
    group.settle()
    assert group.iterations == [4, 4, 4, 4]
    for session in group.sessions:
        assert_same_state(session.player.newest, straight(session, 4))


def test_running_never_parts_them_by_more_than_a_step_and_pausing_levels_them(group):
    group.lockstep.run()
    group.until(lambda: min(group.iterations) >= 25)
    group.lockstep.pause()
    group.settle()
    assert max(group.lockstep.apart) == 1
    assert len(set(group.iterations)) == 1
    for session in group.sessions:
        assert_same_state(session.player.newest, straight(session, group.iterations[0]))


def test_threads_do_not_part_them_either():
    lockstep, pool, sessions = Watched("iteration", "fast"), Pool(threads=3), []
    for settings in OTHERS:
        session = Session(pool, lockstep.news.set, lockstep)
        lockstep.join(session.player)
        session.apply(Experiment(settings), like=sessions[0] if sessions else None)
        sessions.append(session)

    def until(condition):
        while not condition():
            assert lockstep.news.wait(60)
            lockstep.news.clear()

    for goal in (25, 50, 75):
        lockstep.run()
        until(lambda goal=goal: min(lockstep.iterations) >= goal)
        lockstep.pause()
        until(lambda: len(set(lockstep.iterations)) == 1)
        for session in sessions:
            newest = session.player.newest
            assert_same_state(newest, straight(session, newest.iteration))
    assert max(lockstep.apart) <= 1
    for session in sessions:
        session.close()


def test_a_run_waits_for_those_that_are_called_after_it(group, monkeypatch):
    for session in group.sessions:
        begin = session.player.run
        monkeypatch.setattr(session.player, "run", lambda begin=begin: (begin(), group.hands.work(0.05)))
    group.lockstep.run()
    group.until(lambda: min(group.iterations) >= 10)
    assert max(group.lockstep.apart) <= 1


def test_by_time_those_who_are_quick_take_more_steps(group):
    group.lockstep.set_measure("time")
    group.lockstep.run()
    group.until(lambda: min(s.player.seconds for s in group.sessions) > 0.15)
    group.lockstep.pause()
    group.settle()
    clocks = np.array([s.player.seconds for s in group.sessions])
    # nobody is ahead by more than its own last step and the slack, however long the machine made that step
    assert np.ptp(clocks) <= group.lockstep.longest + SLACK["time"] + 1e-9
    assert len(set(group.iterations)) > 1


def test_a_new_column_catches_up_with_the_others(group):
    dropped = group.sessions.pop()
    group.lockstep.leave(dropped.player)
    dropped.close()
    group.lockstep.run()
    group.until(lambda: min(group.iterations) >= 20)
    group.lockstep.pause()
    group.settle()
    reached = group.iterations[0]
    late = group.add(OTHERS[3])
    assert late.player.newest.iteration == 0
    group.lockstep.run()
    group.until(lambda: late.player.newest.iteration > 5)
    group.until(lambda: min(group.iterations) > reached)
    group.lockstep.pause()
    group.settle()
    assert len(set(group.iterations)) == 1


def test_methods_without_iterations_and_finished_runs_hold_nobody_up(group):
    group.sessions[0].apply(Experiment(replace(BASE, method="PCAProjection", method_options={})))
    group.sessions[1].apply(Experiment(BASE.with_options(max_iter=3)))
    group.lockstep.run()
    group.until(lambda: min(group.iterations[2:]) >= 10)
    assert group.iterations[:2] == [1, 3]
    assert group.sessions[1].player.status.phase is Phase.finished
    assert group.sessions[0].player.seconds > 0


@pytest.mark.parametrize("measure", ["iteration", "time"])
def test_nobody_waits_for_the_one_fit_of_a_method_without_iterations(measure, monkeypatch):
    """UMAP's first fit takes half a minute, in another process: nothing but waiting for this one."""
    fit, elsewhere = PCAProjection._once, Future()

    def when_told(*given):
        result_of(elsewhere)
        return fit(*given)

    monkeypatch.setattr(PCAProjection, "_once", when_told)
    lockstep, pool, sessions = Watched(measure, "fast"), Pool(threads=1), []
    for settings in (replace(BASE, method="PCAProjection", method_options={}), *OTHERS[:2]):
        session = Session(pool, lockstep.news.set, lockstep)
        lockstep.join(session.player)
        session.apply(Experiment(settings), like=sessions[0] if sessions else None)
        sessions.append(session)
    held, *others = [session.player for session in sessions]

    def until(condition):
        while not condition():
            assert lockstep.news.wait(60)
            lockstep.news.clear()

    lockstep.run()
    until(lambda: min(player.iteration for player in others) >= 20)
    assert held.status.phase is Phase.preparing
    lockstep.pause()
    until(lambda: measure == "time" or len({player.iteration for player in others}) == 1)
    before = [player.iteration for player in others]
    assert lockstep.step()
    until(lambda: sum(player.iteration for player in others) > sum(before))
    assert held.status.phase is Phase.preparing
    elsewhere.set_result(None)
    until(lambda: held.status.phase is Phase.finished)
    for session in sessions:
        session.close()


def test_a_failing_column_says_why_and_the_others_go_on(group):
    group.sessions[0].player.change(group.sessions[0].estimator.set_params(beta=-1.0))
    group.until(lambda: group.sessions[0].player.status.phase is Phase.failed)
    assert "beta" in group.sessions[0].player.status.message
    group.lockstep.run()
    group.until(lambda: min(group.iterations[1:]) >= 5)


def test_reset_takes_all_back_and_an_earlier_iteration_can_be_carried_on_from(group):
    group.lockstep.run()
    group.until(lambda: min(group.iterations) >= 20)
    group.lockstep.pause()
    group.settle()
    group.lockstep.show(5)
    group.lockstep.step()
    group.settle()
    assert group.iterations == [6, 6, 6, 6]
    group.lockstep.reset()
    group.settle()
    assert group.iterations == [0, 0, 0, 0]
    assert not group.lockstep.going


def test_everything_converged_leaves_nothing_to_run():
    group = Group()
    group.add(replace(BASE, method="LDA", method_options={}))
    assert not group.lockstep.run()
    assert not group.lockstep.step()


@pytest.mark.parametrize("speed", ["slow", "normal"])
def test_the_speed_is_that_of_a_single_run(speed):
    group = Group(speed=speed)
    for settings in OTHERS[:2]:
        group.add(settings)
    group.lockstep.run()
    group.hands.work(4.0)
    assert group.iterations[0] == pytest.approx(4 * STEPS_PER_SECOND[speed], abs=2)
    assert max(group.lockstep.apart) <= 1
