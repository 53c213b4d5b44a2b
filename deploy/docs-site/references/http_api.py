"""The reference of the HTTP API, from its OpenAPI description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tables import table

from spanproof.api import build_app

_HEAD = """\
# HTTP API

For those who write programs against a running server. The API is served with the console, at `console.port`.
`/api/v1/openapi.json` describes it as OpenAPI, for generators of clients; there is a client for
[Python](python-api.md#spanproofclient). Where tokens are configured, send `Authorization: Bearer TOKEN`:
`GET` requires the role `read`, all other methods require `write`. The body of a failed request is a problem
document of RFC 9457 (`application/problem+json`).

This page is written by `make reference`.
"""


def render() -> str:
    """Return the page: every path with its parameters, then every object that is sent."""
    described = build_app(None).openapi()
    parts = [_HEAD]
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            parts.append(_operation(path, method, operation))
    parts.append("\n# Objects\n")
    for name, schema in sorted(described["components"]["schemas"].items()):
        parts.append(_object(name, schema))
    return "".join(parts)


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    answer = next((_answer(code, each) for code, each in operation["responses"].items() if code < "300"), "")
    lines = [f"\n## `{method.upper()} {path}`\n", f"\n{operation.get('description', '').strip()}\n"]
    if "requestBody" in operation:
        (content,) = list(operation["requestBody"]["content"].values())[:1]
        lines.append(f"\nTakes {_type(content['schema'])}. ")
    lines.append(f"{'' if 'requestBody' in operation else chr(10)}{answer}\n")
    if rows := list(_parameters(operation)):
        lines.append("\n" + table(("parameter", "in", "type", "meaning"), rows))
    return "".join(lines)


def _parameters(operation: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for each in operation.get("parameters", []):
        schema = each["schema"]
        meaning = each.get("description", schema.get("description", ""))
        if "default" in schema and schema["default"] not in (None, "", []):
            meaning = f"{meaning} Default: `{schema['default']}`.".strip()
        if each.get("required") and each["in"] != "path":
            meaning = f"{meaning} Required.".strip()
        yield f"`{each['name']}`", each["in"], _type(schema), meaning


def _answer(code: str, response: dict[str, Any]) -> str:
    kinds = [(kind, each.get("schema", {})) for kind, each in response.get("content", {}).items()]
    if not kinds:
        return f"Answers {code}."
    kind, schema = kinds[0]
    return f"Answers {code} with {_type(schema) if kind == 'application/json' else f'`{kind}`'}."


def _object(name: str, schema: dict[str, Any]) -> str:
    lines = [f"\n## {name}\n"]
    if about := schema.get("description"):
        lines.append(f"\n{' '.join(about.split())}\n")
    if "enum" in schema:
        lines.append("\nOne of " + ", ".join(f"`{each}`" for each in schema["enum"]) + ".\n")
    required = set(schema.get("required", ()))
    rows = [
        (f"`{key}`", _type(each), "yes" if key in required else "", each.get("description", ""))
        for key, each in schema.get("properties", {}).items()
    ]
    if rows:
        lines.append("\n" + table(("key", "type", "always", "meaning"), rows))
    return "".join(lines)


def _type(schema: dict[str, Any]) -> str:
    """Return the type of a value in words, with a link to the object that it is."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[several]))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return "one of " + ", ".join(f"`{each}`" for each in schema["enum"])
    kind = schema.get("type", "any value")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"mapping to {_type(schema['additionalProperties'])}"
    return {"string": "text", "object": "mapping", "number": "number"}.get(kind, kind)
