"""The report opens from disk, without a server, and its scrubber works."""

from PIL import Image

from tests.browser.axe import findings


def download(app, name, folder):
    with app.page.expect_download(timeout=60_000) as found:
        app.press(name)
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    return path


def test_report_and_film_of_a_run(open_app, chromium, tmp_path):
    app = open_app("?data=spirals&data.n_per_class=30&method=LSDR&method.max_iter=12&method.tol=0&speed=fast")
    app.press("Run")
    app.until(lambda: app.chip == "finished")
    app.until_settled()
    app.press("Export")
    app.until_seen("Report (HTML)")
    report = download(app, "Report (HTML)", tmp_path)
    film = download(app, "Film (GIF)", tmp_path)
    with Image.open(film) as image:
        assert image.n_frames == 13
    context = chromium.new_context(offline=True)
    page = context.new_page()
    problems, asked = [], []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    said = page.locator("#numbers")
    assert f"iteration 12 · objective {app.number('objective'):.4g}" in said.text_content()
    assert f"test error {app.number('test error'):g} %" in said.text_content()
    end, reconstructed = page.locator("#latent").screenshot(), page.locator("#method").screenshot()
    assert page.get_by_text("Reconstruction: faint: original").is_visible()
    assert page.get_by_text("error of reconstruction").is_visible()
    slider = page.get_by_role("slider", name="Iteration")
    slider.press("Home")
    assert said.text_content().startswith("iteration 0 ")
    page.wait_for_timeout(200)
    assert page.locator("#latent").screenshot() != end
    assert page.locator("#method").screenshot() != reconstructed
    page.get_by_role("button", name="Play").click()
    page.get_by_text("iteration 12").wait_for(timeout=15_000)
    page.wait_for_timeout(300)
    assert page.locator("#latent").screenshot() == end
    assert "model" in page.get_by_label("Python code").text_content()
    assert findings(page) == []
    assert not problems
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]
    context.close()
