"""SDR-GLM in the explorer: its pictures, chosen from a menu; bits; predicted values; presets; a phone."""

import re

import numpy as np
import pytest

BITS = (
    "?data=latent_bits&data.n_samples=80&data.n_features=60"
    "&method=SDRGLM&method.max_iter=500&method.tol=0&method.solver=literal"
)
SLOW_FACTORS = (
    "?data=wide_regression&data.n_samples=120&data.n_features=60"
    "&method=SDRGLM&method.n_components=3&method.max_iter=20000&method.tol=0"
)


@pytest.fixture
def bits(open_app):
    app = open_app(BITS)
    app.until_settled()
    return app


def facts(app):
    """Names and values that are said over the picture."""
    pieces = app.page.locator(".said > span").all_inner_texts()
    return dict(re.fullmatch(r"(.*?) (\S+(?: %| of \d+)?)", piece).groups() for piece in pieces)


def keys(app):
    return " ".join(app.page.locator(".keys").all_inner_texts())


def show(app, label, title):
    app.choose("Picture", label)
    app.until_seen(title)


def test_every_picture_can_be_chosen_and_is_another_one(bits):
    bits.until(lambda: "no regions between bits" in bits.page.locator(".head").first.inner_text())
    bits.run_to(8)
    bits.pause()
    said = {
        ("as new rows", "New rows"): "size of transform",
        ("X against Y", "Balance"): "explains X",
        ("spectrum", "what the ridges leave"): "threshold",
        ("parameters", "and what they mean"): "parameters within ±",
        ("J and its parts", "rises in every sweep"): "least rise",
    }
    seen = []
    for (label, title), name in said.items():
        show(bits, label, title)
        bits.until(lambda n=name: n in facts(bits), what=name)
        seen.append(bits.another_picture("method", seen))
    bits.scrub("Home")
    bits.until(lambda: bits.iteration == 0)
    bits.until(lambda: set(facts(bits)) == {"J"}, what="the start alone has no rise")
    show(bits, "margins", "Margins")
    bits.until(lambda: facts(bits) == {})


def test_j_rises_and_a_change_of_settings_is_marked(bits):
    bits.run_to(10)
    bits.pause()
    said = bits.until_still(lambda: facts(bits), lambda found: "least rise" in found)
    assert float(said["least rise"]) > 0
    assert float(said["J"]) == pytest.approx(-bits.number("objective"), rel=2e-3)
    assert "settings changed" not in keys(bits)
    bits.nudge("Reconstruction ratio", times=6)
    bits.run_to(bits.iteration + 5)
    bits.pause()
    bits.until(lambda: "settings changed" in keys(bits))
    assert float(bits.until_still(lambda: facts(bits))["least rise"]) > 0


def test_logistic_pca_names_the_column_that_is_no_bit(open_app):
    app = open_app("?data=iris&method=LogisticPCA", wait=False)
    app.until_seen("Logistic PCA takes columns of 0 and 1 only; sepal length (cm) is 5.1 in row 0")
    app.choose("Method", "Unsupervised, then logistic")
    app.until(lambda: "method=LogisticUDR" in app.page.url)
    app.until_settled()


def test_predicted_values_come_first_for_a_regression(open_app):
    app = open_app(SLOW_FACTORS)
    app.until_seen("against true values")
    app.run_to(3)
    app.pause()
    said = app.until_still(lambda: facts(app), lambda found: {"R² train", "R² test", "correlation"} <= set(found))
    assert float(said["R² train"]) > 0.8
    assert "to" in app.page.locator(".keys .key").filter(has=app.page.locator("i.scale")).first.inner_text()
    x, y = (np.array(app.column("method points", name), dtype=float) for name in "xy")
    assert np.isfinite(x).all()
    assert np.isfinite(y).all()
    assert np.corrcoef(x, y)[0, 1] > 0.7
    app.choose("Method", "Elastic Net")
    app.until(lambda: app.chip == "finished")
    app.until(lambda: "R² test" in facts(app))


def test_a_preset_begins_with_the_picture_it_is_about(open_app):
    app = open_app("?data=spirals&data.n_per_class=30&method=LSDR")
    app.choose("Example", "Small λ: the ridges kill components")
    app.until(lambda: "method=SDRGLM" in app.page.url)
    app.until_seen("what the ridges leave")
    app.run_to(3)
    app.pause()
    app.until(lambda: facts(app).get("rank") == "1 of 6")


def test_a_phone_has_the_menu_too(open_app):
    app = open_app(BITS, phone=True)
    app.choose("Picture", "spectrum")
    app.until_seen("what the ridges leave")
