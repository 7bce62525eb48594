"""The command supdr-viz: its options, its messages, and that it serves."""

import html
import importlib.metadata
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from urllib.parse import urljoin

import psutil
import pytest

from supdr_viz import cli
from supdr_viz.data.quotas import QUOTAS
from supdr_viz.serving import server as served

COMMAND = [sys.executable, "-m", "supdr_viz.cli"]
START_SECONDS = 300  # with cold caches every kernel is compiled first


@pytest.fixture
def run(capsys):
    """Run the command in this process, with options that do not start a server; return status, output and errors."""

    def run_(*options):
        try:
            status = cli.main(list(options))
        except SystemExit as end:
            status = end.code
        return SimpleNamespace(returncode=status, **dict(zip(("stdout", "stderr"), capsys.readouterr())))

    return run_


def run_by_itself(*options):
    return subprocess.run([*COMMAND, *options], capture_output=True, text=True, timeout=START_SECONDS)


@contextmanager
def server(*options, ends=signal.SIGINT):
    """Start the command on a free port; yields its address and stops it, by default as Ctrl+C does."""
    process = subprocess.Popen(
        [*COMMAND, "--port", "0", "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    watchdog = threading.Timer(START_SECONDS, process.kill)
    watchdog.start()
    said = []
    try:
        for line in process.stdout:
            said.append(line)
            if address := re.search(r"http://\S+", line):
                yield address[0]
                break
        else:
            pytest.fail("the server did not start:\n" + "".join(said))
        process.send_signal(ends)
        remaining, _ = process.communicate(timeout=120)
        assert process.returncode == 0, remaining
        assert "Traceback" not in remaining
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def explorer():
    with server() as address:
        yield address


def get(address):
    """Return where an address leads and what is there, after waiting in line for it if need be."""
    with urllib.request.urlopen(address, timeout=30) as answer:
        landed, page = answer.geturl(), answer.read().decode()
    while again := re.search('data-again="([^"]+)"', page):
        with urllib.request.urlopen(urljoin(landed, html.unescape(again[1])), timeout=30) as answer:
            page = answer.read().decode()
    return landed, page


@pytest.fixture
def refusal(capsys):
    """What the command says of options that it refuses before it looks whether its port is free, in this process."""

    def said(*options):
        with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(SystemExit) as ended:
            cli.main(["--port", str(other.getsockname()[1]), *options])
        assert ended.value.code == 2
        return capsys.readouterr().err

    return said


def test_help_names_every_option(run):
    result = run("--help")
    assert result.returncode == 0
    options = [
        "--port",
        "--address",
        "--allow-websocket-origin",
        "--basic-auth",
        *(f"--most-{name}" for name in QUOTAS),
        "--embed-in",
        "--scheduler",
        "--worker",
        "--workers",
        "--log-json",
        "--show",
        "--no-browser",
        "--version",
    ]
    for option in options:
        assert option in result.stdout


def test_version_is_that_of_the_package(run):
    result = run("--version")
    assert result.returncode == 0
    assert result.stdout.split() == ["supdr-viz", importlib.metadata.version("supdr-viz")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--port", "70000"], "'70000' is not a port"),
        (["--port", "-1"], "-1"),
        (["--port", "five"], "'five' is not a port"),
        (["--allow-websocket-origin", "http://example.org"], "'http://example.org' is not a host"),
        (["--show", "--no-browser"], "not allowed with"),
        (["--most-pages", "-1"], "-1"),
        (["--worker", "0"], "'0' is not the number of a process"),
        (["--workers", "none"], "'none' is not a number of processes"),
        (["--desktop", "--workers", "2"], "leave out --workers"),
        (["--most-pages", "many"], "'many' is not a number of pages"),
        (["--most-rows", "0"], "'0' is not a number of rows: a whole number from 1 on"),
        (["--embed-in", "school.example"], "'school.example' is not a site"),
        (["--embed-in", "https://a.example; script-src *"], "is not a site"),
    ],
)
def test_wrong_options_are_named(refusal, options, message):
    assert message in refusal(*options)


def test_an_unknown_option_is_named(run):
    result = run("--nonsense")
    assert result.returncode == 2
    assert "--nonsense" in result.stderr


def test_busy_port_is_said_in_one_sentence():
    """By the command in a process of its own: nothing but the sentence comes out."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = run_by_itself("--port", str(port), "--address", "127.0.0.1")
    assert result.returncode == 1
    assert f"port {port} is in use" in result.stderr
    assert "Traceback" not in result.stderr
    assert not result.stdout


@pytest.mark.parametrize(
    ("address", "workers", "worker", "cores", "advised"),
    [
        ("0.0.0.0", 1, 0, 4, True),
        ("10.0.0.1", 1, 0, 2, True),
        ("0.0.0.0", 1, 0, 1, False),
        ("0.0.0.0", 2, 0, 4, False),
        ("10.0.0.1", 1, 1, 4, False),
        ("localhost", 1, 0, 4, False),
    ],
)
def test_who_serves_a_network_from_one_process_hears_of_more(address, workers, worker, cores, advised):
    asked = Namespace(address=address, workers=workers, worker=worker, basic_auth=None)
    said = served.greeting(asked, 5006, "explorer", cores)
    assert (f"--workers {cores} gets them in faster: one process for each core" in said) == advised


def test_who_listens_everywhere_is_told_the_address_for_others_and_lets_them_in():
    found = served.address_in_network()
    asked = Namespace(address="0.0.0.0", workers=2, worker=0, basic_auth=None)
    said = served.greeting(asked, 5006, "explorer", 2)
    assert (f"Others in this network reach it at http://{found}:5006/explorer" in said) is bool(found)
    assert (f"{found}:5006" in served.origins("0.0.0.0", 5006, [])) is bool(found)
    assert served.origins("localhost", 5006, ["a.example"]) == ["localhost:5006", "127.0.0.1:5006", "a.example"]


def test_unknown_address_is_said_in_one_sentence(run):
    result = run("--address", "nowhere.invalid")
    assert result.returncode == 1
    assert "'nowhere.invalid'" in result.stderr
    assert "Traceback" not in result.stderr


def test_health_counts_and_names_nobody(explorer):
    """The first to ask this server: pages that other tests have left may close at the same moment."""
    before = json.loads(get(explorer.replace("explorer", "health"))[1])
    get(explorer)
    after = json.loads(get(explorer.replace("explorer", "health"))[1])
    assert after["pages"] > before["pages"] or after["runs"] > before["runs"]
    assert before.keys() == after.keys() == {"status", "pages", "waiting", "runs"}
    assert after["status"] == "ok"


def test_root_leads_to_the_explorer(explorer):
    root = explorer.removesuffix("explorer")
    address, page = get(root)
    assert address == explorer
    assert "<title>supdr · Explore</title>" in page


def test_page_loads_nothing_from_elsewhere(explorer):
    _, page = get(explorer)
    resources = re.findall(r"""<(?:script|link)[^>]*\s(?:src|href)=["']([^"']+)""", page)
    assert resources
    assert not [resource for resource in resources if re.match(r"(https?:)?//", resource)]
    for resource in resources:
        with urllib.request.urlopen(explorer.removesuffix("explorer") + resource.lstrip("/"), timeout=30) as answer:
            assert answer.status == 200


def test_only_this_machine_is_served(explorer):
    port = int(re.search(r":(\d+)/", explorer)[1])
    listening = {c.laddr.ip for c in psutil.net_connections("tcp") if c.status == "LISTEN" and c.laddr.port == port}
    assert listening <= {"127.0.0.1", "::1"}
    assert listening


@pytest.mark.parametrize(
    ("origin", "accepted"),
    [("http://localhost:{port}", True), ("http://127.0.0.1:{port}", True), ("http://example.org", False)],
)
def test_websocket_is_open_to_own_pages_only(explorer, origin, accepted):
    """A page of another site must not drive the server through the visitor's browser."""
    port = int(re.search(r":(\d+)/", explorer)[1])
    _, page = get(explorer)
    token = re.search(r'"token":\s*"([^"]+)"', page)[1]
    with socket.create_connection(("localhost", port), timeout=30) as connection:
        lines = [
            "GET /explorer/ws HTTP/1.1",
            f"Host: localhost:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Protocol: bokeh, {token}",
            f"Origin: {origin.format(port=port)}",
        ]
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        status = connection.recv(64).split()[1]
    assert status == (b"101" if accepted else b"403")


def headers_of(address):
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


@pytest.mark.parametrize("path", ["explorer", "lessons", "follow", "health", "static/js/bokeh.min.js", "nowhere"])
def test_every_answer_says_what_a_browser_may_do_with_it(explorer, path):
    status, headers = headers_of(explorer.removesuffix("explorer") + path)
    assert status == (404 if path == "nowhere" else 200)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == ("no-referrer" if path == "follow" else "same-origin")
    policy = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == "'self'"
    assert policy["object-src"] == "'none'"
    allowed = {source for rule in policy.values() for source in rule.split()}
    host = re.search(r"//([^/]+)/", explorer)[1]
    assert {source for source in allowed if "//" in source} == {f"ws://{host}", f"wss://{host}"}


def test_who_comes_while_a_page_is_built_waits_in_line_and_gets_in(explorer):
    asked = [f"{explorer}?data=moons&data.n_samples=20&method=LSDR&seed={number}" for number in range(4)]
    waiting = []
    with ThreadPoolExecutor(len(asked)) as class_:
        while not waiting:
            answers = list(class_.map(answer_of, asked))
            assert all(status == 200 and ('"token"' in page or "ahead of you" in page) for status, page in answers)
            waiting = [page for _, page in answers if "ahead of you" in page]
    page = min(waiting, key=lambda page: int(re.search(r"(\d+) ahead of you", page)[1]))
    while "ahead of you" in page:
        turn = re.search('data-turn="([^"]+)"', page)[1]
        if json.loads(get(explorer.replace("explorer", f"turn?of={turn}"))[1])["before"] == 0:
            again = html.unescape(re.search('data-again="([^"]+)"', page)[1])
            _, page = answer_of(explorer.replace("explorer", again))
    assert '"token"' in page


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")
def test_without_room_a_plain_page_says_so_there_is_no_session_and_what_ends_services_ends_it():
    with server("--most-pages", "1", ends=signal.SIGTERM) as address:
        status = 200
        while status == 200:  # who got in and never came stays for some seconds
            status, page = answer_of(address)
        assert status == 503
        assert "This server shows one page at a time" in page
        assert "script" not in page
        assert json.loads(get(address.replace("explorer", "health"))[1])["pages"] <= 1


def answer_of(address):
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_a_server_answers_before_the_methods_are_imported():
    """Of a start that takes four seconds, three are imports of what only pages need."""
    program = """
import sys
from supdr_viz import cli
from supdr_viz.serving import server

def imported(*_arguments):
    print(*sorted({"sklearn", "scipy", "numba", "pandas", "holoviews"} & set(sys.modules)), sep=",", flush=True)
    sys.exit()

server.greeting = imported
cli.main(["--port", "0", "--no-browser"])
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=START_SECONDS)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "\n", "")


def test_the_process_ends_after_its_exit_functions_without_unwinding_threads():
    program = """
import atexit, sys, threading, time
from supdr_viz import cli

assert "multiprocessing.util" not in sys.modules  # its exit function comes before the end of the process

class InThread:
    def __del__(self):
        print("unwound", flush=True)

def main():
    atexit.register(print, "exit function")
    print("main")
    return 3

cli.main = main
left = InThread()
sys.exit(cli.command())
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=START_SECONDS)
    assert (ended.returncode, ended.stdout.split("\n"), ended.stderr) == (3, ["main", "exit function", ""], "")


@pytest.mark.parametrize(
    "option", [("--address", "0.0.0.0"), ("--allow-websocket-origin", "here.org"), ("--basic-auth", "secret")]
)
def test_a_window_of_its_own_lets_nobody_else_in(refusal, option):
    assert f"leave out {option[0]}" in refusal("--desktop", *option)
