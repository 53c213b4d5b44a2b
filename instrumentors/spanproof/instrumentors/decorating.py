"""A function of any shape within a span: sync, async, generator, async generator.

In come a kind, a name and a function; out comes a function that behaves the same and records what it is given
and returns. The tracing they write to is set by `configure`.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Final

from opentelemetry import trace as otel

from spanproof.instrumentors.content.arguments import Parameters, parameters_of
from spanproof.instrumentors.content.capture import Content, ContentPolicy
from spanproof.instrumentors.content.texts import text_of
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.spans.contexts import attach, detach_anywhere
from spanproof.instrumentors.spans.span_start import AGENT, TOOL, make_start
from spanproof.instrumentors.spans.streams import drive
from spanproof.instrumentors.spans.tracing import ABANDONED, OpenSpan, Tracing
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_NAMES: Final = {AGENT: genai.AGENT_NAME, TOOL: genai.TOOL_NAME}

_MAX_ITEMS: Final = 1_000
"""Items of a generator up to which they are its output; those of a longer one are not kept."""

_tracing: Tracing | None = None


def configure(provider: otel.TracerProvider | None = None, content: ContentPolicy | None = None) -> None:
    """Send these spans to a provider (the global one when None); `register()` does it."""
    global _tracing
    _tracing = Tracing("trace", provider, content)


def current_tracing() -> Tracing:
    """Where these spans go."""
    if _tracing is None:
        configure()
    assert _tracing is not None
    return _tracing


def decorated(kind: str, name: str, function: Any) -> Any:
    """The function or method, each call of it within a span.

    Raises:
        TypeError: it is a class or a property, which would no longer be one.
    """
    if isinstance(function, classmethod | staticmethod):
        return type(function)(decorated(kind, name, function.__func__))
    if isinstance(function, type) or not callable(function):
        said = (
            "methods of the class" if isinstance(function, type) else "function itself, below what wraps it"
        )
        raise TypeError(f"{function!r} cannot be traced as it is; decorate the {said}")
    shape = _shape_of(function)
    if inspect.isasyncgenfunction(shape):
        return _async_generator(kind, name, function)
    if inspect.isgeneratorfunction(shape):
        return _generator(kind, name, function)
    if inspect.iscoroutinefunction(shape):
        return _coroutine(kind, name, function)
    return _plain(kind, name, function)


def _shape_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """What tells whether a call returns at once: the `__call__` of an object that is no function."""
    while isinstance(function, partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


@shielded("trace.open")
def open_span(kind: str, name: str) -> OpenSpan:
    """Begin a span of a kind under the current one."""
    name = text_of(name)
    facts = {_NAMES[kind]: name} if kind in _NAMES else {}
    return current_tracing().open(make_start(name, kind, facts))


@shielded("trace.describe")
def describe(opened: OpenSpan, fill: Callable[[Content], None]) -> None:
    """Put content onto a span."""
    if opened.recording:
        fill(opened)
        opened.write()


@shielded("trace.close")
def close_span(opened: OpenSpan, kind: str, error: BaseException | None) -> None:
    """End a span, failed when there is an error; that the caller gave it up is none."""
    if error is not None and not isinstance(error, ABANDONED):
        current_tracing().fail(opened.span, error)
        if kind == AGENT:
            opened.span.set_attribute(ours.RUN_ENDING, "failed")
    opened.span.end()


def _plain(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    parameters = parameters_of(function)

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        opened = _begin(kind, name, parameters, args, kwargs)
        if opened is None:
            return function(*args, **kwargs)
        token = attach(opened.context)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            close_span(opened, kind, error)
            raise
        finally:
            detach_anywhere(token)
        _finish(opened, kind, result)
        return result

    return called


def _coroutine(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    parameters = parameters_of(function)

    @wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        opened = _begin(kind, name, parameters, args, kwargs)
        if opened is None:
            return await function(*args, **kwargs)
        token = attach(opened.context)
        try:
            result = await function(*args, **kwargs)
        except BaseException as error:
            close_span(opened, kind, error)
            raise
        finally:
            detach_anywhere(token)
        _finish(opened, kind, result)
        return result

    return awaited


def _generator(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    parameters = parameters_of(function)

    @wraps(function)
    def generated(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        opened = _begin(kind, name, parameters, args, kwargs)
        if opened is None:
            return (yield from function(*args, **kwargs))
        yielded = _Yielded()
        failure: BaseException | None = None

        def keep(error: BaseException | None) -> None:
            nonlocal failure
            failure = error

        try:
            try:
                stream = function(*args, **kwargs)
            except BaseException as error:
                failure = error
                raise
            returned = yield from drive(stream, opened.context, yielded.add, keep)
            yielded.end(returned)
            return returned
        finally:
            _finish_stream(opened, kind, yielded, failure)

    return generated


def _async_generator(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    parameters = parameters_of(function)

    @wraps(function)
    async def generated(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        opened = _begin(kind, name, parameters, args, kwargs)
        yielded = _Yielded()
        failure: BaseException | None = None
        try:
            stream = function(*args, **kwargs)
            advance: Callable[[], Awaitable[Any]] = stream.__anext__
            while True:
                try:
                    item = await _within(opened, advance)
                except StopAsyncIteration:
                    yielded.end(None)
                    return
                yielded.add(item)
                try:
                    sent = yield item
                except GeneratorExit:
                    await _within(opened, stream.aclose)
                    raise
                except BaseException as thrown:  # noqa: BLE001 - the generator's own to handle
                    advance = partial(stream.athrow, thrown)
                else:
                    advance = partial(stream.asend, sent)
        except BaseException as error:
            failure = error
            raise
        finally:
            if opened is not None:
                _finish_stream(opened, kind, yielded, failure)

    return generated


async def _within(opened: OpenSpan | None, act: Callable[[], Awaitable[Any]]) -> Any:
    if opened is None:
        return await act()
    token = attach(opened.context)
    try:
        return await act()
    finally:
        detach_anywhere(token)


class _Yielded:
    """What a generator has yielded, as long as it is not too much to keep, and whether it came to its end."""

    def __init__(self) -> None:
        self.exhausted = False
        self.result: Any = None
        self._items: list[Any] | None = []

    def add(self, item: Any) -> None:
        if self._items is not None:
            self._items.append(item)
            if len(self._items) > _MAX_ITEMS:
                self._items = None

    def end(self, returned: Any) -> None:
        self.exhausted = True
        self.result = self._items if returned is None else returned


def _begin(
    kind: str, name: str, parameters: Parameters, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> OpenSpan | None:
    opened = open_span(kind, name)
    if opened is not None:
        describe(opened, lambda content: _record_call(content, kind, parameters, args, kwargs))
    return opened


def _record_call(
    content: Content,
    kind: str,
    parameters: Parameters,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    if not content.visible:
        return
    bound = parameters.bind(args, kwargs)
    if bound.positional and kind == TOOL:
        content.json(ours.TOOL_POSITIONAL, list(bound.positional))
    if kind == TOOL:
        content.input_json(genai.TOOL_CALL_ARGUMENTS, bound.named)
        return
    named = list(bound.named.values())
    # An agent's task is what it is called with when that is one thing; else the names are needed.
    content.input(named[0] if kind == AGENT and len(named) == 1 else bound.named)


def _finish(opened: OpenSpan, kind: str, result: Any) -> None:
    describe(opened, lambda content: _record_result(content, kind, result))
    close_span(opened, kind, None)


def _finish_stream(opened: OpenSpan, kind: str, yielded: _Yielded, failure: BaseException | None) -> None:
    """A generator's result is what it returned, else what it yielded; one given up has none."""
    if yielded.exhausted:
        _finish(opened, kind, yielded.result)
    else:
        close_span(opened, kind, failure)


def _record_result(content: Content, kind: str, result: Any) -> None:
    if kind == AGENT:
        content.fact(ours.RUN_ENDING, "answered")
    if kind == TOOL:
        content.result_type(result)
        content.output_json(genai.TOOL_CALL_RESULT, result)
    else:
        content.output(result)
