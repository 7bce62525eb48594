"""A disk that takes no more."""

import signal
from contextlib import contextmanager


@contextmanager
def room_for(size):
    """Let no file grow beyond some bytes meanwhile, as on a disk that is nearly full."""
    import resource  # of Unix only

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
