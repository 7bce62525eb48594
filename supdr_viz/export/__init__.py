"""Runs as files: recordings, films, reports."""
