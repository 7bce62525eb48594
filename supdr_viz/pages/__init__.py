"""The pages of the app: each module has a function of its own name that builds the page for one visitor."""

from __future__ import annotations

from typing import Any

PAGES = {"explorer": "Explore", "compare": "Compare", "sensitivity": "Sensitivity", "lessons": "Lessons"}
"""Module in this package -> what the navigation calls it; the first one is where "/" leads."""


def title_of(page: str) -> str:
    """Return what the browser's tab says of a page.

    Parameters
    ----------
    page : str
        A key of `PAGES`.

    Returns
    -------
    str
    """
    return f"supdr · {PAGES[page]}"


def begin() -> None:
    """Load what every page needs of the UI kit; the first thing that a page does."""
    import panel as pn

    from supdr_viz.kit.bridge import GONE
    from supdr_viz.kit.gaps import tell_what_is_emptied

    # Signatures are for editors, entry points for what others add: both would cost whoever opens a page.
    unneeded = {"apply_signatures": False, "load_entry_points": False}
    pn.extension("filedropper", notifications=True, disconnect_notification=GONE, **unneeded)
    tell_what_is_emptied()


def navigation(page: str, *, narrow: bool = False) -> Any:
    """Make the tabs that lead from one page to the others.

    Parameters
    ----------
    page : str
        A key of `PAGES`: the one that is open.
    narrow : bool
        For the drawer of a narrow window instead of the header.

    Returns
    -------
    TabMenu
        It shows only in the windows that it is for.
    """
    import panel_material_ui as pmui

    options = {
        "items": [{"label": label, "href": name} for name, label in PAGES.items()],
        "active": list(PAGES).index(page),
    }
    if not narrow:
        return pmui.TabMenu(**options, css_classes=["wide-only"])
    compact = {"& .MuiTab-root": {"minWidth": 0, "px": "8px", "fontSize": "0.8rem"}}  # all fit into the drawer
    return pmui.TabMenu(**options, css_classes=["narrow-only"], sx=compact)
