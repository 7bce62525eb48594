"""The page of sweeps in a real browser: its ranges are typed in, it fills, and it leads to the explorer."""

from playwright.sync_api import expect

from tests.browser.axe import NAMELESS, serious
from tests.browser.conftest import DESK

SWEEP = (
    "?data=moons&data.n_samples=60&method=LSDR&method.max_iter=10&method.tol=0&seed=1"
    "&sweep.x=reg_u:log:0.001:10:3&sweep.y=beta:list:0.1,0.5,0.9&sweep.folds=2"
)


def values(app):
    return [
        value for value in app.column("sweep cells", "zvalues") if isinstance(value, int | float) and value == value
    ]


def test_ranges_are_typed_in_the_sweep_fills_and_leads_to_the_explorer(open_app, tmp_path):
    app = open_app(SWEEP, page="sensitivity", size=(390, 844))
    assert app.width <= 390
    assert app.chip == "ready"
    assert app.evaluate(NAMELESS) == []
    app.page.locator("header button").first.click()
    field = app.page.get_by_label("From", exact=True).first
    field.fill("nonsense")
    field.press("Enter")
    app.settle()
    assert app.sees("Type numbers")
    assert len(app.column("sweep cells", "x")) == 9
    field.fill("0.1")
    field.press("Enter")
    app.settle()
    assert "reg_u:log:0.1:10:3" in app.page.url
    app.key("Escape")
    app.resize(*DESK.values())
    app.settle()
    assert not values(app)
    app.press("Run")
    expect(app.chip_shown).to_have_text("finished", timeout=100_000)  # nine models, each in two folds
    app.settle()
    assert len(values(app)) == 9
    assert app.numbers.startswith("18 of 18 fits")
    assert "9 of 9 cells" in app.status
    assert app.sees("This estimate is optimistic")
    assert [len(app.column(f"sweep curve {k}", "score")) for k in (0, 1)] == [3, 3]
    lines = app.save("CSV", tmp_path).read_text().splitlines()
    assert lines[0].startswith("reg_u,beta,error,error sd")
    assert len(lines) == 10
    assert app.save("PNG", tmp_path).read_bytes().startswith(b"\x89PNG")
    assert serious(app) == []
    assert app.evaluate(NAMELESS) == []
    [layer] = app.page.get_by_role("img", name="Heatmap: error by Ridge on latent rows").all()
    box = layer.bounding_box()  # axis and colours take about as much of both sides
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2  # within the middle one of three times three cells
    app.page.mouse.move(x, y)
    app.until_seen(" fits ")
    with app.page.context.expect_page() as opened:
        app.page.mouse.click(x, y)
    opened.value.wait_for_url("**/explorer?**", wait_until="commit")
    for setting in ("method=LSDR", "method.beta=0.5", "test=0.5"):
        assert setting in opened.value.url
    opened.value.close()
