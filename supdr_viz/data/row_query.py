"""What a visitor looks for among rows, as text: "petal length > 5 and species = setosa", "setosa", "17".

    query       = all, { "or", all }
    all         = one, { "and", one }
    one         = "not", one | "(", query, ")" | column, operator, value | value
    operator    = ">" | ">=" | "<" | "<=" | "=" | "==" | "!=" | "~"

"~" means that a text holds another.  A value may be another column: "species != prediction".  Columns and values are
words or stand in quotes; upper and lower case are the same.  A text is read and compared here, and never run: a server
must not run what visitors write.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

LONGEST, DEEPEST = 300, 20

# Names that a message lists.
MOST_LISTED = 6

_TOKEN = re.compile(
    r"""\s*(?:(?P<operator>>=|<=|==|!=|[<>=~]|≥|≤|≠)|(?P<mark>[()])|"(?P<double>[^"]*)"|'(?P<single>[^']*)'"""
    r"""|(?P<word>[^\s<>=~!≥≤≠()"']+|[!"']))"""
)
_SAME = {"==": "=", "≥": ">=", "≤": "<=", "≠": "!="}
_ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
}
_JOINS = ("and", "or", "not")


class QueryProblem(ValueError):
    """A text that is no query; the message is one sentence."""


class Values(Protocol):
    """A column: see `pictures.row_columns.Column`."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def values(self) -> NDArray:
        """Numbers, or positions in `categories`; NaN where missing."""

    @property
    def categories(self) -> tuple[str, ...]:
        """Empty for numbers."""


@dataclass(frozen=True)
class Rows:
    """The rows that are looked through.

    n_rows: how many.
    names: of their columns.
    column_of: ``column_of(name)``.
    look_up: ``look_up(text)``: the rows (n_rows,) that a value by itself means.
    """

    n_rows: int
    names: Sequence[str]
    column_of: Callable[[str], Values]
    look_up: Callable[[str], NDArray]


class Token(NamedTuple):
    """A piece of a query; `kind`: one of "operator", "mark", "quoted", "word", "end"."""

    kind: str
    text: str


def matching(text: str, rows: Rows) -> NDArray:
    """Return which rows (n,) a query means.

    Raises QueryProblem if it is none, or names a column that there is not.
    """
    if len(text) > LONGEST:
        raise QueryProblem(f"At most {LONGEST} characters can be looked for; got {len(text):,}.")
    reader = _Reader(_tokens(text), rows)
    mask = reader.query(0)
    if reader.token.kind != "end":
        raise QueryProblem(f"Did not expect {reader.token.text!r} here.")
    return mask


def _tokens(text: str) -> list[Token]:
    tokens = []
    for match in _TOKEN.finditer(text.strip()):
        kind = str(match.lastgroup)
        piece = match[kind]
        tokens.append(Token("quoted" if kind in ("double", "single") else kind, _SAME.get(piece, piece)))
    return [*tokens, Token("end", "the end")]


class _Reader:
    """Reads a query from its first piece to its last."""

    def __init__(self, tokens: list[Token], rows: Rows) -> None:
        self._tokens, self._rows, self._at = tokens, rows, 0

    @property
    def token(self) -> Token:
        """The next piece."""
        return self._tokens[self._at]

    def query(self, depth: int) -> NDArray:
        """Read what is joined by "or"."""
        if depth > DEEPEST:
            raise QueryProblem(f"Brackets can stand in each other {DEEPEST} deep at most.")
        mask = self._all(depth)
        while self._takes("word", "or"):
            mask = mask | self._all(depth)
        return mask

    def _all(self, depth: int) -> NDArray:
        mask = self._one(depth)
        while self._takes("word", "and"):
            mask = mask & self._one(depth)
        return mask

    def _one(self, depth: int) -> NDArray:
        if self._takes("word", "not"):
            return ~self._one(depth + 1) if depth < DEEPEST else self.query(depth + 1)
        if self._takes("mark", "("):
            mask = self.query(depth + 1)
            if not self._takes("mark", ")"):
                raise QueryProblem("A bracket is not closed.")
            return mask
        name = self._words()
        if self.token.kind != "operator":
            return self._rows.look_up(name)
        sign, column, value = self._next().text, self._column(name), self._words()
        other = self._other(column, value) if sign != "~" else None
        if other is not None:
            return compared_columns(column, sign, other)
        return compared(column, sign, value)

    def _words(self) -> str:
        """Read words up to an operator, a bracket, or a word that joins."""
        words = []
        while self.token.kind in ("word", "quoted") and not self._joins:
            words.append(self._next().text)
        if not words:
            raise QueryProblem(f"Expected a column or a value before {self.token.text!r}.")
        return " ".join(words)

    @property
    def _joins(self) -> bool:
        return self.token.kind == "word" and self.token.text.lower() in _JOINS

    def _next(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _takes(self, kind: str, text: str) -> bool:
        taken = self.token.kind == kind and self.token.text.lower() == text
        self._at += taken
        return taken

    def _other(self, column: Values, value: str) -> Values | None:
        """Return the column that a value names; None: it is a value of the column itself, or names no other."""
        if value.casefold() in map(str.casefold, column.categories) or number_in(value) is not None:
            return None
        named = [each for each in self._rows.names if _plain(each) == _plain(value)]
        if not named and not column.categories:  # which has no texts that could be meant
            named = [each for each in self._rows.names if _plain(each).startswith(_plain(value))]
        return self._rows.column_of(named[0]) if len(named) == 1 else None

    def _column(self, name: str) -> Values:
        return self._rows.column_of(column_named(name, self._rows.names))


def column_named(name: str, names: Iterable[str]) -> str:
    """Return the column that is called so, or whose name begins so or holds that, if it is the only one.

    Raises QueryProblem if there is none, or more than one.
    """
    key, plain = _plain(name), {each: _plain(each) for each in names}
    for fits in (
        lambda text: text == key,
        lambda text: text.startswith(key),
        lambda text: key in text,
    ):
        fitting = [each for each, text in plain.items() if key and fits(text)]
        if len(fitting) == 1 or (fitting and len({plain[each] for each in fitting}) == 1):
            return fitting[0]
        if fitting:
            raise QueryProblem(f"{name!r} is part of several columns: {_listed(fitting)}.")
    raise QueryProblem(f"There is no column {name!r}; there are {_listed(list(plain))}.")


def _plain(name: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", name.casefold()))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def compared(column: Values, sign: str, value: str) -> NDArray:
    """Return the rows (n,) whose value in a column stands in a relation to another; missing ones never do.

    `sign`: one of ">", ">=", "<", "<=", "=", "!=", "~".
    """
    observed = np.isfinite(column.values)
    number = number_in(value)
    if not column.categories and sign != "~":
        if number is None:
            raise QueryProblem(f"{column.name} holds numbers; {value!r} is none.")
        return observed & _ORDERS[sign](column.values, number)
    if not column.categories:
        texts = np.array([f"{each:g}" for each in column.values[observed]], dtype=object)
        return _spread(observed, np.array([value in text for text in texts], dtype=bool))
    chosen = np.array([_holds(category, sign, value, number) for category in column.categories], dtype=bool)
    if sign in ("=", "!=") and not any(_holds(each, "=", value, number) for each in column.categories):
        raise QueryProblem(f"{column.name} has no value {value!r}; it has {_listed(column.categories)}.")
    return _spread(observed, chosen[column.values[observed].astype(int)])


def compared_columns(column: Values, sign: str, other: Values) -> NDArray:
    """Return the rows (n,) whose values in two columns stand in a relation; where one is missing, they never do."""
    if bool(column.categories) != bool(other.categories):
        raise QueryProblem(f"{column.name} and {other.name} cannot be compared: one holds numbers, the other texts.")
    observed = np.isfinite(column.values) & np.isfinite(other.values)
    pairs = [
        np.array(each.categories, dtype=str)[each.values[observed].astype(int)]
        if each.categories
        else each.values[observed]
        for each in (column, other)
    ]
    return _spread(observed, _ORDERS[sign](*pairs))


def _holds(category: str, sign: str, value: str, number: float | None) -> bool:
    text, key, own = category.casefold(), value.casefold(), number_in(category)
    if sign == "~":
        return key in text
    if own is not None and number is not None:
        return bool(_ORDERS[sign](own, number))
    return bool(_ORDERS[sign](text, key))


def _spread(observed: NDArray, values: NDArray) -> NDArray:
    mask = np.zeros(len(observed), dtype=bool)
    mask[observed] = values
    return mask


def number_in(text: str) -> float | None:
    """Return the number that a text is; None: it is none."""
    try:
        value = float(text.replace(",", ".")) if len(text) < 40 else np.nan
    except ValueError:
        return None
    return value if np.isfinite(value) else None
