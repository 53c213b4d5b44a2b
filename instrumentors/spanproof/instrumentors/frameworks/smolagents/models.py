"""The LLM spans: one per call of `generate` or `generate_stream`, whatever class the model is of.

A model that calls its parent's `generate` is one call; a model that asks another model makes two.
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
from spanproof.instrumentors.frameworks.smolagents.calls import Told, begin, fail, finish
from spanproof.instrumentors.frameworks.smolagents.state import MUTED, PLACE, RunState, located
from spanproof.instrumentors.spans.contexts import attach, current, detach
from spanproof.instrumentors.spans.starts import model_start
from spanproof.instrumentors.spans.streams import IteratorProxy, drive
from spanproof.instrumentors.spans.tracing import Opened, Tracing
from spanproof.semconv import genai

_PARAMETERS = {
    "temperature": genai.REQUEST_TEMPERATURE,
    "max_tokens": genai.REQUEST_MAX_TOKENS,
    "top_p": genai.REQUEST_TOP_P,
    "seed": genai.REQUEST_SEED,
}
_NAMES = frozenset(_PARAMETERS)


def wrap_direct_call(adopt_model: Callable[[Any], object], original: Method) -> Method:
    """`model(messages)`: the class may never have been part of an agent."""

    def call(model: Any, /, *args: Any, **kwargs: Any) -> Any:
        adopt_model(model)
        return original(model, *args, **kwargs)

    return call


def wrap_generate_stream(tracing: Tracing, original: Method) -> Method:
    """`generate_stream`, which answers in pieces; the span ends with the stream."""

    def generate_stream(model: Any, /, *args: Any, **kwargs: Any) -> Any:
        _, place = located(tracing, model, original)
        if place is MUTED:
            return original(model, *args, **kwargs)
        # A method that only passes its parent's stream on asks for it here, before the span begins.
        run, step, _, _ = place
        token = attach(Context({**current(), PLACE: (run, step, model, original)}))
        try:
            stream = original(model, *args, **kwargs)
        finally:
            detach(token)
        if not hasattr(type(stream), "__next__"):
            return stream
        driven = _streamed(tracing, original, model, args, kwargs, stream)
        return driven if type(stream) is GeneratorType else IteratorProxy(stream, driven)

    return generate_stream


def _streamed(
    tracing: Tracing,
    original: Method,
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    stream: Any,
) -> Any:
    parent, place = located(tracing, model, original)
    opened = begin(tracing, TOLD, parent, place, original, model, args, kwargs)
    if opened is None:
        return (yield from stream)
    pieces: list[Any] = []

    def end(failure: BaseException | None) -> None:
        if failure is not None:
            fail(tracing, TOLD, opened, place[0], failure)
        else:
            finish(TOLD, opened, place[0], _joined(pieces))

    return (yield from drive(stream, opened.context, pieces.append, end))


def _describe(
    opened: Opened, run: RunState | None, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    always = attribute(model, "kwargs")
    nothing = always is None or (type(always) is dict and not always)
    if not nothing or not _NAMES.isdisjoint(kwargs):
        _describe_parameters(opened, {**dict(items(always)), **kwargs})
    stops = kwargs.get("stop_sequences")
    try:
        told = run is not None and type(stops) is list and run.stops == stops
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - what is no text in it may raise anything
        told = False
    if not told:
        _describe_stops(opened, run, stops)
    if not opened.visible:
        return
    given = args[0] if args else kwargs.get("messages")
    if is_a(given, list):
        messages = given if type(given) is list else elements(given)
        history = run.history if run else None
        record_input(opened, *conversation.new_messages(messages, history, opened.span))


@shielded("smolagents.model.joined")
def _joined(pieces: Sequence[Any]) -> Any:
    return conversation.joined(pieces)


def _describe_parameters(content: Content, parameters: Mapping[str, Any]) -> None:
    for parameter, name in _PARAMETERS.items():
        content.fact(name, number_or_none(parameters.get(parameter)))


def _describe_stops(content: Content, run: RunState | None, given: Any) -> None:
    """What ends the model's answer: the framework's own words, so a run tells them only as they change."""
    stops = elements(given)
    for stop in stops:
        if type(stop) is not str:
            return
    if stops != (run.stops if run is not None else []):
        content.attributes[genai.REQUEST_STOP_SEQUENCES] = tuple(stops)
        if run is not None:
            run.stops = stops


def _record_answer(opened: Opened, run: RunState | None, answer: Any) -> None:
    if answer is None:
        return
    given, written = conversation.usage_of(answer)
    record_usage(opened, given, written)
    raw = attribute(answer, "raw")
    if raw is not None:
        opened.fact(genai.RESPONSE_MODEL, text_or_none(attribute(raw, "model")))
    if opened.visible:
        message = conversation.message_of(answer)
        record_output(opened, message.document, conversation.finish_reason_of(answer))
        if run is not None:
            run.history.answered(opened.span, [message.key])


TOLD = Told("smolagents.model", "model_id", model_start, _describe, _record_answer, alone=True, facts=True)
"""What the span of a model's call tells."""
