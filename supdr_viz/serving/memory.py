"""Memory that runs and pages have freed goes back to the system.

What a thread has freed stays with the process, in case that it asks for as much again.  Runs begin and end in many
threads: after a class of half an hour three quarters of what a server held was of this kind, and it grew with each
page.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time

# Seconds between two returns. One takes about .03 s, in which all else goes on; what is needed again has to be asked
# for again.
EVERY = 30.0

# Seconds of the processor that a server uses meanwhile if no visitor does anything: then there is nothing to give back.
IDLE = 0.3


def give_back() -> bool:
    """Give back what is free; return whether the system has a way to do so.

    Others than Linux's usual C library do so by themselves, or have no call for it.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is None:
        return False
    trim(0)
    return True


def keep_giving_back() -> None:
    """Give back what is free again and again, for as long as the process lives; must be called once."""
    threading.Thread(target=_keep, name="supdr-memory", daemon=True).start()


def _keep() -> None:
    used = 0.0
    while True:
        time.sleep(EVERY)
        if time.process_time() - used > IDLE and not give_back():
            return
        used = time.process_time()
