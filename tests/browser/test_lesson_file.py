"""A lesson exported as a file opens from disk, without a server: steps, answers and scrubber work."""

from supdr_viz.lessons import LESSONS
from tests.browser.axe import findings

LESSON = LESSONS["1-why-supervise"]


def test_a_lesson_from_disk(open_app, chromium, tmp_path):
    app = open_app("/../lessons")
    app.press("Export")
    app.until_seen("Lesson (HTML)")
    with app.page.expect_download(timeout=120_000) as found:
        app.press("Lesson (HTML)")
    file = tmp_path / found.value.suggested_filename
    found.value.save_as(file)
    context = chromium.new_context(offline=True, reduced_motion="reduce", viewport={"width": 390, "height": 844})
    page = context.new_page()
    problems, asked = [], []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    said, slider = page.locator("#numbers"), page.get_by_role("slider", name="Iteration")
    first, second, third = LESSON.steps[:3]
    assert page.get_by_role("heading", name=first.title).is_visible()
    assert not page.get_by_text(second.title).is_visible()
    assert slider.is_disabled()
    page.get_by_role("button", name="Next").click()
    assert page.get_by_role("heading", name=second.title).is_visible()
    assert not page.get_by_role("heading", name=first.title).is_visible()
    assert said.text_content().startswith("iteration 0 ")
    assert not page.get_by_text("We measured").first.is_visible()
    page.get_by_role("button", name="Show answer").click()
    assert page.get_by_text("The answer is 2. In some runs.").is_visible()
    assert said.text_content().startswith(f"iteration {second.until} ")  # without motion: the end at once
    page.wait_for_timeout(200)
    end = page.locator("#latent").screenshot()
    slider.press("Home")
    assert said.text_content().startswith("iteration 0 ")
    page.wait_for_timeout(200)
    assert page.locator("#latent").screenshot() != end
    page.keyboard.press("PageDown")
    assert page.url.endswith("#3")
    assert page.get_by_role("heading", name=third.title).is_visible()
    page.keyboard.press(str(third.question.answer + 1))
    assert page.get_by_text("Yes.", exact=True).is_visible()
    for _ in LESSON.steps:
        page.keyboard.press("PageDown")
        page.keyboard.press("1")
    assert page.get_by_role("heading", name=LESSON.steps[-1].title).is_visible()
    assert page.get_by_role("button", name="Next").is_disabled()
    assert page.locator("#method-card").is_visible()
    page.keyboard.press("PageUp")
    assert page.get_by_role("heading", name=LESSON.steps[-2].title).is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert findings(page) == []
    assert not problems
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]
    context.close()
