"""A run as a film: the report and the GIF show what was recorded."""

import base64
import io
import json
import re
import time

import numpy as np
import pytest
from PIL import Image

from supdr_viz.exports import export_work
from supdr_viz.film import gif, picture
from supdr_viz.pool import Pool
from supdr_viz.replay import make_replay
from supdr_viz.report import Facts, report
from supdr_viz.session import Session
from supdr_viz.state import Settings
from supdr_viz.trainer import Phase

SETTINGS = {
    "two classes": Settings("spirals", {"n_per_class": 20}, "LSDR", {"max_iter": 6, "tol": 0.0}),
    "ten classes": Settings("digits", {}, "LSDR", {"max_iter": 2, "n_components": 5}, label_share=0.3),
    "regression": Settings("diabetes", {}, "LSDR", {"max_iter": 2}),
    "one step": Settings("iris", {}, "LDA"),
}


@pytest.fixture(scope="module", params=SETTINGS.values(), ids=SETTINGS)
def session(request):
    pool = Pool(1)
    made = Session(pool, lambda: None)
    made.apply(request.param)
    made.trainer.set_speed("fast")
    made.trainer.run()
    end = time.monotonic() + 60
    while made.trainer.status.phase is not Phase.finished and time.monotonic() < end:
        time.sleep(0.01)
    yield made
    made.close()


def film(session, limit=40):
    return make_replay(
        session.trainer.recorded,
        session.scene,
        session.parts,
        method=session.settings.method,
        losses=session.trainer.tables[0].curves(),
        limit=limit,
    )


def test_the_film_holds_the_recorded_iterations(session):
    replay = film(session)
    recorded = session.trainer.recorded
    assert [moment.iteration for moment in replay.moments] == [snapshot.iteration for snapshot, _ in recorded]
    short = film(session, limit=2)
    assert short.moments[0].iteration == recorded[0][0].iteration
    assert short.moments[-1].iteration == recorded[-1][0].iteration
    snapshot, estimator = recorded[-1]
    wrong = estimator.at(snapshot).transduction_ != session.parts.truth_train
    if session.scene.task == "classification":
        np.testing.assert_array_equal(replay.moments[-1].wrong[: len(wrong)], wrong)


def test_the_report_is_whole_and_says_what_was_measured(session):
    replay = film(session)
    text = report(replay, Facts([("seed", "<3>")], "if a < b: pass"))
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text)
    assert "&lt;3&gt;" in text
    assert "if a &lt; b" in text
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.DOTALL).group(1))
    assert [moment["iteration"] for moment in data["moments"]] == [moment.iteration for moment in replay.moments]
    last, shown = replay.moments[-1], data["moments"][-1]
    shares = np.frombuffer(base64.b64decode(shown["latent"]), dtype="<u2").reshape(-1, 2) / 65535
    low, span = np.array(last.extent[::2]), np.array([last.extent[1] - last.extent[0], last.extent[3] - last.extent[2]])
    np.testing.assert_allclose(low + shares * span, last.latent, atol=2e-5 * span.max())
    image = Image.open(io.BytesIO(base64.b64decode(shown["sheets"][0]["png"])))
    np.testing.assert_array_equal(np.asarray(image)[::-1], last.input_sheet.image)


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
        make_replay([], session.scene, session.parts, method="x", losses=session.trainer.tables[0].curves())
