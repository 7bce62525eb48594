"""One pool of worker threads for all sessions of the process.

Each training run is a `Job`.  Jobs take turns in short slices; the one that has used the least CPU time goes next, so
that twenty sessions each get their share and none waits for long.
"""

from __future__ import annotations

import atexit
import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from threadpoolctl import threadpool_limits

from supdr.engine.context import run_context

# Seconds of work per turn. Shorter wastes time on turns, longer makes other sessions wait.
SLICE = 0.012

# Time (s) after which a thread that holds Python's lock gives it up to one that waits. A run needs the lock for
# moments, many times a step; while a page is built each of them would wait for Python's own 5 ms, and runs of others
# all but stand still.
GIVES_WAY = 0.001

# For each thread, how many others may work while threads wait for a cluster, a process, a long call of a library.
MOST_LENT = 2

# Seconds for which long work beside the pool lets runs that have something to do go first, seconds that it works before
# it does so again, and how long it sleeps before it looks again whether the runs are idle.
LONG_WAITS, LONG_WORKS, LONG_LOOKS = 0.05, 0.02, 0.002

# Time (s) for which the end of the process waits for slices that are under way.
ENDS_WITHIN = 2.0

logger = logging.getLogger(__name__)


class CollectionTime:
    """Seconds in which each thread has looked for garbage; only one does at a time.

    That of all sessions is looked for by whichever run happens to ask for memory: among fifty it takes half a second,
    and a run to which that counted would stand still until all others had caught up.
    """

    def __init__(self) -> None:
        self._began = 0.0
        self._seconds: dict[int, float] = {}

    def note(self, phase: str, _facts: dict[str, Any]) -> None:
        """See `gc.callbacks`."""
        if phase == "start":
            self._began = time.thread_time()
        else:
            self._seconds[threading.get_ident()] = self.here + time.thread_time() - self._began

    @property
    def here(self) -> float:
        """Those of the current thread."""
        return self._seconds.get(threading.get_ident(), 0.0)


class Job(Protocol):
    """Something that wants to be worked on, a slice at a time, by one thread at a time."""

    def due(self, now: float) -> float | None:
        """Seconds until work is wanted (<= 0: now), or None while there is nothing to do."""

    def work(self, seconds: float) -> None:
        """Work for about `seconds`."""


class Pool:
    """Worker threads that share themselves out over the jobs by CPU time used.

    A thread whose job only waits for what others do lends its place, see `supdr.engine.context.RunContext.lend_thread`.

    `threads`: number of threads; by default one less than there are cores, at least one, so that the server stays
    responsive. `clock`: returns the time in seconds; jobs are due by it. `share`: of its time in which a thread works,
    at most; above 0, up to 1.
    """

    def __init__(
        self, threads: int | None = None, clock: Callable[[], float] = time.monotonic, share: float = 1.0
    ) -> None:
        self.clock, self._share = clock, share
        self.threads = threads or max(1, (os.cpu_count() or 2) - 1)
        self._changed = threading.Condition()
        self._used: dict[Job, float] = {}
        self._busy: set[Job] = set()
        self._lent = self._in_place = 0
        """Threads that wait, and threads that work in their place."""
        self._started = self._ended = False
        self._threads: list[threading.Thread] = []
        self._collecting = CollectionTime()

    def add(self, job: Job) -> None:
        """Let `job` take part; it starts level with the job that has used the least."""
        with self._changed:
            self._used.setdefault(job, min(self._used.values(), default=0.0))
            if not self._started:
                self._start()
            self._changed.notify()

    def remove(self, job: Job) -> None:
        """Forget `job`.  A slice that is under way ends by itself."""
        with self._changed:
            self._used.pop(job, None)
            self._changed.notify_all()  # a thread that waits still holds the jobs it last looked at

    def wake(self) -> None:
        """Tell the threads that some job's `due` has changed."""
        with self._changed:
            self._changed.notify_all()

    def works_on(self, job: Job) -> bool:
        """Whether a thread is at work on `job` at this moment."""
        with self._changed:
            return job in self._busy

    @property
    def idle(self) -> bool:
        """Whether no job is due and no thread is at work."""
        with self._changed:
            waits = [self._wait_of(job, self.clock()) for job in list(self._used)] if not self._busy else [0.0]
        return all(wait is None or wait > 0 for wait in waits)

    @property
    def n_jobs(self) -> int:
        """Number of jobs that take part."""
        return len(self._used)

    def _start(self) -> None:
        sys.setswitchinterval(GIVES_WAY)
        # Threads over sessions and threads inside libraries would fight for the same cores.  BLAS has one limit for the
        # process; that of OpenMP, which scikit-learn uses, belongs to the thread that sets it.
        threadpool_limits(limits=1, user_api="blas")
        for number in range(self.threads):
            thread = threading.Thread(target=self._loop, name=f"supdr-worker-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()
        atexit.register(self._end)
        gc.callbacks.append(self._collecting.note)
        self._started = True

    def _end(self) -> None:
        """Let the threads end: Python may abort if it ends while one of them is inside LLVM."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        gc.callbacks.remove(self._collecting.note)
        latest = time.monotonic() + ENDS_WITHIN
        for thread in self._threads:
            thread.join(max(0.0, latest - time.monotonic()))

    @contextmanager
    def _lend(self) -> Iterator[None]:
        """Let another thread work while this one waits, unless there are many already."""
        with self._changed:
            lends = self._lent < MOST_LENT * self.threads
            self._lent += lends
            begins = self._in_place < self._lent
            self._in_place += begins
        if begins:
            threading.Thread(target=self._loop, args=(True,), name="supdr-worker-in-place", daemon=True).start()
        try:
            yield
        finally:
            with self._changed:
                self._lent -= lends
                self._changed.notify_all()

    def _loop(self, in_place: bool = False) -> None:
        threadpool_limits(limits=1, user_api="openmp")
        while (job := self._next(in_place)) is not None:
            began, collecting = time.thread_time(), self._collecting.here
            try:
                with run_context(lend_thread=self._lend):
                    job.work(SLICE)
            except Exception:
                self._drop(job)
            with self._changed:
                self._busy.discard(job)
                if job in self._used:
                    self._used[job] += time.thread_time() - began - (self._collecting.here - collecting)
                self._changed.notify()
            del job  # not to be held while waiting for the next one
            if self._share < 1.0:
                time.sleep((time.thread_time() - began) * (1.0 / self._share - 1.0))

    def _next(self, in_place: bool) -> Job | None:
        """Return the next job as soon as one is due; None: this thread is not needed any more."""
        with self._changed:
            while not self._ended:
                if in_place and self._in_place > self._lent:
                    self._in_place -= 1
                    return None
                now = self.clock()
                waits = {job: self._wait_of(job, now) for job in list(self._used) if job not in self._busy}
                ready = [job for job, wait in waits.items() if wait is not None and wait <= 0]
                if ready:
                    job = min(ready, key=self._used.__getitem__)
                    self._level(job, ready)
                    self._busy.add(job)
                    return job
                self._changed.wait(min((wait for wait in waits.values() if wait is not None), default=None))
        return None

    def _wait_of(self, job: Job, now: float) -> float | None:
        try:
            return job.due(now)
        except Exception:
            self._drop(job)
            return None

    def _drop(self, job: Job) -> None:
        """Forget a job that raised anything, whatever it was: the others go on."""
        logger.exception("a training job failed and is dropped")
        self.remove(job)

    def _level(self, chosen: Job, ready: list[Job]) -> None:
        """Raise what idle jobs have used to the least of the ready ones: waiting earns no credit."""
        least = self._used[chosen]
        for job, used in self._used.items():
            if used < least and job not in ready:
                self._used[job] = least


class ManualPool(Pool):
    """A pool without threads: its owner lets the jobs take their turns.

    `clock`: see `Pool`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(1, clock)

    def _start(self) -> None:
        """Start nothing."""

    @property
    def due(self) -> float | None:
        """Seconds until some job wants to be worked on, or None."""
        waits = [self._wait_of(job, self.clock()) for job in list(self._used)]
        return min((wait for wait in waits if wait is not None), default=None)

    def turn(self, seconds: float) -> None:
        """Let each job work for about `seconds`."""
        for job in list(self._used):
            job.work(seconds)


class Courtesy:
    """Says whether fits are to be interrupted, and lets them wait while runs of the pool have something to do.

    `cancelled`: whether their result is not needed any more.
    """

    def __init__(self, pool: Pool, cancelled: Callable[[], bool]) -> None:
        self._pool, self._cancelled = pool, cancelled
        self._since = time.monotonic()

    def __call__(self) -> bool:
        """Return whether to stop; give way first, if it is time to."""
        now = time.monotonic()
        if now - self._since > LONG_WORKS:
            while not self._cancelled() and not self._pool.idle and time.monotonic() - now < LONG_WAITS:
                time.sleep(LONG_LOOKS)
            self._since = time.monotonic()
        return self._cancelled()
