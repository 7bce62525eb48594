"""Selecting rows, tapping, drawing, panning."""

import pytest


def test_rows_selected_in_one_figure_are_selected_in_all(app):
    app.lasso("input", right=0.5)
    rows, places = app.selected(), app.places("input")
    assert 0 < len(rows) < len(places)
    middle = app.box("input")["x"] + app.box("input")["width"] / 2
    assert all(app.place("input", *places[row])[0] <= middle + 2 for row in rows)
    for figure in ("latent", "method"):
        assert app.selected(figure) == rows
    app.press("Step").settle()
    assert app.selected() == rows  # frames do not disturb it
    faded = app.picture("latent")
    app.key("Escape").settle()
    assert app.selected() == []
    assert app.picture("latent") != faded
    app.lasso("latent")
    assert len(app.selected()) == len(places)
    app.key("Escape").settle()
    app.page.mouse.click(*app.place_of("latent", 5))
    app.settle()
    assert 5 in app.selected()
    app.page.keyboard.down("Alt")
    x, y = app.place_of("latent", 5)
    app.page.mouse.move(x - 30, y - 30)
    app.page.mouse.down()
    app.page.mouse.move(x + 30, y + 30)
    app.page.mouse.up()
    app.page.keyboard.up("Alt")
    app.settle()
    boxed = [row for row in range(120) if max(abs(a - b) for a, b in zip(app.place_of("latent", row), (x, y))) < 30]
    assert app.selected() == boxed
    app.lasso("input")
    assert len(app.selected()) == 120
    app.nudge("Points per arm")
    app.settle()
    assert len(app.places("input")) > 120
    assert app.selected() == []  # a selection does not outlive its rows


@pytest.mark.slow
def test_panning_zooming_and_drawing(app):
    def window():
        return app.evaluate("Array.from(square('input').extent)")

    before, box = window(), app.box("input")
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    app.press("pan").settle()
    app.page.mouse.move(*middle)
    app.page.mouse.down()
    app.page.mouse.move(middle[0] + 60, middle[1], steps=6)
    app.page.mouse.up()
    app.settle()
    panned = window()
    assert panned != before
    app.page.mouse.wheel(0, -300)
    app.page.wait_for_function("(left) => square('input').extent[0] !== left", arg=panned[0])
    zoomed = app.settle() and window()
    app.press("Step").settle()
    assert window() == zoomed  # a run does not take the view away
    app.page.mouse.dblclick(*middle)
    app.settle()
    assert window() == before
    assert app.selected() == []

    app.press("draw").settle()
    box = app.box("input")  # the choice of a class is above it now
    for number, share in enumerate((0.05, 0.95), 1):
        app.page.mouse.click(box["x"] + share * box["width"], box["y"] + 0.05 * box["height"])
        app.settle()
        assert len(app.shown("input", "drawn")) == number
        assert app.sees(f"{number} drawn point")
        app.page.get_by_role("group", name="Class to draw").get_by_role("button", name="arm 2").click()
        app.settle()
    assert [code for _x, _y, code in app.shown("input", "drawn")] == [0, 1]
    assert app.sees("86 training and 36 test rows")  # they are trained with
    assert "drawn=" in app.page.url
    assert app.stands == ("ready", 0)
    app.press("Step").settle()
    assert app.stands == ("paused", 1)
    app.press("Reset").settle()
    assert app.stands == ("ready", 0)
    assert len(app.shown("input", "drawn")) == 2  # nothing but a click takes them away
