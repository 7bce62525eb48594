"""Executors of sweeps: this process, loky's workers, a Dask cluster, or an executor of the user.

All have the interface of `concurrent.futures`.  A `Crew` adds the transfer of the rows to the workers, once, the number
of queued jobs, and the replacement of an executor that has lost a worker.

`joblib.Parallel` with ``return_as="generator_unordered"`` is not used: it computes all jobs while its consumer pauses,
kills its workers when it is closed, drops the other jobs when one kills a worker, and accepts neither Dask clients nor
executors.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import pickle
import pkgutil
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib

import supdr.methods as methods
from supdr.engine.checks import check_integer
from supdr.engine.optional import require
from supdr.engine.processes import one_thread, processors, shared_executor
from supdr.sensitivity.fitting import Job, evaluate
from supdr.sensitivity.rows import Rows

# Longest wait for a worker of a cluster, which may be restarting.
WORKER_SECONDS = 60

# Attempts to send the rows to the workers of a cluster.
SCATTERINGS = 5

# Number of data sets that a worker keeps.
LOADED = 4


class InProcess(Executor):
    """An executor that calls functions at once, in the caller's thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Call ``fn(*args, **kwargs)`` now.

        Parameters
        ----------
        fn : callable
        *args, **kwargs
            Its arguments.

        Returns
        -------
        Future
            Finished.
        """
        future: Future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class OnCluster(Executor):
    """An executor on a Dask cluster; Dask's own waits for ever where the worker with a result's only copy dies."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Call ``fn(*args, **kwargs)`` on a worker; the future is cancelled if the cluster loses an argument."""
        remote = self._client.submit(fn, *args, pure=False, **kwargs)
        future: Future = Future()
        future.add_done_callback(
            lambda done: remote.cancel() if done.cancelled() and remote.status == "pending" else None
        )
        self._client.loop.add_callback(self._finish, remote, future)
        return future

    async def _finish(self, remote: Any, future: Future) -> None:
        """Set the result or the error of a job, or cancel its future."""
        result, error = None, None
        try:
            result = await self._client.gather(remote, asynchronous=True)
        except (Exception, asyncio.CancelledError) as caught:
            error = caught
        if error is not None and remote.status != "error":  # the result, or an argument, is lost
            future.cancel()
        if not future.set_running_or_notify_cancel():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


class RowsOnDisk:
    """Rows in a file of this machine, which every worker maps into memory once."""

    def __init__(self, path: str) -> None:
        self.path = path

    def load(self) -> Rows:
        """Return the rows, read-only views of the file."""
        if self.path not in _loaded:
            while len(_loaded) >= LOADED:
                _loaded.pop(next(iter(_loaded)))
            _loaded[self.path] = joblib.load(self.path, mmap_mode="r")
        return _loaded[self.path]


_loaded: dict[str, Rows] = {}


@dataclass
class Crew:
    """An executor and its handling of rows and lost workers; a context manager.

    `workers`: number of jobs that run at the same time; 0: the number of threads of the cluster when it has the rows.
    `successor`: returns the replacement of an executor that has lost a worker; None: the sweep must end. `end`: called
    at the end. `client`: of Dask, which sends data to all workers at once.
    """

    executor: Executor
    workers: int
    successor: Callable[[Executor], Executor] | None = None
    end: Callable[[], Any] | None = None
    client: Any = None

    def __post_init__(self) -> None:
        self.workers, self._counts = max(1, self.workers), not self.workers
        self._folder = ""
        self._rows: Any = None

    @property
    def waiting(self) -> int:
        """Number of jobs to submit at a time: enough that no worker is idle."""
        return 1 if isinstance(self.executor, InProcess) else 2 * self.workers

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        if self.end is not None:
            self.end()

    def take(self, rows: Rows) -> None:
        """Transfer the rows to the workers."""
        if isinstance(self.executor, (InProcess, ThreadPoolExecutor)):
            self._rows = rows
        elif self.client is not None:
            self._rows = self._scatter(rows)
            if self._counts:  # not earlier: at the start the cluster may have had no worker
                self.workers = max(1, sum(self.client.nthreads().values()))
        elif _is_local(self.executor):
            self._folder = tempfile.mkdtemp(prefix="supdr-sweep-")
            path = str(Path(self._folder) / "rows.joblib")
            try:
                joblib.dump(rows, path)
            except OSError as error:
                raise OSError(f"the rows cannot be written to {path} for the workers: {error.strerror}") from error
            self._rows = RowsOnDisk(path)
        else:
            self._rows = rows

    def _scatter(self, rows: Rows) -> Any:
        """Send the rows to all workers of a cluster, again if one is lost meanwhile."""
        for retries in reversed(range(SCATTERINGS)):
            try:
                return self.client.scatter([rows], broadcast=True, hash=False, timeout=WORKER_SECONDS)[0]
            except OSError as error:
                if not retries:
                    raise ConnectionError(
                        f"the Dask cluster did not take the rows ({error}); finished cells are in the store"
                    ) from error
        return None

    def submit(self, job: Job) -> Future:
        """Submit a job; another sweep on the same executor may have lost a worker since the last one."""
        try:
            return self.executor.submit(evaluate, job, self._rows)
        except BrokenExecutor:
            if not self.renew():
                raise
            return self.executor.submit(evaluate, job, self._rows)

    def renew(self) -> bool:
        """Replace an executor that has lost a worker; return False if that is not possible."""
        if self.successor is None:
            return False
        self.executor = self.successor(self.executor)
        return True


def _is_local(executor: Executor) -> bool:
    return any(cls.__name__ == "ProcessPoolExecutor" for cls in type(executor).__mro__)  # Python's or loky's


def crew_of(executor: Any = None, workers: int | None = None) -> Crew:
    """Return the crew of an executor, or of its name or address.

    Parameters
    ----------
    executor : Executor, distributed.Client or str, optional
        ``None`` or ``"loky"``: processes of this machine; ``"in-process"``: this thread; ``"dask"``: a Dask cluster on
        this machine; an address such as ``"tcp://host:8786"``: the Dask scheduler there; or a Dask client or an
        executor, which stays open.  A client sends the rows to its workers once and detects lost results; its executor
        sends them with every job.
    workers : int, optional
        Number of processes; default: one per processor.  For an executor: number of jobs that run at once.

    Returns
    -------
    Crew

    Raises
    ------
    ValueError
        If there is no such executor or `workers` is not a positive number.
    PackageMissing
        If Dask is not installed and `executor` needs it.
    """
    if workers is not None:
        check_integer("workers", workers)
    if isinstance(executor, str) and executor == "in-process":
        return Crew(InProcess(), 1)
    if executor is None or executor == "loky":
        return _loky(workers or processors())
    if isinstance(executor, str):
        if executor == "dask" or "://" in executor:
            return _dask("" if executor == "dask" else executor, workers)
        raise ValueError(
            f"executor must be 'loky', 'in-process', 'dask', the address of a Dask scheduler such as tcp://host:8786, "
            f"or an executor of concurrent.futures; got {executor!r}"
        )
    if callable(getattr(executor, "get_executor", None)):  # Dask's client
        client: Any = executor
        return Crew(OnCluster(client), workers or 0, client=client)
    if not callable(getattr(executor, "submit", None)):
        raise ValueError(f"executor must have the method submit of concurrent.futures.Executor; got {executor!r}")
    return Crew(executor, workers or getattr(executor, "_max_workers", None) or processors())


def _loky(workers: int) -> Crew:
    return Crew(shared_executor(workers), workers, successor=lambda broken: shared_executor(workers, broken))


def _dask(address: str, workers: int | None) -> Crew:
    require("A Dask cluster", "distributed", extra="dask")
    import distributed

    if address:
        try:
            client = distributed.Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ConnectionError(f"there is no Dask scheduler at {address}: {error}") from error
        count = sum(client.nthreads().values())
        if not count:
            client.close()
            raise ConnectionError(f"the Dask scheduler at {address} has no workers")
        return Crew(OnCluster(client), workers or count, end=client.close, client=client)
    count = workers or processors()
    cluster = distributed.LocalCluster(
        n_workers=count, threads_per_worker=1, dashboard_address=None, env=one_thread(), silence_logs=50
    )
    client = distributed.Client(cluster, set_as_default=False)

    def end() -> None:
        client.close()
        cluster.close()

    return Crew(OnCluster(client), count, end=end, client=client)


def is_death(error: BaseException) -> bool:
    """Whether a job failed because its worker died, and not by an error of its own."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


def warm_up() -> None:
    """Start loky's workers in the background and import the library there, so that the first cells take less time."""
    count = processors()

    def start() -> None:
        """Import the library in every worker."""
        executor = _loky(count).executor
        for future in [executor.submit(_imported, 0.2) for _ in range(count)]:
            future.exception()

    threading.Thread(target=start, name="supdr-warm-up", daemon=True).start()


def _imported(seconds: float) -> int:
    """Import the methods, then sleep for so long that every worker gets one of these jobs."""
    for module in pkgutil.iter_modules(methods.__path__, "supdr.methods."):
        importlib.import_module(module.name)
    time.sleep(seconds)
    return os.getpid()


def explain_unsendable(error: BaseException) -> str:
    """Return a sentence about a job that cannot be pickled, or the text of any other error."""
    if isinstance(error, (pickle.PicklingError, AttributeError, TypeError)) and "pickle" in str(error).lower():
        return (
            f"the estimator or the metric cannot be sent to other processes ({error}): define it in a module, "
            "or use executor='in-process'"
        )
    return f"{type(error).__name__}: {error}"
