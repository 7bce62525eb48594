"""`watch` in a real JupyterLab: pictures while the fit runs, then a report that outlives the kernel."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Server
from tests.browser.notebook_cases import ASK, CODE, check_scrubber

TOKEN = "loopback"
PANELS = "@pyviz/jupyterlab_pyviz"
IDLE = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
OUTPUT = ".jp-OutputArea-output"
# Until then JupyterLab drops keys, or asks which kernel is meant.
CONNECTED = """async () => {
    const {sessionContext} = jupyterapp.shell.currentWidget
    await sessionContext.ready
    await sessionContext.session.kernel.info
}"""
REMEMBER_PICTURES = """() => {
    window.pictures = new Set()
    new MutationObserver(() => {
        const shown = document.querySelectorAll(".jp-OutputArea-output img:only-child")  // the report has one beside it
        for (const image of shown) window.pictures.add(image.src)
    }).observe(document.body, {subtree: true, childList: true, attributes: true, attributeFilter: ["src"]})
}"""


class Lab(Server):
    """JupyterLab on the loopback interface, with settings, kernels' state and trust in the folder given."""

    def __init__(self, folder):
        self.folder = folder
        mine = {
            name: str(folder / name.lower())
            for name in (
                "JUPYTER_CONFIG_DIR",
                "JUPYTER_DATA_DIR",
                "JUPYTER_RUNTIME_DIR",
                "JUPYTERLAB_SETTINGS_DIR",
                "JUPYTERLAB_WORKSPACES_DIR",
                "IPYTHONDIR",
            )
        }
        # Panel's way to the kernel is switched off: `watch` does not need it.
        config = Path(mine["JUPYTER_CONFIG_DIR"]) / "labconfig"
        config.mkdir(parents=True)
        (config / "page_config.json").write_text(json.dumps({"disabledExtensions": {PANELS: True}}))
        super().__init__(folder, environment={**mine, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)})

    def command(self, arguments):
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": self.port,
            "ServerApp.port_retries": 0,
            "ServerApp.root_dir": self.folder,
            "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,
            "IdentityProvider.token": TOKEN,
            "LabApp.news_url": None,
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "LabApp.extension_manager": "readonly",
            "LabApp.expose_app_in_browser": True,
        }
        return [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in options.items())]

    def _wait(self):
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"JupyterLab ended with status {self.process.returncode}:\n{self.log}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api", timeout=30):
                    return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError(f"JupyterLab did not answer:\n{self.log}")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:  # it was starting a kernel, which ends with it
            self.process.kill()
            self.process.wait(timeout=60)
        self._out.close()

    def open(self, chromium, name):
        """Open a notebook of the folder in a page of its own."""
        page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.goto(f"http://127.0.0.1:{self.port}/lab/tree/{name}?token={TOKEN}")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=120_000)
        return page


@pytest.fixture
def start_lab(tmp_path):
    running = []

    def start(name, notebook):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "watch.ipynb").write_text(json.dumps(notebook))
        running.append(Lab(folder))
        return running[-1]

    yield start
    for lab in running:
        lab.stop()


def written(code, kernel):
    """Make a notebook with two cells that have not run."""
    cell, asked = (
        {"id": name, "cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        for name, source in (("watch", code), ("ask", ASK))
    )
    spec = {"name": kernel, "display_name": kernel, "language": "python"}
    return {"cells": [cell, asked], "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}


def check_selection(page):
    """A lasso around most rows, and the first iteration, come back to Python."""
    frame = page.frame_locator(f"{OUTPUT} iframe")
    frame.locator("#scrub").press("Home")
    view = frame.locator("#latent canvas").first
    view.scroll_into_view_if_needed()
    box = view.bounding_box()
    left, top, right, bottom = 2, 2, box["width"] - 3, box["height"] - 3
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    page.mouse.move(box["x"] + left, box["y"] + top)
    page.mouse.down()
    for x, y in corners[1:]:
        page.mouse.move(box["x"] + x, box["y"] + y, steps=4)
    page.mouse.up()
    asking = page.locator(".jp-CodeCell").nth(1)
    answer = asking.locator(f"{OUTPUT} pre")

    def ask():
        asking.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(IDLE)
        return [int(number) for number in answer.inner_text().split()] if answer.count() else [0, -1]

    end = time.monotonic() + 30
    selected, iteration = ask()
    while not (selected > 60 and iteration == 0) and time.monotonic() < end:
        time.sleep(0.1)
        selected, iteration = ask()
    assert selected > 60
    assert iteration == 0
    frame.locator("#scrub").press("End")


def run_and_save(page, path):
    """Run the cell, see pictures and then the report in their place, and save; what the file then holds."""
    prompt, cell = page.locator(".jp-CodeCell .jp-InputPrompt").first, page.locator(".jp-CodeCell .cm-content").first
    page.wait_for_selector(IDLE, timeout=120_000)
    page.evaluate(CONNECTED)
    page.evaluate(REMEMBER_PICTURES)
    cell.click()
    page.keyboard.press("Control+Enter")
    expect(prompt).to_have_text(re.compile(r"[*\d]"))
    # The first run of all compiles the kernels.
    page.wait_for_selector(f"{OUTPUT} iframe, {OUTPUT} pre", timeout=120_000)
    assert [text for text in page.locator(f"{OUTPUT} pre").all_inner_texts() if text] == []  # no error
    assert page.evaluate("window.pictures.size") > 2, "the picture did not follow the fit"
    expect(page.locator(f"{OUTPUT} iframe")).to_have_count(1)  # the report took the picture's place
    expect(page.locator(f"{OUTPUT} img")).to_be_hidden()
    check_scrubber(page.frame_locator(f"{OUTPUT} iframe"))
    check_selection(page)
    cell.click()  # keys in the report stay in the report
    page.keyboard.press("Control+s")
    end = time.monotonic() + 30
    while "srcdoc" not in path.read_text() and time.monotonic() < end:
        time.sleep(0.1)
    return json.loads(path.read_text())


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_fit_is_watched_and_stays_in_the_saved_notebook(start_lab, chromium, tmp_path):
    if importlib.util.find_spec("jupyterlab") is None:
        pytest.fail("JupyterLab is not installed; `make test-all` installs it (extra [test-all])", pytrace=False)
    lab = start_lab("mine", written(CODE, "python3"))
    page = lab.open(chromium, "watch.ipynb")
    assert not page.evaluate("(name) => jupyterapp.hasPlugin(`${name}:plugin`)", PANELS)
    saved = run_and_save(page, lab.folder / "watch.ipynb")
    report, channel = saved["cells"][0]["outputs"]
    assert "text/html" in report["data"]
    assert {kind: "".join(text) for kind, text in channel["data"].items()} == {
        "text/plain": ""
    }  # nothing of the way back to the kernel stays
    page.context.close()
    lab.stop()

    # A file from disk: no kernel, no server, no network.
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--output-dir", str(tmp_path), "--log-level", "ERROR"]
    subprocess.run([*command, str(lab.folder / "watch.ipynb")], check=True, timeout=120)
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    context.route(lambda url: url.startswith("http"), lambda route: route.abort())
    page = context.new_page()
    page.goto((tmp_path / "watch.html").as_uri())
    expect(page.locator(f"{OUTPUT} img")).to_be_hidden()
    check_scrubber(page.frame_locator(f"{OUTPUT} iframe"))
    context.close()

    # Somebody else's JupyterLab does not trust the notebook: it shows the last picture, before anything ran.
    page = start_lab("theirs", saved).open(chromium, "watch.ipynb")
    page.wait_for_selector(IDLE, timeout=120_000)
    picture = page.locator(f"{OUTPUT} img")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 500
    assert picture.get_attribute("alt").startswith("LSDR, iteration 40")
    expect(page.locator(f"{OUTPUT} iframe")).to_have_count(0)
    page.context.close()
