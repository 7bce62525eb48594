"""Tabs that are killed while the server serves, and servers that are killed while they sweep."""

import asyncio
import json
import time

import psutil

from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.codec import link_entries
from supdr_viz.pages.sensitivity.settings import build_sweep, parse_sweep
from tests.faults.sweeping import fits
from tests.live.page import Page
from tests.live.server import Server

RUN = "?data=spirals&data.n_per_class=60&method=LSDR&method.max_iter=5000&method.tol=0"
SURVIVOR = "?data=iris&method=LSDR&method.max_iter=5000&method.tol=0"
GRID = "?data=iris&method=LSDR&method.max_iter=5&sweep.x=beta:linear:0.1:0.9:6&sweep.y=reg_u:log:0.1:30:6&sweep.folds=3"
BACK_SECONDS = 120
"""In which what a kill has left must be gone or done, on a machine that does much else."""


async def until(holds):
    """Wait until something holds; return whether it came."""
    end = time.monotonic() + BACK_SECONDS
    while not (came := holds()) and time.monotonic() < end:
        await asyncio.sleep(0.05)
    return came


# --- tabs -------------------------------------------------------------------------------------------------------------


def kill_tabs(_store, rng, kills, _expected=None):
    """Cut pages off without a word; return how many, and what was found wrong."""
    with Server() as server:
        said = asyncio.run(_cut_tabs(server, rng, kills))
        return kills, [*said, *server.errors]


async def _cut_tabs(server, rng, kills):
    survivor = await Page(server.url, "explorer", SURVIVOR).open()
    await survivor.key(" ")
    for number in range(kills):
        page = await Page(server.url, "explorer", f"{RUN}&seed={number}").open()
        if rng.uniform() < 0.7:
            await page.key(" ")
        await asyncio.sleep(float(rng.uniform(0, 0.5)))
        await page.cut()
    said = []
    end = time.monotonic() + BACK_SECONDS
    while (counts := await asyncio.to_thread(lambda: server.counts)) and max(counts.values()) > 1:
        if time.monotonic() > end:
            said.append(f"of the tabs is left: {counts}, of which one of each is a survivor's")
            break
        await asyncio.sleep(1)
    drawn = survivor.frames
    await survivor.key("r")  # its run may have come to its end
    await survivor.key(" ")
    if not await until(lambda: survivor.frames >= drawn + 5):
        said.append("the tab that stayed open gets no frames any more")
    await survivor.close()
    return said


# --- servers ----------------------------------------------------------------------------------------------------------


def kill_servers(store, rng, kills, _expected=None):
    """Kill a server that sweeps and trains, and start it again, so often; return how many, and what was found wrong."""
    settings, _ = parse_sweep(link_entries(GRID))
    sweep, X, y = build_sweep(settings, build_dataset(settings.base), store.with_name("untouched.sqlite"))
    list(sweep.run(X, y, "in-process"))
    expected = dict(_scores(store.with_name("untouched.sqlite")))
    done, part, said, known, seen = 0, 0, [], {}, 0
    while done < kills or known:
        path = store.with_name(f"served-{part}.sqlite")
        with Server(SUPDR_SWEEPS=str(path)) as server:
            family = psutil.Process(server.process.pid)
            seen, missed = asyncio.run(_use(server, path, rng, seen, len(expected) if done == kills else 0))
            said += missed
            children = family.children(recursive=True)
            server.kill()
            done += done < kills
            said += server.errors
        _, alive = psutil.wait_procs(children, BACK_SECONDS)
        said += [f"a process of the killed server lives on: {each}" for each in alive]
        now = fits(path)
        said += [f"fit {key} is gone or another" for key, scores in known.items() if now.get(key) != scores]
        known = now
        if len(now) == len(expected):
            if dict(_scores(path)) != expected:
                said.append("the sweep of servers that were killed differs from one that nobody disturbed")
            part, known = part + 1, {}
    return done, said


def _scores(path):
    """Yield what two runs of a sweep have in common: all but the seconds."""
    for key, scores in fits(path).items():
        yield key, {name: score for name, score in json.loads(scores).items() if name != "fit_seconds"}


async def _use(server, path, rng, seen, wanted):
    """Open what was open before the kill, and go on; return the iteration that was shown last, and what went wrong.

    The server may then be killed: in the midst of things, or, if a number of fits is wanted, once they are stored.
    """
    said = []
    page = await Page(server.url, "explorer", RUN).open()
    if seen:
        await page.change(page.part("Bridge"), lost_at=seen)
        if not await until(lambda: page.tree.get("iteration") == seen):
            said.append(f"a page comes back at iteration {page.tree.get('iteration')} instead of {seen}")
    sweep = await Page(server.url, "sensitivity", GRID).open()
    await page.key(" ")
    await sweep.press("Run")
    if wanted:
        if not await until(lambda: len(fits(path)) == wanted):
            said.append(f"a sweep stops after {len(fits(path))} of {wanted} fits")
    else:
        await asyncio.sleep(float(rng.uniform(0, 4)))
    shown = page.tree.get("iteration", 0)
    await page.cut()
    await sweep.cut()
    return min(shown, 500), said
