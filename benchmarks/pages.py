"""Pages in a real browser, and the runs that they show, for the benchmarks of the live loop."""

from __future__ import annotations

import os
import shutil

from client import Served

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
POINTS = "?data=spirals&data.n_per_class=1000&method=LSDR&method.solver=sgd&method.max_iter=100000&method.tol=0"
FAST = f"{POINTS}&speed=fast"
LIGHT = FAST.replace("n_per_class=1000", "n_per_class=250")


def launch(playwright):
    """Start a browser with an empty profile, and an empty page in its foreground."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
    return browser, browser.new_page(viewport={"width": 1440, "height": 900})


def open_page(playwright, served: Served, query: str, name: str = "explorer"):
    """Open a page in the foreground, ready to run."""
    browser, page = launch(playwright)
    arrive(page, served.url.replace("explorer", name) + query)
    page.wait_for_timeout(1000)
    return browser, page


def arrive(page, address: str) -> float:
    """Go to a page; return the seconds until it tells how its run stands: then it is heard, too.

    By the browser's clock, from the request for the page.  The words come by the stage's socket, which opens last.
    """
    page.goto(address, wait_until="commit")
    page.wait_for_selector(".status .numbers b", timeout=60_000)
    return page.evaluate("performance.now()") / 1000


def settle(page) -> float:
    """Return the seconds, by the same clock, until a page says that all of it is built and nothing is on its way."""
    page.evaluate("document.documentElement.dataset.settle = 'asked'")
    page.wait_for_selector("html[data-settled=asked]", timeout=60_000)
    return page.evaluate("performance.now()") / 1000


def run_key(page) -> None:
    """Press the space bar on the page."""
    page.locator("body").press("Space")
