"""The explorer: one visitor's page.  Assembles controls, session and views; computes nothing itself."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from supdr import warm
from supdr.engine.iterate import Snapshot
from supdr_viz.controls.bundle import Controls
from supdr_viz.controls.share import ShareMenu
from supdr_viz.controls.training import TrainingBar
from supdr_viz.export.work import export_work
from supdr_viz.frames.modes import modes_of
from supdr_viz.frames.types import Frame, Surface
from supdr_viz.kit import widgets
from supdr_viz.kit.bridge import Bridge
from supdr_viz.pages.layout import ExplorerLayout
from supdr_viz.pages.warming import compile_first
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run.link import LiveLink
from supdr_viz.run.pool import shared_pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import WORDS, Phase, Status
from supdr_viz.settings.experiment import Experiment
from supdr_viz.settings.making import NotAtHand
from supdr_viz.settings.menu import MENU
from supdr_viz.settings.sources import SOURCES
from supdr_viz.settings.state import Settings, from_json, parse_query, to_json, to_query
from supdr_viz.views import Board

STATUS_INTERVAL = 0.25
"""Seconds between two updates of the status line: it costs more than the points."""

RANGE_INTERVAL = 0.5
"""Seconds between two updates of the scrubber while a run goes on: it costs more still."""

CURVES_INTERVAL = 0.2
"""Seconds between two updates of the curves while a run goes on: their axes take a browser long to draw."""

PLOTS = {
    "Input space": "input",
    "Latent space": "latent",
    "The method's view": "method",
    "Losses": "losses",
    "Error": "errors",
}
"""What can be saved as a picture: title -> name of the figure."""


def explorer() -> Any:
    """Build the explorer for the visitor of the current session.

    Returns
    -------
    panel_material_ui.Page
    """
    pn.extension("filedropper", notifications=True)
    arguments = pn.state.session_args
    if not arguments:
        opening = PRESETS.opening
        return Explorer(opening.settings, [], preset=opening.name).page
    settings, problems = parse_query(arguments)
    return Explorer(settings, problems).page


class Explorer:
    """Wires one visitor's controls to a session and the session to the views.

    Parameters
    ----------
    settings : Settings
        From the address.
    problems : list of str
        What was wrong with the address; shown once the page is loaded.
    preset : str
        Name of the preset that the settings are, if any.
    """

    def __init__(self, settings: Settings, problems: list[str], preset: str = "") -> None:
        self._problems = problems
        self._drawn: tuple[tuple[float, float, int], ...] = ()
        self._preset = preset
        self._viewing = False
        self._status_at = self._curves_at = self._range_at = 0.0
        self._phase: Phase | None = None
        self._told: Snapshot | None = None
        self._warming = not warm.is_warm()
        self.bridge = self._make_bridge()
        self.board = Board(touch=widgets.on_phone())
        self.link = LiveLink(self._draw)
        self.session = Session(shared_pool(), self.link.notify)
        self.controls = Controls(settings, preset)
        self.controls.on_change(self._changed)
        self.bar = TrainingBar(
            settings.speed,
            on_run=self._toggle,
            on_step=self._step,
            on_reset=self._reset,
            on_live=self._go_live,
            on_speed=self._set_speed,
            on_scrub=self._scrub,
        )
        self.share = ShareMenu(
            self.bridge,
            get_link=self._link,
            get_python=self.session.python,
            get_json=lambda: to_json(self.controls.settings),
            get_csv=self._csv,
            on_load_json=self._load_json,
            get_work=lambda kind: export_work(self.session, kind, dark=self.page.dark_theme),
            on_compare=lambda: self.bridge.add_to_comparison(to_query(self.controls.settings)),
            plots=PLOTS,
        )
        self.layout = self._make_layout()
        self.board.input.on_drawn(self._points_drawn)
        self.board.input.figure.tags = self.link.models
        self.bridge.on_key(self._key)
        self.bridge.param.watch(lambda _event: self.link.start(), "origin")
        self.page = self.layout.page
        self.page.param.watch(lambda event: self.board.set_theme(bool(event.new)), "dark_theme")
        if not self._warming:
            self._apply(self.controls.experiment)
        pn.state.onload(self._loaded)
        # Bound, not a closure over module names: those are gone when the callback runs.
        pn.state.on_session_destroyed(functools.partial(_end, self.session, self.link))

    # --- what other pages with the same views do in their own way --------------------------------------------------

    def _make_bridge(self) -> Bridge:
        return Bridge()

    def _make_layout(self) -> ExplorerLayout:
        return ExplorerLayout(self.board, self.bar, self.bridge, self.controls, self.share, on_option=self._set_option)

    def _link(self) -> str:
        """Link to what is shown, relative to the page's address."""
        return f"?{to_query(self.controls.settings)}"

    def _query(self, settings: Settings) -> str:
        """Query of the page's address."""
        return to_query(settings)

    # --- the page's life ---------------------------------------------------------------------------------------------

    def _loaded(self) -> None:
        self.board.set_theme(self.page.dark_theme)
        for problem in self._problems:
            widgets.toast(problem, "warning", seconds=8)
        document = pn.state.curdoc
        if document is not None:
            self.link.attach(self.session.player, document)
        if self._warming and document is not None:
            self.bar.set_enabled(False)
            compile_first(document, functools.partial(self.bar.set_state, Phase.preparing), self._compiled)

    def _compiled(self) -> None:
        self._warming = False
        self._apply(self.controls.experiment)

    # --- settings → session -----------------------------------------------------------------------------------------

    def _changed(self, old: Experiment, new: Experiment) -> None:
        self.bar.set_speed(new.settings.speed)
        if not new.same_data(old):
            self._drawn = ()
        self._apply(new)
        if self.controls.preset and self.controls.preset != self._preset and self.session.settings is not None:
            self.session.player.reset()  # an example starts afresh, also where it could carry on
            self._show_first_mode(PRESETS[self.controls.preset].mode)
        if self.session.settings is not None or not self.controls.preset:
            self._preset = self.controls.preset  # an example whose data are yet to come has not begun

    def _apply(self, experiment: Experiment) -> None:
        if self._warming:
            return
        settings = experiment.settings
        self._set_viewing(False)
        self.bridge.set_query(self._query(settings))
        try:
            new_scene = self.session.apply(experiment)
        except (ValueError, OSError) as error:
            self._cannot(error)
            return
        assert self.session.scene is not None
        assert self.session.split is not None
        self.layout.hide_notice()
        self.bar.set_enabled(True)
        modes = modes_of(self.session.estimator, self.session.scene.task, images=self.session.scene.images is not None)
        self.board.method.set_method(MENU[settings.method].label, modes)
        if new_scene:
            self.board.points.colour_by = settings.colour_by  # goes with the rows: a message less to upset the browser
            with pn.io.hold():
                self.board.show_scene(self.session.scene)
            notes = (*self.session.scene.notes, *self.session.split.notes)
            self.layout.describe_data(self.session.scene, notes, drawable=SOURCES[settings.data].planar)
        self.board.points.show_colours(settings.colour_by)
        assert self.session.dataset is not None
        dataset = self.session.dataset
        self.controls.describe(dataset.feature_names, self.session.n_components, dataset.task)
        preset = PRESETS.get(self.controls.preset)
        self.session.player.set_slow_start(preset.slow_start if preset is not None else 0)
        self.session.set_display(settings, method_mode=self.board.method.mode or "none")
        self.layout.show_method_modes(self.board.method)
        self.layout.show_colours(self.board.points)
        self.layout.refresh_heads(self.board)

    def _show_first_mode(self, mode: str) -> None:
        """Begin an example with the picture that it is about."""
        if mode and mode != self.board.method.mode:
            self._set_option("method_mode", mode)
            self.layout.show_method_modes(self.board.method)

    def _cannot(self, error: Exception) -> None:
        """Say why these settings cannot be shown, where the plots would be, and let nothing run."""
        self.bar.set_enabled(False)
        kind = "info" if isinstance(error, NotAtHand) else "warning"
        self.layout.show_notice(str(error), kind, stale=True)
        self.bar.set_state(Phase.empty if kind == "info" else Phase.failed, str(error))
        self.bridge.announce(str(error))

    def _load_json(self, text: str) -> list[str]:
        settings, problems = from_json(text)
        self.controls.apply(settings)
        return problems

    def _csv(self, what: str) -> str:
        if self.session.player.newest is None:
            return ""
        return self.session.embedding_csv() if what == "embedding" else self.session.curves_csv()

    # --- the run -----------------------------------------------------------------------------------------------------

    def _toggle(self) -> None:
        if self.session.player.going:
            self.session.player.pause()
        else:
            self._set_viewing(False)
            self.session.player.run()

    def _step(self) -> None:
        self._set_viewing(False)
        self.session.player.step()

    def _reset(self) -> None:
        self._set_viewing(False)
        settings = self.controls.settings
        if self._drawn:
            drawn, self._drawn = self._drawn, ()
            self.controls.apply(replace(settings, drawn=(*settings.drawn, *drawn)))
        elif self.session.settings is not None:
            self.session.player.reset()

    def _set_speed(self, speed: str) -> None:
        self.controls.apply(replace(self.controls.settings, speed=speed))

    def _scrub(self, iteration: int) -> None:
        newest = self.session.player.newest
        if newest is None:
            return
        self._set_viewing(iteration < newest.iteration)
        self.session.player.show(iteration if self._viewing else None)

    def _go_live(self) -> None:
        self._set_viewing(False)
        self.session.player.show(None)

    def _set_viewing(self, viewing: bool) -> None:
        self._viewing = viewing
        self._status_at = self._range_at = 0.0
        self.bar.set_following(not viewing)

    def _key(self, key: str) -> None:
        actions: dict[str, Callable[[], None]] = {
            "space": self._toggle,
            "right": self._step,
            "r": self._reset,
            "escape": self._escape,
        }
        if self.session.settings is not None or key == "escape":
            actions[key]()

    def _escape(self) -> None:
        if not self.layout.shrink():
            self.board.points.selection.indices = []

    def _set_option(self, name: str, value: Any) -> None:
        """Act on a switch in a card: which mode of the method's view, whether to draw the pull of the labels."""
        if name == "method_mode":
            self.board.method.set_mode(value)
            self.session.set_display(self.controls.settings, method_mode=value)
        elif name == "pull":
            self.board.latent.show_pulled(value)
            self.session.set_display(self.controls.settings, pull=value)
        elif name == "colour_by":
            self.controls.apply(replace(self.controls.settings, colour_by=value))
        elif name == "draw_class":
            self.board.input.drawing.code = value
        self.layout.refresh_heads(self.board)

    def _points_drawn(self, positions: NDArray, codes: NDArray) -> None:
        self._drawn = tuple(
            (float(x), float(y), int(code)) for (x, y), code in zip(np.round(positions, 4), codes, strict=True)
        )
        count = len(self._drawn)
        self.layout.say_drawn(f"{count} drawn {'point' if count == 1 else 'points'}: Reset trains with them")

    # --- drawing -----------------------------------------------------------------------------------------------------

    def _draw(self, frame: Frame | None, surface: Surface | None, status: Status) -> None:
        if surface is not None:
            self.board.show_surface(surface)
        if frame is not None:
            now = time.monotonic()
            curves = status.phase is not Phase.running or now - self._curves_at >= CURVES_INTERVAL
            if curves:
                self._curves_at = now
            self.board.show_frame(frame, curves=curves)
            if now - self._status_at >= STATUS_INTERVAL or status.phase is not Phase.running:
                self._status_at = now
                self._show_numbers(frame)
        if status.phase is not self._phase or status.message:
            self._show_status(status)
        elif status.phase is Phase.paused and self.session.player.newest is not self._told:
            self._tell(status)

    def _show_numbers(self, frame: Frame) -> None:
        settings, scene = self.controls.settings, self.session.scene
        names = {name: f"{name}_error" for name in ("train", "unlabelled", "test")}
        numbers = {names.get(key, key): value for key, value in frame.numbers.items()}
        task = scene.task if scene is not None else "classification"
        self.bar.show_numbers(frame.iteration, numbers, seed=settings.seed, task=task)
        now = time.monotonic()
        if frame.live or not self._viewing:
            running = self.session.player.status.phase is Phase.running
            if not running or now - self._range_at >= RANGE_INTERVAL:
                self._range_at = now
                self.bar.set_range(frame.first_iteration, frame.last_iteration, frame.iteration)
        else:
            self.bar.set_range(frame.first_iteration, frame.last_iteration, self.bar.scrubber.value)
            self.bar.set_viewing(frame.iteration, running=self.session.player.going)
            self._phase = None
        self.layout.refresh_heads(self.board)

    def _show_status(self, status: Status) -> None:
        if self.session.settings is None or (
            self._viewing and status.phase in (Phase.running, Phase.paused, Phase.finished)
        ):
            return
        self._phase = status.phase
        detail = status.message if status.phase is Phase.failed else ""  # what diverged has numbers to show
        if status.phase is Phase.preparing:
            detail = "Preparing the data"
        self.bar.set_state(status.phase, detail, running=self.session.player.going)
        if status.phase is Phase.failed:
            self.layout.show_notice(f"The run failed: {status.message}", "error")
        elif status.phase is Phase.diverged:
            self.layout.show_notice(status.message, "warning")
        else:
            self.layout.hide_notice()
        self._tell(status)

    def _tell(self, status: Status) -> None:
        """Say how the run stands to those who cannot see the plots: when its state changes, and after single steps."""
        self._told = self.session.player.newest
        self.bridge.announce(self._summary(status))

    def _summary(self, status: Status) -> str:
        settings, newest, scene = self.controls.settings, self.session.player.newest, self.session.scene
        words = [WORDS[status.phase][0]]
        if newest is not None and scene is not None:
            words.append(f"{MENU[settings.method].label} on {scene.title}, iteration {newest.iteration}")
            words.append(f"objective {newest.objective:.4g}")
            errors = self.session.player.curves()[1]
            for name in ("train", "unlabelled", "test"):
                if name in errors.values and len(errors.iteration):
                    value = f"{errors.values[name][-1]:.3g}"
                    words.append(f"{name} error {value} %" if scene.task == "classification" else f"{name} MSE {value}")
        if status.message:
            words.append(status.message)
        return ", ".join(words)


def _end(session: Session, link: LiveLink, _context: Any) -> None:
    link.detach()
    session.close()
