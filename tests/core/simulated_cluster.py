"""A cluster of many workers in this process: every task is done in turn, and what would travel is counted."""

import pickle
from collections import Counter
from types import SimpleNamespace

import dask
import distributed

from supdr.rows import waiting

CLIENT = "client"

KEYS = (str, tuple)
"""What names a task; nothing else that a task takes is of these types."""


def numbers_in(value):
    """Return how many numbers of eight bytes a value takes on its way, without what names and frames them."""
    buffers = []
    pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return sum(len(buffer.raw()) for buffer in buffers) / 8


class SimulatedCluster:
    """A client of `count` workers.

    Attributes
    ----------
    sent : dict of worker to float
        Numbers in arrays that left it for the client or other workers.
    received : dict of worker to float
        Numbers in arrays that came to it with its tasks.
    rounds : Counter
        How often tasks of a name were asked for.
    """

    def __init__(self, count):
        self.workers = [f"worker-{number:03}" for number in range(count)]
        self._values, self._homes = {}, {}
        self.forget()

    def forget(self):
        """Count from now on."""
        self.sent, self.received = (dict.fromkeys(self.workers, 0.0) for _ in range(2))
        self.rounds = Counter()

    def install(self, monkeypatch):
        """Make it the client of this test."""
        monkeypatch.setattr(waiting, "_client", lambda: self)
        monkeypatch.setattr(distributed, "get_client", lambda: self)
        return self

    def nthreads(self):
        """Return the threads of every worker."""
        return dict.fromkeys(self.workers, 1)

    def get(self, graph, keys, sync):
        """Do all tasks and return the futures of some."""
        assert not sync
        tasks, home = dict(graph), dask.get_annotations()["workers"]
        new = [key for key in tasks if key not in self._values]
        self.rounds.update({key.partition("-")[0] for key in new if isinstance(key, str)})
        for key, task in tasks.items():
            if key not in self._values:
                where = home(key)
                self._homes[key] = where[0] if where else self.workers[0]
                self._values[key] = self._done(key, task, tasks)
        return [SimpleNamespace(key=key) for key in keys]

    def gather(self, futures):
        """Return values, which travel to the client."""
        return [self._moved(future.key, CLIENT) for future in futures]

    def _done(self, key, task, tasks):
        if not _ours(key, task):  # a block of a Dask array: read where it is
            return dask.get({each: other for each, other in tasks.items() if not _ours(each, other)}, key)
        function, *arguments = task
        where = self._homes[key]
        self.received[where] += numbers_in((function, [each for each in arguments if not isinstance(each, KEYS)]))
        return function(*(self._moved(each, where) if isinstance(each, KEYS) else each for each in arguments))

    def _moved(self, key, where):
        value, home = self._values[key], self._homes[key]
        if home != where:
            self.sent[home] += numbers_in(value)
        return value


def _ours(key, task):
    return isinstance(key, str) and isinstance(task, tuple) and callable(task[0])
