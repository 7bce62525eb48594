"""Take the pictures of README and documentation: start the app, drive it in Chromium, save docs/images/*.png and a GIF.

.venv/bin/python scripts/screenshots.py [NAME ...]
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, sync_playwright

from supdr_viz.experiment.experiment import Experiment
from supdr_viz.export.film import gif
from supdr_viz.export.progress import no_progress
from supdr_viz.export.work import export_work, filming
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase

FOLDER = Path(__file__).parents[1] / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
FILM, REPORT, MOMENTS = "spirals", "watch", 20
TABLE = "plant,seen on,height,weight,soil,kind\n" + "".join(
    f"P{1000 + k},2024-05-{1 + k % 28:02d},{20 + 3 * (k % 5) + k % 7},{'' if k % 11 == 0 else 100 + 9 * (k % 6)},"
    f"{('clay', 'sand', 'loam')[k % 3]},{('iris', 'rose')[k // 2 % 2]}\n"
    for k in range(60)
)


def run(page: Page) -> None:
    """Run to the end."""
    page.wait_for_selector(".status .numbers b", timeout=60_000)
    page.wait_for_timeout(1500)
    page.locator("body").press("Space")
    page.get_by_text("finished", exact=True).wait_for(timeout=900_000)
    page.wait_for_timeout(2500)


def run_and_pull(page: Page) -> None:
    """Run to the end, and join the rows to where they would stand as new ones."""
    run(page)
    page.get_by_role("button", name="pull", exact=True).click()
    page.wait_for_timeout(2500)


def bring_a_table(page: Page) -> None:
    """Choose a file of one's own, and look at its columns."""
    page.wait_for_selector(".status .numbers b", timeout=60_000)
    page.get_by_role("button", name="Open a file …", exact=True).first.click()
    chooser = page.locator("input[type=file]").last
    chooser.wait_for(state="attached")
    chooser.set_input_files({"name": "plants.csv", "mimeType": "text/csv", "buffer": TABLE.encode()})
    page.get_by_text("60 rows, 6 columns").wait_for()
    page.wait_for_timeout(2500)


def sweep(page: Page) -> None:
    """Fit every cell."""
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("finished", exact=True).wait_for(timeout=600_000)
    page.wait_for_timeout(2500)


def run_three_maps(page: Page) -> FloatRect:
    """Run to the end, and return where the heads of the columns and their latent spaces stand."""
    run(page)
    links, below = page.get_by_text("Open in explorer"), page.get_by_text("Input space")
    places = (page.get_by_text("Latent space").first, links.last, below.first)
    first, last, end = (each.bounding_box() for each in places)
    assert first is not None
    assert last is not None
    assert end is not None
    left, top = first["x"] - 12, last["y"] - 10
    return {"x": left, "y": top, "width": last["x"] + last["width"] + 12 - left, "height": end["y"] - 2 - top}


SHOTS: dict[str, tuple[str, str, Callable[[Page], FloatRect | None]]] = {
    "explorer-light": ("light", "explorer", run),
    "explorer-dark": ("dark", "explorer", run),
    "pull": (
        "light",
        "explorer?data=spirals&data.n_per_class=150&data.noise=0.02&method=NSDR&method.C=10",
        run_and_pull,
    ),
    "trust": ("light", "explorer?data=digits&method=ClassAtlas&test=0.5&view.colour=trust", run),
    "columns": ("light", "explorer", bring_a_table),
    "sweep": ("light", "sensitivity", sweep),
    "three-maps": (
        "light",
        "compare?data=digits&method=MAC&method.n_components=2&method.n_layers=2&b=ClassAtlas&c=TSNE",
        run_three_maps,
    ),
}
"""Name of a picture -> theme, page, what is done there; that returns which part of the page it shows, None: all."""


def main(names: list[str]) -> None:
    """Take the pictures of these names; without any, all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not names or FILM in names:
        (FOLDER / f"{FILM}.gif").write_bytes(film())
    with serving() as server, chromium() as browser:
        for name in [name for name in SHOTS if not names or name in names]:
            scheme, address, act = SHOTS[name]
            page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
            page.goto(f"{server}/{address}")
            part = act(page)
            page.evaluate("document.documentElement.dataset.settle = 'all'")
            page.wait_for_selector('html[data-settled="all"]', state="attached", timeout=300_000)
            save(page, FOLDER / f"{name}.png", part)
            page.close()
        if not names or REPORT in names:
            page = browser.new_page(viewport={"width": 1100, "height": 940})
            page.set_content(film("report").decode())
            page.wait_for_timeout(2500)
            save(page, FOLDER / f"{REPORT}.png")


@contextmanager
def serving() -> Iterator[str]:
    """Serve the app; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "supdr_viz.cli", "--port", str(port), "--no-browser"])
    try:
        wait_for(f"http://localhost:{port}/explorer")
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def wait_for(url: str) -> None:
    """Wait until the server answers; a first start compiles."""
    while True:
        try:
            urllib.request.urlopen(url, timeout=60).close()
            return
        except OSError:
            time.sleep(0.2)


def save(page: Page, path: Path, part: FloatRect | None = None) -> None:
    """Save the page, or a part of it, with a reduced palette: a tenth of the size, no visible loss."""
    page.screenshot(path=path, clip=part)
    Image.open(path).convert("RGB").quantize(256, kmeans=1).save(path, optimize=True)


def film(kind: str = "film") -> bytes:
    """Run the story that the explorer opens on, and return it as an animated GIF, or as the report of a notebook."""
    opening = PRESETS.opening
    with closing(Session(Pool(1), lambda: None)) as session:
        settings = opening.settings.with_options(max_iter=opening.slow_start + 4)
        session.apply(Experiment(replace(settings, speed="fast")))
        session.player.run()
        while session.player.status.phase is not Phase.finished:
            time.sleep(0.1)
        work, report = filming(session, MOMENTS), export_work(session, "report")
        assert work is not None
        assert report is not None
        return gif(work()) if kind == "film" else report(no_progress)


if __name__ == "__main__":
    main(sys.argv[1:])
