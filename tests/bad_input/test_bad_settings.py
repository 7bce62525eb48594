"""Whatever comes as settings, lesson, sweep, message or file is taken or refused in words."""

import subprocess
import sys

import numpy as np
import pytest

from supdr_viz.experiment.codec import link_entries
from supdr_viz.experiment.settings import from_json, parse_entries
from supdr_viz.pages.sensitivity.files import from_toml
from supdr_viz.pages.sensitivity.settings import parse_sweep
from tests.bad_input.damage import damaged
from tests.bad_input.fuzz import fuzz
from tests.bad_input.settings import LESSONS, LINKS, STATES, SWEEP_LINKS, SWEEPS

NUMBERS = ("data.n_per_class", "data.noise", "method.reg", "seed", "test", "labels", "speed")


def test_the_corpus_is_large():
    assert len(LINKS) + len(STATES) + len(LESSONS) + len(SWEEPS) + len(SWEEP_LINKS) >= 60


@pytest.mark.parametrize("link", LINKS)
def test_what_is_wrong_with_a_link_is_said_in_short_sentences(link):
    _, problems = parse_entries(link_entries(link))
    for problem in problems:
        assert "\n" not in problem
        assert len(problem) < 400
        assert problem.endswith(".")


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["1e309", "nan", "-inf", "9" * 400, "1e9", "", "x"])
def test_no_link_makes_an_endless_run(name, value):
    settings, problems = parse_entries({"data": "spirals", "method": "MAC", name: value})
    assert problems
    assert settings.data_options["n_per_class"] <= 5_000
    assert np.isfinite(settings.data_options["noise"])


@pytest.mark.parametrize("text", STATES)
def test_a_state_that_is_none_gives_the_defaults_and_a_reason(text):
    _, problems = from_json(text)
    assert problems


@pytest.mark.parametrize("text", SWEEPS)
def test_a_sweep_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match=r"\w"):
        from_toml(text.decode() if isinstance(text, bytes) else text)


def test_what_stands_beside_the_link_of_a_sweep_counts():
    settings, _ = from_toml('folds = 7\nseed = 3\nlink = "data=iris&method=LSDR&seed=1&sweep.folds=2"')
    assert (settings.folds, settings.base.data, settings.base.seed) == (7, "iris", 3)
    with pytest.raises(ValueError, match=r"the link already says what the table \[method\] would"):
        from_toml('link = "data=iris&method=LSDR"\n[method]\nname = "NSDR"')


@pytest.mark.parametrize("link", SWEEP_LINKS)
def test_what_is_wrong_with_the_link_of_a_sweep_is_said(link):
    settings, problems = parse_sweep(link_entries(link))
    assert problems
    assert 1 <= len(settings.axes) <= 2


def test_random_damage_finds_nothing():
    findings = fuzz(count=1_300, seed=0)
    assert not findings, "\n".join(findings)


@pytest.mark.slow
def test_random_talk_finds_nothing():
    """In a process of its own: the tests of the browser leave an event loop running."""
    command = [sys.executable, "-m", "tests.bad_input.fuzz", "--only", "websocket", "--count", "150"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "150 inputs, 0 findings" in ended.stdout


def test_damage_can_be_done_again():
    first, again, other = (damaged(np.random.default_rng(seed), b"a,b,class\n1,2,x\n", [b"x"]) for seed in (1, 1, 2))
    assert first == again != other
