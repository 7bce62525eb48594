"""What may go wrong with a file, and how large it may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from supdr.engine.checks import FileProblem


class ColumnProblem(FileProblem):
    """Why a whole column is no feature, though nothing is wrong with any of its cells."""


@dataclass(frozen=True)
class Limits:
    """Sizes beyond which a file is refused before it fills the memory.

    Parameters
    ----------
    max_bytes : float
        Bytes of the file as given.
    max_unpacked_bytes : float
        Bytes after decompression (.gz, Excel, NPZ, Parquet).
    max_rows, max_columns, max_cells : int
        Size of the table; columns are counted after text columns have been turned into numbers.
    max_classes : int
        Classes of a classification target.
    max_lines : int
        Lines of a text file, blank ones and comments included.
    max_arrays : int
        Arrays of an NPZ file.
    """

    max_bytes: float = 40e6
    max_unpacked_bytes: float = 160e6
    max_rows: int = 100_000
    max_columns: int = 5_000
    max_cells: int = 10_000_000
    max_classes: int = 100
    max_lines: int = 1_000_000
    max_arrays: int = 1_000


def check_bytes(limits: Limits, name: str, size: int) -> None:
    """Raise FileProblem if a file has too many bytes."""
    if size > limits.max_bytes:
        raise FileProblem(f"{name} has {size / 1e6:,.1f} MB; at most {limits.max_bytes / 1e6:,.1f} MB are read.")


def check_unpacked(limits: Limits, name: str, size: int) -> None:
    """Raise FileProblem if a file has too many bytes after decompression."""
    most = f"{limits.max_unpacked_bytes / 1e6:,.1f} MB, which is the most that is read"
    if size > limits.max_unpacked_bytes:
        raise FileProblem(f"{name} unpacks to more than {most}.")


def check_text(limits: Limits, name: str, data: bytes) -> None:
    """Raise FileProblem if text has too many lines or marks between cells, before it is split into cells."""
    lines = max(data.count(b"\n"), data.count(b"\r"))
    if lines > limits.max_lines:
        raise FileProblem(f"{name} has {lines:,} lines; at most {limits.max_lines:,} are read.")
    if max(map(data.count, (b",", b";", b"\t", b":"))) > limits.max_cells:
        raise FileProblem(f"{name} has more than {limits.max_cells:,} cells, which is the most that is read.")


def check_shape(limits: Limits, name: str, rows: int, columns: int) -> None:
    """Raise FileProblem if a table has too many rows, columns or cells."""
    sizes = {"rows": rows, "columns": columns, "cells": rows * columns}
    for (words, size), most in zip(sizes.items(), (limits.max_rows, limits.max_columns, limits.max_cells)):
        if size > most:
            raise FileProblem(f"{name} has {size:,} {words}; at most {most:,} are read.")


@contextmanager
def complete(name: str, kind: str, *errors: type[BaseException]) -> Iterator[None]:
    """Turn errors of a library that reads a file into one sentence: it is not a complete file of its kind."""
    try:
        yield
    except FileProblem:
        raise
    except errors as error:
        raise FileProblem(f"{name} is not a complete {kind} ({reason_of(error)}).") from None


def chosen_one(sheet: str | None, names: Sequence[str], name: str, thing: str = "table") -> str:
    """Return the sheet or table that was named, else the first; raise FileProblem if there is none of that name."""
    if sheet is not None and sheet not in names:
        raise FileProblem(f"There is no {thing} {shown(sheet)} in {name}; there are {listed(names)}.")
    return names[0] if sheet is None else sheet


def shown(value: Any) -> str:
    """Quote a value for a message, shortened to one line of at most 40 characters."""
    text = " ".join(str(value).split())
    return repr(text if len(text) <= 40 else text[:37] + "...")


def listed(names: Iterable[str], most: int = 8) -> str:
    """List names for a message: the first few, and how many more there are."""
    names = [name if len(name) <= 40 else name[:37] + "..." for name in names]
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"


def reason_of(error: BaseException) -> str:
    """Give the first line of a library's message, shortened, without its full stop."""
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(".")
