"""How long the answers to "may I believe this map?" take, how soon they stop, and what the page paints meanwhile.

python benchmarks/belief.py [--only permutations stability cancel rows page]

Kernels are compiled before anything is measured.  The part "page" needs a browser, see CONTRIBUTING.md.
"""

from __future__ import annotations

import argparse
import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

from client import Served
from live import watched
from pages import FAST, open_page, run_key
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits, make_classification
from threadpoolctl import threadpool_limits

import supdr
import supdr.warm
from supdr.engine.interruption import Interrupted
from supdr.quality import explain_row, label_permutation, stability

Rows = list[tuple[str, str, str]]

PROCESSORS = 2


def seconds(work: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Return how long a call takes, and for how long processors work: on a busy machine the former says little."""
    began = time.process_time()
    took = seconds(work)
    return took, time.process_time() - began


def of_processors(times: tuple[float, float]) -> str:
    """Write what `timed` returns."""
    return f"{times[0]:.1f} s, {times[1]:.1f} s of the processors"


def permutations() -> Rows:
    """Time 99 permutations of 500 rows of three classes."""
    X, y = make_classification(500, 20, n_informative=5, n_classes=3, random_state=0)
    rows = []
    for name, model in (("MAC", supdr.MAC(random_state=0)), ("ClassAtlas", supdr.ClassAtlas(random_state=0))):
        took = timed(lambda model=model: label_permutation(model, X, y, n_permutations=99, n_jobs=PROCESSORS))
        rows.append((f"99 permutations, {name}, 500 rows", of_processors(took), "<= 10 s" if name == "MAC" else ""))
    return rows


def seeds() -> Rows:
    """Time 20 seeds on digits."""
    X, y = load_digits(return_X_y=True)
    rows = []
    for name, model in (("MAC", supdr.MAC(2, random_state=0)), ("ClassAtlas", supdr.ClassAtlas(random_state=0))):
        took = timed(lambda model=model: stability(model, X, y, n=20, n_jobs=PROCESSORS))
        rows.append((f"stability, 20 seeds, {name}, digits", of_processors(took), "<= 60 s"))
    return rows


def cancel() -> Rows:
    """Time how long work goes on after a request to stop: the longest of several moments."""
    X, y = load_digits(return_X_y=True)
    rows = []
    for name, model in (("MAC", supdr.MAC(2, random_state=0)), ("ClassAtlas", supdr.ClassAtlas(random_state=0))):
        late = [_lateness(model, X, y, wait) for wait in (0.2, 0.5, 1.0, 1.5, 2.0)]
        rows.append((f"cancel, {name}, digits", f"{max(late):.2f} s", "<= 1 s"))
    return rows


def _lateness(model: Any, X: Any, y: Any, wait: float) -> float:
    """Return the seconds between the wish to stop and the end."""
    stop = threading.Event()

    def work() -> None:
        with contextlib.suppress(Interrupted):
            label_permutation(model, X, y, n_permutations=99, interrupted=stop.is_set)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(wait)
    stop.set()
    return seconds(thread.join)


def rows() -> Rows:
    """Time the explanation of a row of digits, by each method with a formula of its own."""
    X, y = load_digits(return_X_y=True)
    models = {
        "MAC": supdr.MAC(2, max_iter=5, random_state=0),
        "MAC, two layers": supdr.MAC(n_layers=2, random_state=0),
        "ClassAtlas": supdr.ClassAtlas(max_iter=5, random_state=0),
        "ClassAtlas, separation .5": supdr.ClassAtlas(separation=0.5, max_iter=70, random_state=0),
        "LSDR": supdr.LSDR(2, max_iter=5, random_state=0),
        "NSDR": supdr.NSDR(2, max_iter=5, random_state=0),
        "SLDR": supdr.SLDR(2, max_iter=3, random_state=0),
        "SDR-GLM": supdr.SDRGLM(2, max_iter=5, random_state=0),
        "SNF": supdr.SNF(2, max_iter=5, random_state=0),
    }
    rows = []
    for name, model in models.items():
        model.fit(X, y)
        explain_row(model, X[0])
        took, used = timed(lambda model=model: [explain_row(model, row) for row in X[:20]])
        text = f"{50 * took:.1f} ms, {50 * used:.1f} ms of the processors"
        rows.append((f"explanation of a row, {name}, digits", text, "<= 50 ms"))
    return rows


def page(length: float = 10.0) -> Rows:
    """Count the painted frames of a run without and beside permutations on the same page."""
    served, rates = Served(), {}
    try:
        with sync_playwright() as playwright:
            browser, page = open_page(playwright, served, FAST)
            for name in ("alone", "beside permutations"):
                before, after, seen = watched(served, page, length)
                rates[name] = seen / (after["now"] - before["now"])
                run_key(page)
                page.wait_for_timeout(1000)
                if name == "alone":
                    page.get_by_role("button", name="How reliable is this map?", exact=True).click()
                    page.get_by_role("button", name="Shuffle the labels").click()
                    page.get_by_role("button", name="Stop").wait_for()
                    page.evaluate("document.activeElement.blur()")
            browser.close()
    finally:
        served.stop()
    return [
        (f"painted frames {name}, 2,000 points", f"{rate:.1f} / s", "60 / s, or as alone")
        for name, rate in rates.items()
    ]


PARTS = {"permutations": permutations, "stability": seeds, "cancel": cancel, "rows": rows, "page": page}


def main() -> None:
    """Measure what was asked for and print it beside its target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    supdr.warm.warm()
    with threadpool_limits(limits=1):
        for name in parser.parse_args().only:
            for row in PARTS[name]():
                print("{:<46} {:<34} {}".format(*row), flush=True)


if __name__ == "__main__":
    main()
