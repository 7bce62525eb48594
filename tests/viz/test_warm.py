"""Compiling ahead of time: it is complete, it is recognised, and it never happens in the server's own process."""

import os
import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from supdr import warm

IS_WARM = "from supdr import warm; print(warm.is_warm())"


def run_python(*arguments, **environment):
    result = subprocess.run(
        [sys.executable, *arguments], env=os.environ | environment, capture_output=True, text=True, timeout=900
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def is_warm(folder, **environment):
    return run_python("-c", IS_WARM, NUMBA_CACHE_DIR=str(folder), **environment) == "True\n"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A cache of its own, filled from nothing, which takes minutes; and what was said on the way."""
    folder = tmp_path_factory.mktemp("numba")
    return folder, run_python("-m", "supdr.warm", NUMBA_CACHE_DIR=str(folder))


@pytest.mark.slow
def test_every_variant_is_reported(compiled):
    _, said = compiled
    lines = said.splitlines()
    methods = warm.methods_with_kernels()
    variants = [(name, settings) for name in methods for settings in methods[name]._warm_up_settings()]
    assert [line for line in lines if line.endswith("is compiled.")] == [f"{name} is compiled." for name in methods]
    reported = [line for line in lines if line.startswith("[")]
    assert len(lines) == len(reported) + len(methods) + 1
    for line, (name, settings) in zip(reported, variants, strict=True):
        assert f"] {name} " in line
        for value in (value for key, value in settings.items() if key != "max_iter"):
            assert str(value) in line


@pytest.mark.slow
def test_warm_caches_are_recognised_and_cheap_to_check(compiled):
    folder, _ = compiled
    code = (
        "import sys; from supdr import warm; seen = []\n"
        "sys.addaudithook(lambda event, arguments: seen.append((event, str(arguments[0]))) if arguments else None)\n"
        "print(warm.is_warm(), *(file for event, file in seen if event in ('open', 'subprocess.Popen')))"
    )
    state, *opened = run_python("-c", code, NUMBA_CACHE_DIR=str(folder)).split()
    assert state == "True"
    assert opened
    assert all(file.endswith((".py", ".json")) for file in opened)  # the stamp and the sources, no compiled kernel
    assert "already" in run_python("-m", "supdr.warm", NUMBA_CACHE_DIR=str(folder))


@pytest.mark.slow
def test_another_processor_is_cold(compiled):
    folder, _ = compiled
    assert not is_warm(folder, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")


def test_an_empty_cache_is_cold(tmp_path):
    assert not is_warm(tmp_path)


def test_without_a_compiler_there_is_nothing_to_wait_for(tmp_path):
    assert is_warm(tmp_path, NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
def test_every_kernel_of_the_app_is_compiled(compiled):
    """Also those that only large data reach: a compiled file for each kernel that the explorer imports."""
    folder, _ = compiled
    code = (
        "import supdr_viz.pages.explorer.page\n"
        "from supdr import warm\n"
        "print(*{f'{k.py_func.__module__.split(\".\")[-1]}.{k.__qualname__}-' for k in warm._kernels()})\n"
    )
    kernels = run_python("-c", code, NUMBA_CACHE_DIR=str(folder)).split()
    files = [file.name for file in folder.rglob("*.nbc")]
    assert kernels
    assert not [kernel for kernel in kernels if not any(file.startswith(kernel) for file in files)]


@pytest.mark.slow
def test_every_kernel_is_compiled_for_one_kind_of_arrays(compiled):
    """A second one, read-only or strided, would double the time of the first start."""
    folder, _ = compiled
    versions = Counter(re.sub(r"\.\d+\.nbc$", "", file.name) for file in folder.rglob("*.nbc"))
    assert versions
    assert not [kernel for kernel, count in versions.items() if count > 1]


EVERY_CHOICE = """
import supdr
from supdr import warm
from supdr_viz.experiment.methods import METHOD_FORMS

def choices(spec):
    return [value for value, _ in spec.choices] if spec.kind == "choice" else [False, True]

warm.N_SAMPLES, warm.N_FEATURES = 40, 6
for name, estimator_class in supdr.METHODS.items():
    switches = {spec.name: choices(spec) for spec in METHOD_FORMS[name] if spec.kind in ("choice", "bool")}
    for solver in switches.get("solver", [None]):
        solved = {} if solver is None else {"solver": solver}
        for switch, values in switches.items():
            for value in values:
                try:
                    warm._exercise(estimator_class, {**solved, switch: value, "max_iter": 3})
                except ValueError:
                    pass  # a combination that is refused needs no kernel

kernels = warm._kernels()
print(sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels))
print(*sorted({kernel.__name__ for kernel in kernels if kernel.stats.cache_misses}))
"""


@pytest.mark.slow
def test_every_choice_in_the_method_menu_finds_its_kernels(compiled):
    """Run each method with each solver and each other choice, on more rows: nothing is compiled any more."""
    folder, _ = compiled
    loaded, missed = run_python("-c", EVERY_CHOICE, NUMBA_CACHE_DIR=str(folder)).split("\n")[:2]
    assert int(loaded) > 0
    assert missed == ""


@pytest.mark.slow
def test_lost_compiled_files_are_noticed(compiled):
    folder, _ = compiled
    code_file = next(Path(folder).rglob("*.nbc"))
    content = code_file.read_bytes()
    code_file.unlink()
    assert not is_warm(folder)
    code_file.write_bytes(content)
    assert is_warm(folder)


def wait_for(warming):
    ended = threading.Event()
    warming.when_compiled([], lambda _: ended.set())
    assert ended.wait(60), warming.lines


@pytest.fixture
def cold(kernels):
    """A process that takes its caches for cold."""
    kernels(False)


def test_background_compiling_runs_once_and_tells_everybody(cold, tmp_path):
    # A stand-in for the compiler: it waits for a file, so that the test decides when it ends.
    gate = tmp_path / "gate"
    compiler = tmp_path / "compiler"
    compiler.write_text(f"#!/bin/sh\necho first line\nuntil [ -e {gate} ]; do sleep 0.02; done\necho last line\n")
    compiler.chmod(0o755)
    told = []
    first = warm.start_in_background([str(compiler)])
    assert warm.start_in_background() is first
    for _ in range(2):
        first.when_compiled([], told.append)
    assert not first.finished
    assert not told
    gate.touch()
    wait_for(first)  # called back in their order: the two before it have been told
    first.when_compiled([], told.append)
    assert first.error is None
    assert first.lines == ["first line", "last line"]
    assert first.progress == "last line"
    assert told == [first] * 3


@pytest.mark.slow
def test_a_method_is_compiled_first_when_a_page_waits_for_it(tmp_path):
    """In a compiler of its own: the method named on its input comes next, and its callback before the end."""
    code = (
        "import threading\nfrom supdr import warm\n"
        "ready = threading.Event()\nwarming = warm.start_in_background()\n"
        "warming.when_compiled(['TwoStep'], lambda _: warming.when_compiled(['LLR'], lambda _: ready.set()))\n"
        "assert ready.wait(500), warming.lines\n"
        "assert warm.is_warm('LLR') and warm.is_warm('PCASVM', 'LLR') and not warm.is_warm(), warming.lines\n"
        "assert not warming.finished\n"
        "print(*warming.lines, sep='\\n')"
    )
    lines = run_python("-c", code, NUMBA_CACHE_DIR=str(tmp_path)).splitlines()
    names = [line.split(" ")[0] for line in lines if line.endswith("is compiled.")]
    assert names.index("TwoStep") <= 1  # behind the one at most that was being compiled when the name came
    assert names.index("LLR") <= names.index("TwoStep") + 2


@pytest.mark.parametrize(
    ("compiler", "message"),
    [
        ("#!/bin/sh\necho 'ValueError: no such loss' >&2\nexit 1\n", "ValueError: no such loss"),
        (None, "not be started"),
    ],
)
def test_background_failure_is_kept_and_a_later_start_tries_again(cold, tmp_path, compiler, message):
    path = tmp_path / "compiler"
    if compiler:
        path.write_text(compiler)
        path.chmod(0o755)
    warming = warm.start_in_background([str(path)])
    wait_for(warming)
    assert message in warming.error
    again = warm.start_in_background([str(path)])
    assert again is not warming
    wait_for(again)


def test_nothing_is_started_when_everything_is_warm(cold, kernels):
    kernels(True)
    warming = warm.start_in_background()
    assert warming.finished
    assert warming.error is None
