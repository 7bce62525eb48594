"""The benchmark of maps: its page holds one whole run, and nothing less takes its place."""

import warnings

import pytest


@pytest.fixture
def maps(monkeypatch, request):
    """The benchmark."""
    monkeypatch.syspath_prepend(request.config.rootpath / "benchmarks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # UMAP warns of parts that are not installed
        import maps
    return maps


@pytest.fixture
def run(maps, tmp_path):
    """Run the benchmark with fits that take no time; return the names of what it has written."""

    def run_(*options, interrupted_at=None):
        def measure(name, method, split, _data_dir):
            if name == interrupted_at:
                raise KeyboardInterrupt
            return {"set": name, "map": method, "split": split, **dict.fromkeys(maps.COLUMNS, 0.5)}

        maps.main(["--data-dir", ".", *options], measure, tmp_path)
        return sorted(path.name for path in tmp_path.iterdir())

    return run_


@pytest.mark.slow
def test_a_whole_run_is_written(run):
    assert run() == ["maps.csv", "maps.md"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", [["--sets", "iris"], ["--maps", "LDA"], ["--splits", "2"], ["--dry"]], ids=lambda part: part[0].strip("-")
)
def test_a_part_is_printed(run, capsys, part):
    assert run(*part) == []
    assert "## iris" in capsys.readouterr().out


@pytest.mark.slow
def test_what_was_measured_before_an_interruption_is_printed(run, tmp_path, capsys):
    with pytest.raises(KeyboardInterrupt):
        run(interrupted_at="wine")
    assert list(tmp_path.iterdir()) == []
    assert "| iris | 25 |" in capsys.readouterr().out
