"""Which columns of a table are used, as one line of text: what links, saved files and programs say of a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any


def names_to_text(names: Iterable[str]) -> str:
    """Write names of columns in one line, separated by commas."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(list(names))
    return line.getvalue()


# Says that no column was chosen, where an empty text means what the reader chooses by itself.
NO_NAMES = names_to_text([""])


def names_from_text(text: str) -> list[str]:
    """Read what `names_to_text` wrote."""
    return [name for row in csv.reader(io.StringIO(text)) for name in row if name]


def views_to_text(views: Mapping[str, str]) -> str:
    """Write column -> view in one line, as view:column separated by commas."""
    return names_to_text(f"{view}:{column}" for column, view in views.items())


def views_from_text(text: str) -> dict[str, list[str]]:
    """Read what `views_to_text` wrote: view -> its columns."""
    groups: dict[str, list[str]] = {}
    for entry in names_from_text(text):
        view, _, column = entry.partition(":")
        if column:
            groups.setdefault(view, []).append(column)
    return groups


def reading_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the library's readers are told of a table.

    `options`: those of the source "file" or "openml". Returns keyword arguments of `supdr.datasets.read_file` or
    `load_openml`; what these choose by themselves is left out.
    """
    chosen = {
        key: value for key, value in options.items() if key not in ("name", "impute") and value not in ("", "auto")
    }
    for key in ("ignore", "accept", "decline"):
        if key in chosen:
            chosen[key] = names_from_text(chosen[key])
    if "missing" in chosen:
        chosen["missing"] = ["", *names_from_text(chosen["missing"])]
    if "groups" in chosen:
        chosen["groups"] = views_from_text(chosen["groups"])
    return chosen
