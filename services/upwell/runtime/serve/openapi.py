"""What `/openapi.json` says of the read side: the JSON Schemas of the records themselves, with examples."""

from typing import Any

import msgspec
from fastapi import FastAPI

from upwell.runtime.openapi import TEMPLATE, add_components
from upwell.runtime.refusing import Refused
from upwell.search.questions import ANSWERS, QUESTIONS

_NAMES = tuple(QUESTIONS)
_KINDS, _COMPONENTS = msgspec.json.schema_components(
    [*QUESTIONS.values(), *ANSWERS.values(), Refused], ref_template=TEMPLATE
)
_ASKED = dict(zip(_NAMES, _KINDS, strict=False))
_SAID = dict(zip(_NAMES, _KINDS[len(_NAMES) :], strict=False))
_REFUSED = _KINDS[-1]

EXAMPLES: dict[str, dict[str, Any]] = {
    "search": {"query": "how long is parental leave", "k": 5, "sources": ["handbook"]},
    "context": {"query": "how long is parental leave", "budget": 4000},
}
_REFUSALS = {
    "401": (
        "No valid bearer token.",
        {"error": "Unauthorized", "reason": None, "detail": "a valid bearer token is needed"},
    ),
    "404": (
        "No such document, or none that you may see: the two are not told apart.",
        {"error": "NotFound", "reason": None, "detail": "no such document, or none that you may see"},
    ),
    "408": ("The body came too slowly.", None),
    "413": ("A body of more than 64 KiB.", None),
    "422": (
        "Not what can be asked; `detail` says where.",
        {"error": "Rejected", "reason": "invalid_event", "detail": "Object contains unknown field `principals`"},
    ),
    "429": ("Your tenant asks too much; see Retry-After.", None),
    "500": ("An error that nobody foresaw; it has been logged.", None),
    "503": ("A part is away, and nothing is shown; see Retry-After.", None),
}


def operation(name: str, *, body: bool, path: bool) -> dict[str, Any]:
    """What FastAPI does not know of a route: parameters or body, answers, and that a token is needed."""
    said: dict[str, Any] = {
        "operationId": f"{name}_by_path" if path else name,
        "security": [{"token": []}],
        "responses": {"200": _content("The answer, true at `as_of`.", _SAID[name]), **_refusals(body=body)},
    }
    if body:
        content = {"application/json": {"schema": _ASKED[name], "example": EXAMPLES[name]}}
        said["requestBody"] = {"required": True, "content": content}
    else:
        said["parameters"] = _parameters(name, path=path)
    return said


def add_schemas(app: FastAPI) -> None:
    """Let `/openapi.json` hold the records' schemas, and say that a token is needed."""
    add_components(app, _COMPONENTS, {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}})


def _content(description: str, schema: dict[str, Any], example: Any = None) -> dict[str, Any]:
    media: dict[str, Any] = {"schema": schema}
    if example is not None:
        media["example"] = example
    return {"description": description, "content": {"application/json": media}}


def _refusals(*, body: bool) -> dict[str, Any]:
    left_out = set() if body else {"408", "413"}
    return {
        status: _content(description, _REFUSED, example)
        for status, (description, example) in _REFUSALS.items()
        if status not in left_out
    }


def _parameters(name: str, *, path: bool) -> list[dict[str, Any]]:
    """The fields of a question as parameters; `doc_id` stands in the path where the route has it there."""
    kind = _COMPONENTS[_ASKED[name]["$ref"].rpartition("/")[2]]
    found = []
    for field, schema in kind["properties"].items():
        plain = {k: v for k, v in _without_null(schema).items() if k not in ("description", "examples")}
        in_path = path and field == "doc_id"
        said = {
            "name": field,
            "in": "path" if in_path else "query",
            "required": in_path or field in kind["required"],
            "schema": plain,
        }
        if "description" in schema:
            said["description"] = schema["description"]
        if "examples" in schema:
            said["example"] = schema["examples"][0]
        found.append(said)
    return found


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter that is not given is left out; no text of a URL is null."""
    if "anyOf" not in schema:
        return schema
    kept = next(kind for kind in schema["anyOf"] if kind.get("type") != "null")
    return {**kept, **{k: v for k, v in schema.items() if k not in ("anyOf", "default")}}
