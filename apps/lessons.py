"""The lessons, and by their tabs the other pages: ``panel serve apps/lessons.py``."""

from supdr_viz.panel_serve import show

show("lessons")
