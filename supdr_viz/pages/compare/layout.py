"""Where everything stands on the compare page: toolbar, a card per column, the table; and which column is edited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import panel as pn

from supdr.engine.iterate import Stop
from supdr_viz.controls.presets import PresetGallery
from supdr_viz.controls.sidebar import Controls
from supdr_viz.data.number_format import rows_text
from supdr_viz.experiment.methods import MENU, method_menu
from supdr_viz.pages import Navigation, link
from supdr_viz.pages.compare import table as scoreboard
from supdr_viz.pages.compare.checks import CHECKS
from supdr_viz.pages.compare.column import Column, Facts
from supdr_viz.pages.compare.comparison import DEFAULT, LETTERS, MAX_COLUMNS
from supdr_viz.pages.compare.lockstep import MEASURE
from supdr_viz.pages.compare.presets import COMPARISON_PRESETS
from supdr_viz.pages.share import ShareMenu
from supdr_viz.pages.styles import CLASSES_CSS, CLEAR, DIM, FREE, HIDDEN_CSS
from supdr_viz.pages.training_bar import TrainingBar
from supdr_viz.pictures.types import Scene
from supdr_viz.presets.gallery import plain_shelves
from supdr_viz.run.status import ENDINGS
from supdr_viz.ui import widgets
from supdr_viz.ui.bar import Bar, Button, Toggle
from supdr_viz.ui.binding import BoundChoice
from supdr_viz.ui.bridge import CHOOSES, Bridge
from supdr_viz.ui.notice import Notice, remarks
from supdr_viz.views.colours import PICK_ERRORS
from supdr_viz.views.objectives import Objectives
from supdr_viz.views.plane import points_legend
from supdr_viz.views.stage.components import Hub

TITLE = '<h1 class="hidden">supdr comparison: several methods on the same rows, side by side</h1>'
# Columns come and go: a native layout builds and shows them at once.  The kit's shows what it has built a little later,
# is measured in between, and fails on figures that are not there yet.
GRID_CSS = """
:host { display: grid !important; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 12px; }
.scroll-button { display: none !important; }
@media (max-width: 999.95px) { :host { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
@media (max-width: 599.95px) { :host { grid-template-columns: minmax(0, 1fr); } }
"""
BOX_CSS = widgets.BOX_CSS + ":host { height: auto !important; }"
PLACE_CSS = """
:host { border-style: dashed; }
@media (max-width: 999.95px) { :host { grid-column: auto !important; } }
"""
CURVES_HEIGHT = 150
# What rings mean where regions are a slice, in which the features that are not drawn are at their means.
BY_ALL = "errors, by all features"

# States that say no more than the iteration does.
SAID_ABOVE = ("ready", "running", "paused", ENDINGS[Stop.max_iter])

BY = {f"same {label}": value for value, label in MEASURE.choices}

CARD_CSS = """
.top { display: flex; align-items: center; gap: 6px; } .top h2 { flex: 1; min-width: 0; white-space: nowrap;
scroll-margin-top: 68px;
overflow: hidden; text-overflow: ellipsis; font-size: 13px; text-transform: none; letter-spacing: 0; }
.letter { flex: none; width: 20px; height: 20px; line-height: 19px; text-align: center; border-radius: 50%;
border: 1px solid var(--supdr-border); font-size: 12px; font-weight: 700; box-sizing: border-box; }
.letter.chosen { background: var(--supdr-primary); color: var(--supdr-on-primary); border-color: transparent; }
a { color: var(--supdr-primary); font-size: 12px; text-decoration: none; white-space: nowrap; }
a:hover, a:focus-visible { text-decoration: underline; }
.line { font-size: 12px; line-height: 17px; height: 17px; color: var(--supdr-secondary); overflow: hidden;
font-variant-numeric: tabular-nums; }
.line b { color: var(--supdr-text); } .problem { font-size: 12px; color: var(--supdr-failed); }
"""
CAPTION_CSS = """
:host { color: var(--supdr-secondary); } div { font-size: 11.5px; line-height: 16px; height: 16px; overflow: hidden; }
.whole { display: inline-block; max-width: 100%; vertical-align: top; }
b { color: var(--supdr-text); font-weight: 500; }
"""
# On a phone the columns stand below one another: what they are compared by stands above them.
STRIP_CSS = """
.strip { display: none; } p { margin: 6px 0 3px; }
@media (max-width: 599.95px) { :host { flex: 1 1 100%; } .strip { display: block; } }
.columns { display: grid; grid-template-columns: repeat(var(--count), minmax(0, 1fr)); gap: 6px; }
button { font: inherit; font-size: 12px; line-height: 17px; text-align: left; color: var(--supdr-text); cursor: pointer;
min-width: 0; min-height: 44px; padding: 4px 6px; background: var(--supdr-card); border-radius: 8px;
border: 1px solid var(--supdr-border); font-variant-numeric: tabular-nums; }
button:focus-visible { outline: 2px solid var(--supdr-primary); outline-offset: 1px; }
.columns span { display: block; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.best { border-color: var(--supdr-running); } .best b { color: var(--supdr-running); }
"""


class ColumnCard:
    """One column on the page: head, latent space, input space."""

    def __init__(self, column: Column) -> None:
        pair = column.pair
        wide: dict[str, Any] = widgets.WIDE
        self.head = pair.hub.words("head", css=CARD_CSS, margin=(0, 0, 2, 0), min_height=37, **wide)
        self._captions = {
            name: pair.hub.words(f"head of {name}", css=CAPTION_CSS, margin=(2, 0, 1, 0), **wide)
            for name in ("latent", "input")
        }
        self._panes = []
        parts: list[Any] = [self.head]
        for name in ("latent", "input"):
            pane = pair.hub.square(name)
            self._panes.append(pane)
            parts += [self._captions[name], pane]
        self.view = pn.Column(*parts, pair.hub, stylesheets=[widgets.sheet(BOX_CSS)], margin=0, **wide)

    def refresh(
        self,
        letter: str,
        facts: Facts,
        column: Column,
        *,
        query: str,
        chosen: bool,
        noted: bool,
        task: str,
        furthest: int,
    ) -> None:
        """Bring the head and the captions up to date.

        `query`: of a link that opens the column on the page Explore; `chosen`: whether the sidebar edits this column;
        `noted`: whether any column has settings that differ from the defaults; `task`: one of "classification",
        "regression"; `furthest`: the iteration of the column that is ahead.
        """
        mark = ' class="letter chosen"' if chosen else ' class="letter"'
        label, note = widgets.escape(facts.label), facts.note or DEFAULT
        top = (
            f'<div class="top"><span{mark}>{letter}</span><h2 tabindex="-1" title="{label}">{label}</h2>'
            f'<a href="{widgets.escape(link("explorer", query))}" aria-label="Open column {letter} in Explore">'
            "Open in Explore</a></div>"
        )
        if facts.problem:
            rest = f'<div class="problem" role="alert">{widgets.escape(facts.problem)}</div>'
        else:
            rest = f'<div class="line">{how_it_stands(facts, task, furthest)}</div>'
            if noted:
                rest = f'<div class="line" title="{widgets.escape(note)}">{widgets.symbols(note)}</div>{rest}'
        self.head.text = top + rest
        for name, caption in self._captions.items():
            view = getattr(column.pair, name)
            text, said = widgets.escape(view.caption()), widgets.whole_parts(widgets.escape(view.caption()))
            caption.text = "" if column.problem else f'<div title="{text}"><b>{view.title}</b> {said}</div>'
        for pane in self._panes:
            styles = DIM if column.problem else CLEAR
            if pane.styles != styles and (pane.styles or column.problem):
                pane.styles = styles


def strip_html(facts: Sequence[Facts], places: Sequence[str], task: str) -> str:
    """Write a button for each column, with its test error, that leads to it.

    `places`: of the columns' heads, in the browser; `task`: one of "classification", "regression".
    """
    if len(facts) < 2:
        return ""
    kind, best = "MSE" if task == "regression" else "error", scoreboard.best_value(facts, "test")
    buttons = []
    for letter, row, place in zip(LETTERS, facts, places):
        value = row.scores.get("test")
        is_best, label = value is not None and value == best, widgets.escape(row.label)
        number = scoreboard.said(value, "test", task)
        said = f"Go to column {letter}: {label}, test {kind} {number}{', the best' if is_best else ''}"
        buttons.append(
            f'<button type="button" data-place="{place}" aria-label="{said}"{" class=best" if is_best else ""}>'
            f"<span><b>{letter}</b> {label}</span><span>{_marked(number, is_best)}</span></button>"
        )
    return (
        f'<div class="strip"><p class="quiet small">Test {kind} of each column; tap one to see it</p>'
        f'<div class="columns" role="group" aria-label="Columns" style="--count:{len(facts)}">{"".join(buttons)}</div>'
        "</div>"
    )


def _marked(number: str, is_best: bool) -> str:
    return f"<b>{number}</b> best" if is_best else number


def how_it_stands(facts: Facts, task: str, furthest: int = 0) -> str:
    """Say a column's error and how far its run is, in HTML.

    `task`: one of "classification", "regression"; `furthest`: the iteration of the column that is ahead.
    """
    words = []
    name = "test" if "test" in facts.scores else "train"
    if name in facts.scores:
        kind = "MSE" if task == "regression" else "error"
        words.append(f"{name} {kind} <b>{scoreboard.said(facts.scores[name], name, task)}</b>")
    if facts.iteration is None:
        words.append(facts.state)
    elif facts.state == ENDINGS[Stop.max_iter] and facts.iteration < furthest:
        words.append(f"stopped at <b>{facts.iteration:,}</b>")
    elif facts.state in SAID_ABOVE:
        words.append(f"iteration <b>{facts.iteration:,}</b>")
    else:
        words.append(f"{facts.state} at <b>{facts.iteration:,}</b>")
    return " · ".join(words)


class CompareLayout:
    """Builds the page and updates what is not a plot.

    hub: of what all columns share: the status line, the chart of the objectives, the table.
    measure: one of "iteration", "time".
    on_preset, on_measure, on_choose, on_add: called with the key of the example, the measure, the place of the column
        to edit, the method to add.
    on_remove: called without arguments: remove the column that is edited.
    on_check: called with the name of a check, of `CHECKS`: put it to all columns, or stop that.
    """

    def __init__(
        self,
        hub: Hub,
        bar: TrainingBar,
        bridge: Bridge,
        controls: Controls,
        share: ShareMenu,
        measure: str,
        problems: Sequence[str],
        *,
        on_preset: Callable[[str], Any],
        on_measure: Callable[[str], Any],
        on_choose: Callable[[int], Any],
        on_add: Callable[[str], Any],
        on_remove: Callable[[], Any],
        on_check: Callable[[str], Any],
    ) -> None:
        self._on_preset = on_preset
        self.notice, self._remarks = Notice(), remarks(problems)
        self.about = widgets.html(margin=(0, 8, 6, 8))
        css = widgets.HEAD_CSS + CLASSES_CSS + STRIP_CSS
        self.classes = hub.words("classes", css=css, margin=(2, 0), sizing_mode=None)
        self.hub = hub
        wide: dict[str, Any] = widgets.WIDE
        self.table = hub.words("table", css=scoreboard.CSS, margin=0, **wide)
        self._cards: dict[Column, ColumnCard] = {}
        self._presets = PresetGallery(
            COMPARISON_PRESETS, "", self._preset_chosen, _shelves, [controls.data.file_button]
        )
        self._column = BoundChoice(Toggle("Column", ["A"], "A"), {"A": 0}, on_choose)
        self._remove = Button("Remove", on_remove, icon="delete", look="text", height=28)
        shown = next(label for label, value in BY.items() if value == measure)
        self._measure = BoundChoice(Toggle("Compare at the", list(BY), shown, large=True), BY, on_measure)
        self.checks = {
            name: Button(check.button, partial(on_check, name), icon="casino", look="text", height=28)
            for name, check in CHECKS.items()
        }
        self._place = self._adding(on_add)
        self.objectives = Objectives(hub.stage, "objectives")
        chart = hub.chart("objectives", CURVES_HEIGHT)
        self._curves_head = hub.words("head of objectives", css=widgets.HEAD_CSS, margin=(2, 4), **wide)
        self._curves = pn.Column(
            self._curves_head,
            chart,
            stylesheets=[widgets.sheet(BOX_CSS)],
            margin=(0, 0, 12, 0),
            **widgets.WIDE,
        )
        self.grid = pn.Column(stylesheets=[widgets.sheet(GRID_CSS)], margin=(0, 0, 12, 0), styles=FREE, **widgets.WIDE)
        self._edit(controls)
        self.page = self._assemble(bar, bridge, controls, share)

    # --- parts --------------------------------------------------------------------------------------------------------

    def _edit(self, controls: Controls) -> None:
        """Put the choice of the column above the method in the sidebar."""
        parts = {"column": self._column.widget, "remove": self._remove}
        row = Bar(parts, margin=(0, 6, 0, 2), styles={"--justify": "space-between"}, **widgets.WIDE)
        place = list(controls.view).index(controls.method.view)
        controls.view.insert(place, pn.Column(widgets.section("Column"), row, margin=0, **widgets.WIDE))

    def _adding(self, on_add: Callable[[str], Any]) -> Any:
        self.menu = widgets.select("Method to add", method_menu(), "LDA")
        add = widgets.button(
            "Add column",
            lambda: on_add(self.menu.value),
            icon="add",
            kind="contained",
            height=34,
            margin=(6, 8),
            css_classes=[CHOOSES],
        )
        text = (
            "All columns are fitted to the same training rows with the same seed. Compare up to four methods, or one "
            "method with different settings. Add to comparison, on the page Explore, adds the run that is shown there."
        )
        return pn.Column(
            widgets.html("<h3>Add a column</h3>", margin=(4, 8)),
            widgets.caption(text),
            self.menu,
            add,
            stylesheets=[widgets.sheet(BOX_CSS), widgets.sheet(PLACE_CSS)],
            margin=0,
            **widgets.WIDE,
        )

    def _assemble(self, bar: TrainingBar, bridge: Bridge, controls: Controls, share: ShareMenu) -> Any:
        controls.data.show_dialogs_in(share.dialogs)
        heading = widgets.html(TITLE, css=HIDDEN_CSS, margin=0, height=0)
        buttons: Any = bar.view[0]
        line: Any = bar.view[1]
        bar.buttons.hold({"measure": self._measure.widget})
        bar.buttons.styles = {**bar.buttons.styles, "--speed": "none"}  # on a phone it stands below the table
        line.styles = {"flex": "1 1 300px", "min-width": "0", "width": "auto", "--word": "static"}
        scrubber = widgets.flow(line, self.classes, gap="0 8px", margin=(0, 0, 6, 0))
        box: dict[str, Any] = {"stylesheets": [widgets.sheet(widgets.BOX_CSS)], "styles": {"padding": "2px 8px"}}
        row = Bar({**self.checks, "speed": bar.speed}, margin=0, styles={"--speed-wide": "none"}, **widgets.WIDE)
        results = pn.Column(self.table, row, **box, margin=(0, 0, 12, 0), **widgets.WIDE)
        main = pn.Column(
            heading,
            buttons,
            scrubber,
            self._remarks.view,
            self.notice.view,
            self.grid,
            results,
            self._curves,
            bridge,
            self.hub,
            share.dialogs,
            margin=(0, 12),
            styles=FREE,
            **widgets.WIDE,
        )
        self.navigation = navigation = Navigation("compare")
        return widgets.make_page(
            bridge,
            wide=lambda: [navigation.tabs(), pn.layout.HSpacer(), share.buttons()],
            narrow=lambda: [navigation.tabs(narrow=True), share.drawer_row()],
            sidebar=[self._presets.view, controls.view, self.about],
            main=[main],
        )

    # --- what the page tells ------------------------------------------------------------------------------------------

    def show_preset(self, name: str, own: str) -> None:
        """Name the preset on display in the menu, and say what to look at; an empty name: the visitor's own.

        `own`: name of the data that the visitor has loaded, if it is of those.
        """
        self._presets.name_own(own)
        if not name:
            self._presets.leave()
            return
        self._presets.show(name)
        self._presets.say(COMPARISON_PRESETS[name])

    def _preset_chosen(self, name: str) -> None:
        if name:
            self._on_preset(name)

    def prepare(self, columns: Sequence[Column]) -> None:
        """Have a card for each of these columns."""
        self._cards = {column: self._cards.get(column) or ColumnCard(column) for column in columns}

    def show_columns(self, columns: Sequence[Column], chosen: int) -> None:
        """Lay out these columns, and room for one more.

        `chosen`: place of the one that the sidebar edits.
        """
        self.prepare(columns)
        free = MAX_COLUMNS - len(columns)
        cells: list[Any] = [card.view for card in self._cards.values()]
        if free:
            self._place.styles = {"grid-column": f"span {free}"}
            cells.append(self._place)
        if list(self.grid.objects) != cells:
            self.grid.objects = cells
        self._column.offer({LETTERS[place]: place for place in range(len(columns))}, chosen)
        self._remove.disabled = len(columns) == 1

    def refresh(
        self, columns: Sequence[Column], facts: Sequence[Facts], queries: Sequence[str], chosen: int, task: str
    ) -> None:
        """Bring the heads of the cards and the table up to date."""
        noted, furthest = any(row.note for row in facts), max((row.iteration or 0 for row in facts), default=0)
        for place, (column, row, query) in enumerate(zip(columns, facts, queries)):
            marked = place == chosen and len(columns) > 1
            about: dict[str, Any] = {
                "query": query,
                "chosen": marked,
                "noted": noted,
                "task": task,
                "furthest": furthest,
            }
            self._cards[column].refresh(LETTERS[place], row, column, **about)
        places = [f"{column.pair.hub.board}/words/head" for column in columns]
        self.table.text = scoreboard.table_html(facts, task)
        self.classes.text = self._legend(columns) + strip_html(facts, places, task)
        self._offer_methods(task)
        self._refresh_curves(columns)

    def _offer_methods(self, task: str) -> None:
        """Offer the methods that learn such targets."""
        menu = method_menu(task)
        if self.menu.groups != menu:
            names = [name for group in menu.values() for name in group.values()]
            chosen = self.menu.value if self.menu.value in names else names[0]
            self.menu.param.update(groups=menu, value=chosen)

    def show_check(self, name: str, label: str = "") -> None:
        """Say how far a check is; nothing: it can begin."""
        self.checks[name].label = label or CHECKS[name].button

    def _legend(self, columns: Sequence[Column]) -> str:
        """Say what the marks of all columns mean, in HTML."""
        shown = [column.pair for column in columns if column.pair.points.scene is not None]
        if not shown:
            return ""
        entries = points_legend(*(pair.points for pair in shown))
        if any(pair.input.rings_by_all_features for pair in shown):
            entries = [replace(each, name=BY_ALL) if each.pick == PICK_ERRORS else each for each in entries]
        return f'<div class="keys">{widgets.legend(entries)}</div>'

    def _refresh_curves(self, columns: Sequence[Column]) -> None:
        """Draw the objectives of the runs that take steps."""
        frames = {letter: column.frame for letter, column in zip(LETTERS, columns)}
        runs = {letter: frame.losses for letter, frame in frames.items() if frame is not None}
        stepping = {letter: curves for letter, curves in runs.items() if len(curves.iteration) > 1}
        if not stepping:
            self._curves_head.text = widgets.card_head(self.objectives.title, "Press Run to draw the objectives.")
        else:
            shown = max(frame.iteration for frame in frames.values() if frame is not None)
            self.objectives.show_runs(stepping, shown)
            note = widgets.legend(self.objectives.legend) + "<span>each method minimises its own objective</span>"
            self._curves_head.text = widgets.card_head(self.objectives.title, note)

    def describe_data(self, scene: Scene, notes: Sequence[str]) -> None:
        """Say in the sidebar where the data come from."""
        size = f"{rows_text(scene.n_train, int(scene.is_test.sum()))}, {scene.n_features:,} features"
        text = "".join(f"<p>{widgets.escape(part)}</p>" for part in (f"{size}.", scene.description, *notes) if part)
        self.about.object = f'<div class="small quiet">{text}</div>'

    def show_notice(self, text: str, kind: str = "info") -> None:
        """Say something in a box above the columns, which do not show what the controls say: dim them."""
        self.notice.say(text, kind)
        self.grid.styles = DIM

    def hide_notice(self) -> None:
        """Take the box away."""
        if self.notice.shown:
            self.notice.hide()
            self.grid.styles = CLEAR

    def set_measure(self, measure: str) -> None:
        """Show what keeps the columns level, without reporting it."""
        self._measure.show(measure)


def _shelves() -> list[dict[str, Any]]:
    """Return the shelves of the gallery: below each comparison, its methods."""
    return plain_shelves(
        COMPARISON_PRESETS,
        lambda preset: " · ".join(MENU[column.method].label for column in preset.settings.columns),
    )
