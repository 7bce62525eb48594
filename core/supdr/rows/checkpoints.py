"""Checkpoints of runs on partitions: each worker writes and reads the partitions that it holds.

A checkpoint is a folder.  It gets its final name when it is complete, and only then is the previous one removed, so
that a complete checkpoint exists whenever a process is killed.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from supdr.rows.partitions import Partitions, at_home, from_list, gather, persist

STATE = "state.pickle"

# Old names of modules in checkpoints, and their present names.
MOVED = {
    "supdr.methods.snf.partitioned": "supdr.methods.snf.distributed",
    "supdr.solvers.summed_lbfgs": "supdr.solvers.distributed_lbfgs",
}


def save(content: Any, folder: Path, number: int) -> None:
    """Write a checkpoint and remove the earlier ones.

    `content`: a picklable object; `Partitions` of arrays in it are written partition by partition. `folder`: of the
    checkpoints of a run; workers must reach it by the same path. `number`: of the checkpoint, rising; an existing one
    is not written again.
    """
    place = folder / f"pass-{number:09}"
    if place.exists():
        return
    unfinished = place.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    with open(unfinished / STATE, "wb") as file:
        _Pickler(file, unfinished).dump(content)
    before = list(_complete(folder))
    unfinished.rename(place)
    for other in before:
        shutil.rmtree(other)


def load(folder: Path) -> Any:
    """Return the content of the newest checkpoint in a folder, or None if there is none.

    `folder`: as for `save`.  Unpickling can run code: load only folders that you have written.  Raises ValueError if
    the checkpoint names a class that this version does not have.
    """
    newest = max(_complete(folder), default=None)
    if newest is None:
        return None
    with open(newest / STATE, "rb") as file:
        return _Unpickler(file, newest).load()


def _complete(folder: Path) -> Iterator[Path]:
    return (place for place in folder.glob("pass-*") if place.suffix != ".unfinished")


class _Pickler(pickle.Pickler):
    """Writes partitions beside the pickle and leaves their number in it."""

    def __init__(self, file: Any, folder: Path) -> None:
        super().__init__(file, protocol=5)
        self.folder, self.count = folder, 0

    def persistent_id(self, thing: Any) -> Any:
        if not isinstance(thing, Partitions):
            return None
        name, self.count = f"{self.count}", self.count + 1
        gather(_write, thing, from_list(_files(self.folder, name, len(thing))))
        return name, len(thing)


class _Unpickler(pickle.Unpickler):
    """Reads the files of `_Pickler`."""

    def __init__(self, file: Any, folder: Path) -> None:
        super().__init__(file)
        self.folder = folder

    def find_class(self, module: str, name: str) -> Any:
        try:
            return super().find_class(MOVED.get(module, module), name)
        except (ImportError, AttributeError) as error:
            raise ValueError(
                f"the checkpoint {self.folder} names {module}.{name}, which this version of supdr does not have; "
                "open it with the version that wrote it, or begin the run anew with another folder"
            ) from error

    def persistent_load(self, key: Any) -> Partitions:
        return persist(np.load, at_home([delayed(file, pure=False) for file in _files(self.folder, *key)]))


def _files(folder: Path, name: str, count: int) -> list[str]:
    return [str(folder.absolute() / f"{name}-{number:06}.npy") for number in range(count)]


def _write(values: NDArray, file: str) -> None:
    np.save(file, values)
