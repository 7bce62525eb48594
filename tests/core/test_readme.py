"""What the README shows runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("program", re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
def test_the_programs_run(program, tmp_path):
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_pictures_exist():
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README)
    assert pictures
    for picture in pictures:
        assert (ROOT / picture).stat().st_size > 10_000


@pytest.mark.parametrize("command", re.findall(r"^make (\w[\w-]*)", README, flags=re.MULTILINE))
def test_the_make_targets_exist(command):
    assert re.search(rf"^{command}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
