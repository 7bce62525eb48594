"""How long each step of the lessons takes from "next" to its state on the screen.

    python benchmarks/lesson_steps.py [LESSON ...]

A real server with warm caches and a real browser on the same machine; a question is answered before the clock starts.
"""

from __future__ import annotations

import argparse
import itertools
import re
import statistics
import time

from client import Served
from pages import open_page
from playwright.sync_api import Page, sync_playwright

import supdr.warm
from supdr_viz.lessons import LESSONS
from supdr_viz.lessons.model import Step

BUSY = ("loading", "preparing", "waiting")


def ready(page: Page, step: Step) -> bool:
    """Whether the step's text and its state are there."""
    if page.locator("h2").filter(has_not_text="Data").first.text_content() != step.title:
        return False
    if page.locator(".status .chip").first.text_content().strip() in BUSY:
        return False
    numbers = re.search(r"iteration ([\d,]+)", page.locator(".status .numbers").first.text_content())
    return numbers is not None and int(numbers.group(1).replace(",", "")) >= step.run


def measured(page: Page, name: str) -> list[tuple[str, float]]:
    """Return the title and the seconds of every step but the first, which the page shows."""
    steps = LESSONS[name].steps
    waited_for(page, steps[0])
    found = []
    for before, step in itertools.pairwise(steps):
        page.wait_for_timeout(500)
        if before.question is not None:
            page.get_by_role("button", name="Show answer", exact=True).click()
            page.get_by_role("button", name="Next", exact=True).wait_for()
            page.wait_for_timeout(1500)
        began = time.perf_counter()
        page.keyboard.press("PageDown")
        waited_for(page, step)
        found.append((step.title, time.perf_counter() - began))
    return found


def waited_for(page: Page, step: Step) -> None:
    """Wait until a step is ready."""
    page.locator(".status .numbers").first.wait_for(timeout=60_000)
    end = time.monotonic() + 120
    while not ready(page, step):
        if time.monotonic() > end:
            raise SystemExit(f"{step.title}: not ready after two minutes")
        page.wait_for_timeout(20)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", choices=[*LESSONS, []], help="default: all")
    chosen = parser.parse_args().lessons or list(LESSONS)
    supdr.warm.warm()
    served = Served()
    everything = []
    try:
        with sync_playwright() as playwright:
            for name in chosen:
                browser, page = open_page(playwright, served, f"?lesson={name}&step=1", "lessons")
                steps = measured(page, name)
                browser.close()
                everything += [seconds for _, seconds in steps]
                print(f"{name}: " + ", ".join(f"{seconds:.2f} s ({title})" for title, seconds in steps), flush=True)
    finally:
        served.stop()
    within = sum(seconds <= 1.5 for seconds in everything)
    print(
        f"median {statistics.median(everything):.2f} s, largest {max(everything):.2f} s, "
        f"{within} of {len(everything)} within 1.5 s"
    )


if __name__ == "__main__":
    main()
