"""Coroutines in a test: the browser's driver keeps a loop running in the thread of the tests."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def awaited(coroutine):
    """Return what a coroutine returns, run by a loop in a thread of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
