"""Settings as a table of names and values: written as links, read from links, saved files and TOML, against forms.

Links, saved files, lessons, sweeps and examples all are such tables in the end, with names as in links.  A sentence
tells each value that is wrong; nothing in a table raises an exception.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from supdr.datasets.limits import listed
from supdr.engine.parameters import Parameter, quoted

MAX_FIELDS = 200
# Unknown names that are told one by one.
MAX_NAMED = 5


def arguments_entries(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the entries of a page's address.

    `arguments`: as a web server gives them; the last value of a name counts.
    """
    return {str(name): _last(values) for name, values in arguments.items()}


def _last(values: Any) -> str:
    value = values[-1] if isinstance(values, (list, tuple)) and values else values
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def link_entries(link: str) -> dict[str, str]:
    """Return the entries of a link, or of its query alone; none if it cannot be read."""
    try:
        query = urlsplit(link).query or link.removeprefix("?")
        return dict(parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_FIELDS))
    except ValueError:
        return {}


def table_entries(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of a table as TOML has it, whose entries may be tables.

    ``method.C = 10`` is a table in a table; ``data`` and ``method`` may be tables of a ``name`` and options. In place
    of its name the table ``data`` may have ``openml`` or ``file``: what is to be loaded.
    """
    entries: dict[str, Any] = {}
    for name, value in table.items():
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


def link_query(entries: Iterable[tuple[str, str]]) -> str:
    """Write entries, texts, as the query of a link.

    Returns without the question mark.
    """
    return "&".join(f"{name}={quote(text, safe=',;:')}" for name, text in entries)


def _flat(value: Any) -> Any:
    """Write a list as links do: axes "0,1", drawn points "x,y,class;…"."""
    if not isinstance(value, list):
        return value
    rows = value if value and isinstance(value[0], list) else [value]
    return ";".join(",".join(str(entry) for entry in row) if isinstance(row, list) else str(row) for row in rows)


class Reader:
    """Takes the entries of a table one by one.

    `entries`: names as in links; values as texts, or as TOML and JSON have them. `where`: said before each problem,
    such as "Column B: ". `problems`: to which the sentences are added. `repairs`: a default replaces a value that is
    wrong, as in links; else the whole table is refused, and says what it accepts. `entries`: those not taken yet;
    `problems`: one sentence for each value that was not taken as it is.
    """

    def __init__(
        self, entries: Mapping[str, Any], where: str = "", problems: list[str] | None = None, *, repairs: bool = True
    ) -> None:
        self.entries = {name: _flat(value) for name, value in entries.items()}
        self.problems = [] if problems is None else problems
        self._where = where
        self._repairs = repairs

    def say(self, problem: str) -> None:
        """Add a sentence, unless it is empty."""
        if problem:
            self.problems.append(self._where + problem)

    def take(self, name: str, default: Any) -> Any:
        """Return a value as it is."""
        return self.entries.pop(name, default)

    def take_all(self, prefix: str) -> dict[str, Any]:
        """Return all values whose names begin with a prefix, by the rest of their names."""
        names = [name for name in self.entries if name.startswith(prefix)]
        return {name.removeprefix(prefix): self.entries.pop(name) for name in names}

    def one_of(
        self, name: str, known: Iterable[str], kind: str, default: str, needs: Mapping[str, str] | None = None
    ) -> str:
        """Return a value that must be one of the known names.

        `kind`: what the names are of, for the sentence: "method"; `default`: where it is missing or unknown; `needs`:
        what to say of names that are known only where something is installed.
        """
        known = list(known)
        value = self.take(name, default)
        if isinstance(value, str) and value in known:
            return value
        unknown = f"There is no {kind} {quoted(value)}; accepted are {listed(known, most=20)}."
        if self._repairs:
            unknown = f"Unknown {kind} {quoted(value)}; using {quoted(default)} instead."
        self.say((needs or {}).get(str(value), unknown))
        return default

    def option(self, spec: Parameter, prefix: str = "") -> Any:
        """Return the value of one knob; its default where it is missing."""
        return self.options((spec,), prefix).get(spec.name, spec.default)

    def options(self, form: Iterable[Parameter], prefix: str = "") -> dict[str, Any]:
        """Return the values of a form that are there, each cleaned by its knob.

        `prefix`: before each name, such as "method.". Returns name of the knob -> value.
        """
        values = {}
        for spec in form:
            if prefix + spec.name in self.entries:
                values[spec.name], problem = spec.clean(self.entries.pop(prefix + spec.name))
                self.say(problem)
        return values

    def finish(self) -> None:
        """Say of what is left that it is unknown."""
        for name in list(self.entries)[:MAX_NAMED]:
            self.say(f"The setting {quoted(name)} is unknown here and was ignored.")
        if len(self.entries) > MAX_NAMED:
            self.say(f"{len(self.entries) - MAX_NAMED} more unknown settings were ignored.")
        self.entries.clear()
