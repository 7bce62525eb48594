#!/bin/sh
# Creates .venv when it is missing and installs the project there, editable, in the versions of constraints.txt.
# Usage: scripts/install.sh [EXTRA]   (EXTRA: optional dependencies of pyproject.toml, such as "app" or "test,umap"; without
# it the library alone)
set -eu
cd "$(dirname "$0")/.."
extra="${1:-}"

fail() {
    printf '\n%s\n' "$1" >&2
    exit 1
}

# A usable interpreter is new enough and can create virtual environments (Debian packs that part separately).
find_python() {
    without_venv=""
    for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
        [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
        if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
            python="$candidate"
            return
        fi
        without_venv="$candidate"
    done
    [ -z "$without_venv" ] || fail "$without_venv cannot create virtual environments: its module ensurepip is missing.
On Debian or Ubuntu install it with: apt install python3-venv"
    fail "No Python 3.11 or newer was found (looked for python3, python3.14 ... python3.11, python).
Install one, or name it: make PYTHON=/path/to/python3 ..."
}

if [ ! -x .venv/bin/python ]; then
    find_python
    echo "Creating .venv with $("$python" --version) ($(command -v "$python"))"
    # A half-made environment would look complete to the next run.
    "$python" -m venv .venv || { rm -rf .venv; fail "Could not create .venv; the reason stands above."; }
fi
.venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail ".venv holds $(.venv/bin/python --version), but 3.11 or newer is needed. Remove it (make clean) and try again."

echo "Installing supdr-viz${extra:+[$extra]} into .venv"
python=.venv/bin/python
quiet="--quiet --disable-pip-version-check --constraint constraints.txt"

# uv installs in a fifth of pip's time.  It does not read pip's configuration, so it is handed pip's index; where it
# cannot be had or fails, pip does the same.
install() {
    index="${PIP_INDEX_URL:-$("$python" -m pip config get global.index-url 2>/dev/null || true)}"
    if "$python" -m uv --version >/dev/null 2>&1 &&
        "$python" -m uv pip install --quiet --python "$python" --constraint constraints.txt \
            ${PYTHONDONTWRITEBYTECODE:+--compile-bytecode} ${index:+--default-index "$index"} "$@"; then
        return
    fi
    # shellcheck disable=SC2086  # options, a word each
    "$python" -m pip install $quiet "$@"
}

# shellcheck disable=SC2086
"$python" -m pip install $quiet uv || echo "uv could not be installed; pip goes on without it"
# setuptools is installed first, pinned like the rest, so that the build does not fetch a version of its own.
install setuptools && install --no-build-isolation --editable ".${extra:+[$extra]}" ||
    fail "The installation did not finish; the reason stands above. Nothing outside .venv was changed."
