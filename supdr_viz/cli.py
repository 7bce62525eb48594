"""The command ``supdr-viz``: serve the pages on this machine."""

from __future__ import annotations

import argparse
import errno
import functools
import gc
import importlib
import importlib.metadata
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, cast

from supdr.engine.optional import PackageMissing
from supdr_viz import require_app
from supdr_viz.kit.quotas import QUOTAS, checked, most, variable
from supdr_viz.pages import PAGES, title_of

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
ANY_ADDRESS = ("0.0.0.0", "::")

COMMANDS = {
    "sweep": ("supdr_viz.sweeps.command", "add_sweep"),
    "lesson": ("supdr_viz.lessons.command", "add_lesson"),
    "reproduce": ("supdr_viz.reproduce.command", "add_reproduce"),
}
"""Commands besides serving -> module and function that adds their options."""

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


def main(argv: list[str] | None = None) -> int:
    """Compile the kernels if need be, then serve until interrupted.

    Parameters
    ----------
    argv : list of str, optional
        Command line without the program's name; default: that of the process.

    Returns
    -------
    int
        The exit status: 0 after a normal end, 1 if the server could not start or the app is not installed.
    """
    argv = sys.argv[1:] if argv is None else argv
    try:
        require_app("supdr-viz")
    except PackageMissing as error:
        print(error, file=sys.stderr)
        return 1
    if argv and argv[0] in COMMANDS:
        return _headless(argv)
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.desktop:
        for option, given in _for_networks(arguments).items():
            if given:
                parser.error(f"--desktop serves its own window only: leave out {option}")
    try:
        port = _free_port(arguments.address, arguments.port)
    except OSError as error:
        print(f"supdr-viz: {_explain(error, arguments.address, arguments.port)}", file=sys.stderr)
        return 1
    for name in QUOTAS:
        os.environ[variable(name)] = str(getattr(arguments, f"most_{name.replace('-', '_')}"))
    if arguments.scheduler:
        os.environ["SUPDR_SCHEDULER"] = arguments.scheduler
    if arguments.until_closed:
        threading.Thread(target=_end_with_input, daemon=True).start()
    _warm_kernels()
    if arguments.desktop:
        from supdr_viz.desktop import open_window

        return open_window(port)
    return _serve(arguments, port)


def _headless(argv: list[str]) -> int:
    """Run a command that needs no page."""
    parser = argparse.ArgumentParser(prog="supdr-viz")
    commands = parser.add_subparsers(required=True)
    for name, (module, adder) in COMMANDS.items():
        if name == argv[0]:
            getattr(importlib.import_module(module), adder)(commands)
    arguments = parser.parse_args(argv)
    return int(arguments.run(arguments))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="supdr-viz",
        description="Serve the supdr explorer to a browser on this machine.",
        epilog=f"Further commands: {', '.join(f'supdr-viz {name}' for name in COMMANDS)}; each with --help.",
    )
    parser.add_argument("--version", action="version", version=f"supdr-viz {importlib.metadata.version('supdr-viz')}")
    parser.add_argument(
        "--port", type=_port, default=5006, help="port to listen on; 0 takes any free one (default: %(default)s)"
    )
    parser.add_argument(
        "--address",
        default="localhost",
        help="address to listen on; 0.0.0.0 opens the server to the network (default: %(default)s)",
    )
    parser.add_argument(
        "--allow-websocket-origin",
        type=_origin,
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="another name under which browsers reach this server, port 80 if none is given; may be repeated",
    )
    parser.add_argument(
        "--basic-auth",
        default=os.environ.get("PANEL_BASIC_AUTH"),
        metavar="PASSWORD_OR_FILE",
        help="ask visitors for this password, or for the users of this JSON file; PANEL_BASIC_AUTH in the "
        "environment does the same and keeps it out of the list of processes",
    )
    parser.add_argument(
        "--embed-in",
        type=_site,
        action="append",
        default=[],
        metavar="SITE",
        help="another site, such as https://school.example, that may show the pages in a frame; may be repeated",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler such as tcp://host:8786 that computes sweeps, or 'dask' for a cluster on this machine "
        "(default: processes of this machine)",
    )
    parser.add_argument(
        "--log-json",
        action="store_true",
        help="write every answer and every failure as a line of JSON, without addresses, names or data of visitors",
    )
    parser.add_argument(
        "--worker",
        type=_number,
        default=0,
        metavar="NUMBER",
        help="which of several processes behind one proxy this is, from 1 on: class links begin with it",
    )
    browser = parser.add_mutually_exclusive_group()
    browser.add_argument("--show", action="store_true", default=None, help="open the page in a browser")
    browser.add_argument(
        "--no-browser",
        dest="show",
        action="store_false",
        help="do not open a browser (default: open one if started from a terminal on a desktop)",
    )
    browser.add_argument(
        "--desktop", action="store_true", help="open the page in a window of its own; closing it stops the server"
    )
    # For a program that starts this one and may be killed.
    parser.add_argument("--until-closed", action="store_true", help=argparse.SUPPRESS)
    limits = parser.add_argument_group("quotas", "Whoever asks for more is told so. Variables do the same.")
    for name, quota in QUOTAS.items():
        limits.add_argument(
            f"--most-{name}",
            type=functools.partial(_quota, name),
            default=os.environ.get(variable(name), str(quota.default)),
            metavar="N",
            help=f"{quota.help}; {variable(name)} (default: %(default)s)",
        )
    return parser


def _for_networks(arguments: argparse.Namespace) -> dict[str, bool]:
    """Which of the options that say who else may come in are given."""
    return {
        "--address": arguments.address != "localhost",
        "--allow-websocket-origin": bool(arguments.allow_websocket_origin),
        "--embed-in": bool(arguments.embed_in),
        "--basic-auth": arguments.basic_auth != os.environ.get("PANEL_BASIC_AUTH"),
    }


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a whole number from 0 to 65535")
    return int(text)


def _origin(text: str) -> str:
    if not re.fullmatch(r"[^\s:/]+(:\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a host: a name or IPv4 address, with :PORT if not 80")
    return text


def _number(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a process: 1, 2, 3 and so on")
    return int(text)


def _quota(name: str, text: str) -> int:
    try:
        return checked(name, text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _site(text: str) -> str:
    if not re.fullmatch(r"https?://[\w.-]+(:\d+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a site: https:// and a name, with :PORT if need be")
    return text


def _free_port(address: str, port: int) -> int:
    """Bind as the server will and let go again: a busy port is reported before anything slow happens."""
    from tornado.netutil import bind_sockets

    sockets = bind_sockets(port, address)
    chosen = sockets[0].getsockname()[1]
    for socket in sockets:
        socket.close()
    return chosen


def _explain(error: OSError, address: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use by another program. Stop that program or choose another port with --port."
    if error.errno == errno.EACCES:
        return f"port {port} needs administrator rights. Choose one from 1024 on with --port."
    return f"cannot listen on {address!r}: {error.strerror or error}."


def _warm_kernels() -> None:
    from supdr import warm

    if warm.is_warm():
        return
    print("Compiling the numerical kernels; this happens once per installation.", flush=True)
    if subprocess.run([sys.executable, "-m", "supdr.warm"], check=False).returncode != 0:
        print(
            "supdr-viz: the kernels could not all be compiled (see above). Serving anyway: "
            "what is missing is compiled at its first use, which makes that use slow.",
            file=sys.stderr,
        )


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


def _origins(address: str, port: int, others: list[str]) -> list[str]:
    """Names under which a browser may connect: this machine's own, the chosen address, and what was asked for."""
    names = ["localhost", "127.0.0.1"]
    if address not in (*LOCAL_NAMES, *ANY_ADDRESS) and ":" not in address:  # Bokeh knows no IPv6 origins
        names.append(address)
    return [f"{name}:{port}" for name in names] + others


def _end_with_input() -> None:
    """End this process when its standard input ends."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


def _opens_browser(wish: bool | None) -> bool:
    if wish is not None:
        return wish
    desktop = sys.platform in ("darwin", "win32") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    return desktop and sys.stdout.isatty()


def _serve(arguments: argparse.Namespace, port: int) -> int:
    import panel as pn
    from bokeh.settings import settings
    from panel.io.application import build_applications
    from tornado.web import RedirectHandler

    from supdr_viz.kit.door import Door, Queue, Refusal, Turn
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
    visitors = Visitors(most("pages"), queue.arrived)
    counts = {"pages": lambda: visitors.open, "waiting": lambda: queue.waiting, "runs": lambda: shared_pool().n_jobs}
    routes = [
        # With several pages the kit would show a list of them.
        ("/", RedirectHandler, {"url": f"/{next(iter(PAGES))}", "permanent": False}),
        OwnFile.route(),
        StageSocket.route(arguments.worker),
        FollowPage.route(),
        Turn.route(queue),
        Health.route(counts),
    ]
    pages: dict[str, Any] = {name: _page(name) for name in PAGES}
    _build_unseen(next(iter(pages.values())))
    pages = {name: visitors.admitting(page) for name, page in pages.items()}
    applications: dict[str, Any] = build_applications(pages, title={name: title_of(name) for name in PAGES})
    for application in applications.values():
        application.add(Door(queue, lambda: visitors.full))
    named = (*PAGES, "follow", "health", "own", "stage", "static", "turn")
    notes: dict[str, Any] = {"log_function": answers(named)} if arguments.log_json else {}
    try:
        server = pn.io.server.get_server(
            applications,
            port=port,
            address=arguments.address,
            websocket_origin=_origins(arguments.address, port, arguments.allow_websocket_origin),
            basic_auth=arguments.basic_auth,
            cookie_secret=cookie_secret,
            show=_opens_browser(arguments.show),
            extra_patterns=routes,
            **notes,
            transforms=[Refusal.saying(visitors.refusal), Headers.shown_in(arguments.embed_in)],
            **SERVER_OPTIONS,
        )
    except OSError as error:
        print(f"supdr-viz: {_explain(error, arguments.address, port)}", file=sys.stderr)
        return 1
    if notes:
        log_json()
    if arguments.address not in LOCAL_NAMES and not arguments.basic_auth:
        print("Anybody who reaches this address can use the server; --basic-auth asks for a password.")
    shown = "localhost" if arguments.address in (*LOCAL_NAMES, *ANY_ADDRESS) else arguments.address
    print(f"The explorer is at http://{shown}:{port}/{next(iter(PAGES))}   (Ctrl+C stops it)", flush=True)
    # What is loaded now stays loaded: without it in every collection, the pauses are short.
    gc.collect()
    gc.freeze()
    server.start()
    server.io_loop.start()
    return 0


if __name__ == "__main__":
    sys.exit(main())
