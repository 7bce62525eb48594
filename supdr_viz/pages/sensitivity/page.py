"""Sensitivity: a method on a grid of its parameters, as charts that fill while it is computed."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pandas as pd
import panel as pn

from supdr.datasets import Dataset
from supdr.engine.parameters import Parameter
from supdr.sensitivity import Result, Sweep, warm_up
from supdr.sensitivity.scoring import GREATER_IS_BETTER, PREDICTIONS
from supdr_viz.controls.data import DataControls, SplitControls
from supdr_viz.controls.method import MethodControls
from supdr_viz.data.rows_on_disk import RowsOnDisk
from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.build import NotAtHand, build_dataset
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings, name_of_own_data, query_of_own_data, to_query
from supdr_viz.pages import begin, link, page_arguments
from supdr_viz.pages.sensitivity.charts import SweepCharts
from supdr_viz.pages.sensitivity.elements import View
from supdr_viz.pages.sensitivity.form import SweepControls
from supdr_viz.pages.sensitivity.layout import SensitivityLayout
from supdr_viz.pages.sensitivity.numbers import in_per_cent, tick_text, value_text
from supdr_viz.pages.sensitivity.prepared import Prepared, digest_of, prepared
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.runner import HalvingRunner, Phase, ShownSweep, SweepRunner, store_path
from supdr_viz.pages.sensitivity.settings import (
    FOR_TASK,
    METRICS,
    SweepSettings,
    build_sweep,
    default_axis,
    goes_on,
    parse_sweep_query,
    rival_of,
    sweep_query,
    usual_axes,
    within_rows,
)
from supdr_viz.pages.sensitivity.snippet import sweep_python
from supdr_viz.pages.service import Service
from supdr_viz.pages.share import ShareMenu
from supdr_viz.pages.warming import KernelWait
from supdr_viz.ui import widgets
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.markup import within_sentence
from supdr_viz.ui.page_thread import follow

# How often the page looks how far its sweep is.
LOOK_MS = 250

# Time from one drawing of new cells to the next, in times that it takes.
PAUSE = 5


def sensitivity() -> Any:
    """Build the page for the visitor of the current session."""
    service = begin()
    arguments = page_arguments()
    if not arguments:
        opening = SWEEP_PRESETS.opening
        return Sensitivity(service, opening.settings, [], preset=opening.name).page
    settings, problems = parse_sweep_query(arguments)
    return Sensitivity(service, settings, problems, preset=SWEEP_PRESETS.name_of(settings)).page


class Sensitivity:
    """Wires one visitor's controls to a runner, and its cells to the charts.

    `service`: of this process; `settings`: from the address; `problems`: what was wrong with the address; `preset`:
    name of the prepared sweep that the settings are, if any.
    """

    def __init__(self, service: Service, settings: SweepSettings, problems: list[str], preset: str = "") -> None:
        self.settings = settings
        self._draw_from = 0.0
        self._next = False
        self._store, unkept = store_path()
        visit = service.visit()
        self.own, self.rival = (ShownSweep(service.sweeps, visit.visitor) for _ in range(2))
        self.halving = HalvingRunner(service.sweeps)
        self.kernels = KernelWait(self._wait_for_kernels)
        self._searching = False
        self._task, self._note = "classification", ""
        self.bridge = Bridge(visit)
        self.charts = SweepCharts(View(narrow=self.bridge.narrow))
        self.data = DataControls(visit, settings.base)
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
            on_cancel=self._cancel,
            on_csv=self._csv,
            on_html=self._html,
            on_maps=self._toggle_maps,
            on_search=self._search,
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
        pn.state.on_session_destroyed(functools.partial(_end, self.own.runner, self.rival.runner, self.halving))

    def _show_theme(self, dark: bool) -> None:
        self.charts.show(dark=dark)

    def _toggle_maps(self) -> None:
        self.charts.show_maps(not self.charts.mapped)
        self.layout.arrange()
        self.layout.say_maps(self.charts.mapped)

    def _show_narrow(self, narrow: bool) -> None:
        self.charts.show(narrow=narrow)

    def _loaded(self) -> None:
        document = pn.state.curdoc
        # Otherwise Bokeh goes through all models of the page once for each chart.
        with document.models.freeze() if document is not None else contextlib.nullcontext():
            self.charts.begin(dark=bool(self.page.dark_theme))
        if document is not None:
            self.kernels.attach(document)
            pn.state.add_periodic_callback(self._look, period=LOOK_MS)
            if "SUPDR_SCHEDULER" not in os.environ:
                warm_up()

    def _is_busy(self) -> bool:
        """Whether cells are computed or not shown yet."""
        waits = self._searching or self._next or self.kernels.waiting or self._rival_waits
        return waits or self.own.busy or self.rival.busy

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
        settings = preset.settings
        base = replace(
            self.settings.base, **fields, method=settings.base.method, method_options=settings.base.method_options
        )
        self._apply(replace(settings, base=base), own=False)
        self.layout.say_preset(preset)

    def _preset_chosen(self, name: str) -> None:
        preset = SWEEP_PRESETS[name]
        settings = preset.settings
        if preset.needs is not None:
            fields = self.data.loaded_fields(preset.needs.rows, preset.needs.columns)
            settings = replace(settings, base=replace(settings.base, **(fields or {})))
        self._apply(settings, own=False)
        self.layout.say_preset(preset)

    def _apply(self, settings: SweepSettings, *, own: bool = True) -> None:
        """Show these settings: an empty grid, the address, and what is wrong with them, if anything."""
        if own and settings != self.settings:
            self.layout.presets.leave()
        self.halving.cancel()
        self.kernels.forget()
        if self.own.runner.active or self.rival.runner.active:
            self._cancel()
            widgets.toast("The sweep was cancelled; its finished cells are kept.", "info")
        self._next, self.settings = False, settings
        for part in (self.data, self.split, self.method):
            part.apply(settings.base)
        self._prepare(settings)
        self.controls.show(self.settings)
        self.bridge.set_query(sweep_query(self.settings))
        self.layout.navigation.carry(query_of_own_data(self.settings.base))
        self.layout.presets.name_own(name_of_own_data(self.settings.base))
        self._lay_out()

    def _prepare(self, settings: SweepSettings) -> None:
        self.own.ready = self.rival.ready = None
        self._note = ""
        self.charts.set_labels(None)
        try:
            dataset, self._note = _in_memory(build_dataset(settings.base, self.data.table))
            settings = within_rows(settings, dataset.n_samples)
            if settings.metric not in FOR_TASK[dataset.task]:
                settings = replace(settings, metric=FOR_TASK[dataset.task][0])
            self.settings = settings
            self._task = dataset.task
            self.controls.set_task(dataset.task)
            self.method.describe(dataset.task)
            self.own.ready = build_sweep(settings, dataset, self._store, maps=True)
            if settings.versus:
                self.rival.ready = build_sweep(rival_of(settings), dataset, self._store)
            self.charts.set_labels(self.own.ready[2], dataset.target_names if dataset.task == "classification" else ())
        except (ValueError, OSError) as error:
            self.own.ready = None
            self.layout.notice.say(str(error), "info" if isinstance(error, NotAtHand) else "warning")
            return
        self.layout.notice.hide()

    def _lay_out(self) -> None:
        settings = self.settings
        grid = settings.grid
        titles = [self._title(name) for name in grid]
        ready = self.own.ready
        self.own.drawn = 0
        brought = self._prepared
        result = Result(grid, [settings.metric]) if brought is None else Result(grid, brought.metrics, brought.cells)
        if brought is not None and ready is None:
            self.charts.set_labels(brought.labels)
        cells = ready[0].cells if ready else {cell.number: cell.params for cell in result.cells.values()}
        with pn.io.hold():
            self.charts.show(
                example=self.layout.presets.name if result.cells else "",
                result=result,
                metric=settings.metric,
                measured=METRICS[settings.metric],
                percent=in_per_cent(settings.metric, self._task),
                titles=titles,
                links={number: self._link(params) for number, params in cells.items()},
                n_cells=len(cells),
                options=settings.base.method_options,
                name=MENU[settings.base.method].label,
                rival=None,
            )
            self._show_rival({})
            self.layout.describe(settings, titles, METRICS[settings.metric], self._note)
        self.layout.set_state(Phase.idle, ready=ready is not None, cells=len(result.cells))
        if result.cells:
            self._say_result()

    def _say_result(self) -> None:
        shape = None if self.own.ready is None else self.own.ready[1].shape
        self.layout.say_result(self.charts.view, self._place, functools.partial(goes_on, self.settings, shape))

    @property
    def _prepared(self) -> Prepared | None:
        """Cells of the sweep on display that come with the package."""
        preset = SWEEP_PRESETS.get(self.layout.presets.name)
        if preset is None or replace(self.settings, base=preset.settings.base) != preset.settings:
            return None
        return prepared(preset.name)

    def _python(self) -> str:
        """Return a program that repeats the sweep."""
        try:
            dataset, _note = _in_memory(build_dataset(self.settings.base, self.data.table))
            return sweep_python(self.settings, dataset)
        except (ValueError, OSError) as error:
            return f"# {error}\n"

    def _title(self, name: str) -> str:
        return self._spec(name).label

    def _spec(self, name: str) -> Parameter:
        return next(spec for spec in MENU[self.settings.base.method].form if spec.name == name)

    def _place(self, params: Mapping[str, Any]) -> str:
        """Say in the page's words, within a sentence, where in the grid a cell is."""
        return ", ".join(f"{within_sentence(self._title(name))} = {tick_text(value)}" for name, value in params.items())

    def _link(self, params: dict[str, Any], settings: SweepSettings | None = None) -> str:
        settings = settings or self.settings
        fits = settings.folds * settings.repeats
        place = quote(self._place(params), safe="")
        return link("explorer", f"{to_query(_shareable(settings.at(params)))}&cell={fits}&place={place}")

    # --- the sweep ----------------------------------------------------------------------------------------------------

    def _cancel(self) -> None:
        if self.kernels.waiting:
            self.kernels.forget()
            self._lay_out()
        self.own.runner.cancel()
        self.rival.runner.cancel()

    @property
    def _rival_waits(self) -> bool:
        """Whether the sweep of the other method is still to begin."""
        finished = self.own.started is not None and self.own.runner.phase is Phase.finished
        return finished and self.rival.ready is not None and self.rival.started is None

    def _show_rival(self, cells: dict[int, Any]) -> None:
        """Show the finished cells of the other method."""
        ready, view = self.rival.ready, self.charts.view
        self.rival.drawn = len(cells)
        self.layout.show_rival(
            ready is not None, view.name, MENU[self.settings.versus or self.settings.base.method].label
        )
        if ready is not None:
            result = ready[0].result(cells.values())
            rival = rival_of(self.settings)
            links = {number: self._link(params, rival) for number, params in ready[0].cells.items()}
            name = MENU[rival.base.method].label
            other = replace(view, result=result, links=links, name=name, role="rival ", options={}, rival=None)
            self.charts.show(rival=replace(other, maps=None, walk=None, example=""))

    def _look_at_rival(self) -> None:
        """Start the sweep of the other method once the first is finished, and draw what is new of it."""
        if self._rival_waits:
            self.rival.start()
        sweep, runner = self.rival.started, self.rival.runner
        if sweep is None:
            return
        phase, active, cells = runner.phase, runner.active, dict(runner.cells)
        if phase is self.rival.phase and not active and len(cells) == self.rival.drawn:
            return
        if self._draws(self.rival, cells):
            with self._drawing():
                self._show_rival(cells)
        self.rival.phase = phase
        self.layout.set_state(phase, ready=True, progress=sweep.progress, message=runner.message)

    def _run(self) -> None:
        """Start, pause or go on, whatever the button says."""
        at_work = self.rival.runner if self.rival.runner.active else self.own.runner
        if at_work.phase in (Phase.running, Phase.waiting):
            at_work.pause()
        elif at_work.phase is Phase.paused:
            at_work.resume()
        elif self.own.runner.phase is Phase.stopping:
            self._next = True
            self.layout.set_state(Phase.stopping, ready=False, message="the cells at work are finished first")
        else:
            self._start()
        self._look()

    def _start(self) -> None:
        self._next = False
        if self.own.ready is not None:
            self._lay_out()
            self._when_compiled(self._begin)

    def _begin(self) -> None:
        """Start the sweep on display."""
        assert self.own.ready is not None
        sweep, X, y = self.own.ready
        brought = self._prepared
        if brought is not None and digest_of(X, y) == brought.digest:
            sweep.finished = brought.cells
        self.own.start()

    def _when_compiled(self, act: Callable[[], None]) -> None:
        """Call ``act()`` once the kernels of the methods are compiled; a cluster's machines compile their own."""
        methods = filter(None, (self.settings.base.method, self.settings.versus))
        if "SUPDR_SCHEDULER" in os.environ or not self.kernels.hold(tuple(methods), act):
            act()

    def _wait_for_kernels(self, progress: str) -> None:
        self.layout.set_state(Phase.waiting, ready=False, message=progress)

    def _search(self) -> None:
        """Start a search by successive halving, or end the one under way."""
        if self.halving.active:
            self.halving.cancel()
        elif self.own.ready is not None:
            self._when_compiled(self._begin_search)

    def _begin_search(self) -> None:
        assert self.own.ready is not None
        self.halving.start(*self.own.ready, self.settings.metric)
        self._searching = True
        self.layout.say_search("Searching …", searching=True)

    def _look_at_search(self) -> None:
        if self.halving.active:
            self.layout.say_search(f"Searching by successive halving: {self.halving.fits} fits.", searching=True)
            return
        self._searching = False
        best = self.halving.found
        text = widgets.escape(self.halving.message) if best is None else self._found(best)
        self.layout.say_search(text)
        self.bridge.announce("search finished" if best is not None else self.halving.message)

    def _found(self, search: Any) -> str:
        """Say what a search has found, as HTML."""
        metric = self.settings.metric
        better = metric in GREATER_IS_BETTER or metric not in PREDICTIONS
        score = search.best_score_ if better else -search.best_score_
        rounds = zip(search.n_candidates_, search.n_resources_)
        tried = ", ".join(f"{cells} cells on {rows} rows" for cells, rows in rounds)
        place = widgets.symbols(self._place({name: search.best_params_[name] for name in self.settings.grid}))
        text = value_text(self.charts.view.factor * score, percent=self.charts.view.percent)
        return f"Successive halving: {METRICS[metric]} <b>{text}</b> at {place}. It tried {tried}."

    def _look(self) -> None:
        """Draw what is new."""
        if self._searching:
            self._look_at_search()
        runner = self.own.runner
        if self._next and not runner.active:
            self._start()
        sweep = self.own.started
        if sweep is None:
            return
        phase = runner.phase  # before the cells: the last ones are drawn before the end is said
        cells = dict(runner.cells)
        new = len(cells) > self.own.drawn
        if self._draws(self.own, cells):
            self._draw(sweep.result(cells.values()))
        if new or phase is not self.own.phase or phase in (Phase.running, Phase.waiting, Phase.stopping):
            self.layout.set_state(phase, ready=True, progress=sweep.progress, message=runner.message)
            self._say_result()
        self._look_at_rival()
        if phase is not self.own.phase:
            self.own.phase = phase
            self.bridge.announce(self._summary(phase, sweep, cells))

    def _draws(self, shown: ShownSweep, cells: dict[int, Any]) -> bool:
        """Whether cells are drawn now; they may wait while others are computed."""
        return len(cells) > shown.drawn and (time.monotonic() >= self._draw_from or not shown.runner.active)

    @contextlib.contextmanager
    def _drawing(self) -> Iterator[None]:
        """Draw within this block; the next cells wait, so that drawing takes a small share of the time."""
        began = time.monotonic()
        with pn.io.hold():
            yield
        self._draw_from = began + PAUSE * (time.monotonic() - began)

    def _draw(self, result: Result) -> None:
        self.own.drawn = len(result.cells)
        with self._drawing():
            self.charts.show(result=result, example="")
            self.layout.arrange()

    def _summary(self, phase: Phase, sweep: Sweep, cells: dict[int, Any]) -> str:
        words = [f"sweep {phase}", f"{len(cells)} of {len(sweep.cells)} cells"]
        best = sweep.result(cells.values()).best(self.settings.metric)
        if best is not None:
            score = self.charts.view.score_of(best)
            words.append(f"best {METRICS[self.settings.metric]} {score} at {self._place(best.params)}")
        message = self.own.runner.message
        return ", ".join([*words, *([message] if message else [])])

    def _csv(self) -> str:
        """Return the finished cells as CSV; where there is another method, with a column that names the method."""
        view, text = self.charts.view, io.StringIO()
        if not view.result.cells:
            return ""
        table = view.result.table()
        if view.rival is not None:
            both = {each.name: each.result.table() for each in (view, view.rival) if each.result.cells}
            table = pd.concat(both, names=["method"]).reset_index(level=0)
        table.to_csv(text, index=False)
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


def _end(runner: SweepRunner, rival: SweepRunner, halving: HalvingRunner, _context: Any) -> None:
    for each in (runner, rival, halving):
        each.cancel()
