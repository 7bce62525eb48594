"""One process that serves the pages: its routes, its quotas, and what it says when it cannot."""

from __future__ import annotations

import argparse
import contextlib
import errno
import functools
import gc
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from supdr.engine.processes import processors
from supdr_viz.data.quotas import most

if TYPE_CHECKING:
    from bokeh.document import Document
    from panel.io.server import Server
    from tornado.ioloop import IOLoop

    from supdr_viz.serving.page_start import FilesAsked
    from supdr_viz.serving.security_headers import Visitors
    from supdr_viz.serving.waiting_room import WaitingRoom

# Seconds after its start in which a server does nothing but answer; then it gets ready for what may be asked next.
READY_AFTER = 1.5

# Seconds between two parts of that.
BETWEEN = 0.1

# Connections and files that a process has open at the same time, where the system allows so many.
MOST_FILES = 65_536

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
    # Nothing but a login is posted, and no request needs minutes to arrive.
    "http_server_kwargs": {"max_body_size": 2**20, "body_timeout": 30, "idle_connection_timeout": 120},
    # A page holds a token that its scripts can read: the cookie of the login is no part of it.
    "include_cookies": [],
    "include_headers": ["User-Agent"],
    # A slow machine may take long between the page and its websocket, and its clock may be set meanwhile: the kit looks
    # at that one.  A token opens nothing but its own page, and as long as that is there.
    "session_token_expiration": 86_400,
}


@dataclass(frozen=True)
class Site:
    """The pages that a server has.

    titles: name of a page, which is also its address -> title in the browser's tab; "/" leads to the first one.
    load: imports what a page needs; takes its name.
    build: builds a page for the visitor of the current session; takes the name of its address.
    routes: returns what the pages ask of their server beside themselves: addresses and handlers of Tornado.
    empty: returns the document of a page without content; takes the name and the arguments of the page's address.
    service: returns what the pages share: the ``pool`` of their runs, the ``tickets`` of their stages.
    """

    titles: Mapping[str, str]
    load: Callable[[str], object]
    build: Callable[[str], Any]
    routes: Callable[[], list[tuple[Any, ...]]]
    empty: Callable[[str, Mapping[str, list[bytes]]], Document]
    service: Callable[[], Any]

    @property
    def first(self) -> str:
        """Name of the page to which "/" leads."""
        return next(iter(self.titles))


def _get_ready(loop: IOLoop, site: Site, visitors: Visitors, names: Sequence[str]) -> None:
    """Do ahead what first visitors would wait for: import pages, and build one if there is no visitor yet."""
    if names:
        site.load(names[0])
        loop.call_later(BETWEEN, _get_ready, loop, site, visitors, names[1:])
    elif not visitors.open:
        _build_unseen(site)


def _start_of_first(server: Server, site: Site) -> None:
    """Have the start of the first page ready before its first visitor."""
    from supdr_viz.serving.page_start import start_of
    from supdr_viz.ui.panel_workarounds import application_of

    start_of(application_of(server), site.empty(site.first, {}))


def _build_unseen(site: Site) -> None:
    """Build a first page without a visitor, so that its first visitor does not wait for what only building it imports.

    None is kept ready for visitors: of the .30 s that opening one costs, .17 s are spent on making it, in a class of
    fifty half a second of half a minute for three of them; and the kit hands over no document that was made before.
    """
    from bokeh.core.types import ID
    from bokeh.document import Document
    from bokeh.server.contexts import BokehSessionContext
    from panel.io.state import set_curdoc

    document = Document()
    no_visitor = BokehSessionContext(ID("none"), cast(Any, None), document)
    with set_curdoc(document):
        site.build(site.first)
        for callback in document.session_destroyed_callbacks:
            callback(no_visitor)


def origins(address: str, port: int, others: list[str]) -> list[str]:
    """Return the names under which a browser may connect: this machine's, the chosen address, and what was asked for.

    `address`: on which the server listens.
    """
    names = ["localhost", "127.0.0.1"]
    if address in ANY_ADDRESS:
        names += filter(None, [address_in_network()])
    elif address not in LOCAL_NAMES and ":" not in address:  # Bokeh knows no IPv6 origins
        names.append(address)
    return [f"{name}:{port}" for name in names] + others


def address_in_network() -> str:
    """Return the address under which others in its network reach this machine, empty if it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        try:
            end.connect(("192.0.2.1", 9))  # of the range for documentation, RFC 5737; nothing is sent
        except OSError:
            return ""
        found = str(end.getsockname()[0])
    return "" if found.startswith("127.") else found


def address_of(address: str, port: int, page: str) -> str:
    """Return where a page is, as a browser on this machine reaches it.

    `address`: on which the server listens; `page`: the page's name.
    """
    shown = "localhost" if address in (*LOCAL_NAMES, *ANY_ADDRESS) else address
    return f"http://{shown}:{port}/{page}"


def greeting(arguments: argparse.Namespace, port: int, page: str, cores: int) -> str:
    """Return what is printed once the pages can be had: where they are, who may come, and what many need.

    `arguments`: of the command; `page`: name of the first page; `cores`: of the processor.
    """
    words = f"The explorer is at {address_of(arguments.address, port, page)}   (Ctrl+C stops it)"
    if arguments.address in ANY_ADDRESS and (found := address_in_network()):
        words = f"Others in this network reach it at {address_of(found, port, page)}.\n{words}"
    if arguments.address not in LOCAL_NAMES and not arguments.basic_auth:
        words = f"Anyone who reaches this address can use the server; --basic-auth asks for a password.\n{words}"
    if arguments.address not in LOCAL_NAMES and not arguments.worker and arguments.workers < 2 <= cores:
        words = (
            f"If a whole class connects at once, --workers {cores} gets them in faster: one process for each core.\n"
            f"{words}"
        )
    return words


def explained(error: OSError, address: str, port: int) -> str:
    """Return why nothing can listen there."""
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use by another program. Stop that program or choose another port with --port."
    if error.errno == errno.EACCES:
        return f"port {port} needs administrator rights. Choose one from 1024 on with --port."
    return f"cannot listen on {address!r}: {error.strerror or error}."


def allow_many_files() -> None:
    """Let this process have as many connections open as the system allows it, up to `MOST_FILES`."""
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        limit = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        if soft != resource.RLIM_INFINITY and soft < limit:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage meanwhile: imports leave next to none, and to look for it takes a sixth of their time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def serve(
    site: Site, arguments: argparse.Namespace, port: int, show: bool, prepare: Callable[[], object] = lambda: None
) -> int:
    """Serve until interrupted.

    `site`: the pages; `arguments`: of the command; `port`: a free one; `show`: whether to open the first page in a
    browser; `prepare`: called in a thread of its own once the server answers, before what the first page needs is
    imported there. Returns the exit status.
    """
    allow_many_files()
    loaded: Future[None] = Future()
    with uncollected():
        from supdr_viz.serving.log import log_json, log_sparingly
        from supdr_viz.serving.security_headers import Visitors
        from supdr_viz.serving.waiting_room import WaitingRoom
        from supdr_viz.ui.panel_workarounds import start_clock

        queue = WaitingRoom(process=arguments.worker)
        visitors = Visitors(most("pages"), most("pages-each"), queue.arrived)
        try:
            server = _server(site, arguments, port, show, queue, visitors, loaded)
        except OSError as error:
            print(f"supdr-viz: {explained(error, arguments.address, port)}", file=sys.stderr)
            return 1
        if arguments.log_json:
            log_json()
        else:
            log_sparingly()
        print(greeting(arguments, port, site.first, processors()), flush=True)
    # What ends a service ends it as Ctrl+C does.  By itself it would end none that is the first process of a container.
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    keep_little()
    server.start()
    server.io_loop.add_callback(start_clock)
    server.io_loop.add_callback(_start_of_first, server, site)
    get_ready = functools.partial(_get_ready, server.io_loop, site, visitors, list(site.titles))
    loaded.add_done_callback(
        lambda _done: server.io_loop.add_callback(server.io_loop.call_later, READY_AFTER, get_ready)
    )
    threading.Thread(target=_load, args=(site, prepare, loaded), name="supdr-loading", daemon=True).start()
    server.io_loop.start()
    return 0


def _load(site: Site, prepare: Callable[[], object], loaded: Future[None]) -> None:
    """Import what the first page needs, which takes three quarters of the start, and set the result of `loaded`."""
    try:
        prepare()
        with uncollected():
            site.load(site.first)
            # What is loaded now stays loaded: without it in every collection, the pauses are short.
            gc.freeze()
    except BaseException as error:
        loaded.set_exception(error)  # pages say that they could not be built
    else:
        loaded.set_result(None)


def keep_little() -> None:
    """Have the process let go of pages that are closed, and of their memory; once."""
    from supdr_viz.serving.memory import keep_giving_back
    from supdr_viz.ui.panel_workarounds import collect_in_lulls, let_go_after_errors, stay_in_the_loop

    collect_in_lulls()
    let_go_after_errors()
    stay_in_the_loop()
    keep_giving_back()


def routes_of_pages(site: Site, pages: Collection[str], process: int = 0) -> list[tuple[Any, ...]]:
    """Return what pages ask of their server beside themselves, relative to its prefix.

    `pages`: names that addresses of pages have here; `process`: see `Tickets`. Returns addresses and handlers
    of Tornado.
    """
    from supdr_viz.serving.admission import Ended
    from supdr_viz.ui.own_files import OwnFile
    from supdr_viz.views.stage.socket import StageSocket

    return [
        OwnFile.route(),
        StageSocket.route(site.service().tickets, process),
        *site.routes(),
        Ended.route(pages, most("hours")),
    ]


def _server(
    site: Site,
    arguments: argparse.Namespace,
    port: int,
    show: bool,
    queue: WaitingRoom,
    visitors: Visitors,
    loaded: Future[None],
) -> Server:
    """Make the server with all its pages; it does not answer yet.

    `loaded`: what the sessions of pages wait for.
    """
    import panel as pn
    from bokeh.settings import settings

    from supdr_viz.serving.admission import Refusal
    from supdr_viz.serving.log import answers
    from supdr_viz.serving.page_start import FilesAsked
    from supdr_viz.serving.security_headers import Headers
    from supdr_viz.serving.visitor_cookie import Cookie
    from supdr_viz.ui.components import USED
    from supdr_viz.ui.panel_workarounds import describe_only

    # What helps the author of a page costs its visitors time.
    settings.perform_error_diagnostics = settings.perform_document_validation = False
    describe_only(USED)
    # Without a secret of the user's own, logins last as long as this process.
    cookie_secret = (pn.config.cookie_secret or secrets.token_hex(32)) if arguments.basic_auth else None
    routes = _routes(site, arguments, queue, visitors)
    names = site.service().tickets.names = origins(arguments.address, port, arguments.allow_websocket_origin)
    files = FilesAsked()
    named = (*site.titles, "ended", "follow", "health", "own", "stage", "static", "turn")
    notes: dict[str, Any] = {"log_function": answers(named)} if arguments.log_json else {}
    server = pn.io.server.get_server(
        _applications(site, queue, visitors, files),
        port=port,
        address=arguments.address,
        websocket_origin=names,
        basic_auth=arguments.basic_auth,
        cookie_secret=cookie_secret,
        show=show,
        extra_patterns=routes,
        **notes,
        # A page's websocket opens with what this server has written into the page, and with nothing else.
        sign_sessions=True,
        secret_key=settings.secret_key_bytes() or secrets.token_bytes(32),
        transforms=[
            Refusal.saying(visitors.refusals),
            Headers.shown_in(arguments.embed_in),
            Cookie.of(arguments.worker),
            files.note,
        ],
        **SERVER_OPTIONS,
    )
    _before_the_kit(server, site, loaded)
    return server


def _applications(site: Site, queue: WaitingRoom, visitors: Visitors, files: FilesAsked) -> dict[str, Any]:
    """Return the pages by their names, each behind the admission."""
    from panel.io.application import build_applications

    from supdr_viz.serving.admission import Admission

    pages: dict[str, Any] = {name: visitors.admitting(functools.partial(site.build, name)) for name in site.titles}
    applications: dict[str, Any] = build_applications(pages, title=dict(site.titles))
    for application in applications.values():
        application.add(Admission(queue, visitors.refuse, files))
    return applications


def _before_the_kit(server: Server, site: Site, loaded: Future[None]) -> None:
    """Add the handlers that answer in place of the kit's own; see `_server`."""
    from tornado.web import ErrorHandler

    from supdr_viz.serving.page_start import start_early
    from supdr_viz.ui.panel_workarounds import application_of

    application = application_of(server)
    start_early(application, site.titles, site.empty, loaded)
    # Scripts that put a page into one of another site would tell that site the page's token; frames do not.
    scripts = [(f"/{name}/autoload.js", ErrorHandler, {"status_code": 404}) for name in site.titles]
    application.add_handlers(".*", scripts)


def _routes(site: Site, arguments: argparse.Namespace, queue: WaitingRoom, visitors: Visitors) -> list[tuple[Any, ...]]:
    """Return what is answered beside the pages."""
    from tornado.web import ErrorHandler, RedirectHandler

    from supdr_viz.serving.admission import Turn
    from supdr_viz.serving.security_headers import Health
    from supdr_viz.ui import packed_files

    pool = site.service().pool
    counts = {"pages": lambda: visitors.open, "waiting": lambda: queue.waiting, "runs": lambda: pool.n_jobs}
    return [
        # With several pages the kit would show a list of them.
        ("/", RedirectHandler, {"url": f"/{site.first}", "permanent": False}),
        *routes_of_pages(site, site.titles, arguments.worker),
        Turn.route(queue),
        Health.route(counts),
        # The kit would import any module that is named here, for any visitor: code runs then, and some modules end the
        # process.  No page of ours asks for it.
        ("/components/.*", ErrorHandler, {"status_code": 404}),
        *packed_files.routes(),
    ]
