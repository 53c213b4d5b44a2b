"""The TOOL spans: calls of tools and of managed agents, from snippets, threads and tool-calling steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.context import attach, detach, get_current

from spanproof.instrumentors.arguments import Bound, bind, parameter_names
from spanproof.instrumentors.code_tools import code_in, record_code
from spanproof.instrumentors.content import Content
from spanproof.instrumentors.diagnostics import shielded
from spanproof.instrumentors.nesting import calling, is_handed_on
from spanproof.instrumentors.patching import Method
from spanproof.instrumentors.serialise import text_of
from spanproof.instrumentors.smolagents.causes import chain_of, real_cause
from spanproof.instrumentors.smolagents.state import current_run
from spanproof.instrumentors.spans import TOOL, Opened, Tracing
from spanproof.semconv import genai, openinference
from spanproof.semconv import spanproof as ours

_OWN_FLAGS = ("sanitize_inputs_outputs",)
"""Arguments of the framework's call protocol, which are not the tool's."""


def wrap_tool(tracing: Tracing, original: Method) -> Method:
    """A tool's `__call__`."""
    return _wrap(tracing, original, "function")


def wrap_managed_agent(tracing: Tracing, original: Method) -> Method:
    """An agent's `__call__`, through which its manager uses it like a tool."""
    return _wrap(tracing, original, "agent")


def definitions(agent: Any) -> list[dict[str, Any]]:
    """The tools and managed agents a run may call, as the conventions describe tools."""
    members = [*(agent.tools or {}).values(), *(getattr(agent, "managed_agents", None) or {}).values()]
    return [
        {
            "type": "function",
            "name": member.name,
            "description": member.description,
            "parameters": {"type": "object", "properties": getattr(member, "inputs", {})},
        }
        for member in members
    ]


def _wrap(tracing: Tracing, original: Method, tool_type: str) -> Method:
    def call(tool: Any, *args: Any, **kwargs: Any) -> Any:
        context = get_current()
        if is_handed_on(tool, original) or not trace.get_current_span(context).get_span_context().is_valid:
            # The same call, or one without run or span around it: a root of its own would be noise.
            return original(tool, *args, **kwargs)
        opened = _begin(tracing, tool, args, kwargs, tool_type)
        if opened is None:
            return original(tool, *args, **kwargs)
        token = attach(calling(opened.context, tool, original))
        try:
            result = original(tool, *args, **kwargs)
        except BaseException as error:
            _fail(tracing, opened, error)
            raise
        finally:
            detach(token)
        _finish(tracing, opened, tool, args, kwargs, result)
        return result

    return call


def _begin(
    tracing: Tracing, tool: Any, args: Sequence[Any], kwargs: Mapping[str, Any], tool_type: str
) -> Opened | None:
    opened = _open(tracing, tool)
    if opened is not None and opened.recording:
        # Arguments before the call: the tool may change them.
        _describe(tracing, opened, tool, args, kwargs, tool_type)
    return opened


@shielded("smolagents.tool.begin")
def _open(tracing: Tracing, tool: Any) -> Opened:
    operation = genai.OPERATION_EXECUTE_TOOL
    return tracing.open(f"{operation} {_name(tool)}", TOOL, operation=operation)


@shielded("smolagents.tool.describe")
def _describe(
    tracing: Tracing,
    opened: Opened,
    tool: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    tool_type: str,
) -> None:
    content, name = tracing.content(), _name(tool)
    content.fact(genai.TOOL_NAME, name)
    content.fact(openinference.TOOL_NAME, name)
    content.fact(genai.TOOL_TYPE, tool_type)
    if content.visible:
        bound = _bound(tool, args, kwargs)
        content.json(genai.TOOL_CALL_ARGUMENTS, bound.named)
        content.input(bound.named)
        if bound.positional:
            content.json(ours.TOOL_POSITIONAL, list(bound.positional))
    opened.span.set_attributes(content.finished())


@shielded("smolagents.tool.finish")
def _finish(
    tracing: Tracing,
    opened: Opened,
    tool: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    result: Any,
) -> None:
    try:
        if opened.recording:
            content = tracing.content()
            content.result_type(result)
            if content.visible:
                content.json(genai.TOOL_CALL_RESULT, result)
                content.output(result)
                _record_code(content, tool, args, kwargs, result)
            opened.span.set_attributes(content.finished())
    finally:
        opened.span.end()


def _record_code(
    content: Content, tool: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any
) -> None:
    code = code_in(_name(tool), _bound(tool, args, kwargs).named)
    if code is not None:
        record_code(content, code, text_of(result))


@shielded("smolagents.tool.fail")
def _fail(tracing: Tracing, opened: Opened, error: BaseException) -> None:
    try:
        run = current_run()
        real = real_cause(chain_of(error, run.handled if run else None))
        tracing.fail(opened.span, error, error_type=type(real).__name__)
    finally:
        opened.span.end()


def _name(tool: Any) -> str:
    name = getattr(tool, "name", None)
    return name if isinstance(name, str) and name else type(tool).__name__


def _bound(tool: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
    given = {name: value for name, value in kwargs.items() if name not in _OWN_FLAGS}
    inputs = getattr(tool, "inputs", None)
    declared = tuple(inputs) if isinstance(inputs, dict) else ()
    if len(args) == 1 and not given and type(args[0]) is dict and args[0].keys() <= set(declared):
        # One dictionary of exactly the tool's inputs is taken as keyword arguments by the framework too.
        return Bound(args[0], ())
    forward = getattr(type(tool), "forward", None)
    names = (parameter_names(forward) if callable(forward) else ()) or declared
    return bind(names, args, given)
