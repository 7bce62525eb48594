"""The page of those who follow a run: HTML and one script, no session on the server, nothing that could be changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tornado.web import RequestHandler

from supdr_viz.ui.markup import HEAD_CSS, STATUS_CSS, TEXT_CSS
from supdr_viz.ui.own_files import ASSETS, OwnFile, bundle
from supdr_viz.ui.theme import FONTS, css_variables, palette

# Address of the page, beside the other pages.
FOLLOW = "follow"

_SQUARES = {"input": (), "latent": ("numbers of the map",), "method": ("keys", "numbers")}
_CURVES = ("losses", "errors")

SAID_CSS = """
.said { display: flex; flex-wrap: wrap; column-gap: 12px; font-size: 12px; color: var(--supdr-secondary); }
.said b { color: var(--supdr-text); }
"""


class FollowPage(RequestHandler):
    """Answers with the page; which run it shows is in its address, and its script reads it there."""

    @classmethod
    def route(cls) -> tuple[str, type[FollowPage]]:
        """Return the address and its handler, for a server that offers the page.

        Its script can be had from now on, also where another process of the server has answered with the page.
        """
        page()
        return f"/{FOLLOW}", cls

    def get(self) -> None:
        """Answer with the page."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Referrer-Policy", "no-referrer")  # the address is a key
        self.finish(page())


@cache
def page() -> str:
    """Return the page, the same for all followers."""
    style = (ASSETS / "follow.css").read_text(encoding="utf-8")
    light, dark = (css_variables(palette(each)) for each in (False, True))
    variables = f"html {{color-scheme: light; {light}}} html[data-theme=dark] {{color-scheme: dark; {dark}}}"
    squares = "".join(
        _card(name, f'<div class="view" data-slot="planes/{name}"></div>', under) for name, under in _SQUARES.items()
    )
    curves = "".join(_card(name, f'<div class="chart" data-slot="charts/{name}"></div>') for name in _CURVES)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>supdr · Following a run</title><link rel="stylesheet" href="{FONTS}">
<style>{variables}{style}</style></head><body>
<header><h1>Following a run</h1><span id="title"></span>
<a id="take" hidden href="explorer" target="_blank">Open my own copy</a></header>
<main><p id="said" role="status">Joining …</p>
<p id="away" hidden><a href="explorer">Open Explore</a></p>
<div class="row">{_words("status")}{_words("classes", slot=False)}</div>
<div class="squares">{squares}</div><div class="curves">{curves}</div></main>
<script type="module" src="{OwnFile.address(bundle("follow.js"), "js")}"></script></body></html>
"""


def _card(name: str, view: str, under: Sequence[str] = ()) -> str:
    words = "".join(_words(each, kind="under") for each in under)
    return f'<figure class="{name}">{_words(f"head of {name}")}{view}{words}</figure>'


def _words(name: str, slot: bool = True, kind: str = "") -> str:
    """Make the place of a text, with the styles that it has in the explorer."""
    mark = f'data-slot="words/{name}"' if slot else f'id="{name}"'
    sheet = f"<style>{TEXT_CSS}{HEAD_CSS}{STATUS_CSS}{SAID_CSS}</style>"
    return f'<div class="{kind}" {mark}><template shadowrootmode="open">{sheet}<div></div></template></div>'
