"""What a soak says of itself: every budget is judged, and nothing that was said to be wrong is left out."""

from collections import Counter

import pytest

from tests.live.report import Soak, lines, page


def soak_of(**changed):
    """Return a soak in which all went well, but for what is given."""
    well = {
        "minutes": 30,
        "visitors": 20,
        "seed": 0,
        "done": Counter(visit=335, cut=40, key=40, value=60),
        "frames": 1000,
        "waits": [0.01] * 98 + [0.9, 2.0],
        "answers": [0.02, 0.03],
        "memory": [300.0, 900.0, 500.0],
        "growth": 0.7,
        "left": {"jobs": 0, "players": 0, "documents": 0},
        "browser": (2_745, 31),
        "errors": {"server": [], "visitor": []},
    }
    return Soak(**{**well, **changed})


def test_a_page_of_the_documentation_has_all_figures():
    text = page(soak_of(), "2 processors")
    assert "| pages opened | 335; 40 of them were killed while they opened |" in text
    assert "| actions | 100 (40 key, 60 value) |" in text
    assert "50 % 0.010 s; 95 % 0.010 s; 99 % 0.911 s; the slowest 2.0 s" in text
    assert "300 MB at first, 900 MB at most, 500 MB at the end" in text
    assert "2,745 actions on 31 pages" in text
    assert text.count("| kept |") == 4
    assert "not kept" not in text
    assert "--minutes 30 --visitors 20 --seed 0" in text
    assert soak_of().findings == 0


@pytest.mark.parametrize(
    ("changed", "findings"),
    [
        ({"waits": [0.01] * 90 + [1.5] * 10}, 1),
        ({"growth": 1.2}, 1),
        ({"left": {"jobs": 0, "players": 0, "documents": 1}, "held_by": ["Document: module a → <b>.c"]}, 1),
        ({"errors": {"server": ["Traceback `x` <b>\nmore"], "browser": ["TypeError"] * 30}}, 31),
    ],
)
def test_a_budget_that_is_not_kept_is_a_finding(changed, findings):
    soak = soak_of(**changed)
    assert soak.findings == findings
    text = page(soak, "")
    assert text.count("**not kept**") == 1
    assert lines(soak)[-1] == f"30 minutes, 20 visitors: {findings} findings"
    if "held_by" in changed:
        assert "- `Document: module a → &lt;b&gt;.c`" in text
        assert "left: Document: module a → <b>.c" in lines(soak)
    if "errors" in changed:
        assert "- server: `Traceback 'x' &lt;b&gt; more`" in text
        assert "- and 11 more" in text
        assert sum("TypeError" in line for line in lines(soak)) == 30
