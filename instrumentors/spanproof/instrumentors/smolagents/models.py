"""The LLM spans: one per call of `generate` or `generate_stream`, whatever class the model is of.

A model that calls its parent's `generate` is one call; a model that asks another model makes two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import GeneratorType
from typing import Any

from opentelemetry.context import Context
from opentelemetry.util.types import AttributeValue

from spanproof.instrumentors.content import Content
from spanproof.instrumentors.contexts import attach, current, detach
from spanproof.instrumentors.diagnostics import shielded, swallowed
from spanproof.instrumentors.messages import record_input, record_output, record_usage
from spanproof.instrumentors.patching import Method
from spanproof.instrumentors.reading import attribute, elements, is_a, items, number_or_none, text_or_none
from spanproof.instrumentors.smolagents import conversation
from spanproof.instrumentors.smolagents.state import MUTED, PLACE, Place, RunState, located
from spanproof.instrumentors.spans import LLM, Opened, Tracing
from spanproof.instrumentors.streams import IteratorProxy, drive
from spanproof.instrumentors.texts import well_formed
from spanproof.semconv import genai, openinference

_PARAMETERS = {
    "temperature": genai.REQUEST_TEMPERATURE,
    "max_tokens": genai.REQUEST_MAX_TOKENS,
    "top_p": genai.REQUEST_TOP_P,
    "seed": genai.REQUEST_SEED,
}


def wrap_direct_call(adopt_model: Callable[[Any], object], original: Method) -> Method:
    """`model(messages)`: the class may never have been part of an agent."""

    def call(model: Any, *args: Any, **kwargs: Any) -> Any:
        adopt_model(model)
        return original(model, *args, **kwargs)

    return call


def wrap_generate(tracing: Tracing, original: Method) -> Method:
    """`generate`, which answers with one message."""

    def generate(model: Any, *args: Any, **kwargs: Any) -> Any:
        parent, place = located(model, original)
        opened = None if place is MUTED else _begin(tracing, parent, place, original, model, args, kwargs)
        if opened is None:
            return original(model, *args, **kwargs)
        token = attach(opened.context)
        try:
            answer = original(model, *args, **kwargs)
        except BaseException as error:
            _fail(tracing, opened, error)
            raise
        finally:
            detach(token)
        _finish(opened, place.run, answer)
        return answer

    return generate


def wrap_generate_stream(tracing: Tracing, original: Method) -> Method:
    """`generate_stream`, which answers in pieces; the span ends with the stream."""

    def generate_stream(model: Any, *args: Any, **kwargs: Any) -> Any:
        _, place = located(model, original)
        if place is MUTED:
            return original(model, *args, **kwargs)
        # A method that only passes its parent's stream on asks for it here, before the span begins.
        token = attach(Context({**current(), PLACE: Place(place.run, place.step, model, original)}))
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
    parent, place = located(model, original)
    opened = _begin(tracing, parent, place, original, model, args, kwargs)
    if opened is None:
        return (yield from stream)
    pieces: list[Any] = []

    def end(failure: BaseException | None) -> None:
        if failure is not None:
            _fail(tracing, opened, failure)
        else:
            _finish(opened, place.run, _joined(pieces))

    return (yield from drive(stream, opened.context, pieces.append, end))


def _begin(
    tracing: Tracing,
    parent: Context | None,
    place: Place,
    original: Method,
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Opened | None:
    operation = genai.OPERATION_CHAT
    opened = None
    try:
        name = text_or_none(attribute(model, "model_id")) or type(model).__name__
        opened = tracing.open(
            f"{operation} {name}",
            LLM,
            operation=operation,
            parent=parent,
            facts=_facts(name),
            within={PLACE: Place(place.run, place.step, model, original)},
        )
        if opened.recording:
            _describe(opened, place.run, model, args, kwargs)
    except Exception as error:  # noqa: BLE001 - the host must not see it
        swallowed("smolagents.model.begin", error)
    return opened  # also if what it is asked could not be told


@lru_cache(maxsize=256)
def _facts(name: str) -> Mapping[str, AttributeValue]:
    written = well_formed(name)
    return {genai.REQUEST_MODEL: written, openinference.LLM_MODEL_NAME: written}


def _describe(
    opened: Opened, run: RunState | None, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    always = attribute(model, "kwargs")
    if (issubclass(type(always), dict) and dict.__len__(always)) or not _PARAMETERS.keys().isdisjoint(kwargs):
        _describe_parameters(opened, {**dict(items(always)), **kwargs})
    _describe_stops(opened, run, kwargs.get("stop_sequences"))
    given = args[0] if args else kwargs.get("messages")
    if opened.visible and is_a(given, list):
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
    stops = tuple(given if type(given) is list else elements(given))
    for stop in stops:
        if type(stop) is not str:
            return
    if stops != (run.stops if run is not None else ()):
        content.attributes[genai.REQUEST_STOP_SEQUENCES] = stops
        if run is not None:
            run.stops = stops


def _finish(opened: Opened, run: RunState | None, answer: Any) -> None:
    try:
        try:
            if answer is not None and opened.recording:
                _record_answer(opened, run, answer)
        finally:
            opened.write()
            opened.span.end()
    except Exception as error:  # noqa: BLE001 - as above
        swallowed("smolagents.model.finish", error)


def _record_answer(opened: Opened, run: RunState | None, answer: Any) -> None:
    given, written = conversation.usage_of(answer)
    record_usage(opened, given, written)
    answered_by, finish_reason = conversation.ending_of(answer)
    if answered_by is not None:
        opened.fact(genai.RESPONSE_MODEL, answered_by)
    if opened.visible:
        message = conversation.message_of(answer)
        record_output(opened, message.document, finish_reason)
        if run is not None:
            run.history.answered(opened.span, [message.key])


@shielded("smolagents.model.fail")
def _fail(tracing: Tracing, opened: Opened, error: BaseException) -> None:
    try:
        opened.write()
        tracing.fail(opened.span, error)
    finally:
        opened.span.end()
