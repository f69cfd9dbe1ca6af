"""What the routes' documentation says of bodies and answers: the JSON Schemas of the records themselves."""

from typing import Any

import msgspec
from fastapi import FastAPI

from upwell.runtime.gateway.door import Accepted, Waited
from upwell.runtime.gateway.feeding import TakenMember
from upwell.runtime.openapi import TEMPLATE, add_components
from upwell.sources.memberships import Told
from upwell.sources.offers import Offer

_KINDS, _COMPONENTS = msgspec.json.schema_components(
    [Offer | list[Offer], Accepted, Waited, Told, TakenMember], ref_template=TEMPLATE
)
_OFFERED, _ACCEPTED, _WAITED, _TOLD, _TAKEN = _KINDS


def _said(description: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}} if schema is not None else {}
    return {"description": description, "content": content} if content else {"description": description}


_REFUSALS = {
    "401": _said("No valid key or signature."),
    "413": _said("Too much: a body, an inline content, or too many events."),
    "422": _said("Not what is taken here; `detail` says where."),
    "429": _said("The log takes no more for now, or too many bodies are being read; see Retry-After."),
    "503": _said("The log is away; see Retry-After."),
}

EVENTS: dict[str, Any] = {
    "security": [{"key": []}],
    "requestBody": {"required": True, "content": {"application/json": {"schema": _OFFERED}}},
    "responses": {
        "200": _said("wait=applied: every event has ended.", _WAITED),
        "202": _said("Durable; with wait=applied, what has ended so far.", {"oneOf": [_ACCEPTED, _WAITED]}),
        "403": _said("The key is another tenant's or source's."),
        **_REFUSALS,
    },
}

GONE: dict[str, Any] = {
    "security": [{"key": []}],
    "responses": {
        "200": _said("wait=applied: it is in force.", _TAKEN),
        "202": _said("Durable; with wait=applied, not in force in time.", _TAKEN),
        "403": _said("The key may feed no directory."),
        **_REFUSALS,
    },
}

PRINCIPALS: dict[str, Any] = {
    **GONE,
    "requestBody": {"required": True, "content": {"application/json": {"schema": _TOLD}}},
}

HOOKS: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": {}}}},
    "responses": {"202": _said("Durable.", _ACCEPTED), **_REFUSALS},
}


def add_schemas(app: FastAPI) -> None:
    """Let `/openapi.json` hold the records' schemas, and say that a key is needed."""
    add_components(app, _COMPONENTS, {"key": {"type": "http", "scheme": "bearer"}})
