"""Prepared settings: the figures of the papers, and the opening."""
