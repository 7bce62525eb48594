"""The examples of all pages, from TOML files of this folder.

A file has groups (``[[group]]``, with the ``title`` of their heading in the menu, or none) of examples
(``[[group.example]]``).  What is not a key of `Preset` is the example's settings: ``data`` and ``method``, tables of a
name and options, as in the files of ``supdr-viz sweep``.  Of two examples of one name one may be for where a method is
``installed``, the other for where it is ``missing``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from supdr.engine.parameters import quoted
from supdr_viz.experiment.codec import toml_document
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.reader import Reader
from supdr_viz.presets.preset import Needs, Preset, Presets

FOLDER = Path(__file__).parent

S = TypeVar("S")


def document(name: str) -> dict[str, Any]:
    """Return a file of this folder, given without its ending."""
    return toml_document((FOLDER / f"{name}.toml").read_bytes())


def read_presets(files: Iterable[str], read: Callable[[dict[str, Any]], S], opening: str) -> Presets[S]:
    """Read the examples of a page.

    `files`: names without their ending, in the order of the menu; `read`: returns the settings of an example's table,
    and raises ValueError if anything in it is wrong; `opening`: name of the example that the page opens with. Raises
    ValueError: an example is wrong; the message names it.
    """
    return Presets((preset for file in files for preset in examples(document(file), read)), opening)


def examples(
    content: Mapping[str, Any], read: Callable[[dict[str, Any]], S], methods: Iterable[str] = MENU
) -> Iterator[Preset[S]]:
    """Read the examples of one file.

    `content`: the document; `methods`: names of those that are installed. Raises ValueError as `read_presets`.
    """
    installed = set(methods)
    for group in content["group"]:
        for table in group["example"]:
            if table.get("installed", "") in {"", *installed} and table.get("missing") not in installed:
                yield _example(table, group.get("title", ""), read)


def _example(table: Mapping[str, Any], group: str, read: Callable[[dict[str, Any]], S]) -> Preset[S]:
    reader = Reader(table, f"{table.get('name')}: ")
    name, label, note, more, mode, needs = map(reader.text, ("name", "label", "note", "more", "mode", "needs"))
    look = reader.words("look")
    slow_start = reader.whole("slow_start", 0, 1000, default=0)
    if needs and needs not in _needed():
        reader.say(f"there are no data {quoted(needs)} in needs.toml.")
    if reader.problems:
        raise ValueError(" ".join(reader.problems))
    try:
        settings = read({key: value for key, value in reader.entries.items() if key not in ("installed", "missing")})
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return Preset(
        name,
        label,
        group,
        settings,
        " ".join(note.split()),
        _needed()[needs] if needs else None,
        mode,
        slow_start,
        " ".join(more.split()),
        **({"look": look} if look else {}),
    )


@cache
def _needed() -> dict[str, Needs]:
    """Return the data that examples need: key -> data."""
    return {key: Needs(**fields) for key, fields in document("needs").items()}
