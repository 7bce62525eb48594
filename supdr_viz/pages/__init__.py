"""The pages of the app: the module ``page`` of each folder has a function that builds it for one visitor."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from supdr_viz.presets import OPENING
from supdr_viz.serving.server import Site

if TYPE_CHECKING:
    from bokeh.document import Document

    from supdr_viz.pages.service import Service

# Folder of a page, and function in its module ``page`` -> its name in the navigation; "/" leads to the first one.
PAGES = {"explorer": "Explore", "compare": "Compare", "sensitivity": "Sensitivity", "lessons": "Lessons"}

# Pages that read the settings of a run.
OF_RUNS = ("explorer", "compare", "sensitivity")

# Files of the folder ``assets`` that most pages import once their document has come: browsers load them before.
MODULES = ("bridge.js", "bar.js", "cards.js", "gallery.js", "stage/hub.js", "stage/slot.js")

# What a page says whose server does not answer any more.
DISCONNECTED = "Lost the connection to the server. Reconnecting; your settings are kept."


def title_of(page: str) -> str:
    """Return what the browser's tab says of a page.

    `page`: a key of `PAGES`.
    """
    return f"supdr · {PAGES[page]}"


def link(page: str, query: str = "") -> str:
    """Return the address of a page on the server of this process, relative to the folder of the pages.

    `page`: a key of `PAGES`; `query`: what the page reads, without the question mark.
    """
    addresses = _service().addresses
    own = page in addresses.own
    query = "&".join(filter(None, ["" if own else f"page={page}", query]))
    address = page if own else addresses.other
    return f"{address}?{query}" if query else address


def page_asked(name: str, arguments: Mapping[str, list[bytes]] | None = None) -> str:
    """Return the page that an address asks for: of ``explorer?page=compare`` it is ``compare``.

    `name`: a key of `PAGES`: the page at the address without ``page=``; `arguments`: of the address, by default those
    of the current session. Returns a key of `PAGES`.
    """
    import panel as pn

    arguments = (pn.state.session_args or {}) if arguments is None else arguments
    name_in_address = (arguments.get("page") or [b""])[-1].decode(errors="replace")
    return name_in_address if name_in_address in PAGES else name


def page_arguments() -> dict[str, list[bytes]]:
    """Return the arguments of the current session's address that its page reads: all but the name of the page."""
    import panel as pn

    named = page_asked("")
    return {name: values for name, values in (pn.state.session_args or {}).items() if not (named and name == "page")}


def build(name: str) -> Any:
    """Build the page of the current session; what it needs is imported by now, or when its first visitor comes.

    `name`: a key of `PAGES`: what the address shows that asks for no other page.
    """
    import panel as pn

    name_in_address, document = page_asked(name), pn.state.curdoc
    if name_in_address != name and document is not None:  # the server has given the document the title of the address
        pn.state.onload(lambda: setattr(document, "title", title_of(name_in_address)))
    return getattr(load(name_in_address), name_in_address)()


def load(name: str) -> ModuleType:
    """Import the module of a page.

    `name`: a key of `PAGES`.
    """
    return importlib.import_module(f"supdr_viz.pages.{name}.page")


def site() -> Site:
    """Return what a server needs to know of the pages."""
    return Site({name: title_of(name) for name in PAGES}, load, build, _routes, empty, _service)


def _service() -> Service:
    from supdr_viz.pages.service import Service

    return Service.of_process()


def empty(name: str, arguments: Mapping[str, list[bytes]]) -> Document:
    """Return the document of a page without content, whose HTML starts as that of the page at an address.

    `name`: a key of `PAGES`: the page at the address without ``page=``; `arguments`: of the address.
    """
    asked = page_asked(name, arguments)
    return _empty(asked, with_still=asked == "explorer" and has_still(arguments))


@functools.cache
def _empty(page: str, with_still: bool) -> Document:
    from bokeh.document import Document
    from panel.io.state import set_curdoc

    from supdr_viz.ui.own_files import OwnFile, script_address
    from supdr_viz.ui.panel_workarounds import KIT_MODULE
    from supdr_viz.ui.widgets import empty_page

    document = Document()
    with set_curdoc(document):
        begin()
        empty_page(with_still=with_still).server_doc(document, title_of(page))
    own = map(script_address, MODULES) if OwnFile.offered else ()
    document.template_variables["modules"] = [KIT_MODULE, *own]
    return document


def has_still(arguments: Mapping[str, Sequence[bytes]]) -> bool:
    """Tell whether the explorer at an address is the opening, of which there is a still, and the server offers it.

    `arguments`: of the address.
    """
    from supdr_viz.ui.own_files import OwnFile

    opening = OPENING.encode()
    others = set(arguments) - {"page", "example", "iteration", "cell", "place"}
    return OwnFile.offered and not others and arguments.get("example", [opening])[-1] == opening


def _routes() -> list[tuple[Any, ...]]:
    from supdr_viz.pages.follow import FollowPage

    return [FollowPage.route()]


def begin() -> Service:
    """Load what every page needs of the UI kit, the first thing that a page does; return what it shares with others."""
    import panel as pn

    from supdr_viz.ui.panel_workarounds import tell_what_is_emptied

    # Signatures are for editors, entry points for what others add: both would cost visitors time.
    unneeded = {"apply_signatures": False, "load_entry_points": False}
    pn.extension("filedropper", notifications=True, disconnect_notification=DISCONNECTED, **unneeded)
    tell_what_is_emptied()
    return _service()


class Navigation:
    """The tabs that lead from one page to the others.

    `page`: a key of `PAGES`: the one that is open.
    """

    def __init__(self, page: str) -> None:
        self._page, self._query = page, ""
        self._menus: list[Any] = []

    def tabs(self, *, narrow: bool = False) -> Any:
        """Make the tabs of the header, which in a narrow window names the open page only, or those for its drawer."""
        import panel_material_ui as pmui

        options = {"items": self._items(), "active": list(PAGES).index(self._page)}
        compact = {"minWidth": 0, "px": "8px", "fontSize": "0.8rem"}  # all fit into the drawer
        others = {"& [aria-selected=false]": {"display": "none"}}
        sx = {"& .MuiTab-root": compact} if narrow else {"@media (width < 900px)": others}
        menu = pmui.TabMenu(**options, sx=sx, margin=0 if narrow else (0, 0, 0, 12))
        self._menus.append(menu)
        return menu

    def carry(self, query: str) -> None:
        """Lead to the pages of runs with these settings from now on; empty: as these pages open by themselves."""
        if query != self._query:
            self._query = query
            for menu in self._menus:
                menu.items = self._items()

    def _items(self) -> list[dict[str, str]]:
        """Name the pages and their addresses."""
        carried = set(OF_RUNS) - {self._page}
        addresses = {name: link(name, self._query if name in carried else "") for name in PAGES}
        return [{"label": label, "href": addresses[name]} for name, label in PAGES.items()]
