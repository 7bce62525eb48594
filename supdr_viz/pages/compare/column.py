"""One column of a comparison: a run, its link to the page, its two planes, and what the table says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.compare.checks import Answer
from supdr_viz.pages.compare.comparison import differences
from supdr_viz.pages.compare.lockstep import LockStep
from supdr_viz.pages.frame_pusher import FramePusher
from supdr_viz.pictures.types import Frame, Scene, Surface
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase, Status
from supdr_viz.ui.visitor import Tickets
from supdr_viz.views.small_multiple import SmallMultiple
from supdr_viz.views.stage.stage import Selection


@dataclass(frozen=True)
class Facts:
    """What is said of one column.

    label, note: method, and its settings that differ from the defaults.
    state: what the run is doing, and why it stopped.
    iteration: None before the start and for methods that do not iterate.
    scores: "train" and "test": errors in per cent or, for regression, mean squared errors, of training rows as if they
        were new; "train R²", "test R²"; how true the latent plane is, by the names of `supdr.quality`.
    size: number of support vectors or basis functions, or else of latent dimensions.
    seconds: spent inside the steps.
    problem: why it cannot be shown; empty if it can.
    answers: to the checks that were made, by their names; None where this column has none.
    """

    label: str
    note: str
    state: str
    iteration: int | None
    scores: dict[str, float]
    size: str
    seconds: float | None
    problem: str = ""
    answers: dict[str, Answer | None] = field(default_factory=dict)


class Column:
    """One of the runs that are compared.

    `frame`: on display. `problem`: why the settings cannot be shown; empty if they can.

    lockstep: keeps the runs level.
    selection: shared by all columns.
    on_news: ``on_news(column)`` after something was drawn.
    group: see `SmallMultiple`.
    touch: see `SmallMultiple`.
    tickets: see `SmallMultiple`.
    """

    def __init__(
        self,
        pool: Pool,
        lockstep: LockStep,
        selection: Selection,
        on_news: Callable[[Column], Any],
        *,
        group: str = "compare",
        touch: bool = False,
        tickets: Tickets | None = None,
    ) -> None:
        self._lockstep, self._on_news = lockstep, on_news
        self.pair = SmallMultiple(selection, group, tickets, touch=touch)
        self.link = FramePusher(self.pair.stage, self._draw, self.pair.points.prepare)
        self.session = Session(pool, self.link.notify, lockstep)
        self.session.measures = True
        self.settings: Settings | None = None
        self.frame: Frame | None = None
        self.problem = ""
        self.answers: dict[str, Answer | None] = {}
        self._scene: Scene | None = None
        lockstep.join(self.player)

    @property
    def player(self) -> Any:
        """The run."""
        return self.session.player

    @property
    def standing(self) -> int | None:
        """The iteration at which the run stands, drawn or not yet; None while it goes and where it has none."""
        newest, still = self.player.newest, self.player.status.phase in (Phase.paused, Phase.finished)
        return newest.iteration if still and newest is not None and self.frame is not None else None

    @property
    def all_drawn(self) -> bool:
        """Whether the iteration at which the run stands, if it does, is on display with its errors."""
        if self.standing is None:
            return True
        return self.frame is not None and self.frame.iteration == self.standing and "train" in self.frame.numbers

    def apply(self, experiment: Experiment, like: Session | None) -> None:
        """Put an experiment in force.

        `like`: another column's, to share rows and split with. Raises NotAtHand, ValueError: see `Session.apply`;
        `problem` holds the message too.
        """
        settings = experiment.settings
        if self.settings is None or settings.method != self.settings.method or not settings.same_data(self.settings):
            self.frame = None
        self.settings, self.problem = settings, ""
        try:
            self.session.apply(experiment, like)
        except (ValueError, OSError) as error:
            self.frame, self.problem = None, str(error)
            raise
        self.session.set_display(_as_compared(settings), method_mode="none")

    def show_scene(self) -> None:
        """Draw the rows, if they are others than before."""
        scene = self.session.scene
        if scene is not None and scene is not self._scene and not self.problem:
            self._scene = scene
            self.pair.show_scene(scene)

    def facts(self) -> Facts:
        """Say how the run on display stands."""
        settings = self.settings
        assert settings is not None
        method, status = MENU[settings.method], self.player.status
        has_numbers = self.frame is not None and not self.problem
        fitted = self.player.fitted if has_numbers else None  # a frame may be of the sample alone
        return Facts(
            method.label,
            differences(settings),
            status.said,
            self.frame.iteration if has_numbers and method.iterates and self.frame is not None else None,
            self._scores() if has_numbers else {},
            self._size(fitted) if fitted is not None else "",
            self.player.seconds if has_numbers else None,
            self.problem or (status.message if status.phase in (Phase.failed, Phase.diverged) else ""),
            dict(self.answers),
        )

    def _size(self, fitted: Any) -> str:
        """Say how large a model is; support vectors of rows on disk are those of the sample."""
        text, split = size_of(fitted), self.session.split
        on_disk = split is not None and split.whole is not None
        return f"{text} in the sample" if on_disk and text.endswith("support vectors") else text

    def close(self) -> None:
        """End the run and let go of the data."""
        self.link.detach()
        self.pair.points.close()
        self._lockstep.leave(self.player)
        self.session.close()

    def _scores(self) -> dict[str, float]:
        assert self.frame is not None
        numbers, scene = self.frame.numbers, self.session.scene
        scores: dict[str, float] = {name: numbers[name] for name in ("train", "test") if name in numbers}
        if "as new" in numbers:
            scores["train"] = numbers["as new"]
        if scene is not None and scene.task == "regression":
            for name in [*scores]:
                rows = scene.target[np.isfinite(scene.target) & (scene.is_test == (name == "test"))]
                spread = float(np.var(rows)) if len(rows) else 0.0
                if spread > 0:
                    scores[f"{name} R²"] = 1.0 - scores[name] / spread
        truth = self.frame.truth
        if truth is not None and truth.iteration == self.frame.iteration:
            scores |= {name: value for name, value in truth.numbers.items() if np.isfinite(value)}
        return scores

    def _draw(self, frame: Frame | None, surface: Surface | None, status: Status) -> None:
        if self.problem:
            return
        if surface is not None:
            self.pair.show_surface(surface)
        if frame is not None:
            self.frame = frame
            self.pair.show_frame(frame)
        self._on_news(self)


def _as_compared(settings: Settings) -> Settings:
    """Place training rows as new ones if a classifier of its own, the calibrated one, decides for new rows.

    Then regions, rings and errors come of the one that decides for new rows, which is what methods are compared by.
    """
    calibrates = getattr(MENU[settings.method].estimator, "calibrate", False)
    is_on = settings.method_options.get("calibrate", calibrates)
    return replace(settings, latent_shown="transform") if is_on else settings


def size_of(fitted: Any) -> str:
    """Count what the model is made of: support vectors, basis functions, else latent dimensions."""
    parts = []
    if fitted is None:
        return ""
    centres = getattr(fitted, "centers_", None)
    if centres is not None:
        parts.append(f"{len(centres):,} basis functions")
    if hasattr(fitted, "support_"):
        parts.append(f"{len(fitted.support_):,} support vectors")
    if not parts and (latent := getattr(fitted, "embedding_", None)) is not None:
        parts.append(f"{latent.shape[1]} dimension{'' if latent.shape[1] == 1 else 's'}")
    return ", ".join(parts)
