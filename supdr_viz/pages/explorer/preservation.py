"""Whether the map keeps neighbours together: over their number, class by class, false and lost ones, and clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.context import run_context
from supdr.engine.interruption import Interrupted
from supdr.quality import (
    ClassTrust,
    ClusterReliability,
    TrustCurve,
    class_trust,
    iterate_cluster_reliability,
    trust_curve,
)
from supdr.quality.checking import usable_neighbors
from supdr_viz.data.number_format import per_cent
from supdr_viz.pages.explorer.question import Question, paragraph, table
from supdr_viz.pages.explorer.small_pictures import bar, curves, side_by_side
from supdr_viz.pictures.map_quality import InputRows
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Background
from supdr_viz.views.board import Board

NEW, TRAINING = "Test rows", "Training rows"

# Fewest rows of which neighbours are compared.
FEWEST = 10

# Most rows of which all neighbours are looked at, and among which clusters are drawn.
MOST_MEASURED, MOST_CLUSTERED = 1000, 2000

# Numbers of neighbours of the curve.
POINTS = 12

# Clusters drawn between two answers.
DRAWS = 25

# Of more classes those are listed that keep least.
MOST_CLASSES = 12

# Colours of false or lost neighbours of other classes, and of the own class.
OTHER, OWN = "error", "muted"


@dataclass(frozen=True)
class Kept:
    """What a map keeps of some rows.

    iteration: of the run.
    of_new: whether the rows are test rows.
    n_rows: how many there are.
    curve: over the number of neighbours.
    by_class: None for regression, or not measured yet.
    clusters: None: not measured yet.
    """

    iteration: int
    of_new: bool
    n_rows: int
    curve: TrustCurve
    by_class: ClassTrust | None = None
    clusters: ClusterReliability | None = None


class Preservation(Question):
    """Compares the latent plane on display with the input."""

    title = "Does the map keep neighbours together?"
    asks = (
        "Rows that are close on the map should be close in the data, and vice versa. The nearest neighbours on the "
        "map are compared with those in the data."
    )
    answers = (
        "The answer: how true the neighbours on the map are, for each class, and whether its groups are in the data."
    )
    label = "Compare neighbours"

    def __init__(self, session: Session, board: Board, pool: Pool, background: Background) -> None:
        super().__init__(session, pool, background, {NEW: True, TRAINING: False}, [])
        self._board = board

    def pieces(self, choice: Any) -> Callable[[Callable[[], bool]], Iterator[Kept]]:
        """See `Question.pieces`."""
        scene, split, frame = self.session.scene, self.session.split, self._board.points.frame
        if scene is None or split is None or frame is None:
            raise ValueError("There is no map yet: run the method.")
        rows = np.flatnonzero((scene.is_test == choice) & np.isfinite(frame.latent).all(axis=1))
        if len(rows) < FEWEST:
            instead = TRAINING.lower() if choice else "more rows"
            raise ValueError(f"There are {len(rows) or 'no'} {_kind(choice)}: choose {instead}.")
        labels = split.all_truth[rows] if scene.task == "classification" else None
        places = frame.latent[rows].astype(float)
        begun = partial(Kept, frame.iteration, bool(choice), len(rows))
        return partial(_measured, InputRows(scene, split), rows, places, labels, begun)

    def text(self, answer: Kept, whole: bool) -> str:
        """See `Question.text`."""
        assert self.session.scene is not None
        text = neighbours_text(answer)
        if answer.by_class is not None:
            text += class_text(answer.by_class, [str(name) for name in self.session.scene.class_names])
        if answer.clusters is not None:
            text += paragraph(clusters_text(answer.clusters))
        rows = f"{answer.n_rows:,} {_kind(answer.of_new)}"
        return text + paragraph(f"Measured on {rows} at iteration {answer.iteration:,}.", "quiet small")


def _kind(of_new: bool) -> str:
    """Name the rows within a sentence."""
    return (NEW if of_new else TRAINING).lower()


def _measured(
    input_rows: InputRows,
    rows: NDArray,
    places: NDArray,
    labels: NDArray | None,
    begun: Callable[[TrustCurve], Kept],
    interrupted: Callable[[], bool],
) -> Iterator[Kept]:
    """Yield the answer so far: the curve, then the classes, then the clusters."""
    try:
        with run_context(stop_requested=interrupted):
            X = input_rows.rows[rows]
            k, sample = usable_neighbors(len(X)), min(len(X), MOST_MEASURED)
            numbers = {k, *np.geomspace(1, max(1, (len(X) - 1) // 4), POINTS).astype(int).tolist()}
            kept = begun(trust_curve(X, places, n_neighbors=sorted(numbers), sample_size=sample))
        yield kept
        if labels is not None and np.isfinite(labels).any():
            with run_context(stop_requested=interrupted):
                kept = replace(kept, by_class=class_trust(X, places, labels, n_neighbors=k, sample_size=sample))
            yield kept
        some = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_CLUSTERED])
        with run_context(stop_requested=interrupted):
            for clusters in iterate_cluster_reliability(X[some], places[some]):
                if clusters.n_draws % DRAWS == 0:
                    yield replace(kept, clusters=clusters)
    except Interrupted:
        return


def neighbours_text(answer: Kept) -> str:
    """Say how many neighbours are the same, and draw how that depends on their number."""
    curve = answer.curve
    k = usable_neighbors(answer.n_rows)
    ((kept, chance),) = np.column_stack([curve.overlap, curve.chance])[curve.n_neighbors == k]
    nearest = "nearest row" if k == 1 else f"{k} nearest rows"
    text = (
        f"Of the {nearest} to a row in the data, {per_cent(kept)} are also its nearest on the map; on a random map it "
        f"would be {per_cent(chance)}."
    )
    lines = {
        "trustworthiness": (curve.trustworthiness, "curve 0"),
        "continuity": (curve.continuity, "curve 1"),
        "neighbours kept": (curve.overlap, "curve 2"),
        "neighbours kept by chance": (curve.chance, "muted"),
    }
    return paragraph(text) + side_by_side(curves("number of neighbours", curve.n_neighbors, lines))


def class_text(trust: ClassTrust, names: list[str]) -> str:
    """Say of which classes false and lost neighbours are; the classes with the most of them come first.

    `names`: of all classes, by their codes.
    """
    false, lost = (
        np.column_stack(each) for each in ((trust.false_other, trust.false_own), (trust.lost_other, trust.lost_own))
    )
    share = trust.n_rows / trust.n_rows.sum()
    (false_other, false_own), (lost_other, lost_own) = (share @ np.nan_to_num(each) for each in (false, lost))
    text = (
        f"False neighbours are close on the map but not in the data: {per_cent(false_other)} of the neighbours on the "
        f"map are false and of another class, {per_cent(false_own)} are false and of the same class. Lost neighbours "
        f"are close in the data but not on the map: {per_cent(lost_own)} of the neighbours in the data are lost and of "
        f"the same class, {per_cent(lost_other)} are lost and of another class, which a supervised map intends."
    )
    worst = np.nan_to_num(false[:, 0] + lost[:, 1])
    order = [code for code in np.argsort(-worst, kind="stable") if trust.n_rows[code]][:MOST_CLASSES]
    lines = [
        (
            widgets.escape(names[int(trust.classes[code])]),
            f"{trust.trustworthiness[code]:.2f}",
            f"{trust.continuity[code]:.2f}",
            f"{bar(false[code], (OTHER, OWN))} {per_cent(false[code, 0])}",
            f"{bar(lost[code], (OTHER, OWN))} {per_cent(lost[code, 1])}",
        )
        for code in order
    ]
    heads = (
        "class",
        "trustworthiness",
        "continuity",
        "false neighbours of other classes",
        "lost neighbours of the same class",
    )
    less = (
        f" The {MOST_CLASSES} worst of {len(trust.classes)} classes are listed."
        if len(trust.classes) > MOST_CLASSES
        else ""
    )
    key = (
        "Trustworthiness is 1 if no neighbour on the map is false, continuity is 1 if none is lost. "
        f"Red bars: neighbours of other classes; grey bars: of the same class.{less}"
    )
    return paragraph(text) + table(heads, lines) + paragraph(key, "quiet small")


def clusters_text(reliability: ClusterReliability) -> str:
    """Say whether clusters are real, and whether real ones are kept."""
    some = (
        ""
        if reliability.n_draws == reliability.n_iterations
        else f", {reliability.n_draws} of {reliability.n_iterations} draws so far"
    )
    return (
        f"Steadiness {per_cent(reliability.steadiness)}: how far clusters on the map are clusters in the data. "
        f"Cohesiveness {per_cent(reliability.cohesiveness)}: how far clusters in the data stay together on the "
        f"map{some}."
    )
