"""A lesson file → `Lesson`; every mistake is named with its step and key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from supdr.engine.parameters import quoted
from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.build import build_estimator
from supdr_viz.experiment.codec import Reader, link_entries, table_entries
from supdr_viz.experiment.documents import KeyReader, read_toml
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings, read_settings
from supdr_viz.lessons.claims import Claim, read_claim
from supdr_viz.lessons.model import PLAYS, VIEWS, Lesson, Question, Step
from supdr_viz.pictures.methods import Mode, modes_of

FORMAT = 1
MAX_STEPS = 40
MAX_RUN = 2_000
MAX_OPTIONS = 6

_LESSON_KEYS = {"format", "title", "summary", "minutes", "step"}
_STEP_KEYS = {
    *("title", "text", "state", "change", "run", "play", "until", "look", "mode", "pull", "question", "options"),
    *("answer", "reveal", "then", "claimed", "measured", "free", "expect"),
}


class LessonError(ValueError):
    """A lesson file cannot be used.

    `name`: of the file; `problems`: one sentence for each mistake.
    """

    def __init__(self, name: str, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(f"{name}: " + " ".join(problems))


def read_lesson(content: str | bytes, name: str) -> Lesson:
    """Read and check a lesson.

    `content`: TOML, in UTF-8; `name`: name of the file, for messages and links. Raises LessonError: the file is no
    lesson; the message names every mistake that was found.
    """
    try:
        document = read_toml(content)
    except ValueError as error:
        raise LessonError(name, [str(error)]) from None
    checker = KeyReader()
    steps = _steps(document, checker)
    lesson = Lesson(
        name=name.rsplit("/", 1)[-1].removesuffix(".toml"),
        title=checker.text(document, "title", required=True, limit=80),
        summary=checker.text(document, "summary", limit=300),
        minutes=checker.whole(document, "minutes", 1, 120, default=5),
        steps=tuple(steps),
    )
    checker.check_keys(document, _LESSON_KEYS)
    if document.get("format") != FORMAT:
        checker.say(f"format must be {FORMAT}, the version of lesson files; got {quoted(document.get('format'))}")
    if checker.problems:
        raise LessonError(name, checker.problems)
    return lesson


def _steps(document: Mapping[str, Any], checker: KeyReader) -> Iterator[Step]:
    tables = document.get("step", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        checker.say("a lesson needs at least one step: a table that begins with [[step]]")
        return
    if len(tables) > MAX_STEPS:
        checker.say(f"the file has {len(tables)} steps; at most {MAX_STEPS} are accepted")
        return
    entries: dict[str, Any] | None = None
    for number, table in enumerate(tables, 1):
        title = table.get("title", "")
        checker.where = f"Step {number}" + (f" ({title})" if isinstance(title, str) and title else "") + ": "
        entries = _entries(table, entries, checker)
        if entries is not None:
            then = _changed(table, "then", entries, checker)
            yield _step(table, entries, then, checker)
            entries = then or entries  # the next step goes on from there
        checker.check_keys(table, _STEP_KEYS)
    checker.where = ""


def _step(table: Mapping[str, Any], entries: dict[str, Any], then: dict[str, Any] | None, checker: KeyReader) -> Step:
    settings = _settings("state", entries, checker)
    question = _question(table, checker)
    if then is not None and question is None:
        checker.say("then says what the answer changes, so it needs a question")
    play = table.get("play", "")
    if play not in PLAYS:
        checker.say(f'play must be "start", "answer" or ""; got {quoted(play)}')
    if play == "answer" and question is None:
        checker.say('play = "answer" needs a question')
    look = checker.words(table, "look")
    for view in look:
        if view not in VIEWS:
            checker.say(f"look names plots, of {', '.join(VIEWS)}; got {quoted(view)}")
    return Step(
        title=checker.text(table, "title", required=True, limit=80),
        text=checker.text(table, "text", required=True),
        settings=settings,
        fresh="state" in table or "change" in table,
        run=checker.whole(table, "run", 0, MAX_RUN, default=0),
        play=str(play),
        until=checker.whole(table, "until", 0, 100_000, default=0),
        look=look,
        mode=_mode(table, settings, checker),
        pull=checker.flag(table, "pull"),
        question=question,
        then=None if then is None else _settings("then", then, checker),
        claimed=checker.text(table, "claimed"),
        measured=checker.text(table, "measured"),
        free=checker.flag(table, "free"),
        expect=_claims(table, checker),
    )


def _claims(table: Mapping[str, Any], checker: KeyReader) -> tuple[Claim, ...]:
    """Read one assertion, or a list of them."""
    value = table.get("expect", [])
    claims = []
    for text in [value] if isinstance(value, str) else checker.words(table, "expect"):
        claim = read_claim(text)
        if claim is None:
            checker.say(
                f'expect must be a name, a relation and a number such as "test_error <= 0.08"; got {quoted(text)}'
            )
        else:
            claims.append(claim)
    return tuple(claims)


def _entries(table: Mapping[str, Any], before: dict[str, Any] | None, checker: KeyReader) -> dict[str, Any] | None:
    """Return the entries of the settings table that a step shows, those of the step before unless it has its own."""
    if "state" in table and "change" in table:
        checker.say("state prepares everything anew and change alters the step before: use one of them")
    if "state" in table:
        return _flat(table["state"], "state", checker)
    if before is None:
        checker.say("the first step needs a state: the link of the explorer's Share button, or a table of settings")
        return None
    return _changed(table, "change", before, checker) or before


def _changed(table: Mapping[str, Any], key: str, before: dict[str, Any], checker: KeyReader) -> dict[str, Any] | None:
    if key not in table:
        return None
    changes = _flat(table[key], key, checker)
    kept = dict(before)
    for kind in ("data", "method"):  # another data set or method: the knobs of the old one do not apply
        if kind in changes and changes[kind] != before.get(kind):
            kept = {name: value for name, value in kept.items() if not name.startswith(f"{kind}.")}
    return {**kept, **changes}


def _flat(value: Any, key: str, checker: KeyReader) -> dict[str, Any]:
    """Read a link, or a table whose entries may be nested: ``method.beta = 1`` is a table in a table."""
    if isinstance(value, str):
        return dict(link_entries(value))
    if not isinstance(value, dict):
        checker.say(f"{key} must be a link or a table of settings; got {quoted(value)}")
        return {}
    return table_entries(value)


def _settings(key: str, entries: dict[str, Any], checker: KeyReader) -> Settings:
    settings = read_settings(Reader(entries, f"{checker.where}{key}: ", checker.problems, repairs=False))
    if not SOURCES[settings.data].at_hand:
        checker.say(f"{key}: {SOURCES[settings.data].label} must be loaded by hand; a lesson uses data that are there")
    return settings


def _question(table: Mapping[str, Any], checker: KeyReader) -> Question | None:
    if "question" not in table:
        for key in ("options", "answer", "reveal"):
            if key in table:
                checker.say(f"{key} needs a question")
        return None
    options = checker.words(table, "options")
    if not 2 <= len(options) <= MAX_OPTIONS:
        checker.say(f"a question has 2 to {MAX_OPTIONS} options; got {len(options)}")
    return Question(
        text=checker.text(table, "question", required=True, limit=500),
        options=options,
        answer=checker.whole(table, "answer", 1, max(1, len(options)), default=0) - 1,
        reveal=checker.text(table, "reveal", required=True),
    )


def _mode(table: Mapping[str, Any], settings: Settings, checker: KeyReader) -> str:
    mode = checker.text(table, "mode")
    if not mode:
        return ""
    known = dict.fromkeys(each.name for task in MENU[settings.method].tasks() for each in _modes(settings, task))
    if mode not in known:
        checker.say(f"mode must be one of {', '.join(known) or 'none'} with this method; got {quoted(mode)}")
        return ""
    return mode


def _modes(settings: Settings, task: str) -> tuple[Mode, ...]:
    return modes_of(build_estimator(settings, task), task)
