"""The description of an image: what it copies is there, it runs without rights, and writes into its volume only."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from supdr_viz import cli
from supdr_viz.serving.security_headers import HEALTH

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def steps():
    """Instructions of the file in their order: name, rest."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Containerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def only(steps, name):
    [rest] = [rest for step, rest in steps if step == name]
    return rest


def test_what_an_installation_needs_is_copied_and_nothing_that_is_left_out_of_the_build(steps):
    copied = {source for step, rest in steps if step == "COPY" for source in rest.split()[:-1]}
    assert all((ROOT / each).exists() for each in copied)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = {"pyproject.toml", "constraints.txt", project["project"]["readme"], *project["project"]["license-files"]}
    packages = {
        "core" if each == "core" else "supdr_viz" for each in project["tool"]["setuptools"]["packages"]["find"]["where"]
    }
    assert needed | packages == copied
    left_out = set((ROOT / ".dockerignore").read_text().split())
    assert not {each.split("/")[0] for each in copied} & left_out
    assert only(steps, "FROM").startswith(f"python:{project['project']['requires-python'].lstrip('>=')}")


def test_it_runs_without_rights_and_writes_into_its_volume_only(steps):
    names = [step for step, _ in steps]
    user, home = only(steps, "USER"), Path("/home", only(steps, "USER"))
    assert user != "root"
    assert f"--create-home --uid 10001 {user}" in steps[names.index("RUN")][1]
    assert max(names.index("USER"), names.index("ENV")) < [rest for _, rest in steps].index("python -m supdr.warm")
    volume = Path(only(steps, "VOLUME"))
    assert volume == home / ".cache"  # where sweeps are kept by default
    folders = dict(each.split("=") for each in only(steps, "ENV").split())
    assert set(folders) == {"NUMBA_CACHE_DIR", "SCIKIT_LEARN_DATA"}
    assert all(Path(folder).is_relative_to(volume) for folder in folders.values())
    assert names.index("VOLUME") > names.index("ENV")  # what is written after it is lost


def test_the_command_is_one_and_its_health_is_asked_where_it_listens(steps):
    command, *options = json.loads(only(steps, "ENTRYPOINT"))
    assert command == "supdr-viz"
    arguments = cli._parser().parse_args([*options, "--allow-websocket-origin", "school.example:5006"])
    assert arguments.address == "0.0.0.0"
    assert str(arguments.port) == only(steps, "EXPOSE")
    assert f"http://localhost:{arguments.port}{HEALTH}" in only(steps, "HEALTHCHECK")
