"""The compare page: up to four methods on the same rows, split and seed, in step.  Computes nothing itself."""

from __future__ import annotations

import functools
import time
from dataclasses import replace
from typing import Any

import panel as pn

from supdr_viz.controls.method import carried_options
from supdr_viz.controls.sidebar import Controls
from supdr_viz.experiment.build import NotAtHand
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import name_of_own_data, query_of_own_data, to_query
from supdr_viz.pages import begin, link, page_arguments
from supdr_viz.pages.compare import table as scoreboard
from supdr_viz.pages.compare.checks import CHECKS, answers, measurable
from supdr_viz.pages.compare.column import Column, Facts
from supdr_viz.pages.compare.comparison import (
    LETTERS,
    Comparison,
    comparison_from_json,
    comparison_json,
    comparison_query,
    parse_comparison,
    with_method,
)
from supdr_viz.pages.compare.files import csv_of, python_of
from supdr_viz.pages.compare.layout import CompareLayout
from supdr_viz.pages.compare.lockstep import LockStep
from supdr_viz.pages.compare.presets import COMPARISON_PRESETS
from supdr_viz.pages.service import Service
from supdr_viz.pages.share import ShareMenu
from supdr_viz.pages.transport import Transport
from supdr_viz.run.pool import Courtesy
from supdr_viz.run.status import WORDS
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Job, Outcome
from supdr_viz.ui.bridge import Bridge
from supdr_viz.views.stage.components import Hub
from supdr_viz.views.stage.stage import Selection, Stage

# Seconds between two updates of heads and table: they cost more than the points.
REFRESH = 0.2

# Name under which a tab remembers its comparison, for runs that are added to it.
MEMORY = "supdr-comparison"


def compare() -> Any:
    """Build the compare page for the visitor of the current session."""
    service = begin()
    arguments = page_arguments()
    comparison, problems = parse_comparison(arguments) if arguments else (COMPARISON_PRESETS.opening.settings, [])
    return Compare(service, comparison, problems).page


class Compare:
    """Wires one visitor's controls to the columns and their runs.

    `service`: of this process; `comparison`: from the address; `problems`: what was wrong with the address.
    """

    def __init__(self, service: Service, comparison: Comparison, problems: list[str]) -> None:
        self._pool, visit = service.pool, service.visit()
        self._chosen = 0
        self._refreshed_at = 0.0
        self._stood: list[tuple[str, str, int | None]] = []
        self._untold = False
        self._ready = False
        self._jobs: dict[str, Job] = {}
        self._wanted = comparison.checks  # by the address, the file or the example; not begun yet
        self._touch = widgets.on_phone()
        self.comparison = comparison
        self.columns: list[Column] = []
        self._selection = Selection()
        self.bridge = Bridge(visit, memory=MEMORY)
        first = comparison.columns[0]
        self._hub = Hub(Stage(), service.tickets)
        self._hub.stage.put(name="comparison")
        self.lockstep = LockStep(comparison.measure, first.speed)
        self.controls = Controls(visit, first, fresh=False)
        self.controls.on_change(self._changed)
        self.bridge.on_drop(self.controls.data.open_file)
        self.transport = Transport(
            self.lockstep,
            self.bridge,
            self._hub,
            first.speed,
            service.targets,
            on_speed=lambda speed: self.controls.apply(replace(self.controls.settings, speed=speed)),
            on_toggled=functools.partial(self._refresh, force=True),
            on_nothing_left=self._say_nothing_left,
            on_escape=self._deselect,
        )
        self.transport.on_command(self._hasten)
        self.share = self._share_menu()
        self.layout = CompareLayout(
            self._hub,
            self.transport.bar,
            self.bridge,
            self.controls,
            self.share,
            comparison.measure,
            problems,
            on_preset=self._preset_chosen,
            on_measure=self._set_measure,
            on_choose=self._choose,
            on_add=self._add,
            on_remove=self._remove,
            on_check=self._toggle_check,
        )
        self.bridge.unsettled_while(self._is_busy)
        self.page = self.layout.page
        self._fit()
        self._apply()
        self._lay_out()
        pn.state.onload(self._loaded)
        # Bound, not a closure over module names: those are gone when the callback runs.
        pn.state.on_session_destroyed(functools.partial(_end, self.columns))

    def _share_menu(self) -> ShareMenu:
        return ShareMenu(
            self.bridge,
            get_link=lambda: link("compare", comparison_query(self.comparison)),
            get_python=lambda: python_of(self.columns, self.comparison.checks),
            get_json=lambda: comparison_json(self.comparison),
            get_csv=lambda what: csv_of(self.columns, what),
            on_load_json=self._load_json,
            what="comparison",
        )

    # --- the page's life ----------------------------------------------------------------------------------------------

    def _loaded(self) -> None:
        self._ready = True
        if pn.state.curdoc is not None:
            self.transport.kernels.attach(pn.state.curdoc)
            self._begin_checks()

    def _is_busy(self) -> bool:
        return self.transport.kernels.waiting or not all(column.link.settled for column in self.columns)

    # --- columns ------------------------------------------------------------------------------------------------------

    def _fit(self) -> None:
        """Have as many columns as the comparison says."""
        while len(self.columns) < len(self.comparison.columns):
            self.columns.append(
                Column(
                    self._pool,
                    self.lockstep,
                    self._selection,
                    self._news,
                    touch=self._touch,
                    tickets=self.bridge.visit.tickets,
                )
            )
        while len(self.columns) > len(self.comparison.columns):
            self.columns.pop().close()
        for letter, column in zip(LETTERS, self.columns):
            column.pair.stage.put(name=letter)
        self.layout.prepare(self.columns)

    def _lay_out(self) -> None:
        """Show the columns; their frames are pushed once the browser says that it knows them."""
        self.layout.show_columns(self.columns, self._chosen)
        for column in self.columns:
            if pn.state.curdoc is not None and not column.link.attached:
                column.link.attach(column.player, pn.state.curdoc)

    def _become(self, comparison: Comparison, chosen: int) -> None:
        """Show another comparison: the sidebar edits the column at `chosen`."""
        self._chosen = chosen
        self.comparison, self._wanted = comparison, comparison.checks
        self.lockstep.set_measure(comparison.measure)
        self.layout.set_measure(comparison.measure)
        self.controls.apply(comparison.columns[chosen], notify=False)
        self._fit()
        self._apply()
        self._lay_out()

    def _preset_chosen(self, name: str) -> None:
        """Show an example: it starts afresh, also where the runs before could carry on under its settings."""
        self._become(COMPARISON_PRESETS[name].settings, 0)
        self.transport.reset()

    def _choose(self, place: int) -> None:
        if place < len(self.columns) and place != self._chosen:
            self._chosen = place
            self.controls.apply(self.comparison.columns[place], notify=False)
            self._show_address()
            self._refresh(force=True)

    def _add(self, method: str) -> None:
        """Add a column with this method; what the edited column has set stays where the method has the knob."""
        settings = self.comparison.columns[self._chosen]
        options = settings.method_options if method == settings.method else carried_options(settings, method)
        self._become(self.comparison.added(with_method(settings, method, options)), len(self.columns))
        self.bridge.announce(f"Column {LETTERS[self._chosen]} added: {MENU[method].label}")

    def _remove(self) -> None:
        if len(self.columns) == 1:
            return
        place = self._chosen
        # The columns behind keep their runs: the one that leaves is taken out, not the last one.
        self.columns.pop(place).close()
        self._become(self.comparison.removed(place), min(place, len(self.columns) - 1))

    # --- settings → columns -------------------------------------------------------------------------------------------

    def _changed(self, _old: Experiment, new: Experiment) -> None:
        self.comparison = self.comparison.changed(self._chosen, new.settings)
        self._apply()

    def _apply(self) -> None:
        """Give every column its settings; one that cannot take them says so in its card and harms no other."""
        methods = sorted({settings.method for settings in self.comparison.columns})
        if self.transport.kernels.hold(methods, self._apply):
            self.lockstep.pause()
            return
        self.transport.follow()
        self._forget_checks()
        self._show_address()
        first = self.comparison.columns[0]
        self.layout.show_preset(COMPARISON_PRESETS.name_of(self.comparison), name_of_own_data(first))
        self.transport.bar.set_speed(first.speed)
        self.lockstep.set_speed(first.speed)
        running, shown, table = self.lockstep.going, None, self.controls.experiment.table
        for column, settings in zip(self.columns, self.comparison.columns):
            try:
                column.apply(Experiment(settings, table), shown.session if shown else None)
            except NotAtHand as error:
                self._cannot(str(error))
                return
            except (ValueError, OSError):
                continue
            shown = shown or column
        if shown is None:
            self._cannot(self.columns[0].problem)
            return
        self.layout.hide_notice()
        self.transport.bar.set_enabled(True)
        for column in self.columns:
            column.show_scene()
        self._describe(shown)
        if running:
            self.lockstep.run()
        self._refresh(force=True)
        self._begin_checks()

    def _show_address(self) -> None:
        """Bring the address up to date, and the links to other pages: own data go along, with the edited method."""
        self.bridge.set_query(comparison_query(self.comparison))
        self.layout.navigation.carry(query_of_own_data(self.comparison.columns[self._chosen]))

    # --- checks by further fits ---------------------------------------------------------------------------------------

    def _begin_checks(self) -> None:
        """Begin the checks that the address, a file or an example asks for, once page and rows are there."""
        if self._ready and not self.transport.kernels.waiting and not self.layout.notice.shown:
            names, self._wanted = self._wanted, ()
            for name in names:
                self._check(name)

    def _toggle_check(self, name: str) -> None:
        """Put a check to all columns, or stop that."""
        if name not in self._jobs:
            self._check(name)
            return
        self._end_check(name).cancel()
        self._set_checked(name, False)

    def _check(self, name: str) -> None:
        check, table = CHECKS[name], self.controls.experiment.table
        experiments = [Experiment(settings, table) for settings in self.comparison.columns]
        if not measurable(check, experiments):
            needed = "test rows in memory: raise the test share" if check.held_out else "rows in memory"
            widgets.toast(f"{check.titles[self.task]}: this needs {needed}.", "warning")
            return
        job = Job(lambda done, total: self.layout.show_check(name, f"Stop: fit {done + 1} of {total}"))
        self._jobs[name] = job
        self._set_checked(name, True)
        self.layout.show_check(name, "Stop: waiting")
        courtesy = Courtesy(self._pool, lambda: job.cancelled)
        self.bridge.visit.background.run(
            lambda: answers(check, experiments, job, courtesy), functools.partial(self._checked, name, job), long=True
        )

    def _checked(self, name: str, job: Job, outcome: Outcome) -> None:
        if job is not self._jobs.get(name):  # the columns are others by now
            return
        self._end_check(name)
        if outcome.problem:
            self._set_checked(name, False)
            widgets.toast(outcome.problem, "error")
            return
        for column, answer in zip(self.columns, outcome.value, strict=True):
            column.answers[name] = answer
        self._refresh(force=True)

    def _end_check(self, name: str) -> Job:
        job = self._jobs.pop(name)
        self.layout.show_check(name)
        return job

    def _set_checked(self, name: str, on: bool) -> None:
        self.comparison = self.comparison.checked(name, on)
        self._show_address()

    def _forget_checks(self) -> None:
        """Stop the checks and forget their answers: the columns are others."""
        for name in list(self._jobs):
            self._end_check(name).cancel()
        for column in self.columns:
            column.answers = {}
        self.comparison = replace(self.comparison, checks=())

    def _describe(self, column: Column) -> None:
        session = column.session
        assert session.scene is not None
        assert session.split is not None
        assert session.dataset is not None
        self.layout.describe_data(session.scene, (*session.scene.notes, *session.split.notes))
        names = session.dataset.feature_names
        self.controls.describe(names, session.n_components, self.task, self._chosen_number)

    def _chosen_number(self, name: str) -> float | None:
        """Return what the method of the column that the sidebar edits has chosen for a hyper-parameter."""
        return self.columns[self._chosen].session.chosen_number(name)

    def _cannot(self, message: str) -> None:
        """Say why these settings cannot be shown, where the plots would be, and let nothing run."""
        for column in self.columns:
            column.problem = message
            column.session.unload()
        self.transport.refuse(message, waiting=True)
        self.layout.show_notice(message)
        self.bridge.announce(message)
        self._refresh(force=True)

    def _set_measure(self, measure: str) -> None:
        self.comparison = replace(self.comparison, measure=measure)
        self.lockstep.set_measure(measure)
        self._show_address()

    def _load_json(self, text: str) -> list[str]:
        comparison, problems = comparison_from_json(text)
        self._become(comparison, 0)
        return problems

    def _say_nothing_left(self) -> None:
        widgets.toast("All columns have ended: change a setting, add a column, or press Reset.", "info")

    def _deselect(self) -> None:
        self._selection.indices = []

    # --- telling ------------------------------------------------------------------------------------------------------

    @property
    def task(self) -> str:
        """What is learnt: "classification" or "regression"."""
        scenes = [column.session.scene for column in self.columns if column.session.scene is not None]
        return scenes[0].task if scenes else "classification"

    def _hasten(self) -> None:
        """Let the next news not wait for their turn."""
        self._refreshed_at = 0.0

    def _news(self, _column: Column) -> None:
        self._refresh()

    def _refresh(self, *, force: bool = False) -> None:
        """Bring everything but the plots up to date, a few times a second."""
        now = time.monotonic()
        state = [(column.player.status.phase.value, column.problem, column.standing) for column in self.columns]
        changed = state != self._stood
        self._untold |= changed
        if not (force or changed or not self.lockstep.going) and now - self._refreshed_at < REFRESH:
            return
        if any(column.settings is None for column in self.columns):
            return
        self._refreshed_at, self._stood = now, state
        facts = [column.facts() for column in self.columns]
        queries = [to_query(settings) for settings in self.comparison.columns]
        self.layout.refresh(self.columns, facts, queries, self._chosen, self.task)
        if not self.layout.notice.shown:
            self._show_state(facts)

    def _show_state(self, facts: list[Facts]) -> None:
        frames = [column.frame for column in self.columns if column.frame is not None]
        if frames:
            last = max(frame.last_iteration for frame in frames)
            stepping = [each.frame for each in self.columns if each.frame is not None and each.player.iterates]
            shown = max(frame.iteration for frame in stepping or frames)
            rates = [frame.numbers.get("rate", 0.0) for frame in frames]
            rate = max(rates, default=0.0) if self.lockstep.going else 0.0
            # Of runs that go on in step, some are drawn a little later.
            in_step = self.lockstep.going and self.lockstep.measure == "iteration"
            level = in_step or all(frame.iteration == shown for frame in stepping)
            self.transport.bar.show_numbers(shown, {"rate": rate}, all_there=level)
            self.transport.show_range(min(frame.first_iteration for frame in frames), last, shown)
        if self.transport.viewing:
            self.transport.show_viewing(self.transport.bar.scrubber.value)
            return
        phase = self.lockstep.phase
        self.transport.show_state(phase)
        if self._untold and all(column.all_drawn for column in self.columns):
            self._untold = False
            self.bridge.announce(f"{WORDS[phase][0]}: {scoreboard.sentence(facts, self.task)}")


def _end(columns: list[Column], _context: Any) -> None:
    for column in columns:
        column.close()
