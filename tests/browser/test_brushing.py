"""Selecting rows, hovering, tapping, drawing, panning."""

from playwright.sync_api import expect


def test_rows_selected_in_one_figure_are_selected_in_all(app):
    app.lasso("input", right=0.5)
    rows, places = app.selected(), app.column("input points", "x")
    assert 0 < len(rows) < len(places)
    middle = app.box("input")["x"] + app.box("input")["width"] / 2
    assert all(app.place("input", places[row], 0)[0] <= middle + 2 for row in rows)
    for figure in ("latent", "method"):
        assert app.selected(f"{figure} points") == rows
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
    app.lasso("input")
    assert len(app.selected()) == 120
    app.nudge("Points per arm")
    app.settle()
    assert len(app.column("input points", "x")) > 120
    assert app.selected() == []  # a selection does not outlive its rows


def test_panning_and_zooming(app):
    def window():
        return app.evaluate("[named('input').x_range.start, named('input').x_range.end]")

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
    app.page.wait_for_function("(start) => named('input').x_range.start !== start", arg=panned[0])
    zoomed = app.settle() and window()
    app.press("Step").settle()
    assert window() == zoomed  # a run does not take the view away
    app.page.mouse.dblclick(*middle)
    app.settle()
    assert window() == before
    assert app.selected() == []


def test_hovering_a_digit_shows_its_picture(open_app):
    app = open_app("?data=digits&method=LSDR")
    picture = app.page.locator(".bk-Tooltip img, .bk-tooltip img").first
    for row in (3, 40, 77):
        app.page.mouse.move(*app.place_of("input", row), steps=4)
        expect(picture).to_be_visible()
        assert picture.get_attribute("src").startswith("data:image")
        assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 0
    words = picture.locator("xpath=..").inner_text()
    assert "row" in words
    assert "predicted" in words
    box = app.box("losses")
    app.page.mouse.move(box["x"] + 40, box["y"] + 40)
    expect(picture).not_to_be_visible()


def test_drawn_points_join_the_training_rows(app):
    app.press("draw").settle()
    box = app.box("input")
    for number, share in enumerate((0.05, 0.95), 1):
        app.page.mouse.click(box["x"] + share * box["width"], box["y"] + 0.05 * box["height"])
        app.settle()
        assert len(app.column("drawn points", "x")) == number
        assert app.sees(f"{number} drawn point")
        app.press("arm 2").settle()
    assert app.column("drawn points", "k") == [0, 1]
    app.press("Step").settle()
    assert len(app.column("drawn points", "x")) == 2  # frames leave them alone
    app.press("Reset").settle()
    assert app.sees("86 training and 36 test rows")
    assert app.column("drawn points", "x") == []
    assert "drawn=" in app.page.url
    app.press("Step").settle()
    assert app.stands == ("paused", 1)
