"""The kit's scripts and style sheets, sent packed over a network: a third of what they are.

Who is first gets a file as it is, without waiting; meanwhile it is packed, once, beside the server's thread.  Where the
address says that the browser is on the same machine nothing would be won: to unpack all takes a tenth of a second of a
first visit.
"""

from __future__ import annotations

import gzip
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bokeh.embed.bundle import extension_dirs
from bokeh.server.views.multi_root_static_handler import MultiRootStaticHandler
from bokeh.server.views.static_handler import StaticHandler
from tornado.httputil import HTTPServerRequest
from tornado.web import StaticFileHandler

# Endings of files that are packed; pictures and fonts are so by themselves.
TEXTS = frozenset({".js", ".css", ".svg"})

# Names under which a browser on the same machine asks.
ON_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "[::1]"})


def gains(request: HTTPServerRequest) -> bool:
    """Tell whether the browser unpacks files, and a network lies between."""
    return "gzip" in request.headers.get("Accept-Encoding", "") and request.host_name not in ON_THIS_MACHINE


class Packing:
    """Packs files in a thread, and keeps them: 1.4 MB of what a page asks for.

    `most`: files; a page asks for some twenty.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="packing")
        self._submitted: set[str] = set()
        self._packed: dict[str, bytes] = {}

    def content(self, path: str) -> bytes | None:
        """Return a file packed, or None as long as it is not.

        `path`: absolute.
        """
        if path not in self._submitted and len(self._submitted) < self._most:
            self._submitted.add(path)
            self._thread.submit(self._pack, path)
        return self._packed.get(path)

    def _pack(self, path: str) -> None:
        self._packed[path] = gzip.compress(Path(path).read_bytes(), mtime=0)


class PackedFile(StaticFileHandler):
    """Answers with a file; packed, if it is of text, has been asked for before, and the browser gains by it.

    `packing`: of the server; `*request`, `**options`: of the kit's own.
    """

    def __init__(self, *request: Any, packing: Packing, **options: Any) -> None:
        super().__init__(*request, **options)
        self._packing = packing

    async def get(self, path: str, include_body: bool = True) -> None:
        """Send a file, or only its headers.

        `path`: after the address of the files.
        """
        if Path(path).suffix not in TEXTS:
            await super().get(path, include_body)
            return
        # Parts of a file as it is and parts of the same file packed would not fit together.
        self.request.headers.pop("Range", None)
        self.path = self.parse_url_path(path)
        self.absolute_path = self.validate_absolute_path(self.root, self.get_absolute_path(self.root, self.path))
        packed = self._packing.content(self.absolute_path or "") if gains(self.request) else None
        if packed is None:
            await super().get(path, include_body)
        else:
            self._send(packed, include_body)

    def _send(self, packed: bytes, include_body: bool) -> None:
        """Send the file packed, unless the browser has it."""
        self.modified = self.get_modified_time()
        self.set_headers()
        self.set_header("Content-Encoding", "gzip")
        self.set_header("Content-Length", len(packed))
        self.set_header("Etag", f'"{zlib.crc32(packed):08x}-gzip"')
        if self.should_return_304():
            self.set_status(304)
        elif include_body:
            self.write(packed)

    def set_extra_headers(self, path: str) -> None:
        """Say of what may be packed that it depends on the browser, and offer no parts of it."""
        if Path(path).suffix in TEXTS:
            self.set_header("Vary", "Accept-Encoding")
            self.set_header("Accept-Ranges", "none")


class KitFile(PackedFile, StaticHandler):
    """A file of Bokeh's own."""


class ExtensionFile(PackedFile, MultiRootStaticHandler):
    """A file of what extends Bokeh: Panel, and the components of the pages."""


def routes(most_packed: int = 200) -> list[tuple[Any, ...]]:
    """Return the addresses of the kit's files, as the kit has them, and their handlers.

    `most_packed`: files.
    """
    packing = Packing(most_packed)
    return [
        ("/static/extensions/(.*)", ExtensionFile, {"root": extension_dirs, "packing": packing}),
        ("/static/(.*)", KitFile, {"packing": packing}),
    ]
