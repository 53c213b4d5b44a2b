"""The LLM spans: one per call of `generate` or `generate_stream`, whatever class the model is of.

A model that calls its parent's `generate` is one call; a model that asks another model makes two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import GeneratorType
from typing import Any

from opentelemetry.context import attach, detach

from spanproof.instrumentors.content import Content
from spanproof.instrumentors.diagnostics import shielded
from spanproof.instrumentors.messages import record_input, record_output
from spanproof.instrumentors.nesting import calling, is_handed_on
from spanproof.instrumentors.patching import Method
from spanproof.instrumentors.smolagents import conversation
from spanproof.instrumentors.smolagents.state import current_run
from spanproof.instrumentors.spans import LLM, Opened, Tracing
from spanproof.instrumentors.streams import drive
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
        opened = None if is_handed_on(model, original) else _begin(tracing, model, args, kwargs)
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
        _finish(tracing, opened, answer)
        return answer

    return generate


def wrap_generate_stream(tracing: Tracing, original: Method) -> Method:
    """`generate_stream`, which answers in pieces; the span ends with the stream."""

    def generate_stream(model: Any, *args: Any, **kwargs: Any) -> Any:
        handed_on = is_handed_on(model, original)
        stream = original(model, *args, **kwargs)
        if handed_on or not isinstance(stream, GeneratorType):
            return stream
        return _streamed(tracing, original, model, args, kwargs, stream)

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
            _finish(tracing, opened, conversation.joined(pieces))

    return (yield from drive(stream, calling(opened.context, model, original), pieces.append, end))


@shielded("smolagents.model.begin")
def _begin(tracing: Tracing, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Opened | None:
    model_id = getattr(model, "model_id", None)
    name = model_id if isinstance(model_id, str) and model_id else type(model).__name__
    opened = tracing.open(f"{genai.OPERATION_CHAT} {name}", LLM, operation=genai.OPERATION_CHAT)
    if opened.recording:
        _describe(tracing, opened, model, name, args, kwargs)
    return opened


@shielded("smolagents.model.describe")
def _describe(
    tracing: Tracing,
    opened: Opened,
    model: Any,
    name: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    content = tracing.content()
    content.fact(genai.REQUEST_MODEL, name)
    content.fact(openinference.LLM_MODEL_NAME, name)
    _describe_parameters(content, model, kwargs)
    run = current_run()
    given = args[0] if args else kwargs.get("messages")
    if content.visible and isinstance(given, list):
        messages = [conversation.message_of(each) for each in given]
        span_id = format(opened.span.get_span_context().span_id, "016x")
        record_input(content, span_id, messages, run.history if run else None)
        if messages:
            content.input(conversation.text_in(messages[-1]))
    opened.span.set_attributes(content.finished())


def _describe_parameters(content: Content, model: Any, kwargs: Mapping[str, Any]) -> None:
    own = getattr(model, "kwargs", None)
    parameters = {**(own if isinstance(own, dict) else {}), **kwargs}
    for parameter, attribute in _PARAMETERS.items():
        value = parameters.get(parameter)
        if isinstance(value, int | float):
            content.fact(attribute, value)
    stops = kwargs.get("stop_sequences")
    if isinstance(stops, list) and all(isinstance(stop, str) for stop in stops):
        content.fact(genai.REQUEST_STOP_SEQUENCES, stops)


@shielded("smolagents.model.finish")
def _finish(tracing: Tracing, opened: Opened, answer: Any) -> None:
    try:
        if opened.recording and answer is not None:
            content = tracing.content()
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
                content.output(conversation.text_in(message))
            opened.span.set_attributes(content.finished())
    finally:
        opened.span.end()


@shielded("smolagents.model.fail")
def _fail(tracing: Tracing, opened: Opened, error: BaseException) -> None:
    try:
        tracing.fail(opened.span, error)
    finally:
        opened.span.end()
