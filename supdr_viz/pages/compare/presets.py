"""Comparisons to begin with: what an address without settings shows, and a figure of a paper."""

from __future__ import annotations

from supdr_viz.pages.compare.comparison import comparison_table
from supdr_viz.presets.reading import read_presets

# The compare page's presets.
COMPARISON_PRESETS = read_presets(["comparisons"], comparison_table, opening="opening")
