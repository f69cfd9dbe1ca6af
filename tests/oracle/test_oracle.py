"""The oracle's run as CI has it."""

import pytest
from oracle_run import oracle_run
from rich.console import Console

SEARCHES = 20_000


@pytest.mark.integration
@pytest.mark.timeout(900)
def test_twenty_thousand_searches_leak_nothing_and_lose_nothing():
    """Through the library, the command, HTTP and MCP, held against one reference."""
    tally = oracle_run(seed=1, searches=SEARCHES, console=Console(stderr=True))
    assert tally.faults == []
    assert tally.total >= SEARCHES
    assert min(tally.searches[way] for way in ("library", "cli", "http", "mcp")) >= 50
    assert min(tally.marks[way, "showed"] for way in ("library", "cli", "http", "mcp")) > 0
    assert min(tally.marks[way, "held back"] for way in ("library", "cli", "http", "mcp")) > 0
