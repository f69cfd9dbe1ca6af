"""One run: most searches through the library, in two processes, while a real lake answers HTTP, MCP and commands."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

from oracle_library import search_library
from oracle_served import search_served, served_share

PARTS = 2
"""Processes of the library's share. It is the seed that says what happens, so they are always two."""


def oracle_run(*, seed, searches, console):
    """The tally of about this many searches; the same seed and number do the same."""
    started = time.monotonic()
    shares = served_share(searches)
    rest = searches - sum(shares.values())
    each = [rest // PARTS + (part < rest % PARTS) for part in range(PARTS)]
    with ProcessPoolExecutor(PARTS, mp_context=multiprocessing.get_context("spawn")) as pool:
        library = [pool.submit(search_library, seed, part, PARTS, each[part]) for part in range(PARTS)]
        tally = search_served(seed, shares)
        for part in library:
            tally.add(part.result())
    seconds = time.monotonic() - started
    console.print(
        f"{tally.total:,} searches in {seconds:.0f} s ({tally.total / seconds:.0f} a second)", highlight=False
    )
    return tally
