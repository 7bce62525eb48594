"""``supdr-viz lesson NAME``: a lesson as one HTML file, without a page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from supdr_viz.data.atomic_write import write_atomically
from supdr_viz.lessons.document import lesson_html
from supdr_viz.lessons.library import LESSONS
from supdr_viz.lessons.model import Lesson
from supdr_viz.lessons.reading import LessonError, read_lesson


def add_lesson(commands: Any) -> None:
    """Add the command to an argument parser's subparsers."""
    parser = commands.add_parser(
        "lesson",
        help="write a lesson as one HTML file",
        description="Run every step of a lesson and write texts, questions and recorded runs into one HTML file.",
        epilog=f"The lessons are {', '.join(LESSONS)}.",
    )
    parser.add_argument("lesson", metavar="NAME_OR_FILE", help="name of a lesson, or a lesson of your own as TOML file")
    parser.add_argument("--output", type=Path, metavar="FILE.html", help="file to write (default: NAME.html)")
    parser.set_defaults(run=run_lesson)


def run_lesson(arguments: argparse.Namespace) -> int:
    """Write the file; the exit status is 1 if it could not be made, 2 if there is no such lesson."""
    try:
        lesson = find_lesson(arguments.lesson)
    except (LessonError, OSError) as error:
        return _say(str(error), 2)
    output = arguments.output or Path(f"{lesson.name}.html")

    def on_step(index: int) -> None:
        """Say which step is run."""
        print(f"step {index + 1} of {len(lesson.steps)}: {lesson.steps[index].title}", flush=True)

    try:
        content = lesson_html(lesson, on_step).encode()
        write_atomically(output, content)
    except (ValueError, OSError) as error:
        return _say(str(error), 1)
    except KeyboardInterrupt:
        return _say("stopped; nothing was written", 130)
    print(f"{output}: {len(content) / 1e6:.1f} MB")
    return 0


def find_lesson(name: str) -> Lesson:
    """Return a lesson by its name, or read it from a file.

    `name`: key of `LESSONS`, or path of a TOML file. Raises LessonError: there is no such lesson, or the file is none;
    OSError: the file cannot be read.
    """
    if name in LESSONS:
        return LESSONS[name]
    path = Path(name)
    if not path.exists():
        raise LessonError(name, [f"there is neither such a lesson nor such a file. Lessons are {', '.join(LESSONS)}."])
    return read_lesson(path.read_bytes(), path.name)


def _say(problem: str, status: int) -> int:
    print(f"supdr-viz: {problem}", file=sys.stderr)
    return status
