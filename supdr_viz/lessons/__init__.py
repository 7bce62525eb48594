"""Lessons: texts and prepared states of the explorer's views, written as TOML files.

The lessons of the product lie beside this module, so that an installed copy finds them.  A lecturer's own lesson is a
file of the same format: see docs/lessons.md.
"""

from supdr_viz.lessons.library import LESSONS, address
from supdr_viz.lessons.model import Lesson, Question, Step
from supdr_viz.lessons.reading import LessonError, read_lesson

__all__ = ["LESSONS", "Lesson", "LessonError", "Question", "Step", "address", "read_lesson"]
