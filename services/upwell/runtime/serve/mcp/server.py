"""The MCP server itself, whatever carries it: requests in, questions to the lake, structured answers out."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
)

from upwell import __version__
from upwell.errors import NotFound, UpwellError
from upwell.reading import Reader
from upwell.records import JSON_ENCODER
from upwell.runtime.serve.mcp import resources
from upwell.runtime.serve.mcp.tools import INSTRUCTIONS, SPECS, tool_of
from upwell.search.questions import ChangesQuestion, Question, asked

Context = ServerRequestContext[Any, Any]
Ask = Callable[[str, Question, Reader], Awaitable[Any]]
"""Puts a question of a tool to the lake. Raises UpwellErrors alone."""
PAGE = 50


def build(ask: Ask, reader_of: Callable[[Context], Reader]) -> Server[Any]:
    """The server; `reader_of` says who sent a request, as its carrier has proven it."""
    serving = _Serving(ask, reader_of)
    return Server(
        "upwell",
        version=__version__,
        title="Upwell",
        description="A governed context lake.",
        instructions=INSTRUCTIONS,
        on_list_tools=serving.list_tools,
        on_call_tool=serving.call_tool,
        on_list_resources=serving.list_resources,
        on_list_resource_templates=serving.list_templates,
        on_read_resource=serving.read_resource,
    )


class _Serving:
    def __init__(self, ask: Ask, reader_of: Callable[[Context], Reader]) -> None:
        self._ask = ask
        self._reader_of = reader_of
        self._tools = [tool_of(spec) for spec in SPECS.values()]

    async def list_tools(self, _context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        _one_page(params)
        return ListToolsResult(tools=self._tools)

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """A question that cannot be, or has no answer, is told to the model, which may ask better."""
        spec = SPECS.get(params.name)
        if spec is None:
            raise MCPError(INVALID_PARAMS, "no such tool; tools/list names them")
        try:
            question = asked(spec.question, params.arguments or {})
            answer = spec.shape(await self._ask(spec.name, question, self._reader_of(context)))
        except msgspec.ValidationError as e:
            return _told(f"not a question that {spec.name} takes: {str(e)[:300]}")
        except UpwellError as e:
            return _told(str(e))
        encoded = JSON_ENCODER.encode(answer)
        text = TextContent(type="text", text=encoded.decode())
        return CallToolResult(content=[text], structured_content=msgspec.json.decode(encoded))

    async def list_resources(self, context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """The documents that the reader may see, those that changed last at the end."""
        since = params.cursor if params is not None and params.cursor is not None else resources.FIRST
        try:
            question = msgspec.convert({"since": since, "limit": PAGE}, ChangesQuestion)
            answer = await self._ask("changes", question, self._reader_of(context))
        except (msgspec.ValidationError, UpwellError) as e:
            raise _failed(e) from e
        found = [resource for changed in answer.changes if (resource := resources.resource_of(changed)) is not None]
        return ListResourcesResult(resources=found, next_cursor=None if answer.complete else answer.next)

    async def list_templates(
        self, _context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        _one_page(params)
        return ListResourceTemplatesResult(resource_templates=[resources.TEMPLATE])

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        try:
            question = resources.question_of(params.uri)
            answer = await self._ask("fetch", question, self._reader_of(context))
        except UpwellError as e:
            raise _failed(e) from e
        return ReadResourceResult(contents=[resources.contents(params.uri, answer)])


def _told(detail: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=detail)], is_error=True)


def _failed(error: Exception) -> MCPError:
    unasked = isinstance(error, NotFound | msgspec.ValidationError)
    return MCPError(INVALID_PARAMS if unasked else INTERNAL_ERROR, str(error)[:300])


def _one_page(params: PaginatedRequestParams | None) -> None:
    if params is not None and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "no such page: there is only one")
