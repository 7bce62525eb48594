"""A few kills of each kind; `make faults` makes many."""

import sys

import numpy as np
import pytest

from tests.faults.kills import KINDS
from tests.faults.sweeping import untouched

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by signals"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_kills_lose_nothing_and_leave_nothing(tmp_path, kind):
    kills, said = KINDS[kind](tmp_path / "sweeps.sqlite", np.random.default_rng(0), 3, untouched())
    assert kills == 3
    assert not said, "\n".join(said)
