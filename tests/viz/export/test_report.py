"""A run as a film: the report and the GIF show what was recorded."""

import base64
import io
import json
import re
import subprocess
import tempfile
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import psutil
import pytest
from PIL import Image

from supdr.engine import optional
from supdr.quality import row_trustworthiness
from supdr_viz.experiment.settings import Settings
from supdr_viz.export.film import LAST_DURATION, STEP, gif, mp4, picture
from supdr_viz.export.progress import no_progress
from supdr_viz.export.replay import make_replay
from supdr_viz.export.report import film_data, report
from supdr_viz.export.work import export_work
from supdr_viz.pictures.map_quality import InputRows
from supdr_viz.pictures.methods import modes_of
from supdr_viz.pictures.row_colours import row_colours
from supdr_viz.pictures.row_columns import RowColumns
from supdr_viz.run.frame_builder import DisplayOptions
from supdr_viz.run.session import Session
from supdr_viz.ui.background import attempt
from supdr_viz.views.stage.packed_positions import unpacked_places
from supdr_viz.views.stage.wire import decode, merge
from tests.viz.films import film, finished
from tests.viz.hands import Hands

SETTINGS = {
    "two classes": Settings("spirals", {"n_per_class": 20}, "LSDR", {"max_iter": 6, "tol": 0.0}),
    "ten classes": Settings("digits", {}, "LSDR", {"max_iter": 2, "n_components": 5}, label_share=0.3),
    "regression": Settings("diabetes", {}, "LSDR", {"max_iter": 2}),
    "one step": Settings("iris", {}, "LDA"),
    "targets": Settings("spirals", {"n_per_class": 15, "n_classes": 3}, "MAC", {"max_iter": 3, "n_centers": 20}),
    "gate": Settings("zigzag", {"n_samples": 60}, "SLDR", {"max_iter": 3}),
    "bits": Settings("digits_bits", {}, "SDRGLM", {"max_iter": 3}),
}


QUICK = ("two classes", "regression", "one step", "gate")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(settings, id=name, marks=[] if name in QUICK else [pytest.mark.slow])
        for name, settings in SETTINGS.items()
    ],
)
def session(request):
    with closing(finished(request.param)) as made:
        yield made


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
        np.testing.assert_array_equal(replay.moments[-1].surface.wrong[: len(wrong)], wrong)


def test_the_report_is_whole_and_says_what_was_measured(session):
    replay = film(session)
    text = report(replay, [("seed", "<3>")], "if a < b: pass")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text)
    assert "&lt;3&gt;" in text
    assert "if a &lt; b" in text
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.DOTALL).group(1))
    assert [moment["iteration"] for moment in data["moments"]] == [moment.iteration for moment in replay.moments]
    shown, last = trees(data)[-1]["planes"], replay.moments[-1]
    near = 1e-4 * np.ptp(last.frame.latent[np.isfinite(last.frame.latent)])
    np.testing.assert_allclose(unpacked_places(shown["latent"]["place"]), last.frame.latent, atol=near)
    if last.surface.input is None:  # the rows of bits have no plane to slice
        assert shown["input"]["region"] is None
    else:
        np.testing.assert_array_equal(shown["input"]["region"]["image"], last.surface.input.image)


def trees(data):
    """What the script shows at every moment: patch upon patch."""
    found = [{}]
    for patch in data["patches"]:
        found.append(merge(found[-1], decode(zlib.decompress(base64.b64decode(patch)))))
    return found[1:]


def test_the_report_has_the_losses_of_the_whole_run_and_marks_the_moment(session):
    replay = film(session)
    for moment, tree in zip(replay.moments, trees(film_data(replay)), strict=True):
        chart = tree["charts"]["losses"]
        assert chart["viewed"] == moment.iteration
        np.testing.assert_array_equal(chart["points"][:, 0], replay.losses.iteration)
        place = 1 + [line["name"] for line in chart["lines"]].index("objective")
        np.testing.assert_allclose(chart["points"][:, place], replay.losses.values["objective"], rtol=1e-6)


@pytest.mark.parametrize("meaning", ["column:petal length (cm)", "column:species name", "latent:1", "loss", "spread"])
def test_the_report_has_the_colours_of_the_page_and_says_what_they_mean(meaning):
    with closing(finished(Settings("iris", {}, "LDA"))) as session:
        n_rows = len(session.scene.code)
        columns = session.scene.columns
        names = np.array(["round", None, "long"], dtype=object)[np.arange(n_rows) % 3]
        scene = replace(
            session.scene,
            columns=RowColumns(
                [np.concatenate([session.split.X_train, session.split.X_test])],
                columns.features,
                {"species name": names},
            ),
        )
        spread = np.linspace(0.0, 0.4, n_rows)
        replay = make_replay(
            session.player.recorded,
            scene,
            session.split,
            method="LDA",
            losses=session.player.curves(500)[0],
            options=DisplayOptions(method_mode="none", colour_by=meaning, size_by=meaning),
            spread=spread,
        )
    data = film_data(replay)
    rows = trees(data)[-1]["rows"]
    surface = replay.moments[-1].surface
    expected = spread if meaning == "spread" else row_colours(scene, surface, meaning)
    np.testing.assert_array_equal(rows["colour"], expected)
    assert len(set(rows["sizes"])) > 1
    words = [text for text, *_ in data["legend"]]
    said = {"column:species name": "round", "latent:1": "z1"}.get(meaning, meaning.removeprefix("column:"))
    assert any(said in text for text in words)
    assert ("missing" in words) is (meaning == "column:species name")


def test_the_report_colours_every_moment_by_the_trust_of_its_own_map(session):
    replay = film(session, limit=3, colour_by="trust", size_by="trust")
    rows = InputRows(session.scene, session.split).rows
    data = film_data(replay)
    for moment, tree in zip(replay.moments, trees(data), strict=True):
        expected = row_trustworthiness(rows, moment.frame.latent, n_neighbors=moment.frame.truth.n_neighbors)
        np.testing.assert_allclose(tree["rows"]["colour"], expected, rtol=1e-6)
        assert len(set(tree["rows"]["sizes"])) > 1
    assert any(text.startswith("trust") for text, *_ in data["legend"])


def test_the_report_shows_what_the_method_shows(session):
    scene = session.scene
    modes = modes_of(session.estimator, scene.task, images=scene.images is not None)
    for mode in modes:
        replay = film(session, limit=3, method_mode=mode.name)
        data = json.loads(json.dumps(film_data(replay), allow_nan=False))
        if mode.is_measured:
            assert data["mode"] is None
            continue
        assert data["mode"]["title"] == mode.title
        for moment, tree in zip(replay.moments, trees(data), strict=True):
            picture, square = moment.frame.picture, tree["planes"]["method"]
            packed = square["picture"]
            assert all(re.fullmatch("#[0-9A-Fa-f]{6}", colour) for both in packed["roles"] for colour in both)
            if picture.rows is not None:
                near = 1e-4 * np.ptp(picture.rows[np.isfinite(picture.rows)])
                np.testing.assert_allclose(unpacked_places(square["place"]), picture.rows, atol=near)
            for kind, image in (("image", picture.image), ("photo", picture.photo)):
                assert (packed[kind] is None) == (image is None)
                if image is not None:
                    np.testing.assert_array_equal(packed[kind], image)
            for stroke, line in zip(picture.strokes, packed["strokes"], strict=True):
                np.testing.assert_array_equal(line["points"], stroke.points)


def test_pictures_of_a_curve_end_at_their_moment():
    with closing(finished(SETTINGS["bits"])) as session:
        replay = film(session, method_mode="ascent")
    reached = [max(np.nanmax(stroke.points[:, 0]) for stroke in each.frame.picture.strokes) for each in replay.moments]
    assert reached == sorted(reached)
    assert reached[0] < reached[-1]


def test_the_pull_of_the_labels_is_in_the_report(session):
    for pull in (False, True):
        replay = film(session, limit=1, pull=pull)
        latent = trees(film_data(replay))[0]["planes"]["latent"]
        assert latent["threads"] is pull
        assert np.isfinite(unpacked_places(latent["ends"])).any() == pull


def test_the_gif_has_a_picture_for_every_moment(session):
    replay = film(session, limit=4)
    image = Image.open(io.BytesIO(gif(replay)))
    assert getattr(image, "n_frames", 1) == len(replay.moments)
    assert image.size == picture(replay).size
    assert np.asarray(picture(replay, dark=True)).mean() < np.asarray(picture(replay)).mean()


def test_the_video_has_every_moment_at_twice_the_size():
    with closing(finished(SETTINGS["two classes"])) as session:
        replay, steps = film(session, limit=3), []
        video = mp4(replay, progress=lambda done, total: steps.append((done, total)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        path.write_bytes(video)
        decode = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        decoded = subprocess.run(decode, capture_output=True, check=True)
    assert steps == [(1, 3), (2, 3), (3, 3)]
    wide, high = (2 * side for side in picture(replay).size)
    assert b"h264" in decoded.stderr
    assert f"{wide}x{high}" in decoded.stderr.decode()
    frames = np.frombuffer(decoded.stdout, np.uint8).reshape(-1, high, wide, 3)
    last = frames[-1].astype(float)
    assert np.abs(last - np.asarray(picture(replay, scale=2))).mean() < 4  # of 255: it is that picture
    assert len(frames) == 2 + LAST_DURATION // STEP


def test_a_video_that_is_cancelled_leaves_no_encoder():
    class CancelledError(Exception):
        pass

    def progress(_done, _total):
        raise CancelledError

    with closing(finished(SETTINGS["two classes"])) as session:
        replay = film(session, limit=3)
    with pytest.raises(CancelledError):
        mp4(replay, progress=progress)
    assert [each for each in psutil.Process().children() if "ffmpeg" in each.name()] == []


def test_without_the_encoder_a_video_says_what_to_install(session, missing):
    missing("imageio_ffmpeg")
    with pytest.raises(optional.PackageMissing, match=r'needs imageio_ffmpeg: pip install "supdr-viz\[film\]"'):
        export_work(session, "video")(no_progress)
    assert attempt(lambda: export_work(session, "video")(no_progress)).problem.startswith("A film as MP4 needs")


def test_names_from_outside_stay_text(session):
    from dataclasses import replace

    replay = film(session, limit=1)
    bad = replace(replay, scene=replace(replay.scene, title="</script><b>", class_names=("</script><i>", "b")))
    text = report(bad)
    assert "</script><b>" not in text
    assert "</script><i>" not in text


def test_without_a_run_there_is_nothing(session):
    empty = Session(Hands().pool, lambda: None)
    assert export_work(empty, "report") is None
    assert export_work(session, "report")(no_progress).startswith(b"<!doctype html>")
    assert export_work(session, "film")(no_progress).startswith(b"GIF8")
    with pytest.raises(ValueError, match="nothing to show yet"):
        make_replay([], session.scene, session.split, method="x", losses=session.player.curves(500)[0])
