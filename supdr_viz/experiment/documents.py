"""TOML files of lessons, sweeps and examples, read key by key: a sentence for each value that is wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from typing import Any

from supdr.engine.parameters import quoted

MAX_TEXT = 3_000


def read_toml(content: str | bytes, most_bytes: int = 200_000) -> dict[str, Any]:
    """Return a TOML document, in UTF-8.

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


class KeyReader:
    """Reads keys of tables with values of the right type; collects a sentence for each that is wrong.

    `where`: said before each sentence, such as "Step 2: ".
    """

    def __init__(self, where: str = "") -> None:
        self.problems: list[str] = []
        self.where = where

    def say(self, problem: str) -> None:
        """Add a sentence, given without its full stop."""
        self.problems.append(f"{self.where}{problem}.")

    def check_keys(self, table: Mapping[str, Any], accepted: Collection[str]) -> None:
        """Say of every key that is not accepted that there is no such key."""
        for key in table:
            if key not in accepted:
                self.say(f"there is no key {quoted(key)}; known are {', '.join(sorted(accepted))}")

    def text(self, table: Mapping[str, Any], key: str, *, required: bool = False, limit: int = MAX_TEXT) -> str:
        """Return a text of at most `limit` characters, without white space around it; empty where it is missing."""
        value = table.get(key, "")
        if not isinstance(value, str):
            self.say(f"{key} must be text; got {quoted(value)}")
            return ""
        value = value.strip()
        if required and not value:
            self.say(f"{key} is missing")
        if len(value) > limit:
            self.say(f"{key} has {len(value):,} characters; at most {limit:,} are accepted")
        return value

    def whole(self, table: Mapping[str, Any], key: str, low: int, high: int, default: int) -> int:
        """Return a whole number from `low` to `high`."""
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.say(f"{key} must be a whole number from {low:,} to {high:,}; got {quoted(value)}")
            return default
        return value

    def flag(self, table: Mapping[str, Any], key: str) -> bool:
        """Return true or false; false where it is missing."""
        value = table.get(key, False)
        if not isinstance(value, bool):
            self.say(f"{key} must be true or false; got {quoted(value)}")
            return False
        return value

    def words(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """Return a list of texts; empty where it is missing."""
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
            self.say(f'{key} must be a list of texts such as ["one", "two"]; got {quoted(value)}')
            return ()
        return tuple(value)
