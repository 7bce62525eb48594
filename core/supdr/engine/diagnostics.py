"""Scalars of a snapshot that are computed at their first use and can be refined by further work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np


class Diagnostics(Mapping[str, float]):
    """A mapping of names to scalars: some are given, the others are computed together at their first use.

    Threads may share it: one computes, the others wait for it.

    `at_hand`: scalars that need no computation. `compute`: returns the others; released after its one call. `refine`:
    returns better values of some of them after some work, or None when there are no better ones.
    """

    __slots__ = ("_all", "_compute", "_lock", "_refine", "at_hand")

    def __init__(
        self,
        at_hand: Mapping[str, float],
        compute: Callable[[], Mapping[str, float]] | None = None,
        refine: Callable[[], Mapping[str, float] | None] | None = None,
    ) -> None:
        self.at_hand = at_hand
        self._compute, self._refine = compute, refine
        self._all: Mapping[str, float] | None = at_hand if compute is None else None
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> float:
        return self.at_hand[name] if name in self.at_hand else self._computed()[name]

    def __contains__(self, name: object) -> bool:
        return name in self.at_hand or name in self._computed()

    def __iter__(self) -> Iterator[str]:
        return iter(self._computed())

    def __len__(self) -> int:
        return len(self._computed())

    def __repr__(self) -> str:
        return repr(dict(self.available))

    def __reduce__(self) -> tuple[Any, ...]:
        return Diagnostics, (dict(self),)

    @property
    def available(self) -> Mapping[str, float]:
        """Those that can be read now without any work: all of them after the first use of a computed one."""
        return self.at_hand if self._all is None else self._all

    @property
    def complete(self) -> bool:
        """Whether all of them can be read without any work."""
        return self._all is not None

    def with_values(self, **more: float) -> Diagnostics:
        """Return these scalars and some more; the computed ones are shared, and still computed once."""
        return Diagnostics({**self.at_hand, **more}, self._computed, self._refine)

    def refine(self) -> bool:
        """Improve scalars such as bounds by some ten milliseconds of work; return whether further calls can help."""
        if self._refine is None:
            return False
        better = self._refine()
        if better is None:
            self._refine = None
            return False
        values = self._computed()
        with self._lock:
            self._all = {**values, **better}
        return True

    def _computed(self) -> Mapping[str, float]:
        if self._all is None:
            with self._lock:
                if self._all is None:
                    assert self._compute is not None
                    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                        values = self._compute()
                    self._all, self._compute = {**self.at_hand, **values}, None
        return self._all
