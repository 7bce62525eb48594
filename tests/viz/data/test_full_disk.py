"""Where a disk takes no more, or nothing, one sentence says so and no half of a file stays."""

import errno
import os
import sys
import tempfile
import urllib.error
from contextlib import closing

import numpy as np
import pytest

from supdr.datasets import FileProblem, openml
from supdr.sensitivity.executors import _is_local, crew_of
from supdr_viz import cli
from supdr_viz.data.atomic_write import write_atomically
from supdr_viz.experiment.settings import Settings
from supdr_viz.export.film import mp4
from supdr_viz.ui.background import attempt
from tests.full_disk import room_for
from tests.viz.films import film, finished

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of a process's files are set by Unix")


def test_a_file_is_written_whole_or_stays_as_it_was(tmp_path):
    path = tmp_path / "report.html"
    write_atomically(path, b"first")
    with room_for(1000), pytest.raises(OSError, match=r"report.html cannot be written: the disk is full"):
        write_atomically(path, bytes(5000))
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["report.html"]
    write_atomically(path, bytes(5000))
    assert path.read_bytes() == bytes(5000)
    with pytest.raises(OSError, match=r"none/report.html cannot be written: No such file or directory"):
        write_atomically(tmp_path / "none" / "report.html", b"")


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, b"all of it")
    assert os.read(reader, 100) == b"all of it"
    os.close(reader)
    assert os.listdir(tmp_path) == ["pipe"]


LESSON = """
format = 1
title = "One fit"
[[step]]
title = "Iris"
text = "Three kinds of iris."
state = "data=iris&method=LDA&test=0.3&labels=1&seed=0"
"""


def test_a_lesson_that_finds_no_room_leaves_nothing(tmp_path, capsys):
    (tmp_path / "lesson.toml").write_text(LESSON)
    with room_for(1000):
        status = cli.main(["lesson", str(tmp_path / "lesson.toml"), "--output", str(tmp_path / "lesson.html")])
    assert status == 1
    assert capsys.readouterr().err == f"supdr-viz: {tmp_path / 'lesson.html'} cannot be written: the disk is full\n"
    assert os.listdir(tmp_path) == ["lesson.toml"]


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder in which this process makes temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_film_that_is_cut_off_is_no_film(temporary):
    settings = Settings(data="iris", method="LSDR", method_options={"max_iter": 2, "tol": 0.0})
    with closing(finished(settings)) as session:
        replay = film(session)
    whole = mp4(replay)
    assert whole[4:8] == b"ftyp"
    for size in (1000, len(whole) - 100):
        with room_for(size):
            outcome = attempt(lambda: mp4(replay))
        assert (outcome.value, outcome.problem) == (None, "This could not be done: on the server, the disk is full.")
        assert os.listdir(temporary) == []


def test_rows_that_find_no_room_for_the_workers_are_said_and_not_left(temporary):
    crew = crew_of("loky", 1)
    assert _is_local(crew.executor)
    with (
        room_for(10_000),
        pytest.raises(OSError, match=r"the rows cannot be written to .* for the workers: File too large"),
        crew,
    ):
        crew.take(np.zeros((200, 50)))
    assert os.listdir(temporary) == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "could not be kept on this disk: No space left on device"),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), "could not be kept on this disk: Permission denied"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "could not be reached"),
        (urllib.error.URLError(OSError(errno.ENETUNREACH, "no network")), "could not be reached"),
    ],
)
def test_a_disk_is_not_taken_for_a_network(error, words, monkeypatch):
    def fails(*_):
        raise error

    monkeypatch.setattr(openml, "_load", fails)
    with pytest.raises(FileProblem, match=words):
        openml.load_openml("iris")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space"), "on the server, the disk is full."),
        (OSError(errno.EROFS, "Read-only"), "on the server, there is no right to write there."),
        (OSError("odd"), "odd."),
    ],
)
def test_what_is_wrong_beside_a_page_is_said_to_it(error, said):
    def fails():
        raise error

    assert attempt(fails).problem == f"This could not be done: {said}"
