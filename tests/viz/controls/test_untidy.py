"""A table of one's own that is not tidy: from the file to a run, a link, a saved state and a program."""

import io
import re
import zipfile
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer

from supdr.datasets import preview, read_file
from supdr.sensitivity.splits import splits_of
from supdr_viz.controls.upload import likely_target
from supdr_viz.data.columns import names_from_text, names_to_text, reading_options, views_from_text, views_to_text
from supdr_viz.experiment.build import Unusable, build_dataset, build_estimator, check_columns
from supdr_viz.experiment.codec import link_entries
from supdr_viz.experiment.settings import Settings, from_json, parse_entries, to_json
from supdr_viz.experiment.snippet import to_python
from supdr_viz.experiment.splitting import filled, split
from supdr_viz.pages.sensitivity.command import load_data
from supdr_viz.pages.sensitivity.settings import Axis, SweepSettings, build_sweep
from tests.bad_input.workbooks import workbook
from tests.browser.own_tables import FILES, TARGETS
from tests.viz.visitor import Visitor

ROWS = 60
OPENING = "?data=moons&data.n_samples=60&method=LSDR"


def messy(gaps=0):
    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % 2
    frame = pd.DataFrame(
        {
            "id": rng.permutation(ROWS) + 1000,
            "when": pd.date_range("2024-01-01", periods=ROWS).strftime("%Y-%m-%d"),
            "who": [f"person {k}" for k in range(ROWS)],
            "unit": "cm",
            "a": rng.normal(size=ROWS) + 2 * y,
            "b": rng.normal(size=ROWS),
            "shade, dark": np.resize(["red", "green", "blue"], ROWS),
            "class": np.array(["no", "yes"])[y],
        }
    )
    frame.loc[: gaps - 1, "b"] = np.nan
    return frame.to_csv(index=False)


def upload(visitor, content, name="mine.csv"):
    visitor.choose("Data set", "A file …").upload(name, content)
    return visitor


def columns(visitor):
    return next(each for each in visitor.page.select() if type(each).__name__ == "ColumnTable")


def roles(visitor):
    return {name: role for name, role in columns(visitor).roles.items() if role != "use"}


def test_from_an_untidy_file_to_a_run_and_back_by_its_link():
    with Visitor(OPENING) as visitor:
        upload(visitor, messy())
        left_out = dict.fromkeys(["id", "when", "who", "unit"], "leave out")
        assert roles(visitor) == {**left_out, "class": "target"}
        assert {each["name"]: each["against"] for each in columns(visitor).columns}["when"] == "a date"
        chosen = {**columns(visitor).roles, "unit": "use", "b": "leave out"}
        visitor.do(lambda: columns(visitor).param.update(roles=chosen))
        visitor.press("Use this file").settle()
        assert visitor.stands == ("ready", 0)
        assert visitor.sees("42 training and 18 test rows, 5 features")
        query = visitor.query
    assert "data.ignore=id,when,who,b" in query
    with Visitor(f"?{query}") as visitor:
        visitor.upload("mine.csv", messy())
        assert roles(visitor) == {**dict.fromkeys(["id", "when", "who", "b"], "leave out"), "class": "target"}
        visitor.press("Use this file").settle()
        assert visitor.query == query
        assert visitor.stands == ("ready", 0)


def described():
    """Rows of an array, and a table that describes them."""
    rng = np.random.default_rng(1)
    numbers, made = io.BytesIO(), io.BytesIO()
    np.save(numbers, rng.normal(size=(ROWS, 4)) + 2 * (np.arange(ROWS) % 2)[:, None])
    rows = "".join(f"{rng.normal():.3f},{'abc'[k % 3]},{'xy'[k % 2]}\n" for k in range(ROWS))
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("numbers.npy", numbers.getvalue())
        archive.writestr("rows.csv", f"depth,batch,kind\n{rows}")
    return made.getvalue()


@pytest.mark.parametrize(
    ("left_out", "features"),
    [
        pytest.param((), 8, marks=pytest.mark.slow),
        pytest.param(("depth",), 7, marks=pytest.mark.slow),
        (("depth", "batch"), 4),
    ],
)
def test_a_choice_of_columns_that_describe_rows_survives_link_program_and_sweep(left_out, features, tmp_path):
    (tmp_path / "rows.zip").write_bytes(described())
    with Visitor(OPENING) as visitor:
        upload(visitor, described(), "rows.zip")
        assert roles(visitor) == {"depth": "leave out", "batch": "leave out", "kind": "target"}
        chosen = {**dict.fromkeys(("depth", "batch"), "use"), **dict.fromkeys(left_out, "leave out")}
        visitor.do(lambda: columns(visitor).param.update(roles={**columns(visitor).roles, **chosen}))
        visitor.press("Use this file").settle()
        query = visitor.query
    with Visitor(f"?{query}") as visitor:
        visitor.upload("rows.zip", described())
        assert roles(visitor) == {**dict.fromkeys(left_out, "leave out"), "kind": "target"}
        visitor.press("Use this file").settle()
        assert visitor.sees(f"test rows, {features} features")
        assert visitor.query == query
    settings, problems = parse_entries(link_entries(f"?{query}"))
    assert not problems
    again = read_file(tmp_path / "rows.zip", **reading_options(settings.data_options))
    assert again.n_features == features
    swept = load_data(SweepSettings(settings, (Axis("reg_u", "log", 0.01, 1.0, 2),)), {}, tmp_path)
    np.testing.assert_array_equal(swept.X, again.X)


def test_a_target_that_the_library_would_choose_survives_the_link_though_the_page_proposes_another():
    text = "x,z,code\n" + "".join(f"{k % 9},{'pq'[k % 2]},{k + 5}\n" for k in range(ROWS))
    look = preview(text.encode(), "mine.csv")
    assert (look.target, likely_target(look)) == ("code", "z")
    with Visitor(OPENING) as visitor:
        upload(visitor, text).choose("Target", "code").press("Use this file").settle()
        query = visitor.query
    with Visitor(f"?{query}") as visitor:
        upload(visitor, text)
        assert visitor.widget("Target").value == "code"


def test_a_sheet_of_a_workbook_is_part_of_the_link():
    frame = pd.read_csv(io.StringIO(messy()))[["a", "b", "class"]]
    rows = [list(frame.columns), *(list(row) for row in frame.itertuples(index=False))]
    data = workbook(readme=[["What", "is", "this"], *[[1, 2, 0], [2, 1, 1]] * 5], mine=rows)
    with Visitor(OPENING) as visitor:
        visitor.choose("Data set", "A file …").upload("mine.xlsx", data)
        assert visitor.sees("mine.xlsx: 10 rows, 3 columns (sheet 'readme' of an Excel workbook)")
        visitor.choose("Sheet", "mine").settle()
        assert visitor.sees("mine.xlsx: 60 rows, 3 columns (sheet 'mine' of an Excel workbook)")
        visitor.press("Use this file").settle()
        assert visitor.stands == ("ready", 0)
        query = visitor.query
    assert "data.sheet=mine" in query
    with Visitor(f"?{query}") as visitor:
        visitor.upload("mine.xlsx", data)
        assert visitor.sees("60 rows, 3 columns (sheet 'mine'")
        visitor.press("Use this file").settle()
        assert visitor.query == query


def test_a_link_from_before_columns_could_be_left_out_leaves_none_out():
    with Visitor("?data=file&data.name=mine.csv&method=LSDR") as visitor:
        visitor.upload("mine.csv", messy())
        assert roles(visitor) == {"class": "target"}
        visitor.press("Use this file").settle()
        assert visitor.sees("8 features")
        assert visitor.stands == ("ready", 0)


def test_a_text_of_many_values_that_come_again_is_the_target():
    rows = [f"{k},{k * k % 7},{town}" for k, town in enumerate([f"town {k:02d}" for k in range(30)] * 4)]
    with Visitor(OPENING) as visitor:
        upload(visitor, "\n".join(["x,z,town", *rows]))
        assert roles(visitor) == {"x": "leave out", "town": "target"}  # rows are numbered by x
        upload(visitor, "\n".join(["x,z,note", *(f"{k % 9},{k},word {k}" for k in range(60))]), "other.csv")
        assert roles(visitor)["note"] == "leave out"


def test_another_target_leaves_one_target():
    with Visitor(OPENING) as visitor:
        upload(visitor, messy())
        visitor.do(lambda: columns(visitor).param.update(roles={**columns(visitor).roles, "a": "target"}))
        assert visitor.widget("Target").value == "a"
        assert visitor.widget("Task").value == "regression"
        visitor.choose("Target", "shade, dark").settle()
        assert [name for name, role in columns(visitor).roles.items() if role == "target"] == ["shade, dark"]


def test_groups_of_columns_are_views():
    with Visitor("?data=moons&data.n_samples=60&method=SLDR&method.n_init=1") as visitor:
        upload(visitor, messy())
        visitor.do(lambda: columns(visitor).param.update(views={"a": "size", "b": "size", "shade, dark": "look"}))
        visitor.press("Use this file").settle()
        assert visitor.sees("Views: size (2), look (3).")
        for view in ("size", "look"):
            assert re.search(rf"{view} \d+ %", visitor.text)


def test_a_table_can_be_pasted():
    with Visitor(OPENING) as visitor:
        visitor.choose("Data set", "A file …").open_fold("Paste a table")
        visitor.enter("Rows, the first with names", messy().replace('"shade, dark"', "shade").replace(",", "\t"))
        visitor.press("Preview").settle()
        assert visitor.sees("pasted.csv: 60 rows, 8 columns")
        visitor.press("Use this file").settle()
        assert "data.name=pasted.csv" in visitor.query
        assert visitor.stands == ("ready", 0)


@pytest.mark.parametrize("method", [pytest.param("MAC", marks=pytest.mark.slow), "SLDR"])
def test_missing_cells_are_filled_for_methods_that_need_every_cell(method):
    with Visitor(OPENING) as visitor:
        upload(visitor, messy(gaps=9)).choose("Missing cells", "fill with means").press("Use this file").settle()
        assert not visitor.sees("cells are filled")
        visitor.choose("Method", method).settle()
        assert visitor.sees(
            f"9 missing cells are filled with the means of the training rows: {method} needs every cell"
        )
        visitor.press("Step").settle()
        assert visitor.stands == ("paused", 1)
        assert visitor.number("test error") < 50


def test_where_they_are_not_filled_other_methods_are_named():
    with Visitor(OPENING) as visitor:
        upload(visitor, messy(gaps=9)).choose("Missing cells", "leave missing").press("Use this file").settle()
        assert visitor.stands == ("ready", 0)
        visitor.choose("Method", "MAC").settle()
        assert visitor.sees("MAC needs every cell and 9 are missing")
        assert visitor.sees("NSDR, LSDR, SDR-GLM and SNF")


FILE = Settings(
    data="file",
    data_options={
        "name": "mine.csv",
        "ignore": "id,when,who,unit",
        "groups": '"size:a","size:b","look:shade, dark"',
        "impute": "median",
    },
    method="SLDR",
)


def test_the_choice_is_part_of_saved_settings():
    again, problems = from_json(to_json(FILE))
    assert again == FILE
    assert not problems


def test_a_program_repeats_the_choice(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text(messy(gaps=9))
    options = FILE.data_options
    dataset = build_dataset(
        FILE,
        read_file("mine.csv", ignore=names_from_text(options["ignore"]), groups=views_from_text(options["groups"])),
    )
    parts = filled(split(dataset, FILE), FILE, dataset)
    model = build_estimator(FILE, dataset.task, len(parts.train), dataset.views).fit(parts.X_train, parts.y_train)
    program = to_python(FILE, [], dataset)
    assert "SimpleImputer" in program
    exec(program, {})
    said = dict(line.rsplit(" ", 1) for line in capsys.readouterr().out.splitlines())
    assert float(said["test error"]) == pytest.approx(1 - model.score(parts.X_test, parts.y_test))


def test_cells_are_filled_by_training_rows_only():
    dataset = read_file(messy(gaps=9).encode(), name="mine.csv", ignore=["id", "when", "who", "unit"])
    settings = Settings(data="file", data_options={"name": "mine.csv", "impute": "mean"}, method="MAC")
    parts = split(dataset, settings)
    whole = filled(parts, settings, dataset)
    b = dataset.feature_names.index("b")
    assert not np.isnan(whole.X_test).any()
    assert whole.X_train[np.isnan(parts.X_train[:, b]), b] == pytest.approx(np.nanmean(parts.X_train[:, b]))
    assert whole.X_test[np.isnan(parts.X_test[:, b]), b] == pytest.approx(np.nanmean(parts.X_train[:, b]))
    kept = Settings(data="file", data_options=settings.data_options, method="NSDR")
    assert filled(parts, kept, dataset) is parts


def test_a_sweep_fills_cells_as_runs_do():
    """The cell of a sweep is the run with its parameters on its split, cell by cell of the table."""
    dataset = read_file(messy(gaps=9).encode(), name="mine.csv", ignore=["id", "when", "who", "unit"])
    options = {"name": "mine.csv", "impute": "mean"}
    base = Settings(data="file", data_options=options, method="MAC", method_options={"max_iter": 3, "n_centers": 20})
    wanted = SweepSettings(base, (Axis("reg_w", "log", 0.01, 1.0, 2),), folds=3, metric="error")
    sweep, X, y = build_sweep(wanted, dataset)
    assert np.isnan(X).any()
    for cell in sweep.run(X, y, "in-process"):
        for outcome, (train, test) in zip(cell.outcomes, splits_of(3, X, y, 0, classification=True)):
            imputer = SimpleImputer(strategy="mean", keep_empty_features=True).fit(X[train])
            model = clone(sweep.estimator).set_params(**cell.params, random_state=0)
            model.fit(imputer.transform(X[train]), y[train])
            assert outcome.error == ""
            assert outcome.scores["error"] == pytest.approx(1 - model.score(imputer.transform(X[test]), y[test]))
    with pytest.raises(ValueError, match="needs every cell and 9 are missing"):
        build_sweep(replace(wanted, base=replace(base, data_options={**options, "impute": "none"})), dataset)


def test_a_gap_may_be_in_a_test_row_only():
    """Rows that were complete would be whitened, and where a row with a gap lies then nobody can say."""
    limits = ["limits:crp", "limits:il6"]
    dataset = read_file(FILES["laboratory.csv"](), name="laboratory.csv", ignore=["sample"], accept=limits)
    settings = Settings(data="file", data_options={"name": "laboratory.csv"}, method="LSDR")
    assert np.isnan(split(dataset, settings).X_test).sum() == np.isnan(dataset.X).sum() == 1
    with Visitor(OPENING) as visitor:
        upload(visitor, FILES["laboratory.csv"](), "laboratory.csv").press("Use this file").settle()
        assert visitor.stands == ("ready", 0)
        assert visitor.press("Step").settle().stands == ("paused", 1)
    sweep, X, y = build_sweep(SweepSettings(settings, (Axis("reg_u", "log", 0.01, 1.0, 2),), folds=3), dataset)
    assert not [outcome.error for cell in sweep.run(X, y, "in-process") for outcome in cell.outcomes if outcome.error]
    assert "preprocessing='zscore'" in to_python(settings, [], dataset).replace('"', "'")


UNITS = "mass,size,rest,kind\n" + "".join(
    f"{k}.5 kg,{'mM'[k % 2]},{'<' if k % 4 == 0 else ''}{k * 7 % 60},{'ab'[k % 3 > 0]}\n" for k in range(60)
)


def switches(visitor):
    return {each["key"]: each["accepted"] for each in columns(visitor).proposals if each["key"] != "header"}


def switch(visitor, **rules):
    visitor.do(lambda: columns(visitor).param.update(rules={key.replace("__", ":"): on for key, on in rules.items()}))
    return visitor.settle()


def test_proposals_have_switches_that_are_part_of_the_link_and_of_the_program():
    with Visitor(OPENING) as visitor:
        upload(visitor, UNITS, "units.csv")
        off = dict.fromkeys(["limits:rest", "missing:rest", "spelling:size"], False)
        assert switches(visitor) == {"numbers:mass": True, **off}
        assert {each["key"]: each["size"] for each in columns(visitor).proposals}["limits:rest"] == "15 cells"
        switch(visitor, limits__rest=True)
        switch(visitor, numbers__mass=False)
        assert switches(visitor) == {"numbers:mass": False, "limits:rest": True, "spelling:size": False}
        kinds = {each["name"]: each["kind"] for each in columns(visitor).columns}
        assert kinds == {"mass": "text", "size": "text", "rest": "number", "kind": "text"}
        visitor.do(lambda: columns(visitor).param.update(roles={**columns(visitor).roles, "mass": "leave out"}))
        visitor.press("Use this file").settle()
        query = visitor.query
    assert "data.accept=limits:rest&data.decline=numbers:mass" in unquote(query)
    with Visitor(f"?{query}") as visitor:
        upload(visitor, UNITS, "units.csv")
        assert switches(visitor)["limits:rest"] is True
        assert roles(visitor) == {"mass": "leave out", "kind": "target"}
        visitor.press("Use this file").settle()
        assert visitor.query == query


def test_an_odd_cell_among_numbers_stays_until_its_proposal_is_accepted():
    text = "x,z,kind\n" + "".join(f"{'--0.5' if k == 7 else k / 2},{k % 5 / 2},{'ab'[k % 2]}\n" for k in range(60))
    with Visitor(OPENING) as visitor:
        upload(visitor, text, "odd.csv")
        assert [(each["key"], each["size"]) for each in columns(visitor).proposals][-1] == ("missing:x", "1 cell")
        assert switches(visitor) == {"missing:x": False}
        assert roles(visitor) == {"kind": "target"}
        visitor.press("Use this file").settle()
        assert visitor.sees("test rows, 3 features")
        assert visitor.press("Step").settle().stands == ("paused", 1)
        visitor.press("Change the columns").settle()
        switch(visitor, missing__x=True)
        visitor.press("Use this file").settle()
        assert visitor.sees("test rows, 2 features")
        assert "data.accept=missing:x" in unquote(visitor.query)


def test_a_target_with_an_odd_cell_names_the_switch_and_stays_the_target():
    text = "w,z,x\n" + "".join(f"{k % 7},{k % 5},{'--0.5' if k == 7 else k / 2}\n" for k in range(60))
    with Visitor(OPENING) as visitor:
        upload(visitor, text, "odd.csv").press("Use this file").settle()
        assert visitor.sees("Column 'x' holds '--0.5' in row 8, which is not a number. To accept 'missing:x'")
        assert roles(visitor) == {"x": "target"}
        switch(visitor, missing__x=True)
        visitor.press("Use this file").settle()
        assert visitor.stands == ("ready", 0)


def test_a_program_reads_a_file_under_the_rules_that_were_chosen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "units.csv").write_text(UNITS)
    rules = {"accept": "limits:rest", "decline": "numbers:mass", "ignore": "mass", "missing": "?,NA"}
    chosen = Settings(data="file", data_options={"name": "units.csv", **rules}, method="LSDR")
    program = to_python(chosen, [], read_file("units.csv", **reading_options(chosen.data_options)))
    options = {"accept": ["limits:rest"], "decline": ["numbers:mass"], "missing": ["", "?", "NA"]}
    for name, value in options.items():
        assert f"{name}={value!r}" in program
    exec(program, {})


def test_what_was_chosen_stays_when_a_file_is_read_under_other_rules():
    with Visitor(OPENING) as visitor:
        upload(visitor, UNITS, "units.csv").choose("Target", "size").settle()
        switch(visitor, limits__rest=True)
        assert visitor.widget("Target").value == "size"
        switch(visitor, limits__rest=False)
        assert roles(visitor)["size"] == "target"


def test_a_switch_with_which_the_file_cannot_be_read_goes_back():
    with Visitor(OPENING) as visitor:
        upload(visitor, "Weights of 2024\n" + UNITS, "units.csv")
        switch(visitor, titles=False)
        assert visitor.sees("Line 2 has 4 cells, the first line has 1.")
        assert switches(visitor)["titles"] is True


def test_what_is_written_for_a_missing_cell_can_be_changed():
    text = "land,x,kind\n" + "".join(f"{('DE', 'NA')[k % 2]},{k},{'ab'[k % 3 > 0]}\n" for k in range(60))
    with Visitor(OPENING) as visitor:
        upload(visitor, text, "lands.csv")
        assert visitor.sees("Read as missing: 'NA' (30 cells).")
        visitor.enter("Written for a missing cell", "?").settle()
        assert {each["name"]: each["missing"] for each in columns(visitor).columns}["land"] == 0
        visitor.press("Use this file").settle()
        assert "data.missing=?" in unquote(visitor.query)


@pytest.mark.parametrize(
    "method", ["KNN", *(pytest.param(name, marks=pytest.mark.slow) for name in ("MAC", "SLDR", "ClassAtlas"))]
)
def test_a_method_that_was_chosen_stays_chosen_where_cells_are_missing(method):
    with Visitor(OPENING.replace("LSDR", method)) as visitor:
        upload(visitor, messy(gaps=1)).press("Use this file").settle()
        assert visitor.widget("Method").value == method
        assert visitor.sees("1 missing cells are filled with the medians of the training rows")


def test_where_a_method_cannot_stay_a_sentence_says_so():
    with Visitor(OPENING.replace("LSDR", "MAC")) as visitor:
        upload(visitor, messy()).choose("Target", "a").press("Use this file").settle()
        method = visitor.widget("Method").value
        assert method != "MAC"
        assert visitor.sees("MAC predicts classes: ")
        assert visitor.sees("was chosen in its place; choose another above.")


def test_a_target_that_is_called_so_stays_the_target_though_it_is_constant():
    text = "x,z,class,shade\n" + "".join(f"{k},{k % 5},same,{'ab'[k % 2]}\n" for k in range(60))
    with Visitor(OPENING) as visitor:
        upload(visitor, text)
        assert roles(visitor)["class"] == "target"
        visitor.press("Use this file").settle()
        assert visitor.sees("Target 'class' has only one class, 'same'; at least two are needed.")


def test_a_list_of_thousands_of_columns_is_not_cut():
    names = [f"measure {k:04d} of many" for k in range(600)]
    settings = Settings(data="file", data_options={"name": "wide.csv", "ignore": names_to_text(names)})
    again, problems = from_json(to_json(settings))
    assert names_from_text(again.data_options["ignore"]) == names
    assert not problems


def test_rows_without_any_cell_are_named_as_the_file_counts_them():
    dataset = read_file(messy().encode(), name="mine.csv", ignore=["id", "when", "who", "unit"])
    X = dataset.X.copy()
    X[[4, 51]] = np.nan
    settings = Settings(data="file", data_options={"name": "mine.csv"}, method="NSDR")
    with pytest.raises(Unusable, match="Rows 5, 52 have no value in any feature, and NSDR places rows by"):
        check_columns(settings, replace(dataset, X=X))


def test_names_with_commas_and_quotes_survive():
    names = ["plain", "with, comma", 'with "quotes"', " spaced "]
    assert names_from_text(names_to_text(names)) == names
    views = dict.fromkeys(names[:2], "left") | {names[2]: "right"}
    assert views_from_text(views_to_text(views)) == {"left": names[:2], "right": names[2:3]}


@pytest.mark.parametrize("name", FILES)
def test_a_table_as_people_have_it_is_understood_as_it_was_meant(name):
    look = preview(FILES[name](), name)
    target = likely_target(look)
    assert target == TARGETS[name]
    dataset = look.read(target=target, ignore=look.suggested(target))
    assert dataset.n_features > 1
    assert dataset.task == ("regression" if target in ("power", "price") else "classification")
