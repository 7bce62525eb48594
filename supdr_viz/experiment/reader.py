"""The reader of a table of settings: checks each value, and says in a sentence what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from supdr.datasets.limits import listed
from supdr.engine.parameters import Parameter, quoted

# Unknown names that are named one by one.
MAX_NAMED = 5
MAX_TEXT = 3_000


class Reader:
    """Takes the entries out of a table one by one; no entry makes it raise an exception.

    `entries`: names as in links; values as texts, or as TOML and JSON have them. `where`: said before each problem,
    such as "Column B: ". `problems`: a list that gets a sentence for each value that is not taken as it is. `refuses`:
    whether a table with a problem is refused as a whole, so that no default stands in for a wrong name.

    entries: those that are not taken yet.
    """

    def __init__(
        self,
        entries: Mapping[str, Any],
        where: str = "",
        problems: list[str] | None = None,
        *,
        refuses: bool = False,
    ) -> None:
        self.entries = dict(entries)
        self.refuses = refuses
        self.problems = [] if problems is None else problems
        self.where = where

    def say(self, problem: str) -> None:
        """Add a sentence, unless it is empty."""
        if problem:
            self.problems.append(self.where + problem)

    def finish(self) -> None:
        """Say of each entry that is left that it is unknown."""
        for name in list(self.entries)[:MAX_NAMED]:
            self.say(f"The setting {quoted(name)} is unknown and is ignored.")
        if len(self.entries) > MAX_NAMED:
            self.say(f"{len(self.entries) - MAX_NAMED} more unknown settings are ignored.")
        self.entries.clear()

    # --- settings, where a bad value becomes the default or is clamped ------------------------------------------------

    def take(self, name: str, default: Any) -> Any:
        """Return a value; a list as links have it."""
        return _flat(self.entries.pop(name, default))

    def take_all(self, prefix: str) -> dict[str, Any]:
        """Return all values whose names begin with a prefix, by the rest of their names."""
        names = [name for name in self.entries if name.startswith(prefix)]
        return {name.removeprefix(prefix): self.entries.pop(name) for name in names}

    def one_of(
        self, name: str, offered: Iterable[str], kind: str, default: str, needs: Mapping[str, str] | None = None
    ) -> str:
        """Return a value that must be one of the names that are offered.

        `kind`: what the names are of, for the sentence: "method"; `default`: where it is missing or unknown; `needs`:
        what to say of names that are there only where something is installed.
        """
        offered = list(offered)
        value = self.take(name, default)
        if isinstance(value, str) and value in offered:
            return value
        then = f"accepted are {listed(offered)}" if self.refuses else f"{quoted(default)} is used"
        unknown = f"There is no {kind} {quoted(value)}; {then}."
        self.say((needs or {}).get(str(value), unknown))
        return default

    def option(self, spec: Parameter, prefix: str = "") -> Any:
        """Return the value of one parameter; its default where it is missing."""
        return self.options((spec,), prefix).get(spec.name, spec.default)

    def options(self, form: Iterable[Parameter], prefix: str = "") -> dict[str, Any]:
        """Return the values of a form that are there, each cleaned by its declaration.

        `prefix`: before each name, such as "method.". Returns name of the parameter -> value.
        """
        values = {}
        for spec in form:
            if prefix + spec.name in self.entries:
                values[spec.name], problem = spec.clean(self.take(prefix + spec.name, None))
                self.say(problem)
        return values

    # --- keys of TOML files, where a bad value is an error ------------------------------------------------------------

    def text(self, key: str, *, required: bool = False, limit: int = MAX_TEXT) -> str:
        """Return a text of at most `limit` characters, without white space around it; empty where it is missing."""
        value = self.entries.pop(key, "")
        if not isinstance(value, str):
            self.say(f"{key} must be text; got {quoted(value)}.")
            return ""
        value = value.strip()
        if required and not value:
            self.say(f"{key} is missing.")
        if len(value) > limit:
            self.say(f"{key} has {len(value):,} characters; at most {limit:,} are accepted.")
        return value

    def whole(self, key: str, low: int, high: int, default: int) -> int:
        """Return a whole number from `low` to `high`."""
        value = self.entries.pop(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.say(f"{key} must be a whole number from {low:,} to {high:,}; got {quoted(value)}.")
            return default
        return value

    def flag(self, key: str) -> bool:
        """Return true or false; false where it is missing."""
        value = self.entries.pop(key, False)
        if not isinstance(value, bool):
            self.say(f"{key} must be true or false; got {quoted(value)}.")
            return False
        return value

    def words(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; empty where it is missing."""
        value = self.entries.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
            self.say(f'{key} must be a list of texts such as ["one", "two"]; got {quoted(value)}.')
            return ()
        return tuple(value)

    def refuse_unknown(self, accepted: Iterable[str]) -> None:
        """Say of each key that is left that there is no such key; `accepted`: the keys that there are."""
        for key in self.entries:
            if key not in accepted:
                self.say(f"there is no key {quoted(key)}; known are {', '.join(sorted(accepted))}.")


def _flat(value: Any) -> Any:
    """Write a list as links do: axes "0,1", drawn points "x,y,class;…"."""
    if not isinstance(value, list):
        return value
    rows = value if value and isinstance(value[0], list) else [value]
    return ";".join(",".join(str(entry) for entry in row) if isinstance(row, list) else str(row) for row in rows)
