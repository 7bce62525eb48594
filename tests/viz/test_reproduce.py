"""The command that measures the papers' tables and figures: its list, its verdicts, its files, and that it resumes."""

import csv
import re

import numpy as np
import pytest
from sklearn.base import clone

from supdr.baselines import LogisticUDR
from supdr.datasets import make_wide_factors
from supdr_viz.cli import main
from supdr_viz.reproduce.bench import RULE, Item, NotCovered, Row
from supdr_viz.reproduce.command import items
from supdr_viz.reproduce.report import Finding, code_version, count, figure, lines_of, to_csv, to_html, to_markdown
from supdr_viz.reproduce.sdr_glm import folded, in_own_span, paper_model, stacked, svdm
from supdr_viz.studies.data import NoData, load_multifeat, load_round_trips, load_table, scaled

PAPERS = ("nsdr-table-2", "nsdr-figure-4", "mac-figure-6", "sldr-table-2", "sdr-glm-figure-1b", "snf-table-2")


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
    ("measured", "paper", "options", "verdict"),
    [
        ((0.10, 0.12), 0.12, {}, "reproduced"),  # one standard error of the difference
        ((0.10, 0.10), 0.12, {"paper_sd": 0.03, "paper_n": 5}, "reproduced"),
        ((0.10, 0.10), 0.16, {"paper_sd": 0.03, "paper_n": 5}, "better"),
        ((0.10, 0.10), 0.12, {}, "better"),
        ((0.10, 0.10), 0.12, {"about": "rival"}, "differs"),
        ((0.10, 0.10), 0.08, {}, "not reproduced"),
        ((0.10, 0.10), 0.08, {"about": "rival"}, "differs"),
        ((0.95, 0.95), 0.90, {"kind": "greater"}, "better"),
        ((0.90, 0.90), 0.95, {"kind": "greater"}, "not reproduced"),
        ((0.101,), 0.104, {}, "reproduced"),  # 5 % of the figure
        ((0.008, 0.008), 0.004, {}, "not reproduced"),  # small figures have no floor of their own
        ((97.0,), 96.0, {"kind": "greater", "best": 100.0}, "better"),  # the floor is a share of the error
        ((96.1,), 96.0, {"kind": "greater", "best": 100.0}, "reproduced"),
        ((0.0004,), 0.0, {}, "reproduced"),  # half of the last printed digit
        ((0.10,), 0.10, {"kind": "at most"}, "reproduced"),
        ((0.11,), 0.10, {"kind": "at most", "paper_sd": 0.5}, "not reproduced"),
        ((0.11,), 0.10, {"kind": "at least"}, "reproduced"),
        ((0.08, 0.14), 0.10, {"kind": "at most"}, "undecided"),
        ((0.06, 0.12), 0.10, {"kind": "at most"}, "undecided"),
        ((0.10,), 0.10, {"kind": "at most", "about": "question"}, "yes"),
        ((0.11,), 0.10, {"kind": "at most", "about": "question"}, "no"),
        ((), 0.10, {}, "not measured"),
        ((np.nan,), 0.10, {}, "not measured"),
    ],
)
def test_the_verdict_follows_the_stated_rule(measured, paper, options, verdict):
    assert Row("x", measured, paper, **options).verdict == verdict
    assert "two standard errors" in RULE


def test_noise_does_not_turn_twice_the_figure_into_the_figure():
    noisy = (0.002, 0.029, 0.015, 0.031, 0.003, 0.014)
    assert Row("x", noisy * 4, 0.008).verdict == "not reproduced"
    assert Row("x", noisy * 4, 0.008).standard_error < Row("x", noisy, 0.008).standard_error


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
    with pytest.raises(NoData, match="planetlab_rtt"):
        load_round_trips(tmp_path)
    np.savez(tmp_path / "planetlab_rtt.npz", rtt_median=np.eye(3, dtype=np.float32))
    np.testing.assert_array_equal(load_round_trips(tmp_path), np.eye(3))
    np.testing.assert_array_equal(scaled(np.array([[0.0, 7.0], [5.0, 7.0], [10.0, 7.0]])), [[-1.0], [0.0], [1.0]])


def test_wide_rows_in_their_own_span_give_the_same_fits():
    """Tables of SDR-GLM spare tens of thousands of columns that way."""
    X, y = make_wide_factors(30, 200, random_state=0).to_xy()
    models = (paper_model("gaussian", 0.01), svdm(recon_weight=0.01), LogisticUDR(preprocessing="none"))
    for model in models:
        expected, found = (
            clone(model).fit(rows[:24], y[:24]).decision_function(rows[24:]) for rows in (X, in_own_span(X))
        )
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_stacked_trials_keep_to_their_own_rows():
    first, second = (folded(np.full((6, 2), value), np.arange(6) % 2, 3) for value in (1.0, 2.0))
    both = stacked([first, second])
    assert len(both.cv) == 6
    for train, test in both.cv[3:]:
        assert (both.X[np.r_[train, test]] == 2.0).all()
        assert len(np.unique(np.r_[train, test])) == 6


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
    assert count(found) == (
        "Of 8 figures and claims of the papers about their own methods: 2 reproduced, 6 not reproduced."
    )
    page = to_markdown(found, "x", "full")
    assert "## On one page" in page
    assert "| too / little |" in page  # a bar would be a column
    assert "On one page" in to_html(found, "x", "full")


def test_rivals_and_our_questions_are_counted_apart():
    rows = (
        Row("own", (0.1,), 0.1),
        Row("rival", (0.1,), 0.2, about="rival"),
        Row("ours", (0.1,), 0.2, kind="at most", about="question"),
    )
    said = count([Finding(items()["nsdr-figure-1"], rows)])
    assert "Of 1 figures and claims of the papers about their own methods: 1 reproduced." in said
    assert "Of 1 figures of rivals that the papers print: 1 differs." in said
    assert "Of 1 questions of our own: 1 yes." in said


def test_reports_name_the_commit_and_what_is_not_covered():
    item = items()["nsdr-figure-1"]
    found = [Finding(item, (Row("x", (0.1,), 0.1),))]
    gaps = [NotCovered(item.paper, "Table 9", "no <data>"), NotCovered("another paper", "Table 8", "unseen")]
    for page in (to_markdown(found, "x", "full", gaps), to_html(found, "x", "full", gaps)):
        assert code_version() in page
        assert "Table 9" in page
        assert "Table 8" not in page
    assert re.fullmatch(r"commit [0-9a-f]{7,}(, with changes)?|version .+", code_version())


@pytest.mark.papers
def test_a_table_on_the_benchmark_sets(tmp_path, data_dir):
    assert run(tmp_path, "snf-figure-1", "--quick", "--data-dir", str(data_dir)) == 0
    assert "SNF's error" in (tmp_path / "out.md").read_text()
