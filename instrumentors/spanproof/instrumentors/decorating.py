"""Functions of any shape (sync, async, generator, async generator), each call within a span.

The decorated function behaves the same; what it is given and returns is recorded. `configure` sets where to.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from functools import partial, wraps
from types import TracebackType
from typing import Any, Final, Self

from opentelemetry import trace as otel

from spanproof.instrumentors.content.arguments import Parameters, parameters_of
from spanproof.instrumentors.content.capture import Content, ContentPolicy
from spanproof.instrumentors.content.texts import text_of
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.spans.contexts import attach, current, detach_anywhere
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
    """Return the tracing that these spans are made by."""
    if _tracing is None:
        configure()
    assert _tracing is not None
    return _tracing


def decorated(kind: str, name: str, function: Any) -> Any:
    """Return the function or method with each call of it within a span.

    Raises:
        TypeError: it is a class or a property, which would no longer be one.
    """
    if isinstance(function, classmethod | staticmethod):
        return type(function)(decorated(kind, name, function.__func__))
    if isinstance(function, type) or not callable(function):
        remedy = (
            "methods of the class" if isinstance(function, type) else "function itself, below its wrapper"
        )
        raise TypeError(f"{function!r} cannot be traced; decorate the {remedy}")
    begin = partial(_Call, kind, name, parameters_of(function))
    shape = _shape_of(function)
    if inspect.isasyncgenfunction(shape):
        return _async_generator(begin, function)
    if inspect.isgeneratorfunction(shape):
        return _generator(begin, function)
    if inspect.iscoroutinefunction(shape):
        return _coroutine(begin, function)
    return _plain(begin, function)


def _shape_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that decides the shape: the `__call__` of an object that is not one itself."""
    while isinstance(function, partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


@shielded("trace.open")
def open_span(kind: str, name: str) -> OpenSpan:
    """Start a span of a kind under the current one."""
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
    """End a span, failed where there is an error other than that the caller abandoned it."""
    if error is not None and not isinstance(error, ABANDONED):
        current_tracing().fail(opened.span, error)
        if kind == AGENT:
            opened.span.set_attribute(ours.RUN_ENDING, "failed")
    opened.close()


class _Call:
    """One call of a decorated function; a context manager within which the function runs."""

    def __init__(
        self, kind: str, name: str, parameters: Parameters, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        self._kind = kind
        self._result: Any = None
        self._returned = False
        self.opened = open_span(kind, name)
        if self.opened is not None:
            describe(self.opened, lambda content: _record_call(content, kind, parameters, args, kwargs))

    def returned(self, result: Any) -> Any:
        """Keep the result to be recorded, and return it."""
        self._result, self._returned = result, True
        return result

    def __enter__(self) -> Self:
        self._token = None if self.opened is None else attach(self.opened.context)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        if self._token is not None:
            detach_anywhere(self._token)
        self.end(error)

    def end(self, error: BaseException | None) -> None:
        """Record the result, if there is one, and end the span."""
        if self.opened is None:
            return
        if self._returned:
            describe(self.opened, lambda content: _record_result(content, self._kind, self._result))
        close_span(self.opened, self._kind, None if self._returned else error)


def _plain(begin: Callable[..., _Call], function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with begin(args, kwargs) as call:
            return call.returned(function(*args, **kwargs))

    return called


def _coroutine(begin: Callable[..., _Call], function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        with begin(args, kwargs) as call:
            return call.returned(await function(*args, **kwargs))

    return awaited


def _generator(begin: Callable[..., _Call], function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def generated(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        call, items = begin(args, kwargs), _Items()
        context = current() if call.opened is None else call.opened.context
        try:
            stream = function(*args, **kwargs)
        except BaseException as error:
            call.end(error)
            raise
        ended: list[BaseException | None] = []
        try:
            returned = yield from drive(stream, context, items.add, ended.append)
            call.returned(items.kept if returned is None else returned)
            return returned
        finally:
            call.end(ended[0] if ended else None)

    return generated


def _async_generator(begin: Callable[..., _Call], function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def generated(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        call, items = begin(args, kwargs), _Items()
        failure: BaseException | None = None
        try:
            stream = function(*args, **kwargs)
            advance: Callable[[], Awaitable[Any]] = stream.__anext__
            while True:
                try:
                    item = await _within(call.opened, advance)
                except StopAsyncIteration:
                    call.returned(items.kept)
                    return
                items.add(item)
                try:
                    sent = yield item
                except GeneratorExit:
                    await _within(call.opened, stream.aclose)
                    raise
                except BaseException as thrown:  # noqa: BLE001 - the generator's own to handle
                    advance = partial(stream.athrow, thrown)
                else:
                    advance = partial(stream.asend, sent)
        except BaseException as error:
            failure = error
            raise
        finally:
            call.end(failure)

    return generated


async def _within(opened: OpenSpan | None, act: Callable[[], Awaitable[Any]]) -> Any:
    if opened is None:
        return await act()
    token = attach(opened.context)
    try:
        return await act()
    finally:
        detach_anywhere(token)


class _Items:
    """What a generator has yielded; None once it is too much to keep."""

    def __init__(self) -> None:
        self.kept: list[Any] | None = []

    def add(self, item: Any) -> None:
        if self.kept is not None and len(self.kept) == _MAX_ITEMS:
            self.kept = None
        if self.kept is not None:
            self.kept.append(item)


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


def _record_result(content: Content, kind: str, result: Any) -> None:
    if kind == AGENT:
        content.fact(ours.RUN_ENDING, "answered")
    if kind == TOOL:
        content.result_type(result)
        content.output_json(genai.TOOL_CALL_RESULT, result)
    else:
        content.output(result)
