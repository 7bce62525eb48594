"""The kit's scripts and style sheets, sent packed over a network: a third of what they are.

Who is first gets a file as it is, without waiting; meanwhile it is packed, once, beside the server's thread.  Where the
address says that the browser is on the same machine nothing would be won: to unpack all takes a tenth of a second of a
first visit.
"""

from __future__ import annotations

import gzip
import mimetypes
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from bokeh.embed.bundle import extension_dirs
from bokeh.server.views.multi_root_static_handler import MultiRootStaticHandler
from bokeh.server.views.static_handler import StaticHandler
from tornado.httputil import HTTPServerRequest
from tornado.web import StaticFileHandler

# Endings of files that are packed; pictures and fonts are so by themselves.
TEXTS = frozenset({".js", ".css", ".svg"})

# Names under which a browser on the same machine asks.
ON_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "[::1]"})

# Ends the name under which a packed file is kept: no file on a disk is called so.
PACKED = "\0gzip"


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

    def name(self, path: str) -> str | None:
        """Return under which name a file is kept, or None as long as it is not packed.

        `path`: absolute.
        """
        if path not in self._submitted and len(self._submitted) < self._most:
            self._submitted.add(path)
            self._thread.submit(self._pack, path)
        name = path + PACKED
        return name if name in self._packed else None

    def content(self, name: str) -> bytes | None:
        """Return what is kept under a name, or None."""
        return self._packed.get(name)

    def _pack(self, path: str) -> None:
        self._packed[path + PACKED] = gzip.compress(Path(path).read_bytes(), mtime=0)


class PackedFile(StaticFileHandler):
    """Answers with a file; packed, if it is of text, has been asked for before, and the browser gains by it.

    `packing`: of the server.
    """

    packing: ClassVar[Packing]
    _changed_at = 0.0

    def validate_absolute_path(self, root: Any, absolute_path: str) -> str | None:
        """Return the file that is asked for, or the name under which it is kept.

        `root`: of the kit's handler.
        """
        path = super().validate_absolute_path(root, absolute_path)
        if path is None or Path(path).suffix not in TEXTS:
            return path
        self._changed_at = Path(path).stat().st_mtime
        self.set_header("Vary", "Accept-Encoding")
        # Parts of a file as it is and parts of the same file packed would not fit together.
        self.request.headers.pop("Range", None)
        packed = self.packing.name(path) if gains(self.request) else None
        if packed is None:
            return path
        self.set_header("Content-Encoding", "gzip")
        return packed

    def set_extra_headers(self, path: str) -> None:
        """Offer no parts of what may be packed."""
        if Path(path).suffix in TEXTS:
            self.set_header("Accept-Ranges", "none")

    def get_modified_time(self) -> datetime | None:
        """Return when the file that is asked for was changed."""
        if not self._changed_at:
            return super().get_modified_time()
        return datetime.fromtimestamp(int(self._changed_at), UTC)

    @classmethod
    def get_content(
        cls, abspath: str, start: int | None = None, end: int | None = None
    ) -> Generator[bytes, None, None]:
        """Yield the bytes of a file, or of what is kept under a name."""
        packed = cls.packing.content(abspath)
        if packed is None:
            yield from super().get_content(abspath, start, end)
        else:
            yield packed[start:end]

    def get_content_size(self) -> int:
        """Return how many bytes there are to send."""
        packed = self.packing.content(self.absolute_path or "")
        return super().get_content_size() if packed is None else len(packed)

    def get_content_type(self) -> str:
        """Return the type of what is unpacked."""
        kind, _encoding = mimetypes.guess_type((self.absolute_path or "").removesuffix(PACKED))
        return kind or super().get_content_type()


class KitFile(PackedFile, StaticHandler):
    """A file of Bokeh's own."""


class ExtensionFile(PackedFile, MultiRootStaticHandler):
    """A file of what extends Bokeh: Panel, and the components of the pages."""


def routes(most_packed: int = 200) -> list[tuple[Any, ...]]:
    """Return the addresses of the kit's files, as the kit has them, and their handlers.

    `most_packed`: files.
    """
    PackedFile.packing = Packing(most_packed)
    return [
        ("/static/extensions/(.*)", ExtensionFile, {"root": extension_dirs}),
        ("/static/(.*)", KitFile),
    ]
