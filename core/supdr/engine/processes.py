"""Worker processes, kept for a while, for sweeps and for work that holds the interpreter's lock."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import Executor

# Idle workers end after this time.
IDLE_SECONDS = 120

_executors: dict[int, Executor] = {}
_lock = threading.Lock()


def processors() -> int:
    """Return the number of processors that this process may use."""
    # Here, not above: what it has end with the process must be registered after what `supdr-viz` ends the process by.
    import joblib

    return max(1, joblib.cpu_count())


def one_thread() -> dict[str, str]:
    """Return the environment variables that restrict a worker's BLAS to one thread."""
    return dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def shared_executor(workers: int, broken: Executor | None = None) -> Executor:
    """Return the shared loky executor with this number of workers, a new one in place of a `broken` one.

    Loky's own reusable executor would wait for all running jobs to change the number of workers.
    """
    from joblib.externals import loky

    with _lock:
        if _executors.get(workers, broken) is broken:
            _executors[workers] = loky.ProcessPoolExecutor(
                workers, timeout=IDLE_SECONDS, initializer=_follow_parent, initargs=(os.getpid(),), env=one_thread()
            )
        return _executors[workers]


def _follow_parent(parent: int) -> None:
    """End this worker soon after its parent process has ended."""

    def watch() -> None:
        """Check twice a second whether the parent process exists."""
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    # The parent may already have ended while this worker started.  On Windows the parent may be a launcher.
    if os.name == "posix" or os.getppid() == parent:
        threading.Thread(target=watch, name="supdr-follow-parent", daemon=True).start()
