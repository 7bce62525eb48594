#!/bin/sh
# Checks the versions of constraints.txt against known weaknesses.  The list of them comes from the network; how many
# versions could be checked is said, and a weakness is an error.
set -eu
cd "$(dirname "$0")/.."
.venv/bin/python -m pip check
if [ ! -x .venv/audit/bin/pip-audit ]; then
    .venv/bin/python -m venv .venv/audit &&
        .venv/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1 2>/dev/null || {
        rm -rf .venv/audit
        echo "pip-audit could not be installed: the versions are not checked against known weaknesses" >&2
        exit 0
    }
fi
.venv/bin/python - <<'PYTHON'
import json
import subprocess
import sys

MOST_SECONDS = 180
ASK = [".venv/audit/bin/pip-audit", "--requirement", "constraints.txt", "--no-deps", "--disable-pip", "--format", "json"]
try:
    said = subprocess.run(ASK, capture_output=True, text=True, timeout=MOST_SECONDS).stdout
except subprocess.TimeoutExpired:
    print("the list of known weaknesses does not answer: the versions are not checked")
    sys.exit()
packages = json.loads(said)["dependencies"]
checked = [package for package in packages if "skip_reason" not in package]
weak = [(package, weakness) for package in checked for weakness in package["vulns"]]
for package, weakness in weak:
    mended = ", ".join(weakness["fix_versions"]) or "no version yet"
    print(f"{package['name']} {package['version']}: {weakness['id']}, mended in {mended}")
print(f"{len(checked)} of {len(packages)} versions checked against known weaknesses, {len(weak)} found")
sys.exit(bool(weak))
PYTHON
