"""Runs side by side: level by iteration or by time, and each as if it were alone."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from supdr_viz.compare.lockstep import LockStep
from supdr_viz.run.player import STEPS_PER_SECOND
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from supdr_viz.settings.state import Settings

MOONS = {"data": "moons", "data_options": {"n_samples": 80}}
ENDLESS = {"tol": -1.0, "max_iter": 5000}
BASE = Settings(**MOONS, method="LSDR", method_options=ENDLESS)
OTHERS = (
    BASE,
    replace(BASE, method_options={**ENDLESS, "beta": 0.9}),
    Settings(**MOONS, method="NSDR", method_options=ENDLESS),
    Settings(**MOONS, method="MAC", method_options={**ENDLESS, "n_centers": 20, "mu_factor": 1.01}),
)


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError("waited in vain")


class Group:
    def __init__(self, threads=1, measure="iteration", speed="fast"):
        self.pool = Pool(threads)
        self.lockstep = LockStep(measure, speed)
        self.sessions = []

    def add(self, settings):
        session = Session(self.pool, lambda: None, self.lockstep)
        self.lockstep.join(session.trainer)
        session.apply(settings, like=self.sessions[0] if self.sessions else None)
        self.sessions.append(session)
        return session

    @property
    def iterations(self):
        return [s.trainer.newest.iteration if s.trainer.newest else -1 for s in self.sessions]

    @property
    def phases(self):
        return {session.trainer.status.phase for session in self.sessions}

    def ready(self):
        wait_for(lambda: Phase.preparing not in self.phases)
        return self

    def settled(self):
        """Wait until no step is under way or due; the last step of one run may have made steps of others due."""

        def at_rest():
            with self.pool._changed:  # nothing begins meanwhile
                trainers = [session.trainer for session in self.sessions]
                return not self.pool._busy and not any(trainer.pending or trainer.going for trainer in trainers)

        wait_for(at_rest)

    def close(self):
        for session in self.sessions:
            session.close()


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"])
def group(request):
    made = Group(request.param)
    for settings in OTHERS:
        made.add(settings)
    yield made.ready()
    made.close()


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
    group.settled()
    assert group.iterations == [4, 4, 4, 4]
    for session in group.sessions:
        assert_same_state(session.trainer.newest, straight(session, 4))


def test_running_never_parts_them_by_more_than_a_step_and_pausing_levels_them(group):
    apart = []
    group.lockstep.run()
    while min(group.iterations) < 25:
        first, then = group.iterations, group.iterations
        apart.append(max(first) - min(then))  # between the two readings they were at least so far apart
        time.sleep(0.002)
    group.lockstep.pause()
    group.settled()
    assert max(apart) <= 1
    assert len(set(group.iterations)) == 1
    for session in group.sessions:
        assert_same_state(session.trainer.newest, straight(session, group.iterations[0]))


def test_a_run_waits_for_those_that_are_called_after_it(group, monkeypatch):
    for session in group.sessions:
        begin = session.trainer.run
        monkeypatch.setattr(session.trainer, "run", lambda begin=begin: (begin(), time.sleep(0.05)))
    apart = []
    threading.Thread(target=group.lockstep.run).start()
    while min(group.iterations) < 10:
        first, then = group.iterations, group.iterations
        apart.append(max(first) - min(then))
        time.sleep(0.002)
    assert max(apart) <= 1


def test_by_time_those_who_are_quick_take_more_steps(group):
    group.lockstep.set_measure("time")
    group.lockstep.run()
    wait_for(lambda: min(s.trainer.seconds for s in group.sessions) > 0.15)
    group.lockstep.pause()
    group.settled()
    clocks = np.array([s.trainer.seconds for s in group.sessions])
    steps = np.array(group.iterations)
    # nobody is ahead by more than its own last step and the slack
    slowest = max(s.trainer.seconds / s.trainer.newest.iteration for s in group.sessions)
    assert np.ptp(clocks) <= 20 * slowest + 0.02
    assert steps.max() > 1.5 * steps.min()


def test_a_new_column_catches_up_with_the_others(group):
    dropped = group.sessions.pop()
    group.lockstep.leave(dropped.trainer)
    dropped.close()
    group.lockstep.run()
    wait_for(lambda: min(group.iterations) >= 20)
    group.lockstep.pause()
    group.settled()
    reached = group.iterations[0]
    late = group.add(OTHERS[3])
    group.ready()
    assert late.trainer.newest.iteration == 0
    group.lockstep.run()
    wait_for(lambda: late.trainer.newest.iteration > 5)
    wait_for(lambda: min(group.iterations) > reached)
    group.lockstep.pause()
    group.settled()
    assert len(set(group.iterations)) == 1


def test_methods_without_iterations_and_finished_runs_hold_nobody_up(group):
    group.sessions[0].apply(replace(BASE, method="PCAProjection", method_options={}))
    group.sessions[1].apply(replace(BASE, method_options={**BASE.method_options, "max_iter": 3}))
    group.ready()
    group.lockstep.run()
    wait_for(lambda: min(group.iterations[2:]) >= 10)
    assert group.iterations[:2] == [1, 3]
    assert group.sessions[1].trainer.status.phase is Phase.finished
    assert group.sessions[0].trainer.seconds > 0


def test_a_failing_column_says_why_and_the_others_go_on(group):
    group.sessions[0].trainer.change(group.sessions[0].estimator.set_params(beta=-1.0))
    wait_for(lambda: group.sessions[0].trainer.status.phase is Phase.failed)
    assert "beta" in group.sessions[0].trainer.status.message
    group.lockstep.run()
    wait_for(lambda: min(group.iterations[1:]) >= 5)


def test_reset_takes_all_back_and_an_earlier_iteration_can_be_carried_on_from(group):
    group.lockstep.run()
    wait_for(lambda: min(group.iterations) >= 20)
    group.lockstep.pause()
    group.settled()
    group.lockstep.show(5)
    group.lockstep.step()
    group.settled()
    assert group.iterations == [6, 6, 6, 6]
    group.lockstep.reset()
    group.ready()
    assert group.iterations == [0, 0, 0, 0]
    assert not group.lockstep.running


def test_everything_converged_leaves_nothing_to_run():
    group = Group()
    group.add(replace(BASE, method="LDA", method_options={}))
    group.ready()
    assert not group.lockstep.run()
    assert not group.lockstep.step()
    group.close()


@pytest.mark.parametrize("speed", ["slow", "normal"])
def test_the_speed_is_that_of_a_single_run(speed):
    group = Group(speed=speed)
    for settings in OTHERS[:2]:
        group.add(settings)
    group.ready()
    began = time.monotonic()
    group.lockstep.run()
    wait_for(lambda: min(group.iterations) >= 8)
    interval, seconds = 1 / STEPS_PER_SECOND[speed], time.monotonic() - began
    put_off = group.lockstep._next_tick - time.monotonic()
    group.close()
    assert seconds > 6 * interval - 0.02  # the first two may come at once
    assert put_off <= interval
