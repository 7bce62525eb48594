"""nginx and Caddy before two processes, by the lines of docs/howto_serve.md, as they stand there."""

import asyncio
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.engines.drivers import free_port, program, until
from tests.live.loops import awaited
from tests.live.page import Page

GUIDE = (Path(__file__).parents[2] / "docs" / "howto_serve.md").read_text()
SOON = 120
CLASS_LINK = "?data=iris&method=LSDR&method.max_iter=5"


def blocks(language):
    """Return what the guide says in a language, block by block."""
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)


def own_ports(text, ports):
    """Name the processes under test in place of the guide's, which are on two machines or on one."""
    named = {"10.0.0.1:5006": 0, "10.0.0.2:5006": 1, "127.0.0.1:5007": 0, "127.0.0.1:5008": 1}
    for address, number in named.items():
        text = text.replace(address, f"127.0.0.1:{ports[number]}")
    return text


def nginx(folder, port, ports):
    """Return the command that starts nginx with the guide's lines, without TLS."""
    server, choice, packing = blocks("nginx")
    for_server, for_location = packing.split("# in location / { ... }\n")
    server, upgrade = server.split("# in http { ... }\n")
    server = re.sub(r"listen 443 ssl;|ssl_certificate\w*\s+\S+;", "", server).replace(
        "server {", f"server {{ listen 127.0.0.1:{port};\n{for_server}", 1
    )
    server = server.replace("proxy_pass http://127.0.0.1:5006;", f"proxy_pass http://$process;\n{for_location}")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    file = folder / "nginx.conf"
    choice = own_ports("\n".join(line for line in choice.splitlines() if not line.startswith("#")), ports)
    file.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/log; events {{}}\n"
        f"http {{ access_log off; {places}{upgrade}\n{choice}\n{server} }}\n"
    )
    return [program("nginx", "/usr/sbin/nginx"), "-p", str(folder), "-c", str(file)]


def caddy(folder, port, ports):
    """Return the command that starts Caddy with the guide's lines, without TLS."""
    _one, several = blocks("caddyfile")
    file = folder / "Caddyfile"
    file.write_text("{\n    admin off\n}\n" + own_ports(several, ports).replace("school.example", f"http://:{port}", 1))
    return [program("caddy"), "run", "--config", str(file), "--adapter", "caddyfile"]


@pytest.fixture(params=[nginx, caddy])
def address(request, tmp_path, monkeypatch):
    """Address of a proxy before two processes."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ports, port = (free_port(), free_port()), free_port()
    host = f"localhost:{port}"
    command = [sys.executable, "-m", "supdr_viz.cli", "--no-browser", "--allow-websocket-origin", host]
    commands = [[*command, "--worker", str(k + 1), "--port", str(each)] for k, each in enumerate(ports)]
    commands.append(request.param(tmp_path, port, ports))
    processes = [subprocess.Popen(each, stdout=subprocess.DEVNULL) for each in commands]
    try:
        for each in (*ports, port):
            until(lambda each=each: got(f"http://localhost:{each}/health"), f"nothing answered at {each}", SOON)
        yield f"http://{host}"
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(timeout=20)


def got(address, **headers):
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=SOON) as answer:
        return answer.headers, answer.read()


def number_of(cookie):
    return cookie.removeprefix("supdr=")[:2]


@pytest.mark.slow
def test_a_proxy_keeps_visitors_with_their_process_and_lets_sockets_through(address):
    given = [got(f"{address}/explorer")[0]["Set-Cookie"] for _ in range(12)]
    assert {number_of(cookie) for cookie in given} == {"1-", "2-"}
    for _ in range(4):
        cookie = got(f"{address}/explorer")[0]["Set-Cookie"].partition(";")[0]
        assert got(f"{address}/explorer", Cookie=cookie)[0]["Set-Cookie"] is None  # at home

    async def run():
        seen = set()
        for _ in range(6):
            page = await Page(address, "explorer", CLASS_LINK).open()
            await page.key(" ")
            end = time.monotonic() + SOON
            while page.tree.get("iteration") != 5 and time.monotonic() < end:
                await asyncio.sleep(0.05)
            assert page.tree["iteration"] == 5
            seen.add(page.ticket.partition("-")[0])
            await page.close()
        return seen

    assert awaited(run()) == {"1", "2"}


@pytest.mark.slow
def test_a_proxy_packs_scripts(address):
    page = got(f"{address}/explorer")[1].decode()
    script = re.search(r'src="(static/[^"]*bokeh[^"]*\.js[^"]*)"', page)[1]
    headers, body = got(f"{address}/{script}", **{"Accept-Encoding": "gzip"})
    assert headers["Content-Encoding"] == "gzip"
    assert len(body) < len(got(f"{address}/{script}")[1]) / 2
