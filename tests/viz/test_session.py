"""A visitor's session: what a change of the settings does to the run."""

import time
from contextlib import closing
from dataclasses import replace

import pytest

from supdr_viz.run import session as session_module
from supdr_viz.run.pool import Pool
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from supdr_viz.settings.state import Settings

SETTINGS = Settings(
    data="spirals", data_options={"n_per_class": 60}, method="LSDR", method_options={"max_iter": 5000, "tol": 0.0}
)


@pytest.fixture
def session():
    with closing(Session(Pool(threads=1), lambda: None)) as made:
        made.apply(SETTINGS)
        yield made


def reaches(session, phase, seconds=60.0):
    end = time.monotonic() + seconds
    while session.trainer.status.phase is not phase and time.monotonic() < end:
        time.sleep(0.005)
    return session.trainer.status.phase is phase


def test_a_running_run_keeps_running_however_fast_settings_change(session):
    session.trainer.run()
    for n_components in (1, 2, 1):
        session.apply(replace(SETTINGS, method_options={**SETTINGS.method_options, "n_components": n_components}))
        assert session.trainer.going
    assert reaches(session, Phase.running)
    assert session.trainer.fitted.n_components == 1


def test_a_run_that_waits_keeps_waiting(session):
    session.apply(replace(SETTINGS, method_options={**SETTINGS.method_options, "n_components": 1}))
    assert reaches(session, Phase.ready)
    assert not session.trainer.going


@pytest.mark.parametrize("error", [ValueError("no such thing"), OSError("the disc is full")])
def test_data_that_cannot_be_had_leave_nothing_running(session, monkeypatch, error):
    def fail(*_):
        raise error

    session.trainer.run()
    assert reaches(session, Phase.running)
    monkeypatch.setattr(session_module, "build_dataset", fail)
    with pytest.raises(type(error), match=str(error)):
        session.apply(replace(SETTINGS, data="moons", data_options={}))
    assert session.trainer.status.phase is Phase.empty
    assert session.settings is None
