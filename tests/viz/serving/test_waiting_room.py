"""The waiting line: in turn, none forgotten, none kept waiting by those who are gone."""

import random

from supdr_viz.serving.waiting_room import (
    ASKS_WITHIN,
    AT_ONCE,
    BREATH,
    NEXT,
    ON_THE_WAY,
    PRESENT,
    REMEMBERED,
    WaitingRoom,
)


def ask(queue, clock, waiting, enter=True):
    """Everybody who waits asks once, in any order, a breath after the last page; return who was called."""
    clock.now += BREATH
    called = [turn for turn in waiting if queue.before(turn) == 0]
    for turn in called:
        waiting.remove(turn)
        if enter:
            queue.enter(turn)
            queue.built()
    return called


def test_who_comes_alone_is_let_in_at_once(queue):
    assert queue.before(queue.join()) == 0


def test_places_are_in_the_order_of_coming_and_one_is_called_at_a_time(queue, clock):
    turns = [queue.join() for _ in range(50)]
    assert [queue.before(turn) for turn in turns][:4] == [0, 1, 1, 2]
    assert queue.waiting == 49
    clock.now += BREATH
    assert sum(queue.before(turn) == 0 for turn in turns[1:]) == 1


def test_all_get_in_and_nobody_jumps_the_queue(queue, clock):
    turns = [queue.join() for _ in range(50)]
    waiting, came, chance = list(turns), [], random.Random(0)
    while waiting:
        chance.shuffle(waiting)
        called = ask(queue, clock, waiting)
        assert len(called) <= 1
        came += called
        for _ in called:
            queue.arrived()
    assert sorted(came) == sorted(turns)
    assert all(came.index(turn) > number - NEXT for number, turn in enumerate(turns))


def test_others_are_answered_between_two_pages_that_take_long(queue, clock):
    waiting = [queue.join() for _ in range(3)]
    assert queue.before(waiting.pop(0)) == 0
    queue.enter("")
    clock.now += 2.0
    queue.built()
    clock.now += 2 * BREATH
    assert queue.before(waiting[0])
    clock.now += 2.0
    assert queue.before(waiting[0]) == 0


def test_pages_that_never_come_to_their_browser_are_not_waited_for(queue, clock):
    waiting = [queue.join() for _ in range(AT_ONCE + 1)]
    for _ in range(AT_ONCE):
        assert ask(queue, clock, waiting)
    assert not ask(queue, clock, waiting)
    clock.now += ON_THE_WAY
    assert ask(queue, clock, waiting)


def test_who_is_called_and_does_not_come_keeps_nobody_out(queue, clock):
    waiting = [queue.join() for _ in range(2 * AT_ONCE)]
    while ask(queue, clock, waiting, enter=False):
        pass
    assert len(waiting) == AT_ONCE
    clock.now += ON_THE_WAY
    assert ask(queue, clock, waiting)


def test_who_has_gone_away_counts_for_nothing_and_keeps_the_place(queue, clock):
    gone, here = queue.join(), queue.join()
    for _ in range(AT_ONCE):
        queue.enter("")
    queue.built()
    clock.now += PRESENT
    for _ in range(AT_ONCE):
        queue.enter("")
    assert queue.before(here) == 1  # nobody, but there is no room on the way
    assert queue.before(gone) == 1
    late = queue.join()
    assert queue.before(late) == 2
    clock.now += REMEMBERED
    assert queue.before(gone) is None


def test_places_cannot_fill_the_memory(clock):
    queue = WaitingRoom(clock, longest=3)
    assert [bool(queue.join()) for _ in range(5)] == [True] * 3 + [False] * 2


def test_places_of_those_who_are_gone_keep_nobody_out(clock):
    queue = WaitingRoom(clock, longest=5)
    assert queue.before(queue.join()) == 0
    *_, here = places = [queue.join() for _ in range(5)]
    assert [queue.before(turn) for turn in places] == [1, 1, 2, 3, 4]
    clock.now += PRESENT - 1
    assert queue.before(here) == 4
    clock.now += 1
    assert [bool(queue.join()) for _ in range(5)] == [True] * 4 + [False]
    assert queue.before(here) is not None


def test_who_never_asks_for_a_turn_is_waited_for_no_longer_than_a_page_needs_to_ask(queue, clock):
    for _ in range(AT_ONCE):  # there is no room for a while
        queue.enter("")
    queue.built()
    flood = [queue.join() for _ in range(500)]
    assert queue.before(flood[-1], asks=False) == 499
    here = queue.join()
    assert queue.before(here) == 500
    clock.now += ASKS_WITHIN
    assert (queue.before(here), queue.waiting) == (1, 1)
    assert queue.before(flood[0]) == 1  # a page that was slow to ask keeps its place
    assert queue.before(here) == 1
    assert queue.waiting == 2


def test_addresses_take_turns_whoever_asks_most(queue, clock):
    for _ in range(AT_ONCE):
        queue.enter("")
    queue.built()
    many = [queue.join("there") for _ in range(300)]
    here, second = queue.join("here"), queue.join("here")
    for turn in many:
        queue.before(turn)
    assert queue.before(here) == 1  # the first of theirs
    assert queue.before(second) == 3  # the first two of theirs, and the own first
    assert [queue.before(turn) for turn in many[:4]] == [1, 2, 4, 5]
    assert queue.before(many[-1]) == 301


def test_who_has_most_places_gives_way_to_others_when_there_are_no_more(clock):
    queue = WaitingRoom(clock, longest=6)
    many = [queue.join("there") for _ in range(6)]
    assert not queue.join("there")
    others = [queue.join("here") for _ in range(4)]
    assert [bool(turn) for turn in others] == [True, True, True, False]
    assert [queue.before(turn) is not None for turn in many] == [True] * 3 + [False] * 3


def test_who_enters_and_gets_no_page_keeps_nobody_out(queue, clock):
    assert queue.before(queue.join()) == 0
    queue.enter("")
    waiting = [queue.join()]
    assert not ask(queue, clock, waiting)
    clock.now += ON_THE_WAY
    assert ask(queue, clock, waiting)
