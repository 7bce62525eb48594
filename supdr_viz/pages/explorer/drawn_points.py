"""Rows that are drawn by hand: they become part of the settings, and train at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr_viz.controls.sidebar import Controls
from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.build import usable_drawn
from supdr_viz.experiment.settings import Settings
from supdr_viz.run.session import Session
from supdr_viz.views.board import Board


class DrawnPoints:
    """What the user draws into the input space of a page.

    `say`: ``say(text)`` beside the view: how many there are.
    """

    def __init__(self, session: Session, controls: Controls, board: Board, say: Callable[[str], Any]) -> None:
        self._session, self._controls, self._board, self._say = session, controls, board, say
        board.input.on_drawn(self._drawn)

    def _drawn(self, positions: NDArray, codes: NDArray) -> None:
        """Train with the points as they are drawn now; those of classes that are not there now wait."""
        settings, dataset = self._controls.settings, self._session.dataset
        assert dataset is not None
        drawn = ((float(x), float(y), int(code)) for (x, y), code in zip(np.round(positions, 4), codes, strict=True))
        waiting = (point for point in settings.drawn if point[2] >= dataset.n_classes)
        self._controls.apply(replace(settings, drawn=(*drawn, *waiting)))

    def show(self, settings: Settings) -> None:
        """Show which rows were drawn by hand.

        `settings`: those in force.
        """
        assert self._session.dataset is not None
        planar = SOURCES[settings.data].planar
        points = usable_drawn(settings, self._session.dataset).tolist() if planar else []
        self._board.input.show_drawn(points)
        count = len(points)
        self._say(f"{count} drawn {'point' if count == 1 else 'points'}" if count else "")
