"""The lessons that come with the product."""

from __future__ import annotations

from importlib import resources

from supdr_viz.lessons.model import Lesson
from supdr_viz.lessons.reading import read_lesson


def _load() -> dict[str, Lesson]:
    files = [each for each in resources.files(__package__ or "").iterdir() if each.name.endswith(".toml")]
    lessons = [read_lesson(each.read_text(encoding="utf-8"), each.name) for each in sorted(files, key=lambda f: f.name)]
    return {lesson.name: lesson for lesson in lessons}


# Name -> lesson, in the order of the menu.
LESSONS: dict[str, Lesson] = _load()


def address(lesson: str, step: int) -> str:
    """Return the query of a link to a step.

    `lesson`: key of `LESSONS`; `step`: counted from 0. Returns without the question mark.
    """
    return f"lesson={lesson}&step={step + 1}"
