"""The pages through a user's eyes and hands: what the browser tests share."""

import itertools
import re

import numpy as np
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from playwright.sync_api import expect

TIMEOUT = 60_000
"""Milliseconds after which what was waited for has failed to come; on an idle machine it comes within seconds."""

expect.set_options(timeout=TIMEOUT)

HELPERS = """
document.addEventListener("DOMContentLoaded", () => { window.first_theme = document.documentElement.dataset.theme })
window.named = (name) => Bokeh.documents.map((doc) => doc.get_model_by_name(name)).find((model) => model != null)
window.run_of = (name) => (name.includes(" ") ? name.split(" ")[0] : "explorer")
window.board = (run) => [...supdrStage.boards.values()].find((each) => each.tree.name === run)
window.square = (name) => globalThis.supdrStage && board(run_of(name))?.planes.get(name.split(" ").pop())
window.chart = (name) => [...supdrStage.boards.values()].map((each) => each.charts.get(name)).find((each) => each)
window.element = (name) => (square(name) ?? chart(name)).canvas
window.place = (name, x, y) => {
  const plane = square(name), box = plane.canvas.getBoundingClientRect()
  return [box.left + plane.frame.x(x), box.top + plane.frame.y(y)]
}
window.column = (name, label) => {
  const {lines, points} = chart(name).tree, wide = lines.length + 1
  const at = 1 + lines.findIndex((line) => line.name === label)
  return Array.from({length: points.shape[0]}, (_, row) => points[row * wide + at])
}
window.curve = (name, label) => column(name, label).filter(Number.isFinite)
window.places = (name) => Array.from({length: square(name).places.length / 2}, (_, row) =>
  Array.from(square(name).places.slice(2 * row, 2 * row + 2)))
"""
"""Questions to figures, squares and charts.  A square is called by its view, beside others after its run: A latent."""

LONGEST_MOTION = """() => {
  let longest = 0
  const walk = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.shadowRoot) walk(each.shadowRoot)
      const style = getComputedStyle(each)
      for (const part of `${style.transitionDuration},${style.animationDuration}`.split(","))
        longest = Math.max(longest, parseFloat(part))
    }
  }
  walk(document)
  return longest
}"""

STANDS_STILL = """async () => {
  const moving = (root) => [
    ...root.getAnimations().filter((each) => each.playState === "running"),
    ...[...root.querySelectorAll("*")].flatMap((each) => (each.shadowRoot ? moving(each.shadowRoot) : [])),
  ]
  for (let found = moving(document); found.length; found = moving(document))
    await Promise.allSettled(found.map((each) => each.finished))
}"""

# Files of ours draw with the next frame of the browser, and what moves comes to rest soon.
AT_REST = """new Promise((done) => {
  const look = () => (document.documentElement.hasAttribute("data-moving") ? requestAnimationFrame(look) : done())
  requestAnimationFrame(() => requestAnimationFrame(look))
})"""

SHOWN = """(name) => {
  const plane = square(name), {frame, board} = plane
  const pixels = (points) => Array.from({length: (points?.length ?? 0) / 2}, (_, k) =>
    [frame.x(points[2 * k]), frame.y(points[2 * k + 1])]).filter(([x]) => Number.isFinite(x))
  const words = [], calls = {fillText: (text) => words.push(text), measureText: () => ({width: 0}), size: [300, 300]}
  plane.drawOn(new Proxy(calls, {get: (_, name) => calls[name] ?? (() => {}), set: () => true}))
  return {
    rows: pixels(plane.places), boundary: pixels(plane.tree.boundary),
    words,
    palette: [...new Set(Array.from({length: board.count}, (_, row) => board.colourOf(row)))],
  }
}"""
"""What a square draws: rows and boundary in pixels, its words, the colours of its rows."""

SQUARES = ("input", "latent", "method")
FIGURES = (*SQUARES, "losses", "errors")
QUESTIONS = itertools.count(1)

# Signs of print, and those that Python reads.
PLAIN = str.maketrans("\u2212⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")


class App:
    """One open page.

    ``problems`` collects errors of its console, ``requests`` every address it asked for, ``received`` the sizes of the
    arrays that came.
    """

    def __init__(self, page, home):
        self.page, self.home = page, home
        self.problems, self.requests, self.received = [], [], []
        self._heard = {
            "console": self._console,
            "pageerror": lambda error: self.problems.append(f"page error: {error}"),
            "request": lambda request: self.requests.append(request.url),
            "websocket": self._connected,
        }
        for event, hear in self._heard.items():
            self.page.on(event, hear)

    def _console(self, message):
        if message.type == "error":
            self.problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _connected(self, socket):
        self.requests.append(socket.url.replace("ws", "http", 1))
        socket.on("framereceived", lambda payload: self.received.append(len(payload) * isinstance(payload, bytes)))

    def open(self, address):
        """Go to an address, and wait in line for it if need be; what this tab has remembered stays."""
        self.page.goto(address, wait_until="domcontentloaded")
        self.page.wait_for_selector("main[data-turn]", state="detached")
        self.page.wait_for_load_state("domcontentloaded")

    def forget(self):
        """Forget what pages have remembered, and leave."""
        self.page.context.set_offline(False)
        if self.page.url.startswith(self.home):
            self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.page.goto("about:blank")
        for event, hear in self._heard.items():
            self.page.remove_listener(event, hear)

    # --- waiting -------------------------------------------------------------------------------------------------

    def settle(self):
        """Wait until the page says that all that was begun is done and drawn; a run must have come to its end."""
        number = str(next(QUESTIONS))
        self.page.evaluate("(number) => { document.documentElement.dataset.settle = number }", number)
        try:
            self.page.wait_for_selector(f'html[data-settled="{number}"]', state="attached")
        except PlaywrightTimeoutError as late:
            late.add_note(f"of the page: {self.page.evaluate('({...document.documentElement.dataset})')}")
            raise
        return self

    def until_going(self):
        """Wait until a run has shown that it goes."""
        expect(self.chip_shown).to_have_text("running")
        expect(self.numbers_shown).to_contain_text(re.compile(r"iteration [1-9]"))

    def until_seen(self, text):
        """Wait until this text can be read: for what does not wait for the server, or for a run to end."""
        expect(self.page.get_by_text(text).filter(visible=True).first).to_be_visible()

    def until_url(self, part):
        """Wait for another page."""
        self.page.wait_for_url(re.compile(re.escape(part)), wait_until="domcontentloaded")

    # --- what is seen --------------------------------------------------------------------------------------------

    @property
    def chip_shown(self):
        return self.page.locator(".status .chip").first

    @property
    def numbers_shown(self):
        return self.page.locator(".status .numbers").first

    @property
    def status(self):
        """What screen readers hear."""
        return self.page.locator("#status").text_content() or ""

    @property
    def chip(self):
        return self.chip_shown.text_content().strip()

    @property
    def numbers(self):
        return self.numbers_shown.text_content()

    @property
    def iteration(self):
        found = re.search(r"iteration ([\d,]+)", self.numbers)
        return int(found.group(1).replace(",", "")) if found else None

    def number(self, name):
        """The figure behind a word of the status line: ``number("test error")``."""
        plain = self.numbers.translate(PLAIN).replace("·10", "e")
        found = re.search(rf"{name} ([-+\d.,e]*\d)", plain)
        return float(found.group(1).replace(",", "")) if found else None

    @property
    def stands(self):
        """The chip and the iteration."""
        return self.chip, self.iteration

    def sees(self, text):
        """Whether this text can be read somewhere in the page."""
        return self.page.get_by_text(text).filter(visible=True).count() > 0

    def texts(self, selector):
        """Texts of all elements, joined."""
        return " ".join(self.page.locator(selector).all_inner_texts())

    def head(self, card):
        """Title and note of a card of the explorer."""
        return self.page.locator(".head").nth(FIGURES.index(card)).inner_text()

    @property
    def facts(self):
        """Names and values that are said over the method's picture."""
        found = (re.fullmatch(r"(.*?) (\S+(?: %| of \d+)?)", text) for text in self._said())
        return {each[1]: each[2].replace("\u2212", "-") for each in found if each}

    def _said(self):
        return self.page.locator(".card.method .said > span").all_inner_texts()

    def column(self, source, name):
        """A column of a named data source, as the browser holds it."""
        return self.page.evaluate("([s, c]) => Array.from(named(s).data[c])", [source, name])

    def curve(self, chart, label):
        """Values of a line of a chart, in its own units."""
        return self.page.evaluate("([name, label]) => curve(name, label)", [chart, label])

    def columns(self, chart, *labels):
        """Values of several lines of a chart at the iterations at which all of them are known."""
        columns = np.array([self.page.evaluate("(asked) => column(...asked)", [chart, each]) for each in labels], float)
        return columns[:, np.isfinite(columns).all(axis=0)]

    def places(self, square):
        """Where the rows stand in a square's plane."""
        return self.page.evaluate("(name) => places(name)", square)

    def selected(self, square="input"):
        """Rows that are selected in a square's run."""
        return self.page.evaluate("(name) => [...board(run_of(name)).selected ?? []]", square)

    def shown(self, square, *path):
        """What a square shows, of the tree that the server tells."""
        code = "([name, path]) => path.reduce((tree, each) => tree?.[each], square(name).tree)"
        return self.page.evaluate(code, [square, path])

    def figure(self, name):
        if name in SQUARES:
            return self.page.locator("canvas.stage").nth(SQUARES.index(name))
        return self.page.locator("canvas.chart").nth(FIGURES.index(name) - len(SQUARES))

    def picture(self, name):
        """What a figure shows, as bytes."""
        return self.figure(name).screenshot(animations="disabled")

    def box(self, name):
        return self.figure(name).bounding_box()

    def evaluate(self, code, *arguments):
        return self.page.evaluate(code, *arguments)

    @property
    def theme(self):
        return self.evaluate("document.documentElement.dataset.theme")

    @property
    def longest_motion(self):
        """Seconds that the slowest of what changes by itself takes."""
        return self.evaluate(LONGEST_MOTION)

    @property
    def width(self):
        """Width of all that there is, seen or to be scrolled to."""
        return self.evaluate("document.documentElement.scrollWidth")

    @property
    def height(self):
        """Height of all that there is outside of what scrolls by itself."""
        return self.evaluate("document.documentElement.scrollHeight")

    # --- what is done --------------------------------------------------------------------------------------------

    def resize(self, width, height):
        self.page.set_viewport_size({"width": width, "height": height})

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True).first

    def press(self, name):
        self.button(name).click()
        return self

    def toggle_theme(self):
        wanted = "light" if self.theme == "dark" else "dark"
        self.press("Toggle theme")
        self.page.wait_for_selector(f'html[data-theme="{wanted}"]', state="attached")
        self.settle()
        self.page.evaluate(STANDS_STILL)  # colours change within a moment, also with little motion

    def key(self, name, times=1):
        for _ in range(times):
            self.page.keyboard.press(name)
        return self

    @property
    def focused(self):
        """What the keyboard is on, in words: its name or its text; "page" if it is on none of the widgets."""
        return self.page.evaluate(
            """() => {
              let element = document.activeElement
              while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
              return element === document.body ? "page" : element.ariaLabel || element.textContent
            }"""
        )

    def slider(self, label):
        """The slider whose label begins so: symbols and marks may follow."""
        return self.page.locator(f'input[type=range][aria-label^="{label}"]').first

    def nudge(self, label, key="ArrowRight", times=1):
        """Move a slider by some key presses; return what it says then."""
        slider = self.slider(label)
        slider.focus()
        self.key(key, times)
        slider.blur()
        return slider.get_attribute("aria-valuetext")

    def drag(self, label, share):
        """Take the thumb of a slider to a share of its track by the mouse."""
        slider = self.page.locator(".MuiSlider-root").filter(has=self.slider(label))
        thumb, track = slider.locator(".MuiSlider-thumb").bounding_box(), slider.bounding_box()
        height = thumb["y"] + thumb["height"] / 2
        self.page.mouse.move(thumb["x"] + thumb["width"] / 2, height)
        self.page.mouse.down()
        self.page.mouse.move(track["x"] + share * track["width"], height, steps=5)
        self.page.mouse.up()
        return self

    def choose(self, label, option):
        """Choose an entry of a menu."""
        self.page.get_by_role("combobox", name=label).first.click()
        entries = self.page.locator("[role=listbox] [role=option], [role=listbox] [role=menuitem]")
        entries.get_by_text(option, exact=True).first.click()
        self.page.locator("[role=listbox]").first.wait_for(state="detached")
        return self

    def open_gallery(self):
        """Open the examples by the keyboard."""
        self.page.locator("button.chosen").press("Enter")
        self.page.locator("dialog .card").first.wait_for()

    def example(self, title):
        """Choose an example of the gallery by typing what it is called."""
        self.open_gallery()
        self.page.get_by_label("Search the examples").fill(title)
        self.page.locator("dialog .card").get_by_text(title, exact=True).click()
        self.page.locator("dialog").wait_for(state="hidden")
        return self

    def open_fold(self, name, number=0):
        self.page.get_by_role("button", name=name, exact=True).nth(number).click()
        return self

    def close_dialog(self):
        self.key("Escape")
        self.page.get_by_role("dialog").first.wait_for(state="hidden")

    def choose_file(self, path):
        """Give a file to the chooser of the page that was opened last."""
        chooser = self.page.locator("input[type=file]").last
        chooser.wait_for(state="attached")
        chooser.set_input_files(path)

    def save(self, name, folder):
        """Press a button that gives a file; return where it was put."""
        with self.page.expect_download() as found:
            self.press(name)
        path = folder / found.value.suggested_filename
        found.value.save_as(path)
        return path

    def place(self, figure, x, y):
        """Where a place of a square's plane is on the screen."""
        return self.page.evaluate("([f, x, y]) => place(f, x, y)", [figure, x, y])

    def place_of(self, square, row):
        """Where a row is on the screen."""
        return self.place(square, *self.places(square)[row])

    def lasso(self, figure, left=0.0, top=0.0, right=1.0, bottom=1.0):
        """Draw a box-like loop, in shares of a named figure, and wait for what comes of it."""
        left_edge, top_edge, width, height = self.page.evaluate(
            """(f) => {
              const box = element(f).getBoundingClientRect()
              return [box.x, box.y, box.width, box.height]
            }""",
            figure,
        )
        corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        places = [(left_edge + 2 + (width - 4) * x, top_edge + 2 + (height - 4) * y) for x, y in corners]
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*place, steps=8)
        self.page.mouse.up()
        return self.settle()
