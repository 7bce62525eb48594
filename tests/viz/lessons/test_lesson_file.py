"""A lesson as one HTML file: it holds every text and the runs that the page would show."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from supdr_viz.cli import main
from supdr_viz.experiment.build import build_dataset, build_estimator
from supdr_viz.experiment.splitting import split
from supdr_viz.lessons import read_lesson
from supdr_viz.lessons.document import lesson_html
from supdr_viz.lessons.recorded import record

TOML = """
format = 1
title = "Two <moons>"
summary = "Short & small."
[[step]]
title = "Look"
text = "No labels yet. <b>escaped</b>"
state = "data=moons&method=LSDR&method.tol=0&test=0.3&labels=1&seed=0"
run = 5
[[step]]
title = "Ask"
text = "The same run."
question = "Will </script> go on?"
options = ["Yes", "No"]
answer = 1
reveal = "It goes on to nine."
play = "answer"
until = 9
claimed = "Said so."
measured = "Found so."
[[step]]
title = "Another"
text = "A step that plays."
change = { "method.beta" = 0.5 }
play = "start"
until = 4
question = "And with a kernel?"
options = ["Better", "Worse"]
answer = 2
reveal = "Who knows."
then = { method = "NSDR" }
[[step]]
title = "End"
text = "All yours."
state = "data=moons&method=LSDR&method.max_iter=7&method.tol=0&test=0.3&labels=1&seed=0"
free = true
"""
LESSON = read_lesson(TOML, "mine.toml")


class Strict(HTMLParser):
    """Collects the text, and checks that what is opened is closed."""

    VOID = ("meta", "input", "br", "hr")

    def __init__(self):
        super().__init__()
        self.open, self.attributes, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def recorded():
    return record(LESSON)


@pytest.fixture(scope="module")
def html():
    return lesson_html(LESSON)


def iterations(recorded, showing):
    return [moment.iteration for moment in recorded.films[showing.film].moments]


def test_each_step_shows_what_the_page_would(recorded):
    (look, nothing), (ask, told), (another, kernel), (end, none) = recorded.steps
    assert nothing is none is None
    assert iterations(recorded, look) == list(range(6))
    assert (look.start, look.plays) == (5, False)
    assert ask.film == look.film  # it goes on with what is there
    assert iterations(recorded, told) == list(range(10))
    assert (told.start, told.plays) == (5, True)
    assert iterations(recorded, another) == list(range(5))
    assert (another.start, another.plays) == (0, True)
    assert recorded.films[kernel.film].method != recorded.films[another.film].method
    assert iterations(recorded, kernel) == [0]
    assert iterations(recorded, end) == list(range(8))
    assert (end.start, end.plays) == (0, False)
    assert len(recorded.films) == 5


def test_the_numbers_are_those_of_the_estimator(recorded):
    settings = LESSON.steps[0].settings
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    estimator = build_estimator(settings, dataset.task, len(parts.train))
    told = recorded.films[recorded.steps[1][1].film]
    for moment, snapshot in zip(told.moments, estimator.iterate(parts.X_train, parts.y_train)):
        np.testing.assert_allclose(moment.numbers["objective"], snapshot.objective, rtol=1e-12)


def test_the_file_is_whole_and_needs_nothing_else(html):
    parser = Strict()
    parser.feed(html)
    parser.close()
    assert not parser.open
    for step in LESSON.steps:
        assert step.title in parser.text
        assert step.text in parser.text
        if step.question is not None:
            for text in (step.question.text, step.question.reveal, *step.question.options):
                assert text in parser.text
    assert "Said so." in parser.text
    assert "Found so." in parser.text
    assert "https://" not in html
    assert "http://" not in html
    assert "url(" not in html
    assert not [name for name, _ in parser.attributes if name in ("src", "href", "srcset", "action")]
    data = json.loads(re.search(r'id="lesson" type="application/json">(.*?)</script>', html, re.DOTALL).group(1))
    assert len(data["steps"]) == len(LESSON.steps)
    assert [step["right"] for step in data["steps"]] == [None, 0, 1, None]
    assert all(film["moments"] for film in data["films"])


def test_a_step_that_cannot_run_is_named():
    bad = TOML.replace('change = { "method.beta" = 0.5 }', 'state = "data=diabetes&method=PolySVM"').replace(
        'then = { method = "NSDR" }\n', ""
    )
    with pytest.raises(ValueError, match=r"Step 3 \(Another\): .*this target is numeric"):
        record(read_lesson(bad, "mine.toml"))


def test_the_command_writes_it(tmp_path, capsys):
    file, out = tmp_path / "mine.toml", tmp_path / "mine.html"
    file.write_text(TOML)
    assert main(["lesson", str(file), "--output", str(out)]) == 0
    assert out.read_text().startswith("<!doctype html>")
    assert "step 4 of 4: End" in capsys.readouterr().out


def test_the_command_says_what_is_wrong(tmp_path, capsys):
    assert main(["lesson", "nothing"]) == 2
    assert "1-why-supervise" in capsys.readouterr().err
    file = tmp_path / "wrong.toml"
    file.write_text(TOML.replace("data=moons", "data=moon", 1))
    assert main(["lesson", str(file)]) == 2
    assert "There is no data set 'moon'" in capsys.readouterr().err
    file.write_text(TOML)
    assert main(["lesson", str(file), "--output", str(tmp_path / "no" / "x.html")]) == 1
    assert "No such file or directory" in capsys.readouterr().err
