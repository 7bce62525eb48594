"""The app's own scripts, style sheets and pictures: files that a browser keeps, where the server offers them.

A page names them by what they contain, so that a browser may keep them for ever.  Where the server does not offer them
(a notebook, several processes of `panel serve`), they are part of the page, as they are of everything that is saved.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from tornado.web import HTTPError, RequestHandler

from supdr_viz.ui.packed_files import gains

# Of these files, beside the pages.
FOLDER = "own"

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "webp": "image/webp"}
FOR_EVER = "public, max-age=31536000, immutable"


class OwnFile(RequestHandler):
    """Answers with one of the files.

    `offered`: whether this server has them.
    """

    offered: ClassVar[bool] = False
    _contents: ClassVar[dict[str, bytes]] = {}

    @classmethod
    def route(cls) -> tuple[str, type[OwnFile]]:
        """Return the address and its handler, for a server that offers the files."""
        cls.offered = True
        return rf"/{FOLDER}/(\w+\.(?:css|js|webp))", cls

    @classmethod
    def address(cls, content: str | bytes, ending: str) -> str:
        """Return the address of a file with this content, relative to the page's; it can be read from now on.

        `content`: one that the program knows, not one that a visitor brings: it is kept; `ending`: one of "css", "js",
        "webp".
        """
        content = content.encode() if isinstance(content, str) else content
        name = _name(content, ending)
        cls._contents.setdefault(name, content)
        return f"{FOLDER}/{name}"

    def get(self, name: str) -> None:
        """Answer with the file of this name."""
        content = self._contents.get(name)
        if content is None:
            raise HTTPError(404)
        self.set_header("Content-Type", TYPES[name.rpartition(".")[2]])
        self.set_header("Cache-Control", FOR_EVER)
        if not name.endswith(".webp"):  # a picture is packed by itself
            self.set_header("Vary", "Accept-Encoding")
            if gains(self.request):
                self.set_header("Content-Encoding", "gzip")
                content = _packed(content)
        self.finish(content)


@cache
def _packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


@cache
def _name(content: bytes, ending: str) -> str:
    return f"{hashlib.sha256(content).hexdigest()[:16]}.{ending}"


def sheet(css: str) -> str:
    """Return what a component takes as one of its style sheets: the address of the file, or its text."""
    return OwnFile.address(css, "css") if OwnFile.offered else css


def image(content: bytes) -> str:
    """Return the address of a picture in WebP: of its file, or one that holds it."""
    if OwnFile.offered:
        return OwnFile.address(content, "webp")
    return f"data:{TYPES['webp']};base64,{base64.b64encode(content).decode()}"


class Script:
    """What a component takes as its module: one that loads the file, or its text.

    `read`: returns the text of a module that exports ``render``.
    """

    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read

    def __get__(self, component: Any, owner: type) -> str:
        """Return the text of the module, as the component's ``_esm``."""
        if not OwnFile.offered:
            return self._read()
        address = OwnFile.address(self._read(), "js")
        # The kit turns a component's text into a module without an address of its own: "./" would lead nowhere.
        return (
            f'const own = await import(new URL("{address}", document.baseURI).href)\nexport const render = own.render\n'
        )
