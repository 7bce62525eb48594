"""Browsers by the protocols that their makers test them with: WebDriver, and its successor BiDi for Firefox."""

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from glob import glob
from urllib.error import HTTPError

from tornado.websocket import websocket_connect

STARTS_WITHIN = 60
"""Seconds in which a browser or its driver answers."""

DESK, PHONE = (1440, 900), (390, 844)
MOBILE = "Mozilla/5.0 (Linux; Android 14; Mobile) {}"
MINI_BROWSERS = "/usr/lib*/*/webkit2gtk-4*/MiniBrowser", "/usr/lib*/webkit2gtk-4*/MiniBrowser"


def program(*names):
    """Return the path of the first of these programs that is there; of none the test fails."""
    for name in names:
        if path := shutil.which(name) or next(iter(sorted(glob(name))), ""):
            return path
    raise FileNotFoundError(f"{names[0]} is not installed: sh scripts/engines.sh installs it where apt-get is")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(act, what, seconds=STARTS_WITHIN):
    """Return what ``act()`` returns once that is true; errors of a connection are taken as not yet."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if found := act():
                return found
        time.sleep(0.1)
    raise TimeoutError(f"{what} within {seconds} s")


class Browser:
    """A browser with one window.

    Attributes
    ----------
    finger : str
        What it points with: "mouse", or "touch" on a phone.
    saves_by_itself : bool
        Whether it saves a file without asking in a window of its own where to.
    """

    saves_by_itself = True

    def __init__(self, folder, phone=False):
        self.finger = "touch" if phone else "mouse"
        self.size = PHONE if phone else DESK
        self._processes = []
        self._environment = {**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
        try:
            self._open(folder, phone)
        except BaseException:
            self.close()
            raise

    def _start(self, *command):
        self._processes.append(
            subprocess.Popen(command, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        )

    def evaluate(self, function, *arguments):
        """Call a function of JavaScript with arguments that JSON knows, and return what it returns."""
        code = f"(text) => JSON.stringify(({function})(...JSON.parse(text)) ?? null)"
        return json.loads(self._call(code, json.dumps(arguments)))

    def drag(self, places):
        """Press at the first of these places of the window, move through the others, and let go."""
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 30} for x, y in places]
        actions = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]
        self._act({"type": "pointer", "id": "finger", "parameters": {"pointerType": self.finger}, "actions": actions})

    def key(self, value):
        """Press a key: a letter, or its code in the WebDriver standard."""
        strokes = [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": strokes})

    def close(self):
        """End it."""
        for process in reversed(self._processes):
            process.terminate()
            process.wait(timeout=20)


class WebDriver(Browser):
    """A browser behind a driver of its own, which is asked by HTTP."""

    def _drive(self, driver, capabilities):
        port = free_port()
        self._start(driver, f"--port={port}")
        self._address = f"http://127.0.0.1:{port}"
        until(lambda: self._ask("GET", "/status")["ready"], f"{driver} did not answer")
        session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})["sessionId"]
        self._address += f"/session/{session}"

    def _ask(self, method, path, content=None):
        body = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(
            self._address + path, body, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=STARTS_WITHIN) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode(errors='replace')[:500]}") from None

    def go(self, address):
        self._ask("POST", "/url", {"url": address})

    def _call(self, code, argument):
        return self._ask("POST", "/execute/sync", {"script": f"return ({code})(arguments[0])", "args": [argument]})

    def _act(self, source):
        self._ask("POST", "/actions", {"actions": [source]})

    def close(self):
        with contextlib.suppress(OSError, RuntimeError, AttributeError):
            self._ask("DELETE", "")
        super().close()


class Chromium(WebDriver):
    def _open(self, folder, phone):
        flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            f"--user-data-dir={folder}/profile",
        ]
        options = {"args": [*flags, f"--window-size={self.size[0]},{self.size[1]}"]}
        if phone:
            metrics = {"width": self.size[0], "height": self.size[1], "pixelRatio": 2, "touch": True, "mobile": True}
            options["mobileEmulation"] = {"deviceMetrics": metrics, "userAgent": MOBILE.format("Chrome/130")}
        if path := os.environ.get("CHROMIUM"):
            options["binary"] = path
        self._drive(program("chromedriver"), {"browserName": "chrome", "goog:chromeOptions": options})


class WebKit(WebDriver):
    saves_by_itself = False

    def _open(self, folder, phone):
        display = f":{90 + os.getpid() % 900}"
        self._start(program("Xvfb"), display, "-screen", "0", "1600x1200x24", "-nolisten", "tcp")
        self._environment |= {"DISPLAY": display, "WEBKIT_DISABLE_COMPOSITING_MODE": "1", "NO_AT_BRIDGE": "1"}
        until(lambda: os.path.exists(f"/tmp/.X11-unix/X{display[1:]}"), "Xvfb did not start")
        size = f"--geometry={self.size[0]}x{self.size[1]}"
        browser = {"binary": program("MiniBrowser", *MINI_BROWSERS), "args": ["--automation", size]}
        self._drive(program("WebKitWebDriver"), {"webkitgtk:browserOptions": browser})
        self._ask("POST", "/window/rect", dict(zip(("width", "height"), self.size, strict=True)))


class Firefox(Browser):
    """Firefox, asked by BiDi through a websocket: no driver is needed."""

    def _open(self, folder, phone):
        profile = folder / "profile"
        profile.mkdir()
        preferences = {
            "dom.w3c_touch_events.enabled": int(phone),
            "app.update.enabled": False,
            "network.captive-portal-service.enabled": False,
        }
        if phone:
            preferences["general.useragent.override"] = MOBILE.format("Gecko/140.0 Firefox/140.0")
        lines = [f'user_pref("{name}", {json.dumps(value)});\n' for name, value in preferences.items()]
        (profile / "user.js").write_text("".join(lines))
        port = free_port()
        self._start(
            program("firefox-esr", "firefox"),
            "--headless",
            "--no-remote",
            "--profile",
            str(profile),
            f"--remote-debugging-port={port}",
        )
        self._loop = asyncio.new_event_loop()  # in a thread of its own: another driver's may run in this one
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        until(lambda: socket.create_connection(("127.0.0.1", port)).close() or True, "Firefox did not answer")
        self._socket = self._awaited(self._connected(f"ws://127.0.0.1:{port}/session"))
        self._numbers = iter(range(1, 10**9))
        self._ask("session.new", capabilities={})
        self._context = self._ask("browsingContext.getTree")["contexts"][0]["context"]
        width, height = self.size
        self._ask(
            "browsingContext.setViewport",
            context=self._context,
            viewport={"width": width, "height": height},
            devicePixelRatio=2.0 if phone else 1.0,
        )

    @staticmethod
    async def _connected(address):
        return await websocket_connect(address, max_message_size=2**28)

    def _awaited(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(STARTS_WITHIN)

    def _ask(self, method, **parameters):
        return self._awaited(self._asked(method, parameters))

    async def _asked(self, method, parameters):
        number = next(self._numbers)
        await self._socket.write_message(json.dumps({"id": number, "method": method, "params": parameters}))
        while (text := await self._socket.read_message()) is not None:
            answer = json.loads(text)
            if answer.get("id") == number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['message']}")
                return answer["result"]
        raise RuntimeError(f"{method}: Firefox has gone")

    def go(self, address):
        self._ask("browsingContext.navigate", context=self._context, url=address, wait="interactive")

    def _call(self, code, argument):
        found = self._ask(
            "script.callFunction",
            functionDeclaration=code,
            arguments=[{"type": "string", "value": argument}],
            target={"context": self._context},
            awaitPromise=False,
        )
        if found["type"] == "exception":
            raise RuntimeError(found["exceptionDetails"]["text"])
        return found["result"]["value"]

    def _act(self, source):
        self._ask("input.performActions", context=self._context, actions=[source])

    def close(self):
        if hasattr(self, "_loop"):
            self._loop.call_soon_threadsafe(self._loop.stop)
        super().close()
