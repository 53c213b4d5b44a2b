"""Calls of models, tools and managed agents, each with a span around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import GeneratorType
from typing import Any

from opentelemetry.context import Context

from spanproof.instrumentors.content.code_tools import Bound, build_bound, read_parameters, record_call
from spanproof.instrumentors.content.texts import (
    as_number,
    as_text,
    get_attribute,
    is_a,
    iter_items,
    list_elements,
)
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.messages import (
    REQUEST_PARAMETERS,
    record_input,
    record_output,
    record_usage,
)
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method
from spanproof.instrumentors.frameworks.smolagents import conversation
from spanproof.instrumentors.frameworks.smolagents.execution import get_real_cause, list_causes
from spanproof.instrumentors.frameworks.smolagents.state import MUTED, PLACE, Place, Run, get_call_context
from spanproof.instrumentors.spans.contexts import (
    DrivenIterator,
    attach,
    current,
    detach,
    iter_within,
    run_within,
)
from spanproof.instrumentors.spans.span_start import build_model_start, build_tool_start
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

# Arguments of the framework's call protocol, which are not the tool's.
_OWN_FLAGS = frozenset({"sanitize_inputs_outputs"})


def run_traced_tool(
    tracing: Tracing, tool_type: str, original: Method, tool: Any, args: Args, kwargs: Kwargs
) -> Any:
    """Hook of a tool's `__call__`, and of a managed agent's, which its manager uses like a tool."""
    parent, position = get_call_context(tracing, tool, original)
    if (
        position is MUTED or parent is None
    ):  # a helper called without an agent or a span around it would be noise
        return original(tool, *args, **kwargs)
    name = get_name(tool, "name")
    inner = {PLACE: Place(position.run, position.step, tool, original)}
    opened = tracing.open(OpenSpan, build_tool_start(name, tool_type), parent, values=inner)
    if opened.recording and opened.visible:
        _record_tool_arguments(opened, tool, name, args, kwargs)
    end = partial(_close_call, opened, position.run, _record_tool_result)
    return run_within(partial(original, tool, *args, **kwargs), opened.context, end)


def run_traced_model(tracing: Tracing, original: Method, model: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `generate`: call it within an LLM span."""
    parent, position = get_call_context(tracing, model, original)
    if position is MUTED:
        return original(model, *args, **kwargs)
    opened = _open_model_call(tracing, parent, position, original, model, args, kwargs)
    end = partial(_close_call, opened, position.run, _record_answer)
    return run_within(partial(original, model, *args, **kwargs), opened.context, end)


def run_instrumented_model(
    adopt_model: Callable[[Any], object],
    original: Method,
    model: Any,
    args: Args,
    kwargs: Kwargs,
) -> Any:
    """Hook of `model(messages)`: the class may never have been part of an agent."""
    adopt_model(model)
    return original(model, *args, **kwargs)


def run_traced_stream(tracing: Tracing, original: Method, model: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `generate_stream`, which answers in pieces: the span ends with the stream."""
    _, position = get_call_context(tracing, model, original)
    if position is MUTED:
        return original(model, *args, **kwargs)
    # A method that returns its parent's stream calls it here, before the span starts.
    token = attach(Context({**current(), PLACE: Place(position.run, position.step, model, original)}))
    try:
        stream = original(model, *args, **kwargs)
    finally:
        detach(token)
    if not hasattr(type(stream), "__next__"):
        return stream
    driven = _run_stream(tracing, original, model, args, kwargs, stream)
    if type(stream) is GeneratorType:
        return driven
    return DrivenIterator(stream, _spanproof_driven=driven)


def _run_stream(
    tracing: Tracing,
    original: Method,
    model: Any,
    args: Args,
    kwargs: Kwargs,
    stream: Any,
) -> Any:
    parent, position = get_call_context(tracing, model, original)
    opened = _open_model_call(tracing, parent, position, original, model, args, kwargs)
    pieces: list[Any] = []

    def end(failure: BaseException | None) -> None:
        answer = _build_joined(pieces) if failure is None else None
        _close_call(opened, position.run, _record_answer, answer, failure)

    return (yield from iter_within(stream, opened.context, pieces.append, end))


def _open_model_call(
    tracing: Tracing,
    parent: Context | None,
    position: Place,
    method: Method,
    model: Any,
    args: Args,
    kwargs: Kwargs,
) -> OpenSpan:
    inner = {PLACE: Place(position.run, position.step, model, method)}
    opened = tracing.open(OpenSpan, build_model_start(get_name(model, "model_id")), parent, values=inner)
    if opened.recording:
        _record_question(opened, position.run, model, args, kwargs)
    return opened


def _close_call(
    opened: OpenSpan,
    run: Run | None,
    record_result: Callable[[OpenSpan, Run | None, Any], object],
    result: Any,
    error: BaseException | None,
) -> None:
    """Record what a call returned, or raised, and end its span."""
    with shielded("smolagents.call.end"):
        if error is not None:
            real = get_real_cause(list_causes(error, run.handled if run else None))
            opened.fail(error, error_type=type(real).__name__)
        elif opened.recording:
            record_result(opened, run, result)
    opened.close()


def get_name(member: Any, attribute_name: str) -> str:
    """Return the name of an agent, model or tool, that of its class where it has none."""
    return as_text(get_attribute(member, attribute_name)) or type(member).__name__


@shielded("smolagents.model.start")
def _record_question(opened: OpenSpan, run: Run | None, model: Any, args: Args, kwargs: Kwargs) -> None:
    own = get_attribute(model, "kwargs")
    parameters = {**own, **kwargs} if type(own) is dict else kwargs
    for parameter, name in REQUEST_PARAMETERS.items():
        if parameter in parameters:
            opened.fact(name, as_number(parameters[parameter]))
    stops = tuple(list_elements(kwargs.get("stop_sequences")))
    own_stops = run.stops if run is not None else ()
    if stops != own_stops and all(
        type(stop) is str for stop in stops
    ):  # on the calls of a run where it changes
        opened.attributes[genai.REQUEST_STOP_SEQUENCES] = stops
        if run is not None:
            run.stops = stops
    messages = args[0] if args else kwargs.get("messages")
    if opened.visible and is_a(messages, list):
        history = run.history if run else None
        record_input(
            opened, list_elements(messages), conversation.find_key, conversation.read_message, history
        )


@shielded("smolagents.model.join")
def _build_joined(pieces: Sequence[Any]) -> Any:
    return conversation.build_joined_message(pieces)


def _record_answer(opened: OpenSpan, run: Run | None, answer: Any) -> None:
    if answer is None:
        return
    record_usage(opened, *conversation.read_usage(answer))
    opened.fact(genai.RESPONSE_MODEL, as_text(get_attribute(get_attribute(answer, "raw"), "model")))
    if opened.visible:
        message = conversation.read_message(answer)
        history = run.history if run is not None else None
        record_output(opened, message, conversation.read_finish_reason(answer), history)


def list_definitions(agent: Any) -> list[dict[str, Any]]:
    """Return the tools and managed agents a run may call, in the form of the GenAI conventions."""
    groups = (get_attribute(agent, "tools"), get_attribute(agent, "managed_agents"))
    return [
        {
            "type": "function",
            "name": get_attribute(member, "name"),
            "description": get_attribute(member, "description"),
            "parameters": {"type": "object", "properties": get_attribute(member, "inputs", {})},
        }
        for group in groups
        for _, member in iter_items(group)
    ]


@shielded("smolagents.tool.start")
def _record_tool_arguments(content: OpenSpan, tool: Any, name: str, args: Args, kwargs: Kwargs) -> None:
    """Record the arguments before the call, which may change them."""
    bound = _build_bound_tool(tool, args, kwargs)
    record_call(content, name, bound.named)
    if bound.positional:
        content.json(ours.TOOL_POSITIONAL, list(bound.positional))


def _record_tool_result(content: OpenSpan, _run: Run | None, result: Any) -> None:
    content.result_type(result)
    if content.visible:
        content.output_json(genai.TOOL_CALL_RESULT, result)


def _build_bound_tool(tool: Any, args: Args, kwargs: Kwargs) -> Bound:
    arguments = {name: value for name, value in kwargs.items() if name not in _OWN_FLAGS}
    if not args:
        return Bound(arguments, ())
    declared = tuple(name for name, _ in iter_items(get_attribute(tool, "inputs")))
    if len(args) == 1 and not arguments and type(args[0]) is dict and args[0].keys() <= set(declared):
        # One dictionary of exactly the tool's inputs is taken as keyword arguments by the framework too.
        return Bound(args[0], ())
    forward = getattr(type(tool), "forward", None)
    names = (read_parameters(forward).names if callable(forward) else ()) or declared
    return build_bound(names, args, arguments)
