"""Scalars of a snapshot that are computed when somebody looks at them, once, and sharpened for those who wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np


class Diagnostics(Mapping[str, float]):
    """A mapping of names to scalars: some are at hand, the others are computed together at the first look.

    Two threads may look at once: one computes, the other waits for it.

    `at_hand`: read without any work. `compute`: returns the others; let go of once it has been called. `sharpen`:
    returns what some more work makes better of them, or None: they stand.
    """

    __slots__ = ("_all", "_compute", "_lock", "_sharpen", "at_hand")

    def __init__(
        self,
        at_hand: Mapping[str, float],
        compute: Callable[[], Mapping[str, float]] | None = None,
        sharpen: Callable[[], Mapping[str, float] | None] | None = None,
    ) -> None:
        self.at_hand = at_hand
        self._compute, self._sharpen = compute, sharpen
        self._all: Mapping[str, float] | None = at_hand if compute is None else None
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> float:
        return self.at_hand[name] if name in self.at_hand else self._everything()[name]

    def __contains__(self, name: object) -> bool:
        return name in self.at_hand or name in self._everything()

    def __iter__(self) -> Iterator[str]:
        return iter(self._everything())

    def __len__(self) -> int:
        return len(self._everything())

    def __repr__(self) -> str:
        return repr(dict(self.at_hand if self._all is None else self._all))

    def __reduce__(self) -> tuple[Any, ...]:
        return Diagnostics, (dict(self),)

    @property
    def known(self) -> Mapping[str, float]:
        """What can be read now without any work: all of them once they were looked at."""
        return self.at_hand if self._all is None else self._all

    @property
    def complete(self) -> bool:
        """Whether all of them are known."""
        return self._all is not None

    def also(self, **more: float) -> Diagnostics:
        """Return these scalars with some more at hand; what is not computed yet stays so, and is computed once."""
        return Diagnostics({**self.at_hand, **more}, self._everything, self._sharpen)

    def sharpen(self) -> bool:
        """Work for some ten milliseconds on those that can be made better, such as bounds.

        Returns whether there is more to be done; if not, the scalars stand.
        """
        if self._sharpen is None:
            return False
        better = self._sharpen()
        if better is None:
            self._sharpen = None
            return False
        known = self._everything()
        with self._lock:
            self._all = {**known, **better}
        return True

    def _everything(self) -> Mapping[str, float]:
        if self._all is None:
            with self._lock:
                if self._all is None:
                    assert self._compute is not None
                    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                        found = self._compute()
                    self._all, self._compute = {**self.at_hand, **found}, None
        return self._all
