"""The server's log and how often it is written; as JSON it holds no data, names or texts of visitors."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any, TextIO

from tornado.web import RequestHandler

# Whose messages are patterns: what is filled into them, an address or a name for instance, is left out.
TRUSTED = ("supdr", "supdr_viz", "tornado")

ANSWERS = logging.getLogger("supdr_viz.answers")
# Places that are named of a failure: the innermost.
DEEPEST = 12


# LineFormatter from one place of the code; more are counted only, so that frequent requests do not fill the disk.
SAME_A_MINUTE = 20


class Sparing(logging.Filter):
    """Lets through `SAME_A_MINUTE` warnings and errors of a place in the code; the next minute's first counts the rest.

    `clock`: seconds, as `time.monotonic`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._lock = clock, threading.Lock()
        self._seen: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a record is written; it may be given the number of those that were not."""
        if record.levelno < logging.WARNING:
            return True
        place, now = (record.pathname, record.lineno), self._clock()
        with self._lock:
            since, count = self._seen.get(place, (now, 0))
            if now - since >= 60.0:
                if count > SAME_A_MINUTE:
                    record.facts = getattr(record, "facts", {}) | {"left out before": count - SAME_A_MINUTE}
                since, count = now, 0
            self._seen[place] = (since, count + 1)
        return count < SAME_A_MINUTE


class LineFormatter(logging.Formatter):
    """Writes a record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
        }
        if record.name.partition(".")[0] in TRUSTED:
            line["message"] = str(record.msg)
        else:
            line["where"] = f"{record.module}:{record.lineno}"
        line |= getattr(record, "facts", {})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__  # its text may quote a visitor's input
            frames = traceback.extract_tb(record.exc_info[2])[-DEEPEST:]
            line["at"] = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line)


def log_json(stream: TextIO | None = None) -> None:
    """Have all loggers of this process write so.

    `stream`: default: standard error.
    """
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(LineFormatter())
    handler.addFilter(lambda record: record.levelno >= logging.WARNING or record.name == ANSWERS.name)
    handler.addFilter(Sparing())
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(logging.WARNING)
    for logger in map(logging.getLogger, list(logging.root.manager.loggerDict)):
        logger.handlers.clear()
        logger.propagate = True
    ANSWERS.setLevel(logging.INFO)


def log_sparingly(clock: Callable[[], float] = time.monotonic) -> None:
    """Have what is logged to this process's handlers, as plain text, not repeat itself without end.

    `clock`: returns seconds.
    """
    sparing = Sparing(clock)
    loggers = [logging.root, *map(logging.getLogger, list(logging.root.manager.loggerDict))]
    handlers = {handler for logger in loggers for handler in logger.handlers}
    for handler in handlers | ({logging.lastResort} if logging.lastResort else set()):
        handler.addFilter(sparing)
        handler.addFilter(_how_many_more)


def _how_many_more(record: logging.LogRecord) -> bool:
    more = getattr(record, "facts", {}).pop("left out before", 0)
    if more:
        record.msg = f"{record.msg} [{more:,} more like it were not written]"
    return True


def answers(paths: Collection[str]) -> Callable[[RequestHandler], None]:
    """Return what notes every answer: method, page, status and milliseconds; neither who asked nor the query.

    `paths`: first parts of addresses that are named; others may hold anything. Returns ``note(handler)``.
    """

    def _note(handler: RequestHandler) -> None:
        first = handler.request.path.strip("/").partition("/")[0]
        facts = {
            "method": handler.request.method if handler.request.method in handler.SUPPORTED_METHODS else "other",
            "path": first if first in paths else "other",
            "status": handler.get_status(),
            "ms": round(1e3 * handler.request.request_time(), 1),
        }
        ANSWERS.info("answer", extra={"facts": facts})

    return _note
