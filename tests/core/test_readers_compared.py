"""The comparison of readings with pandas: what it calls equal, told and silent."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "readers.py"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("x,kind\n1.5,a\n2.5,b\n", "1 equal"),
        ("x,kind\n5 kg,a\n7 kg,b\n", "1 told"),
        ("x,kind\n1,a\n2\n", "1 refused"),
        ("x,kind\n1,a\n2,b\nx,kind\n3,a\n", "1 told"),
    ],
)
def test_a_folder_of_files_is_compared(tmp_path, text, outcome):
    (tmp_path / "t.csv").write_text(text)
    done = subprocess.run([sys.executable, PROGRAM, tmp_path], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == outcome
    assert done.returncode == 0
