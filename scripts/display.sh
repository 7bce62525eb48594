#!/bin/sh
# Provides a screen without a monitor (Xvfb) and the system's libraries that a window of Qt needs there, by the package
# manager where they are missing.  Messages go to standard error.
set -u
# What Qt loads when it opens a window, beside what Chromium needs.
packages="xvfb libegl1 libgl1 libnss3 libasound2 libdbus-1-3 libfontconfig1 libxcb-cursor0 libxcb-icccm4 libxcb-image0
libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcomposite1 libxdamage1 libxkbcommon-x11-0
libxkbfile1 libxrandr2 libxtst6"

opens() {
    command -v Xvfb >/dev/null 2>&1 && QT_QPA_PLATFORM=xcb .venv/bin/python -c 'from ctypes import CDLL
from pathlib import Path
import PySide6
from PySide6 import QtWebEngineCore
CDLL(str(Path(PySide6.__file__).parent / "Qt" / "plugins" / "platforms" / "libqxcb.so"))' 2>/dev/null
}

cd "$(dirname "$0")/.."
opens && exit 0
if command -v apt-get >/dev/null 2>&1; then
    as_root=""
    [ "$(id -u)" = 0 ] || as_root="sudo -n"
    echo "No screen for windows found: installing Xvfb with apt-get" >&2
    $as_root apt-get update -qq >&2 </dev/null
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -qq -y --no-install-recommends $packages >&2 </dev/null
    opens && exit 0
fi
echo "No window can be opened here: Xvfb, or a library that Qt needs, is missing. Install: $packages" >&2
exit 1
