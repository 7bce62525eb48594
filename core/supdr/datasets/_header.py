"""Rows of texts become a table: which of them name the columns, and which columns have no name."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from supdr.datasets._cells import Grid, typed
from supdr.datasets._tables import Table
from supdr.datasets.limits import FileProblem, listed, shown
from supdr.datasets.proposals import MISSING, Rules

if TYPE_CHECKING:
    import pandas

# A first cell that is rather a value than a name: a limit, a sum of money, a date, a unit, what stands for nothing.
VALUE = re.compile(r"[<>≤≥=(+\-−$€£¥]+ ?\d.*|\d[\d.,:/\- T]*( ?[a-zµ°%/]{1,5})?|[-–—.]+|n\.? ?[ad]\.?", re.IGNORECASE)
# Of Orange: what its second and third line say of each column.
KINDS = {
    **dict.fromkeys(("", "continuous", "c", "numeric", "n"), ""),
    **dict.fromkeys(("discrete", "d", "string", "s", "text", "time", "t"), "text"),
}
ROLES = {"": "", "class": "target", **dict.fromkeys(("meta", "m", "ignore", "i", "weight", "w"), "aside")}


def may_lack_names(top: list[str], body: pandas.DataFrame) -> bool:
    """Whether a header that is too short is one: the last columns are empty, or the first holds the rows' names."""
    more = body.iloc[:, len(top) :]
    hollow = not more.map(str.strip).to_numpy(dtype=bool).any() if more.size <= 10 * len(body) else False
    return hollow or _has_row_names(top, body)


def _has_row_names(top: list[str], body: pandas.DataFrame) -> bool:
    return body.shape[1] == len(top) + 1 and body[0].is_unique and bool(body.iloc[:, -1].str.strip().any())


def headed(
    top: list[str],
    body: pandas.DataFrame,
    name: str,
    rules: Rules,
    delimiter: str,
    format: str,
    notes: list[str],
) -> Table:
    """Make the table of a first record and the ones below it."""
    import pandas as pd

    lacking = body.shape[1] - len(top)
    row_names = bool(lacking) and _has_row_names(top, body)
    top = ["", *top] if row_names else [*top, *[""] * lacking]
    grid = Grid.of(body, rules.missing)
    if not (lacking or _names_columns(top, grid, rules)):
        grid = Grid.of(pd.concat([pd.DataFrame([top], dtype=str), body], ignore_index=True), rules.missing)
        names, target, kinds = [f"x{j + 1}" for j in range(len(top))], None, [""] * len(top)
        labels = names
        notes = [*notes, "The file has no header: its columns are called x1, x2, …."]
    else:
        if not len(body):
            raise FileProblem(f"{name} has a header but no rows.")
        labels = [_bare(top[0].strip()), *(cell.strip() for cell in top[1:])]
        text = "Left out, the header in the middle of the table"
        grid = _without(grid, grid.equal_to(labels), "repeated header", text, rules)
        labels, kinds, grid = _further_headers(labels, grid, rules)
        names, numbered = _distinct([cell or f"column {j + 1}" for j, cell in enumerate(labels)])
        target = next((each for each, kind in zip(names, kinds) if kind.startswith("target")), None)
        notes = [*notes, *numbered]
    empty = grid.equal_to([""] * len(names))
    grid = _without(grid, empty & ~empty.all(), "empty rows", "Left out, without any value", rules)
    frame, texts = typed(grid, names, [kind.endswith("text") for kind in kinds], rules, delimiter)
    aside = _nameless(frame, labels, rules, row_names)
    by_role = [each for each, kind in zip(names, kinds) if kind.startswith("aside")]
    if by_role and rules.propose("aside", "Left out, as the file says", len(by_role), "columns", default=True):
        aside += by_role
    frame, texts = frame.drop(columns=aside), texts.drop(columns=aside)
    return Table(frame, format=format, target=target, notes=tuple(notes), texts=texts)


def _bare(name: str) -> str:
    """Take a remark's mark away from the first name, unless it is all of it."""
    return name.lstrip("#").lstrip() or name


def _names_columns(top: list[str], grid: Grid, rules: Rules) -> bool:
    """Tell a header by words above numbers, by text that does not occur below it, or by counting from 0.

    A fraction above numbers speaks against it, unless such numbers grow from column to column, as wavelengths do.
    """
    import pandas as pd

    cells = [cell.strip() for cell in top]
    counted = [cell for cell in cells if cell]
    if len(counted) > 2 and counted == [str(j) for j in range(len(counted))]:
        return True  # what pandas writes for columns without names
    first = Grid.of(pd.DataFrame([cells], dtype=str), rules.missing)
    words = [j for j, cell in enumerate(cells) if not first.settled[0, j] and not VALUE.fullmatch(cell)]
    below = grid.settled[~grid.equal_to(cells)]
    numbers: NDArray[np.bool_] = np.all(below, axis=0) & ~np.all(grid.missing, axis=0)
    above = first.values[0][numbers & first.settled[0] & ~first.missing[0]]
    steps = np.diff(above)
    grows = len(above) > 2 and bool((steps > 0).all())
    fractions = bool(np.any(above != np.floor(above))) and not grows
    # Numbers with units, or days, that stand above all columns are names.
    every = numbers.sum() > 2 and all(cells[j][:1].isdigit() for j in np.flatnonzero(numbers))
    every = every and not first.settled[0, numbers].any()
    if every or (any(numbers[j] for j in words) and not fractions):
        header = True
    else:
        # A word that comes again where no two cells are the same is a name by chance: ID above ID, for Indonesia.
        repeating = [j for j in words if not grid.texts[j].is_unique]
        again = any(grid.texts[j].str.strip().eq(cells[j]).any() for j in repeating)
        levels = bool(repeating)
        corner = not cells[0] and not grid.missing[:, 0].any()  # nothing stands above the rows' names
        two = len(above) == 2 and above[0] < above[1] and _are_years(above) and not _are_years(grid.values[:, numbers])
        years = two or (grows and (corner or bool(np.allclose(steps, steps[0]))))
        named = bool(words) or (years and corner)
        header = named and not again and (levels or years or not len(above))
        header = header or _types_below(grid) is not None
        if len(grid.texts):
            header = rules.propose("header", "The first line names the columns", 1, "lines", default=header)
    return header


def _are_years(values: NDArray) -> bool:
    """Whether most numbers are whole and may be years."""
    return bool(np.mean((values >= 1500) & (values < 2200) & (values == np.floor(values))) > 0.5)


def _further_headers(names: list[str], grid: Grid, rules: Rules) -> tuple[list[str], list[str], Grid]:
    """Take the second and third line of Orange for what they are, or propose a second line of names or units."""
    kinds = [""] * len(names)
    text = "Left out, the types and roles below the names"
    types = _types_below(grid)
    if types and rules.propose("types", text, types[0], "lines", default=True):
        return names, types[1], grid.rows(np.arange(len(grid)) >= types[0])
    more = _second_names(names, grid)
    if more and rules.propose(
        "second header", "The first two rows name the columns", 1, "rows", example=", ".join(more)
    ):
        if _are_below_merged(more, names):
            names = [*names]
            for j in range(1, len(names)):
                names[j] = names[j] or names[j - 1]
        names = [f"{name} ({also})" if name and also else name or also for name, also in zip_longest(names, more)]
        return names, kinds, grid.rows(np.arange(len(grid)) > 0)
    return names, kinds, grid


def _types_below(grid: Grid) -> tuple[int, list[str]] | None:
    """Return the number of lines of types and roles below the names (Orange), and what they say of each column.

    The line of roles may be missing if no type occurs again in its column. Returns None where there are no such lines.
    """
    if len(grid) < 3:
        return None
    second, third = (grid.texts.iloc[k].str.strip().tolist() for k in (0, 1))
    plain = [cell.lower() in KINDS for cell in second]
    some = any(second[j] for j in np.flatnonzero(plain))
    roles = [" ".join(word for word in cell.lower().split() if "=" not in word) for cell in third]
    types = all(plain[j] or _lists_levels(cell, grid.texts[j][2:]) for j, cell in enumerate(second))
    if some and types and all(role in ROLES for role in roles):
        return 2, [ROLES[role] + KINDS.get(kind.lower(), "text") for kind, role in zip(second, roles)]
    if some and all(plain) and not (grid.texts[1:] == grid.texts.iloc[0]).to_numpy().any():
        return 1, [KINDS[kind.lower()] for kind in second]
    return None


def _lists_levels(cell: str, column: pandas.Series) -> bool:
    """Whether a cell names all texts of a column, with spaces between them."""
    levels = {level.replace("\\ ", " ") for level in re.split(r"(?<!\\) +", cell)}
    return len(levels) > 1 and set(column.str.strip()) <= levels | set(MISSING)


def _second_names(names: list[str], grid: Grid) -> list[str]:
    """Return the cells of the first row if they are words above numbers, and its other cells do not come again.

    Or if they stand below merged cells.
    """
    if len(grid) < 4:
        return []
    numbers = grid.settled[1:].all(axis=0) & ~grid.missing[1:].all(axis=0)
    cells = grid.texts.iloc[0].str.strip().tolist()
    if _are_below_merged(cells, names):
        return cells
    words = numbers & ~grid.settled[0]
    rest = [j for j in np.flatnonzero(~words) if cells[j] not in MISSING and cells[j] != names[j]]
    again = any(grid.settled[0, j] or grid.texts.loc[1:, j].str.strip().eq(cells[j]).any() for j in rest)
    return cells if words.sum() > numbers.sum() / 2 and not again else []


def _are_below_merged(cells: list[str], names: list[str]) -> bool:
    """Whether cells stand below merged ones, of which the first has the name: all but the corner are filled."""
    return not cells[0] and all(cells[1:]) and not all(names[1:])


def _without(grid: Grid, rows: NDArray[np.bool_], rule: str, text: str, rules: Rules) -> Grid:
    """Leave rows out, unless that is declined."""
    count = int(rows.sum())
    return grid.rows(~rows) if count and rules.propose(rule, text, count, "rows", default=True) else grid


def _distinct(names: list[str]) -> tuple[list[str], list[str]]:
    """Put a number to names that occur again, and a note about it."""
    distinct: list[str] = []
    again = []
    given_names = set(names)
    for name in names:
        new, number = name, 2
        while new in distinct or (new != name and new in given_names):
            new, number = f"{name} ({number})", number + 1
        distinct.append(new)
        if new != name and name not in again:
            again.append(name)
    return distinct, [f"Names that occur twice are numbered: {', '.join(map(shown, again))}."] if again else []


def _nameless(frame: pandas.DataFrame, labels: list[str], rules: Rules, row_names: bool) -> list[str]:
    """Return the columns to leave out: without a name, and empty, counting rows, or holding the rows' names."""
    useless = []
    for j in (j for j, cell in enumerate(labels) if not cell):
        column = frame.iloc[:, j]
        counts = column.dtype.kind == "f" and _counts(column.to_numpy(dtype=np.float64))
        if column.isna().all() or counts or (row_names and j == 0):
            useless.append(str(frame.columns[j]))
    text = "Left out, as they have no name and are empty, count rows or name them"
    if not useless or not rules.propose(
        "no name", text, len(useless), "columns", example=listed(useless, most=2), default=True
    ):
        return []
    return useless


def _counts(values: NDArray) -> bool:
    return bool(np.array_equal(values - values[0], np.arange(len(values))))
