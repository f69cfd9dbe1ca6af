"""MCP over standard input and output: one reader, named by whoever starts the process."""

import functools
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.stdio import stdio_server

from upwell.access import EVERYONE, Asker
from upwell.reading import ReadApi, Reader
from upwell.runtime.serve.desk import known
from upwell.runtime.serve.mcp.server import build
from upwell.search.questions import Question


def serve(api: ReadApi, *, who: str, groups: frozenset[str], tenant: str) -> None:
    """Answer until the input ends, or SIGINT or SIGTERM asks to stop. The reader is `who` in `groups`, certainly."""
    asker = Asker(tenant=tenant, principals=frozenset({who, EVERYONE}) | groups)
    anyio.run(_serve, api, Reader(asker=asker, actor=who, via="mcp"))


async def _serve(api: ReadApi, reader: Reader) -> None:
    async def ask(name: str, question: Question, asks: Reader) -> Any:
        try:
            return await anyio.to_thread.run_sync(functools.partial(question.ask, api, asks))
        except Exception as e:
            raise known(e, f"mcp.{name}") from e

    server = build(ask, lambda _context: reader)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_until_told, tasks.cancel_scope.cancel)
        async with stdio_server(stdin=Lines.of_standard_input()) as (requests, answers):  # type: ignore[arg-type]
            await server.run(requests, answers, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _until_told(stop: Callable[[], None]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            stop()
            return


class Lines:
    """The lines of an input, read by a thread that nobody waits for: a read that blocks must not keep a process from
    ending. The descriptor 0 itself reads nothing meanwhile, for child processes inherit it.
    """

    def __init__(self, descriptor: int) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[str](16)
        self._descriptor = descriptor

    @classmethod
    def of_standard_input(cls) -> "Lines":
        kept = os.dup(sys.stdin.fileno())
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, sys.stdin.fileno())
        os.close(nothing)
        return cls(kept)

    async def __aiter__(self) -> AsyncIterator[str]:
        token = anyio.lowlevel.current_token()
        threading.Thread(target=self._read, args=(token,), name="input", daemon=True).start()
        stream: MemoryObjectReceiveStream[str] = self._receive
        async with stream:
            async for line in stream:
                yield line

    def _read(self, token: Any) -> None:
        with os.fdopen(self._descriptor, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                anyio.from_thread.run(self._send.send, line, token=token)
        anyio.from_thread.run_sync(self._send.close, token=token)
