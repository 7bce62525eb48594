"""Docstrings that say once what several functions or classes share.

An entry "As in `source`." of a section *Parameters* names parameters that `source` describes.  Editors show it as it
stands; `help` and the documentation pages show the entries themselves.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Documented = TypeVar("Documented")

REFERENCE = re.compile(r"^(\w+(?:, \w+)*)\n    As in `(\w+)`\.$", re.MULTILINE)


def with_entries_of(*sources: Any) -> Callable[[Documented], Documented]:
    """Decorate a function or class: references to `sources` in its docstring become their entries."""
    by_name = {source.__name__: source for source in sources}

    def expanded(match: re.Match[str]) -> str:
        """Return the entries that a reference stands for."""
        names, source = match.groups()
        if source not in by_name:
            return match[0]
        entries = parameter_entries(by_name[source])
        return "\n".join(dict.fromkeys(entries[name] for name in names.split(", ")))

    def decorate(thing: Documented) -> Documented:
        """Write the docstring of `thing` anew."""
        if thing.__doc__:  # not so under python -OO
            thing.__doc__ = REFERENCE.sub(expanded, inspect.cleandoc(thing.__doc__))
        return thing

    return decorate


def parameter_entries(source: Any) -> dict[str, str]:
    """Return the entries of a numpydoc section *Parameters*, by the names of the parameters."""
    _, _, rest = inspect.cleandoc(source.__doc__ or "").partition("Parameters\n----------\n")
    section = re.split(r"\n\n(?=\S)", rest, maxsplit=1)[0]
    entries = (entry.rstrip() for entry in re.split(r"\n(?=\S)", section))
    return {name: entry for entry in entries for name in entry.split(" : ")[0].split("\n")[0].split(", ")}
