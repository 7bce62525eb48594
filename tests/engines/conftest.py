"""A server, and a browser of each kind."""

import pytest

from tests.browser.conftest import Server


@pytest.fixture(scope="package")
def served(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()
