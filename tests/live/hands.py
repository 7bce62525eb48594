"""Hands in a real browser that click, drag and type at random, and listen to what the console says."""

import os
import time

from playwright.sync_api import Error, sync_playwright

from tests.live.monkey import links

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
VISIT_SECONDS = 60.0
USABLE = "button:visible, input:visible, [role=tab]:visible, [role=combobox]:visible, [role=option]:visible, a:visible"
KEYS = ["Space", "ArrowRight", "r", "Escape", "Tab", "Enter", "ArrowDown", "Home", "End"]
GONE = ("Execution context was destroyed", "Target closed", "frame was detached", "has been closed")


class Hands:
    """Uses one page after the other.

    Parameters
    ----------
    server : Server
    rng : Generator

    Attributes
    ----------
    done, pages : int
    errors : list of str
        What the console and the page have complained about.
    """

    def __init__(self, server, rng):
        self._server, self._rng, self._links = server, rng, links()
        self.done, self.pages, self.errors = 0, 0, []

    def use(self, until):
        """Use pages until the time has come."""
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM"), args=FLAGS)
            while time.monotonic() < until:
                width = int(self._rng.choice([390, 1280, 1440]))
                theme = str(self._rng.choice(["light", "dark"]))
                context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
                page = context.new_page()
                name, query = self._links[self._rng.integers(len(self._links))]
                page.on("console", lambda message, at=name + query: self._heard(message, at))
                page.on("pageerror", lambda error, at=name + query: self.errors.append(f"{at}: {error}"))
                page.goto(f"{self._server.url}/{name}{query}", timeout=120_000)
                self.pages += 1
                self._visit(page, min(until, time.monotonic() + VISIT_SECONDS))
                context.close()
            browser.close()

    def _heard(self, message, at):
        if message.type == "error":
            self.errors.append(f"{at}: {message.text[:300]}")

    def _visit(self, page, until):
        while time.monotonic() < until:
            try:
                self._act(page)
            except Error as error:  # what was to be clicked has gone meanwhile, or something lies over it
                if not ("Timeout" in str(error) or any(words in str(error) for words in GONE)):
                    raise
            self.done += 1
            page.wait_for_timeout(float(self._rng.exponential(300.0)))

    def _act(self, page):
        kind = str(self._rng.choice(["click", "key", "point", "drag"], p=[0.5, 0.2, 0.2, 0.1]))
        if kind == "click":
            found = page.locator(USABLE)
            count = found.count()
            if count:
                found.nth(int(self._rng.integers(count))).click(timeout=1000, no_wait_after=True)
        elif kind == "key":
            page.keyboard.press(KEYS[self._rng.integers(len(KEYS))])
        else:
            size = page.viewport_size
            x, y = (float(self._rng.uniform(0, size[side])) for side in ("width", "height"))
            page.mouse.move(x, y)
            if kind == "drag":
                page.mouse.down()
                page.mouse.move(x + 60, y + 40, steps=4)
                page.mouse.up()
