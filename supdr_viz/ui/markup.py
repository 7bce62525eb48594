"""HTML and CSS of texts, card heads and legends: strings only, no widgets."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

TEXT_CSS = """
:host { color: var(--supdr-text); font-family: Roboto, Helvetica, Arial, sans-serif;
font-size: calc(13px * var(--supdr-zoom, 1)); line-height: 1.45; }
p { margin: 0 0 4px 0; } a { color: var(--supdr-primary); } .quiet { color: var(--supdr-secondary); }
.small { font-size: calc(12px * var(--supdr-zoom, 1)); }
.warning { color: var(--supdr-paused); } .error { color: var(--supdr-failed); }
h2 { margin: 0; font-size: 11.5px; font-weight: 700; letter-spacing: .06em; text-transform: uppercase; }
h3 { margin: 0; font-size: 13px; font-weight: 700; }
table { border-collapse: collapse; font-size: 12px; } th, td { padding: 3px 8px;
border-bottom: 1px solid var(--supdr-border); text-align: left; white-space: nowrap; max-width: 160px;
overflow: hidden; text-overflow: ellipsis; }
th { font-weight: 600; } th span { display: block; font-weight: 400; color: var(--supdr-secondary); }
sub { line-height: 0; }
.scroll { overflow-x: auto; max-width: 100%; } dl { margin: 0; } dt { font-weight: 600; } dd { margin: 0 0 6px 0; }
dd { color: var(--supdr-secondary); } pre { margin: 0; padding: 10px; overflow: auto; max-height: 50vh;
border-radius: 6px; background: var(--supdr-page); border: 1px solid var(--supdr-border); font-size: 12px;
line-height: 1.5; tab-size: 4; }
"""

BOX_CSS = """
:host { position: relative; background: var(--supdr-card); border: 1px solid var(--supdr-border); border-radius: 8px;
padding: 8px; box-sizing: border-box; min-width: 0; overflow: hidden; }
"""

# Status lines: of a run, a sweep, a follower.
STATUS_CSS = """
:host { min-width: 0; } .status { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; }
.chip { border: 1px solid currentColor; border-radius: 999px; padding: 2px 9px; white-space: nowrap; }
.chip.running { color: var(--supdr-running); } .chip.paused { color: var(--supdr-paused); }
.chip.primary { color: var(--supdr-primary); }
.chip.failed { color: var(--supdr-failed); } .chip.quiet { color: var(--supdr-secondary); }
b { font-variant-numeric: tabular-nums; }
.numbers { flex: 1 1 0; min-width: var(--least, 200px); font-variant-numeric: tabular-nums; }
.part { white-space: nowrap; } .part:has(.long) { white-space: normal; }
@media (min-width: 600px) { .part:has(.ending) { display: var(--ending, block); }
.part:has(+ .part .ending) .dot { display: var(--ending-dot, none); } }
@media (max-width: 599.95px) { .numbers:has(.ending) .part:has(.aside) { display: none; } }
"""

FLOW_CSS = ":host { flex-wrap: wrap; min-width: 0 !important; } * { align-self: center; }"

# A letter with a subscript, as plain text has it: no name of a column or class.
_SYMBOL = re.compile(r"(?<!\w)([λη](?=_)|[LRB](?=_[A-Z](?!\w)))_([A-Z0-9]{1,2})(?!\w)")

# First words of labels that have a capital wherever they stand.
NAMES = frozenset({"Gaussian"})

# Shows nothing; of an empty text the kit makes a box.
EMPTY = "<span></span>"

# Heads of cards, legends, and words that are `explained`, beside the row they stand in: it does not leave the card.
HEAD_CSS = """
.head { display: flex; flex-wrap: wrap; align-items: baseline; column-gap: 12px; row-gap: 0; min-height: 24px; }
.head .note, .keys { color: var(--supdr-secondary); font-size: 12px; display: inline-flex; flex-wrap: wrap;
column-gap: 10px; }
.head .note:not(.text) { flex: 0 1 auto; }
.head .note.text { display: block; flex: 1 0 100%; max-width: 100%; line-height: 1.35; height: 1.35em;
overflow: hidden; }
@media (max-width: 599.95px) { .head .note.text { height: auto; } .head .note.text .key { margin-left: 6px; } }
.whole { display: inline-block; max-width: 100%; vertical-align: top; }
.key { display: inline-flex; align-items: center; gap: 4px; white-space: nowrap; }
.note.text .key { margin-left: 8px; vertical-align: bottom; }
.key i { display: inline-block; box-sizing: border-box; flex: none; }
.key i.line { width: 16px; height: 2.5px; }
.key i.ring { width: 13px; height: 13px; border-radius: 50%; border: 1.8px solid;
background: radial-gradient(circle, var(--supdr-muted) 2.4px, transparent 2.9px); }
.key i.hollow { width: 9px; height: 9px; border-radius: 50%; border: 1.5px solid; }
.key i.oval { width: 17px; height: 10px; border-radius: 50%; border: 1.5px solid; }
.key i.point { width: 9px; height: 9px; border-radius: 50%; background: currentColor; }
.key i.scale { width: var(--scale, 64px); height: 9px; border-radius: 4px; }
.head .note:not(.text), .keys, .said { position: relative; }
.explained { cursor: help; pointer-events: auto; border-radius: 3px; }
.explained:focus { outline: 2px solid var(--supdr-primary); }
.explained:is(:hover, :focus)::after { content: attr(data-help); position: absolute; z-index: 20; left: 0;
top: calc(100% + 5px); width: max-content; max-width: min(260px, 100%); padding: 5px 8px; white-space: normal;
pointer-events: none; font-weight: 400; color: var(--supdr-text); background: var(--supdr-card);
border: 1px solid var(--supdr-border); border-radius: 6px; box-shadow: 0 2px 10px rgb(0 0 0 / 25%); }
"""


def escape(text: Any) -> str:
    """Make text safe inside HTML."""
    return html.escape(str(text), quote=True)


def symbols(text: Any) -> str:
    """Make text safe inside HTML, with the subscripts of symbols such as L_X and λ_U as such."""
    return _SYMBOL.sub(r"\1<sub>\2</sub>", escape(text))


def within_sentence(label: str) -> str:
    """Write a label as it stands within a sentence: without its capital, unless that is of a name or a symbol."""
    first = label.partition(" ")[0]
    return label if first in NAMES or not first[1:].islower() else label[:1].lower() + label[1:]


def typeset(text: str) -> str:
    """Write a sentence of the library with the signs of print: ≤, ≥, and a space before %."""
    return text.replace("<=", "≤").replace(">=", "≥").replace("%", "\u00a0%")


def literal(text: str) -> str:
    """Make text stand as it is where the kit takes it for Markdown: no link, no emphasis, no HTML; lines stay lines."""
    return "".join(each if each.isalnum() or each.isspace() else f"&#{ord(each)};" for each in text)


def markdown(text: str) -> str:
    """Turn Markdown into HTML; HTML inside it is escaped, so that the text may come from outside."""
    from markdown_it import MarkdownIt

    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def card_head(title: str, note: str = "", marks: str = "") -> str:
    """Write a card's first row; `note` and `marks`, a legend behind it, are HTML.

    Pointing at a caption says what of it there was no room for.
    """
    kind = "note" if "<" in note else f'note text" title="{note}'
    said = f"{note} {marks}" if "<" in note else whole_parts(note, marks)
    return f'<div class="head"><h3>{escape(title)}</h3><span class="{kind}">{said}</span></div>'


def whole_parts(caption: str, marks: str = "") -> str:
    """Write a caption so that whole parts of it, the last ones, are left out where there is no room: none is cut.

    `caption`, `marks`: HTML; the latter, a legend, stands behind the first part.
    """
    first, *others = (f'<span class="whole">{each}</span>' for each in caption.replace(" · ", "\n· ").split("\n"))
    return " ".join(each for each in (first, marks, *others) if each)


def explained(content: str, help: str, kind: str = "") -> str:
    """Write a word that says what it means when it is pointed at, touched, or reached by the Tab key.

    `content`: HTML. `help`: one sentence; without it the word is a plain one. `kind`: its class, for a style sheet.
    """
    if not help:
        return f'<span class="{kind}">{content}</span>'
    text = escape(help)
    return f'<span class="{kind} explained" tabindex="0" data-help="{text}" aria-description="{text}">{content}</span>'


def legend(entries: Sequence[Any], *, picks: bool = False) -> str:
    """Write a legend.

    `entries`: of `supdr_viz.views.figures.LegendEntry`; `picks`: whether entries whose ``pick`` is a number can be
    pressed.
    """
    keys = []
    for entry in entries:
        style = f"color:{escape(entry.colour)}"
        if entry.kind == "scale":
            style = f"background:{escape(entry.colour)}"
        elif entry.kind == "line":
            style = f"background:{escape(entry.pattern)}"
        elif entry.outline:
            style += f";width:11px;height:11px;border-radius:0;clip-path:{escape(entry.outline)}"
        said = ' role="img" aria-label="to"' if entry.ends else ""
        mark = f'<i class="{escape(entry.kind)}" style="{style}"{said}></i>' if entry.kind != "none" else ""
        content = f"{mark}<span>{symbols(entry.name)}</span>"
        if entry.ends:
            low, high = map(escape, entry.ends)
            content = f"{symbols(entry.name)} {low} {mark} {high}"
        if picks and entry.pick is not None:
            title = f' title="{escape(entry.help)}"' if entry.help else ""
            keys.append(f'<button type="button" class="key" data-pick="{entry.pick}"{title}>{content}</button>')
        else:
            keys.append(explained(content, entry.help, "key"))
    return "".join(keys)
