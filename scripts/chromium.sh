#!/bin/sh
# Prints the path of a Chromium that starts, and provides one where there is none.
# Order: $CHROMIUM, a system browser, an earlier download, the package manager, a download by Playwright into .browsers.
# Messages go to standard error, the path alone to standard output.
set -u
cd "$(dirname "$0")/.."
export PLAYWRIGHT_BROWSERS_PATH="$PWD/.browsers"

use() {
    echo "Browser for the tests: $("$1" --version 2>/dev/null) ($1), $2" >&2
    echo "$1"
    exit 0
}

# Some systems install a stub that only says where to get the browser: a version proves that it starts.
try_system() {
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        path="$(command -v "$name" 2>/dev/null)" || continue
        "$path" --version >/dev/null 2>&1 && use "$path" "$1"
    done
}

try_download() {
    path="$(.venv/bin/python -c 'from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)' 2>/dev/null)" || return
    [ -x "$path" ] && "$path" --version >/dev/null 2>&1 && use "$path" "downloaded by Playwright"
}

if [ -n "${CHROMIUM:-}" ]; then
    path="$(command -v "$CHROMIUM" 2>/dev/null)" && "$path" --version >/dev/null 2>&1 && use "$path" "from CHROMIUM"
    echo "CHROMIUM=$CHROMIUM does not start." >&2
    exit 1
fi
try_system "found on this system"
try_download

if command -v apt-get >/dev/null 2>&1; then
    as_root=""
    [ "$(id -u)" = 0 ] || as_root="sudo -n"
    if [ -z "$as_root" ] || sudo -n true 2>/dev/null; then
        echo "No Chromium found: installing one with apt-get" >&2
        $as_root apt-get update -qq >&2 </dev/null
        DEBIAN_FRONTEND=noninteractive $as_root apt-get install -qq -y --no-install-recommends chromium >&2 </dev/null
        try_system "installed with apt-get"
    fi
fi

echo "No Chromium found: downloading one with Playwright into .browsers" >&2
.venv/bin/python -m playwright install chromium >&2 </dev/null
try_download

echo "No working Chromium: none is installed and none could be downloaded.
Install Chromium or Google Chrome, or name one: make test CHROMIUM=/path/to/chromium" >&2
exit 1
