"""Scrubbing: every recorded iteration can be seen again, and the run can go on from there."""


def test_looks_back_returns_and_goes_on_from_there(app):
    app.run_to(30)
    app.pause()
    newest, places = app.iteration, app.column("latent points", "x")
    app.until(lambda: app.button("Live").is_disabled())
    app.scrub("ArrowLeft", 5)
    app.until(lambda: app.iteration == newest - 5 and app.chip == f"viewing {newest - 5}")
    app.until(lambda: app.column("latent points", "x") != places)
    app.press("Live")
    app.until(lambda: app.iteration == newest and app.chip == "paused")
    app.until(lambda: app.column("latent points", "x") == places)
    app.scrub("Home")
    app.until(lambda: app.iteration == 0)
    app.scrub("ArrowRight", 10)
    app.until(lambda: app.iteration == 10)
    app.press("Step")
    app.until(lambda: app.iteration == 11 and app.chip == "paused")
    app.until(lambda: app.slider("Iteration").get_attribute("max") == "11")  # what came later is gone
    app.run_to(15)


def test_a_run_goes_on_behind_the_iteration_that_is_viewed(app):
    app.run_to(20)
    thumb = app.page.locator(".MuiSlider-thumb").filter(has=app.slider("Iteration")).bounding_box()
    track = app.page.locator(".MuiSlider-root").filter(has=app.slider("Iteration")).bounding_box()
    app.page.mouse.move(thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2)
    app.page.mouse.down()
    app.page.mouse.move(track["x"] + track["width"] / 3, thumb["y"] + thumb["height"] / 2, steps=20)
    app.page.mouse.up()
    shown = app.until_still(lambda: int(app.slider("Iteration").input_value()), pause=0.3)
    app.until(lambda: app.chip == f"viewing {shown}")
    end = int(app.slider("Iteration").get_attribute("max"))
    assert 0 < shown < end
    app.until(lambda: int(app.slider("Iteration").get_attribute("max")) >= end + 5, what="the run stood still")
    assert (app.iteration, app.chip) == (shown, f"viewing {shown}")
    assert app.button("Pause").is_visible()
    app.press("Live")
    app.until(lambda: app.chip == "running" and (app.iteration or 0) > end)
    app.until(lambda: app.button("Live").is_disabled())
