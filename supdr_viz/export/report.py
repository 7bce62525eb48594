"""A run as one HTML file: summary, settings, the film with a scrubber, curves and code.

It opens from disk in any browser and asks nobody for anything, so a whole class can be given it from any static host.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.export.film import sheet_colours
from supdr_viz.export.packing import packed_image, packed_picture, packed_places
from supdr_viz.export.replay import Moment, Replay
from supdr_viz.frames.types import Sheet
from supdr_viz.kit.markup import escape
from supdr_viz.kit.theme import css_variables, palette
from supdr_viz.views.colours import written_colours
from supdr_viz.views.figures import colour_of

MAX_CURVES = 8


def report(replay: Replay, settings: Sequence[tuple[str, str]] = (), python: str = "") -> str:
    """Write the report.

    Parameters
    ----------
    replay : Replay
    settings : sequence of (str, str)
        Name and value.
    python : str
        The program that repeats the run; empty: none.

    Returns
    -------
    str
        A whole HTML document.
    """
    scene = replay.scene
    title = _title(replay)
    size = f"{scene.n_train:,} training and {int(scene.is_test.sum()):,} test rows, {scene.n_features:,} features."
    words = " ".join(part for part in (size, scene.description, *scene.notes) if part)
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in settings)
    table = f"<section><h2>Settings</h2><table>{rows}</table></section>" if rows else ""
    code = f'<pre tabindex="0" aria-label="Python code">{escape(python)}</pre>'
    program = f"<section><h2>The same run in Python</h2>{code}</section>" if python else ""
    body = f"<h1>{escape(title)}</h1><p>{escape(words)}</p>{PLAYER}{table}{program}"
    scripts = (*PLAYER_SCRIPTS, "report.js")
    return document(title, body, {"film": film_data(replay)}, styles=["report.css"], scripts=scripts)


PLAYER = """<div class="bar"><button id="play" type="button">Play</button>
<input id="scrub" type="range" min="0" max="0" value="0" step="1"
 aria-label="Iteration"><output id="numbers" for="scrub"></output></div>
<div class="plots">
<figure><figcaption id="input-caption"></figcaption><canvas id="input" role="img"></canvas></figure>
<figure><figcaption id="latent-caption"></figcaption><canvas id="latent" role="img"></canvas></figure>
<figure id="method-card"><figcaption id="method-caption"></figcaption><canvas id="method" role="img"></canvas>
<p id="method-keys"></p><p id="method-numbers"></p></figure></div>
<figure><figcaption>Losses <span id="keys"></span></figcaption><canvas id="losses" role="img"></canvas></figure>
<p id="legend"></p>"""
"""Where the script ``player.js`` shows a film."""

PLAYER_SCRIPTS = ("picture.js", "player.js")


def document(title: str, body: str, data: dict[str, Any], *, styles: Sequence[str], scripts: Sequence[str]) -> str:
    """Write a page that needs nothing beside itself.

    Parameters
    ----------
    title : str
    body : str
        HTML.
    data : dict
        Name of an element -> what its scripts read from it as JSON.
    styles, scripts : sequence of str
        Files of the folder ``assets``, in order.

    Returns
    -------
    str
        A whole HTML document.
    """
    folder = resources.files("supdr_viz") / "assets"
    style, script = (
        "".join((folder / name).read_text(encoding="utf-8") for name in names) for names in (styles, scripts)
    )
    held = ""
    for name, content in data.items():
        text = json.dumps(content, allow_nan=False).replace("<", "\\u003c")
        held += f'<script id="{name}" type="application/json">{text}</script>'
    light, dark = (css_variables(palette(each)) for each in (False, True))
    variables = f":root {{{light}}} @media (prefers-color-scheme: dark) {{:root {{{dark}}}}}"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{variables}{style}</style></head><body><main>
{body}
<footer>Made with supdr-viz. This file needs no network.</footer>
</main>{held}<script>{script}</script></body></html>
"""


def _title(replay: Replay) -> str:
    return f"{replay.method} on {replay.scene.title}"


def _note(exact: bool) -> str:
    return "" if exact else ", slice through the mean"


def film_data(replay: Replay) -> dict[str, Any]:
    """Return what ``load`` of the script ``player.js`` takes.

    Parameters
    ----------
    replay : Replay

    Returns
    -------
    dict
        Ready for JSON.
    """
    scene = replay.scene
    finite = {name: values for name, values in replay.losses.values.items() if np.isfinite(values).any()}
    captions = {"input": f"Input space{_note(scene.plane.exact)}", "latent": f"Latent space: {replay.latent_caption}"}
    pictures = [moment.picture for moment in replay.moments if moment.picture is not None]
    roles = {name for picture in pictures for name in (*picture.roles, *(key.role for key in picture.keys))}
    themes = {"light": False, "dark": True}
    return {
        "title": _title(replay),
        "captions": captions,
        "task": scene.task,
        "classes": [str(name) for name in scene.class_names],
        "colours": {theme: written_colours(scene, dark) for theme, dark in themes.items()},
        "regions": {theme: sheet_colours(replay, dark) for theme, dark in themes.items()},
        "roles": {theme: {role: colour_of(role, dark) for role in sorted(roles)} for theme, dark in themes.items()},
        "mode": None if replay.mode is None else {"title": replay.mode.title, "caption": replay.mode.caption},
        "test": scene.is_test.astype(int).tolist(),
        "input": packed_places(scene.position, scene.plane.extent),
        "extent": list(scene.plane.extent),
        "moments": [_moment(moment) for moment in replay.moments],
        "iterations": np.asarray(replay.losses.iteration).tolist(),
        "losses": {name: _numbers(values) for name, values in list(finite.items())[:MAX_CURVES]},
    }


def _moment(moment: Moment) -> dict[str, Any]:
    return {
        "iteration": moment.iteration,
        "numbers": {name: float(value) for name, value in moment.numbers.items() if np.isfinite(value)},
        "latent": packed_places(moment.latent, moment.extent),
        "pulled": None if moment.pulled is None else packed_places(moment.pulled, moment.extent),
        "extent": list(moment.extent),
        "wrong": np.flatnonzero(moment.wrong).tolist(),
        "sheets": [_sheet(sheet) for sheet in (moment.input_sheet, moment.latent_sheet)],
        "picture": None if moment.picture is None else packed_picture(moment.picture),
    }


def _sheet(sheet: Sheet | None) -> dict[str, Any] | None:
    return None if sheet is None else {"png": packed_image(sheet.image), "extent": list(sheet.extent)}


def _numbers(values: NDArray) -> list[float | None]:
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in np.asarray(values, dtype=float)]
