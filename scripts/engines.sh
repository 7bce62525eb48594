#!/bin/sh
# Provides what the tests in all engines need beside Chromium: its driver, Firefox, WebKit with its driver, and a screen
# without a monitor (Xvfb); and the proxies before the server, nginx and Caddy; by the package manager where they are
# missing.  Messages go to standard error.
set -u
packages="chromium chromium-driver firefox-esr webkit2gtk-driver xvfb nginx-light caddy"

missing() {
    for name in chromedriver WebKitWebDriver Xvfb nginx caddy; do
        PATH="$PATH:/usr/sbin" command -v "$name" >/dev/null 2>&1 || echo "$name"
    done
    command -v firefox-esr >/dev/null 2>&1 || command -v firefox >/dev/null 2>&1 || echo firefox
}

[ -z "$(missing)" ] && exit 0
if command -v apt-get >/dev/null 2>&1; then
    as_root=""
    [ "$(id -u)" = 0 ] || as_root="sudo -n"
    echo "Not found: $(missing | tr '\n' ' '); installing with apt-get" >&2
    # The proxies are started by the tests alone: none is to listen on this machine's ports by itself.
    policy=/usr/sbin/policy-rc.d
    [ -e "$policy" ] || { $as_root sh -c "printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy" && added=1; }
    $as_root apt-get update -qq >&2 </dev/null
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -qq -y --no-install-recommends $packages >&2 </dev/null
    [ -z "${added:-}" ] || $as_root rm -f "$policy"
    [ -z "$(missing)" ] && exit 0
fi
echo "The tests in all engines and behind proxies need: $(missing | tr '\n' ' ')
Install them; in Debian: $packages" >&2
exit 1
