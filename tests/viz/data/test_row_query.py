"""What visitors look for among rows: read by a grammar of its own, never run."""

import contextlib

import numpy as np
import pytest

from supdr_viz.data.row_query import LONGEST, QueryProblem, Rows, column_named, matching
from supdr_viz.pictures.row_columns import Column

COLUMNS = {
    "petal length (cm)": Column("petal length (cm)", np.array([1.0, 5.5, 6.0, np.nan])),
    "petal_width": Column("petal_width", np.array([0.2, 1.0, 2.0, 3.0])),
    "species": Column("species", np.array([0.0, 1.0, 1.0, np.nan]), ("setosa", "Virginica rosea")),
    "kind": Column("kind", np.array([1.0, 0.0, 1.0, 1.0]), ("Virginica rosea", "setosa")),
    "year": Column("year", np.array([0.0, 1.0, 0.0, 1.0]), ("2007", "2008")),
}
ROWS = Rows(4, list(COLUMNS), COLUMNS.__getitem__, lambda text: np.array([text == "setosa", text == "3", False, False]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("petal length > 5", [1, 2]),
        ("petal length >= 5.5 and petal_width < 2", [1]),
        ("Petal Width = 0,2 or petal width ≥ 3", [0, 3]),
        ("species = SETOSA", [0]),
        ("species != setosa", [1, 2]),
        ("species ~ rosea", [1, 2]),
        ('species = "virginica rosea"', [1, 2]),
        ("species = virginica rosea", [1, 2]),
        ("year > 2007", [1, 3]),
        ("species = kind", [0, 1]),
        ("species != kind", [2]),
        ("petal length > 2 and petal_width < Petal Length", [1, 2]),
        ("year = 2007.0", [0, 2]),
        ("not petal length > 5", [0, 3]),
        ("not (species = setosa or petal width > 1.5)", [1]),
        ("setosa", [0]),
        ("setosa or 3", [0, 1]),
        ("petal width > 0 and not not species = setosa", [0]),
        ("'petal length (cm)' < 2", [0]),
        ("petal width ~ 0.", [0]),
    ],
)
def test_queries(text, expected):
    np.testing.assert_array_equal(np.flatnonzero(matching(text, ROWS)), expected)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("height > 5", "no column 'height'"),
        ("petal > 5", "several columns"),
        ("petal length > long", "holds numbers"),
        ("species = otter", "no value 'otter'; it has setosa, Virginica rosea"),
        ("species != otter", "no value 'otter'"),
        ("species = petal_width", "cannot be compared"),
        ("petal length >", "Expected a column or a value"),
        ("> 5", "Expected a column or a value"),
        ("(petal length > 5", "not closed"),
        ("petal length > 5)", "Did not expect"),
        ("and", "Expected a column or a value"),
        ("petal length > 5 and", "Expected a column or a value"),
        ("(" * 100 + "setosa" + ")" * 100, "deep at most"),
        ("not " * 60 + "setosa", "deep at most"),
        ("x" * (LONGEST + 1), "At most"),
        ("", "Expected a column or a value"),
    ],
)
def test_what_is_no_query_is_refused_in_a_sentence(text, words):
    with pytest.raises(QueryProblem, match=words):
        matching(text, ROWS)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('false')",
        "@pd.read_csv('x') = 1",
        "species.str.len() > 3",
        "petal_width.__class__ = 1",
        "`species` = setosa",
        "petal_width = 1; drop",
        "!",
        "'",
    ],
)
def test_a_program_is_no_query(text):
    try:
        mask = matching(text, ROWS)
    except QueryProblem:
        return
    assert mask.shape == (4,)


def test_random_text_is_read_or_refused():
    rng = np.random.default_rng(0)
    pieces = ["and", "or", "not", "(", ")", ">", "=", "~", "species", "petal", "5", '"', "'"]
    read = 0
    for _ in range(300):
        text = " ".join(rng.choice(pieces, rng.integers(1, 12)))
        with contextlib.suppress(QueryProblem):
            read += matching(text, ROWS).dtype == bool
    assert read > 10


def test_a_column_is_named_by_its_beginning_or_a_part():
    names = ["sepal length", "sepal width", "width"]
    assert column_named("SEPAL  length", names) == "sepal length"
    assert column_named("width", names) == "width"
    assert column_named("len", names) == "sepal length"
