"""Sensitivity: a method on a grid of one or two of its parameters, as a heatmap that fills while it is computed."""

from __future__ import annotations

import functools
import io
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import panel as pn

from supdr.datasets import Dataset
from supdr.sensitivity import Result, warm_up
from supdr.sensitivity.axes import cells_of
from supdr_viz.controls.data import DataControls, SplitControls
from supdr_viz.controls.method import MethodControls
from supdr_viz.data.rows_on_disk import RowsOnDisk
from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.build import NotAtHand, build_dataset
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings, to_query
from supdr_viz.pages import begin, link, page_arguments
from supdr_viz.pages.sensitivity.charts import SweepCharts
from supdr_viz.pages.sensitivity.elements import View
from supdr_viz.pages.sensitivity.form import SweepControls
from supdr_viz.pages.sensitivity.layout import SensitivityLayout
from supdr_viz.pages.sensitivity.numbers import tick_text
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.runner import Phase, SweepRunner, store_path
from supdr_viz.pages.sensitivity.settings import (
    FOR_TASK,
    METRICS,
    SweepSettings,
    build_sweep,
    default_axis,
    parse_sweep_query,
    sweep_query,
    usual_axes,
)
from supdr_viz.pages.sensitivity.snippet import sweep_python
from supdr_viz.pages.share import ShareMenu
from supdr_viz.serving.visitor_cookie import current_visitor
from supdr_viz.ui import widgets
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.page_thread import follow

# How often the page looks how far its sweep is.
LOOK_MS = 250

# Time from one drawing of new cells to the next, in times that it takes.
PAUSE = 5


def sensitivity() -> Any:
    """Build the page for the visitor of the current session."""
    begin()
    arguments = page_arguments()
    if not arguments:
        opening = SWEEP_PRESETS.opening
        return Sensitivity(opening.settings, [], preset=opening.name).page
    settings, problems = parse_sweep_query(arguments)
    return Sensitivity(settings, problems, preset=SWEEP_PRESETS.name_of(settings)).page


class Sensitivity:
    """Wires one visitor's controls to a runner, and its cells to the charts.

    `settings`: from the address; `problems`: what was wrong with the address; `preset`: name of the prepared sweep that
    the settings are, if any.
    """

    def __init__(self, settings: SweepSettings, problems: list[str], preset: str = "") -> None:
        self.settings = settings
        self._ready: tuple[Any, Any, Any] | None = None
        self._drawn: set[int] = set()
        self._draw_from = 0.0
        self._phase = Phase.idle
        self._next = False
        self._store, unkept = store_path()
        self.runner = SweepRunner(current_visitor())
        self.bridge = Bridge()
        self.charts = SweepCharts(View(narrow=self.bridge.narrow))
        self.data = DataControls(settings.base)
        self.split = SplitControls(settings.base)
        self.method = MethodControls(settings.base)
        for part in (self.data, self.split, self.method):
            part.on_change(self._base_changed)
        self.data.on_loaded(self._base_loaded)
        self.controls = SweepControls(settings, self._apply)
        self.share = ShareMenu(
            self.bridge,
            get_link=lambda: link("sensitivity", sweep_query(self.settings)),
            get_python=self._python,
            what="sweep",
        )
        self.layout = SensitivityLayout(
            self.charts,
            self.bridge,
            self.share,
            [self.data.view, self.split.view, self.controls.view, self.method.view],
            preset,
            [*problems, *([f"Finished cells are kept while this page is open only: {unkept}"] if unkept else [])],
            on_preset=self._preset_chosen,
            on_run=self._run,
            on_cancel=self.runner.cancel,
            on_csv=self._csv,
            on_html=self._html,
            on_maps=self._toggle_maps,
            file_button=self.data.file_button,
        )
        self.data.show_dialogs_in(self.share.dialogs)
        self.bridge.on_drop(self.data.open_file)
        self.bridge.unsettled_while(self._is_busy)
        self.page = self.layout.page
        follow(self.page, "dark_theme", self._show_theme)
        follow(self.bridge, "narrow", self._show_narrow)
        self._apply(settings)
        self.layout.say_preset(SWEEP_PRESETS.get(preset))
        pn.state.onload(self._loaded)
        # Bound, not a closure over module names: those are gone when the callback runs.
        pn.state.on_session_destroyed(functools.partial(_end, self.runner))

    def _show_theme(self, dark: bool) -> None:
        self.charts.show(dark=dark)

    def _toggle_maps(self) -> None:
        self.charts.show_maps(not self.charts.mapped)
        self.layout.say_maps(self.charts.mapped)

    def _show_narrow(self, narrow: bool) -> None:
        self.charts.show(narrow=narrow)

    def _loaded(self) -> None:
        self.charts.begin(dark=bool(self.page.dark_theme))
        if pn.state.curdoc is not None:
            pn.state.add_periodic_callback(self._look, period=LOOK_MS)
            if "SUPDR_SCHEDULER" not in os.environ:
                warm_up()

    def _is_busy(self) -> bool:
        """Whether cells are computed or not shown yet."""
        runner = self.runner
        if self._next or (runner.active and runner.phase is not Phase.paused):
            return True
        shown = self._ready is not None and runner.sweep is self._ready[0]
        return shown and (runner.phase is not self._phase or len(self._drawn) < len(runner.cells))

    # --- settings -----------------------------------------------------------------------------------------------------

    def _base_changed(self, fields: dict[str, Any]) -> None:
        base = replace(self.settings.base, **fields)
        settings = replace(self.settings, base=base)
        if base.method != self.settings.base.method:
            axes = tuple(default_axis(base.method, name) for name in usual_axes(base.method))
            settings = replace(settings, axes=axes, transductive=False, warm=False)
        self._apply(settings)

    def _base_loaded(self, fields: dict[str, Any]) -> None:
        """Take a table that was loaded; a prepared sweep that waited for it is shown."""
        preset = SWEEP_PRESETS.get(self.layout.presets.name)
        needs = preset.needs if preset is not None else None
        if preset is None or needs is None or self.data.loaded_fields(needs.rows, needs.columns) is None:
            self._base_changed(fields)
            return
        wanted = preset.settings
        base = replace(
            self.settings.base, **fields, method=wanted.base.method, method_options=wanted.base.method_options
        )
        self._apply(replace(wanted, base=base), own=False)
        self.layout.say_preset(preset)

    def _preset_chosen(self, name: str) -> None:
        preset = SWEEP_PRESETS[name]
        settings = preset.settings
        if preset.needs is not None:
            found = self.data.loaded_fields(preset.needs.rows, preset.needs.columns)
            settings = replace(settings, base=replace(settings.base, **(found or {})))
        self._apply(settings, own=False)
        self.layout.say_preset(preset)

    def _apply(self, settings: SweepSettings, *, own: bool = True) -> None:
        """Show these settings: an empty grid, the address, and what is wrong with them, if anything."""
        if own and settings != self.settings:
            self.layout.presets.leave()
        if self.runner.active:
            self.runner.cancel()
            widgets.toast("The sweep was cancelled; its finished cells are kept.", "info")
        self._next, self.settings = False, settings
        for part in (self.data, self.split, self.method):
            part.apply(settings.base)
        self._prepare(settings)
        self.controls.show(self.settings)
        self.bridge.set_query(sweep_query(self.settings))
        self._lay_out()

    def _prepare(self, settings: SweepSettings) -> None:
        self._ready = None
        self.charts.set_labels(None)
        try:
            dataset, note = _in_memory(build_dataset(settings.base, self.data.table))
            if settings.metric not in FOR_TASK[dataset.task]:
                self.settings = settings = replace(settings, metric=FOR_TASK[dataset.task][0])
            self.controls.set_task(dataset.task)
            self.method.describe(dataset.task)
            self._ready = build_sweep(settings, dataset, self._store, maps=True)
            self.charts.set_labels(self._ready[2])
        except (ValueError, OSError) as error:
            self.layout.show_notice(str(error), "info" if isinstance(error, NotAtHand) else "warning")
            return
        if note:
            self.layout.show_notice(note, "info")
        else:
            self.layout.hide_notice()

    def _lay_out(self) -> None:
        settings = self.settings
        grid = settings.grid
        titles = [self._title(name) for name in grid]
        self._drawn = set()
        with pn.io.hold():
            self.charts.show(
                result=Result(grid, [settings.metric]),
                metric=settings.metric,
                measured=METRICS[settings.metric],
                titles=titles,
                links=[self._link(params) for params in cells_of(grid)],
                options=settings.base.method_options,
            )
            self.layout.describe(settings, titles, METRICS[settings.metric])
        self.layout.set_state(Phase.idle, ready=self._ready is not None)

    def _python(self) -> str:
        """Return a program that repeats the sweep."""
        try:
            dataset, _note = _in_memory(build_dataset(self.settings.base, self.data.table))
            return sweep_python(self.settings, dataset)
        except (ValueError, OSError) as error:
            return f"# {error}\n"

    def _title(self, name: str) -> str:
        return next(spec.label for spec in MENU[self.settings.base.method].form if spec.name == name)

    def _place(self, params: Mapping[str, Any]) -> str:
        """Say in the page's words where in the grid a cell is."""
        return ", ".join(f"{self._title(name)} = {tick_text(value)}" for name, value in params.items())

    def _link(self, params: dict[str, Any]) -> str:
        fits = self.settings.folds * self.settings.repeats
        place = quote(self._place(params), safe="")
        return link("explorer", f"{to_query(_shareable(self.settings.at(params)))}&cell={fits}&place={place}")

    # --- the sweep ----------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        """Start, pause or go on, whatever the button says."""
        if self.runner.phase in (Phase.running, Phase.waiting):
            self.runner.pause()
        elif self.runner.phase is Phase.paused:
            self.runner.resume()
        elif self.runner.phase is Phase.stopping:
            self._next = True
            self.layout.set_state(Phase.stopping, ready=False, message="the cells at work are finished first")
        else:
            self._start()
        self._look()

    def _start(self) -> None:
        self._next = False
        if self._ready is not None:
            self._lay_out()
            sweep, X, y = self._ready
            self.runner.start(sweep, X, y, os.environ.get("SUPDR_SCHEDULER"))

    def _look(self) -> None:
        """Draw what is new."""
        runner = self.runner
        if self._next and not runner.active:
            self._start()
        sweep = runner.sweep
        if sweep is None or self._ready is None or sweep is not self._ready[0]:
            return
        phase = runner.phase  # before the cells: the last ones are drawn before the end is said
        cells = dict(runner.cells)
        new = [cell for number, cell in cells.items() if number not in self._drawn]
        if new and (time.monotonic() >= self._draw_from or not runner.active):
            self._draw(sweep.result(cells.values()))
        if new or phase is not self._phase or phase in (Phase.running, Phase.waiting, Phase.stopping):
            self.layout.set_state(phase, ready=True, progress=sweep.progress, message=runner.message)
            self.layout.say_result(self.charts.view, self._place)
        if phase is not self._phase:
            self._phase = phase
            self.bridge.announce(self._summary(phase, cells))

    def _draw(self, result: Result) -> None:
        """Draw finished cells; the next ones wait, so that drawing takes a small share of the time."""
        began = time.monotonic()
        self._drawn.update(result.cells)
        with pn.io.hold():
            self.charts.show(result=result)
        self._draw_from = began + PAUSE * (time.monotonic() - began)

    def _summary(self, phase: Phase, cells: dict[int, Any]) -> str:
        assert self._ready is not None
        sweep = self._ready[0]
        words = [f"sweep {phase}", f"{len(cells)} of {len(sweep.cells)} cells"]
        best = sweep.result(cells.values()).best(self.settings.metric)
        if best is not None:
            mean = best.mean(self.settings.metric)
            words.append(f"best {METRICS[self.settings.metric]} {mean:.4g} at {self._place(best.params)}")
        return ", ".join([*words, *([self.runner.message] if self.runner.message else [])])

    def _csv(self) -> str:
        sweep = self.runner.sweep
        if sweep is None or self._ready is None or sweep is not self._ready[0] or not self.runner.cells:
            return ""
        text = io.StringIO()
        sweep.result(dict(self.runner.cells).values()).table().to_csv(text, index=False)
        return text.getvalue()

    def _html(self, sentences: str) -> str:
        return self.charts.html_page(self.bridge.origin, sentences)


def _shareable(settings: Settings) -> Settings:
    """Return settings as a link holds them: drawn points only where they can be drawn."""
    return settings if SOURCES[settings.data].planar else replace(settings, drawn=())


def _in_memory(dataset: Dataset) -> tuple[Dataset, str]:
    """Return what a sweep fits, and what is to be said of that: of rows on disk it takes the sample."""
    if not isinstance(dataset, RowsOnDisk):
        return dataset, ""
    count, every = f"{dataset.n_samples:,}", f"{dataset.n_all:,}"
    return dataset.sample, f"A sweep fits the sample of {count} rows, not all {every} that are on disk."


def _end(runner: SweepRunner, _context: Any) -> None:
    runner.cancel()
