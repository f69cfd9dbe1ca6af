"""The official MCP client as tests use it: one asynchronous conversation a call."""

import anyio
import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

TOOLS = {
    "search": {"query": "giraffe"},
    "context": {"query": "giraffe", "budget": 200},
    "fetch": {"doc_id": "plain.md"},
    "outline": {"doc_id": "plain.md"},
    "related": {"doc_id": "plain.md"},
    "changes": {"since": "2026-01-01T00:00:00Z"},
    "list_sources": {},
    "freshness": {},
}
"""Every tool with arguments that a lake with `plain.md` (a tall giraffe) answers."""


def talk(server, conversation, *, mode="auto"):
    """Connect to what `mcp.client.Client` connects to, and return what `await conversation(client)` does.

    Raises the MCPError that ended it, out of the groups that the client's tasks would wrap it in.
    """

    async def run():
        async with Client(server, mode=mode, read_timeout_seconds=60) as client:
            return await _to_its_end(conversation, client)

    return _ended(anyio.run(run))


def talk_http(url, headers, conversation, *, mode="auto"):
    """The same over streamable HTTP, with headers for each request."""

    async def run():
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{url}/mcp", http_client=http)
            async with Client(transport, mode=mode, read_timeout_seconds=60) as client:
                return await _to_its_end(conversation, client)

    return _ended(anyio.run(run))


async def _to_its_end(conversation, client):
    try:
        return await conversation(client)
    except MCPError as e:
        return e


def _ended(outcome):
    if isinstance(outcome, MCPError):
        raise outcome
    return outcome
