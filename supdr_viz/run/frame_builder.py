"""Snapshot → `Frame`: everything that one iteration shows, computed in a worker thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.engine.iterate import Snapshot
from supdr.rows.counting import points_in_polygon
from supdr_viz.data.split import Split
from supdr_viz.pictures.axis_columns import AxisColumns
from supdr_viz.pictures.fitted_values import LATENT, depends_on_fit, fitted_values
from supdr_viz.pictures.map_quality import InputRows
from supdr_viz.pictures.methods import Mode, mode_of
from supdr_viz.pictures.methods.few_labels_errors import FewLabelErrors
from supdr_viz.pictures.picture import Picture
from supdr_viz.pictures.row_colours import meaning_of, scene_density
from supdr_viz.pictures.scene import steady_extent, without_outliers
from supdr_viz.pictures.surface import LatentPlane, latent_axes, with_latent
from supdr_viz.pictures.types import Curves, Density, Frame, MapQuality, Scene, Surface


@dataclass(frozen=True)
class DisplayOptions:
    """The user's choice of what frames show.

    latent (one of "embedding", "transform"): where training rows stand: as learnt with their labels, or as new rows
        would.
    pull: join both positions.
    method_mode: name of a mode of the method's view, see `supdr_viz.pictures.methods`; ``"none"``: no picture.
    latent_axes: two latent coordinates, or None: the first two principal components when there are more than two.
    truth: how true the plane is, once the run is at rest.
    colour_by, size_by: what colours and sizes of rows mean, see `pictures.row_colours.row_colours`; sizes may mean
        nothing, "".
    """

    latent: str = "embedding"
    pull: bool = False
    method_mode: str = "none"
    latent_axes: tuple[int, int] | None = None
    truth: bool = False
    colour_by: str = "label"
    size_by: str = ""

    @property
    def computed(self) -> tuple[str, ...]:
        """What of the fitted method colours or sizes stand for."""
        return tuple(key for key in dict.fromkeys((self.colour_by, self.size_by)) if depends_on_fit(key))


def fitted_at(estimator: Any, snapshot: Snapshot, split: Split | None) -> Any:
    """Return the estimator as of a snapshot; of rows in partitions, standing on those of the sample that train."""
    if split is None or split.whole is None:
        return estimator.at(snapshot)
    return estimator.at_rows(snapshot, split.X_train, split.y_train, split.whole.rows)


class FrameBuilder:
    """Builds the frames of one run; remembers the latent axes so that the picture does not flip or jump.

    plane: the latent plane on display.
    surface: the latest one of this run, for pictures of predictions.
    complete: whether all rows that are drawn have a place in the latest frame.
    input_rows: says which rows are near.
    truth: the latest one of this run.
    """

    def __init__(self, scene: Scene, split: Split) -> None:
        self.scene, self.split = scene, split
        self.plane: LatentPlane | None = None
        self.surface: Surface | None = None
        self.input_rows = InputRows(scene, split)
        self.truth: MapQuality | None = None
        n_train = scene.n_train
        some = scene.drawn if split.whole is None else None
        self._drawn = None if some is None else np.sort(some)
        self._columns = AxisColumns((split.X_train, split.X_test), scene.feature_names, self._drawn)
        self._drawn_train = None if self._drawn is None else self._drawn[self._drawn < n_train]
        self._drawn_test = None if self._drawn is None else self._drawn[self._drawn >= n_train] - n_train
        few = scene.sample if scene.drawn is None and split.whole is None else None
        few = None if few is None else np.sort(few)
        self._few_train = self._drawn_train if few is None else few[few < n_train]
        self._few_test = self._drawn_test if few is None else few[few >= n_train] - n_train
        self.complete = True
        self._everyone: Callable[[], NDArray] | None = None
        self._places: NDArray | None = None
        self._latent: NDArray | None = None
        self._input_density: Density | None = None
        self._constant: dict[str, float] = {}
        self._counted: tuple[Density | None, int | None] = None, None
        self._picture: Picture | None = None
        self._number = 0

    def with_labels(self, scene: Scene, split: Split) -> FrameBuilder:
        """Return a builder of the same rows with other labels, which looks at them from where this one does."""
        other = FrameBuilder(scene, split)
        other.plane, other._number = self.plane, self._number
        return other

    def build(
        self,
        fitted: Any,
        snapshot: Snapshot,
        options: DisplayOptions,
        *,
        span: tuple[int, int],
        live: bool,
        losses: Curves,
        errors: Curves,
        numbers: dict[str, float],
        segments: tuple[int, ...] = (),
        study: FewLabelErrors | None = None,
        incomplete: str = "",
        everyone: bool = True,
    ) -> Frame:
        """Return the frame of `snapshot`.

        `fitted`: ``at(snapshot)``; `span`: first and last recorded iteration; `live`: whether this is the newest
        iteration; `numbers`: values for the status line; `segments`: iterations at which hyper-parameters changed;
        `study`: what an experiment has measured, for the modes that show it; without it they have no picture.
        `incomplete`: what the snapshot is of, where its step is not complete: then the method's picture stays that of
        the last complete one. `everyone`: whether all new rows that are drawn are embedded; else of many those of a
        sample are, and the others have no place.
        """
        as_new, calibrates = options.latent == "transform", bool(getattr(fitted, "refits_head", False))
        latent, pulled = self._positions(fitted, options, everyone, as_new=as_new, calibrates=calibrates)
        assert self.plane is not None
        n_components = fitted.embedding_.shape[1]
        if not incomplete:
            mode = self.mode(fitted, options.method_mode)
            self._picture = self._draw(mode, fitted, snapshot, losses=losses, segments=segments, study=study)
        if as_new:
            numbers, errors = _errors_as_new(numbers), replace(errors, values=_errors_as_new(errors.values))
        self._number += 1
        return Frame(
            number=self._number,
            iteration=snapshot.iteration,
            first_iteration=span[0],
            last_iteration=span[1],
            live=live,
            latent=latent,
            latent_extent=self.plane.extent,
            latent_caption=incomplete or _latent_caption(options, n_components, fitted.embedding_note),
            pulled=pulled,
            support=self._support(fitted),
            losses=losses,
            errors=errors,
            numbers=numbers,
            picture=self._picture,
            truth=self.truth if options.truth else None,
            axis_words=self._columns.words(latent) if n_components > 1 else ("", ""),
            as_new=as_new,
            only_training=calibrates and not as_new,
        )

    def _positions(
        self, fitted: Any, options: DisplayOptions, everyone: bool, *, as_new: bool, calibrates: bool
    ) -> tuple[NDArray, NDArray | None]:
        """Return where rows stand, as learnt or as new ones, and where they stand the other way if both are joined."""
        embedding = fitted.embedding_
        some_train, some_test = (self._drawn_train, self._drawn_test) if everyone else (self._few_train, self._few_test)
        both = options.pull or as_new
        folded = self._embedded(fitted, self.split.X_train, some_train) if both else embedding
        shown, other = (folded, embedding) if as_new else (embedding, folded)
        test = self._embedded(fitted, self.split.X_test, some_test)
        self.complete = some_test is self._drawn_test
        latent = self._place(shown, test, options.latent_axes, as_new=as_new, calibrates=calibrates)
        self._everyone = partial(latent_rows, fitted, self.split, options.latent)
        assert self.plane is not None
        return latent, self.scene.padded(self.plane.place(other)) if options.pull else None

    def incomplete_surface(self, fitted: Any) -> Surface | None:
        """Return the latest surface with the latent boundary of a step that is not complete; None: there is none.

        `fitted`: as of what is known of the step; its calibrated head is not.
        """
        if self.surface is None or self.surface.latent is None or self.plane is None or self.plane.head != "fitted":
            return None
        return with_latent(self.surface, fitted, self.scene, self.plane)

    def reframed_surface(self, fitted: Any) -> Surface | None:
        """Return the latest surface with latent regions that fill the plane on display; None: they do, or none exist.

        `fitted`: as of the frame.
        """
        sheet = None if self.surface is None else self.surface.latent
        if self.surface is None or sheet is None or self.plane is None or sheet.extent == self.plane.extent:
            return None
        return with_latent(self.surface, fitted, self.scene, self.plane)

    def valued(self, surface: Surface, fitted: Any, options: DisplayOptions) -> Surface:
        """Return a surface with what colours and sizes stand for, as far as it is computed from the fitted method.

        `fitted`: whose surface it is.
        """
        return replace(surface, values={key: self._computed(key, fitted, surface) for key in options.computed})

    def counted(
        self, surface: Surface, fitted: Any, snapshot: Snapshot, *, colour_by: str = "label", everywhere: bool = True
    ) -> Surface:
        """Return a surface with what is to be said of all rows, if not all are drawn singly.

        `fitted`: whose surface it is. `colour_by`: see `DisplayOptions`; rows on disk are counted by their labels.
        `everywhere`: whether rows on disk are counted now; else the surface says what was counted last.
        """
        if self.plane is None:
            return surface
        if self.split.whole is not None:
            return self._counted_on_disk(surface, fitted, snapshot, everywhere)
        if self.scene.drawn is None:
            return surface
        scene, latent, plane = self.scene, self.latent, self.plane
        assert latent is not None
        colour_by = meaning_of(scene, colour_by)
        density = scene_density(scene, latent, plane.extent, surface, colour_by, self.truth)
        in_input = scene.density
        if colour_by != "label":
            in_input = scene_density(scene, scene.position, scene.plane.extent, surface, colour_by, self.truth)
        return replace(surface, density=density, input_density=in_input)

    def _computed(self, key: str, fitted: Any, surface: Surface) -> NDArray:
        """Return what of the fitted method a colour or a size stands for, of all rows."""
        latent = self._everyone() if key.startswith(LATENT) and self._everyone is not None else None
        return fitted_values(key, fitted, self.scene, self.split, surface, latent)

    def _counted_on_disk(self, surface: Surface, fitted: Any, snapshot: Snapshot, everywhere: bool) -> Surface:
        from supdr_viz.pictures.all_rows import constant_everywhere, count_everywhere, input_density

        rates: dict[str, float] = {}
        if everywhere:
            whole = self.split.whole
            assert whole is not None
            assert self.plane is not None
            if self._input_density is None:
                self._input_density = input_density(whole, self.scene)
                if self.scene.task == "regression":
                    self._constant = {"constant": constant_everywhere(whole, self.scene)}
            assert self.places is not None
            len(snapshot.diagnostics)  # of all rows, too
            rows = count_everywhere(fitted, snapshot, whole, self.plane, self.places, self.scene)
            self._counted, rates = (rows.density, snapshot.iteration), {**rows.rates, **self._constant}
        density, counted = self._counted
        return replace(surface, density=density, input_density=self._input_density, counted=counted, rates=rates)

    def count_within(self, view: str, corners: NDArray, fitted: Any) -> int | None:
        """Count all rows within a polygon of a view.

        `view`: one of "input", "latent"; `corners` (k, 2); `fitted`: as of the iteration on display, where rows are on
        disk. Returns None: there are no such rows yet.
        """
        whole, latent = self.split.whole, view == "latent"
        if whole is None:
            points = self.latent if latent else self.scene.position
            return None if points is None else int(points_in_polygon(points, corners).sum())
        from supdr_viz.pictures.all_rows import count_within, latent_grid, scene_grid

        if fitted is None or self.plane is None or self.places is None:
            return None
        grid = latent_grid(self.plane, self.places, self.scene) if latent else scene_grid(self.scene)
        return count_within(fitted, whole, grid, corners, latent=latent)

    def mode(self, estimator: Any, name: str) -> Mode | None:
        """Return the mode of this name that an estimator has on these rows, or None."""
        return mode_of(estimator, self.scene.task, name, images=self.scene.images is not None)

    def _draw(self, mode: Mode | None, fitted: Any, snapshot: Snapshot, **recorded: Any) -> Picture | None:
        """Build the picture of a mode that the method has."""
        if mode is None or (mode.is_measured and recorded["study"] is None):
            return None
        assert self.plane is not None
        previous = self._picture if self._picture is not None and self._picture.mode == mode.name else None
        offered = {
            **recorded,
            **{"fitted": fitted, "snapshot": snapshot, "previous": previous, "input_rows": self.input_rows},
            **{"scene": self.scene, "split": self.split, "plane": self.plane, "surface": self.surface},
        }
        if "places" in mode.needs:
            offered["places"] = self.places
        return mode.draw(offered)

    def _place(
        self, shown: NDArray, test: NDArray, axes: tuple[int, int] | None, *, as_new: bool, calibrates: bool
    ) -> NDArray:
        """Place the rows that are drawn singly; the others are counted, and when it is their turn."""
        previous, drawn = self.plane, self._drawn
        some = shown if self._drawn_train is None else shown[self._drawn_train]
        some = some if self.complete else some[np.isfinite(some).all(axis=1)]
        head = "calibrated" if as_new and calibrates else "fitted"
        mean, directions = latent_axes(some, axes, previous.axes if previous else None)
        plane = LatentPlane(mean, directions, head=head, as_new=as_new)
        train = shown if self._drawn_train is None else shown[self._drawn_train]
        rows = np.concatenate([train, test if self._drawn_test is None else test[self._drawn_test]])
        points = plane.place(rows)
        observed = points if self.complete else points[np.isfinite(points).all(axis=1)]
        plane.extent = steady_extent(without_outliers(observed), previous.extent if previous else None)
        self.plane = plane
        whole = drawn is None and self.complete
        self._places = plane.project(rows) if whole else None
        self._latent = points if whole else None
        if drawn is None:
            return points
        latent = np.full((len(self.scene.position), 2), np.nan)
        latent[drawn] = points
        return latent

    def _embedded(self, fitted: Any, X: NDArray, drawn: NDArray | None) -> NDArray:
        """Embed rows as new ones; of very many only those that are drawn, and NaN for the others."""
        if drawn is None:
            return fitted.transform(X) if len(X) else fitted.embedding_[:0]
        latent = np.full((len(X), fitted.embedding_.shape[1]), np.nan)
        if len(drawn):
            latent[drawn] = fitted.transform(X[drawn])
        return latent

    @property
    def places(self) -> NDArray | None:
        """Where all rows stand in the latent plane, (n, 2); those of one dimension on a line.  None before a frame."""
        if self._places is None and self._everyone is not None and self.plane is not None:
            self._places = self.plane.project(self._everyone())
        return self._places

    @property
    def latent(self) -> NDArray | None:
        """Where all rows are shown in the latent plane, (n, 2); None before the first frame."""
        if self._latent is None and self._everyone is not None and self.plane is not None:
            self._latent = self.plane.place(self._everyone())
        return self._latent

    def _support(self, fitted: Any) -> NDArray:
        support = np.zeros(len(self.scene.position), dtype=bool)
        if hasattr(fitted, "support_"):
            support[fitted.support_] = True
        return support


def latent_rows(fitted: Any, split: Split, shown: str) -> NDArray:
    """Return the latent rows of all rows, training rows first: as learnt, or as new ones."""
    train = fitted.transform(split.X_train) if shown == "transform" else fitted.embedding_
    return np.concatenate([train, fitted.transform(split.X_test)]) if len(split.X_test) else train


def _errors_as_new(errors: dict[str, Any]) -> dict[str, Any]:
    """Let the error of training rows be that of them as new ones, where it is known."""
    if "as new" not in errors:
        return errors
    return {name: errors["as new" if name == "train" else name] for name in errors if name != "as new"}


def _latent_caption(options: DisplayOptions, n_components: int, embedding: str) -> str:
    """Say what the rows are or, where a plane of them is drawn, which: there is room for few words."""
    if n_components == 1:
        return "one dimension; random heights"
    if n_components == 2:
        return "placed without labels" if options.latent == "transform" else embedding
    if options.latent_axes is not None and max(options.latent_axes) < n_components:
        first, second = options.latent_axes
        return f"z{first + 1}, z{second + 1} of {n_components}"
    return f"2 of {n_components} dimensions"
