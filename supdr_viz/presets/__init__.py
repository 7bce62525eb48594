"""Prepared settings: the figures of the papers, and the opening."""

# Name of the example with which the explorer opens.
OPENING = "three-spirals"
