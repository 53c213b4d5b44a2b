"""The TOOL spans: calls of tools and of managed agents, from snippets, threads and tool-calling steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from opentelemetry.context import Context
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.arguments import Bound, bind, parameter_names
from spanproof.instrumentors.code_tools import record_call
from spanproof.instrumentors.content import Content
from spanproof.instrumentors.contexts import attach, detach
from spanproof.instrumentors.diagnostics import shielded, swallowed
from spanproof.instrumentors.patching import Method
from spanproof.instrumentors.reading import attribute, items, text_or_none
from spanproof.instrumentors.smolagents.causes import chain_of, real_cause
from spanproof.instrumentors.smolagents.state import MUTED, PLACE, Place, current_run, located
from spanproof.instrumentors.spans import TOOL, Opened, Tracing
from spanproof.instrumentors.texts import well_formed
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours

_OWN_FLAGS = frozenset({"sanitize_inputs_outputs"})
"""Arguments of the framework's call protocol, which are not the tool's."""


def wrap_tool(tracing: Tracing, original: Method) -> Method:
    """A tool's `__call__`."""
    return _wrap(tracing, original, "function")


def wrap_managed_agent(tracing: Tracing, original: Method) -> Method:
    """An agent's `__call__`, through which its manager uses it like a tool."""
    return _wrap(tracing, original, "agent")


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


def _wrap(tracing: Tracing, original: Method, tool_type: str) -> Method:
    def call(tool: Any, *args: Any, **kwargs: Any) -> Any:
        parent, place = located(tool, original)
        # A call without run or span around it gets none: a root of its own would be noise.
        passing = parent is None or place is MUTED
        opened = None if passing else _begin(tracing, parent, place, original, tool, tool_type, args, kwargs)
        if opened is None:
            return original(tool, *args, **kwargs)
        token = attach(opened.context)
        try:
            result = original(tool, *args, **kwargs)
        except BaseException as error:
            _fail(tracing, opened, error)
            raise
        finally:
            detach(token)
        _finish(opened, result)
        return result

    return call


def _begin(
    tracing: Tracing,
    parent: Context | None,
    place: Place,
    original: Method,
    tool: Any,
    tool_type: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Opened | None:
    operation = genai.OPERATION_EXECUTE_TOOL
    opened = None
    try:
        name = text_or_none(attribute(tool, "name")) or type(tool).__name__
        opened = tracing.open(
            f"{operation} {name}",
            TOOL,
            operation=operation,
            parent=parent,
            facts=_facts(name, tool_type),
            within={PLACE: Place(place.run, place.step, tool, original)},
        )
        if opened.visible and opened.recording:
            _record_arguments(opened, tool, name, args, kwargs)
    except Exception as error:  # noqa: BLE001 - the host must not see it
        swallowed("smolagents.tool.begin", error)
    return opened  # also if its arguments could not be told


@lru_cache(maxsize=256)
def _facts(name: str, tool_type: str) -> Mapping[str, AttributeValue]:
    written = well_formed(name)
    return {genai.TOOL_NAME: written, openinference.TOOL_NAME: written, genai.TOOL_TYPE: tool_type}


def _record_arguments(
    content: Content, tool: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Before the call, since the tool may change what it is given."""
    if not args and _OWN_FLAGS.isdisjoint(kwargs):  # as code calls most tools
        record_call(content, name, kwargs)
        return
    bound = _bound(tool, args, kwargs)
    record_call(content, name, bound.named)
    if bound.positional:
        content.json(ours.TOOL_POSITIONAL, list(bound.positional))


def _finish(opened: Opened, result: Any) -> None:
    try:
        try:
            if opened.recording:
                opened.result_type(result)
                opened.output_json(genai.TOOL_CALL_RESULT, result)
        finally:
            opened.write()
            opened.span.end()
    except Exception as error:  # noqa: BLE001 - as above
        swallowed("smolagents.tool.finish", error)


@shielded("smolagents.tool.fail")
def _fail(tracing: Tracing, opened: Opened, error: BaseException) -> None:
    try:
        run = current_run()
        real = real_cause(chain_of(error, run.handled if run else None))
        opened.write()
        tracing.fail(opened.span, error, error_type=type(real).__name__)
    finally:
        opened.span.end()


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
