"""A few kills of each kind; `make faults` makes many."""

import subprocess
import sys

import pytest

from tests.faults.kills import KINDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by signals"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_kills_lose_nothing_and_leave_nothing(kind):
    """In a process of its own: the kinds run event loops, and the tests of the browser leave one running."""
    kills = [sys.executable, "-m", "tests.faults.kills", "--only", kind, "--kills", "3"]
    ended = subprocess.run(kills, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{kind}: killed 3 times" in ended.stdout
