"""The start of a page is sent before its session is built: the browser shows an outline and loads scripts meanwhile."""

from __future__ import annotations

import asyncio
import functools
import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from bokeh.document import Document
from bokeh.server.tornado import BokehTornado
from panel.io.resources import Resources
from panel.io.server import DocHandler, server_html_page_for_session
from panel.io.state import set_curdoc
from tornado.httputil import HTTPServerRequest
from tornado.iostream import StreamClosedError
from tornado.web import OutputTransform

from supdr_viz.serving.visitor_cookie import visitor_of
from supdr_viz.ui.theme import END_OF_START

# Takes the name and the arguments of a page's address; returns the document of a page that starts as that one does and
# has no content.
EmptyPage = Callable[[str, Mapping[str, list[bytes]]], Document]

# Time (s) in which a browser asks for the first of the files that the start of a page names, and then for the next.
NEXT_FILE = 0.05

# Ends a page that could not be built: in place of its outline stands what the kit says of failures.
FAILED = """<script>
document.getElementById("still")?.remove()
document.querySelector("#loader .spinner").remove()
document.getElementById("loader").classList.add("error")
const failure = document.getElementById("loader-error")
failure.textContent = "This page could not be built. Please load it again."
failure.style.display = "block"
</script></body></html>"""

# Ends a page in whose place another came: one that has no such start, as of a visitor for whom there is no room.
REPLACED = """<script>
addEventListener("load", () => {
  document.open()
  document.write(%s)
  document.close()
})
</script></body></html>"""


class StartedPage(DocHandler):
    """Answers with a page in two parts: its start, as soon as the visitor is admitted, and what its session says."""

    _sent = ""  # of a page whose rest is to come

    def initialize(self, empty_page: EmptyPage, loaded: Future[None] | None, **_context: Any) -> None:
        """Keep what a page starts with, and what its session waits for."""
        self._empty_page, self._loaded = empty_page, loaded

    async def get_session(self) -> Any:
        """Send the start, and build the session; by now it is decided that there will be one."""
        name = self.request.path.rpartition("/")[2]
        self._sent = start_of(self.application, self._empty_page(name, self.request.arguments))
        self.set_header("Content-Type", "text/html")
        self.set_header("X-Accel-Buffering", "no")  # nginx passes on what comes
        super().write(self._sent)
        with suppress(StreamClosedError):
            await self.flush()
        if self._loaded is not None:
            await asyncio.wrap_future(self._loaded)
        session: Any = super().get_session()
        return await session

    def write(self, chunk: str | bytes | dict[str, Any]) -> None:
        """Write a page, without the start that is sent already."""
        if self._sent and isinstance(chunk, str):
            chunk, self._sent = rest_of(chunk, self._sent), ""
        super().write(chunk)

    def send_error(self, status_code: int = 500, **options: Any) -> None:
        """Say on the page that it could not be built."""
        if not self._sent:
            super().send_error(status_code, **options)
            return
        self._sent = ""
        self.set_status(status_code)  # for the log
        self.finish(FAILED)


@functools.cache
def start_of(application: BokehTornado, empty: Document) -> str:
    """Return the HTML of a page without content, up to where what its session says begins."""
    session: Any = SimpleNamespace(document=empty, token="")
    with set_curdoc(empty):
        resources = Resources.from_bokeh(application.resources())
        page = server_html_page_for_session(
            session,
            resources=resources,
            title=empty.title,
            template=empty.template,
            template_variables=empty.template_variables,
        )
    return page.partition(END_OF_START)[0]


def rest_of(page: str, start: str) -> str:
    """Return what a browser lacks of a page whose start it has.

    `page`: the whole; `start`: as `start_of` returns it. Files that the page names and the start does not, as of a part
    that has been imported since, come first.
    """
    before, mark, rest = page.partition(END_OF_START)
    if not mark:
        return REPLACED % json.dumps(page).replace("<", "\\u003c")
    sent = set(_files(start))
    return "\n".join([*(line for line in _files(before) if line not in sent), rest])


def _files(html: str) -> Iterator[str]:
    """Yield the lines that name a style sheet or a script."""
    for line in map(str.strip, html.splitlines()):
        if line.startswith(('<link rel="stylesheet"', "<script")) and ("href=" in line or "src=" in line):
            yield line


def start_early(
    server: BokehTornado, names: Collection[str], empty_page: EmptyPage, loaded: Future[None] | None = None
) -> None:
    """Have a server send the start of each of its pages before it builds the page.

    `names`: of the addresses of pages; the others of the server stay as they are. `loaded`: done once what pages need
    is imported; None: it is.
    """
    for path, context in server.applications.items():
        if path.strip("/") in names:
            socket = f"{server.prefix}{path}/ws"
            options = {"application_context": context, "bokeh_websocket_path": socket}
            server.add_handlers(
                ".*", [(f"{server.prefix}{path}", StartedPage, {**options, "empty_page": empty_page, "loaded": loaded})]
            )


class FilesAsked:
    """When browsers whose pages are to be built have last asked for a file.

    clock: returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def begin(self, visitor: str) -> None:
        """Note that the start of a page is sent to a visitor."""
        self._until[visitor] = self._clock() + NEXT_FILE

    def end(self, visitor: str) -> None:
        """Forget a visitor."""
        self._until.pop(visitor, None)

    def go_on(self, visitor: str) -> bool:
        """Tell whether the visitor's browser may be about to ask for more files."""
        return self._clock() < self._until.get(visitor, 0.0)

    def note(self, request: HTTPServerRequest) -> OutputTransform:
        """Take note of a request; to be given to a server as one of its transforms."""
        visitor = visitor_of(request)
        if visitor in self._until:
            self._until[visitor] = self._clock() + NEXT_FILE
        return OutputTransform(request)
