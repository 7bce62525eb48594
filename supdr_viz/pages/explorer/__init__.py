"""The explorer: one run, its controls and its views."""
