"""`watch` where there is neither JupyterLab nor Panel: a real kernel, and a page that is just enough of a notebook.

Front ends differ in where outputs stand.  In VS Code all share one page, whose policy lets no script ask anybody for
anything; in Colab every cell has a frame of its own, which may do less.  Both kinds of page are built here from what
their makers say of them; neither program itself is run.
"""

import queue

import pytest
from playwright.sync_api import expect

from tests.browser.notebook_cases import ASK, CODE, check_scrubber

# What every front end does: outputs by their number, brought up to date in place; an anywidget from the text of its
# module, `initialize` once for a model and `render` for a view, and changes sent when it says so.
FRONT = """
window.cells = new Map(); window.models = new Map(); window.pictures = new Set()
window.put = (id, data) => {
  if (!cells.has(id)) { cells.set(id, document.createElement("div")); document.body.append(cells.get(id)) }
  const cell = cells.get(id), view = data["application/vnd.jupyter.widget-view+json"]
  if (view && models.has(view.model_id)) return models.get(view.model_id).show(cell)
  if (data["image/png"] && !data["text/html"]) pictures.add(data["image/png"])
  const picture = data["image/png"] ? `<img src="data:image/png;base64,${data["image/png"]}">` : ""
  cell.innerHTML = data["text/html"] ?? picture
}
window.begin = (id, state) => {
  const changed = {}
  const model = {
    get: (name) => state[name], set: (name, value) => { state[name] = changed[name] = value }, on() {}, off() {},
    save_changes: () => { tell(id, {...changed}); for (const name in changed) delete changed[name] },
  }
  const url = URL.createObjectURL(new Blob([state._esm], {type: "text/javascript"}))
  const made = import(url).then(async ({default: widget}) => { await widget.initialize?.({model}); return widget })
  models.set(id, {show: async (el) => (await made).render?.({model, el})})
}
"""
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; style-src 'unsafe-inline'; "
    "img-src https: data:; font-src https:; connect-src https:; child-src https: data: blob:"
)
ONE_PAGE = (
    f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{POLICY}"><body><script>{FRONT}</script>'
)
INNER = f"<!doctype html><body><script>{FRONT}</script>".replace('"', "&quot;")
FRAMES = (
    '<!doctype html><body><iframe style="width:100%;height:1200px;border:0" sandbox="allow-scripts" '
    f'srcdoc="{INNER}"></iframe>'
)


class Notebook:
    """A kernel whose outputs are shown in a page."""

    def __init__(self, page, html, widgets=True):
        from jupyter_client.manager import start_new_kernel

        self.page, self.widgets, self.count, self.told = page, widgets, 0, {}
        page.expose_function("tell", self._tell)
        page.set_content(html)
        self.frame = page.frames[-1]
        self.frame.wait_for_function("typeof window.put === 'function'")
        self.manager, self.client = start_new_kernel(kernel_name="python3", startup_timeout=60)

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def _tell(self, comm, changes):
        self.told |= changes
        content = {"comm_id": comm, "data": {"method": "update", "state": changes, "buffer_paths": []}}
        self.client.shell_channel.send(self.client.session.msg("comm_msg", content))

    def run(self, code):
        """Run a cell and show what comes of it; return what it printed."""
        asked, printed = self.client.execute(code), ""
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=120)
            except queue.Empty:
                pytest.fail("the kernel fell silent")
            kind, content = message["msg_type"], message["content"]
            assert kind != "error", "\n".join(content.get("traceback", []))
            if kind in ("display_data", "update_display_data"):
                self.count += 1
                where = content.get("transient", {}).get("display_id", str(self.count))
                self.frame.evaluate("([where, data]) => put(where, data)", [where, content["data"]])
            known = kind == "comm_open" and "_esm" in content["data"].get("state", {})  # layouts are widgets, too
            if known and self.widgets:
                self.frame.evaluate("([id, state]) => begin(id, state)", [content["comm_id"], content["data"]["state"]])
            if kind == "stream" and content["name"] == "stdout":
                printed += content["text"]
            mine = message["parent_header"].get("msg_id") == asked
            if mine and kind == "status" and content["execution_state"] == "idle":
                return printed

    def until_told(self, name, value=None):
        """Wait until the widget has sent a value to the kernel: any, or this one."""
        while name not in self.told or value not in (None, self.told[name]):
            self.page.wait_for_timeout(20)

    @property
    def report(self):
        return next(frame for frame in self.page.frames if frame.parent_frame == self.frame)


def lasso(report):
    """Draw a loop around the whole latent space, as a hand does."""
    report.locator("#latent canvas").first.scroll_into_view_if_needed()
    box = report.locator("#latent canvas").first.bounding_box()
    left, top, right, bottom = (
        box["x"] + 2,
        box["y"] + 2,
        box["x"] + box["width"] - 3,
        box["y"] + box["height"] - 3,
    )
    mouse = report.page.mouse
    mouse.move(left, top)
    mouse.down()
    for place in ((right, top), (right, bottom), (left, bottom), (left, top)):
        mouse.move(*place, steps=4)
    mouse.up()


@pytest.fixture
def open_notebook(chromium):
    opened = []

    def open_(html, widgets=True):
        page = chromium.new_context(viewport={"width": 1200, "height": 1300}).new_page()
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        opened.append(Notebook(page, html, widgets))
        return opened[-1]

    problems = []
    yield open_
    for notebook in opened:
        notebook.close()
        notebook.page.context.close()
    assert problems == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("html", [ONE_PAGE, FRAMES], ids=["one page", "a frame for each cell"])
def test_frames_move_and_the_selection_comes_back(open_notebook, html):
    notebook = open_notebook(html)
    notebook.run(CODE)
    assert notebook.frame.evaluate("pictures.size") > 2, "the picture did not follow the fit"
    notebook.frame.wait_for_selector("iframe.supdr-run")
    assert not notebook.frame.locator("img").first.is_visible()  # the report took the picture's place
    check_scrubber(notebook.report)
    notebook.until_told("iteration", 40)
    assert notebook.run(ASK).split() == ["0", "40"]  # the scrubber stands at the end
    notebook.told.clear()
    notebook.report.locator("#scrub").press("Home")
    expect(notebook.report.locator("#numbers")).to_contain_text("iteration 0 ")
    lasso(notebook.report)
    notebook.until_told("rows")
    chosen, iteration = map(int, notebook.run(ASK).split())
    assert 60 < chosen <= 120
    assert iteration == 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_without_widgets_the_report_is_played(open_notebook):
    notebook = open_notebook(ONE_PAGE, widgets=False)
    notebook.run(CODE)
    check_scrubber(notebook.report)
    lasso(notebook.report)
    assert notebook.run(ASK).split() == ["0", "40"]
