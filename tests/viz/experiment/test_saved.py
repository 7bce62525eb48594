"""Links, files and stores that were saved by an earlier version: each still opens, and says what it said.

``saved/settings.json`` has the links and files of every method and every source of data, of comparisons and sweeps, and
the keys under which a sweep found its fits.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.codec import link_entries
from supdr_viz.experiment.settings import from_json, parse_query, to_json, to_query
from supdr_viz.pages.compare.comparison import comparison_from_json, comparison_json, comparison_query, parse_comparison
from supdr_viz.pages.sensitivity.settings import build_sweep, parse_sweep_query, sweep_query

SAVED = json.loads((Path(__file__).parent / "saved" / "settings.json").read_text(encoding="utf-8"))


def arguments(link):
    """As a web server gives them."""
    return {name: [value.encode()] for name, value in link_entries(link).items()}


# Options that came after the files were saved, with what a file of today says of them by default.
LATER = {
    "checks": [],
    "data.accept": "",
    "data.decline": "",
    "data.missing": "",
    "method.extrapolate": False,
    "method.separation": 1.0,
    "view.size": "",
}


def later_options(written):
    """Return those of `LATER` that a file has."""
    return {name: default for name, default in LATER.items() if name in written}


@pytest.mark.parametrize("saved", SAVED["settings"], ids=lambda saved: saved["file"]["method"])
def test_settings(saved):
    settings, problems = parse_query(arguments(saved["link"]))
    assert problems == []
    assert from_json(json.dumps(saved["file"])) == (settings, [])
    assert to_query(settings) == saved["link"]
    written = json.loads(to_json(settings))
    assert written == {**later_options(written), **saved["file"]}


@pytest.mark.parametrize("saved", SAVED["comparisons"], ids=lambda saved: str(len(saved["file"]["columns"])))
def test_comparisons(saved):
    comparison, problems = parse_comparison(arguments(saved["link"]))
    assert problems == []
    assert comparison_from_json(json.dumps(saved["file"])) == (comparison, [])
    assert comparison_query(comparison) == saved["link"]
    written = json.loads(comparison_json(comparison))
    columns = [
        {**later_options(column), **before}
        for column, before in zip(written["columns"], saved["file"]["columns"], strict=True)
    ]
    assert written == {**later_options(written), **saved["file"], "columns": columns}


@pytest.mark.parametrize("saved", SAVED["sweeps"], ids=lambda saved: " ".join(saved["axes"]))
def test_sweeps(saved):
    settings, problems = parse_sweep_query(arguments(saved["link"]))
    assert problems == []
    assert settings.grid == saved["axes"]
    protocol = [settings.metric, settings.folds, settings.repeats, settings.transductive, settings.warm]
    assert protocol == saved["protocol"]
    assert sweep_query(settings) == saved["link"]


def test_a_store_of_a_sweep(tmp_path, monkeypatch):
    """Fits are kept for one release: its number is part of their keys."""
    monkeypatch.setattr("supdr.sensitivity.fitting.version", lambda package: SAVED["store"]["release"])
    settings, problems = parse_sweep_query(arguments(SAVED["store"]["link"]))
    assert problems == []
    store = tmp_path / "fits.sqlite"
    sweep, X, y = build_sweep(settings, build_dataset(settings.base), store)
    list(sweep.run(X, y))
    with closing(sqlite3.connect(store)) as connection, connection:
        keys = sorted(key for (key,) in connection.execute("SELECT key FROM fits"))
    assert keys == SAVED["store"]["keys"]
