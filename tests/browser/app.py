"""The explorer through a user's eyes and hands: what the browser tests share."""

import math
import re
import time

HELPERS = """
document.addEventListener("DOMContentLoaded", () => { window.first_theme = document.documentElement.dataset.theme })
window.models = () => Bokeh.documents.flatMap((doc) => [...doc._all_models.values()])
window.named = (name) => window.models().find((model) => model.name === name)
window.place = (name, x, y) => {
  const view = Bokeh.index.find_one(named(name)), canvas = view.canvas_view.el.getBoundingClientRect()
  return [canvas.left + view.frame.x_scale.compute(x), canvas.top + view.frame.y_scale.compute(y)]
}
"""
SQUARES = ("input", "latent", "method")
FIGURES = (*SQUARES, "losses", "errors")


class App:
    """One open page.

    ``problems`` collects errors of its console, ``requests`` every address it asked for.
    """

    def __init__(self, context, url):
        self.context = context
        self.page = context.new_page()
        self.problems, self.requests, self.sent, self.received = [], [], [], []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", self._connected)
        self.page.add_init_script(HELPERS)
        self.page.set_default_timeout(30_000)
        self.page.goto(url)

    def _heard(self, message):
        if message.type == "error":
            self.problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _connected(self, socket):
        self.requests.append(socket.url)
        socket.on("framesent", lambda payload: self.sent.append(payload))
        socket.on("framereceived", lambda payload: self.received.append(payload))

    def close(self):
        self.context.close()

    # --- what is seen --------------------------------------------------------------------------------------------

    @property
    def status(self):
        """What screen readers hear."""
        return self.page.locator("#status").text_content() or ""

    @property
    def chip(self):
        return self.page.locator(".status .chip").first.text_content().strip()

    @property
    def numbers(self):
        return self.page.locator(".status .numbers").first.text_content()

    @property
    def iteration(self):
        found = re.search(r"iteration ([\d,]+)", self.numbers)
        return int(found.group(1).replace(",", "")) if found else None

    def number(self, name):
        """The figure behind a word of the status line: ``number("test error")``."""
        found = re.search(rf"{name} ([-+\d.e]+)", self.numbers)
        return float(found.group(1)) if found else None

    @property
    def can_run(self):
        return self.button("Run").is_visible()

    def sees(self, text):
        """Whether this text can be read somewhere in the page."""
        return self.page.get_by_text(text).first.is_visible()

    def column(self, source, name):
        """A column of a named data source, as the browser holds it."""
        return self.page.evaluate("([s, c]) => Array.from(named(s).data[c])", [source, name])

    def figure(self, name):
        return self.page.locator(".bk-Figure").nth(FIGURES.index(name))

    def picture(self, name):
        """What a figure shows, as bytes."""
        return self.figure(name).screenshot(animations="disabled")

    def another_picture(self, name, seen):
        """Wait until a figure stands still and shows none of the pictures seen, and return what it shows."""
        return self.until_still(lambda: self.picture(name), lambda picture: picture not in seen)

    def measure(self, element, side):
        """An element's "x", "y", "width" or "height"; while it cannot be seen a NaN, which fails every comparison."""
        box = element.bounding_box()
        return box[side] if box else math.nan

    def box(self, name):
        return self.figure(name).bounding_box()

    @property
    def selected(self):
        return self.evaluate("Array.from(named('input points').selected.indices)")

    def evaluate(self, code, *arguments):
        return self.page.evaluate(code, *arguments)

    def until(self, condition, seconds=30, what="waited in vain"):
        """Wait until ``condition()`` is true, and return what it gave."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            self.page.wait_for_timeout(30)
        raise AssertionError(f"{what}: chip {self.chip!r}, numbers {self.numbers!r}, status {self.status!r}")

    def until_seen(self, text, seconds=30):
        self.until(lambda: self.sees(text), seconds, f"{text!r} was not seen")

    def until_still(self, look, wanted=lambda _value: True, seconds=30, pause=0.7):
        """Wait until ``look()`` is what is wanted and stays the same for `pause` seconds; return it."""

        def still():
            value = look()
            self.page.wait_for_timeout(1000 * pause)
            return (value,) if value == look() and wanted(value) else None

        return self.until(still, seconds, "never stood still")[0]

    def until_settled(self, seconds=30):
        """Wait until nothing runs and the last iteration is on display, with its errors."""
        self.until(lambda: self.chip in ("ready", "paused", "finished", "diverged"), seconds, "still busy")
        last = None
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.page.wait_for_timeout(300)
            now = (self.numbers, self.chip)
            # The end of a run is read out once all of it is drawn; until then a frame may be on its way.
            told = re.match(r"(?:ready|paused|finished), .* iteration (\d+)", self.status)
            drawn = told is None or int(told.group(1)) == self.iteration
            if now == last and drawn and re.search("train (error|MSE)", now[0]):
                return
            last = now
        raise AssertionError(f"never settled: {last}")

    def wait_until_ready(self):
        self.page.wait_for_selector(".status .chip", timeout=60_000)
        self.until(lambda: self.iteration is not None, 60, "no first frame")

    # --- what is done --------------------------------------------------------------------------------------------

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True).first

    def press(self, name):
        self.button(name).click()

    def run_to(self, iteration, seconds=60):
        """Run until at least this iteration is shown."""
        if self.can_run:
            self.press("Run")
        self.until(lambda: (self.iteration or 0) >= iteration, seconds, f"iteration {iteration} was not reached")

    def pause(self):
        if self.button("Pause").is_visible():
            self.press("Pause")
        self.until_settled()

    def key(self, name):
        self.page.keyboard.press(name)

    def slider(self, label):
        """The slider whose label begins so: symbols and marks may follow."""
        return self.page.locator(f'input[type=range][aria-label^="{label}"]').first

    def slide(self, label, value):
        """Move a slider by its keys until it says this value."""
        slider = self.slider(label)
        slider.focus()
        self.key("Home")
        for _ in range(400):
            if slider.get_attribute("aria-valuetext") == value:
                break
            self.key("ArrowRight")
        else:
            raise AssertionError(f"the slider {label!r} has no value {value!r}")
        slider.blur()

    def nudge(self, label, key="ArrowRight", times=1):
        """Move a slider by some key presses; return what it says then."""
        slider = self.slider(label)
        slider.focus()
        for _ in range(times):
            self.key(key)
        slider.blur()
        return slider.get_attribute("aria-valuetext")

    def scrub(self, key="ArrowLeft", times=1):
        self.slider("Iteration").focus()
        for _ in range(times):
            self.key(key)

    def choose(self, label, option):
        """Choose an entry of a menu."""
        self.page.get_by_role("combobox", name=label).first.click()
        entries = self.page.locator("[role=listbox] [role=option], [role=listbox] [role=menuitem]")
        entries.get_by_text(option, exact=True).first.click()
        self.page.locator("[role=listbox]").first.wait_for(state="detached")

    def open_fold(self, name, number=0):
        self.page.get_by_role("button", name=name, exact=True).nth(number).click()

    def place(self, figure, x, y):
        """Where a place of a figure's plane is on the screen."""
        return self.page.evaluate("([f, x, y]) => place(f, x, y)", [figure, x, y])

    def place_of(self, figure, row):
        """Where a row is on the screen."""
        x, y = (self.column(f"{figure} points", name)[row] for name in "xy")
        return self.place(figure, x, y)

    def lasso(self, figure, left=0.0, top=0.0, right=1.0, bottom=1.0):
        """Draw a box-like loop, in shares of the figure."""
        box = self.until_still(lambda: self.box(figure), pause=0.2)
        corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        places = [(box["x"] + 2 + (box["width"] - 4) * x, box["y"] + 2 + (box["height"] - 4) * y) for x, y in corners]
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*place, steps=8)
        self.page.mouse.up()
