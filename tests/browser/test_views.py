"""What the planes show: latent options, the method's own view, regression, many classes, wide data."""

from tests.browser.app import FIGURES


def caption(app, card):
    return app.page.locator(".head").nth(FIGURES.index(card)).inner_text()


def until_caption(app, card, words):
    app.until(lambda: words in caption(app, card), what=f"no {words!r} over {card}")


def test_embedding_transform_and_pull(app):
    app.run_to(5)
    app.pause()
    until_caption(app, "latent", "embedding (saw labels)")
    learnt = app.column("latent points", "x")
    app.page.get_by_label("pull").first.click()
    app.until(lambda: any(value == value for value in app.column("latent points", "px")))
    app.page.get_by_label("pull").first.click()
    app.open_fold("Planes")
    app.choose("Latent rows shown", "transform (did not)")
    until_caption(app, "latent", "transform")
    app.until(lambda: app.column("latent points", "x") != learnt)
    app.until(lambda: "view.shown=transform" in app.page.url)
    app.choose("Latent rows shown", "embedding (saw labels)")
    app.until(lambda: app.column("latent points", "x") == learnt)


def test_the_method_view_has_two_modes(app):
    app.run_to(3)
    app.pause()
    app.until(lambda: caption(app, "method").startswith("Reconstruction"))
    reconstruction = app.column("method points", "x")
    app.press("margins")
    app.until(lambda: caption(app, "method").startswith("Margins"))
    app.until(lambda: app.column("method points", "x") != reconstruction)
    app.press("reconstruct")
    app.until(lambda: app.column("method points", "x") == reconstruction)


def test_many_classes_and_dimensions(open_app):
    app = open_app("?data=digits&method=LSDR&method.n_components=9")
    app.run_to(3, 90)
    app.pause()
    assert app.number("test error") < 30
    app.until(lambda: app.page.locator(".keys .key").all_inner_texts()[:10] == [str(k) for k in range(10)])
    until_caption(app, "input", "principal components")
    until_caption(app, "latent", "plane of 9 dimensions")
    before = app.column("latent points", "x")
    app.open_fold("Planes")
    app.choose("Latent plane", "two columns")
    app.until(lambda: "view.latent=0,1" in app.page.url)
    app.choose("Up", "3: z3")
    app.until(lambda: "view.latent=0,2" in app.page.url and app.column("latent points", "x") != before)
    plane, reached = app.column("input points", "x"), app.iteration
    app.choose("Input plane", "two columns")
    app.until(lambda: app.column("input points", "x") != plane)
    app.until_settled()
    assert app.iteration == reached  # looking does not touch the run


def test_regression(open_app):
    app = open_app("?data=diabetes&method=LSDR")
    app.run_to(3)
    app.pause()
    assert app.number("train MSE") > 0
    assert app.number("test MSE") < 5900  # the variance of the target
    assert "%" not in app.numbers
    assert not app.button("margins").is_visible()
    until_caption(app, "errors", "mean squared error")
    app.until(lambda: "train MSE" in app.status)


def test_one_latent_dimension_is_a_strip(open_app):
    app = open_app("?data=moons&data.n_samples=80&method=LSDR&method.n_components=1")
    app.run_to(3)
    app.pause()
    assert len(set(app.column("latent points", "y"))) > 50
    until_caption(app, "latent", "1-D, jittered")


def test_wide_generated_data_say_what_their_plane_is(open_app):
    app = open_app("?data=disc&data.n_samples=100&data.n_noise_features=20&method=LSDR")
    app.until_settled()
    until_caption(app, "input", "×")
