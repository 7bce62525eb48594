import platform

import numpy as np
import psutil

from supdr_viz.serving.memory import give_back

PIECES, PIECE = 4_000, 64 * 1024
"""Each is smaller than what the system hands out by the page, so that it is freed to the process."""


def test_what_is_freed_goes_back_to_the_system():
    held = [np.ones(PIECE, dtype=np.uint8) for _ in range(PIECES)]
    last = held[-1]  # what lies above the others keeps them from going back by themselves
    held.clear()
    before = psutil.Process().memory_info().rss
    if give_back():
        assert before - psutil.Process().memory_info().rss > 0.8 * PIECES * PIECE
    else:
        assert platform.libc_ver()[0] != "glibc"
    assert last[0] == 1
