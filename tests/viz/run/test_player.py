"""The player: what it shows is what the library computes, whatever the user does and when."""

import threading
from dataclasses import replace

import numpy as np
import pytest

import supdr
from supdr.methods.lsdr.problem import LSDRProblem
from supdr_viz.experiment.build import build_estimator
from supdr_viz.run.frame_job import FRAME_INTERVAL
from supdr_viz.run.player import Player
from supdr_viz.run.pool import Pool
from supdr_viz.run.status import Phase
from tests.viz.hands import SPIRALS, Hands, load, next_frame, reach

SETTINGS = SPIRALS


def straight(parts, settings, count):
    """What the library computes on its own."""
    estimator = build_estimator(settings.with_options(max_iter=count + 1))
    return next(each for each in estimator.iterate(parts.X_train, parts.y_train) if each.iteration == count)


def assert_same_state(ours, theirs):
    assert ours.iteration == theirs.iteration
    for mine, expected in zip(ours.state, theirs.state):
        np.testing.assert_array_equal(mine, expected)


def test_it_waits_at_the_start_and_shows_it(hands, player):
    frame = next_frame(hands, player)
    assert player.status.phase is Phase.ready
    assert frame.iteration == 0
    assert frame.latent.dtype == np.float64
    assert frame.latent.shape == (120, 2)
    hands.rest()
    assert player.iteration == 0


def test_steps_are_those_of_the_library(hands, player):
    parts = load(player, SETTINGS)
    for _ in range(3):
        player.step()
        hands.rest()
    assert player.status.phase is Phase.paused
    assert player.iteration == 3
    assert_same_state(player.newest, straight(parts, SETTINGS, 3))


def test_pause_holds_and_run_carries_on_as_if_never_paused(hands, player):
    parts = load(player, SETTINGS)
    player.set_speed("fast")
    player.run()
    reach(hands, player, 5)
    player.pause()
    held = player.iteration
    hands.rest()
    assert player.iteration == held
    player.run()
    reach(hands, player, held + 20)
    assert_same_state(player.newest, straight(parts, SETTINGS, player.iteration))


def test_what_takes_time_is_only_computed_of_what_is_seen(hands, player, monkeypatch):
    """Diagnostics are looked at once a frame, while commands go through; curves take what they say."""
    looks, obeyed = [], []

    def diagnostics(problem, state):
        looks.append(state.iteration)
        command = threading.Thread(target=player.set_slow_start, args=(0,))
        command.start()
        command.join(60.0)
        obeyed.append(not command.is_alive())
        return {"bound": 0.5 * problem.losses(state)["objective"]}

    monkeypatch.setattr(LSDRProblem, "diagnostics", diagnostics)
    load(player, SETTINGS)
    player.set_speed("fast")
    player.run()
    seen = [next_frame(hands, player, lambda frame: frame.iteration > 0) for _ in range(5)]
    player.pause()
    hands.rest()
    seen.append(player.take_frame() or seen[-1])
    iterations = [frame.iteration for frame in seen]
    assert len(looks) == len(set(looks)) < player.iteration / 2
    assert set(iterations) <= set(looks)
    assert all(obeyed)
    losses = seen[-1].losses
    known = np.isfinite(losses.values["bound"])
    assert set(losses.iteration[known]) == set(looks)
    np.testing.assert_allclose(losses.values["bound"][known], 0.5 * losses.values["objective"][known])
    assert seen[-1].numbers["gap"] == pytest.approx(50.0)


def test_a_run_ends_by_itself_and_can_go_on(hands, player):
    load(player, replace(SETTINGS, method_options={"max_iter": 10, "tol": 0.0}))
    player.set_speed("fast")
    player.run()
    hands.until(lambda: player.status.phase is Phase.finished)
    assert player.newest.iteration == 10
    player.run()
    reach(hands, player, 20)


def test_slow_is_slow_and_fast_is_faster(hands, player):
    steps = {}
    for speed in ("slow", "normal", "fast"):
        load(player, SETTINGS)
        player.set_speed(speed)
        hands.rest()
        player.run()
        hands.work(4.0)
        steps[speed] = player.iteration
    assert steps["slow"] == pytest.approx(4 * 3, abs=2)
    assert steps["normal"] == pytest.approx(4 * 15, abs=2)
    assert steps["fast"] > 5 * steps["normal"]


def test_scrubbing_shows_the_past_while_the_run_goes_on_and_continues_from_there(hands, player):
    parts = load(player, SETTINGS)
    player.set_speed("fast")
    player.run()
    reach(hands, player, 40)
    player.show(10)
    frame = next_frame(hands, player, lambda frame: not frame.live)
    assert frame.iteration == 10
    assert player.iteration > 40
    player.pause()
    player.show(10)
    player.step()
    hands.rest()
    assert_same_state(player.newest, straight(parts, SETTINGS, 11))
    assert player.curves()[0].iteration[-1] == 11


def test_a_changed_hyper_parameter_acts_on_the_running_state(hands, player):
    player.set_speed("fast")
    player.run()
    reach(hands, player, 20)
    player.change(build_estimator(replace(SETTINGS, method_options={**SETTINGS.method_options, "beta": 0.5})))
    reach(hands, player, player.newest.iteration + 20)
    assert len(player.segments) == 2
    first, second = player.segments
    assert first.last_iteration == second.first_iteration >= 20
    assert second.estimator.beta == 0.5


def test_reset_goes_back_to_the_start(hands, player):
    player.run()
    reach(hands, player, 2)
    player.reset()
    hands.rest()
    assert player.status.phase is Phase.ready
    assert player.iteration == 0
    assert player.curves()[0].iteration.tolist() == [0]


def test_surfaces_are_coarse_while_running_and_fine_at_rest(hands, player):
    def on_the_way():
        player.request_frame()
        surface = player.take_surface()
        return surface if surface is not None and surface.iteration > 0 else None

    fine = hands.until(player.take_surface)
    player.run()
    coarse = hands.until(on_the_way)
    assert coarse.input.resolution < fine.input.resolution
    player.pause()
    last = hands.until(
        lambda: next((s for s in [player.take_surface()] if s is not None and s.input.resolution > 60), None)
    )
    assert last.iteration == player.newest.iteration


def test_while_a_run_goes_on_surfaces_are_of_what_the_page_shows(hands, player):
    """None is made for a page that has not drawn the frame before."""
    load(player, SETTINGS.with_options(solver="sgd", tol=0.0, max_iter=100_000))
    player.set_speed("fast")
    player.run()
    hands.work(0.5)
    player.take_frame(), player.take_surface()
    hands.work(1.0)
    assert player.take_surface() is None
    shown = []
    for _ in range(20):
        player.request_frame()
        hands.work(0.1)
        frame, surface = player.take_frame(), player.take_surface()
        shown.append(frame.iteration)
        assert surface is None or surface.iteration in shown
    assert len(shown) == len(set(shown))


def test_a_change_is_answered_before_the_page_has_drawn_the_frame_before(hands, player):
    player.run()
    hands.until(player.take_frame)
    hands.work(0.5)
    assert player.take_frame() is None  # the page has not asked for it
    assert not player.hurries
    began = hands.now
    player.change(build_estimator(SETTINGS.with_options(beta=0.9)))
    hands.until(lambda: player.hurries)
    assert hands.now - began < 0.03  # it does not wait for its turn either
    frame = player.take_frame()
    assert player.segments[-1].estimator.beta == 0.9
    assert frame.iteration >= player.segments[-1].first_iteration
    assert not player.hurries


def test_frames_that_are_late_do_not_make_the_next_ones_late():
    hands = Hands(turn=0.025)  # in which nothing else is looked at
    player = Player(hands.pool, lambda: None)
    load(player, SPIRALS)
    player.set_speed("fast")
    player.run()
    next_frame(hands, player)
    began, times = hands.now, []
    while hands.now - began < 4.5:
        next_frame(hands, player)
        times.append(hands.now)
    assert len(times) == pytest.approx(4.5 / FRAME_INTERVAL, abs=2)
    assert min(np.diff(times)) >= FRAME_INTERVAL / 2
    player.close()


def test_a_frame_is_told_before_the_surface_that_follows_it(hands):
    told = []
    player = Player(hands.pool, lambda: told.append((player.take_frame(), player.take_surface())))
    load(player, SETTINGS)
    hands.rest()
    player.close()
    kinds = [(frame is not None, surface is not None) for frame, surface in told if frame or surface]
    assert kinds[0] == (True, False)
    assert kinds[1][1]


def test_errors_shown_are_those_of_the_library(hands, player):
    parts = load(player, SETTINGS)
    for _ in range(5):
        player.step()
    reach(hands, player, 5)
    numbers = next_frame(
        hands, player, lambda frame: frame.iteration == 5 and frame.errors.iteration[-1:].tolist() == [5]
    ).numbers
    model = supdr.LSDR(max_iter=5, tol=0.0, random_state=0).fit(parts.X_train, parts.y_train)
    assert numbers["test"] == pytest.approx(100 * (1 - model.score(parts.X_test, parts.y_test)))
    assert numbers["train"] == pytest.approx(100 * np.mean(model.transduction_ != parts.truth_train))


def test_early_stopping_shows_the_error_of_the_rows_it_holds_out(hands, player):
    load(player, replace(SETTINGS, method_options={"max_iter": 8, "tol": 0.0, "early_stopping": True}))
    player.set_speed("fast")
    player.run()
    hands.until(lambda: player.status.phase is Phase.finished)
    newest = player.newest

    # The best iteration is the newest in the end; the curve may hold later ones, which were drawn on the way.
    errors = next_frame(hands, player, lambda frame: newest.iteration in frame.errors.iteration).errors
    (curve,) = errors.values["validation"][errors.iteration == newest.iteration]
    assert curve == pytest.approx(100 * newest.diagnostics["validation_error"])


def test_a_failing_run_says_why_and_another_one_works(hands, player):
    load(player, replace(SETTINGS, method_options={"max_iter": 10}))
    broken = supdr.LSDR(beta=-1.0)
    player.change(broken)
    hands.until(lambda: player.status.phase is Phase.failed)
    assert "beta" in player.status.message
    load(player, SETTINGS)
    hands.until(lambda: player.status.phase is Phase.ready)


def test_divergence_keeps_the_last_finite_iterate_and_advises(hands, player):
    settings = replace(
        SETTINGS, method_options={"solver": "sgd", "lr_reconstruction": 1e3, "max_iter": 200, "tol": 0.0}
    )
    load(player, settings)
    player.set_speed("fast")
    player.run()
    hands.until(lambda: player.status.phase is Phase.diverged)
    assert "learning rate" in player.status.message
    assert np.isfinite(player.newest.state.latent).all()


def test_suspending_holds_the_run(hands, player):
    player.set_speed("fast")
    player.run()
    reach(hands, player, 3)
    player.suspend(True)
    held = player.iteration
    hands.rest()
    assert player.iteration == held
    assert player.status.phase is Phase.running
    player.suspend(False)
    reach(hands, player, held + 5)


def test_a_run_asked_for_at_the_moment_the_last_one_ends_is_not_lost(hands):
    def go_on():
        if player.status.phase is Phase.finished and player.iteration < 30:
            player.run()

    player = Player(hands.pool, go_on)
    load(player, replace(SETTINGS, method_options={"max_iter": 10, "tol": 0.0}))
    player.set_speed("fast")
    player.run()
    reach(hands, player, 30)


def test_closing_frees_the_data_and_leaves_the_pool(hands):
    player = Player(hands.pool, lambda: None)
    load(player, SETTINGS)
    player.run()
    player.close()
    load(player, SETTINGS)  # by something that came late
    assert hands.pool.n_jobs == 0
    assert player.newest is None
    assert player.status.phase is Phase.empty


def test_several_runs_share_the_threads_of_a_pool():
    pool, runs, settings = Pool(threads=2), [], SETTINGS.with_options(max_iter=30)
    for _ in range(5):
        news = threading.Event()
        player = Player(pool, news.set)
        runs.append((player, load(player, settings), news))
        player.set_speed("fast")
        player.run()
    for player, parts, news in runs:
        while player.status.phase is not Phase.finished:
            assert news.wait(60)
            news.clear()
        assert_same_state(player.newest, straight(parts, SETTINGS, 30))
        player.close()


def test_commands_from_another_thread_never_harm_a_run():
    """Whatever is asked for while threads are at work, the run is the library's."""
    news, settings = threading.Event(), SETTINGS.with_options(tol=-1.0)
    player = Player(Pool(threads=2), news.set)
    parts = load(player, settings)
    player.set_speed("fast")
    show = (lambda: player.show(3)), (lambda: player.show(None))
    for command in (player.run, player.pause, player.run, show[0], player.step, show[1], player.run, player.reset) * 6:
        news.clear()
        command()
        player.request_frame()
        assert news.wait(60)
        player.take_frame()
        newest = player.newest
        if newest is not None:
            assert_same_state(newest, straight(parts, settings, newest.iteration))
    assert player.status.phase is not Phase.failed, player.status.message
    player.close()


def test_a_slow_start_slows_the_first_steps_only(hands, player):
    player.set_slow_start(8)
    player.set_speed("fast")
    hands.rest()
    player.run()
    hands.work(1.0)
    assert 4 <= player.iteration <= 6
    hands.work(4.0)
    assert player.iteration > 500


def test_the_regions_fill_the_latent_plane_in_every_frame(hands, player):
    """Also where the plane has grown since the last surface: regions of before would end short of it."""
    load(
        player,
        replace(SETTINGS, data_options={"n_classes": 6, "n_per_class": 30}, method="ClassAtlas", method_options={}),
    )
    hands.rest()
    shown, extents = player.take_surface(), {player.take_frame().latent_extent}
    player.run()
    for _ in range(20):
        player.request_frame()
        frame = hands.until(player.take_frame)
        shown = player.take_surface() or shown
        assert shown.latent.extent == frame.latent_extent
        extents.add(frame.latent_extent)
    assert len(extents) > 1
