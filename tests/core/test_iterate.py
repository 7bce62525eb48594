"""The loop that every method runs in, on the smallest of problems."""

import itertools
import pickle
import threading
import time

import pytest

from supdr import Stop
from supdr.engine.context import RunContext, timed_part
from supdr.engine.interruption import Interrupted, checkpoint
from supdr.engine.iterate import Problem, iterate, run


class Counter(tuple):
    """The smallest state."""

    __slots__ = ()
    iteration = property(lambda self: self[0])
    seed = property(lambda self: self[1])

    def __new__(cls, iteration, seed):
        return super().__new__(cls, (iteration, seed))


class Sawtooth(Problem):
    """Objective 10, 9, ..., with a held-out error that is best at step 3."""

    def start(self, seed):
        return Counter(0, seed)

    def step(self, state):
        return Counter(state.iteration + 1, state.seed)

    def terms(self, state):
        return {"only": 10.0 - 0.1 * state.iteration}


def test_early_stopping_keeps_the_best_iterate():
    def monitor(state):
        return (abs(state.iteration - 3.0), 0.0)

    last, stop = run(Sawtooth(), max_iter=50, tol=0.0, monitor=monitor, n_iter_no_change=4)
    assert stop is Stop.no_improvement
    assert last.iteration == 3
    last, stop = run(Sawtooth(), max_iter=5, tol=0.0, monitor=monitor, n_iter_no_change=4)
    assert stop is Stop.max_iter
    assert last.iteration == 3


def test_checkpoints_reach_into_a_step():
    class Endless(Problem):
        def start(self, seed):
            return Counter(0, seed)

        def step(self, state):
            while True:
                checkpoint()

        def terms(self, state):
            return {"nothing": 1.0}

    asked = itertools.count()
    last, stop = run(Endless(), max_iter=3, context=RunContext(stop_requested=lambda: next(asked) >= 100))
    assert stop is Stop.interrupted
    assert last.iteration == 0
    checkpoint()  # outside of a run it does nothing
    assert issubclass(Interrupted, Exception)


def test_a_run_can_be_stopped_before_its_starting_point_is_ready():
    class Slow(Problem):
        def start(self, seed):
            while True:
                checkpoint()

    assert list(iterate(Slow(), max_iter=3, context=RunContext(stop_requested=lambda: True))) == []
    with pytest.raises(Interrupted, match="before its starting point was ready"):
        run(Slow(), max_iter=3, context=RunContext(stop_requested=lambda: True))


def test_parts_of_a_step_are_timed_where_they_are_named():
    """No clock is so exact: what was slept is a lower bound, and what has passed an upper one."""

    class Two(Problem):
        def start(self, seed):
            with timed_part("never told"):  # a start is no step
                return Counter(0, seed)

        def step(self, state):
            for seconds in (0.02, 0.03):
                with timed_part("working"):
                    time.sleep(seconds)
            time.sleep(0.01)
            with timed_part("nothing"):
                pass
            return Counter(state.iteration + 1, state.seed)

        def terms(self, state):
            return {"left": 9.0 - state.iteration}

    first, second, third = iterate(Two(), max_iter=2)
    assert first.parts == {}
    assert first.elapsed == 0.0
    for before, after in ((first, second), (second, third)):
        assert set(after.parts) == {"working", "nothing"}
        assert after.parts["working"] >= 0.05
        assert after.parts["nothing"] >= 0.0
        assert sum(after.parts.values()) + 0.01 <= after.elapsed - before.elapsed
    with timed_part("outside of a run"):
        pass


class Watched(Sawtooth):
    """Counts how often each state is looked at."""

    def __init__(self):
        self.looks, self.running = [], True

    def readings(self, state):
        return {"step": float(state.iteration)}

    def diagnostics(self, state):
        time.sleep(0.02)  # long enough for another thread to come in between
        self.looks.append(state.iteration)
        return {"square": float(state.iteration**2)}

    def release(self):
        self.running = False


def test_diagnostics_are_computed_when_they_are_looked_at():
    problem = Watched()
    snapshots = list(iterate(problem, max_iter=5, monitor=lambda state: (1.0,), n_iter_no_change=50))
    assert [snapshot.diagnostics["step"] for snapshot in snapshots[:6]] == [0, 1, 2, 3, 4, 5]
    assert snapshots[2].diagnostics["validation_error"] == 1.0
    assert problem.looks == []
    assert dict(snapshots[3].diagnostics) == {"step": 3.0, "square": 9.0, "validation_error": 1.0}
    assert snapshots[3].diagnostics["square"] == 9.0
    assert "bound" not in snapshots[3].diagnostics
    assert problem.looks == [3]
    with pytest.raises(KeyError, match="bound"):
        snapshots[4].diagnostics["bound"]
    assert problem.looks == [3, 4]


def test_the_last_snapshot_shares_what_was_computed():
    """Early stopping yields the best iterate once more: it is not looked at twice."""
    problem = Watched()
    best = (abs(step - 3.0) for step in range(50))
    snapshots = list(iterate(problem, max_iter=50, monitor=lambda state: (next(best),), n_iter_no_change=2))
    assert [snapshot.iteration for snapshot in snapshots] == [0, 1, 2, 3, 4, 5, 3]
    assert snapshots[3].diagnostics["square"] == snapshots[-1].diagnostics["square"] == 9.0
    assert problem.looks == [3]


def test_two_threads_look_at_once():
    problem = Watched()
    last, _ = run(problem, max_iter=4)
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(last.diagnostics["square"])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [16.0] * 4
    assert problem.looks == [4]


def test_a_saved_snapshot_knows_its_diagnostics():
    problem = Watched()
    last, _ = run(problem, max_iter=2)
    saved = pickle.loads(pickle.dumps(last.diagnostics))
    assert dict(saved) == dict(last.diagnostics) == {"step": 2.0, "square": 4.0}


def test_diagnostics_get_better_for_those_who_stay_until_they_stand():
    class Sharp(Watched):
        more = 3

        def refined_diagnostics(self, state):
            self.more -= 1
            return {"square": 16.0 + self.more} if self.more else None

    last, _ = run(Sharp(), max_iter=4)
    assert last.diagnostics["square"] == 16.0
    seen = []
    while last.diagnostics.refine():
        seen.append(dict(last.diagnostics))
    assert seen == [{"step": 4.0, "square": 18.0}, {"step": 4.0, "square": 17.0}]
    assert not last.diagnostics.refine()
    plain, _ = run(Watched(), max_iter=4)
    assert not plain.diagnostics.refine()


def test_a_problem_hears_of_the_end_of_its_run():
    whole, part_of_it = Watched(), Watched()
    run(whole, max_iter=2)
    snapshots = iterate(part_of_it, max_iter=9)
    next(snapshots)
    assert part_of_it.running
    snapshots.close()
    assert not part_of_it.running
    assert not whole.running
