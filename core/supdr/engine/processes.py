"""Processes beside this one, kept for a while: for sweeps, and for work that would hold the interpreter."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import Executor

import joblib

# After this long without work the workers end.
IDLE_SECONDS = 120

_executors: dict[int, Executor] = {}
_lock = threading.Lock()


def processors() -> int:
    """Return how many processors this process may use."""
    return max(1, joblib.cpu_count())


def one_thread() -> dict[str, str]:
    """Return what keeps a worker's BLAS from starting threads that it will not use."""
    return dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def shared_executor(workers: int, broken: Executor | None = None) -> Executor:
    """Return loky's executor of so many workers that all share.

    Loky's own shared executor is resized when another number of workers is asked for, which waits for the jobs of all
    others and for workers to end.

    `broken`: one of no more use; a new one takes its place.
    """
    from joblib.externals import loky

    with _lock:
        if _executors.get(workers, broken) is broken:
            _executors[workers] = loky.ProcessPoolExecutor(
                workers, timeout=IDLE_SECONDS, initializer=_follow_parent, initargs=(os.getpid(),), env=one_thread()
            )
        return _executors[workers]


def _follow_parent(parent: int) -> None:
    """End this worker soon after its parent was killed: nobody would take its results."""

    def watch() -> None:
        """Look every now and then."""
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    # The parent may have been killed already, while this worker started.  On Windows a launcher may stand in between.
    if os.name == "posix" or os.getppid() == parent:
        threading.Thread(target=watch, name="supdr-follow-parent", daemon=True).start()
