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


def navigation(page: str) -> Any:
    """Return the tabs that lead from one page to the others.

    Parameters
    ----------
    page : str
        A key of `PAGES`: the one that is open.

    Returns
    -------
    TabMenu
    """
    import panel_material_ui as pmui

    items = [{"label": label, "href": name} for name, label in PAGES.items()]
    return pmui.TabMenu(items=items, active=list(PAGES).index(page))
