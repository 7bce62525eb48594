"""A run as one HTML file: summary, settings, the film with a scrubber, curves and code.

It opens from disk in any browser and needs no network, so a whole class can be given it from any static host.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from supdr_viz.data.number_format import rows_text
from supdr_viz.export.replay import Moment, Replay
from supdr_viz.ui.markup import escape
from supdr_viz.ui.own_files import ASSETS, bundle
from supdr_viz.ui.theme import css_variables, palette
from supdr_viz.views.board import Squares
from supdr_viz.views.figures import css
from supdr_viz.views.losses import Losses
from supdr_viz.views.plane import points_legend
from supdr_viz.views.stage.wire import encode


def report(replay: Replay, settings: Sequence[tuple[str, str]] = (), python: str = "", channel: str = "") -> str:
    """Write the report.

    `settings`: name and value. `python`: the program that repeats the run; empty: none. `channel`: what the report
    calls itself in messages to the page around it, which say what is selected and shown; empty: rows cannot be
    selected. Returns a whole HTML document.
    """
    scene = replay.scene
    title = _title(replay)
    size = f"{rows_text(scene.n_train, int(scene.is_test.sum()))}, {scene.n_features:,} features."
    words = " ".join(part for part in (size, scene.description, *scene.notes) if part)
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in settings)
    table = f"<section><h2>Settings</h2><table>{rows}</table></section>" if rows else ""
    code = f'<pre tabindex="0" aria-label="Python code">{escape(python)}</pre>'
    program = f"<section><h2>The same run in Python</h2>{code}</section>" if python else ""
    body = f"<h1>{escape(title)}</h1><p>{escape(words)}</p>{PLAYER}{table}{program}"
    film = film_data(replay, tool="select" if channel else "scroll")
    return document(title, body, {"film": film}, styles=["report.css"], script="report.js", called=channel)


# Where the module ``player.js`` shows a film.
PLAYER = """<div class="bar"><button id="play" type="button">Play</button>
<input id="scrub" type="range" min="0" max="0" value="0" step="1"
 aria-label="Iteration"><output id="numbers" for="scrub"></output></div>
<p id="legend"></p>
<div class="plots">
<figure><figcaption id="input-caption"></figcaption><div id="input"></div></figure>
<figure><figcaption id="latent-caption"></figcaption><div id="latent"></div></figure>
<figure id="method-card"><figcaption id="method-caption"></figcaption><div id="method"></div>
<p id="method-keys"></p><p id="method-numbers"></p></figure></div>
<figure><figcaption>Losses <span id="keys"></span></figcaption><div id="losses"></div></figure>"""


def document(
    title: str, body: str, data: dict[str, Any], *, styles: Sequence[str], script: str, called: str = ""
) -> str:
    """Write a page that needs nothing beside itself.

    `body`: HTML; `data`: name of an element -> what the script reads from it as JSON; `styles`: files of the folder
    ``assets``, in order; `script`: a module of that folder; `called`: what it calls itself in messages. Returns a whole
    HTML document.
    """
    style = "".join((ASSETS / name).read_text(encoding="utf-8") for name in styles)
    scripts = ""
    for name, content in data.items():
        text = json.dumps(content, allow_nan=False).replace("<", "\\u003c")
        scripts += f'<script id="{name}" type="application/json">{text}</script>'
    light, dark = (css_variables(palette(each)) for each in (False, True))
    variables = f":root {{{light}}} @media (prefers-color-scheme: dark) {{:root {{{dark}}}}}"
    attribute = f' data-report="{escape(called)}"' if called else ""
    return f"""<!doctype html>
<html lang="en"{attribute}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{variables}{style}</style></head><body><main>
{body}
<footer>Made with supdr-viz. This file needs no network.</footer>
</main>{scripts}<script type="module">{bundle(script)}</script></body></html>
"""


def _title(replay: Replay) -> str:
    return f"{replay.method} on {replay.scene.title}"


def _note(exact: bool) -> str:
    return "" if exact else ", slice through the mean"


def film_data(replay: Replay, tool: str = "scroll") -> dict[str, Any]:
    """Return what the player of the module ``player.js`` loads.

    `tool` (one of "scroll", "select"): what dragging in a view does. Returns ready for JSON.
    """
    scene = replay.scene
    captions = {"input": f"Input space{_note(scene.plane.exact)}", "latent": f"Latent space: {replay.latent_caption}"}
    return {
        "title": _title(replay),
        "captions": captions,
        "task": scene.task,
        "legend": _legend(replay),
        "mode": None if replay.mode is None else {"title": replay.mode.title, "caption": replay.mode.caption},
        "patches": [base64.b64encode(zlib.compress(patch)).decode() for patch in _patches(replay, tool)],
        "moments": [_moment(moment) for moment in replay.moments],
    }


def _legend(replay: Replay) -> list[list[str]]:
    """Return what colours mean: name, colour, kind, dash and outline of each entry."""
    last, squares = replay.moments[-1], Squares()
    squares.show_colours(replay.options.colour_by)
    squares.show_scene(replay.scene)
    squares.points.show_spread(replay.spread)
    squares.show_surface(last.surface)
    squares.show_frame(last.frame)
    entries = [*points_legend(squares.points), *squares.latent.legend]
    return [[each.text, each.colour, each.kind, each.dash, each.outline] for each in entries]


def _patches(replay: Replay, tool: str) -> list[bytes]:
    """Return what squares and losses are told of every moment, of the first one all: see `views.stage.wire`."""
    squares = Squares()
    losses, steps = Losses(squares.stage, "losses"), replay.losses.iteration
    patches: list[bytes] = []
    squares.stage.put(tool=tool)
    squares.show_colours(replay.options.colour_by, replay.options.size_by)
    squares.show_scene(replay.scene)
    squares.points.show_spread(replay.spread)
    squares.method.set_method(replay.method, () if replay.mode is None else (replay.mode,))
    for moment in replay.moments:
        messages: list[bytes] = []
        if patches:
            squares.stage.connect(messages.append)
            messages.clear()
        with squares.stage:
            squares.latent.show_pulled(moment.frame.pulled is not None)
            squares.show_surface(moment.surface)
            squares.show_frame(moment.frame)
            if len(steps):
                losses.show_curves(replay.losses, moment.iteration, (int(steps[0]), int(steps[-1])))
        patches.append(messages[0] if messages else encode({} if patches else squares.stage.tree))
    return patches


def _moment(moment: Moment) -> dict[str, Any]:
    picture = moment.frame.picture
    keys = [] if picture is None else [[key.name, css(key.role), key.kind] for key in picture.keys]
    return {
        "iteration": moment.iteration,
        "numbers": {name: float(value) for name, value in moment.numbers.items() if np.isfinite(value)},
        "caption": "" if picture is None else picture.caption,
        "said": "" if picture is None else " · ".join(f"{number.name} {number}" for number in picture.numbers),
        "keys": keys,
    }
