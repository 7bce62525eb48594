"""The examples as a gallery: some with a story first, by idea, then the papers' figures, then what needs other data."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.presets.preset import Preset, Presets
from supdr_viz.presets.reading import document

# Titles of the folds.
PAPERS, TO_LOAD = "Figures and tables of the papers", "Needs a data set you download"

MORE = "More to try"


class Story(NamedTuple):
    """An example as it is described to a first visitor.

    `title`, `line`: what it is, and what is to be seen.
    """

    title: str
    line: str


# Idea -> name of an example -> its story.
STORIES: dict[str, dict[str, Story]] = {
    idea["title"]: {story["example"]: Story(story["title"], story["line"]) for story in idea["story"]}
    for idea in document("stories")["idea"]
}

_TOLD = {name: story for idea in STORIES.values() for name, story in idea.items()}
_NUMBERED = re.compile(r"(Figs?\.|Tables?) [^:]*")


def title_of(preset: Preset[Settings]) -> str:
    """Return what an example is called: by its story, if it has one."""
    return _TOLD[preset.name].title if preset.name in _TOLD else preset.label


def source_of(preset: Preset[Settings]) -> str:
    """Return which method an example shows, and which figure of which paper it is; the paper of a method names it."""
    method = MENU[preset.settings.method].label
    _, _, paper = preset.group.partition(" of the ")
    number = _NUMBERED.match(preset.label) or _NUMBERED.match(preset.group.partition(" of ")[0])
    if not paper:
        return method
    source = f"{paper}, {number[0]}" if number else paper
    return source if paper.startswith(f"{method} ") else f"{method} · {source}"


def shelves() -> list[dict[str, Any]]:
    """Return all examples in the order in which they are offered.

    Returns sections with ``title``, ``fold`` (of the papers, or of what must be loaded first; empty: always open) and
    ``cards``, dicts with ``name``, ``title``, ``line``, ``source`` and ``more``, what a search finds besides.
    """
    told = [
        {"title": idea, "fold": "", "cards": [_card(PRESETS[name], story.line) for name, story in stories.items()]}
        for idea, stories in STORIES.items()
    ]
    others = [preset for name, preset in PRESETS.items() if name not in _TOLD]
    at_hand = [preset for preset in others if preset.needs is None]
    to_load = [preset for preset in others if preset.needs is not None]
    return [*told, *_by_group(at_hand, PAPERS), *_by_group(to_load, TO_LOAD)]


def _by_group(presets: list[Preset[Settings]], fold: str) -> list[dict[str, Any]]:
    groups = dict.fromkeys(preset.group for preset in presets)
    return [
        {
            "title": group if " of the " in group else MORE,
            "fold": fold,
            "cards": [
                _card(preset, preset.note.split(". ")[0].rstrip(".") + ".")
                for preset in presets
                if preset.group == group
            ],
        }
        for group in groups
    ]


def _card(preset: Preset[Settings], line: str) -> dict[str, str]:
    source = SOURCES[preset.settings.data].label if preset.needs is None else preset.needs.title
    return {
        "name": preset.name,
        "title": title_of(preset),
        "line": line,
        "source": source_of(preset),
        "more": f"{preset.label} {source} {preset.note} {preset.more}",
    }


def plain_shelves(presets: Presets[Any], source: Callable[[Preset[Any]], str]) -> list[dict[str, Any]]:
    """Return the prepared comparisons or sweeps, as `shelves` does the examples.

    `source`: returns what is said below an example's note.
    """
    at_hand, to_load = ([each for each in presets.values() if (each.needs is None) is here] for here in (True, False))
    sections = [("Ready to run", "", at_hand), (MORE, TO_LOAD, to_load)]
    return [
        {"title": title, "fold": fold, "cards": [_plain_card(each, source(each)) for each in some]}
        for title, fold, some in sections
        if some
    ]


def _plain_card(preset: Preset[Any], source: str) -> dict[str, str]:
    return {"name": preset.name, "title": preset.label, "line": preset.note, "source": source, "more": preset.group}
