"""Sweeps as TOML files, for the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from supdr_viz.experiment.codec import Reader, link_entries, table_entries
from supdr_viz.experiment.documents import read_toml
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import read_settings
from supdr_viz.pages.sensitivity.settings import (
    PROTOCOL_FORM,
    SPACINGS,
    Axis,
    SweepSettings,
    checked_axis,
    default_axis,
    finished_settings,
    parse_sweep,
    sweepable,
)

TOP_LEVEL = frozenset({"data", "method", "grid", "link", "store", "out", "seed", "labels", "test"})


def from_toml(text: str) -> tuple[SweepSettings, dict[str, Any]]:
    """Read the file of ``supdr-viz sweep``.

    `text`: ``link = "…"`` (a link of the page) or the tables ``[data]`` (``name`` and its options, or ``file`` or
    ``openml`` with ``target`` and ``task``), ``[method]`` (``name`` and its options) and ``[grid]`` (for each parameter
    a list, or a table of ``low``, ``high``, ``count``, ``spacing``); further ``metric, folds, repeats, transductive,
    warm, seed, test, labels, store, out``. Returns `settings`; `rest`: "file", "store" and "out", where given. Raises
    ValueError if anything in the file is unknown or wrong; the message names it.
    """
    document = read_toml(text)
    rest: dict[str, Any] = {name: document[name] for name in ("store", "out") if name in document}
    if isinstance(document.get("data"), dict) and "file" in document["data"]:
        rest["file"] = document["data"]["file"]
    return sweep_table(document), rest


def sweep_table(document: Mapping[str, Any]) -> SweepSettings:
    """Read a sweep as TOML has it.

    Raises ValueError if anything in it is unknown or wrong; the message names it.
    """
    unknown = sorted(set(document) - TOP_LEVEL - {spec.name for spec in PROTOCOL_FORM})
    if unknown:
        known = sorted(TOP_LEVEL | {spec.name for spec in PROTOCOL_FORM})
        raise ValueError(f"unknown entry {unknown[0]!r}; known are {', '.join(known)}")
    settings, problems = _from_link(document) if "link" in document else _from_tables(document)
    if problems:
        raise ValueError(" ".join(problems))
    return settings


def _from_link(document: Mapping[str, Any]) -> tuple[SweepSettings, list[str]]:
    """Read a link; what stands beside it counts."""
    beside = [name for name in ("data", "method", "grid") if name in document]
    if beside:
        raise ValueError(f"the link already says what the table [{beside[0]}] would; leave one of them out")
    entries: dict[str, Any] = dict(link_entries(str(document["link"])))
    if not entries:
        raise ValueError(f"link holds no settings; got {document['link']!r}")
    entries |= {name: document[name] for name in ("seed", "test", "labels") if name in document}
    entries |= {f"sweep.{spec.name}": document[spec.name] for spec in PROTOCOL_FORM if spec.name in document}
    return parse_sweep(entries)


def _from_tables(document: Mapping[str, Any]) -> tuple[SweepSettings, list[str]]:
    for name in ("data", "method", "grid"):
        if not isinstance(document.get(name), dict):
            raise ValueError(f"the table [{name}] is missing")
    base_names = ("data", "method", "seed", "test", "labels")
    entries = table_entries({name: document[name] for name in base_names if name in document})
    reader = Reader({"data": None, "method": None, **entries}, repairs=False)
    base = read_settings(reader)
    if reader.problems:
        return SweepSettings(), reader.problems
    axes = []
    for name, values in document["grid"].items():
        axis, problem = _axis_from(name, values, base.method)
        reader.say(problem)
        axes += [axis] if axis is not None else []
    if not reader.problems and not 1 <= len(axes) <= 2:
        reader.say(f"the table [grid] must have one or two parameters; got {len(axes)}")
    return finished_settings(base, axes, Reader(document, problems=reader.problems)), reader.problems


def _axis_from(name: str, values: Any, method: str) -> tuple[Axis | None, str]:
    known = [spec.name for spec in sweepable(method)]
    if name not in known:
        return None, f"grid: {MENU[method].label} has no parameter {name!r} to sweep; it has {', '.join(known)}."
    if isinstance(values, list):
        return checked_axis(Axis(name, "list", listed=tuple(values)))
    if not isinstance(values, dict) or set(values) - {"low", "high", "count", "spacing"}:
        return None, f"grid: {name} must be a list of values or a table of low, high, count and spacing."
    axis = replace(default_axis(method, name), **values)
    if axis.spacing not in SPACINGS:
        return None, f"grid: {name}: spacing must be one of {', '.join(SPACINGS)}."
    return checked_axis(axis)
