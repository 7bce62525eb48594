"""A server of some addresses only, and somebody who asks it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application


def answers(routes, *asked, after: Callable[[], object] = lambda: None):
    """Ask a server for one address after the other, each with headers; return its answers as they travel.

    ``after()`` is called after each.
    """

    async def ask():
        listening, port = bind_unused_port()
        server = HTTPServer(Application(routes))
        server.add_socket(listening)
        client, got = AsyncHTTPClient(), []
        try:
            for address, headers in asked:
                request = HTTPRequest(f"http://127.0.0.1:{port}/{address}", headers=headers, decompress_response=False)
                got.append(await client.fetch(request, raise_error=False))
                after()
            return got
        finally:
            server.stop()
            await server.close_all_connections()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, ask()).result()
