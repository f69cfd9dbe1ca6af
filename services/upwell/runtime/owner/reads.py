"""`ReadApi` on the lake's socket: whom to read as is the operator's word there, as with every route of the socket."""

from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from upwell.errors import Misconfigured, NotFound
from upwell.reading import ReadApi, Reader
from upwell.records import JSON_ENCODER, Record
from upwell.search.questions import QUESTIONS, asked


class Asked(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question by its fields, and who asks."""

    reader: Reader
    question: dict[str, Any]


def add_reads(app: FastAPI, api: ReadApi) -> None:
    """`POST /v1/read/{name}`, one for each of QUESTIONS."""

    @app.post("/v1/read/{name}")
    async def read(name: str, request: Request) -> Response:
        answer = await run_in_threadpool(answered, api, name, await request.body())
        return Response(JSON_ENCODER.encode(answer), media_type="application/json")


def answered(api: ReadApi, name: str, body: bytes) -> Any:
    """The answer to what a body asks. Raises NotFound for an unknown question, Misconfigured for one that cannot be."""
    kind = QUESTIONS.get(name)
    if kind is None:
        raise NotFound(f"no such question: {name}")
    try:
        put = msgspec.json.decode(body, type=Asked)
        question = asked(kind, put.question)
    except msgspec.MsgspecError as e:
        raise Misconfigured(f"{name}: {e}") from e
    return question.ask(api, put.reader)
