"""The page of sweeps opens full: prepared sweeps come with their finished cells, which Run takes as computed."""

import numpy as np
import pytest

from supdr.sensitivity import Result
from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.sensitivity.prepared import digest_of, packed_cells, prepared, unpacked_cells
from supdr_viz.pages.sensitivity.presets import SWEEP_PRESETS
from supdr_viz.pages.sensitivity.settings import Axis, SweepSettings, build_sweep
from supdr_viz.presets.pictures import SWEEPS
from tests.viz.visitor import Visitor

AT_HAND = [name for name, preset in SWEEP_PRESETS.items() if preset.needs is None]


@pytest.mark.parametrize("name", SWEEP_PRESETS)
def test_every_prepared_sweep_comes_with_all_its_cells(name):
    settings = SWEEP_PRESETS[name].settings
    cells = prepared(name)
    assert sorted(cell.number for cell in cells.cells) == list(range(settings.n_cells))
    assert {len(cell.outcomes) for cell in cells.cells} == {settings.folds * settings.repeats}
    assert all(cell.map is not None for cell in cells.cells)
    assert (SWEEPS / f"{name}.npz").stat().st_size < 10_000 * settings.n_cells


@pytest.mark.parametrize("name", AT_HAND)
def test_the_rows_are_those_of_today(name):
    settings = SWEEP_PRESETS[name].settings
    _sweep, X, y = build_sweep(settings, build_dataset(settings.base))
    assert prepared(name).digest == digest_of(X, y)


def test_cells_are_those_that_a_run_gives():
    settings = SWEEP_PRESETS["sdr-glm-weight"].settings
    brought = prepared("sdr-glm-weight")
    sweep, X, y = build_sweep(settings, build_dataset(settings.base))
    sweep.finished = [cell for cell in brought.cells if cell.number != 4]
    result = sweep.result(sweep.run(X, y, "in-process"))
    assert sweep.progress.stored == 14 * 5
    expected = Result(settings.grid, brought.metrics, brought.cells)
    np.testing.assert_allclose(result.means("error"), expected.means("error"), atol=0.021)  # two rows of 96 at most


def test_cells_are_read_as_they_were_written_and_only_for_their_settings():
    base = Settings(data="moons", data_options={"n_samples": 60}, method="LSDR", method_options={"max_iter": 2})
    settings = SweepSettings(base, (Axis("reg_u", "log", 0.01, 1.0, 3),), folds=2)
    sweep, X, y = build_sweep(settings, build_dataset(base), maps=True)
    result = sweep.result(sweep.run(X, y, "in-process"))
    content = packed_cells(settings, result, X, y)
    back = unpacked_cells(content, settings)
    assert back.metrics == tuple(result.metrics)
    for cell in back.cells:
        for outcome, before in zip(cell.outcomes, result.cells[cell.number].outcomes, strict=True):
            assert (outcome.scores, outcome.stop, outcome.iterations) == (before.scores, before.stop, before.iterations)
        np.testing.assert_array_equal(cell.map, result.cells[cell.number].map)
    assert unpacked_cells(content, SweepSettings(base, settings.axes, folds=3)) is None


def test_the_page_opens_full_and_run_goes_on_from_there():
    with Visitor("", page="sensitivity") as visitor:
        assert not np.isnan(visitor.model("sweep cells").data["zvalues"]).any()
        assert len(visitor.model("sweep curve 1").data["score"]) == 8
        assert visitor.sees("Best error")
        assert visitor.sees("at ridge on latent rows = 1, ridge on loadings = 10.")
        assert visitor.sees("Ridge on latent rows explains")
        assert visitor.sees("their interaction")
        visitor.press("Show maps")
        assert len(visitor.model("sweep map").data["x"]) == 569
        visitor.press("Run").settle()
        assert visitor.chip == "finished"
        assert visitor.sees("320 of them from earlier runs")


def test_an_example_whose_rows_are_missing_shows_its_cells():
    with Visitor("?data=openml&data.name=336", page="sensitivity") as visitor:
        visitor.choose("Example", SWEEP_PRESETS["spect-kernel"].label)
        assert visitor.widget("Run").disabled
        assert len(visitor.model("sweep cells").data["zvalues"]) == 20
        visitor.press("Show maps")
        assert len(visitor.model("sweep map").data["x"]) == 267
