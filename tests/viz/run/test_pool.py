"""The shared pool: fair shares, no job in two threads, failures stay alone."""

import gc
import threading
import time

import pytest
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

from supdr.engine.context import run_context
from supdr.engine.interruption import abandonable
from supdr_viz.run.pool import Pool
from tests.viz.hands import Hands

worked = threading.Condition()
"""Told whenever a job has had a turn."""


class Busy:
    """Always has work: burns CPU for as long as it is told to, or for `cost` at a time."""

    def __init__(self, cost=0.0):
        self.cost, self.turns, self.inside, self.overlap = cost, 0, False, False
        self.idle = False
        self.seconds = 0.0

    def due(self, now):
        return None if self.idle else 0.0

    def work(self, seconds):
        self.overlap |= self.inside
        self.inside = True
        began = time.thread_time()
        while time.thread_time() - began < max(self.cost, seconds):
            pass
        self.seconds += time.thread_time() - began
        with worked:
            self.turns += 1
            self.inside = False
            worked.notify_all()


class Broken(Busy):
    def work(self, seconds):
        raise RuntimeError("broken on purpose")


class BrokenBefore(Busy):
    def due(self, now):
        raise RuntimeError("broken on purpose")


class Curious(Busy):
    """Clusters, and asks how many threads the libraries that do so may use."""

    def work(self, seconds):
        KMeans(2, n_init=1).fit([[0.0], [0.1], [1.0]])
        self.threads = {library["user_api"]: library["num_threads"] for library in threadpool_info()}
        super().work(seconds)


class Tidy(Busy):
    """Happens to look for the garbage of all."""

    def work(self, seconds):
        gc.collect()
        super().work(seconds)


def wait_for(condition, seconds=60.0):
    with worked:
        assert worked.wait_for(condition, seconds), "waited in vain"


def run_until(pool, jobs, condition):
    """Work on `jobs` until the condition holds, however long that takes here, and until the last slice has ended."""
    for job in jobs:
        pool.add(job)
    wait_for(condition)
    for job in jobs:
        pool.remove(job)
    wait_for(lambda: not any(job.inside for job in jobs))


def test_every_job_gets_turns_and_equal_time():
    jobs = [Busy() for _ in range(8)]
    run_until(Pool(threads=1), jobs, lambda: sum(job.seconds for job in jobs) > 0.6)
    shares = [job.seconds for job in jobs]
    assert min(shares) > 0.5 * max(shares)


def test_a_job_with_long_slices_does_not_get_more_time():
    long, short = Busy(cost=0.08), Busy()
    run_until(Pool(threads=1), [long, short], lambda: long.seconds + short.seconds > 0.8)
    assert long.seconds < 2.0 * short.seconds


def test_looking_for_the_garbage_of_all_is_not_charged_to_a_run():
    gc.collect()
    gc.freeze()  # what other tests have left would be looked through each time
    heap = [[] for _ in range(200_000)]
    jobs = Tidy(), Busy()
    try:
        run_until(Pool(1), jobs, lambda: jobs[0].turns + jobs[1].turns >= 40)
    finally:
        gc.unfreeze()
    assert abs(jobs[0].turns - jobs[1].turns) <= 4
    del heap


def test_libraries_start_no_threads_of_their_own_in_a_worker():
    job = Curious()
    with threadpool_limits(limits=2):
        run_until(Pool(threads=2), [job], lambda: job.turns > 2)
    assert job.threads == {"blas": 1, "openmp": 1}


def test_no_job_is_worked_on_by_two_threads():
    jobs = [Busy(), Busy(), Busy()]
    run_until(Pool(threads=4), jobs, lambda: min(job.turns for job in jobs) > 10)
    assert not any(job.overlap for job in jobs)


class Waiting(Busy):
    """Waits for a long call of a library, which ends when somebody says so."""

    def __init__(self, over):
        super().__init__()
        self.over, self.waits = over, False

    def work(self, seconds):
        def long_call():
            self.waits = True
            self.over.wait(60.0)

        with run_context(stop_requested=lambda: False):
            abandonable(long_call)
        self.idle = True
        super().work(0.0)


def in_place():
    return [thread for thread in threading.enumerate() if thread.name == "supdr-worker-in-place"]


def test_who_waits_for_a_long_call_keeps_nobody_else_waiting():
    pool, over, other = Pool(threads=1), threading.Event(), Busy()
    long = [Waiting(over), Waiting(over)]
    for job in long:
        pool.add(job)
    pool.add(other)
    wait_for(lambda: other.turns >= 3 and all(job.waits for job in long))
    already = other.turns
    wait_for(lambda: other.turns >= already + 3)
    assert not any(job.turns for job in long)
    assert 1 <= len(in_place()) <= 2
    over.set()
    wait_for(lambda: all(job.turns for job in long))
    other.idle = True
    for thread in in_place():
        thread.join(60.0)
    assert not in_place()
    assert not other.overlap
    for job in (*long, other):
        pool.remove(job)


def test_an_idle_job_wakes_and_earned_no_credit():
    pool, sleeper, worker = Pool(threads=1), Busy(), Busy()
    sleeper.idle = True
    pool.add(sleeper)
    pool.add(worker)
    wait_for(lambda: worker.seconds > 0.2)
    before = worker.turns
    sleeper.idle = False
    pool.wake()
    wait_for(lambda: sleeper.turns >= 10)
    for job in (sleeper, worker):
        pool.remove(job)
    assert worker.turns - before > 3  # not starved while the sleeper catches up


@pytest.mark.parametrize("kind", [Broken, BrokenBefore])
def test_a_failing_job_is_dropped_and_the_others_go_on(caplog, kind):
    pool, broken, good = Pool(threads=1), kind(), Busy()
    run_until(pool, [broken, good], lambda: good.turns > 2)
    assert any("dropped" in record.message for record in caplog.records)
    assert pool.n_jobs == 0


class Later(Busy):
    """Has work once, at a time."""

    def __init__(self, at):
        super().__init__()
        self.at, self.began = at, None

    def due(self, now):
        return None if self.turns else self.at - now

    def work(self, seconds):
        self.began = time.monotonic()
        super().work(seconds)


def test_work_is_done_when_it_is_due_and_once():
    hands = Hands()
    job = Later(hands.now + 0.2)
    hands.pool.add(job)
    hands.work(0.1)
    assert not job.turns
    hands.work(0.2)
    assert job.turns == 1
    hands.work(10.0)
    assert job.turns == 1


def test_threads_wait_until_work_is_due():
    job = Later(time.monotonic() + 0.05)
    run_until(Pool(threads=1), [job], lambda: job.turns)
    assert job.began >= job.at


@pytest.mark.parametrize("threads", [1, 2])
def test_worker_threads_are_daemons_so_that_the_server_can_end(threads):
    pool = Pool(threads=threads)
    job = Busy()
    run_until(pool, [job], lambda: job.turns)
    workers = [t for t in threading.enumerate() if t.name.startswith("supdr-worker")]
    assert len(workers) >= threads
    assert all(t.daemon for t in workers)


def test_threads_rest_for_the_part_of_the_time_that_is_not_theirs():
    pool, job = Pool(1, share=0.25), Busy(cost=0.02)
    began = time.monotonic()
    pool.add(job)
    wait_for(lambda: job.turns >= 10)
    elapsed = time.monotonic() - began
    pool.remove(job)
    assert job.seconds <= 0.25 * elapsed * 1.2 + job.cost  # nobody rests after the last turn
