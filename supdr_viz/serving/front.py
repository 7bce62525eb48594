"""Several processes behind one address, each with its share of what all may take; a relay stands before them."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import secrets
import signal
import sys
import webbrowser
from collections.abc import Coroutine

from supdr.engine.processes import processors
from supdr_viz.data.quotas import QUOTAS, most, variable
from supdr_viz.serving.relay import Relay, Worker
from supdr_viz.serving.server import address_of, allow_many_files, greeting, origins


def shares(number: int) -> dict[str, str]:
    """Return the quotas of each of several processes, as variables: what counts for all is shared out.

    `number`: of processes.
    """
    cores = os.cpu_count() or 1
    own = {"workers": max(1, cores // number), "threads": max(1, (cores - 1) // number)}
    quotas = {}
    for name, quota in QUOTAS.items():
        value = most(name)
        if name in own:
            value = value or own[name]
        elif quota.of_all:
            value = -(-value // number)
        quotas[variable(name)] = str(value)
    return quotas


def serve_from_many(page: str, arguments: argparse.Namespace, port: int, show: bool) -> int:
    """Serve from several processes until interrupted.

    `page`: name of the first page; `arguments`: of the command; `port`: a free one; `show`: whether to open the first
    page in a browser. Returns the exit status: 0 after a normal end, 1 if a process did not start.
    """
    allow_many_files()
    command = [sys.executable, "-m", "supdr_viz.cli", "--no-browser", "--until-closed"]
    for origin in origins(arguments.address, port, arguments.allow_websocket_origin):
        command += ["--allow-websocket-origin", origin]
    for site in arguments.embed_in:
        command += ["--embed-in", site]
    command += ["--log-json"] if arguments.log_json else []
    environment = {**os.environ, **shares(arguments.workers)}
    if arguments.basic_auth:  # a login holds in all of them
        environment["PANEL_BASIC_AUTH"] = arguments.basic_auth
        environment.setdefault("PANEL_COOKIE_SECRET", secrets.token_hex(32))
    workers = [Worker(number + 1, command, environment) for number in range(arguments.workers)]
    try:
        if not all(worker.wait() for worker in workers):
            print("supdr-viz: a process did not start; the reason stands above.", file=sys.stderr)
            return 1

        def ready() -> None:
            print(greeting(arguments, port, page, processors()), flush=True)
            if show:
                webbrowser.open(address_of(arguments.address, port, page))

        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_until_ended(Relay(workers).serve(arguments.address, port, ready)))
    finally:
        for worker in workers:
            assert worker.process.stdin is not None
            worker.process.stdin.close()
        for worker in workers:
            worker.process.wait()
    return 0


async def _until_ended(serving: Coroutine[None, None, None]) -> None:
    task = asyncio.create_task(serving)
    with contextlib.suppress(NotImplementedError):  # Windows: only Ctrl+C
        # That signal, too: of what a shell starts in the background it is ignored.
        for end in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(end, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task
