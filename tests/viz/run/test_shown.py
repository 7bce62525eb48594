"""What a player shows: the frame and the surface that belong to what is looked at."""

from dataclasses import replace

import numpy as np
import pytest

from supdr_viz.experiment.build import Unusable, build_dataset, build_estimator
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings
from supdr_viz.experiment.splitting import split
from supdr_viz.pictures.density import COSTLY
from supdr_viz.pictures.scene import build_scene, thinned
from supdr_viz.run.frame_builder import DisplayOptions
from supdr_viz.run.status import Phase
from tests.viz.hands import SPIRALS, load, next_frame, reach

SETTINGS = SPIRALS


@pytest.mark.parametrize("mode", ["reconstruction", "margins"])
@pytest.mark.parametrize("latent", ["embedding", "transform"])
def test_view_options_change_the_frame(hands, player, mode, latent):
    player.set_options(DisplayOptions(latent=latent, pull=True, method_mode=mode))
    # A frame that was asked for before the change may still arrive.
    frame = next_frame(
        hands,
        player,
        lambda frame: (
            frame.latent_caption == {"embedding": "placed using labels", "transform": "placed without labels"}[latent]
            and frame.picture is not None
            and frame.picture.mode == mode
            and frame.pulled is not None
        ),
    )
    train = np.isfinite(frame.pulled).all(axis=1)
    assert np.abs(frame.pulled[train] - frame.latent[train]).max() > 0.01  # it leads elsewhere


def test_other_colours_of_many_rows_are_counted_without_another_surface(hands, player):
    settings = Settings(data="blobs", data_options={"n_samples": COSTLY + 1000}, method="LSDR")
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    player.load(build_estimator(settings, dataset.task), parts, thinned(build_scene(dataset, parts)))

    def counted_by(colour_by, latest=None):
        player.set_options(DisplayOptions(truth=colour_by == "trust", colour_by=colour_by))

        def look():
            player.take_frame()
            player.request_frame()
            surface = player.take_surface()
            shown = surface is not None and surface.density is not None and surface.density.colour_by == colour_by
            return surface if shown and surface is not latest else None

        return hands.until(look)

    player.request_frame()
    hands.rest()
    by_label, by_error, unknown = (counted_by(colour_by) for colour_by in ("label", "error", "trust"))
    assert by_error.latent is by_label.latent
    assert [each.colour_by for each in (by_error.input_density, by_error.density)] == ["error"] * 2
    assert not unknown.density.levels[:-1].any()
    measured = counted_by("trust", unknown)
    assert measured.density.levels[:-1].any()
    assert not measured.density.levels[-1].any()


def test_of_many_rows_all_have_a_place_at_rest(hands, player):
    settings = Settings(data="blobs", data_options={"n_samples": COSTLY + 1000}, method="LSDR")
    load(player, settings)
    player.run(hurry_to=2, until=2)
    reach(hands, player, 2)
    player.request_frame()
    frame = next_frame(hands, player, lambda frame: np.isfinite(frame.latent).all())
    assert frame.iteration == 2


def test_a_bound_closes_at_rest_however_often_it_was_looked_at(hands, player):
    data = {"n_per_class": 40, "n_classes": 3}
    mac = {"n_centers": 30, "n_components": 3, "max_iter": 20, "tol": 0.0}
    load(player, replace(SETTINGS, data_options=data, method="MAC", method_options=mac))
    hands.rest()
    player.run(hurry_to=20)
    reach(hands, player, 20)
    early = player.shown.diagnostics["bound"]
    player.request_frame()
    hands.rest()
    assert player.shown.diagnostics["bound"] > 1.1 * early
    assert not player.shown.diagnostics.refine()
    player.request_frame()
    hands.rest()
    last = player.take_frame()
    assert last.losses.values["bound"][-1] == player.shown.diagnostics["bound"]


def test_an_experiment_on_display_goes_on_while_nothing_runs(hands, player):
    settings = Settings(data="diabetes", method="SNF", label_share=0.1, method_options={"max_iter": 3})
    parts = load(player, settings)
    player.set_options(DisplayOptions(method_mode="methods"))
    done = next_frame(hands, player, lambda frame: frame.picture is not None and len(frame.picture.areas) >= 1)
    assert done.iteration == 0
    player.set_options(DisplayOptions(method_mode="predictions"))
    next_frame(hands, player, lambda frame: frame.picture is not None and frame.picture.mode == "predictions")
    shown = len(done.picture.areas)
    player.set_scene(build_scene(build_dataset(settings), parts))
    player.set_options(DisplayOptions(method_mode="methods"))
    again = next_frame(hands, player, lambda frame: frame.picture is not None and frame.picture.mode == "methods")
    assert len(again.picture.areas) >= shown  # another plane does not lose what was measured


FOR_BITS = [name for name, method in MENU.items() if hasattr(method.estimator(), "family_x")]


@pytest.mark.parametrize("method", FOR_BITS)
def test_between_bits_there_are_no_regions(hands, player, method):
    load(player, Settings(data="digits_bits", method=method))
    player.step()
    surface = hands.until(player.take_surface)
    assert surface.input is None
    assert surface.latent is not None
    assert player.status.phase is not Phase.failed, player.status.message


OF_AN_EXTRA = ("UMAP", "PaCMAP")  # whose first fit compiles for seconds, in another process


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(name, marks=pytest.mark.slow if name in OF_AN_EXTRA else ())
        for name, method in MENU.items()
        if not method.bits_only
    ],
)
@pytest.mark.parametrize("data", [pytest.param("spirals", marks=pytest.mark.slow), "iris", "diabetes"])
def test_every_method_shows_on_every_kind_of_data(hands, player, method, data):
    options = {"n_per_class": 40} if data == "spirals" else {}
    if ("regression" if data == "diabetes" else "classification") not in MENU[method].tasks():
        with pytest.raises(Unusable, match="but this target is"):
            load(player, Settings(data=data, data_options=options, method=method))
        return
    load(player, Settings(data=data, data_options=options, method=method))
    player.step()
    surface = hands.until(player.take_surface)
    assert surface.input is not None
    assert surface.latent is not None
    assert player.status.phase is not Phase.failed, player.status.message


def test_regression_shows_values(hands, player):
    load(player, Settings(data="diabetes", method="LSDR"))
    player.step()
    surface = hands.until(player.take_surface)
    assert surface.predicted.dtype == np.float64
    assert not surface.wrong.any()
    assert player.status.phase is not Phase.failed, player.status.message


def test_an_earlier_iteration_is_shown_by_the_settings_it_was_made_under(hands, player):
    player.set_speed("fast")
    player.run()
    reach(hands, player, 5)
    player.pause()
    player.change(build_estimator(SETTINGS.with_options(beta=0.9)))
    player.step()
    hands.until(lambda: len(player.segments) == 2)
    player.show(2)
    assert player.fitted.beta == player.segments[0].estimator.beta
    player.show(None)
    assert player.fitted.beta == 0.9
