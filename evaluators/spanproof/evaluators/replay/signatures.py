"""Parameters of the agent's tools, as the trace declares them.

Takes a trace; gives the names of each tool's parameters, in order, where a producer recorded its definition:
the list of tools a model was offered, or the schema on the span of a call. A definition without a schema says
nothing; two that differ are none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from spanproof.semconv import genai
from spanproof.trace import Span, Trace

# How OpenInference and traceAI record a definition each.
_LISTED = re.compile(r"(?:llm\.tools|gen_ai\.tool\.definitions)\.\d+\.tool\.json_schema")

# Where OpenInference and traceAI put the schema of the tool whose call the span is.
_ON_CALLS = ("tool.parameters", "gen_ai.tool.parameters")

_DOCUMENT_CHARACTERS = 256 * 1024

Parameters = tuple[str, ...]


def read_parameters(trace: Trace) -> dict[str, Parameters]:
    """Return parameter names by tool."""
    found: dict[str, Parameters] = {}
    differing: set[str] = set()
    for span in trace.spans:
        for tool, parameters in _iter_definitions(span):
            if found.setdefault(tool, parameters) != parameters:
                differing.add(tool)
    return {tool: parameters for tool, parameters in found.items() if tool not in differing}


def list_offered_tools(spans: Iterable[Span]) -> frozenset[str]:
    """Return the names of the tools that these spans say a model was offered."""
    return frozenset(name for span in spans for name in _iter_tool_names(span))


def _iter_tool_names(span: Span) -> Iterator[str]:
    for key, value in span.attributes.items():
        listed: object = None
        if isinstance(value, str) and key == genai.TOOL_DEFINITIONS:
            listed = _decode_json(value)
        elif isinstance(value, str) and _LISTED.fullmatch(key):
            listed = [_decode_json(value)]
        for definition in listed if isinstance(listed, list) else []:
            if isinstance(definition, Mapping):
                function = definition.get("function", definition)
            else:
                function = None
            if isinstance(function, Mapping) and isinstance(function.get("name"), str):
                yield function["name"]


def _iter_definitions(span: Span) -> Iterator[tuple[str, Parameters]]:
    for key, value in span.attributes.items():
        if not isinstance(value, str):
            continue
        if key == genai.TOOL_DEFINITIONS:
            listed = _decode_json(value)
            for definition in listed if isinstance(listed, list) else []:
                yield from _iter_definition(definition)
        elif _LISTED.fullmatch(key):
            yield from _iter_definition(_decode_json(value))
        elif key in _ON_CALLS and span.tool is not None:
            yield from _iter_schema_parameters(span.tool.name, _decode_json(value))


def _iter_definition(definition: object) -> Iterator[tuple[str, Parameters]]:
    if not isinstance(definition, Mapping):
        return
    function = definition.get("function", definition)
    if isinstance(function, Mapping) and isinstance(function.get("name"), str):
        yield from _iter_schema_parameters(function["name"], function.get("parameters"))


def _iter_schema_parameters(tool: str, schema: object) -> Iterator[tuple[str, Parameters]]:
    """Yield the properties of a JSON schema; smolagents records the properties alone."""
    if not isinstance(schema, Mapping) or not schema or schema.get("additionalProperties"):
        return  # it may take more than it names
    properties = schema.get("properties", schema if _is_properties(schema) else None)
    if isinstance(properties, Mapping) and all(str(name).isidentifier() for name in properties):
        yield tool, tuple(str(name) for name in properties)


def _is_properties(schema: Mapping[Any, Any]) -> bool:
    return all(isinstance(inner, Mapping) and "type" in inner for inner in schema.values())


def _decode_json(text: str) -> object:
    try:
        return json.loads(text) if len(text) <= _DOCUMENT_CHARACTERS else None
    except (ValueError, RecursionError):
        return None
