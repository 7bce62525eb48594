"""Tables from outside: one reader for links, files, lessons and sweeps."""

import pytest

from supdr_viz.experiment.codec import arguments_entries, link_entries
from supdr_viz.experiment.reader import Reader
from supdr_viz.experiment.settings import SPEED, SPLIT_FORM, read_settings

QUERY = "data=moons&data.noise=0.2&method=LSDR&seed=3"


@pytest.mark.parametrize("link", [QUERY, f"?{QUERY}", f"http://host:5006/explorer?{QUERY}", f"explorer?{QUERY}#part"])
def test_a_link_and_its_query_alone_are_the_same_entries(link):
    assert link_entries(link) == {"data": "moons", "data.noise": "0.2", "method": "LSDR", "seed": "3"}


@pytest.mark.parametrize("link", ["", "?", "http://[broken", "&".join(f"n{k}=1" for k in range(500))])
def test_what_is_no_link_has_no_entries(link):
    assert link_entries(link) == {}


def test_the_last_value_of_an_argument_counts():
    assert arguments_entries({"seed": [b"1", b"2"], "data": b"moons"}) == {"seed": "2", "data": "moons"}


def test_what_is_read_is_gone_and_the_rest_is_named():
    reader = Reader({"seed": "7", "test": "0.2", "junk": "1"})
    assert reader.options(SPLIT_FORM) == {"seed": 7, "test": 0.2}
    assert list(reader.entries) == ["junk"]
    reader.finish()
    [problem] = reader.problems
    assert "junk" in problem


def test_what_is_missing_is_the_default_without_a_word():
    reader = Reader({})
    assert reader.option(SPEED) == SPEED.default
    assert reader.problems == []


def test_readers_share_a_list_of_problems_and_say_where_each_is():
    problems = []
    for column in "AB":
        read_settings(Reader({"method": "magic", "speed": "warp"}, f"Column {column}: ", problems))
    assert [sentence[:9] for sentence in problems] == ["Column A:", "Column A:", "Column B:", "Column B:"]
    assert all(sentence.endswith(".") for sentence in problems)


def test_lists_of_files_read_like_texts_of_links():
    from_file = read_settings(Reader({"data": "moons", "view.plane": [0, 2], "drawn": [[1, 2, 0], [0.5, 1, 1]]}))
    from_link = read_settings(Reader({"data": "moons", "view.plane": "0,2", "drawn": "1,2,0;0.5,1,1"}))
    assert from_file == from_link
    assert len(from_file.drawn) == 2
