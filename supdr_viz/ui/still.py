"""The still of the explorer's opening: what a browser shows until the page itself has drawn it.

``python scripts/still.py`` draws it anew, from the page as it opens; a test compares both.
"""

from __future__ import annotations

import hashlib
from functools import cache
from string import Template

from supdr_viz.ui.own_files import ASSETS, image

# Kinds of windows that have one, as in `assets/still.css`; others see the outline of the page.
KINDS = ("wide", "phone")

FOLDERS = ("still", "gallery")


@cache
def still(offered: bool) -> str:
    """Return the part of the page's template that holds the still of all kinds of windows.

    `offered`: whether this server has files of ours, see `OwnFile.offered`; without them there is no still, as its
    pictures would make every page larger.
    """
    if not offered:
        return ""
    drawn = "".join(ASSETS.joinpath(f"still/{kind}.html").read_text(encoding="utf-8") for kind in KINDS)
    css = ASSETS.joinpath("still.css").read_text(encoding="utf-8")
    parts = Template(drawn).safe_substitute(_addresses())
    return f'{{% raw %}}<style>{css}</style><div id="still" aria-hidden="true">{parts}</div>{{% endraw %}}'


def _addresses() -> dict[str, str]:
    """Return the addresses of the pictures, by the names that the drawing has for them."""
    contents = {}
    for folder in FOLDERS:
        for file in (ASSETS / folder).iterdir():
            if file.name.endswith(".webp"):
                content = file.read_bytes()
                name = file.name.removesuffix(".webp").replace("-", "_")
                contents[name if folder == "still" else f"own_{hashlib.sha256(content).hexdigest()[:16]}"] = content
    return {name: image(content) for name, content in contents.items()}
