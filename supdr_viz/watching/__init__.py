"""Fits to watch: what a notebook needs of estimators that are not this library's, and of the page around a report."""
