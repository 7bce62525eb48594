"""The app's own scripts and style sheets: files that a browser keeps, where the server offers them.

A page names them by what they contain, so that a browser may keep them for ever.  Where the server does not offer them
(a notebook, `panel serve`), they are part of the page, as they are of everything that is saved.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from tornado.web import HTTPError, RequestHandler

FOLDER = "own"
"""Of these files, beside the pages."""

TYPES = {"css": "text/css", "js": "text/javascript"}
_LOADED = """
const own = await import(new URL("%s", document.baseURI).href)
export const render = own.render
"""
FOR_EVER = "public, max-age=31536000, immutable"


class OwnFile(RequestHandler):
    """Answers with one of the files.

    Attributes
    ----------
    offered : bool
        Whether this server has them.
    """

    offered: ClassVar[bool] = False
    _texts: ClassVar[dict[str, bytes]] = {}

    @classmethod
    def route(cls) -> tuple[str, type[OwnFile]]:
        """Return the address and its handler, for a server that offers the files."""
        cls.offered = True
        return rf"/{FOLDER}/(\w+\.(?:css|js))", cls

    @classmethod
    def address(cls, text: str, ending: str) -> str:
        """Return the address of a file with this text, relative to the page's; it can be read from now on.

        Parameters
        ----------
        text : str
            One that the program knows, not one that a visitor brings: it is kept.
        ending : {"css", "js"}

        Returns
        -------
        str
        """
        name = _name(text, ending)
        cls._texts.setdefault(name, text.encode())
        return f"{FOLDER}/{name}"

    def get(self, name: str) -> None:
        """Answer with the file of this name."""
        text = self._texts.get(name)
        if text is None:
            raise HTTPError(404)
        self.set_header("Content-Type", f"{TYPES[name.rpartition('.')[2]]}; charset=utf-8")
        self.set_header("Cache-Control", FOR_EVER)
        self.finish(text)


@cache
def _name(text: str, ending: str) -> str:
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.{ending}"


def sheet(css: str) -> str:
    """Return what a component takes as one of its style sheets: the address of the file, or its text."""
    return OwnFile.address(css, "css") if OwnFile.offered else css


class Script:
    """What a component takes as its module: one that loads the file, or its text.

    Parameters
    ----------
    read : callable
        Returns the text of a module that exports ``render``.
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
