"""Sweeps on a cluster whose workers die at the worst moment: what is lost is handed out again."""

import asyncio
import os
import threading
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, wait

import numpy as np
import pytest
from sklearn.datasets import load_iris

from supdr import LSDR
from supdr.sensitivity import Sweep, crew_of
from supdr.sensitivity.executors import OnCluster

X, Y = load_iris(return_X_y=True)


class Deadly:
    """A result with which its worker dies while it is fetched."""

    def __reduce__(self):
        os._exit(1)


def make_deadly(_rows):
    """Compute it."""
    return Deadly()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own, while it starts and ends
def test_a_result_that_dies_with_its_rows_while_it_is_fetched_is_said_to_be_lost():
    import dask
    import distributed

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 100}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        [rows] = client.scatter([np.ones(3)], broadcast=True, hash=False)
        lost = OnCluster(client).submit(make_deadly, rows)
        wait([lost], timeout=60)
        assert lost.cancelled()
        [rows] = client.scatter([np.ones(3)], broadcast=True, hash=False)
        assert OnCluster(client).submit(np.sum, rows).result(60) == 3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own, while it starts and ends
def test_a_sweep_waits_for_a_cluster_whose_workers_are_all_away():
    import distributed

    sweep = Sweep(LSDR(max_iter=1), {"beta": [0.1, 0.9]}, cv=2)
    cluster = distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        crew = crew_of(client)
        assert crew.waiting >= 1
        threading.Timer(1.0, lambda: cluster.scale(1)).start()
        assert len(list(sweep.run(X, Y, client))) == 2


class Remote:
    """A job of `Client`, in one of Dask's states."""

    def __init__(self, status):
        self.status = status

    def cancel(self):
        """Be given up."""
        self.status = "cancelled"


class Client:
    """A cluster that says of every job the same."""

    def __init__(self, status, said):
        self.status, self.said = status, said
        self.loop = self
        self.jobs, self.threads = [], {}

    def submit(self, _function, *_arguments, pure):
        """Take a job: never for another that looks alike."""
        assert not pure
        self.jobs.append(Remote(self.status))
        return self.jobs[-1]

    def get_executor(self):
        """Be taken for Dask's."""

    def scatter(self, data, **_options):
        """Take rows; only now it has workers."""
        self.threads = {"tcp://a": 2, "tcp://b": 1}
        return data

    def nthreads(self):
        """Return the threads of the workers that are there."""
        return self.threads

    def add_callback(self, function, *arguments):
        """Call it as a loop does."""
        asyncio.run(function(*arguments))

    async def gather(self, _remote, *, asynchronous):
        """Answer."""
        assert asynchronous
        if isinstance(self.said, BaseException):
            raise self.said
        return self.said


@pytest.mark.parametrize("status", ["cancelled", "lost", "finished"])
@pytest.mark.parametrize("said", [asyncio.CancelledError(), CancelledError(), AttributeError("no traceback")])
def test_whatever_the_client_raises_over_a_job_without_an_error_it_is_lost(status, said):
    future = OnCluster(Client(status, said)).submit(len, "abc")
    wait([future], timeout=60)
    assert future.cancelled()


def test_results_and_errors_of_jobs_come_as_they_are():
    assert OnCluster(Client("finished", 3)).submit(len, "abc").result(60) == 3
    with pytest.raises(ZeroDivisionError):
        OnCluster(Client("error", ZeroDivisionError())).submit(len, "abc").result(60)


def test_a_job_that_nobody_wants_any_more_is_given_up():
    client = Client("pending", None)
    client.add_callback = lambda *_: None
    future = OnCluster(client).submit(len, "abc")
    assert future.cancel()
    assert client.jobs[0].status == "cancelled"


@pytest.mark.parametrize(("workers", "expected"), [(None, 3), (5, 5)])
def test_the_workers_of_a_cluster_are_counted_once_it_has_taken_the_rows(workers, expected):
    client = Client("finished", None)
    crew = crew_of(client, workers)
    assert crew.waiting >= 1  # else nothing would ever be handed out
    crew.take("rows")
    assert (crew.workers, crew.waiting) == (expected, 2 * expected)


class Losing(Executor):
    """Loses the first jobs, all at once, and tells so of one after the other."""

    def __init__(self, count):
        self._left, self._first, self._later = count, [], []
        self._thread = ThreadPoolExecutor(1)

    def submit(self, fn, /, *args, **kwargs):
        """Take a job; the later ones are done once all that is lost was told."""
        future = Future()
        if self._left:
            self._left -= 1
            self._first.append(future)
        else:
            self._later.append(lambda: future.set_result(fn(*args, **kwargs)))
        if not self._left:
            self._thread.submit(self._tell)
        return future

    def _tell(self):
        if self._first:
            lost = self._first.pop(0)
            lost.cancel()
            lost.set_running_or_notify_cancel()
        else:
            while self._later:
                self._later.pop()()


def test_jobs_that_are_lost_together_are_one_loss():
    sweep = Sweep(LSDR(max_iter=1), {"beta": np.linspace(0.1, 0.9, 10)}, cv=2)
    cells = list(sweep.run(X, Y, Losing(6), workers=3))
    assert sorted(cell.number for cell in cells) == list(range(10))
