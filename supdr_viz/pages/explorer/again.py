"""Does another fit give the same map: maps of other seeds or samples, as ghosts of the rows, colours and sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.quality import Stability
from supdr.quality.resampling import iterate_stability
from supdr_viz.data.number_format import per_cent
from supdr_viz.pages.explorer.question import Interrupted, Question, paragraph
from supdr_viz.pictures.types import Frame
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.ui.background import Background
from supdr_viz.views.board import Board
from supdr_viz.views.stage.packed_positions import packed_places

CHOICES = {"20 seeds": "seed", "20 bootstrap samples": "bootstrap", "20 subsamples": "subsample"}
GHOSTS, SPREAD = "Show all fits", "Colour by spread"

# Of more classes only those that agree least are named.
MOST_CLASSES = 10

# Most ghosts that are drawn: of more, those of some rows, drawn at random.
MOST_GHOSTS = 20_000


class Again(Question):
    """Fits to other seeds or samples.

    `on_colours`: called with what colours are to mean; None: what the settings say, as far as it is known by now.
    """

    title = "Does another fit give the same map?"
    asks = (
        "The method is fitted again with other random seeds or to other samples of the training rows. If a row's place "
        "changes from fit to fit, its position means little."
    )
    answers = "The answer: the share of its nearest neighbours that a row keeps from fit to fit."
    label = "Fit again"

    def __init__(
        self,
        session: Session,
        board: Board,
        pool: Pool,
        background: Background,
        on_colours: Callable[[str | None], Any],
    ) -> None:
        super().__init__(session, pool, background, CHOICES, [GHOSTS, SPREAD])
        self._board, self._on_colours = board, on_colours
        self._drawn_for: Any = None

    def pieces(self, choice: Any) -> Callable[[Interrupted], Iterator[Stability]]:
        """See `Question.pieces`."""
        split, settings = self.session.split, self.session.settings
        assert split is not None
        assert settings is not None
        iterate = partial(iterate_stability, self.estimator, split.X_train, split.y_train, resample=choice)
        return lambda interrupted: iterate(random_state=settings.seed, interrupted=interrupted)

    def text(self, answer: Stability, whole: bool) -> str:
        """See `Question.text`."""
        scene = self.session.scene
        assert scene is not None
        fits = len(answer.maps)
        if fits < 2:
            return paragraph(f"{fits} of {answer.n_fits} fits are done.")
        kept, chance = map(per_cent, (np.mean(answer.kept), answer.chance))
        some = "" if fits == answer.n_fits else f" ({fits} of {answer.n_fits} fits so far)"
        text = paragraph(
            f"From one fit to another, a row keeps {kept} of its {answer.n_neighbors} nearest neighbours on the map; "
            f"on unrelated maps it would keep {chance}{some}."
        )
        text += "".join(map(paragraph, agreement(answer, [str(name) for name in scene.class_names])))
        return text + paragraph(
            "Maps that differ only by a rotation, a reflection or their scale count as the same.", "quiet small"
        )

    def show(self, answer: Stability | None) -> None:
        """Show ghosts that are switched on, and the spread if rows have its colours or sizes, of the answer so far."""
        self._draw(self._board.points.frame, GHOSTS in self.marks.value)
        self._board.points.show_spread(None if answer is None else self._of_scene(answer.spread))
        self._on_colours(None)
        self.settle()

    def show_marks(self, on: list[str]) -> None:
        """Show ghosts of the rows and their spread as colour, or not."""
        self._draw(self._board.points.frame, GHOSTS in on)
        changes = self.answer is not None and (SPREAD in on) is not (self._board.points.colour_by == "spread")
        self._on_colours(("spread" if SPREAD in on else "label") if changes else None)

    def settle(self) -> None:
        """Show the switch of the colours as on if they mean the spread by now."""
        if self._board.points.colour_by != "spread":
            self.marks.show([each for each in self.marks.value if each != SPREAD])
        elif SPREAD not in self.marks.value:
            self.marks.show([*self.marks.value, SPREAD])

    def show_frame(self, frame: Frame) -> None:
        """Lay the ghosts on another map."""
        if self.answer is not None and GHOSTS in self.marks.value:
            self._draw(frame, True)

    def _draw(self, frame: Frame | None, on: bool) -> None:
        answer = self.answer
        if not on or frame is None or answer is None:
            self._drawn_for = None
            self._board.latent.put(ghosts=None)
            return
        if self._drawn_for == (frame.iteration, len(answer.maps)):
            return
        self._drawn_for = frame.iteration, len(answer.maps)
        numbers, rows = self._numbers(len(answer.places), len(answer.maps))
        ghosts = laid_on(answer.maps, answer.places, frame.latent[: len(answer.places)])[:, rows]
        self._board.latent.put(
            ghosts={"place": packed_places(ghosts.reshape(-1, 2)), "rows": np.tile(numbers, len(ghosts))}
        )

    def _numbers(self, n_train: int, n_maps: int) -> tuple[NDArray, NDArray]:
        """Return the browser's numbers of the rows with ghosts, and the rows: training rows come first."""
        drawn = self._board.points.drawn
        numbers = np.flatnonzero(drawn < n_train).astype(np.int32)
        most = max(1, MOST_GHOSTS // n_maps)
        if len(numbers) > most:
            numbers = np.sort(np.random.default_rng(0).choice(numbers, most, replace=False))
        return numbers, drawn[numbers]

    def _of_scene(self, values: NDArray) -> NDArray:
        """Return values of the training rows for all rows of the scene: NaN for the others."""
        assert self.session.scene is not None
        return np.concatenate([values, np.full(len(self.session.scene.code) - len(values), np.nan)])


def agreement(answer: Stability, names: list[str]) -> list[str]:
    """Say about which classes fits do not agree, those first about which the fewest do.

    `names`: of all classes, by their codes.
    """
    unlike = np.flatnonzero(answer.agreeing < len(answer.maps))
    order = unlike[np.argsort(answer.agreeing[unlike], kind="stable")][:MOST_CLASSES]
    sentences = []
    for place in order:
        label = answer.classes[place]
        sentences.append(answer.sentence(label).removesuffix(str(label)) + names[int(label)] + ".")
    if len(unlike) < len(answer.classes):
        others = "the other classes" if len(unlike) else "the classes"
        sentences.append(f"All fits agree about the places of {others}.")
    return sentences


def laid_on(maps: NDArray, places: NDArray, target: NDArray) -> NDArray:
    """Return maps (m, n, d) turned, scaled and shifted as their mean (n, d) must be to lie nearest to places (n, 2).

    A map of one dimension is laid along the first axis; its rows keep their heights.
    """
    flat = maps.shape[2] == 1
    middle, goal = places.mean(axis=0), target.mean(axis=0)
    offset = (target - goal) * ([1.0, 0.0] if flat else [1.0, 1.0])
    U, _, V = np.linalg.svd((places - middle).T @ offset, full_matrices=False)
    turn = U @ V
    projected = (places - middle) @ turn
    size = float((projected**2).sum())
    scale = float((projected * offset).sum()) / size if size > 0.0 else 0.0
    laid = scale * (maps - middle) @ turn + goal
    if flat:
        laid[:, :, 1] = target[:, 1]
    return laid
