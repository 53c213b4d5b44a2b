"""The LLM spans: one per call of `generate` or `generate_stream`, whatever class the model is of.

A model that calls its parent's `generate` is one call; a model that calls another model makes two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import GeneratorType
from typing import Any

from opentelemetry.context import Context

from spanproof.instrumentors.content.capture import Content
from spanproof.instrumentors.content.messages import record_input, record_output, record_usage
from spanproof.instrumentors.content.reading import (
    attribute,
    elements,
    is_a,
    items,
    number_or_none,
    text_or_none,
)
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.frameworks.patching import Method
from spanproof.instrumentors.frameworks.smolagents import conversation
from spanproof.instrumentors.frameworks.smolagents.calls import CallKind, begin_call, fail_call, finish_call
from spanproof.instrumentors.frameworks.smolagents.state import MUTED, PLACE, Place, RunState, locate_call
from spanproof.instrumentors.spans.contexts import attach, current, detach
from spanproof.instrumentors.spans.span_start import make_model_start
from spanproof.instrumentors.spans.streams import DrivenIterator, drive
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing
from spanproof.semconv import genai

_PARAMETERS = {
    "temperature": genai.REQUEST_TEMPERATURE,
    "max_tokens": genai.REQUEST_MAX_TOKENS,
    "top_p": genai.REQUEST_TOP_P,
    "seed": genai.REQUEST_SEED,
}


def adopt_and_call(
    adopt_model: Callable[[Any], object],
    original: Method,
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """Hook of `model(messages)`: the class may never have been part of an agent."""
    adopt_model(model)
    return original(model, *args, **kwargs)


def trace_stream(
    tracing: Tracing, original: Method, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Hook of `generate_stream`, which answers in pieces: the span ends with the stream."""
    _, place = locate_call(tracing, model, original)
    if place is MUTED:
        return original(model, *args, **kwargs)
    # A method that returns its parent's stream calls it here, before the span starts.
    token = attach(Context({**current(), PLACE: Place(place.run, place.step, model, original)}))
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
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    stream: Any,
) -> Any:
    parent, place = locate_call(tracing, model, original)
    opened = begin_call(tracing, MODEL_CALL, parent, place, original, model, args, kwargs)
    if opened is None:
        return (yield from stream)
    pieces: list[Any] = []

    def end(failure: BaseException | None) -> None:
        if failure is not None:
            fail_call(tracing, MODEL_CALL, opened, place.run, failure)
        else:
            finish_call(MODEL_CALL, opened, place.run, _join(pieces))

    return (yield from drive(stream, opened.context, pieces.append, end))


def _record_arguments(
    opened: OpenSpan, run: RunState | None, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    parameters = {**dict(items(attribute(model, "kwargs"))), **kwargs}
    for parameter, name in _PARAMETERS.items():
        if parameter in parameters:
            opened.fact(name, number_or_none(parameters[parameter]))
    _record_stops(opened, run, elements(kwargs.get("stop_sequences")))
    messages = args[0] if args else kwargs.get("messages")
    if opened.visible and is_a(messages, list):
        history = run.history if run else None
        record_input(opened, *conversation.new_messages(elements(messages), history, opened.span))


@shielded("smolagents.model.join")
def _join(pieces: Sequence[Any]) -> Any:
    return conversation.join_pieces(pieces)


def _record_stops(content: Content, run: RunState | None, stops: list[Any]) -> None:
    """Record what ends the model's answer, on the calls of a run where it changes."""
    if any(type(stop) is not str for stop in stops) or stops == (run.stops if run is not None else []):
        return
    content.attributes[genai.REQUEST_STOP_SEQUENCES] = tuple(stops)
    if run is not None:
        run.stops = stops


def _record_answer(opened: OpenSpan, run: RunState | None, answer: Any) -> None:
    if answer is None:
        return
    record_usage(opened, *conversation.usage_of(answer))
    opened.fact(genai.RESPONSE_MODEL, text_or_none(attribute(attribute(answer, "raw"), "model")))
    if opened.visible:
        message = conversation.read_message(answer)
        record_output(opened, message.document, conversation.finish_reason_of(answer))
        if run is not None:
            run.history.add_answers(opened.span, [message.key])


MODEL_CALL = CallKind(
    label="smolagents.model",
    name_attribute="model_id",
    make_start=make_model_start,
    record_arguments=_record_arguments,
    record_result=_record_answer,
    outside_runs=True,
    has_facts=True,
)
