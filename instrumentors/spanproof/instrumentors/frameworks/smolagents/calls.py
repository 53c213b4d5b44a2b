"""Calls of models, tools and managed agents, each with a span around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import GeneratorType
from typing import Any

from opentelemetry.context import Context

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.code_tools import Bound, bind, parameters_of, record_call
from spanproof.instrumentors.content.messages import (
    REQUEST_PARAMETERS,
    record_input,
    record_output,
    record_usage,
)
from spanproof.instrumentors.content.texts import (
    attribute,
    elements,
    is_a,
    items,
    number_or_none,
    text_or_none,
)
from spanproof.instrumentors.frameworks.diagnostics import shielded, swallowed
from spanproof.instrumentors.frameworks.patching import Args, Kwargs, Method
from spanproof.instrumentors.frameworks.smolagents import conversation
from spanproof.instrumentors.frameworks.smolagents.execution import chain_of, real_cause
from spanproof.instrumentors.frameworks.smolagents.state import MUTED, PLACE, Place, RunState, locate_call
from spanproof.instrumentors.spans.contexts import attach, current, detach
from spanproof.instrumentors.spans.span_start import SpanStart, make_model_start, make_tool_start
from spanproof.instrumentors.spans.streams import DrivenIterator, drive
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours


@dataclass(frozen=True, slots=True)
class CallKind:
    """How calls of one kind of object are recorded.

    Attributes:
        label: under which our own errors are counted.
        name_attribute: of the object that is called.
        make_start: makes the start of a span from that name.
        record_arguments: writes what a call is given.
        record_result: writes what it returned.
        outside_runs: a call outside of any run gets a span too.
        has_facts: `record_arguments` also writes what is no content.
    """

    label: str
    name_attribute: str
    make_start: Callable[[str], SpanStart]
    record_arguments: Callable[[OpenSpan, RunState | None, Any, Args, Kwargs], object]
    record_result: Callable[[OpenSpan, RunState | None, Any], object]
    outside_runs: bool
    has_facts: bool


def trace_call(
    tracing: Tracing,
    kind: CallKind,
    original: Method,
    member: Any,
    args: Args,
    kwargs: Kwargs,
) -> Any:
    """Hook of a method that returns its result: call it within a span."""
    parent, place = locate_call(tracing, member, original)
    opened = None
    if place is not MUTED and (parent is not None or kind.outside_runs):
        opened = begin_call(tracing, kind, parent, place, original, member, args, kwargs)
    if opened is None:
        return original(member, *args, **kwargs)
    token = attach(opened.context)
    try:
        result = original(member, *args, **kwargs)
    except BaseException as error:
        fail_call(tracing, kind, opened, place[0], error)
        raise
    finally:
        detach(token)
    finish_call(kind, opened, place[0], result)
    return result


def begin_call(
    tracing: Tracing,
    kind: CallKind,
    parent: Context | None,
    place: Place,
    method: Method,
    member: Any,
    args: Args,
    kwargs: Kwargs,
) -> OpenSpan | None:
    """Start the span of a call of `member` by its `method`; None where that fails."""
    opened = None
    try:
        name = attribute(member, kind.name_attribute)
        if type(name) is not str or not name:
            name = name_of(name, member)
        run, step, _, _ = place
        inner = {PLACE: (run, step, member, method)}
        opened = tracing.open_as(OpenSpan, kind.make_start(name), parent, values=inner)
        if opened.recording and (opened.visible or kind.has_facts):
            kind.record_arguments(opened, run, member, args, kwargs)
    except Exception as error:  # noqa: BLE001 - the host must not see it
        swallowed(f"{kind.label}.begin", error)
    return opened  # also where its arguments could not be recorded


def name_of(name: object, member: Any) -> str:
    """Return the name of a model or tool, that of its class where it has none."""
    return text_or_none(name) or type(member).__name__


def finish_call(kind: CallKind, opened: OpenSpan, run: RunState | None, result: Any) -> None:
    """Record a call's result and end its span."""
    try:
        try:
            if opened.recording:
                kind.record_result(opened, run, result)
        finally:
            opened.close()
    except Exception as error:  # noqa: BLE001 - as above
        swallowed(f"{kind.label}.finish", error)


def fail_call(
    tracing: Tracing, kind: CallKind, opened: OpenSpan, run: RunState | None, error: BaseException
) -> None:
    """Record what a call has raised and end its span."""
    try:
        try:
            real = real_cause(chain_of(error, run.handled if run else None))
            tracing.fail(opened.span, error, error_type=type(real).__name__)
        finally:
            opened.close()
    except Exception as failure:  # noqa: BLE001 - as above
        swallowed(f"{kind.label}.fail", failure)


def adopt_and_call(
    adopt_model: Callable[[Any], object],
    original: Method,
    model: Any,
    args: Args,
    kwargs: Kwargs,
) -> Any:
    """Hook of `model(messages)`: the class may never have been part of an agent."""
    adopt_model(model)
    return original(model, *args, **kwargs)


def trace_stream(tracing: Tracing, original: Method, model: Any, args: Args, kwargs: Kwargs) -> Any:
    """Hook of `generate_stream`, which answers in pieces: the span ends with the stream."""
    _, place = locate_call(tracing, model, original)
    run, step, _, _ = place
    if place is MUTED:
        return original(model, *args, **kwargs)
    # A method that returns its parent's stream calls it here, before the span starts.
    token = attach(Context({**current(), PLACE: (run, step, model, original)}))
    try:
        stream = original(model, *args, **kwargs)
    finally:
        detach(token)
    if not hasattr(type(stream), "__next__"):
        return stream
    driven = _drive_stream(tracing, original, model, args, kwargs, stream)
    return driven if type(stream) is GeneratorType else DrivenIterator(stream, _spanproof_driven=driven)


def _drive_stream(
    tracing: Tracing,
    original: Method,
    model: Any,
    args: Args,
    kwargs: Kwargs,
    stream: Any,
) -> Any:
    parent, place = locate_call(tracing, model, original)
    opened = begin_call(tracing, MODEL_CALL, parent, place, original, model, args, kwargs)
    if opened is None:
        return (yield from stream)
    pieces: list[Any] = []

    def end(failure: BaseException | None) -> None:
        if failure is not None:
            fail_call(tracing, MODEL_CALL, opened, place[0], failure)
        else:
            finish_call(MODEL_CALL, opened, place[0], _join(pieces))

    return (yield from drive(stream, opened.context, pieces.append, end))


def _record_question(opened: OpenSpan, run: RunState | None, model: Any, args: Args, kwargs: Kwargs) -> None:
    own = attribute(model, "kwargs")
    parameters = {**own, **kwargs} if type(own) is dict else kwargs
    for parameter, name in REQUEST_PARAMETERS.items():
        if parameter in parameters:
            opened.fact(name, number_or_none(parameters[parameter]))
    stops = kwargs.get("stop_sequences")
    if stops is not None or (run is not None and run.stops):
        _record_stops(opened, run, stops if type(stops) is list else elements(stops))
    messages = args[0] if args else kwargs.get("messages")
    if opened.visible and is_a(messages, list):
        history = run.history if run else None
        record_input(opened, *conversation.new_messages(elements(messages), history, opened.span))


@shielded("smolagents.model.join")
def _join(pieces: Sequence[Any]) -> Any:
    return conversation.join_pieces(pieces)


def _record_stops(content: Content, run: RunState | None, stops: list[Any]) -> None:
    """Record what ends the model's answer, on the calls of a run where it changes."""
    for stop in stops:
        if type(stop) is not str:
            return
    if stops == (run.stops if run is not None else []):
        return
    content.attributes[genai.REQUEST_STOP_SEQUENCES] = tuple(stops)
    if run is not None:
        run.stops = [*stops]


def _record_answer(opened: OpenSpan, run: RunState | None, answer: Any) -> None:
    if answer is None:
        return
    record_usage(opened, *conversation.usage_of(answer))
    raw = attribute(answer, "raw")
    if raw is not None:
        opened.fact(genai.RESPONSE_MODEL, text_or_none(attribute(raw, "model")))
    if opened.visible:
        message = conversation.read_message(answer)
        record_output(opened, message.document, conversation.finish_reason_of(answer))
        if run is not None:
            run.history.add_answers(opened.span, [message.key])


MODEL_CALL = CallKind(
    label="smolagents.model",
    name_attribute="model_id",
    make_start=make_model_start,
    record_arguments=_record_question,
    record_result=_record_answer,
    outside_runs=True,
    has_facts=True,
)


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


def _record_tool_arguments(
    content: OpenSpan, _run: RunState | None, tool: Any, args: Args, kwargs: Kwargs
) -> None:
    """Record the arguments before the call, which may change them."""
    bound = _bind_tool(tool, args, kwargs)
    record_call(content, name_of(attribute(tool, "name"), tool), bound.named)
    if bound.positional:
        content.json(ours.TOOL_POSITIONAL, list(bound.positional))


def _record_tool_result(content: OpenSpan, _run: RunState | None, result: Any) -> None:
    content.result_type(result)
    if content.visible:
        content.output_json(genai.TOOL_CALL_RESULT, result)


def _bind_tool(tool: Any, args: Args, kwargs: Kwargs) -> Bound:
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
    record_arguments=_record_tool_arguments,
    record_result=_record_tool_result,
    outside_runs=False,  # a helper called without an agent or a span around it would be noise
    has_facts=False,
)
AGENT_CALL = replace(TOOL_CALL, make_start=partial(make_tool_start, tool_type="agent"))
"""A call of a managed agent, which its manager uses like a tool."""
