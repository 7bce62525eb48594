"""The benchmark of maps: its page holds one whole run, and nothing less takes its place."""

import sys
import warnings

import pytest


@pytest.fixture
def maps(monkeypatch, request, tmp_path):
    """The benchmark, with fits that take no time and a folder of its own."""
    monkeypatch.syspath_prepend(request.config.rootpath / "benchmarks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # UMAP warns of parts that are not installed
        import maps

    def measure(name, method, split, _data_dir):
        return {"set": name, "map": method, "split": split, **dict.fromkeys(maps.COLUMNS, 0.5)}

    monkeypatch.setattr(maps, "measure", measure)
    monkeypatch.setattr(maps, "RESULTS", tmp_path)
    return maps


def run(maps, monkeypatch, *arguments):
    """Run the benchmark; return the names of what it has written."""
    monkeypatch.setattr(sys, "argv", ["maps.py", "--data-dir", ".", *arguments])
    maps.main()
    return sorted(path.name for path in maps.RESULTS.iterdir())


@pytest.mark.slow
def test_a_whole_run_is_written(maps, monkeypatch):
    assert run(maps, monkeypatch) == ["maps.csv", "maps.md"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", [["--sets", "iris"], ["--maps", "LDA"], ["--splits", "2"], ["--dry"]], ids=lambda part: part[0].strip("-")
)
def test_a_part_is_printed(maps, monkeypatch, capsys, part):
    assert run(maps, monkeypatch, *part) == []
    assert "## iris" in capsys.readouterr().out


@pytest.mark.slow
def test_what_was_measured_before_an_interruption_is_printed(maps, monkeypatch, capsys):
    measure = maps.measure

    def interrupted(name, method, split, data_dir):
        if name == "wine":
            raise KeyboardInterrupt
        return measure(name, method, split, data_dir)

    monkeypatch.setattr(maps, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(maps, monkeypatch)
    assert list(maps.RESULTS.iterdir()) == []
    assert "| iris | 25 |" in capsys.readouterr().out
