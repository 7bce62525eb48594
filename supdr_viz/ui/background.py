"""Slow work beside the event loop: reading a file, asking a server."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import panel as pn

from supdr.engine.optional import PackageMissing
from supdr_viz.data.atomic_write import disk_trouble
from supdr_viz.data.quotas import most
from supdr_viz.ui.page_thread import call_in_page

LOG = logging.getLogger(__name__)


class Turns:
    """Lets no more than ``at_most()`` work at the same time."""

    def __init__(self, at_most: Callable[[], int]) -> None:
        self._at_most = at_most
        self._changed = threading.Condition()
        self._running = 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and give it back."""
        with self._changed:
            self._changed.wait_for(lambda: self._running < self._at_most())
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify()


@dataclass(frozen=True)
class Outcome:
    """What slow work came to: a value, or a sentence that says what is wrong, or nothing as it was cancelled."""

    value: Any = None
    problem: str = ""
    cancelled: bool = False


class Cancelled(Exception):
    """Ends slow work whose result is not needed any more."""


class Job:
    """Slow work that can be cancelled, seen from the page; the work calls it between its parts.

    `show`: ``show(done, total)`` is called in the page when the work has come further.
    """

    def __init__(self, show: Callable[[int, int], Any]) -> None:
        document = pn.state.curdoc
        self._call = call_in_page(document) if document is not None else None
        self._show = show
        self._last = (-1, -1)
        self._cancelled = threading.Event()
        if document is not None:  # its visitor has left
            document.on_session_destroyed(lambda _context: self.cancel())

    def cancel(self) -> None:
        """End the work between this part and the next."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        """Whether the work is not needed any more."""
        return self._cancelled.is_set()

    def __call__(self, done: int, total: int) -> None:
        """Tell the page how far the work has come.

        `done`, `total`: parts. Raises Cancelled if the work was cancelled.
        """
        if self._cancelled.is_set():
            raise Cancelled
        if (done, total) != self._last:
            self._last = (done, total)
            shown = partial(self._show, done, total)
            shown() if self._call is None else self._call(shown)


class Background:
    """Slow work of one page beside the event loop.

    Without a document, as in tests, all is done at once.

    `turns`: what work waits for, by default as many at a time as the quota allows. `long_turns`: what work waits for
    that may take minutes: one at a time on the server, apart from the others: files must not wait for it.
    """

    def __init__(self, turns: Turns | None = None, long_turns: Turns | None = None) -> None:
        self._turns, self._long_turns = turns or Turns(lambda: most("tasks")), long_turns or Turns(lambda: 1)
        self._under_way = 0

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self._under_way > 0

    def run(self, work: Callable[[], Any], done: Callable[[Outcome], Any], *, long: bool = False) -> None:
        """Run ``work()`` in a thread, once it is its turn, and then ``done(outcome)`` in the page.

        `work`: must not touch the page; `long`: whether it may take minutes.
        """
        document = pn.state.curdoc
        if document is None:
            done(attempt(work))
            return
        call, turns = call_in_page(document), self._long_turns if long else self._turns
        self._under_way += 1

        def _finish(outcome: Outcome) -> None:
            self._under_way -= 1
            done(outcome)

        def _work() -> None:
            with turns.turn():
                outcome = attempt(work)
            call(partial(_finish, outcome))

        threading.Thread(target=_work, name="supdr-load", daemon=True).start()


# ``run(work, done)``, see `Background.run`.
Run = Callable[[Callable[[], Any], Callable[[Outcome], Any]], None]


class Latest:
    """Slow work for a part of a page, of which only the answer to the newest request counts.

    `run`: that of the page's `Background`.
    """

    def __init__(self, run: Run) -> None:
        self._run, self._number = run, 0

    def drop(self) -> None:
        """Let nothing come of what was asked so far."""
        self._number += 1

    def ask(self, work: Callable[[], Any], done: Callable[[Outcome], Any]) -> None:
        """Run ``work()`` in a thread and then ``done(outcome)`` in the page, unless something else was asked meanwhile.

        `work`: is not begun if something else was asked before its turn; must not touch the page.
        """
        self._number += 1
        number = self._number

        def _work() -> Any:
            if number != self._number:
                raise Cancelled
            return work()

        def _done(outcome: Outcome) -> None:
            if number == self._number:
                done(outcome)

        self._run(_work, _done)


def attempt(work: Callable[[], Any]) -> Outcome:
    """Call `work` and turn whatever it raises into a sentence."""
    from supdr.datasets import FileProblem  # a second of imports, which a server that starts does not wait for

    try:
        return Outcome(work())
    except Cancelled:
        return Outcome(cancelled=True)
    except (FileProblem, PackageMissing) as error:
        return Outcome(problem=str(error))
    except ValueError as error:
        return Outcome(problem=_sentence(str(error)))
    except MemoryError:
        return Outcome(problem="There is not enough memory for these data.")
    except Exception as error:
        LOG.exception("Work beside the page failed")
        trouble = disk_trouble(error) if isinstance(error, OSError) else ""
        why = f"on the server, {trouble}" if trouble else str(error) or type(error).__name__
        return Outcome(problem=_sentence(f"This could not be done: {why}"))


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."
