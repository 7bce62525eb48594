"""Settings as a table of names and values, with names as in links; the table as a link, JSON or TOML.

Settings, comparisons, sweeps, lessons and examples are such tables; a prefix of the name tells their parts apart, as in
``method.C``, ``b.C`` (the second column of a comparison) and ``sweep.folds``.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from supdr.engine.parameters import Parameter

T = TypeVar("T")

MAX_FIELDS = 200


class Entry(NamedTuple):
    """A value of a table.

    `value`: as JSON and TOML have it; `text`: as links have it; `usual`: it is the default, which links leave out.
    """

    value: Any
    text: str
    usual: bool = False


Table = dict[str, Entry]


def form_table(prefix: str, form: Iterable[Parameter], values: Mapping[str, Any]) -> Table:
    """Return the values of a form, with a prefix such as "method." before each name."""
    return {
        prefix + spec.name: Entry(values[spec.name], spec.shown(values[spec.name]), values[spec.name] == spec.default)
        for spec in form
    }


def without_problems(result: tuple[T, list[str]]) -> T:
    """Return what was read.

    `result`: what was read; a sentence for each problem. Raises ValueError with these sentences, if there are any.
    """
    value, problems = result
    if problems:
        raise ValueError(" ".join(problems))
    return value


# --- links ----------------------------------------------------------------------------------------------------------


def link_query(table: Table) -> str:
    """Write a table as the query of a link, without the question mark."""
    return "&".join(f"{name}={quote(entry.text, safe=',;:')}" for name, entry in table.items() if not entry.usual)


def link_entries(link: str) -> dict[str, str]:
    """Return the names and texts of a link, or of its query alone; none if it cannot be read."""
    try:
        query = urlsplit(link).query or link.removeprefix("?")
        return dict(parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_FIELDS))
    except ValueError:
        return {}


def arguments_entries(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the names and texts of a page's address.

    `arguments`: as a web server gives them; the last value of a name counts.
    """
    return {str(name): _last(values) for name, values in arguments.items()}


def _last(values: Any) -> str:
    value = values[-1] if isinstance(values, (list, tuple)) and values else values
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


# --- JSON -----------------------------------------------------------------------------------------------------------


def json_document(table: Table) -> dict[str, Any]:
    """Return a table as a saved file has it, defaults included."""
    return {name: entry.value for name, entry in table.items()}


def json_text(document: Mapping[str, Any]) -> str:
    """Write the document of a saved file."""
    return json.dumps(document, indent=1)


def json_entries(text: str | bytes) -> Any:
    """Read a saved file.

    Raises ValueError if it is no JSON; the message is a sentence.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"This is not a JSON file of saved settings ({type(error).__name__}).") from None


# --- TOML -----------------------------------------------------------------------------------------------------------


def toml_document(content: str | bytes, most_bytes: int = 200_000) -> dict[str, Any]:
    """Read a TOML document, in UTF-8.

    Raises ValueError if it is none, or has more than `most_bytes` bytes; the message is a sentence.
    """
    if len(content) > most_bytes:
        raise ValueError(f"The file has {len(content):,} bytes; at most {most_bytes:,} are accepted.")
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        return tomllib.loads(text.removeprefix("\ufeff"))
    except UnicodeDecodeError:
        raise ValueError("The file is not text in UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"This is not TOML: {error}.") from None


def toml_entries(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names and values of a TOML document whose entries may be tables.

    ``method.C = 10`` is a table in a table; ``data`` and ``method`` may be tables of a ``name`` and options. In place
    of its name the table ``data`` may have ``openml`` or ``file``: what is to be loaded.
    """
    entries: dict[str, Any] = {}
    for name, value in document.items():
        if not isinstance(value, dict):
            entries[name] = value
            continue
        options = dict(value)
        loaded = next((source for source in ("file", "openml") if name == "data" and source in options), "")
        if loaded:
            entries |= {"data": loaded, "data.name": str(options.pop(loaded))}
        elif name in ("data", "method") and "name" in options:
            entries[name] = options.pop("name")
        entries |= {f"{name}.{option}": entry for option, entry in options.items()}
    return entries
