"""The command that measures the papers' tables and figures: its list, its verdicts, its files, and that it resumes."""

import csv
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import ParameterGrid, ParameterSampler, train_test_split
from sklearn.neighbors import KNeighborsClassifier

from supdr.baselines import LogisticUDR
from supdr.datasets import Dataset, FileProblem, make_wide_factors
from supdr_viz.cli import main
from supdr_viz.papers.bench import RULE, Bench, Item, NotCovered, Row
from supdr_viz.papers.command import items, not_covered
from supdr_viz.papers.data import (
    MULTIFEAT,
    NoData,
    load_mnist,
    load_multifeat,
    load_pc_or_mac,
    load_proteinfold,
    load_round_trips,
    load_table,
    scaled,
)
from supdr_viz.papers.mac_protocol import by_validation, thirds
from supdr_viz.papers.nsdr_search import GRIDS, Searched
from supdr_viz.papers.report import Finding, code_version, count, figure, lines_of, to_csv, to_html, to_markdown
from supdr_viz.papers.sdr_glm import folded, in_own_span, paper_model, stacked, svdm
from supdr_viz.papers.sldr import PartAccuracy, Search

PAPERS = ("nsdr-table-2", "nsdr-figure-4", "mac-figure-6", "sldr-table-2", "sdr-glm-figure-1b", "snf-table-2")


def run(folder, *options, store=None):
    names = ["--store", str(store or folder / "s.sqlite"), "--out", str(folder / "out"), "--workers", "1"]
    return main(["reproduce", *options, *names])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of finished fits, for tests that need the same ones."""
    return tmp_path_factory.mktemp("store") / "s.sqlite"


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
    assert Row("x", noisy, 0.008).verdict == "undecided"
    assert Row("x", noisy * 4, 0.008).verdict == "not reproduced"
    assert Row("x", noisy * 4, 0.008).standard_error < Row("x", noisy, 0.008).standard_error


def test_a_quick_item_writes_three_files_and_is_not_computed_twice(tmp_path, store, capsys):
    assert run(tmp_path, "nsdr-figure-1", "--quick", store=store) == 0
    first = capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert [row["item"] for row in rows] == ["nsdr-figure-1"] * 5
    assert rows[0]["verdict"] == "reproduced"
    document = (tmp_path / "out.md").read_text()
    assert RULE in document
    assert "supdr-viz reproduce nsdr-figure-1 --quick" in document
    assert "quick protocols" in document
    page = (tmp_path / "out.html").read_text()
    assert page.count("<svg") == 5
    assert not re.search(r"""(src|href)=|https?://""", page)
    before = store.read_bytes()
    assert run(tmp_path, "nsdr-figure-1", "--quick", store=store) == 0
    assert capsys.readouterr().out == first
    assert store.read_bytes() == before


def test_missing_data_are_said_and_the_rest_goes_on(tmp_path, store, capsys):
    assert run(tmp_path, "sdr-glm-table-2", "nsdr-figure-1", "--quick", store=store) == 1
    said = capsys.readouterr().out
    assert "not measured: round-trip times are read from planetlab_rtt.npz" in said
    assert "reproduced      share of draws that LSDR separates" in said
    assert "Not measured: round-trip times" in (tmp_path / "out.md").read_text()


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
    with pytest.raises(NoData, match=r"proteinfold_reduced\.npz"):
        load_proteinfold(tmp_path)
    with pytest.raises(NoData, match="planetlab_rtt"):
        load_round_trips(tmp_path)
    np.savez(tmp_path / "planetlab_rtt.npz", rtt_median=np.eye(3, dtype=np.float32))
    np.testing.assert_array_equal(load_round_trips(tmp_path), np.eye(3))
    np.testing.assert_array_equal(scaled(np.array([[0.0, 7.0], [5.0, 7.0], [10.0, 7.0]])), [[-1.0], [0.0], [1.0]])


def six_tables(order=None, widths=None):
    """Return what OpenML would give of MULTIFEAT: every row says which view and which row it is; classes are texts."""
    digits = np.repeat(np.arange(10), 200)
    order = np.arange(2000) if order is None else order

    def load(name, *, task):
        view = [number for number, _ in MULTIFEAT.values()].index(name)
        width = (widths or {}).get(name, list(MULTIFEAT.values())[view][1])
        X = np.zeros((2000, width))
        X[:, 0], X[:, 1] = np.arange(2000)[order], view
        names, codes = np.unique(np.char.mod("%d", digits[order] + 1), return_inverse=True)  # "10" before "2"
        return Dataset(X=X, y=codes.astype(float), target_names=tuple(names), task=task)

    return load


def test_multifeat_comes_from_openml_row_by_row(tmp_path):
    X, y, sizes = load_multifeat(None, six_tables())
    assert sizes == (216, 76, 64, 6, 240, 47)
    begins = np.cumsum((0, *sizes[:-1]))
    np.testing.assert_array_equal(X[:, begins], np.tile(np.arange(2000.0)[:, None], 6))
    np.testing.assert_array_equal(X[0, begins + 1], np.arange(6))
    np.testing.assert_array_equal(y, np.repeat([0, 1], 1000))
    tables = dict(zip(MULTIFEAT, np.split(X + 0.5, begins[1:], axis=1)))
    np.savez(tmp_path / "multifeat.npz", y=np.repeat(np.arange(10), 200), **tables)
    np.testing.assert_array_equal(load_multifeat(tmp_path)[0], X + 0.5)  # a local copy comes first


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": np.random.default_rng(0).permutation(2000)}, "view fac on OpenML .* another order"),
        ({"order": np.r_[1, 200, 2:200, 0, 201:2000]}, "view fac on OpenML .* another order"),
        ({"widths": {"mfeat-zernike": 46}}, "view zer on OpenML .* 47 columns"),
    ],
)
def test_tables_in_another_order_or_of_another_width_are_refused(settings, message):
    with pytest.raises(NoData, match=message):
        load_multifeat(None, six_tables(**settings))


def test_without_a_network_multifeat_says_what_to_do(tmp_path):
    def unreachable(name, *, task):
        raise FileProblem("OpenML could not be reached")

    with pytest.raises(NoData, match=r"could not be reached.*name a folder with multifeat\.npz"):
        load_multifeat(tmp_path, unreachable)


def test_settings_are_chosen_by_validation_and_judged_on_other_rows():
    search = Search(
        [{"C": 1.0, "R": 1}, {"C": 10.0, "R": 1}, {"C": 1.0, "R": 2}],
        {"validation": np.array([[0.9, 0.8], [0.8, 0.8], [0.95, 0.9]]), "accuracy": np.array([[1, 2], [3, 4], [5, 6]])},
    )
    assert search.best().values["accuracy"] == (5.0, 6.0)
    assert search.best(R=1).values["accuracy"] == (1.0, 2.0)
    assert search.best(C=10.0).settings == {"C": 10.0, "R": 1}

    class Zero:
        def predict(self, X):
            return np.zeros(len(X))

    y = np.array([0, 0, 0, 1])
    assert PartAccuracy(0, 2)(Zero(), np.zeros((4, 1)), y) == 100.0
    assert PartAccuracy(2, 4)(Zero(), np.zeros((4, 1)), y) == 50.0


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


@pytest.mark.slow
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


CONTENTS = {
    "NSDR": (("Table 1", "Table 2"), ("Fig. 1", "Fig. 2", "Fig. 3", "Fig. 4")),
    "MAC": ((), ("Fig. 1", "Fig. 2", "Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6")),
    "SLDR": (("Table 1", "Table 2", "Table 3", "Table 4", "Table 5"), ("Fig. 1", "Fig. 2", "Fig. 3", "Fig. 4")),
    "SDR-GLM": (("Table 1", "Table 2", "Table 3", "Table 4"), ("Fig. 1a", "Fig. 1b", "Fig. 1c", "Fig. 2")),
    "SNF": (("Table 1", "Table 2"), ("Fig. 1",)),
}


@pytest.mark.parametrize("paper", CONTENTS)
def test_every_table_and_figure_is_measured_or_said_not_to_be(paper):
    titles = [item.title for item in items().values() if item.paper.split(" (")[0] == paper]
    titles += [gap.what for gap in not_covered() if gap.paper.split(" (")[0] == paper]
    for place in (*CONTENTS[paper][0], *CONTENTS[paper][1]):
        assert any(re.search(rf"{re.escape(place)}\b", title) for title in titles), place
    assert all(gap.reason.endswith((".", ")")) for gap in not_covered())


@pytest.mark.papers
def test_a_table_on_the_benchmark_sets(tmp_path, data_dir):
    assert run(tmp_path, "snf-figure-1", "--quick", "--data-dir", str(data_dir)) == 0
    assert "SNF's error" in (tmp_path / "out.md").read_text()


def test_the_search_for_nsdr_draws_from_the_printed_grid():
    learning_rates = 2 * 2
    assert len(ParameterGrid(GRIDS["NSDR"])) * learning_rates == 36_864


@pytest.mark.parametrize("method", ["NSDR", "LSDR"])
def test_the_search_takes_the_draw_with_the_least_validation_error(method):
    data = load_breast_cancer()
    X, y = data.data[:150], data.target[:150].astype(float)
    y[::5] = np.nan
    searched = Searched(method, n_draws=4, max_iter=3).fit(X, y)
    assert searched.transduction_.shape == (150,)
    best = searched.best_.get_params()
    rows = np.flatnonzero(~np.isnan(y))
    _, held_out = train_test_split(rows, test_size=0.25, stratify=y[rows], random_state=0)
    fewer = y.copy()
    fewer[held_out] = np.nan
    errors = {}
    for drawn in ParameterSampler(GRIDS[method], 4, random_state=0):
        settings = {**drawn, "n_components": max(1, round(drawn["share"] * 30))}
        del settings["share"]
        model = clone(searched.best_).set_params(**settings).fit(X, fewer)
        errors[tuple(settings.values())] = np.mean(model.transduction_[held_out] != y[held_out])
    assert len(errors) == 4
    assert errors[tuple(best[name] for name in settings)] == min(errors.values())


def test_a_parameter_is_chosen_by_the_validation_rows_and_judged_on_the_test_rows():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = y[:, None] + 0.3 * rng.standard_normal((120, 2))
    splits = thirds(y, 2)
    for train, held in splits:
        assert not set(train) & set(held)
    for rows in (held[: len(held) // 2] for _, held in splits):
        assert 0 < y[rows].sum() < len(rows)
    chosen = by_validation(Bench(), KNeighborsClassifier(), X, y, splits, {"n_neighbors": [72, 1]})
    one = by_validation(Bench(), KNeighborsClassifier(1), X, y, splits)
    all_ = by_validation(Bench(), KNeighborsClassifier(72), X, y, splits)
    assert chosen == one
    assert max(one) < min(all_)


def test_images_and_words_are_read_from_a_folder(tmp_path):
    rng = np.random.default_rng(0)
    images = {"X_train": rng.integers(0, 255, (5, 28, 28), np.uint8), "X_test": np.zeros((2, 784), np.uint8)}
    np.savez(tmp_path / "mnist.npz", **images, y_train=np.arange(5)[:, None], y_test=np.arange(2))
    X, y, X_test, y_test = load_mnist(tmp_path)
    assert (images["X_train"].reshape(5, 784) == X).all()
    assert X_test.shape == (2, 784)
    assert y.tolist() == [0, 1, 2, 3, 4]
    assert list(y_test) == [0, 1]
    np.savez(tmp_path / "pcmac.npz", X=np.ones((4, 3), np.uint8), y=np.array([0, 0, 1, 1]))
    X, y = load_pc_or_mac(tmp_path)
    assert X.dtype == float
    assert y.tolist() == [0, 0, 1, 1]
