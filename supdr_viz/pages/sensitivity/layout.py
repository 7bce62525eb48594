"""Where everything stands on the page of sweeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import panel as pn

from supdr.sensitivity import Progress
from supdr_viz.controls.presets import PresetGallery
from supdr_viz.data.number_format import duration, per_cent
from supdr_viz.pages import Navigation
from supdr_viz.pages.sensitivity.charts import SweepCharts
from supdr_viz.pages.sensitivity.elements import BAR_WORDS, View, current_place, curve_words
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.runner import Phase
from supdr_viz.pages.sensitivity.settings import METRICS, SweepSettings
from supdr_viz.pages.share import ShareMenu
from supdr_viz.pages.styles import FREE, HIDDEN_CSS
from supdr_viz.presets.gallery import plain_shelves
from supdr_viz.presets.pictures import SWEEPS
from supdr_viz.presets.preset import Preset
from supdr_viz.ui import widgets
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.markup import STATUS_CSS, within_sentence
from supdr_viz.ui.notice import Notice, remarks
from supdr_viz.ui.panel_workarounds import save_figure

TITLE = "supdr: how much does a parameter matter?"

COLOURS = {
    Phase.running: "running",
    Phase.finished: "running",
    Phase.paused: "paused",
    Phase.stopping: "paused",
    Phase.failed: "failed",
}
# Cards in three columns; in a narrow window they stand below one another.
GRID_CSS = """
:host { display: grid !important; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 12px; --broad: span 2;
--slim: span 1; align-items: start; }
@media (max-width: 899.95px) { :host { grid-template-columns: minmax(0, 1fr); --broad: span 1; } }
"""
BROAD, SLIM, FULL = "var(--broad)", "var(--slim)", "1 / -1"

# Finds the best cell by fits to few rows, without all cells.
SEARCH = "Find the best cell"

# What marks in cells mean.
BEST = '<span class="key">★ best</span>'
CURRENT = (
    '<span class="key"><i style="width:16px;height:11px;border:2.5px solid var(--supdr-error)"></i>'
    "current setting</span>"
)

# Stands for the result until there are finished cells.
NO_RESULT = '<p class="quiet small">Press Run: the best cell and the most important parameter are named here.</p>'

BUTTON = {
    Phase.running: ("Pause", "pause"),
    Phase.waiting: ("Pause", "pause"),
    Phase.paused: ("Resume", "play_arrow"),
}

BAR_CSS = (
    STATUS_CSS
    + """
.bar { height: 6px; border-radius: 3px; background: var(--supdr-border); overflow: hidden; margin: 6px 0 2px 0; }
.bar i { display: block; height: 100%; background: var(--supdr-primary); transition: width .25s; }
.status { min-height: 26px; }
"""
)


class SensitivityLayout:
    """Builds the page and updates what is not a plot.

    `preset`: name of the prepared sweep on display, if any; `problems`: what was wrong when the page was opened;
    `on_csv`: returns the finished cells as CSV, or an empty text; `on_html`: returns them as a page, or an empty text;
    `on_maps`: shows maps or values; `on_search`: starts or ends a search of the best cell;
    `file_button`: beside the examples.
    """

    def __init__(
        self,
        charts: SweepCharts,
        bridge: Bridge,
        share: ShareMenu,
        sidebar: Sequence[Any],
        preset: str,
        problems: Sequence[str],
        *,
        on_preset: Callable[[str], Any],
        on_run: Callable[[], Any],
        on_cancel: Callable[[], Any],
        on_csv: Callable[[], str],
        on_html: Callable[[str], str],
        on_maps: Callable[[], Any],
        on_search: Callable[[], Any],
        file_button: Any,
    ) -> None:
        self._charts, self._rivals = charts, list[Any]()
        self._bridge, self._on_preset = bridge, on_preset
        self.presets = PresetGallery(SWEEP_PRESETS, preset, self._preset_chosen, _shelves, [file_button], SWEEPS)
        self.run = widgets.button("Run", on_run, icon="play_arrow", kind="contained", width=112)
        self.cancel = widgets.button("Cancel", on_cancel, icon="close", disabled=True)
        self.csv = widgets.button("CSV", lambda: self._save(on_csv(), "csv"), icon="download", disabled=True)
        self.page_file = widgets.button("HTML", lambda: self._save_page(on_html), icon="download", disabled=True)
        self.png = widgets.button("PNG", icon="image")
        self.maps = widgets.button("Show maps", on_maps, icon="grid_view")
        save_figure(self.png, "heatmap", "supdr-sweep.png")
        self.search = widgets.button(SEARCH, on_search, icon="search")
        self.searched = widgets.html(margin=(0, 4))
        self.status = widgets.html(css=BAR_CSS, margin=(2, 0))
        self.notice = Notice()
        heading = widgets.html(f'<h1 class="hidden">{widgets.escape(TITLE)}</h1>', css=HIDDEN_CSS, margin=0, height=0)
        self.result: Any = widgets.html(margin=(0, 4, 8, 4))
        plots = self._plots(charts)
        main = pn.Column(
            heading,
            self._bar(),
            remarks(problems).view,
            self.notice.view,
            plots,
            bridge,
            share.dialogs,
            margin=(0, 12),
            styles=FREE,
            **widgets.WIDE,
        )
        self._n_cells = self._n_fits = 0
        self._note = ""
        controls = pn.Column(self.presets.view, *sidebar, margin=(6, 0, 12, 0), **widgets.WIDE)
        self.navigation = Navigation("sensitivity")
        self.page = widgets.make_page(
            bridge,
            wide=lambda: [self.navigation.tabs(), pn.layout.HSpacer(), share.buttons()],
            narrow=lambda: [self.navigation.tabs(narrow=True), share.drawer_row()],
            sidebar=[controls],
            main=[main],
        )

    def _bar(self) -> Any:
        """Return the buttons in a row, with the status beside them."""
        buttons = (self.run, self.cancel, self.search, self.csv, self.page_file, self.png, self.maps)
        self.status.styles = {"flex": "1 1 300px", "min-width": "0", "width": "auto"}
        for each in buttons:
            each.margin = (4, 6, 4, 0)  # in a narrow window every line begins at the edge
        row = widgets.flow(*buttons, margin=0, sizing_mode=None)
        return widgets.flow(row, self.status, gap="0 8px", margin=(4, 0, 8, 0))

    def _plots(self, charts: SweepCharts) -> Any:
        heat, self._heat_head = self._card("Heatmap", charts.heatmap.place)
        self._curves = widgets.flow(charts.curves[0].place, gap="0 12px")
        for each in charts.curves:
            each.place.styles = {"flex": "1 1 300px", "min-width": "0"}
        curves, self._curve_head = self._card("Marginal curves", self._curves)
        said = pn.Column(
            self.result,
            self.searched,
            margin=0,
            styles={"flex": "3 1 360px", "min-width": "0", "align-self": "flex-start"},
        )
        charts.bars.place.styles = {"flex": "2 1 300px", "min-width": "0"}
        result, _ = self._card(
            "Result",
            widgets.flow(said, charts.bars.place, gap="0 24px"),
            note=BAR_WORDS,
        )
        cards = {"heat": heat, "map": charts.map_card, "best": charts.best_card, "curves": curves, "result": result}
        self._cards = cards
        self._grid = pn.Column(*cards.values(), stylesheets=[widgets.sheet(GRID_CSS)], styles=FREE, **widgets.WIDE)
        return self._grid

    def _build_rivals(self) -> None:
        rival, self._rival_head = self._card("Heatmap", self._charts.rival.place)
        apart, self._difference_head = self._card("Difference", self._charts.difference.place)
        both = widgets.flow(rival, apart, gap="12px")
        for each in both:
            each.styles = {"flex": "1 1 360px"}
        self._rivals = [_place(both, FULL)]
        self._grid.extend(self._rivals)

    def _card(self, title: str, *places: Any, note: str = "") -> tuple[Any, Any]:
        head = widgets.html(widgets.card_head(title, note), **widgets.HEAD)
        return widgets.card(head, *places), head

    # --- examples -----------------------------------------------------------------------------------------------------

    def say_preset(self, preset: Preset | None) -> None:
        """Show a prepared sweep's note."""
        if preset is not None:
            self.presets.say(preset, at_hand=not self.notice.shown)

    def _preset_chosen(self, name: str) -> None:
        if name:
            self._on_preset(name)
        else:
            self.presets.leave()

    # --- state --------------------------------------------------------------------------------------------------------

    def describe(self, settings: SweepSettings, titles: Sequence[str], metric: str, note: str) -> None:
        """Say what the plots show; `note`: which rows are fitted, if not all."""
        protocol = (
            f"{settings.folds} folds"
            if settings.folds > 1
            else f"{per_cent(settings.base.test_share)} of the rows, held out"
        )
        if settings.repeats > 1:
            protocol += f", {settings.repeats} repetitions"
        protocol += ", with test rows as unlabelled rows" if settings.transductive else ""
        protocol += ", with warm starts" if settings.warm else ""
        marks = ""
        if len(titles) < 3:
            words = f"Colour: mean {metric} over {protocol}."
            marks = BEST + (CURRENT if current_place(self._charts.view) is not None else "")
        else:
            words = f"Each line is a cell: its parameters and the mean {metric} over {protocol}."
        words += " A click opens a cell in Explore."
        kind = ("Cells", "Heatmap", "Parallel axes")[min(len(titles), 3) - 1]
        self._heat_head.object = widgets.card_head(kind, widgets.escape(words), marks)
        self.maps.disabled = len(titles) > 2
        self.say_search("")
        self.result.object = NO_RESULT
        self._n_cells, self._n_fits, self._note = settings.n_cells, settings.n_fits, f" {note}" if note else ""
        self.arrange()

    def arrange(self) -> None:
        """Put the map beside the heatmap, or else the curves; with one parameter all stands below one another."""
        view, mapped = self._charts.view, self._charts.has_map
        several = len(view.values)
        curves = [each.place for each in self._charts.curves[:several]]
        if self._curves.objects != curves:
            self._curves.objects = curves
        beside, any_cell = several == 2 and not mapped, bool(view.result.cells)
        columns = {
            "heat": BROAD if several > 1 and (beside or mapped) else FULL,
            "map": SLIM if several > 1 else FULL,
            "curves": SLIM if beside else FULL,
        }
        words = curve_words(view) if any_cell else "Press Run: the curves grow as cells finish."
        self._curve_head.object = widgets.card_head("Marginal curves", widgets.escape(words))
        shown = {"map": mapped, "best": several > 2 and mapped and any_cell, "curves": beside or any_cell}
        for name, card in self._cards.items():
            _place(card, columns.get(name, FULL), shown=shown.get(name, True))

    def set_state(
        self, phase: Phase, *, ready: bool, progress: Progress | None = None, cells: int = 0, message: str = ""
    ) -> None:
        """Show what the sweep is doing; `cells`: how many finished ones are shown."""
        label, icon = BUTTON.get(phase, ("Run", "play_arrow"))
        if self.run.label != label:
            self.run.param.update(label=label, icon=icon)
        self.run.disabled = not ready or phase is Phase.stopping
        self.cancel.disabled = phase not in (Phase.running, Phase.waiting, Phase.paused)
        self.csv.disabled = self.page_file.disabled = not cells and (progress is None or not progress.done)
        shown = Phase.finished if phase is Phase.idle and cells and cells == self._n_cells else phase
        self.status.object = _status(shown, progress, message or self._cost_of(cells))
        if phase is Phase.failed:
            self.notice.say(f"The sweep failed: {message}", "error")

    def _cost_of(self, cells: int) -> str:
        """Say what Run would compute; `cells`: how many are finished."""
        if cells and cells == self._n_cells:
            each = _count(self._n_fits // cells, "fit")
            return f"All {_count(cells, 'cell')} are computed ({each} each).{self._note}"
        known = f" {cells:,} of them are computed." if cells else ""
        return f"Run makes {_count(self._n_fits, 'fit')} for {_count(self._n_cells, 'cell')}.{known}{self._note}"

    def say_search(self, text: str, *, searching: bool = False) -> None:
        """Say what a search has found, as HTML, or that it is at work."""
        self.searched.object = f'<p class="small">{text}</p>' if text else widgets.EMPTY
        label, icon = ("End search", "close") if searching else (SEARCH, "search")
        if self.search.label != label:
            self.search.param.update(label=label, icon=icon)

    def show_rival(self, shown: bool, name: str, rival: str) -> None:
        """Show the places of another method and of the difference, or hide them; they are built once needed."""
        if shown and not self._rivals:
            self._build_rivals()
        for each in self._rivals:
            if each.visible != shown:
                each.visible = shown
        if shown:
            self._rival_head.object = widgets.card_head(rival, "On the same grid.")
            words = f"{name} − {rival}"
            self._difference_head.object = widgets.card_head("Difference", widgets.escape(words))

    def say_maps(self, shown: bool) -> None:
        """Name the button after what it will show."""
        label, icon = ("Show values", "pin") if shown else ("Show maps", "grid_view")
        self.maps.param.update(label=label, icon=icon)

    def say_result(
        self, view: View, place: Callable[[Mapping[str, Any]], str], goes_on: Callable[[str, int], bool]
    ) -> None:
        """Say which cell is best, which parameter matters, and how many cells failed.

        `place`: names a cell; `goes_on`: ``goes_on(name, direction)`` tells whether a parameter has values above (1) or
        below (-1) those of the sweep.
        """
        result, metric = view.result, view.metric
        best = result.best(metric)
        words = []
        if best is not None:
            fits = len(best.outcomes)
            of = f" (mean ± standard deviation of {fits} fits)" if fits > 1 else ""
            words.append(
                f"Best {METRICS[metric]}: <b>{view.score_of(best)}</b>{of} at "
                f"{widgets.symbols(place(best.params))}. This estimate is optimistic because it was also "
                "used to choose the cell."
            )
            words += at_edge(view, goes_on) + _near_best(view)
        if view.importance is not None and view.weighed is not None:
            titles = {name: within_sentence(title) for name, title in zip(result.grid, view.titles)}
            shares = view.importance.sentence(titles)
            some, every = len(view.weighed.cells), view.n_cells
            of = "the variance of all fits" if some == every else f"the variance so far, by {some} of {every} cells"
            shares = shares if shares.endswith(".") else f"{shares} of {of}."
            words.append(widgets.symbols(shares[:1].upper() + shares[1:]))
        failed = [cell for cell in result.cells.values() if cell.errors]
        if failed:
            marked = " (✕ where all fits did)" if len(view.values) < 3 else ""
            words.append(
                f"{_count(len(failed), 'cell')} failed{marked}, for instance: {widgets.escape(failed[0].errors[0])}"
            )
        shared = {cell.shared for cell in result.cells.values() if cell.shared}
        if shared:
            parts = widgets.escape(", ".join(sorted(shared)))
            words.append(f"Cells share parts of their computation ({parts}). This changes no result.")
        if any(cell.warm for cell in result.cells.values()):
            words.append("With warm starts, cells may end in other local optima than with fresh starts.")
        text = "".join(f"<p>{each}</p>" for each in words) or NO_RESULT
        if self.result.object != text:
            self.result.object = text

    def _save_page(self, on_html: Callable[[str], str]) -> None:
        self._save(on_html(str(self.result.object)), "html")

    def _save(self, text: str, ending: str) -> None:
        if text:
            self._bridge.download(f"supdr-sweep.{ending}", text, f"text/{ending};charset=utf-8")
        else:
            widgets.toast("No cell is finished yet.", "info")


def at_edge(view: View, goes_on: Callable[[str, int], bool]) -> list[str]:
    """Say at which ends of the finished grid the best cell lies if its neighbour within the grid is worse."""
    best = view.result.best(view.metric)
    assert best is not None
    if len(view.result.cells) < view.n_cells:
        return []
    ends = []
    place, means = np.unravel_index(best.number, view.result.shape), view.result.means(view.metric)
    for axis, (name, values) in enumerate(view.result.grid.items()):
        if len(values) < 2 or not all(isinstance(value, (int, float)) for value in values):
            continue
        order = np.argsort(np.array(values, dtype=float))
        for end, inner, direction in ((order[0], order[1], -1), (order[-1], order[-2], 1)):
            neighbour = means[(*place[:axis], inner, *place[axis + 1 :])]
            if place[axis] == end and neighbour != best.mean(view.metric) and goes_on(name, direction):
                title = within_sentence(view.titles[axis])
                ends.append(f"{'larger' if direction > 0 else 'smaller'} values of {title}")
    more = " and ".join(ends)
    return [f"The best cell lies at the edge of the grid: {widgets.symbols(more)} may be better."] if ends else []


def _near_best(view: View) -> list[str]:
    """Say how many other cells are about as good as the best; nothing where the scores have no deviation."""
    best = view.result.best(view.metric)
    assert best is not None
    means = np.array([cell.mean(view.metric) for cell in view.result.cells.values()])
    deviation = best.deviation(view.metric)
    if len(means) < 2 or not np.isfinite(deviation):
        return []
    near = int(np.sum(np.abs(means - best.mean(view.metric)) <= deviation)) - 1
    lies = "lies" if near == 1 else "lie"
    return [f"{near:,} of the other {_count(len(means) - 1, 'cell')} {lies} within one standard deviation of the best."]


def _place(card: Any, columns: str, *, shown: bool = True) -> Any:
    """Let a card take columns of the grid, or hide it. Returns the card, which is changed where need be."""
    styles = {**card.styles, "grid-column": columns}
    if card.styles != styles:
        card.styles = styles
    if card.visible != shown:
        card.visible = shown
    return card


def _shelves() -> list[dict[str, Any]]:
    """Return the shelves of the gallery: below each sweep, what it costs."""
    return plain_shelves(SWEEP_PRESETS, lambda preset: _count(preset.settings.n_fits, "fit"))


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _status(phase: Phase, progress: Progress | None, message: str) -> str:
    colour = COLOURS.get(phase, "quiet")
    chip = f'<span class="chip {colour}">{"ready" if phase is Phase.idle else phase}</span>'
    if progress is None:
        return f'<div class="status">{chip}<span class="quiet">{widgets.escape(message)}</span></div>'
    share = 100.0 * progress.done / max(progress.total, 1)
    words = f"<b>{progress.done:,}</b> of {progress.total:,} fits" if progress.total else "preparing"
    left = progress.seconds_left
    if phase is Phase.running:
        words += f" · {duration(left)} left" if left is not None and progress.done < progress.total else ""
        words += " · starting the workers" if not progress.done else ""
    if phase is Phase.waiting:
        words += " · waiting for another sweep on this server"
    if progress.stored:
        words += f" · {progress.stored:,} of them from earlier runs"
    bar = (
        f'<div class="bar" role="progressbar" aria-label="fits" aria-valuemin="0" aria-valuemax="100" '
        f'aria-valuenow="{share:.0f}"><i style="width:{share:.1f}%"></i></div>'
    )
    return f'<div class="status">{chip}<span class="numbers">{words}</span></div>{bar}'
