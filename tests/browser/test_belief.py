"""How reliable the map is, by mouse: a band in the error chart, ghosts, arrows under the pointer, a rule."""

IRIS = "?data=iris&method=LSDR&method.n_components=2&method.max_iter=4&test=0.3&seed=0&speed=fast"


def to_plots(app):
    """Bring the latent space into view."""
    app.evaluate("square('latent').canvas.scrollIntoView({block: 'center'})")
    app.settle()


def arrows(app):
    return app.shown("latent", "arrows", "names")


def test_a_visitor_asks_how_reliable_the_map_is(open_app):
    app = open_app(IRIS)
    app.press("Run").settle()
    before = app.picture("latent")
    app.open_fold("How reliable is this map?").settle()
    app.press("Shuffle the labels").settle()
    app.until_seen("with shuffled labels")
    low, high = app.evaluate("chart('errors').tree.band")
    assert app.curve("errors", "test")[-1] < low <= high < app.evaluate("chart('errors').tree.extent[3]")
    app.press("Fit again").settle()
    app.press("Show all fits").settle()
    assert len(app.shown("latent", "ghosts", "rows")) == 20 * 105
    to_plots(app)
    assert app.picture("latent") != before
    assert arrows(app) is None
    app.page.mouse.move(*app.place_of("latent", 20))
    app.page.wait_for_function("square('latent').tree.arrows?.row >= 0")
    assert len(arrows(app)) == 3
    app.until_seen("if a column increases by one standard deviation")
    app.lasso("latent", right=0.5)
    app.settle()
    assert arrows(app) is None
    app.until_seen("selected rows are compared with")
    app.key("Escape").settle()
    app.open_fold("How reliable is this map?").settle()
    app.page.mouse.move(*app.place_of("latent", 30))
    app.settle()
    assert arrows(app) is None  # a question that is not open is not answered
