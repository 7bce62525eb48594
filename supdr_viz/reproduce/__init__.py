"""The tables and figures of the five papers, measured anew: ``supdr-viz reproduce``."""
