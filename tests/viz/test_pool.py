"""The shared pool: fair shares, no job in two threads, failures stay alone."""

import threading
import time

import pytest
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

from supdr_viz.run.pool import Pool


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
        self.turns += 1
        self.inside = False


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


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


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
    run_until(Pool(threads=1), jobs, lambda: sum(job.seconds for job in jobs) > 1.0)
    shares = [job.seconds for job in jobs]
    assert min(shares) > 0.5 * max(shares)


def test_a_job_with_long_slices_does_not_get_more_time():
    long, short = Busy(cost=0.08), Busy()
    run_until(Pool(threads=1), [long, short], lambda: long.seconds + short.seconds > 1.2)
    assert long.seconds < 2.0 * short.seconds


def test_libraries_start_no_threads_of_their_own_in_a_worker():
    job = Curious()
    with threadpool_limits(limits=2):
        run_until(Pool(threads=2), [job], lambda: job.turns > 2)
    assert job.threads == {"blas": 1, "openmp": 1}


def test_no_job_is_worked_on_by_two_threads():
    jobs = [Busy(), Busy(), Busy()]
    run_until(Pool(threads=4), jobs, lambda: min(job.turns for job in jobs) > 10)
    assert not any(job.overlap for job in jobs)


def test_an_idle_job_wakes_and_earned_no_credit():
    pool, sleeper, worker = Pool(threads=1), Busy(), Busy()
    sleeper.idle = True
    pool.add(sleeper)
    pool.add(worker)
    wait_for(lambda: worker.seconds > 0.5)
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


def test_work_waits_until_it_is_due():
    class Later(Busy):
        def due(self, now):
            return self.at - now if not self.turns else None

        def work(self, seconds):
            self.began = time.monotonic()
            super().work(seconds)

    job = Later()
    job.at = time.monotonic() + 0.2
    pool = Pool(threads=1)
    pool.add(job)
    wait_for(lambda: job.turns)
    time.sleep(0.1)
    assert job.turns == 1
    assert job.began >= job.at
    pool.remove(job)


@pytest.mark.parametrize("threads", [1, 2])
def test_worker_threads_are_daemons_so_that_the_server_can_end(threads):
    pool = Pool(threads=threads)
    job = Busy()
    run_until(pool, [job], lambda: job.turns)
    workers = [t for t in threading.enumerate() if t.name.startswith("supdr-worker")]
    assert len(workers) >= threads
    assert all(t.daemon for t in workers)
