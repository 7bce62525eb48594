"""A class at once: fifty who train, and two hundred who follow one."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from client import Client, Follower, Served
from pages import FAST, LIGHT, open_page, run_key
from playwright.sync_api import sync_playwright
from tornado.httpclient import AsyncHTTPClient


async def _crowd(served: Served, count: int, seconds: float) -> list[tuple[str, str, str]]:
    AsyncHTTPClient.configure(None, max_clients=2 * count)
    until, came = asyncio.Event(), time.monotonic()
    clients = [Client(served) for _ in range(count)]
    tasks = [asyncio.create_task(client.run(LIGHT + f"&seed={number}", until)) for number, client in enumerate(clients)]
    memory, seconds_before = served.memory, served.seconds
    while any(client.frames == 0 for client in clients):
        await asyncio.sleep(0.1)
        for task in tasks:
            if task.done():
                task.result()
    opened = [client.times[0] - came for client in clients]
    each, cost = (served.memory - memory) / count, (served.seconds - seconds_before) / count
    for client in clients:
        await client.press(" ")
    await asyncio.sleep(5.0)
    frames, began = [client.frames for client in clients], time.monotonic()
    await asyncio.sleep(seconds)
    elapsed = time.monotonic() - began
    rates = [(client.frames - then) / elapsed for client, then in zip(clients, frames, strict=True)]
    waits = []
    for client in clients:  # pause, and train again
        waits += [await client.answer_to(" "), await client.answer_to(" ")]
    late, came = Client(served), time.monotonic()
    tasks.append(asyncio.create_task(late.run(f"{LIGHT}&seed={count}", until)))
    while late.frames == 0:
        await asyncio.sleep(0.02)
    late_after = late.times[0] - came
    until.set()
    for task in tasks:
        task.cancel()
    answered = [client.answered for client in clients if client.answered is not None]
    name = f"{count} pages opened at once"
    return [
        (f"{name}: a page to see", f"{np.median(answered):.2f} s, the last {max(answered):.2f} s", "<= 1 s"),
        (f"{name}: the first frame", f"{np.median(opened):.1f} s, the last {max(opened):.1f} s", "<= 30 s"),
        ("the server's processors for each of them", f"{cost:.2f} s", ""),
        ("memory of each of them", f"{each / 1e6:.1f} MB", "<= 6 MB"),
        (f"frames of each, {count} training", f"{min(rates):.2f} to {max(rates):.2f} / s", ">= 0.5 / s"),
        (
            f"a control answers, {count} training",
            f"p50 {np.quantile(waits, 0.5):.2f} s, p95 {np.quantile(waits, 0.95):.2f} s, the last {max(waits):.2f} s",
            "<= 1 s",
        ),
        ("one who comes late: the first frame", f"{late_after:.1f} s", "<= 5 s"),
    ]


def crowd(served: Served, count: int = 50, seconds: float = 12.0) -> list[tuple[str, str, str]]:
    """Fifty who open the page at once, then all train; one more comes late."""
    return asyncio.run(_crowd(served, count, seconds))


async def _followed(link: str, count: int, seconds: float) -> tuple[list[float], float]:
    until, followers = asyncio.Event(), [Follower(link) for _ in range(count)]
    tasks = [asyncio.create_task(each.run(until)) for each in followers]
    while any(each.frames == 0 for each in followers):
        await asyncio.sleep(0.1)
    await asyncio.sleep(2.0)
    before, began = [(each.frames, each.bytes) for each in followers], time.monotonic()
    await asyncio.sleep(seconds)
    elapsed = time.monotonic() - began
    rates = [(each.frames - frames) / elapsed for each, (frames, _) in zip(followers, before, strict=True)]
    sent = sum(each.bytes - size for each, (_, size) in zip(followers, before, strict=True)) / elapsed
    until.set()
    for task in tasks:
        task.cancel()
    return rates, sent


def followers(served: Served, count: int = 200, seconds: float = 12.0) -> list[tuple[str, str, str]]:
    """Frames a second of two hundred who follow the run of one page, and of that page."""
    with sync_playwright() as playwright:
        browser, page = open_page(playwright, served, FAST)
        page.get_by_role("button", name="Share").first.click()
        page.get_by_role("button", name="Open a link for students").click()
        page.get_by_text("No one is watching yet").wait_for()
        link = page.get_by_label("Link for students").input_value()
        page.keyboard.press("Escape")
        page.wait_for_timeout(500)
        run_key(page)
        page.wait_for_timeout(1000)
        before = served.gauges()
        with ThreadPoolExecutor(1) as thread:  # this one has the browser's event loop
            rates, sent = thread.submit(asyncio.run, _followed(link, count, seconds)).result()
        after = served.gauges()
        browser.close()
    own = (after["acknowledged"] - before["acknowledged"]) / (after["now"] - before["now"])
    return [
        (f"frames of each of {count} who follow", f"{min(rates):.1f} to {max(rates):.1f} / s", ">= 5 / s"),
        ("sent to all of them", f"{sent / 1e6:.0f} MB / s", ""),
        ("frames of the page they follow, meanwhile", f"{own:.1f} / s", ""),
    ]
