"""A thin factory over the UI kit: one way to make each thing, with the kit's traps dealt with in one place.

- Every widget has a label, hence an accessible name; icon-only buttons do not exist.
- Sliders report when they are let go of (``value_throttled``); logarithmic ones slide over log10 and show the value.
- What an input shows, and what the visitor changes, goes through `Bound` (`binding`).
- A tooltip is never the only place for information: the kit's cannot be reached by keyboard.
- Text that comes from outside goes through `html`, which escapes; the kit's own text is markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.document import Document

from supdr_viz.ui import panel_workarounds, theme
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.bridge import on_phone as on_phone
from supdr_viz.ui.feedback import guarded as guarded
from supdr_viz.ui.feedback import toast as toast
from supdr_viz.ui.markup import BOX_CSS as BOX_CSS
from supdr_viz.ui.markup import EMPTY as EMPTY
from supdr_viz.ui.markup import FLOW_CSS
from supdr_viz.ui.markup import HEAD_CSS as HEAD_CSS
from supdr_viz.ui.markup import TEXT_CSS as TEXT_CSS
from supdr_viz.ui.markup import card_head as card_head
from supdr_viz.ui.markup import escape as escape
from supdr_viz.ui.markup import explained as explained
from supdr_viz.ui.markup import legend as legend
from supdr_viz.ui.markup import symbols as symbols
from supdr_viz.ui.markup import whole_parts as whole_parts
from supdr_viz.ui.own_files import OwnFile
from supdr_viz.ui.own_files import sheet as sheet
from supdr_viz.ui.page_thread import follow, locked_callback
from supdr_viz.ui.slider import MARGIN, WIDE
from supdr_viz.ui.slider import Slider as Slider

# --- page -----------------------------------------------------------------------------------------------------------


def _move_less() -> None:
    """Give the current page's head the style sheet for visitors who ask for less motion."""
    option, calm = "css_files" if OwnFile.offered else "raw_css", sheet(theme.LESS_MOTION)
    if calm not in (sheets := getattr(pn.config, option)):
        setattr(pn.config, option, [*sheets, calm])


def empty_page(*, with_still: bool) -> pmui.Page:
    """Make a page without content: its HTML starts as that of every other page.

    `with_still`: see `theme.template`.
    """
    _move_less()
    page = pmui.Page(**{**theme.page_options(), "template": theme.template(with_still)})
    panel_workarounds.never_busy(page)
    return page


def make_page(
    bridge: Bridge,
    *,
    wide: Callable[[], list[Any]],
    narrow: Callable[[], list[Any]],
    sidebar: list[Any],
    **content: Any,
) -> pmui.Page:
    """Make a page with the product's look.

    `bridge`: tells whether the window is narrow: there the sidebar is a drawer, closed at first as it would cover the
    page; `wide`, `narrow`: return what the header of a wide window holds, and what a narrow one has above its sidebar
    instead: built when the window is so for the first time; `**content`: ``main``, … of ``panel_material_ui.Page``.
    """
    _move_less()
    above = pn.Column(margin=0, css_classes=["narrow-only"], **WIDE)
    page = pmui.Page(**theme.page_options(), sidebar=[above, *sidebar], **content)
    panel_workarounds.never_busy(page)
    if pn.state.curdoc is not None:
        pn.state.on_session_destroyed(partial(_gone, pn.state.curdoc))
    page.jscallback(dark_theme=theme.REMEMBER_THEME)

    def fit(is_narrow: bool) -> None:
        """Have the parts that the width has room for."""
        page.sidebar_open = not is_narrow
        if is_narrow and not above.objects:
            above.objects = narrow()
        elif not is_narrow and not page.header:
            page.header = wide()

    fit(bridge.narrow)
    follow(bridge, "narrow", fit)
    return page


def _gone(document: Document, _context: Any) -> None:
    panel_workarounds.forget_notifications(document)


# --- text -----------------------------------------------------------------------------------------------------------


def html(text: str = "", *, css: str = "", **options: Any) -> pn.pane.HTML:
    """Show HTML that we wrote; escape whatever comes from outside with `escape`."""
    sheets = [sheet(each) for each in (TEXT_CSS, css) if each]
    return pn.pane.HTML(text or EMPTY, **{"margin": MARGIN, "stylesheets": sheets, **WIDE, **options})


def section(title: str, note: str = "") -> pn.pane.HTML:
    """Make the heading of a group of controls, with a note at its right."""
    look = "display:flex;justify-content:space-between;align-items:baseline"
    beside = f'<span class="quiet small">{escape(note)}</span>' if note else ""
    return html(f'<div style="{look}"><h2>{escape(title)}</h2>{beside}</div>', margin=(14, 8, 4, 8))


def caption(text: str = "", **options: Any) -> pn.pane.HTML:
    """Make a line of quiet text; `text` is escaped."""
    return html(f'<p class="quiet small">{escape(text)}</p>' if text else "", **options)


def message(pane: pn.pane.HTML, text: str = "", kind: str = "quiet") -> None:
    """Put a sentence into a pane made by `html`.

    Panes are emptied and not hidden: the kit cannot show one that is not drawn yet, as in the closed drawer of a phone.

    `text`: escaped here; `kind`: one of "quiet", "warning", "error".
    """
    role = ' role="alert"' if kind == "error" else ""
    pane.object = f'<p class="{kind} small"{role}>{escape(text)}</p>' if text else EMPTY


# --- buttons --------------------------------------------------------------------------------------------------------


def button(
    label: str, on_click: Callable[[], Any] | None = None, *, icon: str = "", kind: str = "outlined", **options: Any
) -> pmui.Button:
    """Make a button with a text.

    `on_click`: called without arguments; `icon`: name of a Material icon; `kind`: one of "outlined", "contained",
    "text".
    """
    quiet = {} if kind == "contained" else {"sx": {"color": "text.primary", "borderColor": "divider"}}
    options = {"size": "small", "margin": (4, 3), "disable_elevation": True, **quiet, **options}
    control = pmui.Button(label=label, icon=icon or None, variant=kind, **options)
    if on_click is not None:
        act = guarded(on_click)
        control.on_click(locked_callback(lambda _event: act()))
    return control


# --- inputs ---------------------------------------------------------------------------------------------------------


def select(label: str, options: dict[str, Any], value: Any, **more: Any) -> pmui.Select:
    """Make a menu.

    `options`: text -> value, or heading -> such a dict for a grouped menu.
    """
    grouped = any(isinstance(entry, dict) for entry in options.values())
    more = {"size": "small", "margin": (6, 8), **WIDE, **more}
    choices = {"groups": options} if grouped else {"options": options}
    return panel_workarounds.heard_at_once(pmui.Select(label=label, value=value, **choices, **more))


def small_menu(label: str, options: Sequence[str], value: str, **more: Any) -> pmui.Select:
    """Make a menu that fits into the head of a card; its label is read out, not shown."""
    sx = {"& legend": {"display": "none"}, "& fieldset": {"top": 0}, "& .MuiSelect-select": {"py": "3px"}}
    # The label stands outside of what `sx` reaches.
    look = {"sx": {**sx, "fontSize": "12px"}, "stylesheets": [sheet("label { display: none !important; }")]}
    more = {"size": "small", "margin": (4, 6), "width": 124, **look, **more}
    return panel_workarounds.heard_at_once(pmui.Select(label=label, options=list(options), value=value, **more))


def switch(label: str, value: bool, **more: Any) -> pmui.Switch:
    """Make an on/off switch."""
    look = {"styles": {"color": "var(--supdr-text)"}}  # the kit leaves its label dark in the dark theme
    more = {"size": "small", "margin": MARGIN, **look, **WIDE, **more}
    return panel_workarounds.heard_at_once(pmui.Switch(label=label, value=value, **more))


def text_field(label: str, value: str = "", **more: Any) -> pmui.TextInput:
    """Make a field for a line of text; it changes with Enter or when the field is left."""
    return pmui.TextInput(label=label, value=value, **{"size": "small", "margin": (6, 8), **WIDE, **more})


# --- containers -----------------------------------------------------------------------------------------------------


def flow(*content: Any, gap: str = "0", **options: Any) -> pn.Row:
    """Make a row that goes on in a further line where the window is too narrow for it.

    `*content`: viewables; `gap`: between them, in CSS.
    """
    return pn.Row(*content, stylesheets=[sheet(FLOW_CSS)], styles={"gap": gap}, **{**WIDE, **options})


# Options of a text that is the head of a card.
HEAD: dict[str, Any] = {"css": HEAD_CSS, "margin": (2, 4, 2, 4), "min_width": 0, **WIDE}


def card(head: Any, *content: Any, tools: Any = None, **options: Any) -> pn.Column:
    """Make a card: its head in the first row, tools at its right, then the content.

    `head`: shows what `card_head` has written: a title and a note beside it, a caption or a legend; `*content`: panes;
    `tools`: a small switch.
    """
    row = pn.Row(head, tools, height=HEAD_HEIGHT, stylesheets=[sheet(HEAD_ROW_CSS)], **WIDE, margin=0)
    return pn.Column(row, *content, **{"margin": 0, "stylesheets": [sheet(BOX_CSS)], **WIDE, **options})


# On a narrow page, whose cards stand below one another, a legend may take more lines.
HEAD_ROW_CSS = """
@media (max-width: 599.95px) { :host { height: auto !important; min-height: 40px; flex: none !important; } }
"""

# Title and note take two lines in every card, so that the plots stand level.
HEAD_HEIGHT = 40


def dialog(title: str, *content: Any, **more: Any) -> pmui.Dialog:
    """Make a dialog, closed at first; set its ``open``."""
    narrow = {
        "& .MuiDialog-paper": {"margin": "8px", "width": "calc(100% - 16px)", "maxHeight": "calc(100% - 16px)"},
        "& .MuiDialogTitle-root": {"paddingInline": "20px"},
        "& .MuiDialogContent-root": {"paddingInline": "12px"},
    }
    look = {"sx": {"@media (width < 600px)": narrow}}
    more = {"show_close_button": True, "close_on_click": True, "width_option": "md", **look, **WIDE, **more}
    return pmui.Dialog(*content, title=title, open=False, **more)
