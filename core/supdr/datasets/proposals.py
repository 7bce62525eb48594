"""Readings beyond what is written in a file: each with its count, and a switch to accept or decline it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from supdr.datasets.limits import FileProblem, listed, shown

if TYPE_CHECKING:
    import pandas

# What stands for a missing cell in text. "None" is not among them: it may well be the name of a class.
MISSING = (
    *("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),  # of a formula that failed
)

PROPOSED = "If you accept it: "

# Rule -> what is so where its proposal is not accepted.
OTHERWISE = {
    **dict.fromkeys(("codes", "numbers", "missing", "limits", "scale", "small"), "these cells stay text"),
    "spelling": "each spelling is a value of its own",
    "month first": "the day comes before the month",
    "thousands": "they are decimal points",
    "encoding": "they are read as Latin-1",
    "backslashes": "a backslash is a sign of the cell",
    "header": "it is a row",
    "second header": "the second is a row",
    **dict.fromkeys(("titles", "footnotes", "dashes", "types"), "they are read as part of the table"),
    **dict.fromkeys(("totals", "repeated header", "empty rows"), "they are rows like the others"),
    **dict.fromkeys(("no name", "aside"), "they are columns like the others"),
    "merged": "only the first one has it",
}

MERGING = "Read as numbers, though different texts become one"


def sized(count: int, things: str) -> str:
    """Write a number of things, such as "1 cell"."""
    return f"{count:,} {things if count != 1 else things.removesuffix('s')}"


class UnknownProposal(FileProblem):
    """Something was decided about proposals that the reader of a file did not make; `keys`: about which."""

    def __init__(self, keys: list[str], there: list[str]) -> None:
        text = f"there are {listed(there)}" if there else "there are none"
        super().__init__(f"There is no proposal {shown(keys[0])} for this file; {text}.")
        self.keys = keys


@dataclass(frozen=True)
class Proposal:
    """What a file may mean beyond what is written in it.

    It is accepted from the start only where no two texts become one value and no text inside the table is lost.

    Attributes
    ----------
    key : str
        What `accept` and `decline` of `read_file` call it: the rule, and ":column" for one column.
    text : str
        What is done where it is accepted.
    column : str
        Name of the column; empty: the whole table.
    count, things : int, str
        How many cells, rows, lines or columns it touches.
    example : str
        A cell and what becomes of it.
    accepted : bool
        Whether it is in force.
    default : bool
        Whether it is where nothing was decided.
    """

    key: str
    text: str
    column: str
    count: int
    things: str
    example: str
    accepted: bool
    default: bool

    @property
    def size(self) -> str:
        """How much it touches, such as "3 cells"."""
        return sized(self.count, self.things)

    @property
    def otherwise(self) -> str:
        """What is so where it is not accepted."""
        return OTHERWISE.get(self.key.partition(":")[0], "all stays as it is written")


class Rules:
    """The proposals for one file, in the order in which its reader makes them, and what was decided about each."""

    def __init__(
        self, accept: Sequence[str] = (), decline: Sequence[str] = (), missing: Sequence[str] = MISSING
    ) -> None:
        both = sorted(set(accept) & set(decline))
        if both:
            raise FileProblem(f"A proposal is either accepted or declined; in both: {listed(both)}.")
        self._decided = {**dict.fromkeys(accept, True), **dict.fromkeys(decline, False)}
        self.missing = tuple(missing)
        self.markers: dict[str, int] = {}  # text that stands for a missing cell -> how many cells hold it
        self.proposals: list[Proposal] = []

    def propose(
        self,
        rule: str,
        text: str,
        count: int,
        things: str = "cells",
        *,
        column: str = "",
        example: str = "",
        default: bool = False,
    ) -> bool:
        """Add a proposal and tell whether it is in force; `default`: whether it is where nothing was decided."""
        key = f"{rule}:{column}" if column else rule
        accepted = self._decided.get(key, default)
        self.proposals.append(Proposal(key, text, column, count, things, example, accepted, default))
        return accepted

    def count_marker(self, marker: str, count: int) -> None:
        """Count cells with a text that stands for a missing one."""
        self.markers[marker] = self.markers.get(marker, 0) + count

    def without_empty(self, texts: pandas.Series) -> pandas.Series:
        """Return a column of objects with None for empty texts, if these stand for missing cells, and count them."""
        empty = texts.eq("") & ("" in self.missing)
        if empty.any():
            self.count_marker("", int(empty.sum()))
        return texts.mask(empty, None)

    def check(self) -> None:
        """Raise UnknownProposal if something was decided about a proposal that was not made."""
        there = [each.key for each in self.proposals]
        unknown = [key for key in self._decided if key not in there]
        if unknown:
            raise UnknownProposal(unknown, there)

    def notes(self) -> list[str]:
        """Say what is done and what is proposed, in a sentence for each rule."""
        rules: dict[tuple[bool, str, str], list[Proposal]] = {}
        for each in self.proposals:
            if each.key == "header" and each.accepted:
                continue  # as most files have one
            rules.setdefault((not each.accepted, each.text, each.things), []).append(each)
        sentences = []
        if self.markers:
            markers = listed(f"{shown(marker)} ({sized(count, 'cells')})" for marker, count in self.markers.items())
            sentences.append(f"Read as missing: {markers}.")
        for (proposed, text, things), alike in sorted(rules.items(), key=lambda item: item[0][0]):
            names = listed([shown(each.column) + (f" ({each.example})" if each.example else "") for each in alike])
            about = f": {names}" if alike[0].column else f": {shown(alike[0].example)}" if alike[0].example else ""
            words = f"{text}, {sized(sum(each.count for each in alike), things)}{about}."
            if proposed:
                words = f"{PROPOSED}{words[0].lower()}{words[1:-1]}; until then {alike[0].otherwise}."
            sentences.append(words)
        return sentences
