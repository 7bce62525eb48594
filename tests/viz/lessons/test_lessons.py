"""Lessons: the files are checked, and every state of every lesson runs."""

import itertools

import numpy as np
import pytest

from supdr_viz.experiment.build import build_estimator
from supdr_viz.experiment.settings import parse_query, to_query
from supdr_viz.lessons import LESSONS, LessonError, address, read_lesson
from supdr_viz.lessons.claims import read_claim
from supdr_viz.lessons.recorded import ends
from supdr_viz.pages.lessons.page import _done_before, wanted
from supdr_viz.pictures.methods import modes_of
from tests.viz.prepared import prepared

STEPS = [(lesson, number) for lesson in LESSONS.values() for number in range(len(lesson.steps))]
IDS = [f"{lesson.name}-{number + 1}" for lesson, number in STEPS]

GOOD = """
format = 1
title = "Mine"
minutes = 3
[[step]]
title = "One"
text = "Look."
state = "http://localhost:5006/explorer?data=moons&data.noise=0.2&method=LSDR&seed=3"
[[step]]
title = "Two"
text = "What now?"
change = { "method.beta" = 0.5, seed = 4 }
question = "Up?"
options = ["yes", "no"]
answer = 2
reveal = "No."
then = { method = "NSDR" }
play = "answer"
until = 7
[[step]]
title = "Three"
text = "On."
"""


def as_arguments(query):
    return {name: [value.encode()] for name, value in (part.split("=", 1) for part in query.split("&"))}


def states(step):
    return [step.settings] + ([step.then] if step.then is not None else [])


@pytest.mark.parametrize(("lesson", "number"), STEPS, ids=IDS)
def test_every_state_runs(lesson, number):
    for settings in states(lesson.steps[number]):
        dataset, parts, _ = prepared(settings)
        estimator = build_estimator(settings, dataset.task, len(parts.train))
        snapshots = list(itertools.islice(estimator.iterate(parts.X_train, parts.y_train), 3))
        assert np.isfinite(snapshots[-1].objective)
        assert np.isfinite(estimator.at(snapshots[-1]).transform(parts.X_train)).all()


@pytest.mark.parametrize(("lesson", "number"), STEPS, ids=IDS)
def test_every_state_survives_a_link(lesson, number):
    for settings in states(lesson.steps[number]):
        assert parse_query(as_arguments(to_query(settings))) == (settings, [])


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_a_lesson_asks_before_it_tells_and_ends_in_free_play(lesson):
    assert 5 <= lesson.minutes <= 8
    assert any(step.question for step in lesson.steps)
    assert any(step.claimed and step.measured for step in lesson.steps)
    assert lesson.steps[-1].free
    for step in lesson.steps:
        assert not step.claimed or step.measured  # no claim without what we found
        assert not step.play or step.until <= step.settings.method_options.get("max_iter", step.until)


@pytest.mark.parametrize(("lesson", "number"), STEPS, ids=IDS)
def test_addresses_lead_to_their_steps(lesson, number):
    assert wanted(as_arguments(address(lesson.name, number))) == (lesson, number, [])


@pytest.mark.parametrize("query", ["lesson=nothing&step=1", "step=99", "step=-1", "step=x", "lesson=own&step=1"])
def test_a_wrong_address_leads_to_the_first_step_with_a_sentence(query):
    lesson, index, problems = wanted(as_arguments(query))
    assert lesson is next(iter(LESSONS.values()))
    assert index == 0
    assert problems


def test_a_wrong_step_is_told_which_there_are():
    first = next(iter(LESSONS.values()))
    *_, [told] = wanted(as_arguments("step=99"))
    assert f"steps 1 to {len(first.steps)}" in told
    assert "'99'" in told


@pytest.mark.parametrize("number", range(1, len(LESSONS) + 1))
def test_a_lesson_may_be_named_by_its_number(number):
    assert wanted(as_arguments(f"lesson={number}&step=2")) == ([*LESSONS.values()][number - 1], 1, [])


def test_steps_inherit_and_change_settings():
    one, two, three = read_lesson(GOOD, "mine.toml").steps
    assert (one.settings.data, one.settings.data_options["noise"], one.settings.seed) == ("moons", 0.2, 3)
    assert two.settings == one.settings.__class__(
        **{**vars(one.settings), "method_options": {**one.settings.method_options, "beta": 0.5}, "seed": 4}
    )
    assert two.then.method == "NSDR"
    assert "beta" not in to_query(two.then)  # another method: the old one's knobs do not apply
    assert three.settings == two.then
    assert not three.fresh
    assert two.fresh


def test_a_step_opened_by_its_link_shows_what_the_steps_before_have_played():
    lesson = read_lesson(GOOD, "mine.toml")
    assert [_done_before(lesson, index) for index in range(3)] == [0, 0, 7]


def test_tables_may_be_nested():
    text = GOOD.replace(
        'change = { "method.beta" = 0.5, seed = 4 }', "[step.change]\nseed = 4\nmethod.beta = 0.5\n[step.x]"
    )
    with pytest.raises(LessonError, match="no key 'x'"):
        read_lesson(text, "mine.toml")
    start = GOOD[: GOOD.index("change")]
    step = read_lesson(start + "change.method.beta = 0.5", "mine.toml").steps[1]
    assert step.settings.method_options["beta"] == 0.5


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("format = 1", "format = 2", "format must be 1"),
        ('title = "Mine"', "", "title is missing"),
        ('title = "Mine"', "title = 3", "title must be text; got '3'"),
        ("minutes = 3", "minutes = 0", "minutes must be a whole number from 1 to 120"),
        ("minutes = 3", "minutes = 3\nauthor = 'me'", "no key 'author'"),
        ("data=moons", "data=moon", "Step 1 (One): state: There is no data set 'moon'"),
        ("data.noise=0.2", "data.noise=9", "Step 1 (One): state: Noise must lie between 0 and 0.5; got 9"),
        ("data=moons&data.noise=0.2", "data=openml&data.name=59", "must be loaded by hand"),
        ('text = "Look."', "", "Step 1 (One): text is missing"),
        ("answer = 2", "answer = 3", "Step 2 (Two): answer must be a whole number from 1 to 2"),
        ('options = ["yes", "no"]', 'options = ["yes"]', "2 to 6 options; got 1"),
        ('options = ["yes", "no"]', "options = 1", "options must be a list of texts"),
        ('question = "Up?"', "", "needs a question"),
        ('play = "answer"', 'play = "now"', "play must be"),
        ("until = 7", "until = -1", "until must be a whole number"),
        ('text = "On."', 'text = "On."\nlook = ["left"]', "look names what is shown, of input"),
        ('text = "On."', 'text = "On."\nmode = "spokes"', "mode must be one of reconstruction, margins"),
        ('text = "On."', 'text = "On."\npull = 1', "pull must be true or false"),
        ('text = "On."', 'text = "On."\nrun = 5000', "run must be a whole number from 0 to 2,000"),
        ('text = "On."', f'text = "{"a" * 4000}"', "4,000 characters"),
        ('title = "Three"', 'title = "Three"\nstate = "data=iris"\nchange = { seed = 1 }', "use one of them"),
        ("state =", "stat =", "the first step needs a state"),
        ("{ method =", "{ metod =", "then: The setting 'metod' is unknown"),
    ],
)
def test_every_mistake_is_named(old, new, said):
    assert old in GOOD
    with pytest.raises(LessonError) as error:
        read_lesson(GOOD.replace(old, new, 1), "mine.toml")
    assert str(error.value).startswith("mine.toml: ")
    assert said in str(error.value)


@pytest.mark.parametrize("content", ["", "title = ", b"\xff\xfe\x00", "a = 1\n" * 100_000, "step = 1", "step = []"])
def test_files_that_are_no_lessons(content):
    with pytest.raises(LessonError):
        read_lesson(content, "x.toml")


def test_modes_exist():
    for lesson in LESSONS.values():
        for step in lesson.steps:
            if step.mode:
                dataset = prepared(step.settings).dataset
                estimator = build_estimator(step.settings, dataset.task)
                assert step.mode in [mode.name for mode in modes_of(estimator, dataset.task)]


QUICK = ("1-why-supervise", "3-what-reduction-does-to-classes")
"""Lessons whose claims `make test` checks; `make test-all` checks those of all."""


@pytest.mark.parametrize(
    "lesson",
    [pytest.param(LESSONS[name], id=name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in LESSONS],
)
def test_what_a_lesson_says_is_so(lesson):
    """Every claim of every step, against the end that a visitor sees."""
    false = [
        f"step {number} ({step.title}): {claim}, but it is {numbers.get(claim.name)}"
        for number, (step, numbers) in enumerate(zip(lesson.steps, ends(lesson)), 1)
        for claim in step.expect
        if not claim.holds(numbers)
    ]
    assert not false, "\n".join(false)


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_every_question_with_a_run_has_a_claim_and_answers_stand_in_all_places(lesson):
    asking = [step for step in lesson.steps if step.question]
    assert all(step.expect for step in asking)
    assert len({step.question.answer for step in asking}) > 1


@pytest.mark.parametrize(
    ("text", "numbers", "holds"),
    [
        ("test_error <= .08", {"test_error": 0.08}, True),
        ("test_error < 0.08", {"test_error": 0.08}, False),
        ("rank==6", {"rank": 6.0}, True),
        ("rank >= 7", {"rank": 6.0}, False),
        ("gap > -1e-3", {"gap": 0.0}, True),
        ("gap > 0", {}, False),
    ],
)
def test_claims(text, numbers, holds):
    assert read_claim(text).holds(numbers) is holds


@pytest.mark.parametrize("text", ["", "test_error", "test_error <= ", "<= 3", "a <= b", "a = 3", "a <= 3 or b > 2"])
def test_what_is_no_claim_is_named(text):
    with pytest.raises(LessonError, match="expect must be"):
        read_lesson(GOOD.replace("until = 7", f"until = 7\nexpect = {text!r}"), "mine.toml")
