"""The look: colours for light and dark, theme of the UI kit, the page's head.

Class colours are those of Okabe and Ito, which colour-blind people can tell apart, but for vermilion: it marks errors.
Curves have none of them, so that no curve looks like one of a class; a curve has about the same hue in both themes.
The dark variants keep contrast.
Text colours pass WCAG AA on their backgrounds.  HTML reads colours as CSS variables (``--supdr-c-0``), which reach into
every component and follow the theme by themselves; Bokeh glyphs take them from `palette`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from bokeh.palettes import Cividis256

from supdr_viz.ui import panel_workarounds
from supdr_viz.ui.own_files import ASSETS, image


@dataclass(frozen=True)
class Palette:
    """Colours of one theme.

    primary, on_primary: buttons, sliders, links; text on a button.
    page, card: backgrounds.
    text, secondary, border, grid: text, quiet text, outlines, grid lines.
    classes: colour of each class.
    error: rings around errors.
    support: rings around support vectors.
    boundary: decision boundary and margins.
    muted: unlabelled rows, and what has no value.
    regions: regression: low to high values.
    curves: curves, the first one for the objective.
    doubts: values of which few are in doubt or wrong, from none of it to most: what is most so stands out.
    running, paused, failed: state of a run.
    """

    primary: str
    on_primary: str
    page: str
    card: str
    text: str
    secondary: str
    border: str
    grid: str
    classes: tuple[str, ...]
    error: str
    support: str
    boundary: str
    muted: str
    regions: tuple[str, ...]
    curves: tuple[str, ...]
    doubts: tuple[str, ...]
    running: str
    paused: str
    failed: str


_FILE = tomllib.loads(Path(__file__).with_name("palettes.toml").read_text(encoding="utf-8"))
_COLOURS: dict[str, dict[str, Any]] = {
    theme: {name: tuple(value) if isinstance(value, list) else value for name, value in colours.items()}
    for theme, colours in _FILE.items()
}
LIGHT = Palette(regions=tuple(Cividis256), **_COLOURS["light"])
DARK = replace(LIGHT, **_COLOURS["dark"])

# The kit's own sheet, which tells where the fonts of the pages are.
FONTS = "static/extensions/panel-material-ui/panel-material-ui.bundle.css"

# Kinds of windows that have a still of their own, as in `assets/still.css`; others see the outline of the page.
STILLS = ("wide", "phone")

FONT_SIZE = 13
HEADER_HEIGHT = 48
SIDEBAR_WIDTH = 280


def palette(dark: bool) -> Palette:
    """Return the colours of the dark or the light theme."""
    return DARK if dark else LIGHT


def css_variables(colours: Palette) -> str:
    """Write a palette as CSS declarations such as ``--supdr-text``.

    ``--supdr-c-0`` is the first class, ``--supdr-k-0`` the first curve, ``--supdr-d-0`` the first of the doubts.
    """
    single = {name: value for name, value in vars(colours).items() if isinstance(value, str)}
    single |= {f"c-{number}": colour for number, colour in enumerate(colours.classes)}
    single |= {f"k-{number}": colour for number, colour in enumerate(colours.curves)}
    single |= {f"d-{number}": colour for number, colour in enumerate(colours.doubts)}
    # The prefix keeps clear of the kit's own variables.
    return "".join(f"--supdr-{name.replace('_', '-')}: {value}; " for name, value in single.items())


def _page_variables(colours: Palette) -> str:
    """Write the CSS declarations of a page with controls: those of the palette, and the arrow of a menu."""
    arrow = (
        "url(\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' "
        f"fill='{colours.secondary.replace('#', '%23')}'%3E%3Cpath d='M7 10l5 5 5-5z'/%3E%3C/svg%3E\")"
    )
    return f"{css_variables(colours)}--supdr-chevron: {arrow}; "


# Less motion for those who ask for it: a style sheet for every component, since none of the page's reaches into it.
LESS_MOTION = """
@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after { transition-duration: 0s !important; animation-duration: 0s !important; }
}
"""


def _without(file: str, kind: str) -> str:
    """Write the lines of the kit's template that ask for its files of a kind, without one of them."""
    others = f"line in (bokeh_{kind} or '').splitlines() if '{file}' not in line"
    return f"{{% for {others} %}}{{{{ line }}}}\n{{% endfor %}}"


def _asset(name: str) -> str:
    return ASSETS.joinpath(name).read_text(encoding="utf-8")


# A comment in the page's HTML: what stands above it is the same for all visitors who ask for the page.
END_OF_START = "<!-- of this visitor -->"

# The page's HTML template: theme and background are right before anything is painted. The theme is the one chosen last
# in this browser, else the system's. A skeleton of the page is in place of the kit's scrim, and before the style sheets
# and scripts: the browser paints it while it loads them. The kit's script shows and hides it by its name.
HEAD = (
    """{% extends "base.html" %}{% block preamble %}{{ super() }}
<script>"""
    + panel_workarounds.CALM_FILE_CHOOSER
    + panel_workarounds.MODULES_AS_THEY_ARE
    + panel_workarounds.SOCKETS_AS_THEY_ARE
    + "</script>{% endblock %}"
    + "{% block css_resources %}{% endblock %}{% block js_resources %}{% endblock %}{% block loader_css %}"
    + _asset("skeleton.css")
    + "{% endblock %}{% block loader %}"
    + _asset("skeleton.html")
    + "{# still #}"
    + _without(panel_workarounds.FONTS_FOR_ALL_LETTERS, "css")
    + """{% for css in resources.css.values() %}<link rel="stylesheet" href="{{ css }}">
{% endfor %}{% for css in resources.raw_css %}<style>{{ css }}</style>
{% endfor %}"""
    + _without("bokeh-gl", "js")  # no figure is drawn by WebGL
    + """{% for module in modules %}<link rel="modulepreload" href="{{ module }}">
{% endfor %}"""
    + END_OF_START
    + """{% endblock %}{% block postamble %}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
html { color-scheme: light; --supdr-dark: 0; """
    + _page_variables(LIGHT)
    + """}
html[data-theme="dark"] { color-scheme: dark; --supdr-dark: 1; """
    + _page_variables(DARK)
    + """}
html { scrollbar-color: color-mix(in srgb, var(--supdr-secondary) 55%, transparent) transparent; }
html, body { background-color: var(--supdr-page) !important; color: var(--supdr-text); }
</style>
<script>
let theme = null
try { theme = localStorage.getItem("supdr-theme") } catch (error) {}
const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"
document.documentElement.dataset.theme = theme || system
const {pathname: path, search: query} = location
document.documentElement.dataset.page = new URLSearchParams(query).get("page") ?? path.split("/").pop()

// The tabs lead back to what was looked at last on each page; several pages may be at one address, told by "page".
const memory = ({pathname, search}) => "supdr" + pathname + (new URLSearchParams(search).get("page") ?? "")
addEventListener("pagehide", () => {
  try { sessionStorage.setItem(memory(location), location.search) } catch (error) {}
})
addEventListener("click", (event) => {
  const link = event.composedPath().find((each) => each instanceof Element && each.matches("a[role=tab]"))
  try { if (link) link.search = sessionStorage.getItem(memory(link)) || link.search } catch (error) {}
}, true)
</script>{% endblock %}"""
)


@cache
def template(with_still: bool) -> str:
    """Return the page's HTML template.

    `with_still`: with the still of the explorer's opening, which lies over the page until the page has drawn it;
    ``python scripts/still.py`` draws it. Its pictures are files that the server must offer, see `OwnFile.offered`.
    """
    if not with_still:
        return HEAD
    drawn = Template("".join(_asset(f"still/{kind}.html") for kind in STILLS)).safe_substitute(_pictures())
    still = f'<style>{_asset("still.css")}</style><div id="still" aria-hidden="true">{drawn}</div>'
    return HEAD.replace("{# still #}", f"{{% raw %}}{still}{{% endraw %}}")


def _pictures() -> dict[str, str]:
    """Return the addresses of the still's pictures and of those of the examples, by their names in the drawing."""
    addresses = {}
    for folder in ("still", "gallery"):
        for file in (ASSETS / folder).iterdir():
            if file.name.endswith(".webp"):
                address = image(file.read_bytes())
                stem = file.name.removesuffix(".webp").replace("-", "_")
                name = stem if folder == "still" else f"own_{address.rpartition('/')[2].removesuffix('.webp')}"
                addresses[name] = address
    return addresses


# JavaScript for ``page.jscallback(dark_theme=REMEMBER_THEME)``: the choice survives a reload, and HTML follows it.
REMEMBER_THEME = """
const theme = cb_obj.dark_theme ? "dark" : "light"
document.documentElement.dataset.theme = theme
try { localStorage.setItem("supdr-theme", theme) } catch (error) {}
"""


def _mode(colours: Palette) -> dict[str, Any]:
    return {
        # The bar takes "contrastText" for its background: see PAGE_SX.
        "primary": {"main": colours.primary, "contrastText": colours.card if colours is LIGHT else colours.on_primary},
        "background": {"default": colours.page, "paper": colours.card},
        "text": {"primary": colours.text, "secondary": colours.secondary},
        "divider": colours.border,
    }


def _theme(colours: Palette) -> dict[str, Any]:
    focus = {"outline": f"2px solid {colours.primary}", "outlineOffset": "2px"}
    return {
        "palette": _mode(colours),
        "shape": {"borderRadius": 8},
        "typography": {"fontSize": FONT_SIZE, "h6": {"fontSize": "0.95rem", "fontWeight": 600}},
        "components": {
            "MuiButtonBase": {
                "defaultProps": {"disableRipple": True},
                "styleOverrides": {"root": {"&.Mui-focusVisible": focus}},
            },
            "MuiButton": {
                "styleOverrides": {
                    "root": {"textTransform": "none", "fontWeight": 500},
                    "contained": {"&:hover": {"backgroundColor": f"color-mix(in srgb, {colours.primary} 90%, black)"}},
                }
            },
            # of a narrow window it is a dialog over the header, for which it would leave room
            "MuiDrawer": {
                "defaultProps": {"slotProps": {"paper": {"aria-label": "Controls"}}},
                "styleOverrides": {
                    "paper": {"@media (width < 900px)": {"& > .MuiToolbar-root": {"height": 12, "minHeight": 0}}}
                },
            },
            "MuiMenu": {"styleOverrides": {"paper": {"maxHeight": "min(70vh, 560px)"}}},
            # the kit lightens raised surfaces on dark
            "MuiPaper": {"styleOverrides": {"root": {"backgroundImage": "none"}}},
            "MuiTab": {"styleOverrides": {"root": {"textTransform": "none"}}},
        },
    }


def theme_config() -> dict[str, Any]:
    """Return the theme of the UI kit for both modes."""
    return {"light": _theme(LIGHT), "dark": _theme(DARK)}


# ``sx`` of the page. ``css_classes=["wide-only"]`` or ``["narrow-only"]`` works on direct children of the page.
PAGE_SX: dict[str, Any] = {
    # Exactly these two values keep the kit from theming the header's children for a blue bar.
    ".MuiAppBar-root": {
        "bgcolor": "primary.contrastText",
        "color": "primary.main",
        "boxShadow": "none",
        "borderBottom": "1px solid var(--supdr-border)",
    },
    ".MuiAppBar-root .title": {"color": "text.primary", "fontSize": "1.15rem", "fontWeight": 700},
    "& .MuiToolbar-root": {"minHeight": f"{HEADER_HEIGHT}px !important"},
    "& .MuiLinearProgress-root.pmui-busy, & .MuiAppBar-root .MuiLinearProgress-root": {"display": "none"},
    "@media (width < 900px)": {"& .wide-only": {"display": "none !important"}},
    "@media (width >= 900px)": {"& .narrow-only": {"display": "none !important"}},
    "& main": {"bgcolor": "background.default"},
    "& .MuiDrawer-paper": {"borderColor": "divider"},
    "& .sidebar": {"p": "4px 0"},
}


def page_options() -> dict[str, Any]:
    """Give the arguments that every page passes to ``panel_material_ui.Page``."""
    return {
        "title": "supdr",
        "theme_config": theme_config(),
        "template": template(with_still=False),
        "sx": PAGE_SX,
        "sidebar_width": SIDEBAR_WIDTH,
        "sidebar_resizable": False,
    }
