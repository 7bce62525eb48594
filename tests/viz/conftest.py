"""Fixtures of the tests of the app: what a server offers, and what a test sets of it."""

import sys

import pytest

from supdr import warm
from supdr_viz.data import rows_on_disk
from supdr_viz.pages.service import Service
from supdr_viz.ui.own_files import OwnFile
from supdr_viz.ui.panel_workarounds import let_go_after_errors, stay_in_the_loop
from tests.viz.hands import Hands

# A server does this before its first page. Without it Bokeh goes on taking a page whose callback has failed for the
# current one: what a later test draws would then be part of a document that has ended.
let_go_after_errors()
stay_in_the_loop()


@pytest.fixture
def hands():
    """Return a pool and a clock in the hands of a test."""
    return Hands()


@pytest.fixture
def sockets(monkeypatch):
    """Let the server offer its socket, or not: ``sockets(offered)``."""
    return lambda offered: monkeypatch.setattr(Service.of_process().tickets, "offered", offered)


@pytest.fixture
def own_files(monkeypatch):
    """Let the server offer the app's own files, of which it has none yet, or not: ``own_files(offered)``."""

    def offer(offered):
        monkeypatch.setattr(OwnFile, "offered", offered)
        monkeypatch.setattr(OwnFile, "_contents", {})

    return offer


@pytest.fixture
def offer_rows(monkeypatch):
    """Let the server offer rows on disk: ``offer_rows("a folder", "name=a folder")``."""
    return lambda *places: monkeypatch.setenv(rows_on_disk.VARIABLE, rows_on_disk.described([*map(str, places)]))


@pytest.fixture
def kernels(monkeypatch):
    """Let all kernels seem to be compiled, or none: ``kernels(compiled)``."""
    return lambda compiled: monkeypatch.setattr(warm, "is_warm", lambda *_methods: compiled)


class Compiler:
    """Stands for the compiling process: the test decides when it has finished."""

    progress, error = "kernel 3 of 9", None

    def __init__(self):
        self.waiting = []

    def when_compiled(self, methods, callback):
        self.waiting.append((tuple(methods), callback))


@pytest.fixture
def compiler(monkeypatch, kernels):
    """Let all kernels be missing; return what compiles them."""
    made = Compiler()
    kernels(False)
    monkeypatch.setattr(warm, "start_in_background", lambda: made)
    return made


@pytest.fixture
def missing(monkeypatch):
    """Let a package seem not to be installed: ``missing(name)``."""
    return lambda name: monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def keep_sweeps_in(monkeypatch):
    """Let finished fits of sweeps be kept in a file: ``keep_sweeps_in(path)``."""
    return lambda path: monkeypatch.setenv("SUPDR_SWEEPS", str(path))
