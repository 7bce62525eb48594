"""Files that take a while: they say how far they have come, and can be given up."""

from contextlib import closing

import pytest

from supdr_viz.experiment.settings import Settings
from supdr_viz.export.film import gif
from supdr_viz.export.progress import part
from supdr_viz.lessons import LESSONS
from supdr_viz.lessons.document import lesson_html
from supdr_viz.pages.service import Service
from supdr_viz.ui.background import Cancelled, Job, attempt
from supdr_viz.ui.panel_workarounds import BoundedDropper
from tests.viz.films import film, finished
from tests.viz.upload_pieces import send
from tests.viz.visitor import Visitor

SMALL = "?data=spirals&data.n_per_class=60&method=LSDR&method.tol=0&speed=fast"


def test_a_film_can_be_given_up_and_made_afterwards():
    with Visitor(SMALL) as visitor:
        visitor.press("Step").press("Step").settle().press("Export")
        with Service.of_process().turns.turn():  # the film waits for it
            visitor.press("Film (GIF)")
            assert visitor.sees("Drawing the recorded iterations once more")
            assert visitor.widget("Film (GIF)").disabled
            visitor.press("Cancel")
        assert visitor.settle().sees("Cancelled; no file was made.")
        visitor.press("Film (GIF)").settle()
        assert visitor.sees("supdr-run.gif: 0.")
        assert not visitor.sees("Drawing the recorded iterations")
        assert not visitor.widget("Film (GIF)").disabled


def test_a_film_ends_with_the_picture_after_which_it_is_cancelled():
    said = []

    def progress(*share):
        said.append(share)
        raise Cancelled

    settings = Settings(data="iris", method="LSDR", method_options={"max_iter": 3, "tol": 0.0})
    with closing(finished(settings)) as session, pytest.raises(Cancelled):
        gif(film(session), progress=progress)
    assert said == [(1, 4)]


def test_work_that_no_page_waits_for_any_more_is_cancelled():
    with Visitor(SMALL) as visitor:
        job = visitor.do(lambda: Job(lambda *_: None))
        assert not job.cancelled
    assert attempt(lambda: job(1, 4)).cancelled


def test_a_file_whose_sender_has_gone_is_not_held():
    with Visitor("?data=moons&method=LSDR") as visitor:
        visitor.choose("Data set", "A file …")
        (dropper, *_) = visitor.page.select(BoundedDropper)
        visitor.do(lambda: send(dropper, "a.csv", 1, bytes(300_000)))
        assert Service.of_process().files.size(dropper) >= 300_000
    assert Service.of_process().files.size(dropper) == 0


def test_the_steps_of_a_lesson_are_told_and_it_ends_where_it_is_cancelled():
    lesson, said = LESSONS["1-why-supervise"], []

    def progress(done, total):
        said.append((done, total))
        if done == 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        lesson_html(lesson, progress=progress)
    assert set(said) == {(0, len(lesson.steps)), (1, len(lesson.steps))}
    assert said.count((1, len(lesson.steps))) == 1


def test_cancelled_work_came_to_nothing():
    shown = []
    job = Job(lambda *share: shown.append(share))
    for _ in range(2):
        job(1, 4)
    assert shown == [(1, 4)]  # the same is said once
    job.cancel()
    outcome = attempt(lambda: job(2, 4))
    assert outcome.cancelled
    assert not outcome.problem


def test_parts_make_a_whole():
    said = []
    for number in range(2):
        for done in (1, 2, 3):
            part(lambda *share: said.append(share), number, 2)(done, 3)
    assert said == [(k, 6) for k in range(1, 7)]
