"""A visitor's session: what a change of the settings does to the run."""

from dataclasses import replace

import pytest

from supdr_viz.experiment.build import NotAtHand, build_dataset
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.run.session import Session
from supdr_viz.run.status import Phase
from tests.viz.hands import SPIRALS

SETTINGS = SPIRALS.with_options(max_iter=5000)


@pytest.fixture
def session(hands):
    made = Session(hands.pool, lambda: None)
    made.apply(Experiment(SETTINGS))
    return made


def test_a_running_run_keeps_running_however_fast_settings_change(hands, session):
    session.player.run()
    for n_components in (1, 2, 1):
        session.apply(Experiment(SETTINGS.with_options(n_components=n_components)))
        assert session.player.going
    hands.until(lambda: session.player.status.phase is Phase.running)
    assert session.player.fitted.n_components == 1


def test_the_latent_space_is_as_large_as_the_method_makes_it(hands, session):
    session.apply(Experiment(Settings(data="wine", method="LSDR", method_options={"n_components": None})))
    assert session.n_components == 2  # three classes need as many
    hands.until(lambda: session.player.fitted is not None)
    assert session.n_components == session.player.fitted.embedding_.shape[1] == 6
    session.apply(Experiment(Settings(data="wine", method="LSDR", method_options={"n_components": 3})))
    assert session.n_components == 3


def test_what_the_method_has_chosen_can_be_had(hands, session):
    session.apply(Experiment(Settings(data="wine", method="MAC", method_options={"n_components": None})))
    assert session.chosen_number("gamma") is None
    assert session.chosen_number("n_components") == 2
    hands.until(lambda: session.player.fitted is not None)
    fitted = session.player.fitted
    assert session.chosen_number("gamma") == fitted.gamma_
    assert session.chosen_number("reg_w") == fitted.reg_w_
    assert session.chosen_number("C") is None


def test_a_run_that_waits_keeps_waiting(hands, session):
    session.apply(Experiment(SETTINGS.with_options(n_components=1)))
    hands.rest()
    assert session.player.status.phase is Phase.ready
    assert not session.player.going


def test_data_that_cannot_be_had_leave_nothing_running(hands, session):
    session.player.run()
    hands.until(lambda: session.player.status.phase is Phase.running)
    with pytest.raises(NotAtHand, match="offers no rows on disk"):
        session.apply(Experiment(replace(SETTINGS, data="rows", data_options={"name": "gone"})))
    assert session.player.status.phase is Phase.empty
    assert session.settings is None


def test_another_table_of_the_same_name_is_another_run(hands, session):
    settings = Settings(data="file", data_options={"name": "mine.csv"}, method="LSDR")
    tables = [build_dataset(Settings(data=name)) for name in ("iris", "wine")]
    for table in tables:
        session.apply(Experiment(settings, table))
        assert session.dataset is table
        assert session.player.iteration == 0
        session.player.step()
        hands.rest()
        session.apply(Experiment(replace(settings, latent_shown="transform"), table))
        assert session.player.iteration == 1  # the same table and split: the run goes on


def test_settings_whose_table_is_not_at_hand_say_so(session):
    with pytest.raises(NotAtHand):
        session.apply(Experiment(Settings(data="file", data_options={"name": "mine.csv"})))
    assert session.settings is None
