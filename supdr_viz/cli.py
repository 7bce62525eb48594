"""The command ``supdr-viz``: serve the pages on this machine."""

from __future__ import annotations

import argparse
import atexit
import functools
import importlib
import importlib.metadata
import logging
import os
import re
import signal
import sys
import threading
from typing import TYPE_CHECKING

from supdr.engine.optional import PackageMissing
from supdr_viz import require_app
from supdr_viz.data.quotas import QUOTAS, checked, variable
from supdr_viz.pages import site
from supdr_viz.serving.server import explained, serve, uncollected

if TYPE_CHECKING:
    from supdr.warm import Warming

# Commands besides serving -> module and function that adds their options.
COMMANDS = {
    "sweep": ("supdr_viz.pages.sensitivity.command", "add_sweep"),
    "lesson": ("supdr_viz.lessons.command", "add_lesson"),
    "reproduce": ("supdr_viz.papers.command", "add_reproduce"),
}


def command() -> int:
    """Run `main` as the program of a process of its own; returns its exit status.

    The process ends after all exit functions without unwinding its threads: Python before 3.14 would end one that is
    inside LLVM by an exception that C++ does not let through, and abort (github.com/python/cpython/issues/87135).
    """
    status: list[int] = []
    atexit.register(_end_with, status)  # the first that is registered runs last
    status.append(main())
    return status[0]


def _end_with(status: list[int]) -> None:
    """End the process with this status, as soon as all that is printed and logged is written; empty: do nothing."""
    if status:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status[0])


def main(argv: list[str] | None = None) -> int:
    """Compile the kernels if need be, then serve until interrupted.

    `argv`: command line without the program's name; default: that of the process. Returns the exit status: 0 after a
    normal end, 1 if the server could not start or the app is not installed.
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
        print(f"supdr-viz: {explained(error, arguments.address, arguments.port)}", file=sys.stderr)
        return 1
    for name in QUOTAS:
        os.environ[variable(name)] = str(getattr(arguments, f"most_{name.replace('-', '_')}"))
    if arguments.scheduler:
        os.environ["SUPDR_SCHEDULER"] = arguments.scheduler
    if arguments.rows:
        from supdr_viz.data.rows_on_disk import VARIABLE, described

        try:
            os.environ[VARIABLE] = described(arguments.rows)
        except ValueError as error:
            parser.error(f"--rows: {error}")
    if arguments.until_closed:
        threading.Thread(target=_end_with_input, daemon=True).start()
    if arguments.desktop:
        from supdr_viz.serving.desktop import open_window

        return open_window(port, site().first)
    show = _opens_browser(arguments.show)
    if arguments.workers > 1:
        from supdr_viz.serving.front import serve_from_many

        with uncollected():
            _warm_kernels(wait=True)
        return serve_from_many(site().first, arguments, port, show)
    return serve(site(), arguments, port, show, prepare=functools.partial(_warm_kernels, wait=False))


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
    _add_access(parser)
    _add_work(parser)
    _add_window(parser)
    _add_quotas(parser)
    return parser


def _add_access(parser: argparse.ArgumentParser) -> None:
    """Add where the server listens, and who may come."""
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


def _add_work(parser: argparse.ArgumentParser) -> None:
    """Add with what the server works, and what it writes of that."""
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler such as tcp://host:8786 that computes sweeps and works on rows on disk, or 'dask' for a "
        "cluster on this machine (default: processes of this machine, and threads of this one)",
    )
    parser.add_argument(
        "--rows",
        action="append",
        default=[],
        metavar="[NAME=]FOLDER",
        help="rows on disk that visitors may choose by this name: a folder of Parquet files, one with a .npy file or a "
        ".zarr folder of rows and one of labels, or an .npz file of both; may be repeated. Nothing else on the disk "
        "can be reached",
    )
    parser.add_argument(
        "--log-json",
        action="store_true",
        help="write every answer and every failure as a line of JSON, without addresses, names or data of visitors",
    )
    parser.add_argument(
        "--workers",
        type=_count,
        default=1,
        metavar="N",
        help="serve from so many processes, each with its share of the quotas that count for all "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--worker",
        type=_number,
        default=0,
        metavar="NUMBER",
        help="which of several processes behind a proxy of your own this is, from 1 on: links of runs begin with it",
    )


def _add_window(parser: argparse.ArgumentParser) -> None:
    """Add what is opened when the server starts, and what ends it."""
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


def _add_quotas(parser: argparse.ArgumentParser) -> None:
    said = "What exceeds a quota is refused with a message. Environment variables set the same quotas."
    limits = parser.add_argument_group("quotas", said)
    for name, quota in QUOTAS.items():
        limits.add_argument(
            f"--most-{name}",
            type=functools.partial(_quota, name),
            default=os.environ.get(variable(name), str(quota.default)),
            metavar="N",
            help=f"{quota.help}; {variable(name)} (default: %(default)s)",
        )


def _for_networks(arguments: argparse.Namespace) -> dict[str, bool]:
    """Which of the options on access are given."""
    return {
        "--address": arguments.address != "localhost",
        "--workers": arguments.workers > 1,
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


def _count(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes: 1 to 99")
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


def _warm_kernels(*, wait: bool) -> None:
    """Compile the kernels in another process, first those of the method that the first page opens with.

    `wait`: return when all are compiled, and print a line for each part; else the pages say what they wait for.
    """
    from supdr import warm

    if warm.is_warm():
        return

    from supdr_viz.presets.catalogue import PRESETS

    print("Compiling the numerical kernels; this happens once per installation.", flush=True)
    warming, compiled, opening = warm.start_in_background(), threading.Event(), PRESETS.opening.settings.method

    def end(warming: Warming) -> None:
        """Report a failure, and let who waits go on."""
        _report_failure(warming)
        compiled.set()

    if not wait:
        warming.when_compiled([opening], lambda _warming: print(f"{opening} is compiled.", flush=True))
    warming.when_compiled([], end)
    shown = 0
    while wait and (not compiled.wait(0.1) or shown < len(warming.lines)):
        for line in warming.lines[shown:]:
            print(line, flush=True)
            shown += 1


def _report_failure(warming: Warming) -> None:
    """Print why the kernels could not all be compiled, if so."""
    if warming.error:
        print(
            f"supdr-viz: the kernels could not all be compiled: {warming.error}. Serving anyway: "
            "what is missing is compiled at its first use, which makes that use slow.",
            file=sys.stderr,
        )


def _end_with_input() -> None:
    """End this process when its standard input ends."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


def _opens_browser(wish: bool | None) -> bool:
    if wish is not None:
        return wish
    desktop = sys.platform in ("darwin", "win32") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    return desktop and sys.stdout.isatty()


if __name__ == "__main__":
    sys.exit(command())
