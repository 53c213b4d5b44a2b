"""The TOOL spans: calls of tools and of managed agents, from snippets, threads and tool-calling steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from spanproof.instrumentors.content.arguments import Bound, bind, parameter_names
from spanproof.instrumentors.content.code_tools import record_call
from spanproof.instrumentors.content.reading import attribute, items
from spanproof.instrumentors.frameworks.smolagents.calls import Told, name_of
from spanproof.instrumentors.frameworks.smolagents.state import RunState
from spanproof.instrumentors.spans.starts import tool_start
from spanproof.instrumentors.spans.tracing import Opened
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_OWN_FLAGS = frozenset({"sanitize_inputs_outputs"})
"""Arguments of the framework's call protocol, which are not the tool's."""


def definitions(agent: Any) -> list[dict[str, Any]]:
    """The tools and managed agents a run may call, as the conventions describe tools."""
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
    content: Opened, _run: RunState | None, tool: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Before the call, since the tool may change what it is given."""
    name = name_of(attribute(tool, TOLD.name), tool)
    if not args and _OWN_FLAGS.isdisjoint(kwargs):  # as code calls most tools
        record_call(content, name, kwargs)
        return
    bound = _bound(tool, args, kwargs)
    record_call(content, name, bound.named)
    if bound.positional:
        content.json(ours.TOOL_POSITIONAL, list(bound.positional))


def _record_result(content: Opened, _run: RunState | None, result: Any) -> None:
    content.result_type(result)
    if content.visible:
        content.output_json(genai.TOOL_CALL_RESULT, result)


def _bound(tool: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
    given = kwargs
    if not _OWN_FLAGS.isdisjoint(kwargs):
        given = {name: value for name, value in kwargs.items() if name not in _OWN_FLAGS}
    if not args:
        return Bound(given, ())
    declared = tuple(name for name, _ in items(attribute(tool, "inputs")))
    if len(args) == 1 and not given and type(args[0]) is dict and args[0].keys() <= set(declared):
        # One dictionary of exactly the tool's inputs is taken as keyword arguments by the framework too.
        return Bound(args[0], ())
    forward = getattr(type(tool), "forward", None)
    names = (parameter_names(forward) if callable(forward) else ()) or declared
    return bind(names, args, given)


TOLD = Told(
    "smolagents.tool", "name", tool_start, _record_arguments, _record_result, alone=False, facts=False
)
"""What the span of a tool's call tells; one without run or span around it would be noise."""
TOLD_OF_AGENTS = replace(TOLD, start=partial(tool_start, tool_type="agent"))
"""The same of a managed agent, which its manager uses like a tool."""
