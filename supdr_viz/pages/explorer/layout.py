"""Where everything stands on the explorer's page: header, sidebar, toolbar, cards, notices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import panel as pn

from supdr_viz.controls.sidebar import Controls
from supdr_viz.data.number_format import rows_text
from supdr_viz.pages import Navigation
from supdr_viz.pages.cards import Cards
from supdr_viz.pages.explorer.finder import Finder
from supdr_viz.pages.share import ShareMenu
from supdr_viz.pages.styles import CLASSES_CSS, CLEAR, DIM, FREE, HIDDEN_CSS, STEADY_CSS
from supdr_viz.pages.training_bar import TrainingBar
from supdr_viz.pictures.row_colours import meaning_text, value_choices
from supdr_viz.pictures.types import Scene
from supdr_viz.ui import widgets
from supdr_viz.ui.bar import Bar, Menu, Switches, Toggle, style
from supdr_viz.ui.binding import Bound, BoundChoice
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.lazy import Choice
from supdr_viz.ui.markup import FLOW_CSS
from supdr_viz.ui.notice import Notice, remarks
from supdr_viz.ui.page_thread import follow
from supdr_viz.views.board import Board
from supdr_viz.views.colours import colour_choices
from supdr_viz.views.plane import points_legend
from supdr_viz.views.points import Points, shows_pictures

# Pixels at the end of the page that the bar over it may cover.
BAR_HEIGHT = 64

# Of the labels of the method's modes that have room beside its title as buttons; longer ones are offered in a menu.
MAX_LETTERS = 15

TITLE = "supdr explorer: see supervised dimensionality reduction learn"

# A browser keeps what is no longer said of an element: both name the same properties.
AT_EDGE = {"margin-left": "-8px", "width": "calc(100% + 16px)", "max-width": "none", "--ground": "var(--supdr-page)"}
INSIDE = {"margin-left": "0", "width": "auto", "max-width": "100%", "--ground": "var(--supdr-card)"}

# Buttons and status, then scrubber, legend, menus and search where there is room; of a phone the scrubber stands beside
# the buttons, and what is less in use below the cards.
RUN_ROW = """
.run-status { flex: 1 1 max(240px, 100% - 480px); width: auto; min-width: 0; }
.run-line { flex: 1 1 240px; min-width: 0; width: auto; }
.run-keys { flex: 0 1 auto; min-width: 0; max-width: 100%; width: auto; }
:host(.guided) { --scale: 140px; } :host(.guided) .run-keys { margin-left: auto; }
:host(.lone) { --least: min-content; }
@media (min-width: 600px) {
  :host(.lone) { width: max(300px, 100vh - 240px); max-width: 100%; min-height: 52px; align-content: center;
  margin-inline: auto !important; --ending: inline; --ending-dot: inline; }
}
@media (max-width: 599.95px) {
  .run-buttons { order: -2; flex: none; width: auto; } .run-line { flex-basis: 100px; order: -1; }
  .run-status { margin: 0 !important; }
}
"""
BELOW_CARDS = "@media (min-width: 600px) { .part.speed { display: none !important; } }"

# Cards that are squares.
SQUARES = ("input", "latent", "method")

# What can be switched on over the latent rows; where rows are pictures "images", too.
LATENT_MARKS = ("pull", "transform", "morph")


class ExplorerLayout:
    """Builds the page and updates what is not a plot.

    finder: its legend and its search stand beside the scrubber.
    on_option: ``on_option(name, value)`` for the switches: "method_mode", those of `LATENT_MARKS`, "draw_class",
        "colour_by", "size_by".
    problems: what was wrong with the address.
    page_name: a key of `supdr_viz.pages.PAGES`.
    title: for screen readers.
    text: what is to be read along with the plots: beside them; in a narrow window the first part above them, others
        below.
    below: what stands below the plots.
    over: what lies over the page.
    **page_options: of ``panel_material_ui.Page``.
    """

    def __init__(
        self,
        board: Board,
        bar: TrainingBar,
        bridge: Bridge,
        controls: Controls,
        share: ShareMenu,
        finder: Finder,
        *,
        on_option: Callable[[str, Any], None],
        problems: Sequence[str] = (),
        page_name: str = "explorer",
        title: str = TITLE,
        text: Sequence[Any] = (),
        below: Sequence[Any] = (),
        over: Sequence[Any] = (),
        **page_options: Any,
    ) -> None:
        self._on_option, self._finder = on_option, finder
        self._drawn_note = ""
        self._guided = False
        self.notice, self.exchange = Notice(), Notice(closeable=True)
        self.about = widgets.html(margin=(0, 8, 6, 8))
        self._tools_known, self._use = board.tools, board.use
        self._make_choosers()
        self.cards = self._make_cards(board)
        for name in self.cards.titles:
            self._set_head(name, "")
        self._run_line = self._run_row(bar)
        heading = widgets.html(f'<h1 class="hidden">{widgets.escape(title)}</h1>', css=HIDDEN_CSS, margin=0, height=0)
        controls.data.show_dialogs_in(share.dialogs)
        above, others = (
            [heading, self._run_line, remarks(problems).view, self.exchange.view, self.notice.view],
            [self.cards, *below, bridge, board.hub, share.dialogs, *over],
        )
        main = pn.Column(*above, *others, margin=(0, 12), styles=FREE, **widgets.WIDE)
        sidebar = pn.Column(controls.view, self.about, margin=0, **widgets.WIDE)
        self.navigation = Navigation(page_name)
        self.page = widgets.make_page(
            bridge,
            wide=lambda: [self.navigation.tabs(), pn.layout.HSpacer(), share.buttons()],
            narrow=lambda: [self.navigation.tabs(narrow=True), share.drawer_row()],
            sidebar=[sidebar],
            main=[main],
        )
        self.page.param.update(**page_options)
        self._main, self._sidebar, self._text = main, sidebar, text
        self._below = below
        self._controls = controls.view
        self.cards.tall = bridge.tall
        self._place(bridge.narrow)
        follow(bridge, "tall", lambda tall: self.cards.param.update(tall=tall))
        follow(bridge, "narrow", self._place)

    # --- parts -------------------------------------------------------------------------------------------------------

    def _make_cards(self, board: Board) -> Cards:
        return Cards(
            board,
            board.hub.board,
            {
                "tool": self._tool.widget,
                "draw_class": self._draw_class.widget,
                "marks": self._marks.widget,
                "mode": self._mode.widget,
            },
            menu=self._mode_menu.view,
            styles=FREE,
        )

    def _make_choosers(self) -> None:
        """Make the switches between tools, pictures, colours and classes to draw; seen is where there is a choice."""
        tools = Toggle("Tool", self._tools_known, next(iter(self._tools_known), ""))
        self._tool = Bound(tools, self._tool_chosen)
        self._draw_class, self._mode = (
            BoundChoice(Toggle(label, [], "", visible=False), {}, functools.partial(self._on_option, option))
            for label, option in (("Class to draw", "draw_class"), ("Picture", "method_mode"))
        )
        self._colour, self._size = (
            Bound(Menu(label=label, visible=False), functools.partial(self._on_option, option))
            for label, option in (("Colour", "colour_by"), ("Size", "size_by"))
        )
        menu = functools.partial(widgets.small_menu, "Picture")
        self._mode_menu = Choice(menu, functools.partial(self._on_option, "method_mode"))
        self._marks = Bound(Switches("Marks", LATENT_MARKS), self._marked)

    def _run_row(self, bar: TrainingBar) -> Any:
        """Return buttons, status, scrubber and legend: two lines of a wide window."""
        line: Any = bar.view[1]
        buttons, status = bar.buttons, bar.status
        self._status, self._to_run = status, (buttons, line, bar.speed)
        for part, name in ((buttons, "run-buttons"), (status, "run-status"), (line, "run-line")):
            part.css_classes = [*part.css_classes, name]
        status.param.update(styles={}, stylesheets=[*status.stylesheets, widgets.sheet(STEADY_CSS)])
        buttons.styles = {**buttons.styles, "--speed": "none"}
        menus = {"colour": self._colour.widget, "size": self._size.widget, "search": self._finder.search}
        legend, sheets = {"classes": self._finder.legend}, [style(), widgets.HEAD_CSS + CLASSES_CSS]
        self._keys, self._legend, self._menus = (
            Bar(parts, css_classes=["run-keys"], stylesheets=[widgets.sheet(each) for each in css])
            for parts, css in (
                ({**legend, **menus}, sheets),
                (legend, sheets),
                ({**menus, "speed": bar.speed}, [style(), BELOW_CARDS]),
            )
        )
        row = widgets.flow(buttons, status, line, self._keys, gap="0 8px", margin=(2, 0, 4, 0))
        row.stylesheets = [widgets.sheet(FLOW_CSS + RUN_ROW)]
        return row

    def _place(self, narrow: bool) -> None:
        """Put texts and menus where the window has room for them."""
        self._run_line[-1] = self._legend if narrow else self._keys
        others = [each for each in self._main.objects if each is not self._menus]
        end = others.index(self.cards) + 1
        self._main.objects = [*others[:end], *[self._menus] * narrow, *others[end:]]
        self._place_text(narrow)

    def _place_text(self, narrow: bool) -> None:
        """Put the text into the sidebar of a wide window; of a narrow one above and below the plots."""
        if not self._text:
            return
        for each in self._text:  # what has a margin in the sidebar stands at the edge of the cards
            if narrow or "margin-left" in each.styles:
                each.styles = AT_EDGE if narrow else INSIDE
        main, sidebar = (
            [each for each in place.objects if each not in self._text] for place in (self._main, self._sidebar)
        )
        if narrow:
            (heading, *others), (first, *rest) = main, self._text
            end = others.index(self.cards) + 1
            self._sidebar.objects = sidebar  # first: no part stands in both
            self._main.objects = [heading, first, *others[:end], *rest, *others[end:]]
        else:
            self._main.objects, self._sidebar.objects = main, [*self._text, *sidebar]

    def show_controls(self, on: bool) -> None:
        """Have the controls in the sidebar, or not at all."""
        others = [each for each in self._sidebar.objects if each is not self._controls]
        shown = [*others[:-1], self._controls, self.about] if on else others
        if shown != self._sidebar.objects:
            self._sidebar.objects = shown

    # --- notices -----------------------------------------------------------------------------------------------------

    def dim(self, stale: bool) -> None:
        """Dim the plots while they do not show what the controls say."""
        self.cards.styles = DIM if stale else CLEAR

    def guide(self, names: Sequence[str], *, pull: bool, is_run: bool, goes_on: bool) -> None:
        """Show only what a text speaks of: these cards, and no tools that change what they show.

        `names`: of "input", "latent", "method", "losses", "errors", "belief"; none: everything and all tools. `pull`:
        whether the pull of the labels is spoken of, so that its switches stay. `is_run`: whether a run is, `goes_on`:
        whether there is more of it to be run.
        """
        self._guided = bool(names)
        lone = len(names) == 1 and names[0] in SQUARES  # the card stands in the middle, and what is said of it above it
        self._run_line.css_classes = ["guided"] * self._guided + ["lone"] * lone
        self.cards.shown = [name for name in names if name in self.cards.titles]
        self._tool.widget.visible, self._marks.widget.visible = not names, not names or pull
        for part in self._below:
            part.visible = not names or "belief" in names
        for part in (self._colour.widget, self._size.widget, self._finder.search):
            part.visible = not names
        for menu in (self._colour.widget, self._size.widget) if names else ():
            menu.groups = []  # browsers need not learn of what is not offered
        self._status.visible = is_run
        for part in self._to_run:
            part.visible = goes_on

    def show_pull(self, on: bool) -> None:
        """Draw the pull of the labels, or not, as its switch does."""
        self._turn("pull", on)

    def show_transform(self, on: bool) -> None:
        """Turn the switch that places training rows as new ones, without this counting as the user's doing."""
        self._show_mark("transform", on)

    def _turn(self, mark: str, on: bool) -> None:
        """Do what a press of a switch does, unless it is in that state already."""
        if self._show_mark(mark, on):
            self._on_option(mark, on)

    def _show_mark(self, mark: str, wanted: bool) -> bool:
        """Show a switch as on or off; return whether that is another state."""
        on = self._marks.value
        if (mark in on) == wanted:
            return False
        self._marks.show([*on, mark] if wanted else [each for each in on if each != mark])
        return True

    def leave_room(self, on: bool) -> None:
        """Leave room below the plots for a bar that lies over the page, or not."""
        self._main.styles = {**FREE, "padding-bottom": f"{BAR_HEIGHT if on else 0}px"}

    def shrink(self) -> bool:
        """Put an enlarged plot back to its place; tell whether there was one."""
        return self.cards.shrink()

    def say_drawn(self, text: str) -> None:
        """Say how many points were drawn, in the head of the input card."""
        self._drawn_note = text

    # --- what the data are -------------------------------------------------------------------------------------------

    def describe_data(self, scene: Scene, notes: tuple[str, ...], *, drawable: bool) -> None:
        """Show the legend of the classes and, in the sidebar, where the data come from.

        `notes`: what the user should know of these rows; `drawable`: whether points can be drawn into the input plane.
        """
        n_train, n_test = scene.n_train, int(scene.is_test.sum())
        size = f"{rows_text(n_train, n_test)}, {scene.n_features:,} features"
        if scene.n_rows > len(scene.position):
            size = f"{scene.n_rows:,} training and test rows, {scene.n_features:,} features"
        text = "".join(f"<p>{widgets.escape(part)}</p>" for part in (f"{size}.", scene.description, *notes) if part)
        self.about.object = f'<div class="small quiet">{text}</div>'
        names = [str(name) for name in scene.class_names] or ["1"]
        self._offer_classes(names)
        self._offer_images(shows_pictures(scene))
        tools = [label for label in self._tools_known if drawable or label != "draw"]
        if self._tool.widget.options != tools:
            before = self._tool.value
            self._tool.show(before if before in tools else tools[0], options=tools)
            if before not in tools:
                self._tool_chosen(tools[0])

    def _offer_classes(self, names: Sequence[str]) -> None:
        """Let points of these classes be drawn; of the one before if there is one of its name."""
        if self._draw_class.widget.options != names:
            code = names.index(chosen) if (chosen := self._draw_class.widget.value) in names else 0
            self._draw_class.offer({name: number for number, name in enumerate(names)}, code)
            self._on_option("draw_class", code)

    def _offer_images(self, offered: bool) -> None:
        """Let rows be drawn as pictures, or not."""
        marks = [*LATENT_MARKS, "images"] if offered else [*LATENT_MARKS]
        if self._marks.widget.options != marks:
            self._turn("images", False)
            self._marks.widget.options = marks

    def forget_data(self) -> None:
        """Say nothing of rows: there are none."""
        self.about.object = widgets.EMPTY
        for part in (self._colour.widget, self._size.widget, self._finder.search):
            part.visible = False
        self._finder.show_legend("")

    def show_method_modes(self, view: Any) -> None:
        """Offer the modes that the method has."""
        modes = {mode.label: mode.name for mode in view.modes or ()}
        some, short = len(modes) > 1, sum(map(len, modes)) <= MAX_LETTERS
        if some:
            (self._mode if short else self._mode_menu).offer(modes, view.mode)
        self._mode.widget.visible = some and short
        self._mode_menu.show(some and not short)

    def show_colours(self, points: Points, n_components: int) -> None:
        """Say what the colours of rows mean, and offer what else colours and sizes could mean.

        `n_components`: number of latent coordinates.
        """
        scene = points.scene
        if scene is None:
            return
        self.show_legend(points)
        self._finder.search.visible = not self._guided
        if self._guided:  # nothing else is offered
            return
        words = colour_choices(scene)
        values = [
            [heading, "", [[meaning_text(start + name), start + name] for name in names]]
            for heading, start, names in value_choices(scene, n_components)
        ]
        spread = {} if points.spread is None else {"spread": "spread"}
        for bound, first, value in (
            (self._colour, {**words, **spread}, points.colour_by),
            (self._size, {"equal": "", "trust": "trust", **spread}, points.size_by),
        ):
            bound.widget.groups = [["", "", [list(each) for each in first.items()]], *values]
            keys = bound.widget.offered
            bound.show(value if value in keys else keys[0], visible=True)

    def show_legend(self, points: Points) -> None:
        """Say what the colours of rows mean."""
        if points.scene is not None:
            views = [each for each in ("input", "latent") if not self.cards.shown or each in self.cards.shown]
            keys = widgets.legend(points_legend(points, views=views), picks=True)
            self._finder.show_legend(f'<div class="keys">{keys}</div>')

    def refresh_heads(self, board: Board) -> None:
        """Bring the captions and legends of the cards up to date."""
        self._set_head("input", self._drawn_note or board.input.caption())
        shown = board.input if board.morphed else board.latent
        verdict = "" if board.morphed else board.latent.verdict
        rings = "" if board.morphed else widgets.legend(board.latent.legend)
        self.cards.say("head of latent", widgets.card_head(shown.title, widgets.escape(shown.caption()), rings))
        self.show_legend(board.points)
        self._say("numbers of the map", (), verdict, "" if board.morphed else board.latent.measured)
        self._set_head("method", board.method.caption(), title=board.method.title)
        self._set_facts(board.method)
        self._set_head("losses", board.losses.caption(), board.losses.legend)
        self._set_head("errors", board.errors.caption(), board.errors.legend, board.errors.title)

    # --- parts -------------------------------------------------------------------------------------------------------

    def _tool_chosen(self, tool: str) -> None:
        self._use(tool)
        self._draw_class.widget.visible = tool == "draw"

    def _marked(self, on: list[str]) -> None:
        for mark in {*self._marks.previous} ^ {*on}:
            self._on_option(mark, mark in on)

    def _set_head(self, name: str, caption: str, legend: Any = (), title: str = "") -> None:
        note = widgets.escape(caption)
        if legend:
            note = widgets.legend(legend) + (f"<span>{note}</span>" if note else "")
        self.cards.say(f"head of {name}", widgets.card_head(title or self.cards.titles[name], note))

    def _set_facts(self, view: Any) -> None:
        """Say what the method's picture means, above and below it."""
        self._say("numbers", view.numbers)
        keys = widgets.legend(view.legend)
        self.cards.say("keys", f'<div class="keys">{keys}</div>' if keys else "")

    def _say(self, place: str, numbers: Any, sentence: str = "", help: str = "") -> None:
        """Say a sentence and named numbers below a picture; `help`: what is said of the sentence on pointing at it."""
        text = f"{widgets.explained(widgets.escape(sentence), help)} " if sentence else ""
        for each in numbers:
            best = f" ({each.best})" if each.best else ""
            words = f"{widgets.escape(each.name)} <b>{widgets.escape(each)}</b>{best}"
            text += widgets.explained(words, each.help, "number")
        self.cards.say(place, f'<div class="said">{text}</div>')
