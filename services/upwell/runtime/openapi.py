"""What a gateway's and the read side's `/openapi.json` have in common: the JSON Schemas of the records themselves."""

from typing import Any

from fastapi import FastAPI

TEMPLATE = "#/components/schemas/{name}"


def add_components(app: FastAPI, schemas: dict[str, Any], security: dict[str, Any]) -> None:
    """Let `/openapi.json` hold these schemas and security schemes, which FastAPI does not know by itself."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        document = plain()
        components = document.setdefault("components", {})
        components.setdefault("schemas", {}).update(schemas)
        components.setdefault("securitySchemes", {}).update(security)
        return document

    app.openapi = openapi  # type: ignore[method-assign]
