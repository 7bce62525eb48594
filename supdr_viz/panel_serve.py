"""The pages under ``panel serve``: what its server lacks is added to it when the first page is asked for."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from typing import Any

import panel as pn
from bokeh.document import Document
from bokeh.server.tornado import BokehTornado
from tornado.process import task_id

from supdr_viz.data.quotas import most
from supdr_viz.pages import PAGES, build, empty, page_asked, site, title_of
from supdr_viz.pages.service import Service
from supdr_viz.serving.page_start import start_early
from supdr_viz.serving.security_headers import Visitors
from supdr_viz.serving.server import keep_little, routes_of_pages
from supdr_viz.serving.visitor_cookie import Cookie
from supdr_viz.ui.panel_workarounds import answering_server, start_clock

SEVERAL = (
    "Fewer frames and no link for students here: the processes of panel serve --num-procs do not know each "
    "other's pages. "
    "The command supdr-viz --workers N serves from several processes with both."
)
UNREACHED = (
    "Fewer frames and no link for students here: this version of Panel does not let a page add addresses to its "
    "server. "
    "The command supdr-viz has both."
)


def show(name: str) -> None:
    """Show a page, or the one that ``?page=`` of its address asks for: all that a file of ``apps/`` does.

    `name`: a key of `supdr_viz.pages.PAGES`.
    """
    # A page of another process is asked for again: https://github.com/holoviz/panel/issues/6678
    page = _visitors().admitting(functools.partial(_page, name))()
    page.servable(title=title_of(page_asked(name)))


def _page(name: str) -> Any:
    """Build a page once its server is complete."""
    document = pn.state.curdoc
    if document is not None:
        _complete(document)
    return build(name)


def _complete(document: Document) -> None:
    """Add to the server of a page what it lacks, or have the page say why that is not possible."""
    server, here, service = answering_server(document), _address(document), Service.of_process()
    if server is not None:
        service.addresses.take(server.app_paths, here)
        _prepare(server)
    elif not service.tickets.offered:
        service.addresses.take((), here)
    if not service.tickets.offered:
        service.tickets.lacking = UNREACHED if task_id() is None else SEVERAL


def _address(document: Document) -> str:
    """Return the address of the application that a document belongs to."""
    context = getattr(document.session_context, "server_context", None)
    return getattr(getattr(context, "application_context", None), "url", None) or ""


@functools.cache
def _visitors() -> Visitors:
    return Visitors(most("pages"), most("pages-each"), lambda: None)


@functools.cache
def _prepare(server: BokehTornado) -> None:
    """Prepare a server and its process, once."""
    # What begins here goes on for ever, and would keep the page in whose context it began.
    contextvars.Context().run(_begin, server)


def _begin(server: BokehTornado) -> None:
    asyncio.get_running_loop().call_soon(start_clock)
    keep_little()
    server.add_transform(Cookie.of(0))
    start_early(server, PAGES, empty)
    if task_id() is None:
        routes = routes_of_pages(site(), [path.strip("/") for path in server.app_paths])
        server.add_handlers(".*", [(server.prefix + address, *rest) for address, *rest in routes])
