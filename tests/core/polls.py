"""How long a solver works before it asks again whether it should stop."""

import time
from itertools import pairwise


class Polls:
    """Who is asked.

    Parameters
    ----------
    seconds : float
        Of processor time after `begin` until the answer is yes.
    most : int, optional
        The answer to so many questions is no; that to the next is yes, whatever the time.
    """

    def __init__(self, seconds, most=None):
        self.times, self._seconds, self._most, self._until = [], seconds, most, None

    def begin(self):
        """Count the seconds from now on."""
        self.times.append(time.thread_time())
        self._until = self.times[-1] + self._seconds

    def __call__(self):
        self.times.append(time.thread_time())
        if self._most is not None:
            return len(self.times) > self._most
        return self._until is not None and self.times[-1] > self._until

    @property
    def gaps(self):
        """Seconds between two questions."""
        return [after - before for before, after in pairwise(self.times)]


def longest_gap(run, seconds):
    """Return the longest time between two questions, in seconds of the processor.

    ``run(polls)`` is done twice with the same questions: what takes long both times is the solver, what takes long once
    is a pause of the machine.
    """
    first = Polls(seconds)
    run(first)
    again = Polls(seconds, most=len(first.times) - 1)
    run(again)
    assert len(first.times) == len(again.times)
    return max(map(min, first.gaps, again.gaps))
