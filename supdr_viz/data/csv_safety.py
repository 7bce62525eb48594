"""Cells of tables that are handed out."""

from __future__ import annotations

# How a cell begins that a spreadsheet computes.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def escape_formula(text: str) -> str:
    """Return a text that a spreadsheet shows and does not compute: with an apostrophe before a formula.

    `text`: from a file, the name of a class for instance. Returns numbers stay as they are.
    """
    if not text.startswith(FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
