"""The page's scripts: modules of the folder ``assets``, each joined with what it imports into one script.

A browser could load the modules one by one, but at the cost of a request for each; and a file that is opened from disk
may not import others. So each page, and each component, gets one script. Every module keeps a scope of its own in it.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from posixpath import dirname, join, normpath, splitext

ASSETS = resources.files("supdr_viz") / "assets"

_IMPORT = re.compile(
    r'^import (?:(?P<names>\w+|\{[^}]*\}) from )?"(?P<path>\.[^"]+)"(?: with \{type: "json"\})?\n', re.M
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
# A line of nothing else; a text of several lines must have none that begins like one.
_COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@cache
def bundle(entry: str) -> str:
    """Return a module with all that it imports, as one module that imports nothing, without lines of comments.

    `entry`: file of the folder ``assets``. Raises ValueError: modules import each other in a circle, or one has an
    import or an export of a form that is not understood.
    """
    parts: dict[str, str] = {}
    body = _body(entry, parts, (entry,))
    return "".join([*parts.values(), body])


def _body(file: str, parts: dict[str, str], path: tuple[str, ...]) -> str:
    """Return a module's text with constants in place of its imports; `parts` gets the modules that it imports.

    `path`: from the entry to the module.
    """

    def imported(match: re.Match[str]) -> str:
        other = normpath(join(dirname(file), match["path"]))
        if other in path:
            raise ValueError(f"scripts must not import each other in a circle; got {' -> '.join((*path, other))}")
        if other not in parts:
            parts[other] = _part(other, parts, (*path, other))
        names = (match["names"] or "").replace(" as ", ": ")
        return f"const {names} = {_name(other)}\n" if names else ""

    body = _IMPORT.sub(imported, _COMMENT.sub("", _text(file)))
    if other := _OTHER.search(_EXPORT.sub("", body).replace("export default {", "", 1)):
        raise ValueError(f"{file}: an import must name a file, an export a function, class or const; got {other[0]!r}")
    return body


def _part(file: str, parts: dict[str, str], path: tuple[str, ...]) -> str:
    """Return a constant that holds what a module exports, or the value of a JSON file."""
    if file.endswith(".json"):
        return f"const {_name(file)} = {json.dumps(json.loads(_text(file)))}\n"
    body = _body(file, parts, path)
    exported = ", ".join(_EXPORT.findall(body))
    return f"const {_name(file)} = (() => {{\n{_EXPORT.sub('', body)}return {{{exported}}}\n}})()\n"


def _name(file: str) -> str:
    return "$" + re.sub(r"\W", "_", splitext(file)[0])


def _text(file: str) -> str:
    return ASSETS.joinpath(file).read_text(encoding="utf-8")
