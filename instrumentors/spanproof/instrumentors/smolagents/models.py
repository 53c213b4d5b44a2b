"""The LLM spans: one per call of `generate` or `generate_stream`, whatever class the model is of.

A model that calls its parent's `generate` is one call; a model that asks another model makes two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import GeneratorType
from typing import Any

from opentelemetry.context import attach, detach, get_current

from spanproof.instrumentors.content import Content
from spanproof.instrumentors.diagnostics import shielded
from spanproof.instrumentors.messages import Omitted, record_input, record_output
from spanproof.instrumentors.nesting import calling, is_handed_on
from spanproof.instrumentors.patching import Method
from spanproof.instrumentors.reading import (
    attribute,
    elements,
    is_a,
    items,
    number_or_none,
    text_or_none,
)
from spanproof.instrumentors.smolagents import conversation
from spanproof.instrumentors.smolagents.state import current_run, is_muted, parent_context
from spanproof.instrumentors.spans import LLM, Opened, Tracing
from spanproof.instrumentors.streams import IteratorProxy, drive
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
        passing = is_muted() or is_handed_on(model, original)
        opened = None if passing else _begin(tracing, model, args, kwargs)
        if opened is None:
            return original(model, *args, **kwargs)
        token = attach(calling(opened.context, model, original))
        try:
            answer = original(model, *args, **kwargs)
        except BaseException as error:
            _fail(tracing, opened, error)
            raise
        finally:
            detach(token)
        _finish(opened, answer)
        return answer

    return generate


def wrap_generate_stream(tracing: Tracing, original: Method) -> Method:
    """`generate_stream`, which answers in pieces; the span ends with the stream."""

    def generate_stream(model: Any, *args: Any, **kwargs: Any) -> Any:
        if is_muted() or is_handed_on(model, original):
            return original(model, *args, **kwargs)
        # A method that only passes its parent's stream on asks for it here, before the span begins.
        token = attach(calling(get_current(), model, original))
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
    opened = _begin(tracing, model, args, kwargs)
    if opened is None:
        return (yield from stream)
    pieces: list[Any] = []

    def end(failure: BaseException | None) -> None:
        if failure is not None:
            _fail(tracing, opened, failure)
        else:
            _finish(opened, _joined(pieces))

    return (yield from drive(stream, calling(opened.context, model, original), pieces.append, end))


@shielded("smolagents.model.begin")
def _begin(tracing: Tracing, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Opened | None:
    name = text_or_none(attribute(model, "model_id")) or type(model).__name__
    opened = tracing.open(
        f"{genai.OPERATION_CHAT} {name}", LLM, operation=genai.OPERATION_CHAT, parent=parent_context(model)
    )
    if opened.recording:
        _describe(opened, model, name, args, kwargs)
    return opened


@shielded("smolagents.model.describe")
def _describe(
    opened: Opened,
    model: Any,
    name: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    content = opened.content
    content.fact(genai.REQUEST_MODEL, name)
    content.fact(openinference.LLM_MODEL_NAME, name)
    _describe_parameters(content, model, kwargs)
    run = current_run(opened.context)
    given = args[0] if args else kwargs.get("messages")
    if content.visible and is_a(given, list):
        messages = elements(given)
        history = run.history if run else None
        new = (
            history.new(opened.span_id, [conversation.key_of(each) for each in messages])
            if history
            else Omitted()
        )
        shown = [conversation.message_of(each) for each in messages[new.count :]]
        record_input(content, shown, new)


@shielded("smolagents.model.joined")
def _joined(pieces: Sequence[Any]) -> Any:
    return conversation.joined(pieces)


def _describe_parameters(content: Content, model: Any, kwargs: Mapping[str, Any]) -> None:
    always = attribute(model, "kwargs")
    if always or not _PARAMETERS.keys().isdisjoint(kwargs):
        parameters = {**dict(items(always)), **kwargs}
        for parameter, name in _PARAMETERS.items():
            content.fact(name, number_or_none(parameters.get(parameter)))
    stops = elements(kwargs.get("stop_sequences"))
    if stops and all(type(stop) is str for stop in stops):
        content.fact(genai.REQUEST_STOP_SEQUENCES, stops)


@shielded("smolagents.model.finish")
def _finish(opened: Opened, answer: Any) -> None:
    try:
        if not opened.recording:
            return
        content = opened.content
        if answer is not None:
            usage = conversation.usage_of(answer)
            for name, other, count in (
                (genai.USAGE_INPUT_TOKENS, openinference.LLM_TOKEN_COUNT_PROMPT, usage[0]),
                (genai.USAGE_OUTPUT_TOKENS, openinference.LLM_TOKEN_COUNT_COMPLETION, usage[1]),
            ):
                content.fact(name, count)
                content.fact(other, count)
            content.fact(genai.RESPONSE_MODEL, conversation.response_model(answer))
            if content.visible:
                message = conversation.message_of(answer)
                record_output(content, message, conversation.finish_reason(answer))
                run = current_run(opened.context)
                if run is not None:
                    run.history.answered(opened.span_id, [message.key])
    finally:
        opened.write()
        opened.span.end()


@shielded("smolagents.model.fail")
def _fail(tracing: Tracing, opened: Opened, error: BaseException) -> None:
    try:
        opened.write()
        tracing.fail(opened.span, error)
    finally:
        opened.span.end()
