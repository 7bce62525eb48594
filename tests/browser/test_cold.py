"""A server whose kernels are not compiled yet: the page says what it waits for, and then works."""

import sys
from pathlib import Path

import pytest

from tests.browser.app import App
from tests.browser.conftest import Server


class PlainServer(Server):
    """``panel serve apps/explorer.py``, as somebody would who knows Panel."""

    def command(self, arguments):
        app = Path(__file__).parents[2] / "apps" / "explorer.py"
        return [sys.executable, "-m", "panel", "serve", str(app), "--port", str(self.port), *arguments]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_cold_server_says_what_it_waits_for(tmp_path, chromium):
    server = PlainServer(tmp_path, environment={"NUMBA_CACHE_DIR": str(tmp_path / "kernels")})
    try:
        app = App(chromium.new_context(viewport={"width": 1440, "height": 900}), f"{server.url}/explorer")
        app.page.wait_for_selector(".status .chip", timeout=60_000)
        app.until_seen("Compiling the numerical kernels", 60)
        assert app.chip == "waiting"
        assert app.button("Run").is_disabled()
        app.open_fold("Test rows, labels, seed")  # the page is alive meanwhile
        app.until(lambda: app.page.get_by_label("Seed").first.is_visible())
        app.until(lambda: app.chip == "ready" and app.iteration == 0, 900)
        app.run_to(3)
        app.pause()
        assert not app.problems
        assert not server.errors
        app.close()
    finally:
        server.stop()
