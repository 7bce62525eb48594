"""The stage without a browser: the form of its messages, and that only news is sent."""

import json

import numpy as np
import pytest

from supdr_viz.pictures.packed_positions import HIDDEN, LEVELS, packed_places, unpacked_places
from supdr_viz.views.stage.stage import Selection, Stage
from supdr_viz.views.stage.wire import Tail, decode, encode, merge, packed_bits


def told(stage):
    """Messages that a stage sends from now on, decoded."""
    messages = []
    stage.connect(lambda message: messages.append(decode(message)))
    messages.clear()
    return messages


def test_a_patch_comes_back_as_it_was():
    patch = {
        "text": "é \u2212 <b>",
        "nothing": None,
        "flag": True,
        "planes": {"a": {"bytes": np.arange(5, dtype=np.uint8), "empty": np.zeros((0, 2), dtype=np.float32)}},
        "list": [1, 2.5, {"places": np.arange(6, dtype=np.int16).reshape(3, 2)}],
        "numbers": np.array([1.7e9 + 0.25, np.nan, np.inf]),
        "rows": np.array([7, -1], dtype=np.int32),
    }
    found = decode(encode(patch))
    assert found["text"] == patch["text"]
    assert found["nothing"] is None
    assert found["flag"] is True
    assert found["list"][:2] == [1, 2.5]
    for one, other in (
        (found["planes"]["a"]["bytes"], patch["planes"]["a"]["bytes"]),
        (found["planes"]["a"]["empty"], patch["planes"]["a"]["empty"]),
        (found["list"][2]["places"], patch["list"][2]["places"]),
        (found["numbers"], patch["numbers"]),
        (found["rows"], patch["rows"]),
    ):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_arrays_are_aligned_and_the_head_is_plain_json():
    message = encode({"a": np.zeros(3, dtype=np.uint8), "b": np.zeros(3, dtype=np.float32), "c": float("nan")})
    length = int.from_bytes(message[:4], "little")
    head = json.loads(message[4 : 4 + length])
    assert head["patch"]["c"] is None
    assert [first % 8 for _type, _shape, first, _bytes in head["arrays"]] == [0, 0]
    assert len(message) % 8 == 0


def test_types_that_a_browser_does_not_have_are_refused():
    with pytest.raises(TypeError, match="int64"):
        encode({"a": np.zeros(3, dtype=np.int64)})


def test_merging_replaces_leaves_and_keeps_the_rest():
    tree = {"a": {"b": 1, "c": [1, 2]}, "d": 4}
    merged = merge(tree, {"a": {"c": [3]}, "e": {"f": 1}})
    assert merged == {"a": {"b": 1, "c": [3]}, "d": 4, "e": {"f": 1}}
    assert tree == {"a": {"b": 1, "c": [1, 2]}, "d": 4}
    assert merge(merged, {"a": None})["a"] is None


@pytest.mark.parametrize("held", [False, True])
def test_of_what_grows_only_the_further_rows_are_sent(held):
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(50, 3)).astype(np.float32)
    whole[7, 1] = np.nan
    corrected = whole[:30].copy()
    corrected[28:] += 1
    histories = [whole[:10], whole[:11], whole[:20], corrected, whole[:29], whole[:5], whole[:8, :2], whole, whole]
    stage = Stage()
    stage.grow("charts", "a", points=whole[:9])
    messages, tree, sent = told(stage), {"charts": {"a": {"points": whole[:9]}}}, []
    for one, other in zip(histories[::2], [*histories[1::2], whole]):
        if held:  # what is collected is sent as if it had been told at once
            with stage:
                stage.grow("charts", "a", points=one)
                stage.grow("charts", "a", points=other)
        else:
            stage.grow("charts", "a", points=one)
            stage.grow("charts", "a", points=other)
        for message in messages:
            tree = merge(tree, message)
            points = message["charts"]["a"]["points"]
            sent.append(len(points.rows) if isinstance(points, Tail) else len(points))
        messages.clear()
        np.testing.assert_array_equal(tree["charts"]["a"]["points"], other)
        np.testing.assert_array_equal(stage.get("charts", "a", "points"), other)
    if not held:
        assert sent == [1, 1, 9, 10, 1, 0, 8, 50]
    stage.send_all()
    np.testing.assert_array_equal(messages[-1]["charts"]["a"]["points"], whole)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_places_are_as_exact_as_a_screen_can_show(scale):
    rng = np.random.default_rng(0)
    points = scale * (rng.normal(size=(500, 2)) * [1, 30] + [5, -100])
    points[::7] = np.nan
    packed = packed_places(points)
    assert packed["levels"].dtype == np.int16
    assert (packed["levels"][::7] == HIDDEN).all()
    assert np.nanmax(abs(packed["levels"].astype(int)[1])) <= LEVELS
    spread = np.nanmax(points, axis=0) - np.nanmin(points, axis=0)
    np.testing.assert_allclose(unpacked_places(packed) / spread, points / spread, atol=1.0 / LEVELS)
    np.testing.assert_array_equal(np.isnan(unpacked_places(packed)), np.isnan(points))


def test_places_of_one_point_of_equal_points_and_of_none():
    for points in (np.full((1, 2), 3.0), np.full((4, 2), -2.0)):
        np.testing.assert_allclose(unpacked_places(packed_places(points)), points)
    assert np.isnan(unpacked_places(packed_places(np.full((3, 2), np.nan)))).all()
    assert unpacked_places(packed_places(np.zeros((0, 2)))).shape == (0, 2)


def test_bits_are_in_the_order_of_rows():
    rows = np.zeros(19, dtype=bool)
    rows[[0, 8, 18]] = True
    bits = packed_bits(rows)
    assert [row for row in range(19) if bits[row >> 3] >> (row & 7) & 1] == [0, 8, 18]


def test_only_news_is_sent():
    stage = Stage()
    stage.put("planes", "a", x=1, values=np.arange(3, dtype=np.float32))
    messages = told(stage)
    assert not stage.put("planes", "a", x=1, values=np.arange(3, dtype=np.float32))
    assert messages == []
    assert stage.put("planes", "a", x=1, values=np.array([0, 1, np.nan], dtype=np.float32))
    assert not stage.put("planes", "a", values=np.array([0, 1, np.nan], dtype=np.float32))
    assert list(messages[0]["planes"]["a"]) == ["values"]
    stage.put("planes", "a", x=None)
    assert messages[1] == {"planes": {"a": {"x": None}}}
    assert len(messages) == 2


def test_what_is_put_together_travels_together():
    stage = Stage()
    messages = told(stage)
    with stage:
        stage.put(a=1)
        with stage:
            stage.put("b", c=2)
        stage.put(a=3)
        assert messages == []
    assert messages == [{"a": 3, "b": {"c": 2}}]


def test_whoever_comes_late_gets_all():
    stage = Stage()
    stage.put("planes", "a", x=1)
    stage.put(b=2)
    messages = []
    stage.connect(lambda message: messages.append(decode(message)))
    assert messages == [{"all": True, "planes": {"a": {"x": 1}}, "b": 2}]


def test_listeners_hear_their_kind_only():
    stage, heard = Stage(), []
    stage.on("painted", heard.append)
    stage.hear({"kind": "painted", "number": 3})
    stage.hear({"kind": "select", "rows": []})
    stage.hear({})
    assert heard == [{"kind": "painted", "number": 3}]


def test_a_selection_tells_of_changes_only():
    selection, calls = Selection(), []
    selection.on_change(lambda: calls.append(list(selection.indices)))
    selection.indices = [np.int64(3), 1]
    selection.indices = [3, 1]
    selection.indices = []
    assert calls == [[3, 1], []]
