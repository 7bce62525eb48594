"""A server whose kernels are not compiled yet: the page says what it waits for, and then works."""

import pytest
from playwright.sync_api import expect

from tests.browser.app import App
from tests.browser.conftest import DESK, PanelServer


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_cold_server_says_what_it_waits_for(tmp_path, chromium):
    server = PanelServer(tmp_path, environment={"NUMBA_CACHE_DIR": str(tmp_path / "kernels")})
    context = chromium.new_context(viewport=DESK)
    try:
        app = App(context.new_page(), server.url)
        app.open(f"{server.url}/explorer")
        app.until_seen("Compiling MAC, once per installation")
        assert app.chip == "waiting"
        assert app.button("Run").is_disabled()
        app.open_fold("Test rows, labels, seed")  # the page is alive meanwhile
        expect(app.page.get_by_label("Seed").first).to_be_visible()
        expect(app.chip_shown).to_have_text("ready", timeout=900_000)
        app.settle()
        assert app.iteration == 0
        app.press("Step").settle()
        assert app.iteration == 1
        app.choose("Method", "SNF")  # the others are compiled meanwhile, this one next
        app.until_seen("Compiling SNF, once per installation")
        assert app.button("Run").is_disabled()
        expect(app.chip_shown).to_have_text("ready", timeout=900_000)
        app.settle()
        app.press("Step").settle()
        assert app.iteration == 1
        assert not app.problems
        assert not server.errors
    finally:
        context.close()
        server.stop()
