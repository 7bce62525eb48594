"""The live loop under load: server cost of a frame, painted frames, latency, lag, many sessions, cost of watching.

    make bench ARGS="--only live"      or      python benchmarks/live.py

Everything is measured with a real server and, but for the many sessions, a real browser on the same machine.
Beside each figure stands how fast the machine was just before: milliseconds of one loop in Python and in the browser.
"""

from __future__ import annotations

import argparse
import statistics
import time
from functools import partial
from urllib.request import Request, urlopen

import numpy as np
from client import Served
from crowds import crowd, followers
from machine import speed
from openings import openings
from pages import FAST, POINTS, arrive, launch, open_page, run_key, settle
from playwright.sync_api import sync_playwright
from watching import watching

from supdr_viz.views.points import point_opacity, point_size

LONG = "&method=SLDR&method.n_models=3&method.tol=0&method.max_iter=600&speed=fast"
GATES = {
    "zigzag": f"?data=zigzag{LONG}&method.n_components=1&method.solver=lbfgs&method.n_init=10",
    "digits in four views": (
        f"?data=multiview_digits&data.classes=halves{LONG}&method.solver=alternating&method.n_init=3"
    ),
}
COMPARED = (
    "?data=spirals&data.n_per_class=250&speed=fast&method=LSDR&method.max_iter=100000&method.tol=0"
    "&b=NSDR&b.solver=sgd&b.max_iter=100000&b.tol=0&c=MAC&c.max_iter=100000&c.tol=0&c.mu_factor=1"
    "&d=SLDR&d.solver=alternating&d.n_models=3&d.n_init=3&d.max_iter=100000&d.tol=0"
)
CERTIFIED = (
    "?data=spirals&data.n_per_class=1000&speed=fast"
    "&method=MAC&method.n_centers=400&method.max_iter=100000&method.tol=0&method.mu_factor=1"
)


def painted(page) -> int:
    """Count the animation frames in which some square was painted."""
    return page.evaluate("() => supdrStage.clock.painted")


MOVING = {20_000: 50, 50_000: 50, 200_000: 20}
"""Rows in three squares, and how often a second they are to be painted."""

MANY = """async ([count, size, opacity]) => {
  const [board] = supdrStage.boards.values(), {clock} = supdrStage
  const sets = [0, 1, 2, 3].map(() => {
    const levels = Int16Array.from({length: 2 * count}, () => 60000 * (Math.random() - 0.5))
    return {levels, extent: [-1, 1, -1, 1]}
  })
  let sent = 0
  const kind = new Uint8Array(count)
  const colour = Uint8Array.from(kind, () => 3 * Math.random())
  board.tree.rows = {...board.tree.rows, colour, shape: colour, kind, size, opacity, outlined: false}
  const show = (patch) => {
    sent += 1
    for (const name of ["input", "latent", "method"]) {
      patch.planes[name] = {place: sets[sent % sets.length]}
      Object.assign(board.tree.planes[name], patch.planes[name])
    }
    board.refresh(patch)
  }
  show({rows: board.tree.rows, planes: {}})
  const times = [], paint = clock.paint
  clock.paint = function (now) {
    const began = performance.now()
    paint.call(this, now)
    times.push(performance.now() - began)
  }
  const before = clock.painted, began = performance.now()
  while (performance.now() - began < 6000) {
    show({planes: {}})
    await new Promise((done) => setTimeout(done, 100))
  }
  clock.paint = paint
  times.sort((a, b) => a - b)
  const quick = times[Math.floor(times.length / 10)]
  return [1000 * (clock.painted - before) / (performance.now() - began), quick]
}"""
"""Paints so many rows in three squares, sent ten times a second, without a server.

Returns paints a second, and the milliseconds of script below which a tenth of them stays: other work on the machine
changes that less.
"""


def watched(served: Served, page, seconds: float) -> tuple[dict, dict, int]:
    """Let a page run for a while; return the gauges before and after, and the paints between.

    Raises
    ------
    RuntimeError
        If the run ends meanwhile: at rest nothing is painted.
    """
    run_key(page)
    page.wait_for_timeout(2000)
    before, seen = served.gauges(), painted(page)
    page.wait_for_timeout(1000 * seconds)
    after, seen = served.gauges(), painted(page) - seen
    page.wait_for_timeout(300)
    if served.gauges()["steps"] == after["steps"]:
        raise RuntimeError("the run was over before it had been watched for long enough")
    return before, after, seen


def frames(served: Served, seconds: float = 10.0) -> list[tuple[str, str, str]]:
    """Painted and sent frames and surfaces a second, what a sent frame costs, and paints of many rows."""
    with sync_playwright() as playwright:
        browser, page = open_page(playwright, served, FAST)
        before, after, seen = watched(served, page, seconds)
        run_key(page)
        page.wait_for_timeout(1000)
        many = {count: page.evaluate(MANY, [count, point_size(count), point_opacity(count)]) for count in MOVING}
        browser.close()
    elapsed = after["now"] - before["now"]
    sent = after["acknowledged"] - before["acknowledged"]
    cost = 1e3 * (after["event_loop_cpu"] - before["event_loop_cpu"]) / max(sent, 1)
    surfaces = (after["surfaces"] - before["surfaces"]) / elapsed
    return [
        ("painted frames, 2,000 points", f"{seen / elapsed:.1f} / s", ">= 50 / s"),
        ("sent frames", f"{sent / elapsed:.1f} / s", ">= 10 / s"),
        ("server cost of a sent frame", f"{cost:.2f} ms", "<= 2 ms"),
        ("surfaces beside them", f"{surfaces:.1f} / s", ">= 3 / s"),
        *(
            (
                f"painted frames, {count:,} points (browser alone)",
                f"{rate:.1f} / s, {quick:.1f} ms of script",
                f">= {MOVING[count]} / s",
            )
            for count, (rate, quick) in many.items()
        ),
    ]


def certified(served: Served, seconds: float = 10.0) -> list[tuple[str, str, str]]:
    """Painted and sent frames of MAC on two spirals of 1,000 points each, while its lower bound is found."""
    with sync_playwright() as playwright:
        browser, page = open_page(playwright, served, CERTIFIED)
        before, after, seen = watched(served, page, seconds)
        browser.close()
    elapsed = after["now"] - before["now"]
    sent, steps = ((after[name] - before[name]) / elapsed for name in ("acknowledged", "steps"))
    return [
        ("painted frames, MAC with its certificate", f"{seen / elapsed:.1f} / s", ">= 40 / s"),
        ("sent frames, MAC with its certificate", f"{sent:.1f} / s, {steps:.1f} steps / s", ">= 8 / s"),
    ]


def compared(served: Served, seconds: float = 10.0) -> list[tuple[str, str, str]]:
    """Painted frames of each of four methods in lock-step on 500 points, and how many steps they take."""
    with sync_playwright() as playwright:
        browser, page = open_page(playwright, served, COMPARED, "compare")
        page.wait_for_timeout(2000)
        before, after, seen = watched(served, page, seconds)
        browser.close()
    elapsed = after["now"] - before["now"]
    rates = [(b - a) / elapsed for a, b in zip(before["per_session"], after["per_session"], strict=True)]
    steps = (after["steps"] - before["steps"]) / elapsed / len(rates)
    count = after["acknowledged"] - before["acknowledged"]
    cost = 1e3 * (after["event_loop_cpu"] - before["event_loop_cpu"]) / max(count, 1)
    return [
        ("painted frames of four columns", f"{seen / elapsed:.1f} / s", ">= 30 / s"),
        ("sent frames of each", ", ".join(f"{rate:.1f}" for rate in rates) + " / s", ""),
        ("server cost of such a frame, table included", f"{cost:.2f} ms", ""),
        ("steps of each beside them", f"{steps:.0f} / s", ""),
    ]


def latency(served: Served, changes: int = 30) -> list[tuple[str, str, str]]:
    """Control change → first new frame, measured in the browser."""
    with sync_playwright() as playwright:
        browser, page = open_page(playwright, served, FAST)
        page.evaluate(
            """() => {
              window.painted = {}; window.pressed = []
              const [board] = supdrStage.boards.values(), send = board.send
              board.send = (message) => {
                if (message.kind === "painted") window.painted[message.number] ??= performance.now()
                send(message)
              }
              document.addEventListener("keydown", (e) => {
                if (e.key.startsWith("Arrow")) window.pressed.push(performance.now())
              }, true)
            }"""
        )
        run_key(page)
        page.wait_for_timeout(1500)
        knob = page.locator('input[type=range][aria-label^="Reconstruction share"]').first
        knob.focus()
        known = len(served.gauges()["changed"])
        for number in range(changes):
            page.keyboard.press("ArrowRight" if number % 2 == 0 else "ArrowLeft")
            page.wait_for_timeout(400 + 37 * (number % 5))
        painted, pressed = page.evaluate("() => [window.painted, window.pressed]")
        changed = served.gauges()["changed"][known:]
        browser.close()
    waits = []
    for number in changed:
        shown = painted.get(str(number))
        earlier = [moment for moment in pressed if shown is not None and moment <= shown]
        if earlier:
            waits.append(shown - earlier[-1])
    text = f"p50 {np.percentile(waits, 50):.0f} ms, p95 {np.percentile(waits, 95):.0f} ms ({len(waits)} changes)"
    return [("control change to first new frame", text, "p95 <= 180 ms")]


def throttled(served: Served, seconds: float = 60.0) -> list[tuple[str, str, str]]:
    """Lag of a browser slowed down twelvefold, after one minute."""
    with sync_playwright() as playwright:
        browser, page = open_page(playwright, served, POINTS)
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 12})
        run_key(page)
        time.sleep(seconds)
        lags = served.gauges()["lags"]
        browser.close()
    if not lags:
        return [("lag, browser throttled 12 times", "no frame in the last 10 s", "<= 1 s")]
    text = f"median {statistics.median(lags):.2f} s, largest {max(lags):.2f} s ({len(lags) / 10:.1f} frames / s)"
    return [(f"lag after {seconds:.0f} s, browser throttled 12 times", text, "<= 1 s")]


SCRIPTS = """performance.getEntriesByType("resource").map(({name}) => name)
  .filter((name) => /\\.(js|css)\\b/.test(name))"""


def travelling(addresses: list[str]) -> tuple[float, float]:
    """Return megabytes of files as they travel over a network, and as they are; asked for once before."""
    sizes = []
    for headers in ({"Host": "elsewhere", "Accept-Encoding": "gzip"}, {"Accept-Encoding": "identity"}):
        for _ in range(2):
            total = sum(len(urlopen(Request(each, headers=headers)).read()) for each in addresses)
            time.sleep(1.0)  # they are packed meanwhile
        sizes.append(total / 1e6)
    return sizes[0], sizes[1]


SEEN = """() => new Promise((done) => {
  let shift = 0
  const ended = Number(document.documentElement.dataset.stillEnded)
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) if (each.startTime > ended) shift += each.value
  }).observe({type: "layout-shift", buffered: true})
  const [paint] = performance.getEntriesByName("first-contentful-paint")
  setTimeout(() => done([paint.startTime / 1000, shift]), 100)
})"""
"""Seconds until something is seen, by the browser's clock from the request for the page; and how much of the page moved
after the still had gone: the sum of what the browser calls layout shifts."""


def visits(served: Served, rounds: int = 3) -> list[tuple[str, str, str]]:
    """Start of the server, first visits of new browsers, further ones of one of them, and the first live frame.

    A new browser has an empty profile: it has to fetch all scripts, and to compile them.
    """
    first, built, seen = [], [], []
    with sync_playwright() as playwright:
        for _ in range(rounds):
            browser, page = launch(playwright)
            first.append(arrive(page, served.url))
            built.append(settle(page))
            seen.append(page.evaluate(SEEN))
            scripts = page.evaluate(SCRIPTS)
            browser.close()
        browser, page = open_page(playwright, served, POINTS)
        further = [arrive(page, served.url) for _ in range(rounds)]
        began = time.monotonic()
        page.goto(served.url + POINTS)
        page.wait_for_load_state("networkidle")
        idle = time.monotonic() - began
        page.wait_for_selector(".status .numbers b", timeout=60_000)
        page.wait_for_timeout(1500)
        frames_before = served.gauges()["acknowledged"]
        began = time.monotonic()
        run_key(page)
        while served.gauges()["acknowledged"] <= frames_before:
            page.wait_for_timeout(20)
        shown = time.monotonic() - began
        browser.close()
    sent, unpacked = travelling(scripts)
    paints, shifts = zip(*seen, strict=True)
    return [
        ("server start to page ready", f"{served.page_ready:.1f} s", "<= 4 s"),
        ("until the still of the page is seen", f"{statistics.median(paints):.2f} s", "<= 0.5 s"),
        ("what moves in the page afterwards", f"{max(shifts):.4f} layout shift", "0"),
        ("first visit, a browser with an empty profile", f"{statistics.median(first):.2f} s", "<= 1.9 s"),
        ("until all of it is built and at rest", f"{statistics.median(built):.2f} s", ""),
        ("its scripts and style sheets over a network", f"{sent:.1f} MB, {unpacked:.1f} MB unpacked", ""),
        ("a further visit", f"{statistics.median(further):.2f} s", ""),
        ("a further visit, network idle", f"{idle:.1f} s", "<= 3 s"),
        ("run to first live frame", f"{shown:.2f} s", "<= 2 s"),
    ]


def gates(served: Served, rounds: int = 3) -> list[tuple[str, str, str]]:
    """Painted frames a second of SLDR's gating regions, over whole long runs."""
    rows = []
    with sync_playwright() as playwright:
        for name, query in GATES.items():
            browser, page = open_page(playwright, served, query)
            count, seen, elapsed = 0, 0, 0.0
            for _ in range(rounds):
                page.locator("body").press("r")
                page.wait_for_timeout(1500)
                before, first = served.gauges(), painted(page)
                run_key(page)
                while "finished" not in page.locator(".status .chip").first.text_content():
                    page.wait_for_timeout(50)
                after = served.gauges()
                seen += painted(page) - first
                count += after["acknowledged"] - before["acknowledged"]
                elapsed += after["now"] - before["now"]
            browser.close()
            target = ">= 40 painted" if name == "zigzag" else ""
            rows.append(
                (f"SLDR's gate on {name}", f"{count / elapsed:.1f} / s sent, {seen / elapsed:.1f} / s painted", target)
            )
    return rows


def atlas(served: Served) -> list[tuple[str, str, str]]:
    """ClassAtlas on the digits at the page's own speed: iterations a second, and seconds until the map settles."""
    with sync_playwright() as playwright:
        browser, page = open_page(playwright, served, "?data=digits&method=ClassAtlas")
        before = served.gauges()
        run_key(page)
        while "finished" not in page.locator(".status .chip").first.text_content():
            page.wait_for_timeout(50)
        after = served.gauges()
        browser.close()
    elapsed = after["now"] - before["now"]
    shown, steps = ((after[name] - before[name]) / elapsed for name in ("acknowledged", "steps"))
    return [
        ("iterations shown, ClassAtlas on digits", f"{shown:.1f} / s, {steps:.1f} taken / s", ">= 8 / s"),
        ("until its map settles", f"{elapsed:.1f} s", "<= 20 s"),
    ]


PARTS = {
    "visits": visits,
    "openings": openings,
    "frames": frames,
    "gates": gates,
    "compared": compared,
    "latency": latency,
    "certified": certified,
    "atlas": atlas,
    "watching": partial(watching, query=FAST),
    "crowd": crowd,
    "followers": followers,
    "throttled": throttled,
}


def main(argv: list[str] | None = None) -> list[tuple[str, str, str]]:
    """Measure and print; returns the rows (what, measured, target)."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--workers", type=int, default=1, help="processes of the server, for the part crowd")
    asked = parser.parse_args(argv)
    chosen = asked.parts or list(PARTS)
    rows = []
    for name in chosen:
        machine = speed()
        served = Served(asked.workers if name == "crowd" else 1)
        try:
            for row in PARTS[name](served):
                print("{:<46} {:<52} {:<12} {}".format(*row, machine), flush=True)
                rows.append(row)
        finally:
            served.stop()
    return rows


if __name__ == "__main__":
    main()
