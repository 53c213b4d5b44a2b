"""The TOOL spans: calls of tools and of managed agents, from snippets, threads and tool-calling steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from spanproof.instrumentors.content.arguments import Bound, bind, parameters_of
from spanproof.instrumentors.content.code_tools import record_call
from spanproof.instrumentors.content.reading import attribute, items
from spanproof.instrumentors.frameworks.smolagents.calls import CallKind, name_of
from spanproof.instrumentors.frameworks.smolagents.state import RunState
from spanproof.instrumentors.spans.span_start import make_tool_start
from spanproof.instrumentors.spans.tracing import OpenSpan
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_OWN_FLAGS = frozenset({"sanitize_inputs_outputs"})
"""Arguments of the framework's call protocol, which are not the tool's."""


def definitions(agent: Any) -> list[dict[str, Any]]:
    """Return the tools and managed agents a run may call, in the form of the GenAI conventions."""
    groups = (attribute(agent, "tools"), attribute(agent, "managed_agents"))
    return [
        {
            "type": "function",
            "name": attribute(member, "name"),
            "description": attribute(member, "description"),
            "parameters": {"type": "object", "properties": attribute(member, "inputs", {})},
        }
        for group in groups
        for _, member in items(group)
    ]


def _record_arguments(
    content: OpenSpan, _run: RunState | None, tool: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Record the arguments before the call, which may change them."""
    bound = _bind(tool, args, kwargs)
    record_call(content, name_of(attribute(tool, "name"), tool), bound.named)
    if bound.positional:
        content.json(ours.TOOL_POSITIONAL, list(bound.positional))


def _record_result(content: OpenSpan, _run: RunState | None, result: Any) -> None:
    content.result_type(result)
    if content.visible:
        content.output_json(genai.TOOL_CALL_RESULT, result)


def _bind(tool: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
    given = {name: value for name, value in kwargs.items() if name not in _OWN_FLAGS}
    if not args:
        return Bound(given, ())
    declared = tuple(name for name, _ in items(attribute(tool, "inputs")))
    if len(args) == 1 and not given and type(args[0]) is dict and args[0].keys() <= set(declared):
        # One dictionary of exactly the tool's inputs is taken as keyword arguments by the framework too.
        return Bound(args[0], ())
    forward = getattr(type(tool), "forward", None)
    names = (parameters_of(forward).names if callable(forward) else ()) or declared
    return bind(names, args, given)


TOOL_CALL = CallKind(
    label="smolagents.tool",
    name_attribute="name",
    make_start=make_tool_start,
    record_arguments=_record_arguments,
    record_result=_record_result,
    outside_runs=False,  # a helper called without an agent or a span around it would be noise
    has_facts=False,
)
AGENT_CALL = replace(TOOL_CALL, make_start=partial(make_tool_start, tool_type="agent"))
"""A call of a managed agent, which its manager uses like a tool."""
