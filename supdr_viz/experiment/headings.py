"""Menus: what they offer, under which headings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Entry(Protocol):
    """An entry of a menu: a data set, a method, a preset."""

    @property
    def name(self) -> str:
        """Its key."""
        ...

    @property
    def label(self) -> str:
        """Text in the menu."""
        ...

    @property
    def group(self) -> str:
        """Heading in the menu."""
        ...


def by_heading(entries: Iterable[Entry]) -> dict[str, dict[str, str]]:
    """Return a menu: heading -> text -> name, in the order of the entries."""
    groups: dict[str, dict[str, str]] = {}
    for entry in entries:
        groups.setdefault(entry.group, {})[entry.label] = entry.name
    return groups
