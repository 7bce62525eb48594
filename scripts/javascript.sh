#!/bin/sh
# Checks the format and the style of the page's scripts by Biome; "scripts/javascript.sh --write" mends them first.
# Biome comes from the npm registry, in one version, into .venv: the app itself needs neither Node.js nor npm.
set -eu
cd "$(dirname "$0")/.."
version=2.6.8
biome=".venv/biome-$version/node_modules/.bin/biome"

fail() {
    echo "$1" >&2
    exit 1
}

if ! command -v npm >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "No npm found: installing it with apt-get" >&2
    apt-get update -qq >&2 </dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends nodejs npm >&2 </dev/null
fi
if [ ! -x "$biome" ]; then
    command -v npm >/dev/null 2>&1 || fail "The page's scripts are checked by Biome, which npm installs: install Node.js with npm."
    npm install --silent --no-save --no-audit --no-fund --prefix ".venv/biome-$version" "@biomejs/biome@$version" >&2 || {
        rm -rf ".venv/biome-$version"
        fail "Biome $version could not be installed; the reason stands above."
    }
fi
exec "$biome" check --error-on-warnings "$@" supdr_viz/assets biome.json
