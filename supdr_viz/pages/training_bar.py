"""The bar above the plots: run, step, reset, speed, what the run is doing, and the scrubber."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from supdr_viz.data.number_format import figure
from supdr_viz.experiment.settings import SPEED
from supdr_viz.run.status import WORDS, Phase
from supdr_viz.ui import panel_workarounds, widgets
from supdr_viz.ui.bar import Bar, Button, Toggle
from supdr_viz.ui.binding import Bound
from supdr_viz.ui.markup import STATUS_CSS
from supdr_viz.views.stage.components import Hub

ITERATION = '<span class="quiet small" aria-hidden="true">Iteration</span>'

BEFORE = '<span class="before">, before the first step</span>'

# A phone has room for the word above the scrubber only, unless the line has all of its width.
LINE_CSS = """
* { align-self: center; }
@media (max-width: 599.95px) {
  .word { position: var(--word, absolute); top: -3px; left: 12px; width: auto; zoom: .9; }
}
"""

GROW = {"flex": "1 1 240px", "width": "auto", "min-width": "0"}

# Value of a thumb that stands at the end, whatever that is. It stays the same while a run goes on: the kit's slider
# forgets what a hand has just done if a new value comes before it is drawn.
AT_THE_END = 2**31 - 1

Act = Callable[[], Any]


class TrainingBar:
    """Buttons, speed, status line and scrubber of a run.

    `view`: toolbar and scrubber; `buttons`: of the toolbar.

    hub: tells the status line.
    speed: one of "slow", "normal", "fast".
    on_run: run/Pause was pressed: toggle.
    on_step, on_reset, on_live: the other buttons.
    on_speed: ``on_speed(speed)``.
    on_scrub: ``on_scrub(iteration)``, while the thumb is dragged.
    """

    def __init__(
        self,
        hub: Hub,
        speed: str = "normal",
        *,
        on_run: Act,
        on_step: Act,
        on_reset: Act,
        on_live: Act,
        on_speed: Callable[[str], Any],
        on_scrub: Callable[[int], Any],
    ) -> None:
        self._chip, self._detail, self._numbers = WORDS[Phase.ready], "", list[str]()
        self._progress, self._ending, self._errors = "", "", list[str]()
        self.run = Button("Run", on_run, icon="play_arrow", look="contained", key="Space", width=104, height=34)
        self.step = Button("Step", on_step, icon="skip_next", width=84, height=34)
        self.reset = Button("Reset", on_reset, icon="restart_alt", width=88, height=34)
        self.speed = Toggle("Speed", [text for _, text in SPEED.choices], speed, large=True)
        self._speed = Bound(self.speed, on_speed)
        self.status = hub.words("status", css=STATUS_CSS, margin=(4, 6, 4, 0), styles=GROW)
        self._refresh()
        scrubber = pmui.IntSlider(
            label="Iteration",
            start=0,
            end=1,
            value=0,
            show_value=False,
            size="small",
            margin=(0, 12, 0, 12),
            disabled=True,
            sx={"& .MuiFormLabel-root": {"display": "none"}},
            **widgets.WIDE,
        )
        self.scrubber = panel_workarounds.heard_at_once(scrubber)
        self._thumb = Bound(self.scrubber, on_scrub)
        # The program never sets where the thumb was let go of: this is the hand's, also where the thumb's place is not.
        Bound(self.scrubber, on_scrub, ("value_throttled",))
        self.live = Button("Live", on_live, icon="fast_forward", look="text", width=80, disabled=True)
        pressed = {"run": self.run, "step": self.step, "reset": self.reset, "speed": self.speed}
        self.buttons = Bar(pressed, styles={"--gap": "2px", "--push-margin": "4px 4px 4px 0"})
        buttons = widgets.flow(self.buttons, self.status, gap="2px", margin=0)
        line = pn.Row(
            widgets.html(ITERATION, css_classes=["word"], width=58, sizing_mode=None, margin=0),
            self.scrubber,
            Bar({"live": self.live}, styles={"--push-margin": "0"}),
            margin=0,
            stylesheets=[widgets.sheet(LINE_CSS)],
            **widgets.WIDE,
        )
        self.view = pn.Column(buttons, line, margin=(6, 4, 4, 0), **widgets.WIDE)

    def set_state(self, phase: Phase, detail: str = "", ending: str = "", *, running: bool = False) -> None:
        """Show what the run is doing.

        `detail`: said instead of the numbers; `ending`: said behind them; `running`: whether the button says Pause.
        """
        self._ending = ending
        self._show(WORDS[phase], detail, running)

    def set_viewing(self, iteration: int, *, running: bool) -> None:
        """Show that an earlier iteration is looked at; `running` as in `set_state`."""
        self._ending = ""
        self._show((f"viewing {iteration}", "primary"), "", running)

    def _show(self, chip: tuple[str, str], detail: str, running: bool) -> None:
        self._chip, self._detail = chip, detail
        if (self.run.label == "Pause") != running:
            self._show_live(running)
            self.run.param.update(label="Pause" if running else "Run", icon="pause" if running else "play_arrow")
        self._refresh()

    def show_numbers(
        self, iteration: int | None, numbers: dict[str, float], *, task: str = "classification", all_there: bool = True
    ) -> None:
        """Show the current values; call it a few times a second at most.

        `iteration`: None of a method that is fitted in one step, which has errors only. `numbers`: ``rate``,
        ``objective``, ``train_error``, ``as_new``, ``unlabelled_error``, ``test_error``: errors in per cent, or mean
        squared errors; ``as_new`` of training rows as if they were new. `task`: one of "classification", "regression".
        `all_there`: whether all runs are at this iteration.
        """
        self._numbers = status_words(iteration, numbers, task=task, all_there=all_there)
        self._errors = error_words(numbers, task)
        self._refresh()

    def show_progress(self, words: str) -> None:
        """Show how far a long step is; nothing: it is over."""
        self._progress = words
        self._refresh()

    def set_range(self, first: int, last: int, value: int) -> None:
        """Move the scrubber without this counting as the user's doing.

        `first`, `last`: iterations that can be viewed. `value`: the one that is shown; at the last, the thumb goes with
        it.
        """
        end = max(last, first + 1)
        if first < last <= value:
            value = AT_THE_END
        changes: dict[str, Any] = {
            name: new
            for name, new in {"start": first, "end": end, "disabled": last <= first}.items()
            if getattr(self.scrubber, name) != new
        }
        self._thumb.show(value, **changes)

    def set_following(self, following: bool) -> None:
        """Offer the Live button only where an earlier iteration is viewed."""
        if self.live.disabled != following:
            self.live.disabled = following
            self._show_live()

    def _show_live(self, running: bool | None = None) -> None:
        """Show whether the newest iteration of a run that goes on is looked at."""
        going = self.run.label == "Pause" if running is None else running
        look = "text on" if going and self.live.disabled else "text"
        if self.live.look != look:
            self.live.look = look

    @property
    def enabled(self) -> bool:
        """Whether the buttons of the run can be pressed."""
        return not self.run.disabled

    def set_enabled(self, enabled: bool) -> None:
        """Allow or forbid running: there may be no data yet."""
        for part in (self.run, self.step, self.reset):
            if part.disabled == enabled:
                part.disabled = not enabled

    def set_speed(self, speed: str) -> None:
        """Show another speed without reporting it."""
        self._speed.show(speed)

    def _refresh(self) -> None:
        word, colour = self._chip
        ending = [f'<span class="ending">{widgets.escape(self._ending)}</span>'] if self._ending else []
        text = widgets.escape(self._progress or self._detail) or _joined([*self._numbers, *ending])
        if self._progress and not self._detail:  # errors are those of the last step; for more there is no room
            text = _joined([text, *self._errors])
        self.status.text = (
            f'<div class="status"><span class="chip {colour}">{widgets.escape(word)}</span>'
            f'<span class="numbers">{text}</span></div>'
        )


def status_words(
    iteration: int | None, numbers: dict[str, float], *, task: str = "classification", all_there: bool = True
) -> list[str]:
    """HTML of the status line's numbers; see `TrainingBar.show_numbers`."""
    if iteration is None:
        return error_words(numbers, task)
    up_to = "" if all_there else "up to "
    parts = [f"{up_to}iteration <b>{iteration:,}</b>{'' if iteration else BEFORE}"]
    rate = numbers.get("rate", 0.0)
    if rate > 0:
        parts.append(_aside(f"{rate:.0f} it/s" if rate >= 10 else f"{rate:.1f} it/s"))
    if _is_finite(numbers, "objective"):
        parts.append(_aside(f"objective <b>{figure(numbers['objective'], 4)}</b>"))
    return [*parts, *error_words(numbers, task)]


def error_words(numbers: dict[str, float], task: str) -> list[str]:
    """HTML of the errors that are known; see `TrainingBar.show_numbers`."""
    parts = []
    for name, word in (("train_error", "train"), ("unlabelled_error", "unlabelled"), ("test_error", "test")):
        if _is_finite(numbers, name):
            shown = _error(numbers[name], task)
            again = (
                _error(numbers["as_new"], task) if name == "train_error" and _is_finite(numbers, "as_new") else shown
            )
            new = f' <span class="long">({again} as new rows)</span>' if again != shown else ""
            parts.append(f"{word} {'error' if task == 'classification' else 'MSE'} <b>{shown}</b>{new}")
    return parts


def _aside(text: str) -> str:
    """Mark what a presentation leaves out."""
    return f'<span class="aside">{text}</span>'


def _error(value: float, task: str) -> str:
    return f"{value:.1f} %" if task == "classification" else figure(value, 3)


def _joined(parts: list[str]) -> str:
    """Join words of the status line: a line may end within no part, and with a separator but not begin with one."""
    ended = [*(f'{each}<span class="dot"> ·</span>' for each in parts[:-1]), *parts[-1:]]
    return " ".join(f'<span class="part">{each}</span>' for each in ended)


def _is_finite(numbers: dict[str, float], name: str) -> bool:
    value = numbers.get(name)
    return value is not None and value == value
