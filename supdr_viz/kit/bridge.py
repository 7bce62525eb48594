"""What only a browser can do, in one invisible component.

Keys, a live region for screen readers, the page's address, window size, clipboard,
downloads.  It needs no build step and loads nothing from elsewhere.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import panel as pn
import param
from panel.custom import JSComponent

from supdr_viz.kit import gaps

KEYS = {" ": "space", "ArrowRight": "right", "r": "r", "R": "r", "Escape": "escape"}
"""Key of the browser -> name passed to `Bridge.on_key`."""

LESSON_KEYS = {"PageDown": "next", "PageUp": "back", "n": "next", "b": "back", **{str(k): str(k) for k in range(1, 7)}}
"""The further keys of lessons; a presenter's remote control sends the first two."""

_ESM = """
const QUIET = "input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, " +
  "[contenteditable=true], [role=combobox], [role=listbox], [role=menu], [role=dialog]"
const HIDDEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"

function action(event, keys) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return null
  const path = event.composedPath().filter((node) => node instanceof Element)
  if (path.some((node) => node.matches(QUIET))) return null
  const own = path[0]
  if (event.key === " " && own && own.matches("button, a[href], input, summary, [role=tab], [role=button]")) return null
  const arrows = "input[type=range], [role=tab], [role=radio]"
  if (event.key === "ArrowRight" && path.some((node) => node.matches(arrows))) return null
  return keys.includes(event.key) ? event.key : null
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch (error) {  // plain http from another machine: no clipboard there
    const area = document.createElement("textarea")
    area.value = text
    area.style.cssText = HIDDEN
    document.body.append(area)
    area.select()
    let done = false
    try { done = document.execCommand("copy") } catch (error) {}
    area.remove()
    return done
  }
}

function save(blob, name) {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}

function download({name, text, mime, binary}) {
  const content = binary ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) : text
  save(new Blob([content], {type: mime}), name)
}

function comparison(query) {  // the run joins the comparison that this tab looked at last
  let there = null
  try { there = sessionStorage.getItem("supdr-comparison") } catch (error) {}
  return "compare?" + (there ? there + "&" : "") + "add=" + encodeURIComponent(query)
}

async function save_plot({plot, format, name}) {
  const found = Bokeh.documents.map((doc) => doc.get_model_by_name(plot)).find((each) => each != null)
  const view = found && Bokeh.index.find_one(found)
  if (!view) return
  save(await view.export(format).to_blob(), `${name}.${format}`)
}

export function render({model}) {
  const live = document.createElement("div")
  live.id = "status"
  live.setAttribute("role", "status")
  live.setAttribute("aria-live", "polite")
  live.style.cssText = HIDDEN
  live.textContent = model.status
  document.body.append(live)
  model.on("status", () => { live.textContent = model.status })

  const zoom = () => document.documentElement.style.setProperty("--supdr-zoom", String(model.zoom))
  zoom()
  model.on("zoom", zoom)

  const address = () => {
    if (model.memory && model.query) {
      try { sessionStorage.setItem(model.memory, model.query) } catch (error) {}
    }
    const query = "?" + model.query
    if (!model.query || location.search === query) return
    history.replaceState(null, "", location.pathname + query + location.hash)
  }
  address()
  model.on("query", address)

  const onkey = (event) => {
    const key = action(event, model.keys)
    if (key === null) return
    if (key !== "Escape") event.preventDefault()
    if (!(event.repeat && key !== "ArrowRight")) model.send_msg({kind: "key", key})
  }
  const onresize = () => {
    const tall = innerHeight >= 800
    if (tall !== model.tall) model.tall = tall
    const narrow = innerWidth < 600
    if (narrow !== model.narrow) model.narrow = narrow
    if (innerHeight !== model.height_shown) model.height_shown = innerHeight
  }
  document.addEventListener("keydown", onkey)
  window.addEventListener("resize", onresize)
  onresize()
  if (model.origin !== location.origin + location.pathname) model.origin = location.origin + location.pathname

  model.on("msg:custom", async (event) => {
    const message = event.data ?? event
    if (message.kind === "download") download(message)
    if (message.kind === "plot") save_plot(message)
    if (message.kind === "compare") location.assign(comparison(message.query))
    if (message.kind === "copy") model.send_msg({kind: "copied", done: await copy(message.text)})
  })
  model.on("remove", () => {
    document.removeEventListener("keydown", onkey)
    window.removeEventListener("resize", onresize)
    live.remove()
  })
  return document.createElement("span")
}
"""


def on_phone() -> bool:
    """Whether the browser says it runs on a phone."""
    return "Mobi" in (pn.state.headers or {}).get("User-Agent", "")


class Bridge(JSComponent):
    """The page's invisible helper; put it anywhere into the page, once.

    Attributes
    ----------
    tall : bool
        The window is at least 800 pixels high: room for tall curves.
    narrow : bool
        The window is less than 600 pixels wide, or the browser says it is a phone's and has not answered yet.
    height_shown : int
        Height of the window in pixels.
    zoom : float
        Size of the texts beside the usual one.
    keys : list of str
        Keys of the browser that are reported.
    origin : str
        Address of the page without its query; empty until the browser has answered.
    """

    tall = param.Boolean(default=True)
    narrow = param.Boolean(default=False)
    origin = param.String(default="")
    status = param.String(default="", doc="Text of the live region.")
    query = param.String(default="", doc="Query of the page's address.")
    keys = param.List(default=list(KEYS), doc="Keys that are reported.")
    height_shown = param.Integer(default=900, doc="Height of the window in pixels.")
    zoom = param.Number(default=1.0, doc="Size of the texts beside the usual one.")
    memory = param.String(default="", doc="Name under which this tab remembers the query.")

    _esm = _ESM

    def __init__(self, **params: Any) -> None:
        super().__init__(**{"width": 0, "height": 0, "margin": 0, "narrow": on_phone(), **params})
        self._on_key: list[Callable[[str], Any]] = []
        self._on_copied: Callable[[bool], Any] | None = None
        self.on_msg(self._received)
        if pn.state.curdoc is not None:
            pn.state.curdoc.on_change(_browser_is_there)

    def on_key(self, callback: Callable[[str], Any]) -> None:
        """Call ``callback(name)`` for each key of `keys` that no widget uses itself."""
        self._on_key.append(callback)

    def announce(self, text: str) -> None:
        """Say a sentence to screen readers: changes of state only, never frames."""
        self.status = text

    def set_query(self, query: str) -> None:
        """Show the query in the address, without a new entry in the history."""
        self.query = query

    def download(self, name: str, text: str, mime: str = "text/plain;charset=utf-8") -> None:
        """Save text as a file of the user."""
        self._send_msg({"kind": "download", "name": name, "text": text, "mime": mime})

    def download_bytes(self, name: str, content: bytes, mime: str) -> None:
        """Save bytes as a file of the user."""
        text = base64.b64encode(content).decode()
        self._send_msg({"kind": "download", "name": name, "text": text, "mime": mime, "binary": True})

    def save_plot(self, plot: str, format: str, name: str) -> None:
        """Save a figure of the page as a picture.

        Parameters
        ----------
        plot : str
            Name of the figure.
        format : {"png", "svg"}
        name : str
            Of the file, without the ending.
        """
        self._send_msg({"kind": "plot", "plot": plot, "format": format, "name": name})

    def copy(self, text: str, done: Callable[[bool], Any] | None = None) -> None:
        """Put text into the clipboard; ``done(success)`` tells whether the browser let us."""
        self._on_copied = done
        self._send_msg({"kind": "copy", "text": text})

    def add_to_comparison(self, query: str) -> None:
        """Go to the compare page with the run of an explorer's link joined to what was compared last."""
        self._send_msg({"kind": "compare", "query": query})

    def _received(self, event: Any) -> None:
        message = event.data if isinstance(event.data, dict) else {}
        known = {**KEYS, **LESSON_KEYS}
        if message.get("kind") == "key" and message.get("key") in self.keys and message["key"] in known:
            for callback in self._on_key:
                callback(known[message["key"]])
        elif message.get("kind") == "copied" and self._on_copied is not None:
            done, self._on_copied = self._on_copied, None
            done(bool(message.get("done")))


def _browser_is_there(event: Any) -> None:
    """Send what changes from the first word of the browser on: it has the document by then."""
    if getattr(event, "setter", None) is not None:  # set by the other side
        gaps.browser_is_there(event.document)
        event.document.remove_on_change(_browser_is_there)
