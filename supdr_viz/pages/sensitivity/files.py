"""Sweeps as TOML files, for the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from supdr_viz.experiment.codec import link_entries, toml_document, toml_entries, without_problems
from supdr_viz.pages.sensitivity.settings import AXES, PROTOCOL_FORM, SweepSettings, parse_sweep

TOP_LEVEL = frozenset({"data", "method", "grid", "link", "store", "out", "seed", "labels", "test"})


def from_toml(text: str) -> tuple[SweepSettings, dict[str, Any]]:
    """Read the file of ``supdr-viz sweep``.

    `text`: ``link = "…"`` (a link of the page) or the tables ``[data]`` (``name`` and its options, or ``file`` or
    ``openml`` with ``target`` and ``task``), ``[method]`` (``name`` and its options) and ``[grid]`` (for each parameter
    a list, or a table of ``low``, ``high``, ``count``, ``spacing``); further ``metric, folds, repeats, transductive,
    warm, design, cells, versus, seed, test, labels, store, out``. Returns `settings`; `rest`: "file", "store" and
    "out", where given. Raises ValueError if anything in the file is unknown or wrong; the message names it.
    """
    document = toml_document(text)
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
        accepted = sorted(TOP_LEVEL | {spec.name for spec in PROTOCOL_FORM})
        raise ValueError(f"unknown entry {unknown[0]!r}; known are {', '.join(accepted)}")
    entries = _from_link(document) if "link" in document else _from_tables(document)
    entries |= {name: document[name] for name in ("seed", "test", "labels") if name in document}
    entries |= {f"sweep.{spec.name}": document[spec.name] for spec in PROTOCOL_FORM if spec.name in document}
    return without_problems(parse_sweep(entries, refuses=True))


def _from_link(document: Mapping[str, Any]) -> dict[str, Any]:
    beside = [name for name in ("data", "method", "grid") if name in document]
    if beside:
        raise ValueError(f"the link already says what the table [{beside[0]}] would; leave one of them out")
    entries: dict[str, Any] = dict(link_entries(str(document["link"])))
    if not entries:
        raise ValueError(f"link holds no settings; got {document['link']!r}")
    return entries


def _from_tables(document: Mapping[str, Any]) -> dict[str, Any]:
    for name in ("data", "method", "grid"):
        if not isinstance(document.get(name), dict):
            raise ValueError(f"the table [{name}] is missing")
    grid = document["grid"]
    if not 1 <= len(grid) <= len(AXES):
        raise ValueError(f"the table [grid] must have 1 to {len(AXES)} parameters; got {len(grid)}")
    tables = toml_entries({name: document[name] for name in ("data", "method")})
    axes = {f"sweep.{key}": _axis_text(name, values) for key, (name, values) in zip(AXES, grid.items())}
    return {"data": None, "method": None, **tables, **axes}


def _axis_text(name: str, values: Any) -> str:
    """Write an axis as links have it."""
    if isinstance(values, list):
        return f"{name}:list:{','.join(map(str, values))}"
    keys = ("spacing", "low", "high", "count")
    if not isinstance(values, dict) or set(values) - set(keys):
        raise ValueError(f"grid: {name} must be a list of values or a table of low, high, count and spacing.")
    return ":".join([name, *(str(values.get(key, "")) for key in keys)])
