"""Slow work beside the event loop: reading a file, asking a server."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import panel as pn

from supdr.datasets import FileProblem
from supdr_viz.kit.page_thread import caller

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What slow work came to: a value, or a sentence that says what is wrong."""

    value: Any = None
    problem: str = ""


def in_background(work: Callable[[], Any], done: Callable[[Outcome], Any]) -> None:
    """Run ``work()`` in a thread and then ``done(outcome)`` in the page.

    Without a page, as in tests, both run at once.

    Parameters
    ----------
    work : callable
        Must not touch the page.
    done : callable
    """
    document = pn.state.curdoc
    if document is None:
        done(attempt(work))
        return
    call = caller(document)
    threading.Thread(target=lambda: call(partial(done, attempt(work))), name="supdr-load", daemon=True).start()


def attempt(work: Callable[[], Any]) -> Outcome:
    """Call `work` and turn whatever it raises into a sentence."""
    try:
        return Outcome(work())
    except FileProblem as error:
        return Outcome(problem=str(error))
    except ValueError as error:
        return Outcome(problem=_sentence(str(error)))
    except MemoryError:
        return Outcome(problem="There is not enough memory for these data.")
    except Exception as error:
        LOG.exception("Loading data failed")
        return Outcome(problem=_sentence(f"This could not be loaded: {error or type(error).__name__}"))


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."
