"""Rounds over partitions as Dask gets them: few tasks, each where its partition is, added up in a fixed order."""

from types import SimpleNamespace

import dask
import dask.array as da
import numpy as np
import pytest
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from supdr.rows import waiting
from supdr.rows.partitions import Partitions, at_home, delay, from_list, gather, persist_and_total, total
from supdr.rows.waiting import LocalValue

VALUES = np.random.default_rng(0).standard_normal(20)


class Recorder:
    """A client that does the work itself, at once, and remembers which tasks each round had, and where."""

    def __init__(self):
        self.rounds, self.values = [], {}

    def persist(self, collections, optimize_graph):
        """Compute collections and return what stands for them."""
        assert not optimize_graph
        layers = {name: layer for each in collections for name, layer in each.dask.layers.items()}
        self.rounds.append({name: layer.annotations for name, layer in layers.items() if name not in self.values})
        graph = {key: task for layer in layers.values() for key, task in layer.items()}
        for each in collections:
            self.values[each.key] = dask.get(graph, each.key)
        kept = [HighLevelGraph.from_collections(each.key, {each.key: self.values[each.key]}) for each in collections]
        return [Delayed(each.key, graph) for each, graph in zip(collections, kept)]

    def futures_of(self, collections):
        """Return their futures."""
        return [SimpleNamespace(key=each.key) for each in collections]

    def gather(self, futures):
        """Return the values of futures."""
        return [self.values[future.key] for future in futures]


@pytest.fixture
def client(monkeypatch):
    recorder = Recorder()
    monkeypatch.setattr(waiting, "_client", lambda: recorder)
    return recorder


def at(homes, values=VALUES):
    """Return values in partitions at some homes."""
    return Partitions(map(LocalValue, values), homes)


def _itself(value):
    return value


def _both(value):
    return -value, value


def test_a_round_over_few_partitions_is_their_work_and_one_task_a_worker(client):
    kept, summed = persist_and_total(_both, at("aabb", VALUES[:4]))
    assert summed == sum(VALUES[:4])
    homes = {name: each["workers"][0] for name, each in client.rounds.pop().items() if each["allow_other_workers"]}
    assert sorted(home for name, home in homes.items() if name.startswith("both")) == list("aabb")
    assert sorted(home for name, home in homes.items() if not name.startswith("both")) == ["a", "b"]
    assert total(abs, kept) == sum(abs(VALUES[:4]))
    assert [name.startswith("abs") for name in client.rounds.pop()] == [True] * 4


@pytest.mark.parametrize("homes", [[""] * 20, list("aaaaaaaaaabbbbbbbbbb"), list("aaaabbbbccccddddeeee")])
def test_the_order_of_addition_does_not_depend_on_where_partitions_are(client, homes):
    expected = sum([sum(VALUES[:8]), sum(VALUES[8:16]), sum(VALUES[16:])])
    assert persist_and_total(_both, at(homes))[1] == expected
    assert total(_itself, at(homes)) == expected


def test_what_is_kept_is_the_same_by_threads_and_on_a_cluster(client, monkeypatch):
    on_cluster = gather(_itself, persist_and_total(_both, at("a" * 20))[0])
    monkeypatch.setattr(waiting, "_client", lambda: None)
    with dask.config.set(scheduler="synchronous"):
        assert gather(_itself, persist_and_total(_both, from_list(VALUES))[0]) == on_cluster == list(-VALUES)


def test_a_partition_brings_the_tasks_that_it_needs_and_no_others(monkeypatch):
    monkeypatch.setattr("distributed.get_client", lambda: SimpleNamespace(nthreads=lambda: {"here": 1}))
    for count in (5, 50):
        parts = at_home((da.ones((count, 2), chunks=(1, 2)) + 1.0).to_delayed().ravel().tolist())
        assert {len(part.dask) for part in parts.parts} == {len(parts.parts[0].dask)}
        assert len(parts.parts[0].dask) <= 3
        assert set(parts.homes) == {"here"}
        # Where all workers were lost, any begins again: reading has no home, what is made of it has.
        layers = delay(_itself, parts).parts[0].dask.layers.values()
        assert sorted(str(layer.annotations) for layer in layers) == [
            "None",
            "{'workers': ['here'], 'allow_other_workers': True}",
        ]
