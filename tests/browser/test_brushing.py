"""Selecting rows, hovering, tapping, drawing, panning."""


def test_rows_selected_in_one_figure_are_selected_in_all(app):
    app.lasso("input", right=0.5)
    n_rows = len(app.column("input points", "x"))
    rows = app.until_still(lambda: app.selected, lambda rows: 0 < len(rows) < n_rows)
    middle = app.box("input")["x"] + app.box("input")["width"] / 2
    places = app.column("input points", "x")
    assert all(app.place("input", places[row], 0)[0] <= middle + 2 for row in rows)
    for figure in ("latent", "method"):
        app.until(lambda f=figure: app.evaluate(f"Array.from(named('{f} points').selected.indices)") == rows)
    app.run_to(8)
    app.pause()
    assert app.selected == rows  # frames do not disturb it
    faded = app.another_picture("latent", [])
    app.key("Escape")
    app.until(lambda: app.selected == [])
    app.another_picture("latent", [faded])
    app.lasso("latent")
    app.until(lambda: len(app.selected) == n_rows)
    app.key("Escape")
    app.until(lambda: app.selected == [])

    def tapped():
        app.page.mouse.click(*app.place_of("latent", 5))
        app.page.wait_for_timeout(400)
        return 5 in app.selected

    app.until(tapped)  # where the page is busy for 0.3 s between down and up, the kit sees a long press, not a tap


def test_a_selection_does_not_outlive_its_rows(app):
    app.lasso("input")
    app.until(lambda: len(app.selected) == 120)
    app.nudge("Points per arm", times=1)
    app.until(lambda: len(app.column("input points", "x")) > 120)
    assert app.selected == []


def test_hovering_a_digit_shows_its_picture(open_app):
    app = open_app("?data=digits&method=LSDR")
    app.until_settled()
    picture = app.page.locator(".bk-Tooltip img, .bk-tooltip img").first
    for row in (3, 40, 77):
        x, y = app.place_of("input", row)
        app.page.mouse.move(x, y, steps=4)
        app.until(picture.is_visible)
        assert picture.get_attribute("src").startswith("data:image")
        app.until(lambda: picture.evaluate("(image) => image.naturalWidth") > 0)
    words = picture.locator("xpath=..").inner_text()
    assert "row" in words
    assert "predicted" in words
    box = app.box("losses")
    app.page.mouse.move(box["x"] + 40, box["y"] + 40)
    app.until(lambda: not picture.is_visible())


def test_drawn_points_join_the_training_rows(app):
    app.press("draw")
    app.until(lambda: app.button("arm 2").is_visible())
    box = app.box("input")
    for number, share in enumerate((0.05, 0.95), 1):
        app.page.mouse.click(box["x"] + share * box["width"], box["y"] + 0.05 * box["height"])
        app.until(lambda n=number: len(app.column("drawn points", "x")) == n)
        app.until_seen(f"{number} drawn point")
        if number == 1:
            app.press("arm 2")
            app.page.wait_for_timeout(200)
    app.until(lambda: app.column("drawn points", "k") == [0, 1])
    app.run_to(3)
    assert len(app.column("drawn points", "x")) == 2  # frames leave them alone
    app.pause()
    app.press("Reset")
    app.until_seen("86 training and 36 test rows")
    app.until(lambda: app.column("drawn points", "x") == [])
    app.until(lambda: "drawn=" in app.page.url)
    app.until_settled()
    app.run_to(2)


def test_panning_and_zooming(app):
    def window():
        return app.evaluate("[named('input').x_range.start, named('input').x_range.end]")

    before, box = window(), app.box("input")
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    app.press("pan")
    app.until(
        lambda: app.evaluate("named('input').toolbar.tools.some((tool) => tool.type === 'PanTool' && tool.active)")
    )
    app.page.mouse.move(*middle)
    app.page.mouse.down()
    app.page.mouse.move(middle[0] + 60, middle[1], steps=6)
    app.page.mouse.up()
    panned = app.until_still(window, lambda now: now != before)
    app.page.mouse.wheel(0, -300)
    zoomed = app.until_still(window, lambda now: now != panned)
    app.run_to(4)
    assert window() == zoomed  # a run does not take the view away
    app.page.mouse.dblclick(*middle)
    app.until(lambda: window() == before)
    assert app.selected == []
