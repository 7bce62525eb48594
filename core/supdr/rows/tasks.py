"""What stands for the value of a partition, and how it gets to Dask: as one plain graph a round.

A run goes over its partitions some times a pass, and a round should take no longer than its work and its messages.
Dask's collections would be merged, named and optimised on the way, which takes longer than the messages; here each
value knows its tasks, and a graph is a dictionary of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import dask
from dask.base import get_scheduler
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.optimization import cull
from dask.threaded import get as get_by_threads


@dataclass(frozen=True, eq=False)
class Given:
    """A value that is here."""

    value: Any

    @property
    def home(self) -> str:
        """No worker in particular."""
        return ""


@dataclass(frozen=True, eq=False)
class Planned:
    """A value that Dask computes, or has computed and keeps.

    `key`: its name for Dask. `tasks`: what it is made of, itself included: tasks in Dask's own notation, and the
    addresses of the workers that should do them; "": any.  Another worker does it if that one is lost. `home`: address
    of the worker that should do what is made of it; "": any.
    """

    key: Any
    tasks: dict[Any, tuple[Any, str]]
    home: str = ""


Part = Given | Planned


def called(function: Any, values: Iterable[Part], home: str = "") -> Planned:
    """Return what a function will give for some values; it takes those that are here as `Given`.

    `function`: pure; its name is the one of the task in Dask's dashboard. `home`: address of the worker that should
    call it.
    """
    key = f"{getattr(function, '__name__', type(function).__name__)}-{uuid4().hex}"
    tasks: dict[Any, tuple[Any, str]] = {}
    arguments: list[Any] = []
    for each in values:
        if isinstance(each, Planned):
            tasks.update(each.tasks)
        arguments.append(each.key if isinstance(each, Planned) else each)
    tasks[key] = (function, *arguments), home
    return Planned(key, tasks, home)


def read_at(blocks: Sequence[Delayed], homes: Sequence[str]) -> list[Planned]:
    """Return parts of a collection of Dask, each with the tasks that it needs.

    Any worker may do these: where all workers were lost at once, Dask does not begin again with tasks that have a home.

    `homes`: addresses of the workers that should do what is made of them.
    """
    plain: dict[int, dict] = {}  # the parts of a collection share its graph
    found = []
    for block, home in zip(blocks, homes):
        graph = block.dask
        own = plain.setdefault(id(graph), dict(graph))
        tasks, _ = cull(own, [block.key])
        found.append(Planned(block.key, {key: (task, "") for key, task in tasks.items()}, home))
    return found


def by_threads(wanted: Sequence[Planned], callbacks: Any = None) -> list[Any]:
    """Return values, computed by threads of this process, or as Dask's setting ``scheduler`` says.

    `callbacks`: what Dask calls between tasks.
    """
    graph = {key: task for each in wanted for key, (task, _) in each.tasks.items()}
    get = get_scheduler() or get_by_threads
    return list(get(graph, [each.key for each in wanted], callbacks=callbacks))


def submitted(client: Any, wanted: Sequence[Planned]) -> list[Any]:
    """Return futures of values."""
    tasks = {key: task for each in wanted for key, task in each.tasks.items()}
    homes = {key: [home] if home else [] for key, (_, home) in tasks.items()}
    # A graph in layers has a name; a mere dictionary would get one made of all that it holds.
    graph = HighLevelGraph.from_collections(uuid4().hex, {key: task for key, (task, _) in tasks.items()})
    with dask.annotate(workers=homes.__getitem__, allow_other_workers=True):
        return list(client.get(graph, [each.key for each in wanted], sync=False))


def kept_there(future: Any, home: str) -> Planned:
    """Return what stands for the value of a future, which stays where it was computed."""
    return Planned(future.key, {future.key: (future, "")}, home)
