"""Docstrings that say once what several functions or classes share.

An entry "As in `source`." of a section *Parameters* or *Attributes* names entries of `source`.  Editors show the
reference; `help` and the documentation pages show the entries.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Documented = TypeVar("Documented")

SECTION = re.compile(r"^(?:Parameters\n-{10}|Attributes\n-{10})\n(.+?)(?=\n\n\S|\Z)", re.MULTILINE | re.DOTALL)
REFERENCE = re.compile(r"^(\w+(?:, \w+)*)\n    As in `(?:supdr\.)?(\w+)`\.$", re.MULTILINE)


def with_entries_of(*sources: Any) -> Callable[[Documented], Documented]:
    """Decorate a function or class: references to `sources` in its docstring become their entries."""
    by_name = {source.__name__: source for source in sources}

    def expanded(match: re.Match[str]) -> str:
        """Return the entries that a reference names."""
        names, source = match[1].split(", "), match[2]
        entries = entries_of(by_name[source]) if source in by_name else {}
        if not entries.keys() >= set(names):
            return match[0]
        return "\n".join(dict.fromkeys(entries[name] for name in names))

    def decorate(documented: Documented) -> Documented:
        """Replace the docstring by the one with all entries."""
        if documented.__doc__:  # None under python -OO
            documented.__doc__ = REFERENCE.sub(expanded, inspect.cleandoc(documented.__doc__))
        return documented

    return decorate


def entries_of(source: Any) -> dict[str, str]:
    """Return the entries of the numpydoc sections *Parameters* and *Attributes*, by name."""
    sections = SECTION.findall(inspect.cleandoc(source.__doc__ or ""))
    entries = [entry.rstrip() for section in sections for entry in re.split(r"\n(?=\S)", section)]
    return {name: entry for entry in entries for name in entry.split(" : ")[0].split("\n")[0].split(", ")}
