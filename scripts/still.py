"""Draw the still of the explorer's opening, which a browser shows while it loads the page's scripts.

.venv/bin/python scripts/still.py

Opens the explorer in Chromium at several sizes and in both themes, lists what it shows, and writes the parts to
supdr_viz/assets/still: boxes and texts at places that depend on the size of the window, and the plots as pictures.
"""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser
from screenshots import chromium, serving

OUT = Path(__file__).parents[1] / "supdr_viz" / "assets" / "still"
# Asked repeatedly: a page that is opened while the server starts reloads itself once.
SETTLED = "(document.documentElement.dataset.settle = 'asked') === document.documentElement.dataset.settled"
SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8").lstrip().removeprefix(";")

Part = dict[str, Any]
"""Of the page: key, kind, box (left, top, width, height), look (CSS), content."""


@dataclass(frozen=True)
class Kind:
    """A kind of window.

    sizes: three windows in pixels, in which the page is measured; the first one is drawn, too.
    scale: pixels of a picture for each of the page's.
    furthest: pixels below the top of the page after which nothing is drawn.
    step: length in CSS on which heights depend beside the width, and its pixels at a height of the window.
    """

    sizes: tuple[tuple[int, int], ...]
    scale: int
    furthest: int
    step: str
    touch: bool = False

    def pixels(self, height: int) -> float:
        """Return the pixels of `step` in a window of this height."""
        return float(height) if self.touch else 198.0 if height >= 840 else 142.0


KINDS = {
    "wide": Kind(((1440, 900), (1920, 900), (1440, 800)), 1, 1400, "142px"),
    "phone": Kind(((390, 844), (414, 844), (390, 740)), 2, 1400, "100vh", touch=True),
}


def measured(browser: Browser, address: str, kind: Kind, size: tuple[int, int], scheme: Any) -> dict[str, Part]:
    """Return the parts of the page in a window of this size, by their keys."""
    width, height = size
    phone: dict[str, Any] = {"is_mobile": True, "has_touch": True, "user_agent": "Android Mobile"} if kind.touch else {}
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=kind.scale,
        color_scheme=scheme,
        reduced_motion="reduce",
        **phone,
    )
    page = context.new_page()
    page.goto(address, timeout=120_000)
    page.wait_for_function(SETTLED, timeout=120_000)
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(500)
    parts = page.evaluate(SCRIPT, kind.furthest)
    context.close()
    return {part["key"]: part for part in parts}


def lengths(kind: Kind, boxes: Sequence[Sequence[float]]) -> list[str]:
    """Write left, top, width and height as lengths in CSS that hold in all windows of a kind.

    `boxes`: those of a part in the windows of the kind's sizes.
    """
    windows = np.array([[1, width / 100, kind.pixels(height)] for width, height in kind.sizes])
    solved = np.linalg.solve(windows, np.asarray(boxes, dtype=float))
    return [_length(*column) for column in solved.T]


def _length(pixels: float, share: float, step: float) -> str:
    terms = [(pixels, "px", 2), (share, "cqw", 3), (step, " * var(--step)", 5)]
    written = [f"{round(value, digits):g}{unit}" for value, unit, digits in terms if abs(value) > 0.002]
    if not written:
        return "0"
    return written[0] if len(written) == 1 and abs(step) < 0.002 else f"calc({' + '.join(written)})"


def themed(light: str, dark: str) -> str:
    """Write a value of CSS that is one in the light theme and another in the dark one: they differ in colours only."""
    if light == dark:
        return light
    colour = re.compile(r"#\w+|(?:rgba?|color)\([^()]*\)")
    others = iter(colour.findall(dark))
    return colour.sub(lambda found: _either(found[0], next(others)), light)


def _either(light: str, dark: str) -> str:
    return light if light == dark else f"light-dark({light}, {dark})"


def look_of(light: Mapping[str, Any], dark: Mapping[str, Any]) -> str:
    """Write the look of a part in both themes."""
    names = [*dict.fromkeys([*light, *dark])]
    return ";".join(f"{name}:{themed(str(light.get(name, 'none')), str(dark.get(name, 'none')))}" for name in names)


class Still:
    """The still of a kind of window in the making: its lines of HTML, and the looks that parts share.

    name: of the kind.
    """

    def __init__(self, name: str, kind: Kind) -> None:
        self._name, self._kind = name, kind
        self._looks: dict[str, str] = {}
        self._lines: list[str] = []
        self._pictures = 0

    def add(self, part: Part, dark: Part, boxes: Sequence[Sequence[float]]) -> None:
        """Add a part.

        `part`, `dark`: as it is in both themes; `boxes`: in the windows of the kind's sizes.
        """
        left, top, width, height = lengths(self._kind, boxes)
        place = f"left:{left};top:{top}"
        kind, content = part["kind"], part["content"]
        size = f";width:{width};height:{height}"
        if kind == "text":
            body = html.escape(content.strip(" \n"), quote=False)
            height = f"{part['box'][3]:g}px"
            self._line("b", f"{place};line-height:{height}", look_of(part["look"], dark["look"]), body)
        elif kind == "icon":
            self._line("i", place + size, look_of(part["look"], dark["look"]), _icon(content))
        elif kind == "canvas":
            self._line("i", place + size + self._drawn(content, dark["content"]), "")
        elif kind == "picture":
            name = content.rpartition("/")[2].partition(".")[0]
            self._line("i", place + size + f";--example:url($own_{name})", look_of(part["look"], dark["look"]))
        elif kind == "glyph":
            self._line("i", f"{place}{size};--mask:url({content})", look_of(part["look"], dark["look"]))
        else:
            self._line("i", place + size, look_of(part["look"], dark["look"]))

    def _line(self, element: str, place: str, look: str, body: str = "") -> None:
        shared = self._looks.setdefault(look, f"s{len(self._looks)}") if look else ""
        named = f' class="{shared}"' if shared else ""
        self._lines.append(f'<{element}{named} style="{html.escape(place)}">{body}</{element}>')

    def _drawn(self, light: str, dark: str) -> str:
        self._pictures += 1
        written = ""
        for theme, address in (("light", light), ("dark", dark)):
            name = f"{self._name}-{self._pictures}-{theme}"
            picture = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2])))
            picture.save(OUT / f"{name}.webp", quality=70, alpha_quality=70, method=6)
            written += f";--{theme}:url(${name.replace('-', '_')})"
        return written

    @property
    def text(self) -> str:
        """The still as HTML."""
        looks = "".join(f"#still .{self._name} .{name}{{{look}}}" for look, name in self._looks.items())
        lines = "\n".join(self._lines)
        step = f"#still .{self._name}{{--step:{self._kind.step}}}"
        return f'<style>{looks}{step}</style>\n<div class="{self._name}">{lines}</div>\n'


def _icon(content: str) -> str:
    """Return an icon without what its page's style sheets and scripts call it by."""
    return re.sub(r' (?:class|data-\w+|focusable|aria-\w+|id|role)="[^"]*"', "", content)


def main() -> None:
    """Write the stills of all kinds of windows."""
    with serving() as server, chromium() as browser:
        found = {name: _windows(browser, f"{server}/explorer", kind) for name, kind in KINDS.items()}
    for file in OUT.glob("*.webp"):
        file.unlink()
    for name, (dark, light, *others) in found.items():
        still = Still(name, KINDS[name])
        for key, part in light.items():
            if key in dark and all(key in other for other in others):
                still.add(part, dark[key], [each[key]["box"] for each in (light, *others)])
        (OUT / f"{name}.html").write_text(still.text, encoding="utf-8")


def _windows(browser: Browser, address: str, kind: Kind) -> list[dict[str, Part]]:
    """Return the parts of the page in the dark theme, and in the light one in windows of all sizes of a kind."""
    dark = measured(browser, address, kind, kind.sizes[0], "dark")
    return [dark, *(measured(browser, address, kind, size, "light") for size in kind.sizes)]


if __name__ == "__main__":
    main()
