"""Sweeps as a page of their own: ``panel serve apps/sensitivity.py``."""

from supdr_viz.pages.sensitivity import sensitivity

sensitivity().servable(title="supdr · Sensitivity")
