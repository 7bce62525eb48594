"""The lessons as a page of their own: ``panel serve apps/lessons.py``."""

from supdr_viz.pages.lessons import lessons

lessons().servable(title="supdr · Lessons")
