"""A cluster of many workers in this process: every task is done in turn, and what would travel is counted."""

import pickle
from collections import Counter
from types import SimpleNamespace

import dask
import distributed
from dask._task_spec import Task, TaskRef
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from supdr.rows import waiting

CLIENT = "client"


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
    priorities : list of int or None
        Of all tasks.
    """

    def __init__(self, count):
        self.workers = [f"worker-{number:03}" for number in range(count)]
        self._values, self._homes = {}, {}
        self.forget()

    def forget(self):
        """Count from now on."""
        self.sent, self.received = (dict.fromkeys(self.workers, 0.0) for _ in range(2))
        self.rounds, self.priorities = Counter(), []

    def install(self, monkeypatch):
        """Make it the client of this test."""
        monkeypatch.setattr(waiting, "_client", lambda: self)
        monkeypatch.setattr(distributed, "get_client", lambda: self)
        return self

    def nthreads(self):
        """Return the threads of every worker."""
        return dict.fromkeys(self.workers, 1)

    def persist(self, collections, optimize_graph):
        """Do all tasks and return what stands for those of collections."""
        assert not optimize_graph
        layers = {name: layer for each in collections for name, layer in each.dask.layers.items()}
        new = {name: layer for name, layer in layers.items() if not set(layer) <= set(self._values)}
        self.rounds.update({name.partition("-")[0] for name in new if isinstance(name, str)})
        self.priorities += [(layer.annotations or {}).get("priority") for layer in new.values()]
        graph = {key: task for layer in layers.values() for key, task in layer.items()}
        homes = {key: (layer.annotations or {}).get("workers") for layer in new.values() for key in layer}
        for each in collections:
            self._do(each.key, graph, homes)
        return [Delayed(each.key, HighLevelGraph.from_collections(each.key, {each.key: None})) for each in collections]

    def futures_of(self, collections):
        """Return their futures."""
        return [SimpleNamespace(key=each.key) for each in collections]

    def gather(self, futures):
        """Return values, which travel to the client."""
        return [self._moved(future.key, CLIENT) for future in futures]

    def _do(self, key, graph, homes):
        """Do a task after those that it needs."""
        if key in self._values:
            return
        task, where = graph[key], homes.get(key)
        self._homes[key] = where[0] if where else self.workers[0]
        if not where and not isinstance(task, Task):  # a block of a Dask array: read where it is
            self._values[key] = dask.get(graph, key)
            return
        for other in task.dependencies:
            self._do(other, graph, homes)
        self.received[self._homes[key]] += numbers_in((task.func, [a for a in task.args if not isinstance(a, TaskRef)]))
        self._values[key] = task({other: self._moved(other, self._homes[key]) for other in task.dependencies})

    def _moved(self, key, where):
        value, home = self._values[key], self._homes[key]
        if home != where:
            self.sent[home] += numbers_in(value)
        return value
