"""The course of a run: what a command or an event makes of it, and when the next step is due."""

import pytest

from supdr.engine.iterate import Stop
from supdr_viz.run.run_machine import LONG_STEP, SLOW_START, STEPS_PER_SECOND, Iterates, RunMachine
from supdr_viz.run.status import Phase

READY = RunMachine().load().opening().opened()
START = 1000.0


def times_of_steps(machine, count, took=0.0, start=START):
    """Take steps as soon as they are due; return when each began."""
    now, times = start, []
    for iteration in range(1, count + 1):
        now = max(now, now + machine.step_due(now))
        times.append(now)
        machine = machine.stepped(iteration, now)
        now += took
    return times


def goes_on_at_once(machine, iteration):
    return iteration < machine.at_once_until(iteration)


def test_it_waits_at_the_start():
    loaded = RunMachine().load()
    assert loaded.status.phase is Phase.preparing
    assert loaded.iterates is Iterates.wanted
    assert READY.status.phase is Phase.ready
    assert not READY.steps_wanted


def test_a_run_asked_for_before_the_start_goes_on_by_itself():
    machine = RunMachine().load().run()
    assert machine.status.phase is Phase.preparing
    machine = machine.opening().opened()
    assert machine.status.phase is Phase.running
    assert machine.steps_wanted


@pytest.mark.parametrize("speed", ["slow", "normal"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_steps_come_at_the_speed_that_was_chosen(speed, share):
    interval = 1 / STEPS_PER_SECOND[speed]
    times = times_of_steps(READY.at_speed(speed).run(), 12, took=share * interval)
    assert times[0] == START  # at once, however long it had waited
    # No more than one step ahead of the beat, which it has found in the end.
    assert all(time >= START + (place - 1.001) * interval for place, time in enumerate(times))
    assert times[11] - times[10] == pytest.approx(interval)


def test_fast_takes_steps_as_they_come():
    assert times_of_steps(READY.at_speed("fast").run(), 4, took=0.5) == [START, START + 0.5, START + 1.0, START + 1.5]


def test_only_steps_that_wait_for_nothing_are_taken_in_a_row():
    fast = READY.at_speed("fast")
    assert goes_on_at_once(fast.run(), 3)
    assert not goes_on_at_once(READY.at_speed("normal").run(), 3)
    assert not goes_on_at_once(fast.step(), 3)
    assert not goes_on_at_once(fast.run().pause(), 3)
    assert not goes_on_at_once(fast.run().suspend(True), 3)
    assert [goes_on_at_once(fast.run(until=5), iteration) for iteration in (4, 5)] == [True, False]
    assert [goes_on_at_once(fast.start_slowly(5).run(), iteration) for iteration in (5, 6)] == [False, True]
    assert goes_on_at_once(READY.at_speed("slow").run(hurry_to=5), 4)


def test_a_run_that_is_late_makes_up_for_no_more_than_one_step():
    interval = 1 / STEPS_PER_SECOND["slow"]
    machine = READY.at_speed("slow").run().stepped(1, START)
    late = START + 10.0
    machine = machine.stepped(2, late)
    assert machine.step_due(late) <= 0
    assert machine.stepped(3, late).step_due(late) == pytest.approx(interval)


def test_another_speed_acts_at_once():
    machine = READY.at_speed("slow").run().stepped(1, START).stepped(2, START)
    assert machine.step_due(START) > 0.3
    assert machine.at_speed("fast").step_due(START) <= 0


def test_a_slow_start_slows_the_first_steps_only():
    times = times_of_steps(READY.at_speed("fast").start_slowly(4).run(), 8)
    assert times[4] - times[0] == pytest.approx(3 / SLOW_START)  # the first two come at once
    assert times[4] == times[7]


def test_hurrying_knows_no_speed():
    times = times_of_steps(READY.at_speed("slow").start_slowly(3).run(until=30, hurry_to=20), 23)
    assert times[19] == START
    assert times[22] > times[21] > START


def test_it_pauses_where_it_was_told_to():
    machine = READY.run(until=5)
    assert machine.stepped(4, START).running
    there = machine.stepped(5, START)
    assert not there.running
    assert there.status.phase is Phase.paused
    assert there.run().until is None


def test_single_steps_are_taken_at_once_one_for_each_time_they_were_asked_for():
    machine = READY.at_speed("slow").step().step()
    assert machine.status.phase is Phase.paused
    assert machine.step_due(START) == 0.0
    machine = machine.stepped(1, START)
    assert machine.steps_wanted
    assert machine.step_due(START) == 0.0
    assert not machine.stepped(2, START).steps_wanted


def test_a_step_ends_a_run():
    machine = READY.run().step()
    assert not machine.running
    assert not machine.stepped(1, START).steps_wanted


def test_suspending_holds_a_run_but_not_single_steps():
    running = READY.run().suspend(True)
    assert not running.steps_wanted
    assert running.status.phase is Phase.running
    assert running.suspend(False).steps_wanted
    assert READY.suspend(True).step().steps_wanted


def test_only_a_long_step_that_nobody_wants_any_more_is_broken_off():
    running = READY.run()
    assert not running.breaks_off(10 * LONG_STEP)
    assert not running.pause().breaks_off(LONG_STEP / 2)
    assert running.pause().breaks_off(2 * LONG_STEP)
    assert not RunMachine().load().opening().breaks_off(10 * LONG_STEP)  # the start is never taken anew


def test_what_was_broken_off_is_taken_anew_if_it_is_wanted_again():
    assert READY.run().pause().interrupted().iterates is Iterates.closed
    assert READY.run().pause().run().interrupted().iterates is Iterates.wanted
    assert READY.run().pause().interrupted().step().iterates is Iterates.wanted


@pytest.mark.parametrize("stop", [Stop.converged, Stop.max_iter, Stop.no_improvement, Stop.diverged])
def test_a_run_that_has_ended_says_why_and_can_go_on(stop):
    machine = READY.run().stepped(7, START, stop)
    assert machine.status.phase is (Phase.diverged if stop is Stop.diverged else Phase.finished)
    assert machine.status.stop is stop
    assert machine.status.message
    assert not machine.steps_wanted
    again = machine.run()
    assert again.iterates is Iterates.wanted
    assert again.status.phase is Phase.running


def test_a_method_without_steps_is_finished_at_its_start():
    machine = RunMachine().load().run().opening().opened(Stop.converged)
    assert machine.status.phase is Phase.finished
    assert machine.iterates is Iterates.closed


def test_what_has_failed_cannot_run_until_it_is_changed():
    failed = READY.run().failed("beta must be positive")
    assert not failed.usable
    assert failed.status.message == "beta must be positive"
    changed = failed.change()
    assert changed.usable
    assert changed.iterates is Iterates.wanted


@pytest.mark.parametrize("command", ["load", "unload", "change", "branch"])
def test_work_under_way_is_not_wanted_after(command):
    running = READY.run().show(3)
    after = getattr(running, command)()
    assert after.version > running.version
    assert after.iterates is not Iterates.open
    assert after.shown is None


def test_changes_and_scrubbing_leave_a_run_running():
    running = READY.run()
    for machine in (running.change().opening().opened(), running.show(3), running.branch().opening().opened()):
        assert machine.running
        assert machine.status.phase is Phase.running


def test_the_pace_is_the_users_own_whatever_is_loaded():
    machine = READY.at_speed("fast").start_slowly(3).suspend(True)
    for after in (machine.load(), machine.unload()):
        assert (after.speed, after.slow_start, after.suspended) == ("fast", 3, True)


def test_nothing_loaded_is_nothing_to_run():
    assert not RunMachine().usable
    assert not READY.unload().usable
    assert READY.usable
