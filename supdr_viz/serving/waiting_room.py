"""The queue of visitors who wait for a page: which one is next.

Visitors of one address are served in the order of their arrival, and addresses take turns: a visitor who opens a
thousand pages at once does not make others wait for them.  A visitor whose browser has stopped asking does not count.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

# Pages on their way to a browser at the same time: more would only make each other late.
AT_ONCE = 8

# Number of visitors at the head of the queue who may be called: a browser that asks rarely delays no other.
NEXT = 3

# Minimum time (s) between building two pages, in which other requests are answered.
BREATH = 0.1

# The same as a share of the time that the last page took to build, where that is more.
SHARE = 0.5

# Minimum idle time (s) before a page is built; `BREATH` after an arrival: visitors who come together first get their
# place in the queue.
LULL = 0.02

# Longest wait (s) for such an idle time.
LONGEST_LULL = 0.5

# Time (s) after which a page whose browser has not reported does not delay others any more.
ON_THE_WAY = 4.0

# Time (s) for which a visitor with a new place counts: the waiting page asks for its turn at once.
ASKS_WITHIN = 1.5

# Time (s) for which a visitor counts after a request for a turn; one who has left delays no other.
PRESENT = 8.0

# Time (s) for which a place is kept for a browser that is asleep, as long as there is room.
REMEMBERED = 600.0


@dataclass
class _Place:
    """A waiting visitor.

    `address`: from where; `until`: when they count no longer, unless they ask again.
    """

    address: str
    until: float


class WaitingRoom:
    """The waiting visitors, in the order in which they came.

    `clock`: returns seconds. `process`: which of several processes this is: places begin with it, so that a proxy knows
    where they lead.  0: there is one. `longest`: queue, in visitors; later ones are refused unless another address has
    more places.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, process: int = 0, *, longest: int = 2_000) -> None:
        self._clock, self._prefix, self._longest = clock, f"{process}-" if process else "", longest
        self._places: dict[str, _Place] = {}
        self._called: dict[str, float] = {}
        self._on_the_way: list[float] = []
        self._again, self._built, self._began = clock(), True, 0.0
        self._came = 0

    @property
    def waiting(self) -> int:
        """How many wait now."""
        now = self._clock()
        return sum(now < place.until for place in self._places.values())

    def join(self, address: str = "") -> str:
        """Return a new place at the end.

        `address`: of the visitor; empty: unknown. Returns empty if too many wait.
        """
        if len(self._places) >= self._longest:
            self._forget(gone=True)
        if len(self._places) >= self._longest and not self._make_room(address):
            return ""
        turn = self._prefix + secrets.token_urlsafe(9)
        self._places[turn] = _Place(address, self._clock() + ASKS_WITHIN)
        self._came += 1
        return turn

    def before(self, turn: str, *, asks: bool = True) -> int | None:
        """Return the number of visitors before a place; at 0 the visitor is called in.

        `asks`: whether they ask; otherwise they are told, as they have just come, and may never ask. Returns None if
        there is no such place.
        """
        self._forget()
        if turn in self._called:
            return 0
        if turn not in self._places:
            return None
        now = self._clock()
        if asks:
            self._places[turn].until = now + PRESENT
        earlier = self._earlier(turn, now)
        free = AT_ONCE - len(self._on_the_way) - len(self._called)
        if earlier < min(free, NEXT) and not self._building and now >= self._again:
            self._again = now + BREATH
            del self._places[turn]
            self._called[turn] = now
            return 0
        return max(1, earlier)

    def enter(self, turn: str) -> None:
        """Note that a visitor who was called has come: the page is built next."""
        self._called.pop(turn, None)
        self._began = self._clock()
        self._on_the_way.append(self._began)
        self._built = False

    @property
    def _building(self) -> bool:
        """Whether a visitor who has entered still waits for a page; a failed one counts for `ON_THE_WAY` seconds."""
        return not self._built and self._clock() - self._began < ON_THE_WAY

    async def lull(self, is_loading: Callable[[], bool] = lambda: False) -> None:
        """Wait until all who have arrived have a place in the queue: no request is answered while a page is built.

        `is_loading`: whether the browser for which a page is built still asks for files, for which it waits if no other
        visitor does.
        """
        until, first = self._clock() + LONGEST_LULL, self._came
        came = -1
        while self._clock() < until and (came < self._came or (is_loading() and not self.waiting)):
            came = self._came
            await asyncio.sleep(LULL if came == first else BREATH)  # where some have come, more may be on their way
        self._began = self._clock()

    def built(self) -> None:
        """Note that the page of the visitor who entered last is built."""
        now = self._clock()
        self._again, self._built = now + max(BREATH, SHARE * (now - self._began)), True

    def arrived(self) -> None:
        """Take note that a page has come to its browser."""
        if self._on_the_way:
            self._on_the_way.pop(0)

    def _earlier(self, turn: str, now: float) -> int:
        """Count the places before one: all first places of an address come before all second ones."""
        mine = self._places[turn].address
        ranks, own = Counter[str](), 0
        places = [(other, place.address) for other, place in self._places.items() if now < place.until or other == turn]
        for other, address in places:
            if other == turn:
                break
            own += address == mine
        earlier, here = 0, False
        for other, address in places:
            here = here or other == turn
            # Of the same rank, the earlier arrival is before.
            earlier += ranks[address] < own or (ranks[address] == own and not here)
            ranks[address] += 1
        return earlier

    def _make_room(self, address: str) -> bool:
        """Take the last place from the address that has most, unless that is no better off than this one."""
        places_of = Counter(place.address for place in self._places.values())
        most, number = places_of.most_common(1)[0]
        if number <= places_of[address] + 1:
            return False
        del self._places[next(turn for turn, place in reversed(self._places.items()) if place.address == most)]
        return True

    def _forget(self, gone: bool = False) -> None:
        """Forget pages that were not opened in time, and old places of silent browsers; `gone`: all of those."""
        now = self._clock()
        self._on_the_way = [since for since in self._on_the_way if now - since < ON_THE_WAY]
        self._called = {turn: since for turn, since in self._called.items() if now - since < ON_THE_WAY}
        limit = now if gone else now - REMEMBERED + PRESENT
        if any(place.until <= limit for place in self._places.values()):
            self._places = {turn: place for turn, place in self._places.items() if place.until > limit}
