"""The Dask cluster of this server, where there is one: asked for by the operator, shared by all pages."""

from __future__ import annotations

import os
import threading
from concurrent.futures import CancelledError
from typing import Any

from supdr.engine.optional import require
from supdr_viz.data.quotas import most

# Address of a Dask scheduler, or "dask" for a cluster on this machine; set by the command's ``--scheduler``.
VARIABLE = "SUPDR_SCHEDULER"

CONNECT_TIMEOUT = "10s"

_lock = threading.Lock()


class NoCluster(ValueError):
    """The scheduler cannot be reached; the message says so in one sentence."""


def connect() -> Any:
    """Return the client of the scheduler that the operator named, the first time connected to it; None: none is named.

    Slow the first time, and where the scheduler does not answer: not to be called in a page's thread. It is what Dask
    uses in this process from then on. Raises NoCluster if no scheduler answers.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    require("A Dask cluster", "distributed", extra="dask")
    import distributed

    with _lock:
        client = _running()
        if client is not None:
            return client
        try:
            return distributed.Client(_local() if named == "dask" else named, timeout=CONNECT_TIMEOUT)
        except (OSError, ValueError, TimeoutError):
            raise NoCluster(f"No Dask scheduler answers at {named}: rows on disk need it.") from None


def _running() -> Any:
    """Return the client that Dask uses in this process; None: there is none."""
    import distributed

    try:
        return distributed.default_client()
    except ValueError:
        return None


def _local() -> Any:
    """Start a cluster on this machine; it ends with this process."""
    from distributed import LocalCluster

    workers = most("workers") or os.cpu_count() or 1
    return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50)


def dashboard() -> str:
    """Return where the cluster can be watched at work; empty: nowhere."""
    client = _running() if os.environ.get(VARIABLE) else None
    try:
        return "" if client is None else str(client.dashboard_link or "")
    except (OSError, ValueError):
        return ""


def lost(error: BaseException) -> bool:
    """Tell whether an error means that the cluster cannot be reached any more."""
    return isinstance(error, CancelledError) or type(error).__name__ in ("CommClosedError", "FutureCancelledError")
