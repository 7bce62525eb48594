"""Sweeps, and by their tabs the other pages: ``panel serve apps/sensitivity.py``."""

from supdr_viz.panel_serve import show

show("sensitivity")
