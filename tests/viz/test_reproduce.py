"""The command that measures the papers' tables and figures: its list, its verdicts, its files, and that it resumes."""

import csv
import re

import numpy as np
import pytest

from supdr_viz.cli import main
from supdr_viz.reproduce.bench import RULE, Item, Row
from supdr_viz.reproduce.command import items
from supdr_viz.reproduce.report import Finding, count, figure, lines_of, to_csv, to_html, to_markdown
from supdr_viz.studies.data import NoData, load_multifeat, load_table, scaled

PAPERS = ("nsdr-table-2", "nsdr-figure-4", "mac-figure-6", "sldr-table-2", "sdr-glm-figure-1", "snf-table-2")


def run(folder, *options):
    names = ["--store", str(folder / "s.sqlite"), "--out", str(folder / "out"), "--workers", "1"]
    return main(["reproduce", *options, *names])


def test_without_a_name_all_items_are_listed(capsys):
    assert main(["reproduce"]) == 0
    said = capsys.readouterr().out
    for name, item in items().items():
        assert f"{name} " in said
        assert item.title in said
    assert set(PAPERS) <= set(items())


@pytest.mark.parametrize(
    ("measured", "paper", "sd", "kind", "verdict"),
    [
        ((0.10, 0.12), 0.12, 0.0, "less", "reproduced"),
        ((0.10, 0.10), 0.12, 0.03, "less", "reproduced"),
        ((0.10, 0.10), 0.12, 0.0, "less", "better"),
        ((0.10, 0.10), 0.08, 0.0, "less", "not reproduced"),
        ((0.10, 0.10), 0.08, 0.0, "greater", "better"),
        ((0.10, 0.10), 0.12, 0.0, "greater", "not reproduced"),
        ((0.101,), 0.104, 0.0, "less", "reproduced"),
        ((0.10,), 0.10, 0.0, "at most", "reproduced"),
        ((0.11,), 0.10, 0.5, "at most", "not reproduced"),
        ((0.11,), 0.10, 0.0, "at least", "reproduced"),
        ((), 0.10, 0.0, "less", "not measured"),
        ((np.nan,), 0.10, 0.0, "less", "not measured"),
    ],
)
def test_the_verdict_follows_the_stated_rule(measured, paper, sd, kind, verdict):
    assert Row("x", measured, paper, sd, kind).verdict == verdict
    assert "standard deviations" in RULE


def test_a_quick_item_writes_three_files_and_is_not_computed_twice(tmp_path, capsys):
    assert run(tmp_path, "nsdr-figure-1", "--quick") == 0
    first = capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert [row["item"] for row in rows] == ["nsdr-figure-1"] * 2
    assert rows[0]["verdict"] == "reproduced"
    document = (tmp_path / "out.md").read_text()
    assert RULE in document
    assert "supdr-viz reproduce nsdr-figure-1 --quick" in document
    assert "quick protocols" in document
    page = (tmp_path / "out.html").read_text()
    assert page.count("<svg") == 2
    assert not re.search(r"""(src|href)=|https?://""", page)
    before = (tmp_path / "s.sqlite").read_bytes()
    assert run(tmp_path, "nsdr-figure-1", "--quick") == 0
    assert capsys.readouterr().out == first
    assert (tmp_path / "s.sqlite").read_bytes() == before


def test_missing_data_are_said_and_the_rest_goes_on(tmp_path, capsys):
    assert run(tmp_path, "sldr-table-2", "nsdr-figure-1", "--quick") == 1
    said = capsys.readouterr().out
    assert "not measured: MULTIFEAT is read from multifeat.npz" in said
    assert "reproduced      share of draws that LSDR separates" in said
    assert "Not measured: MULTIFEAT" in (tmp_path / "out.md").read_text()


def test_wrong_options_are_one_sentence(tmp_path, capsys):
    assert run(tmp_path, "table-9") == 2
    assert "there is no item 'table-9'" in capsys.readouterr().err
    assert run(tmp_path, "nsdr-figure-4", "--data-dir", str(tmp_path / "nowhere")) == 2
    assert "there is no folder" in capsys.readouterr().err
    (tmp_path / "s.sqlite").write_text("no store " * 100)
    assert run(tmp_path, "nsdr-figure-1", "--quick") == 1
    assert "not a store" in capsys.readouterr().err


def test_local_copies_of_the_data(tmp_path):
    (tmp_path / "bears.csv").write_text("a,b,weight\n1,2,10\n3,,20\n5,6,40\n")
    X, y = load_table("bears", tmp_path, "regression")
    np.testing.assert_array_equal(X, [[1, 2], [3, np.nan], [5, 6]])
    np.testing.assert_array_equal(y, [10, 20, 40])
    with pytest.raises(NoData, match="baseball is not on OpenML"):
        load_table("baseball", tmp_path)
    with pytest.raises(NoData, match="npz"):
        load_multifeat(tmp_path)
    np.testing.assert_array_equal(scaled(np.array([[0.0, 7.0], [5.0, 7.0], [10.0, 7.0]])), [[-1.0], [0.0], [1.0]])


def test_local_copies_may_have_many_columns(tmp_path):
    rows = [",".join(map(str, range(k, k + 6001))) for k in (0, 1)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(f"c{k}" for k in range(6001)), *rows, ""]))
    X, y = load_table("wide", tmp_path)
    assert X.shape == (2, 6000)
    np.testing.assert_array_equal(y, [0, 1])


def test_reports_escape_what_they_print():
    item = items()["nsdr-figure-1"]
    found = Finding(item, (Row("a <b> & c", (0.1, 0.2), 0.1, 0.05),))
    assert "a &lt;b&gt; &amp; c" in to_html([found], "<command>", "full")
    assert "0.15 ± 0.05" in to_markdown([found], "x", "full")
    assert len(to_csv([found]).splitlines()) == 2
    assert figure(Row("x", (0.1,), 0.1)).startswith("<svg")


def test_one_page_says_of_every_item_what_is_not_and_why():
    good = Row("kept", (0.1, 0.2), 0.15)
    bad = [Row(f"lost {number}", (0.9,), 0.1) for number in range(6)]
    items = [Item("a", "P", "T", lambda _bench: []), Item("b", "P", "U", lambda _bench: [], reason="too | little")]
    found = [Finding(items[0], (good,)), Finding(items[1], (good, *bad)), Finding(items[0], (), "no data")]
    kept, lost, missing = lines_of(found)
    assert kept == ("P: T", "reproduced", "kept: 0.15 ± 0.05 (paper 0.15)", "")
    assert lost.verdict == "1 reproduced, 6 not reproduced"
    assert lost.number.startswith("lost 0: 0.9 (paper 0.1); lost 1")
    assert lost.number.endswith("; and 2 more")
    assert missing == ("P: T", "not measured", "", "no data")
    assert count(found) == "Of 8 figures and claims: 2 reproduced, 6 not reproduced."
    page = to_markdown(found, "x", "full")
    assert "## On one page" in page
    assert "| too / little |" in page  # a bar would be a column
    assert "On one page" in to_html(found, "x", "full")


@pytest.mark.papers
def test_a_table_on_the_benchmark_sets(tmp_path, data_dir):
    assert run(tmp_path, "snf-figure-1", "--quick", "--data-dir", str(data_dir)) == 0
    assert "SNF's error" in (tmp_path / "out.md").read_text()
