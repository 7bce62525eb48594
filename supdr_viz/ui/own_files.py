"""The app's own scripts, style sheets and pictures: files that a browser keeps, where the server offers them.

A page names them by what they contain, so that a browser may keep them for ever.  Where the server does not offer them
(a notebook, several processes of `panel serve`), they are part of the page, as they are of everything that is saved.

Scripts are modules of the folder ``assets``, each joined with what it imports into one script. A browser could load the
modules one by one, but at the cost of a request for each; and a file that is opened from disk may not import others.
Every module keeps a scope of its own in the script.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from posixpath import dirname, join, normpath, splitext
from typing import Any, ClassVar

from tornado.web import HTTPError, RequestHandler

from supdr_viz.ui.packed_files import gains

ASSETS = resources.files("supdr_viz") / "assets"

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


def script_address(entry: str) -> str:
    """Return the address of a module with all that it imports, where the server offers the files.

    `entry`: file of the folder ``assets``.
    """
    return OwnFile.address(bundle(entry), "js")


class Script:
    """What a component takes as its module: one that loads the file, or its text.

    `entry`: a module of the folder ``assets`` that exports ``render``.
    """

    def __init__(self, entry: str) -> None:
        self._entry = entry

    def __get__(self, component: Any, owner: type) -> str:
        """Return the text of the module, as the component's ``_esm``."""
        if not OwnFile.offered:
            return bundle(self._entry)
        address = script_address(self._entry)
        # The kit turns a component's text into a module without an address of its own: "./" would lead nowhere.
        return (
            f'const own = await import(new URL("{address}", document.baseURI).href)\nexport const render = own.render\n'
        )


# --- scripts ---------------------------------------------------------------------------------------------------------

_IMPORT = re.compile(
    r'^import (?:(?P<names>\w+|\{[^}]*\}) from )?"(?P<path>\.[^"]+)"(?: with \{type: "json"\})?\n', re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
# A line of nothing else; a text of several lines must have none that begins like one.
_COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@cache
def bundle(entry: str, folder: Traversable = ASSETS) -> str:
    """Return a module with all that it imports, as one module that imports nothing, without lines of comments.

    `entry`: file of the folder. Raises ValueError: modules import each other in a circle, or one has an
    import or an export of a form that is not understood.
    """
    parts: dict[str, str] = {}
    body = _body(folder, entry, parts, (entry,))
    return "".join([*parts.values(), body])


def _body(folder: Traversable, file: str, parts: dict[str, str], path: tuple[str, ...]) -> str:
    """Return a module's text with constants in place of its imports; `parts` gets the modules that it imports.

    `path`: from the entry to the module.
    """

    def imported(match: re.Match[str]) -> str:
        other = normpath(join(dirname(file), match["path"]))
        if other in path:
            raise ValueError(f"scripts must not import each other in a circle; got {' -> '.join((*path, other))}")
        if other not in parts:
            parts[other] = _part(folder, other, parts, (*path, other))
        names = (match["names"] or "").replace(" as ", ": ")
        return f"const {names} = {_constant(other)}\n" if names else ""

    body = _IMPORT.sub(imported, _COMMENT.sub("", _text(folder, file)))
    if other := _OTHER.search(_EXPORT.sub("", body).replace("export default {", "", 1)):
        raise ValueError(f"{file}: an import must name a file, an export a function, class or const; got {other[0]!r}")
    return body


def _part(folder: Traversable, file: str, parts: dict[str, str], path: tuple[str, ...]) -> str:
    """Return a constant that holds what a module exports, or the value of a JSON file."""
    if file.endswith(".json"):
        return f"const {_constant(file)} = {json.dumps(json.loads(_text(folder, file)))}\n"
    body = _body(folder, file, parts, path)
    exported = ", ".join(_EXPORT.findall(body))
    return f"const {_constant(file)} = (() => {{\n{_EXPORT.sub('', body)}return {{{exported}}}\n}})()\n"


def _constant(file: str) -> str:
    return "$" + re.sub(r"\W", "_", splitext(file)[0])


def _text(folder: Traversable, file: str) -> str:
    return folder.joinpath(file).read_text(encoding="utf-8")
