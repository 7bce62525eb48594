"""Take the README's pictures of the explorer: start the app, drive it in Chromium, save docs/images/*.png.

.venv/bin/python scripts/screenshots.py
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).parents[1] / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
SHOTS = {
    "explorer-light": ("light", "?data=spirals&data.n_classes=3&data.n_per_class=250&method=NSDR&method.gamma=2"),
    "explorer-dark": ("dark", "?data=digits&method=LSDR&method.n_components=9"),
}


def main() -> None:
    """Take every picture."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "supdr_viz.cli", "--port", str(port), "--no-browser"])
    try:
        wait_for(f"http://localhost:{port}/explorer")
        with sync_playwright() as playwright:
            path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            for name, (scheme, query) in SHOTS.items():
                page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
                page.goto(f"http://localhost:{port}/explorer{query}")
                take(page, FOLDER / f"{name}.png")
                page.close()
            browser.close()
    finally:
        server.terminate()
        server.wait()


def wait_for(url: str) -> None:
    """Wait until the server answers; a first start compiles."""
    while True:
        try:
            urllib.request.urlopen(url, timeout=60).close()
            return
        except OSError:
            time.sleep(0.2)


def take(page: Page, path: Path) -> None:
    """Run to the end, then save the page with a reduced palette: a tenth of the size, no visible loss."""
    page.wait_for_selector(".status .numbers b", timeout=60_000)
    page.wait_for_timeout(1500)
    page.locator("body").press("Space")
    page.get_by_text("finished", exact=True).wait_for(timeout=60_000)
    page.wait_for_timeout(2500)
    page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    main()
