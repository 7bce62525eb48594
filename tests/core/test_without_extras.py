"""The library alone, as ``pip install supdr-viz`` brings it: it learns, and what needs more says what to install.

`make test` leaves out of sight what is installed besides; `make test-all` installs the wheel in clean environments, in
the newest and in the oldest versions, which needs a network.
"""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from supdr.datasets import read_file
from supdr.engine.optional import PackageMissing

ROOT = Path(__file__).parents[2]
LIBRARY = ("numpy", "scipy", "scikit-learn", "numba")
NOT_SHIPPED = (".git", ".venv", ".browsers", "build", "dist", "__pycache__", "*.egg-info", ".*_cache")
MINUTES = 60

pytestmark = pytest.mark.timeout(20 * MINUTES)  # clean environments are downloaded, and compile every kernel

LEARN = """
import numpy as np
import supdr
X = np.random.default_rng(0).standard_normal((12, 4))
for name, method in supdr.METHODS.items():
    latent = method(max_iter=2, random_state=0, verbose=1).fit(X, np.arange(12) % 2.0).transform(X)
    assert len(latent) == 12 and np.isfinite(latent).all()
fitted = supdr.NSDR(max_iter=2, random_state=0).fit(X, np.array(["a", "b", None] * 4, dtype=object))
assert list(fitted.classes_) == ["a", "b"]
data = supdr.datasets.load("wine")
assert supdr.baselines.PCAProjection().fit(data.X, data.y).score(data.X, data.y) > 0.5
"""

ABSENT = """
from importlib.util import find_spec
print(*[name for name in ("pandas", "pyarrow", "panel", "bokeh", "holoviews", "tqdm", "core") if find_spec(name)])
"""

ASK = """
import importlib
import supdr, supdr_viz
from supdr.sensitivity import Sweep
data = supdr.datasets.make_spirals(random_state=0)
sweep = Sweep(supdr.LSDR(max_iter=1, random_state=0), {"reg_w": [0.1]}, cv=2)
for work in (
    lambda: supdr.datasets.read_file(b"a,b", name="a.csv"),
    lambda: supdr.datasets.load_openml("iris"),
    lambda: sweep.result([]).table(),
    lambda: list(sweep.run(data.X, data.y, "dask")),
    lambda: supdr.baselines.UMAP().fit(data.X, data.y),
    lambda: supdr.baselines.PaCMAP().fit(data.X, data.y),
    lambda: supdr_viz.watch,
    lambda: importlib.import_module("supdr_viz.notebook"),
    lambda: supdr_viz.plots,
    lambda: importlib.import_module("supdr_viz.plots"),
):
    try:
        work()
    except ImportError as error:
        print(error)
"""

SENTENCES = [
    'Reading a file needs pandas: pip install "supdr-viz[files]"',
    'Reading from OpenML needs pandas: pip install "supdr-viz[files]"',
    'A table of cells needs pandas: pip install "supdr-viz[files]"',
    'A Dask cluster needs distributed: pip install "supdr-viz[dask]"',
    'UMAP needs umap-learn: pip install "supdr-viz[umap]"',
    'PaCMAP needs pacmap: pip install "supdr-viz[pacmap]"',
    'supdr_viz.watch needs panel: pip install "supdr-viz[app]"',
    'supdr_viz.notebook needs panel: pip install "supdr-viz[app]"',
    *2 * ['supdr_viz.plots needs panel: pip install "supdr-viz[app]"'],
]


class Interpreter:
    """A Python that sees one installation only."""

    def __init__(self, command, folder, **variables):
        self.command, self.folder = command, folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.environment = {**kept, **variables}

    def __call__(self, *arguments, check=True):
        done = subprocess.run(
            [*self.command, *map(str, arguments)], cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0 or not check, done.stdout[-3000:] + done.stderr[-3000:]
        return done


def with_what_they_require(names):
    """Names of the distributions and of all that they require here."""
    seen, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            required = map(Requirement, importlib.metadata.requires(name) or [])
            waiting += [each.name for each in required if each.marker is None or each.marker.evaluate({"extra": ""})]
    return seen


def linked(folder):
    """The sources and what the library requires, nothing else of what is installed here."""
    for name in with_what_they_require(LIBRARY):
        distribution = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
            (folder / top).symlink_to(distribution.locate_file(top))
    for package in ("core/supdr", "supdr_viz"):
        (folder / Path(package).name).symlink_to(ROOT / package)
    return Interpreter([sys.executable, "-S", "-s"], folder, PYTHONPATH=str(folder))


def clean(folder, constraints, extra="", tools=()):
    """An environment of its own with the wheel, in the versions of a file of constraints."""
    ignored = shutil.ignore_patterns(*NOT_SHIPPED)
    sources = shutil.copytree(ROOT, folder / "sources", ignore=ignored)
    pip = [sys.executable, "-m", "pip", "--quiet"]
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    subprocess.run([*pip, "wheel", *options, str(sources)], check=True)
    (wheel,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = Interpreter([str(folder / "venv" / "bin" / "python"), "-I"], folder)
    python("-m", "pip", "install", "--quiet", "--constraint", ROOT / constraints, f"{wheel}{extra}", *tools)
    return python


@pytest.fixture(
    scope="module",
    params=["linked", pytest.param("newest", marks=pytest.mark.slow), pytest.param("oldest", marks=pytest.mark.slow)],
)
def library(request, tmp_path_factory):
    """An interpreter with the library and without any extra."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "linked":
        return linked(folder)
    return clean(folder, "constraints.txt" if request.param == "newest" else "constraints-oldest.txt")


def test_every_method_learns(library):
    shown = library("-c", LEARN).stdout
    for name in ("LSDR", "NSDR", "MAC", "SLDR", "SDRGLM", "SNF"):
        assert f"{name} step 1/2: objective " in shown  # no bar without tqdm


def test_the_ten_lines_of_the_readme_run(library):
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    *_, last = library("-c", program).stdout.splitlines()
    assert re.fullmatch(r"\(143, 2\) 0\.9\d+ \w+.*", last)


def test_nothing_else_is_there_and_what_needs_an_extra_says_what_to_install(library):
    there, *said = library("-c", ABSENT + ASK).stdout.splitlines()
    assert there == ""
    assert said == SENTENCES


@pytest.mark.parametrize(
    "arguments",
    [
        ["sweep", "a.toml"],
        pytest.param([], marks=pytest.mark.slow),
        *(
            pytest.param(more, marks=pytest.mark.slow)
            for more in (["--port", "0"], ["reproduce"], ["lesson", "a.toml"])
        ),
    ],
)
def test_the_command_says_what_to_install(library, arguments):
    done = library("-m", "supdr_viz.cli", *arguments, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == ['supdr-viz needs panel: pip install "supdr-viz[app]"']


@pytest.mark.slow
def test_the_oldest_versions_keep_the_promises(tmp_path):
    """The protocol of the methods and the files, but for callbacks, the bar and seconds."""
    python = clean(tmp_path, "constraints-oldest.txt", extra="[files]", tools=["pytest"])
    files = [
        ROOT / "tests" / "core" / f"test_{name}.py" for name in ("protocol", "datasets_files", "datasets_bad_files")
    ]
    own = tmp_path / "own"  # what tests share, without the sources beside it
    (own / "tests" / "core").mkdir(parents=True)
    for shared in ("bad_input", "core/polls.py", "core/variants.py"):
        (own / "tests" / shared).symlink_to(ROOT / "tests" / shared)
    options = ["--noconftest", "-c", os.devnull, f"--rootdir={tmp_path}", "--import-mode=importlib", "-q"]
    options += ["-o", f"pythonpath={own}"]
    selected = ["-k", "not callback and not verbose_shows_a_bar and not within_100_ms", "-p", "no:cacheprovider"]
    done = python("-m", "pytest", *options, *selected, *files)
    assert " passed" in done.stdout


def test_parquet_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PackageMissing, match=r'Reading Parquet needs pyarrow: pip install "supdr-viz\[files\]"'):
        read_file(b"PAR1", name="a.parquet")
