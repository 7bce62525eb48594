"""The explorer: one visitor's page.  Assembles controls, session and views; computes nothing itself."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import panel as pn

from supdr.datasets import Dataset
from supdr_viz.controls.sidebar import Controls
from supdr_viz.data.number_format import per_cent
from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.build import NotAtHand
from supdr_viz.experiment.codec import arguments_entries, link_entries
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.reader import Reader
from supdr_viz.experiment.settings import Settings, from_json, parse_entries, query_of_own_data, to_json, to_query
from supdr_viz.export.progress import Progress
from supdr_viz.export.work import export_work
from supdr_viz.pages import begin, has_still, link, page_arguments
from supdr_viz.pages.class_link import ClassLink
from supdr_viz.pages.explorer.belief import Belief
from supdr_viz.pages.explorer.drawn_points import DrawnPoints
from supdr_viz.pages.explorer.finder import Finder
from supdr_viz.pages.explorer.layout import ExplorerLayout
from supdr_viz.pages.explorer.plot_download import PLOTS, save_plot
from supdr_viz.pages.explorer.presenter import Presenter
from supdr_viz.pages.explorer.rows import SelectedRows
from supdr_viz.pages.explorer.slow_run_notice import SlowRunNotice
from supdr_viz.pages.explorer.status_reporter import StatusReporter
from supdr_viz.pages.explorer.teaching import Teaching
from supdr_viz.pages.frame_pusher import FramePusher
from supdr_viz.pages.service import Service
from supdr_viz.pages.share import ShareMenu
from supdr_viz.pages.transport import Transport
from supdr_viz.pictures.methods import modes_of
from supdr_viz.pictures.types import Frame, Surface
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run.session import Session
from supdr_viz.run.status import Status
from supdr_viz.ui import widgets
from supdr_viz.ui.bridge import KEYS, PRESENT_KEYS, Bridge
from supdr_viz.ui.page_thread import follow
from supdr_viz.ui.theme import template
from supdr_viz.views.board import Board
from supdr_viz.views.plane import points_legend

# Steps that a run takes by itself, at most, when its page is opened.
FURTHEST = 100_000

# Letters of what a link says of the place of a cell in its sweep.
MOST_PLACE = 200

# What is said of a link whose colours or sizes mean what only further fits can tell.
SPREAD_LATER = "Rows show their spread after Fit again, under How reliable is this map? Until then they show labels."


def explorer() -> Any:
    """Build the explorer for the visitor of the current session."""
    service = begin()
    arguments = page_arguments()
    still = has_still(arguments)
    iteration, fits = (_whole_number(arguments.pop(name, [])) for name in ("iteration", "cell"))
    place = arguments_entries({"place": arguments.pop("place", [b""])})["place"][:MOST_PLACE] if fits else ""
    presents = bool(arguments.pop("present", []))
    if not set(arguments) - {"example"}:
        reader = Reader(arguments_entries(arguments))
        name = reader.one_of("example", PRESETS, "example", PRESETS.opening.name)
        options: dict[str, Any] = {"template": template(with_still=True)} if still else {}
        opened = PRESETS[name].settings
        return Explorer(service, opened, reader.problems, preset=name, presents=presents, **options).page
    settings, problems = _changed_example(arguments_entries(arguments))
    if "spread" in (settings.colour_by, settings.size_by):
        problems.append(SPREAD_LATER)
    preset = "" if settings.data == "file" else PRESETS.name_of(settings)  # a file may be any
    return Explorer(
        service, settings, problems, preset=preset, iteration=iteration, fits=fits, place=place, presents=presents
    ).page


def _changed_example(entries: dict[str, str]) -> tuple[Settings, list[str]]:
    """Read the entries of a link; what it leaves out are the settings of the example that it names, if any.

    With another data set or method those of the example have no options.
    """
    problems: list[str] = []
    if "example" in entries:
        reader = Reader({"example": entries["example"]})
        name, problems = reader.one_of("example", PRESETS, "example", PRESETS.opening.name), reader.problems
        own = link_entries(to_query(PRESETS[name].settings))
        other = tuple(f"{kind}." for kind in ("data", "method") if entries.get(kind, own.get(kind)) != own.get(kind))
        kept = {key: text for key, text in own.items() if not key.startswith(other)}
        entries = {**kept, **{key: text for key, text in entries.items() if key != "example"}}
    settings, others = parse_entries(entries)
    return settings, [*problems, *others]


def _whole_number(values: Sequence[bytes]) -> int:
    """Read where a run is to begin by itself; anything but a number of steps is none."""
    text = values[-1] if values else b""
    return min(int(text), FURTHEST) if text.isdigit() and len(text) < 10 else 0


def _link_to(settings: Settings) -> str:
    return link("explorer", to_query(settings))


def _short_link(settings: Settings) -> str:
    """Return a link to an example by its name, empty if the settings are those of none."""
    name = "" if settings.data == "file" else PRESETS.name_of(settings)
    return link("explorer", f"example={name}") if name else ""


class Explorer:
    """Wires one visitor's controls to a session and the session to the views.

    Other pages lead a visitor through the same views: they say what differs.

    service: of this process.
    settings: from the address.
    problems: what was wrong with the address.
    preset: name of the preset that the settings are, if any.
    iteration: run up to there as soon as the page is loaded.
    fits: over how many the cell of a sweep is a mean that is opened here as one run, which then begins at once; 0:
        none.
    place: where in its sweep that cell is, in words.
    presents: present examples as soon as the page is loaded; None: this page does not present.
    keys: of the browser that are reported.
    query_of: ``query_of(settings)``: the query of the page's address.
    link_to: ``link_to(settings)``: a link to what is shown, relative to the page's address.
    on_key: ``on_key(name)`` for the other keys.
    on_compiled: called once the kernels are compiled and the run is prepared, where that was not so from the beginning.
    **layout: of `ExplorerLayout`.
    """

    def __init__(
        self,
        service: Service,
        settings: Settings,
        problems: list[str],
        preset: str = "",
        *,
        iteration: int = 0,
        fits: int = 0,
        place: str = "",
        presents: bool | None = None,
        keys: Sequence[str] = (*KEYS, *PRESENT_KEYS),
        query_of: Callable[[Settings], str] = to_query,
        link_to: Callable[[Settings], str] = _link_to,
        on_key: Callable[[str], Any] | None = None,
        on_compiled: Callable[[], Any] | None = None,
        **layout: Any,
    ) -> None:
        self._begins_at, self._fits, self._place = iteration, fits, place
        self._opens = True  # what the address asks to run has not begun
        self._preset = ""  # the example that has begun
        self._query_of, self._on_compiled = query_of, on_compiled
        self._counted = False  # whether the latent coordinates on offer are those of this run's rows
        self._link_to = link_to
        visit = service.visit()
        self.bridge = Bridge(visit, keys=list(keys))
        self.board = Board(visit.tickets, touch=widgets.on_phone())
        self.link = FramePusher(self.board.stage, self._draw, self.board.points.prepare)
        self.session = Session(service.pool, self.link.notify)
        self.controls = Controls(visit, settings, preset)
        self.controls.on_change(self._changed)
        self.controls.on_exchange(self._exchanged)
        self.bridge.on_drop(self.controls.data.open_file)
        self.transport = self._make_transport(settings.speed, service.targets, on_key)
        self.class_link = ClassLink(self.bridge, self.board.stage, on_open=self._surround)
        self.presenter = Presenter(self.controls, self.bridge, self.class_link, self._show_address)
        self._presents = presents
        self.share = self._share_menu()
        self.teaching = Teaching(self.session, self.controls, self.board, visit.background.run, self.bridge.announce)
        self.finder = Finder(self.session, self.board, visit.background.run, self.bridge.announce)
        self.rows = SelectedRows(
            self.session,
            self.board,
            self.bridge,
            self.finder,
            self.teaching,
            lambda: self.set_option("colour_by", "trust"),
        )
        self.belief = Belief(
            self.session,
            self.board,
            service.pool,
            visit.background,
            self.show_meaning,
            self._show_colours,
            below=self.rows.fold,
        )
        self.layout = self._make_layout(problems, layout)
        self.page = self.layout.page
        self.presenter.show_on(self.layout.cards, self.transport.bar.run, self.finder.legend)
        self.teaching.bar.on_shown(self.layout.leave_room)
        self.slow_run_notice = SlowRunNotice(self.session, self.layout.notice, on_fewer=self._train_on_fewer)
        self.drawn_points = DrawnPoints(self.session, self.controls, self.board, self.layout.say_drawn)
        self.reporter = StatusReporter(self.session, self.transport, self.layout, self.bridge, self.slow_run_notice)
        self.transport.on_command(self.reporter.hasten)
        self._begin(self.controls.experiment)

    def _make_layout(self, problems: list[str], options: dict[str, Any]) -> ExplorerLayout:
        return ExplorerLayout(
            self.board,
            self.transport.bar,
            self.bridge,
            self.controls,
            self.share,
            self.finder,
            on_option=self.set_option,
            problems=problems,
            below=[self.rows.fold.view],
            **{"text": self.controls.presets.parts, "over": [self.teaching.bar.view], **options},
        )

    def _make_transport(self, speed: str, targets: Any, on_key: Callable[[str], Any] | None) -> Transport:
        return Transport(
            self.session.player,
            self.bridge,
            self.board.hub,
            speed,
            targets,
            on_speed=self._set_speed,
            on_escape=self._escape,
            on_key=on_key,
            take_key=lambda name: self.presenter.take_key(name),
        )

    def _share_menu(self) -> ShareMenu:
        return ShareMenu(
            self.bridge,
            class_link=self.class_link,
            get_link=lambda: self._link_to(self.controls.settings),
            get_python=self.session.python,
            get_json=lambda: to_json(self.controls.settings),
            get_csv=self._csv,
            on_load_json=self._load_json,
            get_work=self._work,
            on_compare=self._compare,
            on_present=None if self._presents is None else self.presenter.start,
            get_short=lambda: _short_link(self.controls.settings),
            plots=PLOTS,
            save_plot=functools.partial(save_plot, self.board, self.session),
        )

    # --- the page's life ---------------------------------------------------------------------------------------------

    def _begin(self, experiment: Experiment) -> None:
        """Show the experiment of the address, and be told of what happens to the page."""
        self.bridge.unsettled_while(self._is_busy)
        if pn.state.curdoc is not None:
            self.link.attach(self.session.player, pn.state.curdoc)
        self._apply(experiment)
        self._begin_example()
        follow(self.bridge, "lost_at", self._run_to)
        pn.state.onload(self._loaded)
        # Bound, not a closure over module names: those are gone when the callback runs.
        pn.state.on_session_destroyed(functools.partial(_end, self.session, self.link, self.class_link))

    def _is_busy(self) -> bool:
        return self.transport.kernels.waiting or not self.link.settled

    def _loaded(self) -> None:
        document = pn.state.curdoc
        if document is not None:
            self.slow_run_notice.attach(document)
            self.transport.kernels.attach(document)
            self._run_from_address()
            if self._presents:
                self.presenter.start()

    def _show_address(self) -> None:
        self.bridge.set_query(self.presenter.query or self._query_of(self.controls.settings))
        self.layout.navigation.carry(query_of_own_data(self.controls.settings))

    def _compiled(self) -> None:
        self._apply(self.controls.experiment)
        self._begin_example()
        self._run_from_address()
        if self._on_compiled is not None:
            self._on_compiled()

    def _run_from_address(self) -> None:
        """Run as the address says, once, as soon as the method can run."""
        if self._opens and not self.transport.kernels.waiting:
            self._opens = False
            self._run_to(self.bridge.lost_at or self._begins_at)
            self._run_cell()

    def _run_to(self, iteration: int) -> None:
        """Take the steps to where the address begins, or what was seen when the server went away, and pause there."""
        able = iteration and not self.transport.kernels.waiting and self.session.settings is not None
        if able and self.transport.may_train():
            self.session.player.run(until=iteration, hurry_to=iteration)

    def _run_cell(self) -> None:
        """Run the cell of a sweep that was clicked, and say how its one split differs from the cell."""
        settings = self.session.settings
        if not self._fits or self.transport.kernels.waiting or settings is None:
            return
        mean = f" The cell is the mean of {self._fits} such fits, so its error is another." if self._fits > 1 else ""
        text = f"One split: {per_cent(settings.test_share)} of the rows are held out, by seed {settings.seed}."
        where = f"A cell of a sweep{f', {self._place}' if self._place else ''}. "
        self.layout.exchange.say(where + text + mean, "info")
        self._fits = 0
        self.session.player.run()

    def _surround(self) -> None:
        """Tell those who follow what stands around the views."""
        if self.class_link.followers is None or self.session.scene is None or self.session.settings is None:
            return
        settings = self.session.settings
        self.board.stage.put(
            "followed",
            title=f"{MENU[settings.method].label} on {self.session.scene.title}",
            classes=self._legend(),
            take=link("explorer", to_query(settings)),
            iteration=self.session.player.iteration,
        )

    def _legend(self) -> str:
        points = self.board.points
        entries = [] if points.scene is None else [*points_legend(points), *self.board.latent.legend]
        return f'<div class="keys">{widgets.legend(entries)}</div>'

    # --- settings → session -----------------------------------------------------------------------------------------

    def _changed(self, old: Experiment, new: Experiment) -> None:
        self.transport.bar.set_speed(new.settings.speed)
        self.layout.exchange.hide()
        self._apply(new)
        self._begin_example()

    def _exchanged(self, why: str, before: Experiment) -> None:
        """Say that another method was chosen, and offer the way back."""
        settings = before.settings
        back = f"Back to {MENU[settings.method].label} on {SOURCES[settings.data].label}"
        self.layout.exchange.say(why, "info", offer=(back, lambda: self.controls.apply(settings)))

    def _begin_example(self) -> None:
        """Start an example afresh, also where it could carry on, and show what it is about."""
        name = self.controls.preset
        if name and name != self._preset and self.session.settings is not None:
            self.session.player.reset()
            first = next((mode.name for mode in self.board.method.modes or ()), "")
            self.show_mode(PRESETS[name].mode or first)
        if self.session.settings is not None or not name:
            self._preset = name  # an example whose data are yet to come has not begun

    def _apply(self, experiment: Experiment) -> None:
        settings = experiment.settings
        if self.transport.kernels.hold([settings.method], self._compiled):
            self.session.player.pause()
            return
        self.transport.follow()
        self._show_address()
        before, modes_before = self.session.settings, self.board.method.modes
        try:
            new_scene = self.session.apply(experiment)
        except (ValueError, OSError) as error:
            self.belief.refresh()
            waits = isinstance(error, NotAtHand)
            offer = ("Open a file …", self.controls.data.open_file) if waits and settings.data == "file" else None
            self.reporter.refuse(str(error), waiting=waits, offer=offer)
            return
        assert self.session.scene is not None
        assert self.session.split is not None
        self.belief.refresh()
        preset = PRESETS.get(self.controls.preset)
        self.session.player.set_slow_start(preset.slow_start if preset is not None else 0)
        modes = modes_of(self.session.estimator, self.session.scene.task, images=self.session.scene.images is not None)
        self.layout.notice.hide()
        self.transport.bar.set_enabled(True)
        if modes == modes_before and before is not None and settings.only_steers(before):
            self._surround()
            return  # nothing else is new: the next frame must not wait
        self.board.method.set_method(MENU[settings.method].label, modes)
        self.board.errors.note = MENU[settings.method].errors
        if new_scene:
            points = self.board.points  # goes with the rows: a message less to upset the browser
            points.spread = None  # it was of other rows
            meanings = self._meanings(settings)
            points.colour_by, points.size_by = meanings["colour_by"], meanings["size_by"]
            self.board.show_scene(self.session.scene)
            self.drawn_points.show(settings)
        elif self.board.points.scene is not self.session.scene:
            self.board.points.show_labels(self.session.scene)
        notes = (*self.session.scene.notes, *self.session.split.notes)
        self.layout.describe_data(self.session.scene, notes, drawable=SOURCES[settings.data].planar)
        self.board.show_colours(**self._meanings(settings))
        assert self.session.dataset is not None
        dataset = self.session.dataset
        self._describe(dataset)
        self._counted = False
        mode = self.board.method.mode or "none"
        self.session.set_display(settings, method_mode=mode, **self._meanings(settings))
        self.layout.show_method_modes(self.board.method)
        self.layout.show_transform(settings.latent_shown == "transform")
        self.show_meaning()
        self.belief.settle()
        self.teaching.refresh()
        self.rows.refresh()
        self._surround()

    def _describe(self, dataset: Dataset) -> None:
        session = self.session
        self.controls.describe(dataset.feature_names, session.n_components, dataset.task, session.chosen_number)

    def _set_speed(self, speed: str) -> None:
        self.controls.apply(replace(self.controls.settings, speed=speed))

    def _train_on_fewer(self, test_share: float) -> None:
        self.controls.change({"test_share": test_share})

    def _compare(self) -> None:
        self.bridge.add_to_comparison(link("compare"), to_query(self.controls.settings))

    def _work(self, kind: str) -> Callable[[Progress], bytes] | None:
        """Return a function that makes a file of the run, in the colours of the page."""
        return export_work(self.session, kind, dark=self.page.dark_theme, spread=self.board.points.spread)

    def _load_json(self, text: str) -> list[str]:
        settings, problems = from_json(text)
        self.controls.apply(settings)
        return problems

    def _csv(self, what: str) -> str:
        if self.session.player.newest is None:
            return ""
        session = self.session
        return {"embedding": session.embedding_csv, "losses": session.curves_csv, "labels": session.labels_csv}[what]()

    # --- what the user does to the run and to the views --------------------------------------------------------------

    def _escape(self) -> None:
        if not self.layout.shrink():
            self.teaching.done()

    def set_option(self, name: str, value: Any) -> None:
        """Act on a switch in a card.

        `name` (one of "method_mode", "pull", "transform", "morph", "images", "colour_by", "size_by", "draw_class"):
        which picture of the method, whether to draw the pull of the labels, whether training rows stand where they
        would as new ones, whether the latent square shows the rows in the input space, or as pictures, what colours and
        sizes mean, the class to draw.
        """
        if name == "method_mode":
            self.board.method.set_mode(value)
            self.session.set_display(self.controls.settings, method_mode=value)
        elif name == "pull":
            self.board.latent.show_pulled(value)
            self.session.set_display(self.controls.settings, pull=value)
        elif name == "transform":
            shown = "transform" if value else "embedding"
            self.controls.apply(replace(self.controls.settings, latent_shown=shown))
        elif name == "morph":
            self.board.morph(value)
        elif name == "images":
            self.board.show_images(value)
        elif name in ("colour_by", "size_by"):
            self.controls.apply(replace(self.controls.settings, **{name: value}))
        elif name == "draw_class":
            self.board.input.draw_code = value
        self.layout.refresh_heads(self.board)

    def show_meaning(self) -> None:
        """Say what colours and lines mean by now."""
        self.layout.show_colours(self.board.points, self.session.n_components)
        self.layout.refresh_heads(self.board)

    def _meanings(self, settings: Settings) -> dict[str, str]:
        """Return what colours and sizes mean now: by themselves instead of a spread that is not known yet."""
        colour_by, size_by = settings.colour_by, settings.size_by
        if self.board.points.spread is None:
            colour_by = Settings.colour_by if colour_by == "spread" else colour_by
            size_by = Settings.size_by if size_by == "spread" else size_by
        return {"colour_by": colour_by, "size_by": size_by}

    def _show_colours(self, colour_by: str | None = None) -> None:
        """Let colours mean this from now on; None: what the settings say, as far as it is known by now."""
        settings = self.session.settings
        if colour_by is not None:
            self.set_option("colour_by", colour_by)
        elif settings is not None:
            meanings = self._meanings(settings)
            self.board.show_colours(**meanings)
            self.session.set_display(settings, **meanings)
            self.show_meaning()

    def show_mode(self, mode: str) -> None:
        """Show one of the method's pictures, if it has it."""
        view = self.board.method
        if mode != view.mode and mode in [each.name for each in view.modes or ()]:
            self.set_option("method_mode", mode)
            self.layout.show_method_modes(view)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def _draw(self, frame: Frame | None, surface: Surface | None, status: Status) -> None:
        if surface is not None:
            self.board.show_surface(surface)
            self.layout.show_legend(self.board.points)
        if frame is not None:
            self.board.show_frame(frame)
            self.board.stage.put(iteration=frame.iteration)
            self.belief.show_frame(frame, status)
            self.rows.show_frame(frame, status)
            if not self._counted and self.session.dataset is not None:
                self._describe(self.session.dataset)  # rows are embedded: the method has chosen how far
                self.layout.show_colours(self.board.points, self.session.n_components)
                self._counted = True
            if self.reporter.show_numbers(frame, status):
                self.layout.refresh_heads(self.board)
            if self.class_link.followers is not None:
                self.board.stage.put("followed", iteration=frame.iteration, classes=self._legend())
        self.reporter.show_status(status)


def _end(session: Session, link: FramePusher, class_link: ClassLink, _context: Any) -> None:
    class_link.close()
    link.detach()
    session.close()
