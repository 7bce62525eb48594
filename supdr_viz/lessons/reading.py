"""A lesson file → `Lesson`; every mistake is named with its step and key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from supdr.engine.parameters import quoted
from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.build import build_estimator
from supdr_viz.experiment.codec import link_entries, toml_document, toml_entries
from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.reader import Reader
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
        reader = Reader(toml_document(content))
    except ValueError as error:
        raise LessonError(name, [str(error)]) from None
    steps = _steps(reader)
    lesson = Lesson(
        name=name.rsplit("/", 1)[-1].removesuffix(".toml"),
        title=reader.text("title", required=True, limit=80),
        summary=reader.text("summary", limit=300),
        minutes=reader.whole("minutes", 1, 120, default=5),
        steps=tuple(steps),
    )
    version = reader.take("format", None)
    reader.refuse_unknown(_LESSON_KEYS)
    if version != FORMAT:
        reader.say(f"format must be {FORMAT}, the version of lesson files; got {quoted(version)}.")
    if reader.problems:
        raise LessonError(name, reader.problems)
    return lesson


def _steps(reader: Reader) -> Iterator[Step]:
    tables = reader.entries.pop("step", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        reader.say("a lesson needs at least one step: a table that begins with [[step]].")
        return
    if len(tables) > MAX_STEPS:
        reader.say(f"the file has {len(tables)} steps; at most {MAX_STEPS} are accepted.")
        return
    entries: dict[str, Any] | None = None
    for number, table in enumerate(tables, 1):
        title = table.get("title", "")
        where = f"Step {number}" + (f" ({title})" if isinstance(title, str) and title else "") + ": "
        step = Reader(table, where, reader.problems)
        entries = _entries(step, entries)
        if entries is not None:
            then = _changed(step, "then", entries)
            yield _step(step, entries, then, fresh="state" in table or "change" in table)
            entries = then or entries  # the next step goes on from there
        step.refuse_unknown(_STEP_KEYS)


def _step(reader: Reader, entries: dict[str, Any], then: dict[str, Any] | None, *, fresh: bool) -> Step:
    settings = _settings(reader, "state", entries)
    question = _question(reader)
    if then is not None and question is None:
        reader.say("then says what the answer changes, so it needs a question.")
    play = reader.take("play", "")
    if play not in PLAYS:
        reader.say(f'play must be "start", "answer" or ""; got {quoted(play)}.')
    if play == "answer" and question is None:
        reader.say('play = "answer" needs a question.')
    look = reader.words("look")
    for view in look:
        if view not in VIEWS:
            reader.say(f"look names what is shown, of {', '.join(VIEWS)}; got {quoted(view)}.")
    return Step(
        title=reader.text("title", required=True, limit=80),
        text=reader.text("text", required=True),
        settings=settings,
        fresh=fresh,
        run=reader.whole("run", 0, MAX_RUN, default=0),
        play=str(play),
        until=reader.whole("until", 0, 100_000, default=0),
        look=look,
        mode=_mode(reader, settings),
        pull=reader.flag("pull"),
        question=question,
        then=None if then is None else _settings(reader, "then", then),
        claimed=reader.text("claimed"),
        measured=reader.text("measured"),
        free=reader.flag("free"),
        expect=_claims(reader),
    )


def _claims(reader: Reader) -> tuple[Claim, ...]:
    """Read one assertion, or a list of them."""
    single = isinstance(reader.entries.get("expect"), str)
    claims = []
    for text in [reader.take("expect", "")] if single else reader.words("expect"):
        claim = read_claim(text)
        if claim is None:
            reader.say(
                f'expect must be a name, a relation and a number such as "test_error <= 0.08"; got {quoted(text)}.'
            )
        else:
            claims.append(claim)
    return tuple(claims)


def _entries(reader: Reader, before: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the entries of the settings table that a step shows, those of the step before unless it has its own."""
    if "state" in reader.entries and "change" in reader.entries:
        reader.say("state prepares everything anew and change alters the step before: use one of them.")
        del reader.entries["change"]
    if "state" in reader.entries:
        return _flat(reader, "state")
    if before is None:
        reader.say("the first step needs a state: the link that Share gives in Explore, or a table of settings.")
        return None
    return _changed(reader, "change", before) or before


def _changed(reader: Reader, key: str, before: dict[str, Any]) -> dict[str, Any] | None:
    if key not in reader.entries:
        return None
    changes = _flat(reader, key)
    kept = dict(before)
    for kind in ("data", "method"):  # another data set or method: the options of the old one do not apply
        if kind in changes and changes[kind] != before.get(kind):
            kept = {name: value for name, value in kept.items() if not name.startswith(f"{kind}.")}
    return {**kept, **changes}


def _flat(reader: Reader, key: str) -> dict[str, Any]:
    """Read a link, or a table whose entries may be nested: ``method.beta = 1`` is a table in a table."""
    value = reader.entries.pop(key)
    if isinstance(value, str):
        return dict(link_entries(value))
    if not isinstance(value, dict):
        reader.say(f"{key} must be a link or a table of settings; got {quoted(value)}.")
        return {}
    return toml_entries(value)


def _settings(reader: Reader, key: str, entries: dict[str, Any]) -> Settings:
    settings = read_settings(Reader(entries, f"{reader.where}{key}: ", reader.problems, refuses=True))
    if not SOURCES[settings.data].at_hand:
        reader.say(f"{key}: {SOURCES[settings.data].label} must be loaded by hand; a lesson uses data that are there.")
    return settings


def _question(reader: Reader) -> Question | None:
    if "question" not in reader.entries:
        for key in ("options", "answer", "reveal"):
            if reader.entries.pop(key, None) is not None:
                reader.say(f"{key} needs a question.")
        return None
    options = reader.words("options")
    if not 2 <= len(options) <= MAX_OPTIONS:
        reader.say(f"a question has 2 to {MAX_OPTIONS} options; got {len(options)}.")
    return Question(
        text=reader.text("question", required=True, limit=500),
        options=options,
        answer=reader.whole("answer", 1, max(1, len(options)), default=0) - 1,
        reveal=reader.text("reveal", required=True),
    )


def _mode(reader: Reader, settings: Settings) -> str:
    mode = reader.text("mode")
    if not mode:
        return ""
    names = dict.fromkeys(each.name for task in MENU[settings.method].tasks() for each in _modes(settings, task))
    if mode not in names:
        reader.say(f"mode must be one of {', '.join(names) or 'none'} with this method; got {quoted(mode)}.")
        return ""
    return mode


def _modes(settings: Settings, task: str) -> tuple[Mode, ...]:
    return modes_of(build_estimator(settings, task), task)
