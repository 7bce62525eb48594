"""The state of a comparison: up to four methods on the same data, split and seed; its link and its saved file.

A link is the explorer's link of the first column, then ``b=MAC&b.n_centers=60&c=LDA…`` for the others: an explorer's
link therefore opens as a comparison of one column.  ``add=`` holds the link of a run that joins what is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from supdr.datasets.limits import listed
from supdr.engine.parameters import quoted
from supdr_viz.experiment.codec import (
    Entry,
    arguments_entries,
    json_entries,
    json_text,
    link_entries,
    link_query,
    toml_entries,
    without_problems,
)
from supdr_viz.experiment.methods import MENU, METHOD_FORMS
from supdr_viz.experiment.reader import Reader
from supdr_viz.experiment.settings import (
    Settings,
    document_entries,
    from_json,
    method_table,
    read_settings,
    settings_document,
    settings_table,
)
from supdr_viz.pages.compare.checks import CHECKS
from supdr_viz.pages.compare.lockstep import MEASURE

# Names of the columns; there are at most as many.
LETTERS = "ABCD"
# Prefixes of the columns after the first in links.
PREFIXES = LETTERS[1:].lower()

MAX_COLUMNS = len(LETTERS)
MAX_QUERY = 30_000


@dataclass(frozen=True)
class Comparison:
    """What the compare page shows.

    `columns`: one to four; they differ in the method and its options only. `measure` (one of "iteration", "time"): what
    keeps the columns in step. `checks`: names of the checks that are made, of `CHECKS`.
    """

    columns: tuple[Settings, ...] = field(default_factory=lambda: (Settings(),))
    measure: str = "iteration"
    checks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.columns) <= MAX_COLUMNS:
            raise ValueError(f"a comparison has 1 to {MAX_COLUMNS} columns; got {len(self.columns)}")
        first = self.columns[0]
        others = [with_method(first, column.method, column.method_options) for column in self.columns[1:]]
        object.__setattr__(self, "columns", (first, *others))

    def changed(self, place: int, settings: Settings) -> Comparison:
        """Return the comparison after the settings of one column became `settings`.

        Method and options are that column's own; everything else (data, split, seed, planes, speed) all share.
        """
        columns = [with_method(settings, column.method, column.method_options) for column in self.columns]
        columns[place] = settings
        return replace(self, columns=tuple(columns))

    def added(self, settings: Settings) -> Comparison:
        """Return the comparison with one more column, all on the data of the new one; the last column makes room."""
        kept = self.columns[: MAX_COLUMNS - 1]
        columns = [with_method(settings, column.method, column.method_options) for column in kept]
        return replace(self, columns=(*columns, settings))

    def removed(self, place: int) -> Comparison:
        """Return the comparison without one column; the only one stays."""
        columns = (*self.columns[:place], *self.columns[place + 1 :])
        return replace(self, columns=columns) if columns else self

    def checked(self, name: str, wanted: bool) -> Comparison:
        """Return the comparison with a check, or without it."""
        checks = {*self.checks, name} if wanted else {*self.checks} - {name}
        return replace(self, checks=tuple(each for each in CHECKS if each in checks))


def with_method(settings: Settings, method: str, options: Mapping[str, Any]) -> Settings:
    """Return settings with another method and its options."""
    return replace(settings, method=method, method_options=dict(options))


# What is said of settings that do not differ from the library's, beside others that do.
DEFAULT = "default"


def differences(settings: Settings) -> str:
    """Write what differs from the library's defaults: "Margin weight: 10, Degree: 3"; empty: nothing does."""
    changed = [spec for spec in METHOD_FORMS[settings.method] if settings.method_options[spec.name] != spec.default]
    return ", ".join(f"{spec.label}: {_value_text(spec, settings.method_options[spec.name])}" for spec in changed)


def _value_text(spec: Any, value: Any) -> str:
    if spec.kind == "choice":
        return dict(spec.choices).get(value, str(value))
    return ("on" if value else "off") if spec.kind == "bool" else spec.shown(value)


# --- links ----------------------------------------------------------------------------------------------------------


def comparison_query(comparison: Comparison) -> str:
    """Write a comparison as the query of a link.

    Returns without the question mark; always in the same order.
    """
    table = settings_table(comparison.columns[0])
    for prefix, column in zip(PREFIXES, comparison.columns[1:]):
        table |= method_table(prefix, column)
    measure = Entry(comparison.measure, comparison.measure, comparison.measure == MEASURE.default)
    checks = Entry(list(comparison.checks), ",".join(comparison.checks), not comparison.checks)
    return link_query({**table, MEASURE.name: measure, "checks": checks})


def parse_comparison(arguments: Mapping[str, list[bytes]]) -> tuple[Comparison, list[str]]:
    """Read the arguments of the page's address.

    `arguments`: as a web server gives them; the last value of a name counts. Returns `comparison`; `problems`: one
    sentence for each value that was not taken as it is; never an exception.
    """
    return _read(Reader(arguments_entries(arguments)))


def comparison_table(table: Mapping[str, Any]) -> Comparison:
    """Read a comparison as TOML has it: a table of settings with ``columns``, tables of a method's name and options.

    Raises ValueError if a value cannot be taken as it is; the message has a sentence for each.
    """
    columns = [toml_entries({"method": column}) for column in table["columns"]]
    shared = toml_entries({name: value for name, value in table.items() if name != "columns"})
    return without_problems(_read(Reader({**shared, **_prefixed(columns)}, refuses=True)))


def _prefixed(columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return columns' tables as one: all of the first, and the methods of the others by their prefixes."""
    entries = dict(columns[0])
    for prefix, column in zip(PREFIXES, columns[1:]):
        method = {name: value for name, value in column.items() if name.partition(".")[0] == "method"}
        entries |= {name.replace("method", prefix, 1): value for name, value in method.items()}
    return entries


def _read(reader: Reader) -> tuple[Comparison, list[str]]:
    """Read a table of a comparison's entries."""
    addition = str(reader.take("add", ""))[:MAX_QUERY]
    measure, checks = reader.option(MEASURE), _checks(reader)
    others = [_column(reader, prefix) for prefix in PREFIXES]
    problems = reader.problems
    columns: list[Settings] = []
    if reader.entries or any(others) or not addition:
        columns.append(read_settings(reader))
    for letter, entries in zip(LETTERS[1:], others):
        if entries:
            settings = read_settings(Reader(entries, f"Column {letter}: ", problems, refuses=reader.refuses))
            columns.append(with_method(columns[0], settings.method, settings.method_options))
    if not addition:
        return Comparison(tuple(columns), measure, checks), problems
    added = read_settings(Reader(link_entries(addition), problems=problems))
    if not columns:
        return Comparison((added,), measure, checks), problems
    comparison = Comparison(tuple(columns), measure, checks)
    return comparison.added(added), problems + what_adding_does(comparison, added)


def _checks(reader: Reader) -> tuple[str, ...]:
    """Take the names of the checks out, in the order of `CHECKS`."""
    text = reader.take("checks", "")
    names = [name.strip() for name in str(text).split(",") if name.strip()]
    for name in dict.fromkeys(names):
        if name not in CHECKS:
            reader.say(f"There is no check {quoted(name)}; accepted are {listed(CHECKS)}.")
    return tuple(name for name in CHECKS if name in names)


def what_adding_does(comparison: Comparison, added: Settings) -> list[str]:
    """Say what had to give way when a run was added, one sentence each."""
    sentences = []
    if len(comparison.columns) == MAX_COLUMNS:
        name = MENU[comparison.columns[-1].method].label
        sentences.append(f"Four columns are the most: the added run takes the place of the last one, {name}.")
    if not added.same_data(comparison.columns[0]):
        sentences.append("All columns now have the data, split and seed of the added run.")
    return sentences


def _column(reader: Reader, letter: str) -> dict[str, Any]:
    """Take one column's entries out, named as in the explorer's links."""
    method = {"method": reader.entries.pop(letter)} if letter in reader.entries else {}
    options = {f"method.{name}": value for name, value in reader.take_all(f"{letter}.").items()}
    return {**method, **options} if method or not options else {**options, "method": "(none)"}


# --- saved files ----------------------------------------------------------------------------------------------------


def comparison_json(comparison: Comparison) -> str:
    """Write a comparison as a JSON document, every option included."""
    columns = [settings_document(column) for column in comparison.columns]
    document = {"supdr comparison": 1, MEASURE.name: comparison.measure, "checks": list(comparison.checks)}
    return json_text({**document, "columns": columns})


def comparison_from_json(text: str | bytes) -> tuple[Comparison, list[str]]:
    """Read what `comparison_json` wrote; a file of the explorer becomes a comparison of one column.

    `text`: a JSON document. Returns `comparison`; `problems`.
    """
    try:
        document = json_entries(text)
    except ValueError:
        document = None
    if not isinstance(document, dict) or "supdr comparison" not in document:
        settings, problems = from_json(text)
        return Comparison((settings,)), problems
    saved = document.get("columns")
    if not isinstance(saved, list) or not saved:
        return Comparison(), ["This file of a comparison holds no columns."]
    columns: list[dict[str, Any]] = []
    problems = []
    for letter, column in zip(LETTERS, saved):
        try:
            columns.append(document_entries(column))
        except ValueError as error:
            columns.append({"method": Settings.method})
            problems.append(f"Column {letter}: {error}")
    if len(saved) > MAX_COLUMNS:
        problems.append(f"The file holds {len(saved)} columns; the first {MAX_COLUMNS} are kept.")
    shared = {name: document[name] for name in (MEASURE.name, "checks") if name in document}
    return _read(Reader({**_prefixed(columns), **shared}, problems=problems))
