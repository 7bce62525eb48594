"""A run as a film: the report and the GIF show what was recorded."""

import base64
import io
import json
import re
import time
from contextlib import closing

import numpy as np
import pytest
from PIL import Image

from supdr_viz.export.film import gif, picture
from supdr_viz.export.packing import HIDDEN, LEVELS, packed_places
from supdr_viz.export.replay import make_replay
from supdr_viz.export.report import film_data, report
from supdr_viz.export.work import export_work
from supdr_viz.frames.modes import modes_of
from supdr_viz.run.builder import DisplayOptions
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from supdr_viz.settings.experiment import Experiment
from supdr_viz.settings.state import Settings

SETTINGS = {
    "two classes": Settings("spirals", {"n_per_class": 20}, "LSDR", {"max_iter": 6, "tol": 0.0}),
    "ten classes": Settings("digits", {}, "LSDR", {"max_iter": 2, "n_components": 5}, label_share=0.3),
    "regression": Settings("diabetes", {}, "LSDR", {"max_iter": 2}),
    "one step": Settings("iris", {}, "LDA"),
    "targets": Settings("spirals", {"n_per_class": 15, "n_classes": 3}, "MAC", {"max_iter": 3, "n_centers": 20}),
    "gate": Settings("zigzag", {"n_samples": 60}, "SLDR", {"max_iter": 3}),
    "bits": Settings("digits_bits", {}, "SDRGLM", {"max_iter": 3}),
}


@pytest.fixture(scope="module", params=SETTINGS.values(), ids=SETTINGS)
def session(request):
    pool = Pool(1)
    made = Session(pool, lambda: None)
    made.apply(Experiment(request.param))
    made.player.set_speed("fast")
    made.player.run()
    wait_until_finished(made)
    yield made
    made.close()


def wait_until_finished(session):
    end = time.monotonic() + 60
    while session.player.status.phase is not Phase.finished and time.monotonic() < end:
        time.sleep(0.01)


def film(session, limit=40, **options):
    return make_replay(
        session.player.recorded,
        session.scene,
        session.split,
        method=session.settings.method,
        losses=session.player.curves(500)[0],
        limit=limit,
        options=DisplayOptions(**{"method_mode": "none", **options}),
    )


def test_the_film_holds_the_recorded_iterations(session):
    replay = film(session)
    recorded = session.player.recorded
    assert [moment.iteration for moment in replay.moments] == [snapshot.iteration for snapshot, _ in recorded]
    short = film(session, limit=2)
    assert short.moments[0].iteration == recorded[0][0].iteration
    assert short.moments[-1].iteration == recorded[-1][0].iteration
    snapshot, estimator = recorded[-1]
    wrong = estimator.at(snapshot).transduction_ != session.split.truth_train
    if session.scene.task == "classification":
        np.testing.assert_array_equal(replay.moments[-1].wrong[: len(wrong)], wrong)


def test_the_report_is_whole_and_says_what_was_measured(session):
    replay = film(session)
    text = report(replay, [("seed", "<3>")], "if a < b: pass")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text)
    assert "&lt;3&gt;" in text
    assert "if a &lt; b" in text
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.DOTALL).group(1))
    assert [moment["iteration"] for moment in data["moments"]] == [moment.iteration for moment in replay.moments]
    last, shown = replay.moments[-1], data["moments"][-1]
    np.testing.assert_allclose(places(shown["latent"], last.extent), last.latent, atol=2e-5 * np.ptp(last.extent))
    if last.input_sheet is None:  # the rows of bits have no plane to slice
        assert shown["sheets"][0] is None
    else:
        np.testing.assert_array_equal(levels(shown["sheets"][0]["png"]), last.input_sheet.image)


def places(text, extent):
    """What the browser reads from packed places."""
    numbers = np.frombuffer(base64.b64decode(text), dtype="<u2").reshape(-1, 2)
    low, span = np.array(extent[::2]), np.array([extent[1] - extent[0], extent[3] - extent[2]])
    return np.where(numbers == HIDDEN, np.nan, low + numbers / LEVELS * span)


def levels(png):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(png))))[::-1]


def test_places_are_hidden_or_moved_to_the_border():
    rows = np.array([[0.0, 1.0], [np.nan, 0.5], [9.0, 0.5]])
    extent = (0.0, 2.0, 0.0, 1.0)
    np.testing.assert_allclose(places(packed_places(rows, extent), extent), [[0, 1], [np.nan] * 2, [2, 0.5]], atol=1e-4)
    hidden = places(packed_places(rows, extent, clip=False), extent)
    np.testing.assert_allclose(hidden, [[0, 1], [np.nan] * 2, [np.nan] * 2], atol=1e-4)


def test_the_report_shows_what_the_method_shows(session):
    scene = session.scene
    modes = modes_of(session.estimator, scene.task, images=scene.images is not None)
    for mode in modes:
        replay = film(session, limit=3, method_mode=mode.name)
        data = json.loads(json.dumps(film_data(replay), allow_nan=False))
        if mode.study is not None:
            assert data["mode"] is None
            continue
        assert data["mode"]["title"] == mode.title
        for moment, packed in zip(replay.moments, (each["picture"] for each in data["moments"]), strict=True):
            picture = moment.picture
            named = {*packed["roles"], *(key["role"] for key in packed["keys"])}
            for colours in data["roles"].values():
                assert all(re.fullmatch("#[0-9A-Fa-f]{6}", colours[role]) for role in named)
            if picture.rows is not None:
                found, known = places(packed["rows"], picture.extent), np.isfinite(picture.rows).all(axis=1)
                assert not np.isfinite(found[~known]).any()
                shown = np.isfinite(found).all(axis=1)
                assert shown.sum() >= 0.9 * known.sum()
                np.testing.assert_allclose(found[shown], picture.rows[shown], atol=2e-5 * np.ptp(picture.extent))
            for kind, image in (("image", picture.image), ("photo", picture.photo)):
                assert (packed[kind] is None) == (image is None)
                if image is not None:
                    np.testing.assert_array_equal(levels(packed[kind]), image)
            for stroke, line in zip(picture.strokes, packed["strokes"], strict=True):
                points = np.frombuffer(base64.b64decode(line["points"]), dtype="<f4").reshape(-1, 2)
                np.testing.assert_array_equal(points, np.asarray(stroke.points, dtype=np.float32))


def test_pictures_of_a_curve_end_at_their_moment():
    with closing(Session(Pool(1), lambda: None)) as session:
        session.apply(Experiment(SETTINGS["bits"]))
        session.player.run()
        wait_until_finished(session)
        replay = film(session, method_mode="ascent")
    reached = [max(np.nanmax(stroke.points[:, 0]) for stroke in each.picture.strokes) for each in replay.moments]
    assert reached == sorted(reached)
    assert reached[0] < reached[-1]


def test_the_pull_of_the_labels_is_in_the_report(session):
    for pull in (False, True):
        replay = film(session, limit=1, pull=pull)
        packed = film_data(replay)["moments"][0]["pulled"]
        assert (packed is not None) == pull
        if pull:
            last = replay.moments[0]
            assert np.isfinite(places(packed, last.extent)[: session.scene.n_train]).all()


def test_the_gif_has_a_picture_for_every_moment(session):
    replay = film(session, limit=4)
    image = Image.open(io.BytesIO(gif(replay)))
    assert getattr(image, "n_frames", 1) == len(replay.moments)
    assert image.size == picture(replay).size
    assert np.asarray(picture(replay, dark=True)).mean() < np.asarray(picture(replay)).mean()


def test_names_from_outside_stay_text(session):
    from dataclasses import replace

    replay = film(session, limit=1)
    bad = replace(replay, scene=replace(replay.scene, title="</script><b>", class_names=("</script><i>", "b")))
    text = report(bad)
    assert "</script><b>" not in text
    assert "</script><i>" not in text


def test_without_a_run_there_is_nothing(session):
    empty = Session(Pool(1), lambda: None)
    assert export_work(empty, "report") is None
    assert export_work(session, "report")().startswith(b"<!doctype html>")
    assert export_work(session, "film")().startswith(b"GIF8")
    with pytest.raises(ValueError, match="nothing to show yet"):
        make_replay([], session.scene, session.split, method="x", losses=session.player.curves(500)[0])
