"""What it costs to open each page: the server's processor, and the document that it sends."""

from __future__ import annotations

import asyncio
import json
import statistics

from client import Client, Served

PAGES = ("explorer", "compare", "sensitivity", "lessons")
SETTLES = 2.0
"""Seconds after which a page has done what it does on being opened."""


def openings(served: Served, rounds: int = 5) -> list[tuple[str, str, str]]:
    """Open each page some times, without a browser; the first time of each is not counted."""
    rows = []
    for name in PAGES:
        opened = [asyncio.run(_opened(served, name)) for _ in range(1 + rounds)][1:]
        own, all_threads = (statistics.median(each[k] for each in opened) for k in (0, 1))
        document = opened[-1][2]
        target = "<= .5 s" if name == "explorer" else ""
        rows += [
            (f"opening {name}, server", f"{own:.3f} s in the page's thread, {all_threads:.3f} s in all", target),
            (
                "its document, and the class definitions in it",
                f"{len(document) / 1e3:.0f} kB, {_definitions(document) / 1e3:.0f} kB; {models(document)} models",
                "<= 150 kB" if name == "explorer" else "",
            ),
        ]
    return rows


async def _opened(served: Served, name: str) -> tuple[float, float, str]:
    """Return seconds of the page's thread and of all, and the document."""
    before, seconds, client = served.gauges()["event_loop_cpu"], served.seconds, Client(served, name)
    document = await client.open()
    await asyncio.sleep(SETTLES)
    own, spent = served.gauges()["event_loop_cpu"] - before, served.seconds - seconds
    client.close()
    await asyncio.sleep(SETTLES)
    return own, spent, document


def _definitions(document: str) -> int:
    """Bytes of the definitions of classes that Bokeh sends with every document."""
    return len(json.dumps(json.loads(document)["doc"].get("defs", []), separators=(",", ":")))


def models(part: object) -> int:
    """Count the models of a document."""
    part = json.loads(part) if isinstance(part, str) and part.startswith("{") else part
    if isinstance(part, dict):
        return (part.get("type") == "object" and "id" in part) + sum(map(models, part.values()))
    return sum(map(models, part)) if isinstance(part, list) else 0
