"""How fast this machine is: the milliseconds of one fixed loop in Python and in the browser.

The figures of two machines, or of one at different loads, can be compared by them.
"""

from __future__ import annotations

import time

from pages import launch
from playwright.sync_api import sync_playwright

STEPS = 2_000_000
ROUNDS = 3

BROWSER_LOOP = """([steps, rounds]) => {
  let best = Infinity
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    let state = 1
    for (let step = 0; step < 20 * steps; step++) state = (state * 16807) % 2147483647
    if (state > 0) best = Math.min(best, performance.now() - began)
  }
  return best
}"""
"""Milliseconds of twenty times as many steps of the same loop: it is compiled there."""


def python_loop() -> float:
    """Return the milliseconds of the loop, the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began, state = time.perf_counter(), 1
        for _ in range(STEPS):
            state = state * 16807 % 2147483647
        best = min(best, time.perf_counter() - began)
    return 1e3 * best


def browser_loop() -> float:
    """Return the milliseconds of the loop in a browser of its own."""
    with sync_playwright() as playwright:
        browser, page = launch(playwright)
        milliseconds = page.evaluate(BROWSER_LOOP, [STEPS, ROUNDS])
        browser.close()
    return milliseconds


def speed() -> str:
    """Return both in words."""
    return f"loop: Python {python_loop():.0f} ms, browser {browser_loop():.0f} ms"
