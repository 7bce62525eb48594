"""Give the app what nobody should: random damage to links, states, lessons, sweeps, messages of a page, and files.

    python -m tests.bad_input.fuzz --count 10000 --seed 0

What is given must be taken or refused in words: no other exception, no answer that takes long, no memory that grows.
Each finding is printed with the input that makes it happen again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from importlib import resources
from urllib.parse import unquote, unquote_to_bytes

import numpy as np

from supdr.datasets import FileProblem, read_file
from supdr_viz.experiment.codec import link_entries
from supdr_viz.experiment.settings import from_json, parse_entries, parse_query, to_json, to_query
from supdr_viz.lessons.reading import LessonError, read_lesson
from supdr_viz.pages.sensitivity.files import from_toml
from supdr_viz.pages.sensitivity.settings import parse_sweep, sweep_query
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.views.stage.socket import understood
from tests.bad_input import files, settings, workbooks
from tests.bad_input.damage import MOST_BYTES, MOST_SECONDS, WRONG, damaged
from tests.bad_input.talk import talk
from tests.viz.visitor import Visitor

Kinds = dict[str, tuple[list[bytes], Callable[[bytes], None]]]
"""Name of a kind of input -> examples, and who takes them."""

GOOD_SWEEP = b"""folds = 3
[data]
name = "iris"
[method]
name = "NSDR"
kernel = "rbf"
[grid]
C = [0.1, 1, 10]
reg_u = {low = 1e-4, high = 10, count = 6, spacing = "log"}
"""
# --- what is given, and to whom ---------------------------------------------------------------------------------------


def take_link(link: bytes) -> None:
    """Settings that came of a link say the same when they are read again."""
    parts = (part.partition(b"=") for part in link.split(b"&"))
    read, _ = parse_query({unquote(name): [unquote_to_bytes(value)] for name, _, value in parts})
    again, problems = parse_entries(link_entries(to_query(read)))
    assert not problems, problems
    assert to_query(again) == to_query(read)


def take_state(document: bytes) -> None:
    """Settings that came of a saved state can be saved and come back."""
    read, _ = from_json(document)
    again, problems = from_json(to_json(read))
    assert not problems, problems
    assert to_query(again) == to_query(read)


def take_lesson(content: bytes) -> None:
    """A lesson is read, or every mistake is named."""
    with contextlib.suppress(LessonError):
        read_lesson(content, "lesson.toml")


def take_sweep(content: bytes) -> None:
    """A sweep is read, or refused by a ValueError that is meant for people."""
    text = content.decode("utf-8", "replace")
    with contextlib.suppress(ValueError):
        from_toml(text)


def take_sweep_link(link: bytes) -> None:
    """A sweep that came of a link says the same when it is read again."""
    read, _ = parse_sweep(link_entries(link.decode("utf-8", "replace")))
    again, problems = parse_sweep(link_entries(sweep_query(read)))
    assert not problems, problems
    assert sweep_query(again) == sweep_query(read)


def file_taker(name: str):
    """Return who reads a file of this name."""

    def take(data: bytes) -> None:
        with contextlib.suppress(FileProblem):
            dataset = read_file(data, name=name)
            assert dataset.X.ndim == 2
            assert not np.isinf(dataset.X).any()
            assert len(dataset.y) == len(dataset.X)

    return take


def hearer(visitor: Visitor):
    """Return who hears what a browser might say to the page that is open."""
    stage = visitor.stage()

    def take(message: bytes) -> None:
        said = understood(message)
        if said is not None:
            visitor.do(lambda: stage.hear(said))

    return take


def links() -> list[bytes]:
    """Return links that work and links that do not."""
    good = [to_query(preset.settings) for preset in PRESETS.values()]
    return [link.encode() for link in [*good, *settings.LINKS]]


def kinds(visitor: Visitor) -> Kinds:
    """Return, for each kind of input, examples and who takes them."""
    states = [to_json(preset.settings).encode() for preset in PRESETS.values()]
    lessons = [
        each.read_bytes() for each in resources.files("supdr_viz.lessons").iterdir() if each.name.endswith("toml")
    ]
    sweeps = [GOOD_SWEEP, *map(_bytes, settings.SWEEPS)]
    messages = [
        json.dumps({"kind": kind, name: value}).encode()
        for kind, name in (
            ("select", "rows"),
            ("drawn", "points"),
            ("painted", "number"),
            ("hello", "x"),
            ("save", "plane"),
        )
        for value in (*WRONG, WRONG, *([[wrong] * 3] for wrong in WRONG), [0, 1, 2], [[0.5, 0.5, 1]], 3)
    ]
    made = {
        "link": (links(), take_link),
        "state": ([*states, *map(_bytes, settings.STATES)], take_state),
        "lesson": ([*lessons, *map(_bytes, settings.LESSONS)], take_lesson),
        "sweep": (sweeps, take_sweep),
        "sweep link": (
            [link + b"&sweep.x=C:log:1:2:3" for link in links()] + [_bytes(x) for x in settings.SWEEP_LINKS],
            take_sweep_link,
        ),
        "message": (messages, hearer(visitor)),
    }
    examples = [*files.ODD, *files.BAD, *workbooks.ODD, *workbooks.BAD]
    for ending in (".csv", ".tsv", ".xlsx", ".arff", ".npz", ".libsvm", ".parquet", ".csv.gz"):
        given = [data for _, name, data, _ in examples if name.endswith(ending) and len(data) < 100_000]
        made[f"file {ending}"] = (given, file_taker(f"a{ending}"))
    return made


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


# --- the run ----------------------------------------------------------------------------------------------------------


def fuzz(count: int, seed: int, only: str = "") -> list[str]:
    """Give `count` inputs, first the examples and then damaged ones; return the findings in words."""
    with Visitor("?data=spirals&data.n_per_class=20&method=LSDR") as visitor:
        given = {name: kind for name, kind in kinds(visitor).items() if name.startswith(only)}
        return _findings(given, count, np.random.default_rng(seed))


def _findings(given: Kinds, count: int, rng: np.random.Generator) -> list[str]:
    findings, slowest, before = [], Counter(), _peak()
    for number in range(count):
        name = list(given)[number % len(given)]
        examples, take = given[name]
        turn = number // len(given)
        chosen = examples[turn if turn < len(examples) else rng.integers(len(examples))]
        data = chosen if turn < len(examples) else damaged(rng, chosen, examples)
        began = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                take(data)
        except Exception as error:
            findings.append(f"{name}: {type(error).__name__}: {str(error)[:200]}\n    {data[:300]!r}")
        seconds = time.process_time() - began
        slowest[name] = max(slowest[name], seconds)
        if seconds > MOST_SECONDS:
            findings.append(f"{name}: an answer took {seconds:.1f} s\n    {data[:300]!r}")
    grown = _peak() - before
    if grown > MOST_BYTES:
        findings.append(f"the memory grew by {grown / 1e6:,.0f} MB")
    print("slowest answers in seconds:", ", ".join(f"{name} {seconds:.2f}" for name, seconds in slowest.items()))
    print(f"memory: {grown / 1e6:,.0f} MB more than before")
    return findings


def _peak() -> float:
    """Return the most memory that the process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def main() -> int:
    """Run from the command line; 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="the beginning of a kind's name, such as file")
    asked = parser.parse_args()
    # One in ten is said to a running server.
    live = 0 if asked.only and not "websocket".startswith(asked.only) else asked.count // (1 if asked.only else 10)
    findings = talk(live, asked.seed) if live else []
    if live < asked.count:
        findings += fuzz(asked.count - live, asked.seed, asked.only)
    print(*findings, sep="\n")
    print(f"{asked.count:,} inputs, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
