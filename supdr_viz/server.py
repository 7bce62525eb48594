"""One process that serves the pages: its routes, its quotas, and what it says when it cannot."""

from __future__ import annotations

import argparse
import errno
import functools
import gc
import importlib
import secrets
import sys
from collections.abc import Callable
from typing import Any, cast

from supdr.engine.processes import processors
from supdr_viz.kit.quotas import most
from supdr_viz.pages import PAGES, title_of

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
ANY_ADDRESS = ("0.0.0.0", "::")

SERVER_OPTIONS: dict[str, Any] = {
    # A closed tab stops its run within seconds; a page that was only reconnecting finds its session again.
    "unused_session_lifetime_milliseconds": 10_000,
    "check_unused_sessions_milliseconds": 2_000,
    # Proxies cut connections that are silent for 30 s or more.
    "keep_alive_milliseconds": 15_000,
    # An upload arrives in pieces of 10 MB; anything larger than this in one message is not ours.
    "websocket_max_message_size": 20 * 1024 * 1024,
    # A page in the making says most things many times over.
    "websocket_compression_level": 1,
    # A slow machine may take long between the page and its websocket.
    "session_token_expiration": 600,
}


def _page(name: str) -> Callable[[], Any]:
    """Import a page now, so that a visit only builds it."""
    return getattr(importlib.import_module(f"supdr_viz.pages.{name}"), name)


def _build_unseen(page: Callable[[], Any]) -> None:
    """Build a page for nobody, so that its first visitor does not wait for what it imports."""
    from bokeh.core.types import ID
    from bokeh.document import Document
    from bokeh.server.contexts import BokehSessionContext
    from panel.io.state import set_curdoc

    document = Document()
    nobody = BokehSessionContext(ID("nobody"), cast(Any, None), document)
    with set_curdoc(document):
        page()
        for callback in document.session_destroyed_callbacks:
            callback(nobody)


def origins(address: str, port: int, others: list[str]) -> list[str]:
    """Return the names under which a browser may connect: this machine's, the chosen address, and what was asked for.

    Parameters
    ----------
    address : str
        On which the server listens.
    port : int
    others : list of str

    Returns
    -------
    list of str
    """
    names = ["localhost", "127.0.0.1"]
    if address not in (*LOCAL_NAMES, *ANY_ADDRESS) and ":" not in address:  # Bokeh knows no IPv6 origins
        names.append(address)
    return [f"{name}:{port}" for name in names] + others


def address_of(address: str, port: int) -> str:
    """Return where the first page is, as somebody on this machine reaches it.

    Parameters
    ----------
    address : str
        On which the server listens.
    port : int

    Returns
    -------
    str
    """
    shown = "localhost" if address in (*LOCAL_NAMES, *ANY_ADDRESS) else address
    return f"http://{shown}:{port}/{next(iter(PAGES))}"


def greeting(arguments: argparse.Namespace, port: int) -> str:
    """Return what is printed once the pages can be had: where they are, who may come, and what many need.

    Parameters
    ----------
    arguments : Namespace
        Of the command.
    port : int

    Returns
    -------
    str
    """
    words = f"The explorer is at {address_of(arguments.address, port)}   (Ctrl+C stops it)"
    if arguments.address not in LOCAL_NAMES and not arguments.basic_auth:
        words = f"Anybody who reaches this address can use the server; --basic-auth asks for a password.\n{words}"
    many = processors()
    if arguments.address not in LOCAL_NAMES and not arguments.worker and arguments.workers < 2 <= many:
        words = (
            f"A class that comes all at once gets in sooner with --workers {many}: one process for each core.\n{words}"
        )
    return words


def explained(error: OSError, address: str, port: int) -> str:
    """Return why nothing can listen there.

    Parameters
    ----------
    error : OSError
    address : str
    port : int

    Returns
    -------
    str
    """
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use by another program. Stop that program or choose another port with --port."
    if error.errno == errno.EACCES:
        return f"port {port} needs administrator rights. Choose one from 1024 on with --port."
    return f"cannot listen on {address!r}: {error.strerror or error}."


def serve(arguments: argparse.Namespace, port: int, show: bool) -> int:
    """Serve until interrupted.

    Parameters
    ----------
    arguments : Namespace
        Of the command.
    port : int
        A free one.
    show : bool
        Whether to open the first page in a browser.

    Returns
    -------
    int
        The exit status.
    """
    import panel as pn
    from bokeh.settings import settings
    from panel.io.application import build_applications
    from tornado.ioloop import PeriodicCallback
    from tornado.web import RedirectHandler

    from supdr_viz.kit.bridge import close_old
    from supdr_viz.kit.caller import Cookie
    from supdr_viz.kit.door import Door, Ended, Queue, Refusal, Turn
    from supdr_viz.kit.guard import Headers, Health, Visitors
    from supdr_viz.kit.log import answers, log_json
    from supdr_viz.kit.own_files import OwnFile
    from supdr_viz.pages.follow import FollowPage
    from supdr_viz.run.pool import shared_pool
    from supdr_viz.stage.socket import StageSocket

    # What helps who writes a page costs who opens it.
    settings.perform_error_diagnostics = settings.perform_document_validation = False
    # Without a secret of the user's own, logins last as long as this process.
    cookie_secret = (pn.config.cookie_secret or secrets.token_hex(32)) if arguments.basic_auth else None
    queue = Queue()
    visitors = Visitors(most("pages"), most("pages-each"), queue.arrived)
    counts = {"pages": lambda: visitors.open, "waiting": lambda: queue.waiting, "runs": lambda: shared_pool().n_jobs}
    routes = [
        # With several pages the kit would show a list of them.
        ("/", RedirectHandler, {"url": f"/{next(iter(PAGES))}", "permanent": False}),
        OwnFile.route(),
        StageSocket.route(arguments.worker),
        FollowPage.route(),
        Turn.route(queue),
        Ended.route(PAGES, most("hours")),
        Health.route(counts),
    ]
    pages: dict[str, Any] = {name: _page(name) for name in PAGES}
    _build_unseen(next(iter(pages.values())))
    pages = {name: visitors.admitting(page) for name, page in pages.items()}
    applications: dict[str, Any] = build_applications(pages, title={name: title_of(name) for name in PAGES})
    for application in applications.values():
        application.add(Door(queue, visitors.refuse))
    named = (*PAGES, "ended", "follow", "health", "own", "stage", "static", "turn")
    notes: dict[str, Any] = {"log_function": answers(named)} if arguments.log_json else {}
    try:
        server = pn.io.server.get_server(
            applications,
            port=port,
            address=arguments.address,
            websocket_origin=origins(arguments.address, port, arguments.allow_websocket_origin),
            basic_auth=arguments.basic_auth,
            cookie_secret=cookie_secret,
            show=show,
            extra_patterns=routes,
            **notes,
            transforms=[
                Refusal.saying(visitors.refusals),
                Headers.shown_in(arguments.embed_in),
                Cookie.of(arguments.worker),
            ],
            **SERVER_OPTIONS,
        )
    except OSError as error:
        print(f"supdr-viz: {explained(error, arguments.address, port)}", file=sys.stderr)
        return 1
    if notes:
        log_json()
    print(greeting(arguments, port), flush=True)
    # What is loaded now stays loaded: without it in every collection, the pauses are short.
    gc.collect()
    gc.freeze()
    server.start()
    if hours := most("hours"):
        PeriodicCallback(functools.partial(close_old, 3600.0 * hours), 60_000).start()
    server.io_loop.start()
    return 0
