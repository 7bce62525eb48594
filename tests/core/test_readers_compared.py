"""The comparison of readings with pandas: what it calls equal, told and silent."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "readers.py"

FILES = {
    "numbers.csv": "x,kind\n1.5,a\n2.5,b\n",
    "ragged.csv": "x,kind\n1,a\n2\n",
    "twice.csv": "x,kind\n1,a\n2,b\nx,kind\n3,a\n",
    "units.csv": "x,kind\n5 kg,a\n7 kg,b\n",
}


def test_a_folder_of_files_is_compared(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run([sys.executable, PROGRAM, tmp_path], capture_output=True, text=True, check=False)
    *lines, last = done.stdout.splitlines()
    assert last == "2 told, 1 equal, 1 refused"
    assert {tuple(line.split(": ")[:2]) for line in lines} == {
        (str(tmp_path / "ragged.csv"), "refused"),
        (str(tmp_path / "twice.csv"), "told"),
        (str(tmp_path / "units.csv"), "told"),
    }
    assert done.returncode == 0
