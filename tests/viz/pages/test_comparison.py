"""The state of a comparison: links and files say all of it, and nothing from outside breaks it."""

from dataclasses import replace
from urllib.parse import parse_qs, quote

import numpy as np
import pytest

from supdr.baselines import NEEDS
from supdr_viz.experiment.methods import MENU, METHOD_FORMS
from supdr_viz.experiment.settings import Settings, to_query
from supdr_viz.pages.compare.comparison import (
    Comparison,
    comparison_from_json,
    comparison_json,
    comparison_query,
    comparison_table,
    differences,
    parse_comparison,
)
from supdr_viz.pages.compare.presets import COMPARISON_PRESETS
from supdr_viz.presets.reading import document, examples

DATA = {"data": "moons", "data_options": {"n_samples": 80, "noise": 0.1}, "seed": 3, "test_share": 0.4}
A = Settings(**DATA, method="NSDR", method_options={"C": 10.0})
B = Settings(**DATA, method="MAC", method_options={"n_centers": 60})
C = Settings(**DATA, method="NSDR", method_options={"kernel": "linear", "beta": 0.2})
D = Settings(**DATA, method="LDA")


def arguments(query):
    return {name: [v.encode() for v in values] for name, values in parse_qs(query, keep_blank_values=True).items()}


def read(query):
    return parse_comparison(arguments(query))


@pytest.mark.parametrize("columns", [(A,), (A, B), (A, C), (A, B, C, D)])
@pytest.mark.parametrize(("measure", "checks"), [("iteration", ()), ("time", ("seeds", "stability"))])
def test_links_and_files_bring_back_what_was_written(columns, measure, checks):
    comparison = Comparison(columns, measure, checks)
    assert read(comparison_query(comparison)) == (comparison, [])
    assert comparison_from_json(comparison_json(comparison)) == (comparison, [])


def test_every_method_and_option_survives_the_link():
    generator = np.random.default_rng(0)
    for method, form in METHOD_FORMS.items():
        options = {}
        for spec in form:
            values = [v for v, _ in spec.choices] or ([True, False] if spec.kind == "bool" else [spec.low, spec.high])
            if spec.kind != "text":
                options[spec.name] = values[generator.integers(len(values))]
        options = {spec.name: spec.clean(options[spec.name])[0] for spec in form if spec.name in options}
        comparison = Comparison((A, replace(A, method=method, method_options=options)))
        assert read(comparison_query(comparison)) == (comparison, []), method


def test_all_columns_share_everything_but_the_method():
    comparison = Comparison((A, replace(B, data="iris", data_options={}, seed=9)))
    assert comparison.columns[1] == B
    changed = comparison.changed(1, replace(B, seed=5))
    assert [column.seed for column in changed.columns] == [5, 5]
    assert [column.method for column in changed.columns] == ["NSDR", "MAC"]


def test_a_link_of_the_explorer_is_a_comparison_of_one_column():
    assert read(to_query(A)) == (Comparison((A,)), [])


def test_adding_a_run_keeps_what_is_there():
    there = comparison_query(Comparison((A, B)))
    comparison, problems = read(f"{there}&add={quote(to_query(C), safe='')}")
    assert comparison == Comparison((A, B, C))
    assert problems == []
    alone, problems = read(f"add={quote(to_query(C), safe='')}")
    assert (alone, problems) == (Comparison((C,)), [])


def test_adding_to_four_takes_the_last_place_and_says_so():
    there = comparison_query(Comparison((A, B, C, D)))
    comparison, problems = read(f"{there}&add={quote(to_query(B), safe='')}")
    assert comparison == Comparison((A, B, C, B))
    assert "LDA" in problems[0]


def test_adding_a_run_on_other_data_takes_all_there_and_says_so():
    other = replace(C, seed=8)
    comparison, problems = read(f"{comparison_query(Comparison((A, B)))}&add={quote(to_query(other), safe='')}")
    assert {column.seed for column in comparison.columns} == {8}
    assert [column.method for column in comparison.columns] == ["NSDR", "MAC", "NSDR"]
    assert "data, split and seed" in problems[0]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("b=Nonsense", "no method 'Nonsense'"),
        ("b=MAC&b.n_centers=many", "Basis functions must be a number"),
        ("b=MAC&b.n_centers=1e9", "Basis functions must lie between"),
        ("b=MAC&b.color=red", "unknown"),
        ("b.C=3", "no method"),
        ("lockstep=moon", "must be one of iteration, time"),
        ("data=mars&b=LDA", "no data set 'mars'"),
        ("e=MAC", "unknown"),
        ("add=%FF%FE&data=moons", "unknown"),
    ],
)
def test_bad_links_are_said_and_survived(query, said):
    comparison, problems = read(query)
    assert said in " ".join(problems)
    assert 1 <= len(comparison.columns) <= 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not a JSON file"),
        ("[1]", "no settings"),
        ('{"supdr comparison": 1}', "no columns"),
        ('{"supdr comparison": 1, "columns": [3]}', "no settings"),
        ('{"supdr comparison": 1, "columns": [{"supdr": 1, "method": "X"}]}', "no method 'X'"),
    ],
)
def test_bad_files_are_said_and_survived(text, said):
    comparison, problems = comparison_from_json(text)
    assert said in " ".join(problems)
    assert len(comparison.columns) == 1


def test_more_than_four_columns_are_refused_and_removing_keeps_one():
    with pytest.raises(ValueError, match="1 to 4 columns"):
        Comparison((A,) * 5)
    comparison = Comparison((A, B)).removed(0)
    assert comparison.columns == (B,)
    assert comparison.removed(0) == comparison


def test_differences_name_what_was_set():
    assert differences(A) == "Margin weight: 10"
    assert differences(D) == ""
    assert differences(C) == "Kernel: linear, Reconstruction share: 0.2"


@pytest.mark.parametrize("name", COMPARISON_PRESETS)
def test_examples_survive_their_link_and_are_known_by_it(name):
    comparison = COMPARISON_PRESETS[name].settings
    arguments = {
        key: [value.encode() for value in values] for key, values in parse_qs(comparison_query(comparison)).items()
    }
    again, problems = parse_comparison(arguments)
    assert not problems
    assert COMPARISON_PRESETS.name_of(again) == name
    assert COMPARISON_PRESETS.name_of(again.removed(1)) == ""


def test_where_umap_is_missing_its_example_says_how_to_get_it_and_shows_another_map(monkeypatch):
    shown = COMPARISON_PRESETS["spokes-or-atlas"].settings.columns
    assert [each.method for each in shown] == ["MAC", "ClassAtlas", "UMAP" if "UMAP" in MENU else "TSNE"]
    monkeypatch.delitem(MENU, "UMAP", raising=False)
    monkeypatch.delitem(METHOD_FORMS, "UMAP", raising=False)
    named = {preset.name: preset for preset in examples(document("comparisons"), comparison_table, MENU)}
    without = named["spokes-or-atlas"]
    assert [each.method for each in without.settings.columns] == ["MAC", "ClassAtlas", "TSNE"]
    assert NEEDS["UMAP"] in without.more


def test_a_link_to_a_map_whose_package_is_missing_says_what_to_install(monkeypatch):
    monkeypatch.delitem(MENU, "UMAP", raising=False)
    comparison, problems = read("data=digits&method=ClassAtlas&b=UMAP")
    assert problems == ['Column B: UMAP needs umap-learn: pip install "supdr-viz[umap]"']
    assert [each.method for each in comparison.columns] == ["ClassAtlas", Settings().method]
    assert "There is no method" in read("method=umapp")[1][0]
