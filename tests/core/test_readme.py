"""What the README shows is there; its programs are run by tests/viz/test_docs.py."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_pictures_exist():
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README)
    assert pictures
    for picture in pictures:
        assert (ROOT / picture).stat().st_size > 10_000


@pytest.mark.parametrize("command", re.findall(r"^make (\w[\w-]*)", README, flags=re.MULTILINE))
def test_the_make_targets_exist(command):
    assert re.search(rf"^{command}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
