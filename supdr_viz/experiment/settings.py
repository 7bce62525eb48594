"""One table of every setting: what links, saved files, Python snippets and the controls all speak of.

A link reads ``data=spirals&data.noise=0.1&method=NSDR&method.C=10&test=0.3&labels=1&seed=0``.  Whatever comes from
outside is checked against the same table: bad values become defaults or are clamped, with a sentence for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from supdr.baselines import NEEDS
from supdr.engine.parameters import Parameter, choices, quoted, to_number
from supdr_viz.data.drawn_points import LARGEST, MAX_DRAWN, Point
from supdr_viz.data.sources import DATA_FORMS, SOURCES
from supdr_viz.data.split import Label
from supdr_viz.experiment.codec import (
    Entry,
    Table,
    arguments_entries,
    form_table,
    json_document,
    json_entries,
    json_text,
    link_query,
    toml_entries,
    without_problems,
)
from supdr_viz.experiment.methods import MENU, METHOD_FORMS
from supdr_viz.experiment.reader import Reader

MAX_TAUGHT = 500
UNLABELLED = -1
MAX_ROW, MAX_CODE = 10**8, 254
MAX_SEED = 99_999
VERSION = 1

Axes = str | tuple[int, int]

# Largest share of rows that is kept for testing: of very many, few are enough to learn from.
MOST_TEST = 0.98

LABELS_HELP = "Share of the training labels that the method sees."
# Test share, share of labels, seed: all restart the run.
SPLIT_FORM = (
    Parameter(
        "test", "Test share", "float", 0, MOST_TEST, 0.01, default=0.3, help="Share of the rows kept for testing."
    ),
    Parameter("labels", "Labelled share", "float", 0.01, 1, 0.01, default=1.0, help=LABELS_HELP),
    Parameter(
        "seed",
        "Seed",
        "int",
        0,
        MAX_SEED,
        1,
        default=0,
        help="One seed for generator, split, hidden labels and method.",
    ),
)

SHOWN = Parameter(
    "shown",
    "Latent rows shown",
    "choice",
    choices=choices(("embedding", "placed using labels"), ("transform", "placed without labels")),
    default="embedding",
    help="The rows as learnt with their labels, or as new rows would be placed.",
)
# What the colours of rows can mean by a word, and by a prefix with a name or a number behind it.
COLOURS = ("label", "truth", "prediction", "error", "trust", "spread", "doubt", "loss")
COLOUR_PREFIXES = ("column:", "probability:", "latent:")
MOST_COLOUR = 200
COLOUR = Parameter(
    "colour",
    "Colour by",
    "text",
    default="label",
    longest=MOST_COLOUR,
    help="What the colours of rows mean: a label, the prediction, its error, trust, doubt, or a column of the data.",
)
SIZE = Parameter(
    "size", "Size by", "text", default="", longest=MOST_COLOUR, help="What the sizes of rows mean; empty: nothing."
)
SPEED = Parameter(
    "speed", "Speed", "choice", choices=choices("slow", "normal", "fast"), default="normal", help="Speed of the run."
)

# name in links -> field of Settings, in the order of a link
SPLIT_FIELDS = {"test": "test_share", "labels": "label_share", "seed": "seed"}
_MEANINGS = {"colour": "colour_by", "size": "size_by"}
_VIEW_FIELDS = {"shown": "latent_shown", "latent": "latent_axes", "plane": "input_plane", **_MEANINGS}


@dataclass(frozen=True)
class Settings:
    """Everything that determines what the explorer shows.

    Options that are left out are filled in with the library's defaults, so that `data_options` and `method_options`
    always hold the whole form.  They are not to be changed in place: use `dataclasses.replace` or `with_options`.

    data: key of `SOURCES`.
    data_options: values of the knobs of `data`.
    method: key of `MENU`.
    method_options: constructor parameters of the method.
    label_share: share of the training labels that is kept.
    seed: one seed for the generator, the split, the hidden labels and the method.
    latent_axes, input_plane: "auto": the first two columns where there are two, or where they are the ones that matter
        (generators); else the plane of the first two principal components.
    latent_shown: one of "embedding", "transform".
    colour_by: what the colours of rows mean: one of `COLOURS`, or "column:", "probability:" or "latent:" with the name
        of a column or a class, or the number of a coordinate, behind it.
    size_by: what the sizes of rows mean, as `colour_by` says it; "": nothing.
    speed: one of "slow", "normal", "fast".
    drawn: points that the user drew into the first two columns of a generator's plane.
    taught: labels that the user gave to rows of the data set, in the order of rows; `UNLABELLED` takes one away.
    """

    data: str = "spirals"
    data_options: dict[str, Any] = field(default_factory=dict)
    method: str = "NSDR"
    method_options: dict[str, Any] = field(default_factory=dict)
    test_share: float = 0.3
    label_share: float = 1.0
    seed: int = 0
    latent_axes: Axes = "auto"
    latent_shown: str = "embedding"
    input_plane: Axes = "auto"
    colour_by: str = "label"
    size_by: str = ""
    speed: str = "normal"
    drawn: tuple[Point, ...] = ()
    taught: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "data_options", _whole(DATA_FORMS[self.data], self.data_options))
        object.__setattr__(self, "method_options", _whole(METHOD_FORMS[self.method], self.method_options))

    def with_options(self, **changes: Any) -> Settings:
        """Return settings with other values of some knobs of the method."""
        return replace(self, method_options={**self.method_options, **changes})

    def same_data(self, other: Settings) -> bool:
        """Whether both start from the same rows, split and labels, but for those that were taught."""
        names = ("data", "data_options", "drawn", *SPLIT_FIELDS.values())
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def only_steers(self, other: Settings) -> bool:
        """Whether nothing differs from `other` but options under which its run goes on."""
        return not self.needs_restart(other) and replace(self, method_options=other.method_options) == other

    def needs_restart(self, other: Settings) -> bool:
        """Whether a run under these settings cannot be carried on under `other`."""
        if self.method != other.method or not self.same_data(other):
            return True
        changed = [name for name, value in self.method_options.items() if other.method_options[name] != value]
        return any(MENU[self.method].restarts(name) for name in changed)


def _whole(form: Iterable[Parameter], options: Mapping[str, Any]) -> dict[str, Any]:
    values = {spec.name: options.get(spec.name, spec.default) for spec in form}
    unknown = sorted(set(options) - set(values))
    if unknown:
        raise ValueError(f"unknown options: {', '.join(unknown)}; known: {', '.join(values)}")
    return values


# --- the table ------------------------------------------------------------------------------------------------------


def settings_table(settings: Settings) -> Table:
    """Return all settings as a table, in the order of a link."""
    table = {"data": Entry(settings.data, settings.data)}
    table |= form_table("data.", DATA_FORMS[settings.data], settings.data_options)
    table |= method_table("method", settings)
    for name, entry in form_table("", SPLIT_FORM, _fields(settings, SPLIT_FIELDS)).items():
        table[name] = entry._replace(usual=False)
    for name, value in _fields(settings, _VIEW_FIELDS).items():
        text = value if isinstance(value, str) else ",".join(map(str, value))
        table[f"view.{name}"] = Entry(value, text, value == getattr(Settings, _VIEW_FIELDS[name]))
    drawn = ";".join(f"{x:.6g},{y:.6g},{code}" for x, y, code in settings.drawn)
    taught = ";".join(f"{row},{code}" for row, code in settings.taught)
    return {
        **table,
        **form_table("", (SPEED,), {"speed": settings.speed}),
        "drawn": Entry(settings.drawn, drawn, not drawn),
        "taught": Entry(settings.taught, taught, not taught),
    }


def method_table(name: str, settings: Settings) -> Table:
    """Return the table of the method alone, under a name such as "method"."""
    options = form_table(f"{name}.", METHOD_FORMS[settings.method], settings.method_options)
    return {name: Entry(settings.method, settings.method), **options}


def _fields(settings: Settings, names: Mapping[str, str]) -> dict[str, Any]:
    return {name: getattr(settings, field) for name, field in names.items()}


def to_query(settings: Settings) -> str:
    """Write settings as the query of a link: the main ones always, options that differ from the library's defaults.

    Returns without the question mark; always in the same order.
    """
    return link_query(settings_table(settings))


def query_of_own_data(settings: Settings) -> str:
    """Return the query of settings that are of data which the user has loaded; empty: they are of others."""
    return "" if SOURCES[settings.data].at_hand else to_query(settings)


def name_of_own_data(settings: Settings) -> str:
    """Name the data which the user has loaded, such as a file; empty: the settings are of others."""
    return "" if SOURCES[settings.data].at_hand else str(settings.data_options.get("name", ""))


def parse_query(arguments: Mapping[str, list[bytes]]) -> tuple[Settings, list[str]]:
    """Read the arguments of a page's address.

    `arguments`: as a web server gives them; the last value of a name counts. Returns `settings`; `problems`: one
    sentence for each value that was not taken as it is; never an exception.
    """
    return parse_entries(arguments_entries(arguments))


def to_json(settings: Settings) -> str:
    """Write settings as a JSON document, every option included."""
    return json_text(settings_document(settings))


def settings_document(settings: Settings) -> dict[str, Any]:
    """Return settings as the JSON document of a saved file."""
    return {"supdr": VERSION, **json_document(settings_table(settings))}


def from_json(text: str | bytes) -> tuple[Settings, list[str]]:
    """Read what `to_json` wrote, with the same checks as a link.

    `text`: a JSON document. Returns `settings`: the defaults if `text` is no such document; `problems`.
    """
    try:
        return parse_entries(document_entries(json_entries(text)))
    except ValueError as error:
        return Settings(), [str(error)]


def document_entries(document: Any) -> dict[str, Any]:
    """Return the entries of the JSON document of saved settings.

    Raises ValueError if it is none; the message is a sentence.
    """
    if not isinstance(document, dict) or "supdr" not in document:
        raise ValueError("This JSON file holds no settings of this app.")
    return {name: value for name, value in document.items() if name != "supdr"}


def read_table(table: Mapping[str, Any]) -> Settings:
    """Read settings as TOML has them, see `supdr_viz.experiment.codec.toml_entries`.

    Raises ValueError if a value cannot be taken as it is; the message has a sentence for each.
    """
    reader = Reader(toml_entries(table), refuses=True)
    return without_problems((read_settings(reader), reader.problems))


def parse_entries(entries: Mapping[str, Any]) -> tuple[Settings, list[str]]:
    """Read a table of settings: names as in links, values as texts or as TOML and JSON have them.

    Returns `settings`; `problems`: one sentence for each value that was not taken as it is; never an exception.
    """
    reader = Reader(entries)
    return read_settings(reader), reader.problems


def read_settings(reader: Reader) -> Settings:
    """Read a table of settings that is open already; its problems are with the reader."""
    default = Settings()
    data = reader.one_of("data", SOURCES, "data set", default.data)
    method = reader.one_of("method", MENU, "method", default.method, NEEDS)
    fields: dict[str, Any] = {
        "data": data,
        "data_options": reader.options(DATA_FORMS[data], "data."),
        "method": method,
        "method_options": reader.options(METHOD_FORMS[method], "method."),
    }
    fields |= {SPLIT_FIELDS[name]: value for name, value in reader.options(SPLIT_FORM).items()}
    fields["latent_shown"] = reader.option(SHOWN, "view.")
    for spec in (COLOUR, SIZE):
        fields[_MEANINGS[spec.name]] = _meaning(reader, spec)
    for name in ("latent", "plane"):
        fields[_VIEW_FIELDS[name]] = _axes(reader, name)
    fields["speed"] = reader.option(SPEED)
    fields["drawn"] = _drawn(reader)
    if fields["drawn"] and not SOURCES[data].planar:
        fields["drawn"] = ()
        reader.say(f"Points can be drawn into generated data only, not into {SOURCES[data].label}.")
    fields["taught"] = _taught(reader)
    reader.finish()
    return Settings(**fields)


def _meaning(reader: Reader, spec: Parameter) -> str:
    """Read what colours or sizes mean; whether the data have such a column is seen when they are there."""
    value = str(reader.option(spec, "view."))
    prefix, colon, name = value.partition(":")
    if value in (spec.default, *COLOURS) or (prefix + colon in COLOUR_PREFIXES and name):
        return value
    accepted = ", ".join((*COLOURS, *(f"{each}NAME" for each in COLOUR_PREFIXES)))
    instead = quoted(spec.default) if spec.default else "nothing"
    reader.say(f"{spec.label} must be one of {accepted}; got {quoted(value)}, so {instead} is used.")
    return str(spec.default)


def _axes(reader: Reader, name: str) -> Axes:
    raw = reader.take(f"view.{name}", "auto")
    text = str(raw).strip()
    if text in ("auto", "pca"):
        return text
    parts = text.split(",")
    if len(parts) == 2 and all(part.isdecimal() and len(part) < 6 for part in parts) and parts[0] != parts[1]:
        return int(parts[0]), int(parts[1])
    reader.say(f"The plane view.{name} must be auto, pca or two column numbers such as 0,1; got {quoted(raw)}.")
    return "auto"


def _drawn(reader: Reader) -> tuple[Point, ...]:
    rows, wrong = _rows_of_numbers(reader, "drawn", 3)
    points = [(x, y, int(code)) for x, y, code in rows if max(abs(x), abs(y), code) <= LARGEST and _is_count(code)]
    wrong += len(rows) - len(points)
    if wrong:
        reader.say(f"{wrong} drawn points were not of the form x,y,class and were ignored.")
    if len(points) > MAX_DRAWN:
        reader.say(f"{len(points)} points were drawn; the first {MAX_DRAWN} are kept.")
    return tuple(points[:MAX_DRAWN])


def _taught(reader: Reader) -> tuple[Label, ...]:
    rows, wrong = _rows_of_numbers(reader, "taught", 2)
    valid = [
        (int(row), int(code))
        for row, code in rows
        if _is_count(row) and row <= MAX_ROW and _is_count(code - UNLABELLED) and code <= MAX_CODE
    ]
    wrong += len(rows) - len(valid)
    labels = dict(valid)
    if wrong:
        reader.say(f"{wrong} taught labels were not of the form row,class and were ignored.")
    if len(labels) > MAX_TAUGHT:
        reader.say(f"{len(labels)} rows were taught; the first {MAX_TAUGHT} are kept.")
    return tuple(sorted(labels.items())[:MAX_TAUGHT])


def _rows_of_numbers(reader: Reader, name: str, width: int) -> tuple[list[tuple[float, ...]], int]:
    """Read rows of numbers, "1,2;3,4".

    Returns `rows`, each of `width` numbers; `wrong`: how many others there were.
    """
    raw = reader.take(name, "")
    read = [[to_number(part) for part in text.split(",")] for text in (str(raw).split(";") if raw else ())]
    rows = [tuple(number for number in row if number is not None) for row in read]
    whole = [row for row, numbers in zip(rows, read) if len(row) == len(numbers) == width]
    return whole, len(read) - len(whole)


def _is_count(value: float) -> bool:
    return value >= 0 and value == int(value)
