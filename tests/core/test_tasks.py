"""Rounds over partitions as Dask gets them: few tasks, each where its partition is, added up in a fixed order."""

from types import SimpleNamespace

import dask
import dask.array as da
import numpy as np
import pytest

from supdr.rows import waiting
from supdr.rows.partitions import Partitions, gathered, listed, spread_and_total, total
from supdr.rows.tasks import Given, called, read_at

VALUES = np.random.default_rng(0).standard_normal(20)


class Recorder:
    """A client that does the work itself, at once, and remembers what it was asked for."""

    def __init__(self):
        self.rounds = []

    def get(self, graph, keys, sync):
        """Return the futures of some keys."""
        assert not sync
        tasks, home = dict(graph), dask.get_annotations()["workers"]
        assert dask.get_annotations()["allow_other_workers"]
        self.rounds.append({key: home(key) for key, task in tasks.items() if isinstance(task, tuple)})  # no futures
        known = {key: task.value if isinstance(task, SimpleNamespace) else task for key, task in tasks.items()}
        return [SimpleNamespace(key=key, value=dask.get(known, key)) for key in keys]

    def gather(self, futures):
        """Return their values."""
        return [future.value for future in futures]


@pytest.fixture
def client(monkeypatch):
    recorder = Recorder()
    monkeypatch.setattr(waiting, "_client", lambda: recorder)
    return recorder


def at(homes, values=VALUES):
    """Return values in partitions at some homes."""
    return Partitions(called(_opened, [Given(value)], home) for value, home in zip(values, homes, strict=True))


def _opened(given):
    return given.value


def _itself(value):
    return value


def _both(value):
    return -value, value


def test_a_round_over_few_partitions_is_their_work_and_one_task_a_worker(client):
    parts = spread_and_total(_both, at("aabb", VALUES[:4]))[0]
    client.rounds.clear()
    kept, summed = spread_and_total(_both, parts)
    assert summed == sum(-VALUES[:4])
    asked = client.rounds.pop()
    assert sorted(home for key, [home] in asked.items() if key.startswith("both")) == list("aabb")
    assert sorted(home for key, [home] in asked.items() if not key.startswith("both")) == ["a", "b"]
    assert total(abs, kept) == sum(abs(VALUES[:4]))
    assert [key.startswith("abs") for key in client.rounds.pop()] == [True] * 4


@pytest.mark.parametrize("homes", [[""] * 20, list("aaaaaaaaaabbbbbbbbbb"), list("aaaabbbbccccddddeeee")])
def test_the_order_of_addition_does_not_depend_on_where_partitions_are(client, homes):
    expected = sum([sum(VALUES[:8]), sum(VALUES[8:16]), sum(VALUES[16:])])
    assert spread_and_total(_both, at(homes))[1] == expected
    assert total(_itself, at(homes)) == expected


def test_what_is_kept_is_the_same_by_threads_and_on_a_cluster(client, monkeypatch):
    on_cluster = gathered(_itself, spread_and_total(_both, at("a" * 20))[0])
    monkeypatch.setattr(waiting, "_client", lambda: None)
    with dask.config.set(scheduler="synchronous"):
        assert gathered(_itself, spread_and_total(_both, listed(VALUES))[0]) == on_cluster == list(-VALUES)


def test_a_partition_brings_the_tasks_that_it_needs_and_no_others():
    for count in (5, 50):
        blocks = (da.ones((count, 2), chunks=(1, 2)) + 1.0).to_delayed().ravel().tolist()
        parts = read_at(blocks, ["here"] * count)
        assert {len(part.tasks) for part in parts} == {len(parts[0].tasks)}
        assert len(parts[0].tasks) <= 3
        assert parts[0].home == "here"
        assert {home for _, home in parts[0].tasks.values()} == {""}  # where all workers were lost, any begins again
