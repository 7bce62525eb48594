"""Whoever asks a server for too much is told so in one sentence, and the others go on."""

import gc
import threading

import pytest

from supdr_viz.data.quotas import QUOTAS, checked, most, variable
from supdr_viz.experiment.settings import parse_query
from supdr_viz.pages.sensitivity.runner import Phase, SweepRunner
from supdr_viz.pages.service import Service, Sweeps
from supdr_viz.ui.dropper import file_dropper
from supdr_viz.ui.visitor import HeldFiles, VisitorFile
from tests.viz.upload_pieces import send
from tests.viz.visitor import Visitor


@pytest.fixture
def quota(monkeypatch):
    return lambda name, number: monkeypatch.setenv(variable(name), str(number))


@pytest.mark.parametrize("name", QUOTAS)
def test_every_quota_has_a_safe_default_and_follows_its_variable(name, quota, monkeypatch):
    monkeypatch.delenv(variable(name), raising=False)
    assert most(name) == QUOTAS[name].default
    assert QUOTAS[name].default >= QUOTAS[name].least
    quota(name, 7)
    assert most(name) == 7
    assert checked(name, str(QUOTAS[name].least)) == QUOTAS[name].least


@pytest.mark.parametrize("text", ["", "-1", "many", "1e9", "1.5", "٣", "9" * 40])
def test_what_is_no_quota_is_named(text):
    with pytest.raises(ValueError, match="is not a number of rows: a whole number from 1 on"):
        checked("rows", text)


def test_a_billion_rows_in_an_address_become_as_many_as_there_may_be():
    settings, problems = parse_query({"data": [b"spirals"], "data.n_per_class": [b"1e9"]})
    assert settings.data_options["n_per_class"] <= 1500
    assert len(problems) == 1
    assert "1500" in problems[0].replace(",", "")


def test_fifty_files_at_once_are_read_a_few_at_a_time(quota):
    quota("tasks", 3)
    turns, lock, inside, peak = Service().turns, threading.Lock(), [0], [0]
    full, go = threading.Event(), threading.Event()

    def work():
        with turns.turn():
            with lock:
                inside[0] += 1
                peak[0] = max(peak[0], inside[0])
                if inside[0] == 3:
                    full.set()
            go.wait()
            with lock:
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(50)]
    for thread in threads:
        thread.start()
    full.wait()
    go.set()
    for thread in threads:
        thread.join()
    assert peak == [3]


def test_a_visitors_files_have_their_limits(quota):
    table = "a,b,y\n" + "1,2,0\n3,4,1\n" * 10
    quota("rows", 10)
    with Visitor("?data=moons&data.n_samples=40&method=LSDR") as visitor:
        visitor.choose("Data set", "A file …")
        visitor.upload("long.csv", table)
        assert visitor.sees("long.csv has 20 rows; at most 10 are read.")
        quota("rows", 100)
        visitor.upload("long.csv", table)
        assert visitor.sees("20 rows, 3 columns")
        quota("held-mb", 1)
        visitor.upload("large.csv", table + "5,6,1\n" * 200_000)
        assert visitor.sees("This server holds as many files as it may at the moment, 1 MB.")
        visitor.upload("long.csv", table)  # what was refused is not held
        assert visitor.sees("20 rows, 3 columns")


def test_fifty_sweeps_at_once_are_refused_beyond_the_quota(quota):
    quota("sweeps", 2)
    sweeps = Sweeps()
    runners = [SweepRunner(sweeps) for _ in range(50)]
    with sweeps.turn:  # nothing computes meanwhile
        for each in runners:
            each.start(None, None, None)
        refused = [each for each in runners if each.phase is Phase.failed]
        assert len(refused) == 48
        assert {each.message for each in refused} == {
            "This server has 2 sweeps under way, as many as it may. Please try later."
        }
        for each in runners:
            each.cancel()
        for each in runners:
            each.wait()
    assert not any(each.active for each in runners)


def test_one_visitors_sweeps_leave_room_for_those_of_others(quota):
    quota("sweeps-each", 2)
    sweeps = Sweeps()
    runners = [SweepRunner(sweeps, "anna") for _ in range(3)]
    others = [SweepRunner(sweeps, name) for name in ("bert", "", "", "")]
    with sweeps.turn:  # nothing computes meanwhile
        for each in (*runners, *others):
            each.start(None, None, None)
        assert [each.phase for each in runners] == [Phase.waiting, Phase.waiting, Phase.failed]
        assert runners[2].message == (
            "You have 2 sweeps under way, as many as a visitor may on this server. Cancel one first."
        )
        assert all(each.active for each in others)  # of nobody in particular: only all together are counted
        for each in (*runners, *others):
            each.cancel()
        for each in (*runners, *others):
            each.wait()


def test_runs_beyond_the_quota_do_not_train(quota):
    quota("training", 1)
    said = "On this server one run trains, as many as may at a time. Steps are free; please try later."
    Service.of_process().targets.add(other := Going())
    with Visitor("?data=moons&data.n_samples=40&method=LSDR&method.max_iter=5") as visitor:
        visitor.key(" ").settle()
        assert visitor.stands == ("ready", 0)
        assert visitor.notices == said
        visitor.press("Step").settle()
        assert visitor.stands == ("paused", 1)
        other.going = False
        visitor.key(" ").settle()
        assert visitor.stands[0] == "finished"
        assert visitor.notices == said  # and nothing else


class Going:
    going = True


@pytest.fixture
def files():
    return HeldFiles()


@pytest.fixture
def dropper(files):
    came, refused = [], []
    made = file_dropper(files, lambda name, content: came.append((name, content)), refused.append, max_bytes=1e6)
    return made, came, refused


def test_a_file_comes_in_pieces_and_is_not_held_afterwards(dropper, files):
    field, came, refused = dropper
    for number, piece in enumerate((b"a,b\n", b"1,2\n"), start=1):
        send(field, "a.csv", number, piece, total=2)
    assert came == [("a.csv", "a,b\n1,2\n")]
    assert not refused
    assert files.size(field) == 0


def test_of_a_file_on_its_way_no_more_is_held_than_there_is_room_for(dropper, files, quota):
    field, came, refused = dropper
    for number in range(1, 50):
        send(field, "large.csv", number, bytes(300_000))
        assert files.size(field) <= 1e6
    assert refused == ["large.csv is larger than 1 MB."]
    quota("held-mb", 1)
    others = [file_dropper(files, lambda *_: None, refused.append, max_bytes=1e6) for _ in range(50)]
    for other in others:
        send(other, "a.csv", 1, bytes(300_000))
    assert files.size() <= 1e6
    assert len(refused) == 1 + 47
    assert set(refused[1:]) == {"This server holds as many files as it may at the moment, 1 MB. Please try later."}
    assert not came


@pytest.mark.parametrize(
    "piece",
    [
        ("a.csv", 2, b"x"),
        ("a.csv", 0, b"x"),
        ("a.csv", -1, b"x"),
        (None, 1, b"x"),
        ("a.csv", "1", b"x"),
        ("a.csv", 1, ["x"]),
        ("a.csv", 1, None),
    ],
)
def test_pieces_that_no_browser_sends_are_not_taken(dropper, files, piece):
    field, came, refused = dropper
    send(field, *piece)
    assert (files.size(field), came, refused) == (0, [], [])


def test_a_second_file_takes_the_place_of_one_that_never_came_to_its_end(dropper, files):
    field, came, _ = dropper
    for number in range(100):
        send(field, f"{number}.csv", 1, bytes(1000))
    assert files.size(field) == 1000
    assert not came


def test_a_file_is_at_hand_for_other_pages_of_its_visitor_only(files):
    pages = [Owner() for _ in range(4)]
    file = VisitorFile("anna", "a.csv", b"x,y\n1,2\n")
    assert files.hold(pages[0], file) == ""
    assert files.hold(pages[1], VisitorFile("anna", "b.csv", b"x")) == ""
    assert files.newest_of("anna", pages[2]).name == "b.csv"
    assert files.size() == len(file.content) + 1  # the page that holds it, too, takes no more
    assert files.newest_of("berta", pages[3]) is None
    files.hold(pages[1], VisitorFile("", "c.csv", b"x"))
    assert files.newest_of("", pages[3]) is None  # of whom it is, is unknown


def test_a_file_that_comes_again_counts_as_the_first_time(files, quota):
    room = 1_000_000
    quota("held-mb", 1)
    owner, other = Owner(), Owner()
    file, large = (VisitorFile("dora", name, bytes(int(share * room))) for name, share in (("a", 0.7), ("b", 0.5)))
    for _ in range(2):
        assert files.hold(owner, file) == ""
        assert "holds as many files as it may" in files.hold(other, large)
        assert files.size(other) == 0
    assert files.hold(other, file) == ""  # the same in memory


def test_a_file_outlives_the_page_to_which_it_was_sent_while_another_page_has_it(files):
    first, second = Owner(), Owner()
    files.hold(first, VisitorFile("carl", "a.csv", b"x,y\n1,2\n"))
    assert files.newest_of("carl", second).name == "a.csv"
    del first
    gc.collect()
    assert files.newest_of("carl", Owner()).name == "a.csv"
    del second
    gc.collect()
    assert files.newest_of("carl", Owner()) is None


class Owner:
    """Holds files."""
