"""Where the UI kit has no public way: the only module that reaches into Bokeh, Panel or a script of theirs.

Each reach names what it makes up for and where that is known upstream.  The tests of this module fail as soon as one
of them can go: when the kit does by itself what is done here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.document import Document
from bokeh.io import doc as kit_current
from bokeh.models import CustomJS
from bokeh.server import session as kit_session
from bokeh.server.contexts import ApplicationContext
from bokeh.server.tornado import BokehTornado
from panel.custom import JSComponent
from panel.io import document as kit_documents
from panel.io.notifications import NotificationAreaBase
from panel.io.server import Server
from panel.util import edit_readonly
from panel_material_ui.base import MaterialComponent
from panel_material_ui.widgets.base import MaterialWidget

from supdr_viz.ui.visitor import HeldFiles

# Seconds without the end of a page.
LULL = 60

Control = TypeVar("Control", bound=pn.reactive.Syncable)


def send_message(component: JSComponent, message: Any) -> None:
    """Send a message to the script of a component, which hears it as "msg:custom".

    The way from the script to the server, `on_msg`, is public, and so is `send` of Panel's components for anywidget;
    components in JavaScript have the private method alone.  No issue upstream that tells of it is known.

    `message`: what JSON knows, or bytes.
    """
    component._send_msg(message)


def browser_is_there(document: Document) -> None:
    """Have changes of the document sent from now on.

    By itself Panel drops them until the page reports that everything is painted.  On a slow machine that is seconds
    after the page has told its width, or a visitor has begun to press things, and the browser would never hear what
    came of it: nor of the models that later changes speak of.  https://github.com/holoviz/panel/issues/8692 and
    https://github.com/holoviz/panel/pull/8698, which keeps what is not part of the document.

    `document`: of a page whose browser has answered.
    """
    pn.state._connected[document] = True


def forget_notifications(document: Document) -> None:
    """Let go of the area of notices of a page that is gone: Panel keeps it, and with it the whole document.

    What was mended for other views in https://github.com/holoviz/panel/pull/8607.

    `document`: of the page.
    """
    for name, (view, _model, its_document, _comm) in list(pn.state._views.items()):
        if its_document is document and isinstance(view, NotificationAreaBase):
            del pn.state._views[name]


# Makes a document the current one for the time of a block, as Bokeh does by itself.
BY_ITSELF = kit_current.patch_curdoc


@contextmanager
def _for_a_block(doc: Any) -> Iterator[None]:
    before = len(kit_current._PATCHED_CURDOCS)
    try:
        with BY_ITSELF(doc):
            yield
    finally:
        del kit_current._PATCHED_CURDOCS[before:]


def let_go_after_errors() -> None:
    """Have a page be the current one no longer than one of its callbacks runs, also if that fails.

    By itself Bokeh goes on taking it for the current one.  Once that page has ended, Panel makes whichever is built
    next the current one for good, and so keeps the page that was opened last, with its run and its data.  Of the error
    that comes of it https://github.com/holoviz/panel/issues/3552 tells.  Bokeh 3.10 needs no help.
    """
    if isinstance(kit_current._PATCHED_CURDOCS, list):
        kit_current.patch_curdoc = _for_a_block


async def _at_once(act: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return act(*args, **kwargs)


def stay_in_the_loop() -> None:
    """Have pages be built and their callbacks run in the server's loop, one at a time.

    Since 3.10 Bokeh does both in threads, several at a time and beside the loop.  But frames leave by sockets that live
    in the loop, and a page is written for one thread.  There is no option; before 3.10 this does nothing.
    """
    if hasattr(kit_session, "_run_in_executor"):
        kit_session._run_in_executor = _at_once
        ApplicationContext._can_initialize_document_in_worker = lambda _context: False  # type: ignore[attr-defined]


def start_clock() -> None:
    """Start the clock by which Panel forgets what has been busy for very long; in the server's loop, before any page.

    By itself it starts with the first change that a visitor makes, and then holds that visitor's page for ever: a task
    keeps the context in which it began.  No issue upstream that tells of it is known.
    """
    pn.state._schedule_busy_cleanup()


def application_of(server: Server) -> BokehTornado:
    """Return what answers the requests of a server, so that handlers can be added that come before the kit's own.

    Addresses that the server is given come after those of pages, and there is no option to leave one of these out.  No
    issue upstream that tells of it is known.
    """
    return server._tornado


def answering_server(document: Document) -> BokehTornado | None:
    """Return the server that is answering a browser's request for a page, so that addresses can be added to it.

    ``panel serve`` has no other way for what it serves than an option of the command that names a module, and neither
    the document nor its session tells of the server.  https://github.com/holoviz/panel/issues/6009

    `document`: of the page, while it is built. Returns None if no browser asks for the page, or Tornado keeps elsewhere
    whom it tells of a closed connection: that is the handler of the request, which knows the server.
    """
    request = getattr(document.session_context, "request", None)
    callback = getattr(getattr(request, "connection", None), "_close_callback", None)
    server = getattr(getattr(callback, "__self__", None), "application", None)
    return server if isinstance(server, BokehTornado) else None


def collect_in_lulls() -> None:
    """Have Panel look for garbage once no page has ended for a while, and not five seconds after each.

    While it looks nothing else happens, 10 ms for each page that is open: half a second in a class of fifty.  Python
    itself looks as soon as there is a quarter more than it last left.  There is no option; the wait came with
    https://github.com/holoviz/panel/pull/6518.
    """
    kit_documents.GC_DEBOUNCE = LULL


# Tells only that a component is one of the kit's: by the name of what it is made of.
FROM_ONE_FILE = {"imports": {"@mui": "about:blank"}}


def describe_only(used: Collection[type[MaterialComponent]]) -> None:
    """Have documents say what the kit's components are made of only for some, and nothing of where their parts are.

    By itself Bokeh describes with every document all components that there are in the process, and each that is shown
    tells where on the Internet the parts of its script would be, though all of them are in the one file that the
    server has.  There is no option; https://github.com/holoviz/panel/pull/8432 tells that the descriptions are sent.

    `used`: components that pages may show; any other would not be drawn.
    """
    kinds: list[type[MaterialComponent]] = [MaterialComponent]
    for kind in kinds:
        kind._data_model.__data_model__ = kind in used
        kinds += kind.__subclasses__()
    MaterialComponent._process_importmap = classmethod(lambda _kind: FROM_ONE_FILE)  # type: ignore[assignment]


# What the kit passes on only while it is not empty.
EMPTIED = ("icon", "label", "description")

_FILLED_ONLY = MaterialWidget._process_param_change


def _also_emptied(widget: MaterialWidget, params: dict[str, Any]) -> dict[str, Any]:
    emptied = {name: params[name] for name in EMPTIED if name in params and not params[name]}
    return {**_FILLED_ONLY(widget, params), **emptied}


def tell_what_is_emptied() -> None:
    """Have browsers told when a widget loses its icon, its label or its description.

    By itself the kit leaves these three out of a change where they are empty, and the browser goes on showing what was
    there before.  There is no option, and no issue upstream that tells of it is known.
    """
    MaterialWidget._process_param_change = _also_emptied  # type: ignore[method-assign]


def heard_at_once(widget: Control) -> Control:
    """Have a change that a visitor makes handled as soon as it arrives; return the widget.

    By itself the kit lets 50 ms pass, in case that more comes: a frame of our own run, three of a screen.  What comes
    in one message is handled together all the same.  There is no option: https://github.com/holoviz/panel/pull/8077
    tells that it waits.  Since Panel 1.10 what the program sets is also said to be where a slider was let go of, which
    would be a change of the visitor's: https://github.com/holoviz/panel/pull/8712.
    """
    widget._debounce = 0  # type: ignore[misc]
    follows = getattr(widget, "_sync_value_throttled", None)
    for watcher in [each for each in widget._internal_callbacks if each.fn == follows]:
        widget.param.unwatch(watcher)
    return widget


class _Idle(param.Parameterized):
    """What a page is busy with: nothing, its status line says it better."""

    busy = param.Boolean(default=False)


def never_busy(page: Any) -> None:
    """Untie a page from the server's own "busy", which holds all pages that were ever opened.

    The tie came with https://github.com/panel-extensions/panel-material-ui/pull/235; there is no option to leave it
    out.
    """
    with edit_readonly(page):
        page.busy = _Idle().param.busy


# JavaScript that paints the file choosers; for the page's head, before their library. The library has all its copies in
# a page share one painter, and starts one of its own if there is none yet: that one asks for an animation frame sixty
# times a second, also where no chooser is shown, and each makes the browser lay out the page. A timer does not.
# https://github.com/pqina/filepond/issues/243
CALM_FILE_CHOOSER = """
window.__framePainter = {readers: [], writers: []}
setInterval(() => {
  const {readers, writers} = window.__framePainter
  readers.forEach((read) => read())
  writers.forEach((write) => write(performance.now()))
}, 33)
"""


# JavaScript that leaves modules to the browser; for the page's head, before the kit's loader of modules. By itself that
# reads each module as text, looks for names that an import map would have to translate, and hands the browser a copy,
# which is compiled anew on every visit: a tenth of a second for the 1.4 MB of the kit. Modules of these pages name
# nothing that would have to be translated. The loader's own options say so: what it fetches is a module that takes all
# from the one at that address, and that one it skips. That Panel always has it translate came with
# https://github.com/holoviz/panel/pull/7141; there is no option of Panel's.
MODULES_AS_THEY_ARE = """
window.esmsInitOptions = {
  skip: ".",
  fetch: async (address) => new Response(
    `import * as all from "${address}"; export * from "${address}"; export default all.default`,
    {headers: {"content-type": "text/javascript"}}
  )
}
"""

# JavaScript that keeps the browser's own websockets; for the page's head, before the kit replaces them. By itself the
# kit's template takes any websocket of a page that does not open for the one of its document, and covers the page with
# "Connection with the server could not be established". No issue upstream that tells of it is known.
SOCKETS_AS_THEY_ARE = "window.supdrWebSocket = WebSocket\n"

# The module that draws the kit's components, as its pages ask for it. The kit has its address only once a component is
# part of a document with a server. No issue upstream that tells of it is known.
KIT_MODULE = (
    "static/extensions/panel-material-ui/panel-material-ui.bundle.js?"
    + hashlib.md5(pmui.__version__.encode(), usedforsecurity=False).hexdigest()
)

# Style sheet of the kit that is left out of the page's head. It says once more which fonts there are, but not which
# letters are in which: the browser then loads those for Vietnamese, Greek and Cyrillic one after the other, lays out
# the page each time, and comes to the Latin letters last. The sheet of the kit's script, which is there as well, says
# all. It came with https://github.com/panel-extensions/panel-material-ui/pull/202; no issue upstream that tells of it
# is known.
FONTS_FOR_ALL_LETTERS = "material-icons.css"


NAME_FIGURE = """
const layer = Bokeh.index.find_one(figure)?.canvas_view?.events_el
if (layer) {
  layer.setAttribute("role", "img")
  layer.setAttribute("aria-label", figure.html_attributes["data-label"])
}
"""


def name_figure(figure: Any, name: str) -> None:
    """Tell screen readers what a figure shows, now or later by another name.

    The layer of a figure that takes the focus has no name, and attributes of the figure do not reach it: it lies deeper
    within.  https://github.com/bokeh/bokeh/issues/12259

    `figure`: of Bokeh.
    """
    if "data-label" not in figure.html_attributes:
        naming = CustomJS(args={"figure": figure}, code=NAME_FIGURE)
        for change in ("html_attributes", "outer_width"):  # it is laid out: the layer is there
            figure.js_on_change(change, naming)
    figure.html_attributes = {**figure.html_attributes, "data-label": name}


SAVE_FIGURE = """
const figure = Bokeh.documents.map((each) => each.get_model_by_name(figure_name)).find((found) => found)
if (!figure) return
Bokeh.index.find_one(figure).export("png").canvas.toBlob((blob) => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
})
"""


def save_figure(button: Any, figure_name: str, name: str) -> None:
    """Let a button save a figure as a PNG file.

    The kit's tool that saves stands in a figure's own toolbar and cannot be asked by others.
    https://github.com/bokeh/bokeh/issues/9616

    `figure_name`: name of a figure of Bokeh, which may be drawn later; `name`: of the file.
    """
    button.js_on_click(args={"figure_name": figure_name, "name": name}, code=SAVE_FIGURE)


class BoundedDropper(pn.widgets.FileDropper):
    """Takes one file at a time, in order, and no more of it than there is room for.

    By itself the kit keeps every piece of every file that a browser says it sends, whole or not, of any length; only
    the browser looks at the size.  There is no option, and no issue upstream that tells of it is known.

    `held`: by the server; `on_refused`: ``on_refused(why)``, once for a file that is refused; `max_bytes`: of a file;
    `**params`: of the kit's own.
    """

    def __init__(self, held: HeldFiles, on_refused: Callable[[str], Any], max_bytes: float, **params: Any) -> None:
        super().__init__(**params)
        self._held, self._on_refused, self._max_bytes = held, on_refused, max_bytes

    def _process_event(self, event: Any) -> None:
        if event.event_name == "upload_event" and not self._may_come(event.data):
            return
        super()._process_event(event)
        self._held.hold(self, self._on_the_way)

    @property
    def _on_the_way(self) -> int:
        return sum(len(piece) for pieces in self._file_buffer.values() for piece in pieces)

    def _may_come(self, piece: dict[str, Any]) -> bool:
        """Whether a piece is the next of the file that is on its way, or the first of another, and there is room."""
        name, number, content = piece.get("name"), piece.get("chunk"), piece.get("data")
        if not (isinstance(name, str) and isinstance(number, int) and isinstance(content, bytes)):
            return False
        if number == 1:
            self._file_buffer = {}
        elif len(self._file_buffer.get(name, [])) != number - 1:
            return False
        size = self._on_the_way + len(content)
        refusal = self._held.hold(self, size)
        if size > self._max_bytes:
            refusal = f"{name[:80]} is larger than {self._max_bytes / 1e6:g} MB."
        if refusal:
            self._file_buffer = {}
            self._held.hold(self, 0)
            self._on_refused(refusal)
        return not refusal
