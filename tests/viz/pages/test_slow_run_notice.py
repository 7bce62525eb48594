"""A run that takes long: the page says how long, and offers a way out."""

import html
from types import SimpleNamespace

import pytest

from supdr_viz.experiment.settings import MOST_TEST, Settings
from supdr_viz.pages.explorer.slow_run_notice import FEW, LOOK_AFTER, SlowRunNotice, fewer
from supdr_viz.run.status import Phase
from supdr_viz.ui.notice import Notice


class Clock:
    """A document whose time passes when the test says so."""

    def __init__(self):
        self.waiting, self.now = [], 100.0

    def __call__(self):
        return self.now

    def add_timeout_callback(self, callback, milliseconds):
        self.waiting.append((self.now + milliseconds / 1000, callback))

    def tick(self, seconds=LOOK_AFTER):
        self.now += seconds
        due = [(when, callback) for when, callback in self.waiting if when <= self.now]
        self.waiting = [each for each in self.waiting if each not in due]
        for _, callback in due:
            callback()


class Run:
    """A run of so many rows that the test moves."""

    def __init__(self, n_train, n_test):
        self.settings = Settings(method="NSDR")
        self.split = SimpleNamespace(n_train=n_train, n_test=n_test)
        self.estimator = SimpleNamespace(max_iter=40)
        self.player = SimpleNamespace(
            status=SimpleNamespace(phase=Phase.preparing), newest=None, seconds=0.0, iteration=0
        )

    def step(self, iteration, seconds):
        self.player.status.phase = Phase.running
        self.player.newest, self.player.iteration, self.player.seconds = object(), iteration, seconds


@pytest.fixture
def looked_after():
    run, notice, clock, wishes = Run(14_000, 6_000), Notice(), Clock(), []
    SlowRunNotice(run, notice, wishes.append, clock).attach(clock)
    return run, notice, clock, wishes


def said(notice):
    return html.unescape(notice.view[0].object) if notice.shown else ""


def test_a_long_preparation_is_said_with_a_way_out(looked_after):
    run, notice, clock, wishes = looked_after
    clock.tick()
    assert "14,000 training rows has been preparing its first picture for 4 s" in said(notice)
    clock.tick()
    assert "for 8 s" in said(notice)
    way_out = notice.view[1]
    assert way_out.label == "Train on 2,000 rows"
    way_out.clicks += 1
    assert wishes == [0.9]
    run.player.status.phase = Phase.ready
    clock.tick()
    assert not clock.waiting  # it looks no further


def test_slow_steps_are_timed_and_quick_ones_say_nothing(looked_after):
    run, notice, clock, _ = looked_after
    run.step(0, 0.0)
    clock.tick()
    run.step(2, 12.0)
    clock.tick()
    assert "a step takes 6 s, the 38 that are left at most 4 min" in said(notice)
    run.step(30, 13.0)
    clock.tick()
    assert not notice.shown
    assert not notice.view[1].visible  # the way out has gone with it
    assert not clock.waiting


def test_a_run_that_is_quick_at_once_is_left_alone(looked_after):
    run, notice, clock, _ = looked_after
    run.step(50, 1.0)
    clock.tick()
    assert not notice.shown
    assert not clock.waiting


def test_what_begins_while_a_look_is_due_is_timed_from_its_own_beginning():
    run, notice, clock = Run(14_000, 6_000), Notice(), Clock()
    notice_of_run = SlowRunNotice(run, notice, lambda share: None, clock)
    notice_of_run.attach(clock)
    clock.tick(1.6)
    run.step(0, 0.0)
    notice_of_run.begin()
    clock.tick(2.4)
    assert not notice.shown  # four seconds after the preparation began, 2.4 after the steps did
    clock.tick(1.6)
    assert "the first step has taken 4 s so far" in said(notice)


@pytest.mark.parametrize(("n_train", "n_test"), [(14_000, 6_000), (70_000, 30_000), (2_500, 0), (900_000, 100_000)])
def test_fewer_rows_are_few_where_that_helps(n_train, n_test):
    share, n = fewer(n_train, n_test), n_train + n_test
    if share is None:
        assert n_train <= 1.5 * max(FEW, (1 - MOST_TEST) * n)
    else:
        assert 0 < share <= MOST_TEST
        assert (1 - share) * n < n_train / 1.5
        assert (1 - share) * n == pytest.approx(FEW, rel=0.1) or share == MOST_TEST
