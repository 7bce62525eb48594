"""The tree that one run's canvases show, and the part of it that the browser has not been sent yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.views.stage.wire import SCALARS, Tree, encode, merge, tail_of


class Selection:
    """Rows that are selected, by row number; shared by all that shows the same rows."""

    def __init__(self) -> None:
        self._indices: list[int] = []
        self._listeners: list[Callable[[], None]] = []

    @property
    def indices(self) -> list[int]:
        """The selected rows."""
        return self._indices

    @indices.setter
    def indices(self, rows: list[int]) -> None:
        """Select other rows."""
        rows = [int(row) for row in rows]
        if rows != self._indices:
            self._indices = rows
            for listener in list(self._listeners):
                listener()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call ``listener()`` whenever other rows are selected."""
        self._listeners.append(listener)

    def forget(self, listener: Callable[[], None]) -> None:
        """Do not call a listener any more."""
        self._listeners.remove(listener)


class Stage:
    """The tree that the canvases of one run show.

    Views `put` what has changed; `flush` sends it as one message.  What is put and is there already is not sent.

    `tree`: all that the browser has been told, or is about to be.
    """

    def __init__(self) -> None:
        self.tree: Tree = {}
        self._pending: Tree = {}
        self._send: Callable[[bytes], None] | None = None
        self._watchers: list[Callable[[Tree, bytes], None]] = []
        self._nesting = 0
        self._listeners: dict[str, list[Callable[[Tree], Any]]] = {}

    def on(self, kind: str, listener: Callable[[Tree], Any]) -> None:
        """Call ``listener(message)`` when the browser says something of this kind."""
        self._listeners.setdefault(kind, []).append(listener)

    def hear(self, message: Tree) -> None:
        """Tell the listeners what the browser said."""
        for listener in self._listeners.get(str(message.get("kind")), []):
            listener(message)

    def connect(self, send: Callable[[bytes], None]) -> None:
        """Send by ``send(message)`` from now on, first of all what is known; the listeners to "hello" hear of it."""
        self._send = send
        self.send_all()
        self.hear({"kind": "hello"})

    def send_all(self) -> None:
        """Send the whole tree: to a browser that has nothing yet."""
        self._pending = {}
        if self._send is not None:
            self._send(encode({"all": True, **self.tree}))

    def put(self, *path: str, **values: Any) -> bool:
        """Note values under a path of names; tell whether any of them is new.

        `**values`: see `supdr_viz.views.stage.wire.encode`; a dict is merged with what is there.
        """
        branch: Any = self.tree
        for name in path:
            branch = branch.get(name) if isinstance(branch, dict) else None
        patch = _news(branch if isinstance(branch, dict) else {}, values)
        if not patch:
            return False
        for name in reversed(path):
            patch = {name: patch}
        self.tree = merge(self.tree, patch)
        self._pending = merge(self._pending, patch)
        if not self._nesting:
            self.flush()
        return True

    def grow(self, *path: str, **arrays: NDArray) -> bool:
        """Note arrays under a path of names; of one that begins as before, only the further rows are sent.

        `**arrays`: a row for each moment. Returns whether anything is new.
        """
        tails = {name: tail_of(array, self.get(*path, name)) for name, array in arrays.items()}
        return self.put(*path, **{name: tail for name, tail in tails.items() if tail is not None})

    def get(self, *path: str) -> Any:
        """Return what stands under a path of names, or None."""
        branch: Any = self.tree
        for name in path:
            branch = branch.get(name) if isinstance(branch, dict) else None
        return branch

    def watch(self, watcher: Callable[[Tree, bytes], None]) -> None:
        """Call ``watcher(patch, message)`` with whatever changes, as a tree and as it travels."""
        self._watchers.append(watcher)

    def unwatch(self, watcher: Callable[[Tree, bytes], None]) -> None:
        """Do not call a watcher any more."""
        self._watchers.remove(watcher)

    def flush(self) -> None:
        """Send what has changed since the last time, in one piece."""
        pending, self._pending = self._pending, {}
        if not pending or (self._send is None and not self._watchers):
            return
        message = encode(pending)
        if self._send is not None:
            self._send(message)
        for watcher in list(self._watchers):
            watcher(pending, message)

    def __enter__(self) -> Stage:
        """Collect what is put; all of it is sent together at the end."""
        self._nesting += 1
        return self

    def __exit__(self, *error: object) -> None:
        """Send what was collected."""
        self._nesting -= 1
        if not self._nesting:
            self.flush()


def _news(before: Tree, values: Tree) -> Tree:
    """Return those of the values that differ from what is known."""
    news: Tree = {}
    for name, value in values.items():
        there = before.get(name)
        if isinstance(value, dict) and isinstance(there, dict):
            inner = _news(there, value)
            if inner:
                news[name] = inner
        elif name not in before or not _same(there, value):
            news[name] = value
    return news


def _same(first: Any, second: Any) -> bool:
    if first is second:
        return True
    if type(first) in SCALARS:  # most of what there is
        return type(first) is type(second) and first == second
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return _equal(first, second)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if is_dataclass(first) and type(first) is type(second):
        return _same(vars(first), vars(second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_same(first[name], second[name]) for name in first)
    return type(first) is type(second) and not isinstance(first, np.ndarray) and first == second


def _equal(first: NDArray, second: NDArray) -> bool:
    # Bytes are compared up to the first that differs; numpy compares all, and makes an array of it.
    return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()
