"""The player: what it shows is what the library computes, whatever the user does and when."""

import time
from dataclasses import replace

import numpy as np
import pytest

import supdr
from supdr_viz.frames.scene import build_scene
from supdr_viz.run.builder import DisplayOptions
from supdr_viz.run.player import SLOW_START, STEPS_PER_SECOND, Trainer
from supdr_viz.run.pool import Pool
from supdr_viz.run.status import Phase
from supdr_viz.settings.making import Unusable, build_dataset, build_estimator, split
from supdr_viz.settings.menu import MENU
from supdr_viz.settings.state import Settings

SETTINGS = Settings(
    data="spirals", data_options={"n_per_class": 60}, method="LSDR", method_options={"max_iter": 100_000, "tol": 0.0}
)


@pytest.fixture
def pool():
    return Pool(threads=1)


@pytest.fixture
def trainer(pool):
    trainer = Trainer(pool, lambda: None)
    load(trainer, SETTINGS)
    yield trainer
    trainer.close()


def load(trainer, settings):
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    trainer.load(build_estimator(settings, dataset.task), parts, build_scene(dataset, parts))
    return parts


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError("waited in vain")


def next_frame(trainer, condition=lambda frame: True):
    def look():
        frame = trainer.take_frame()
        if frame is not None:
            trainer.request_frame()
        return frame if frame is not None and condition(frame) else None

    return wait_for(look)


def settle(trainer):
    """Wait for the end of the slice that may be under way: from then on a paused run takes no step."""
    wait_for(lambda: trainer not in trainer._pool._busy)


def reach(trainer, iteration):
    wait_for(lambda: trainer.newest is not None and trainer.newest.iteration >= iteration)


def test_it_waits_at_the_start_and_shows_it(trainer):
    frame = next_frame(trainer)
    assert trainer.status.phase is Phase.ready
    assert frame.iteration == 0
    assert frame.latent.dtype == np.float32
    assert frame.latent.shape == (120, 2)
    time.sleep(0.1)
    assert trainer.newest.iteration == 0


def test_steps_are_those_of_the_library(trainer):
    parts = load(trainer, SETTINGS)
    for count in range(1, 4):
        trainer.step()
        reach(trainer, count)
    wait_for(lambda: trainer.status.phase is Phase.paused)
    expected = list(
        build_estimator(replace(SETTINGS, method_options={"max_iter": 3, "tol": 0.0})).iterate(
            parts.X_train, parts.y_train
        )
    )[-1]
    assert trainer.newest.iteration == 3
    for ours, theirs in zip(trainer.newest.state, expected.state):
        np.testing.assert_array_equal(ours, theirs)


def test_pause_holds_and_run_carries_on_as_if_never_paused(trainer):
    trainer.set_speed("fast")
    trainer.run()
    reach(trainer, 5)
    trainer.pause()
    settle(trainer)
    held = trainer.newest.iteration
    time.sleep(0.15)
    assert trainer.newest.iteration == held
    trainer.run()
    reach(trainer, held + 20)
    trainer.pause()
    settle(trainer)
    newest = trainer.newest
    straight = list(
        trainer._estimator.set_params(max_iter=newest.iteration).iterate(trainer._split.X_train, trainer._split.y_train)
    )[-1]
    np.testing.assert_array_equal(newest.state.latent, straight.state.latent)


def test_a_run_ends_by_itself_and_can_go_on(trainer):
    load(trainer, replace(SETTINGS, method_options={"max_iter": 10, "tol": 0.0}))
    trainer.set_speed("fast")
    trainer.run()
    wait_for(lambda: trainer.status.phase is Phase.finished)
    assert trainer.newest.iteration == 10
    trainer.run()
    reach(trainer, 20)


def test_slow_is_slow_and_fast_is_faster(trainer):
    trainer.set_speed("slow")
    next_frame(trainer)
    began = time.monotonic()
    trainer.run()
    reach(trainer, 4)
    interval = 1 / STEPS_PER_SECOND["slow"]
    assert time.monotonic() - began > 2 * interval - 0.02  # the first two may come at once
    assert trainer._next_step - time.monotonic() <= interval  # and the next one is not put off for longer
    trainer.set_speed("fast")
    reach(trainer, 300)  # at three a second this would take longer than is waited for


def test_scrubbing_shows_the_past_while_the_run_goes_on_and_continues_from_there(trainer):
    trainer.set_speed("fast")
    trainer.run()
    reach(trainer, 40)
    trainer.show(10)
    frame = next_frame(trainer, lambda frame: not frame.live)
    assert frame.iteration == 10
    assert trainer.newest.iteration >= 40
    trainer.pause()
    trainer.show(10)
    trainer.step()
    wait_for(lambda: trainer.newest.iteration == 11)
    expected = list(trainer._estimator.set_params(max_iter=11).iterate(trainer._split.X_train, trainer._split.y_train))[
        -1
    ]
    np.testing.assert_array_equal(trainer.newest.state.latent, expected.state.latent)
    assert trainer.curves()[0].iteration[-1] == 11


def test_a_changed_hyper_parameter_acts_on_the_running_state(trainer):
    trainer.set_speed("fast")
    trainer.run()
    reach(trainer, 20)
    trainer.change(build_estimator(replace(SETTINGS, method_options={**SETTINGS.method_options, "beta": 0.5})))
    reach(trainer, trainer.newest.iteration + 20)
    assert len(trainer.legs) == 2
    first, second = trainer.legs
    assert first.last_iteration == second.first_iteration >= 20
    assert second.estimator.beta == 0.5


def test_reset_goes_back_to_the_start(trainer):
    trainer.run()
    reach(trainer, 2)
    trainer.reset()
    wait_for(lambda: trainer.status.phase is Phase.ready)
    assert trainer.newest.iteration == 0
    assert trainer.curves()[0].iteration.tolist() == [0]


def test_surfaces_are_coarse_while_running_and_fine_at_rest(trainer):
    fine = wait_for(trainer.take_surface)
    trainer.run()
    coarse = wait_for(lambda: next((s for s in [trainer.take_surface()] if s is not None and s.iteration > 0), None))
    assert coarse.input.resolution < fine.input.resolution
    trainer.pause()
    last = wait_for(
        lambda: next((s for s in [trainer.take_surface()] if s is not None and s.input.resolution > 60), None)
    )
    assert last.iteration == trainer.newest.iteration


def test_errors_shown_are_those_of_the_library(trainer):
    parts = load(trainer, SETTINGS)
    for _ in range(5):
        trainer.step()
    reach(trainer, 5)
    numbers = next_frame(
        trainer, lambda frame: frame.iteration == 5 and frame.errors.iteration[-1:].tolist() == [5]
    ).numbers
    model = supdr.LSDR(max_iter=5, tol=0.0, random_state=0).fit(parts.X_train, parts.y_train)
    assert numbers["test"] == pytest.approx(100 * (1 - model.score(parts.X_test, parts.y_test)))
    assert numbers["train"] == pytest.approx(100 * np.mean(model.transduction_ != parts.truth_train))


def test_early_stopping_shows_the_error_of_the_rows_it_holds_out(trainer):
    load(trainer, replace(SETTINGS, method_options={"max_iter": 8, "tol": 0.0, "early_stopping": True}))
    trainer.set_speed("fast")
    trainer.run()
    wait_for(lambda: trainer.status.phase is Phase.finished)
    newest = trainer.newest

    # The best iteration is the newest in the end; the curve may hold later ones, which were drawn on the way.
    errors = next_frame(trainer, lambda frame: newest.iteration in frame.errors.iteration).errors
    (curve,) = errors.values["validation"][errors.iteration == newest.iteration]
    assert curve == pytest.approx(100 * newest.diagnostics["validation_error"])


def test_a_failing_run_says_why_and_another_one_works(trainer):
    load(trainer, replace(SETTINGS, method_options={"max_iter": 10}))
    broken = supdr.LSDR(beta=-1.0)
    trainer.change(broken)
    wait_for(lambda: trainer.status.phase is Phase.failed)
    assert "beta" in trainer.status.message
    load(trainer, SETTINGS)
    wait_for(lambda: trainer.status.phase is Phase.ready)


def test_divergence_keeps_the_last_finite_iterate_and_advises(trainer):
    settings = replace(
        SETTINGS, method_options={"solver": "sgd", "lr_reconstruction": 1e3, "max_iter": 200, "tol": 0.0}
    )
    load(trainer, settings)
    trainer.set_speed("fast")
    trainer.run()
    wait_for(lambda: trainer.status.phase is Phase.diverged)
    assert "learning rate" in trainer.status.message
    assert np.isfinite(trainer.newest.state.latent).all()


def test_suspending_holds_the_run(trainer):
    trainer.set_speed("fast")
    trainer.run()
    reach(trainer, 3)
    trainer.suspend(True)
    settle(trainer)
    held = trainer.newest.iteration
    time.sleep(0.2)
    assert trainer.newest.iteration == held
    trainer.suspend(False)
    reach(trainer, held + 5)


def test_a_run_asked_for_at_the_moment_the_last_one_ends_is_not_lost(pool):
    def go_on():
        if trainer.status.phase is Phase.finished and trainer.newest.iteration < 30:
            trainer.run()

    trainer = Trainer(pool, go_on)
    load(trainer, replace(SETTINGS, method_options={"max_iter": 10, "tol": 0.0}))
    trainer.set_speed("fast")
    trainer.run()
    reach(trainer, 30)
    trainer.close()


def test_closing_frees_the_data_and_leaves_the_pool(pool):
    trainer = Trainer(pool, lambda: None)
    load(trainer, SETTINGS)
    trainer.run()
    trainer.close()
    assert pool.n_jobs == 0
    assert trainer.newest is None
    time.sleep(0.1)
    assert trainer.newest is None


def test_several_runs_share_the_pool(pool):
    trainers = [Trainer(pool, lambda: None) for _ in range(5)]
    for trainer in trainers:
        load(trainer, SETTINGS)
        trainer.set_speed("fast")
        trainer.run()
    for trainer in trainers:
        reach(trainer, 30)
        trainer.close()


@pytest.mark.parametrize("mode", ["reconstruction", "margins"])
@pytest.mark.parametrize("latent", ["embedding", "transform"])
def test_view_options_change_the_frame(trainer, mode, latent):
    trainer.set_options(DisplayOptions(latent=latent, pull=latent == "embedding", method_mode=mode))
    # A frame that was asked for before the change may still arrive.
    frame = next_frame(
        trainer,
        lambda frame: (
            latent in frame.latent_caption
            and frame.picture is not None
            and frame.picture.mode == mode
            and (frame.pulled is not None) == (latent == "embedding")
        ),
    )
    assert (frame.pulled is not None) == (latent == "embedding")


def test_a_slow_start_slows_the_first_steps_only(trainer):
    trainer.set_slow_start(4)
    trainer.set_speed("fast")
    next_frame(trainer)
    began = time.monotonic()
    trainer.run()
    wait_for(lambda: trainer.newest.iteration >= 5)
    assert time.monotonic() - began > 3 / SLOW_START - 0.02  # the first two may come at once
    reach(trainer, 300)  # at four a second this would take longer than is waited for
    trainer.pause()


def test_an_experiment_on_display_goes_on_while_nothing_runs(trainer):
    load(trainer, Settings(data="diabetes", method="SNF", label_share=0.1, method_options={"max_iter": 3}))
    trainer.set_options(DisplayOptions(method_mode="methods"))
    done = next_frame(trainer, lambda frame: frame.picture is not None and len(frame.picture.areas) >= 1)
    assert done.iteration == 0
    trainer.set_options(DisplayOptions(method_mode="predictions"))
    next_frame(trainer, lambda frame: frame.picture is not None and frame.picture.mode == "predictions")
    (study,) = trainer._painter.builder.studies.values()
    before = study.done
    time.sleep(0.1)
    assert study.done == before  # out of sight, nothing is worked on
    trainer.set_scene(trainer._painter.builder.scene)
    trainer.set_options(DisplayOptions(method_mode="methods"))
    next_frame(trainer, lambda frame: frame.picture is not None and frame.picture.mode == "methods")
    assert trainer._painter.builder.studies["methods"] is study  # another plane does not lose it
    assert study.done >= before


FOR_BITS = [name for name, method in MENU.items() if hasattr(method.estimator(), "family_x")]


@pytest.mark.parametrize("method", FOR_BITS)
def test_between_bits_there_are_no_regions(trainer, method):
    load(trainer, Settings(data="digits_bits", method=method))
    trainer.step()
    surface = wait_for(trainer.take_surface)
    assert surface.input is None
    assert surface.latent is not None
    assert trainer.status.phase is not Phase.failed, trainer.status.message


@pytest.mark.parametrize("method", [name for name, method in MENU.items() if not method.bits_only])
@pytest.mark.parametrize("data", ["spirals", "iris", "diabetes"])
def test_every_method_shows_on_every_kind_of_data(trainer, method, data):
    options = {"n_per_class": 40} if data == "spirals" else {}
    if ("regression" if data == "diabetes" else "classification") not in MENU[method].tasks():
        with pytest.raises(Unusable, match="these data are for"):
            load(trainer, Settings(data=data, data_options=options, method=method))
        return
    load(trainer, Settings(data=data, data_options=options, method=method))
    trainer.step()
    patience = {"UMAP": 120.0}.get(method, 60.0)  # umap-learn compiles itself at its first run
    surface = wait_for(trainer.take_surface, patience)
    assert surface.input is not None
    assert surface.latent is not None
    assert trainer.status.phase is not Phase.failed, trainer.status.message


def test_regression_shows_values(trainer):
    load(trainer, Settings(data="diabetes", method="LSDR"))
    trainer.step()
    surface = wait_for(trainer.take_surface)
    assert surface.predicted.dtype == np.float32
    assert not surface.wrong.any()
    assert trainer.status.phase is not Phase.failed, trainer.status.message


def test_an_earlier_iteration_is_shown_by_the_settings_it_was_made_under(trainer):
    trainer.set_speed("fast")
    trainer.run()
    reach(trainer, 5)
    trainer.pause()
    settle(trainer)
    trainer.change(build_estimator(SETTINGS.with_options(beta=0.9)))
    trainer.step()
    wait_for(lambda: len(trainer.legs) == 2)
    trainer.show(2)
    assert trainer.fitted.beta == trainer.legs[0].estimator.beta
    trainer.show(None)
    assert trainer.fitted.beta == 0.9
