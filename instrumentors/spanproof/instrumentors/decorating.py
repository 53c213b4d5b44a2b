"""A function of any shape within a span: sync, async, generator, async generator.

In come a kind, a name and a function; out comes a function that behaves the same and records what it is given
and returns. The tracing they write to is set by `configure`.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from functools import wraps
from typing import Any, Final

from opentelemetry import trace as otel
from opentelemetry.context import attach, detach

from spanproof.instrumentors.arguments import bind, parameter_names
from spanproof.instrumentors.content import Content, ContentPolicy
from spanproof.instrumentors.diagnostics import shielded
from spanproof.instrumentors.spans import AGENT, GIVEN_UP, TOOL, Opened, Tracing
from spanproof.instrumentors.streams import drive
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_OPERATIONS: Final = {AGENT: genai.OPERATION_INVOKE_AGENT, TOOL: genai.OPERATION_EXECUTE_TOOL}
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


def decorated(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, each call of it within a span."""
    if inspect.isasyncgenfunction(function):
        return _async_generator(kind, name, function)
    if inspect.isgeneratorfunction(function):
        return _generator(kind, name, function)
    if inspect.iscoroutinefunction(function):
        return _coroutine(kind, name, function)
    return _plain(kind, name, function)


@shielded("trace.open")
def open_span(kind: str, name: str) -> Opened:
    """Begin a span of a kind under the current one."""
    operation = _OPERATIONS.get(kind)
    opened = current_tracing().open(f"{operation} {name}" if operation else name, kind, operation=operation)
    if kind in _NAMES and opened.recording:
        opened.span.set_attribute(_NAMES[kind], name)
    return opened


@shielded("trace.describe")
def describe(opened: Opened, fill: Callable[[Content], None]) -> None:
    """Put content onto a span."""
    if opened.recording:
        fill(opened.content)
        opened.write()


@shielded("trace.close")
def close_span(opened: Opened, kind: str, error: BaseException | None) -> None:
    """End a span, failed when there is an error; that the caller gave it up is none."""
    if error is not None and not isinstance(error, GIVEN_UP):
        current_tracing().fail(opened.span, error)
        if kind == AGENT:
            opened.span.set_attribute(ours.RUN_ENDING, "failed")
    opened.span.end()


def _plain(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        opened = _begin(kind, name, function, args, kwargs)
        if opened is None:
            return function(*args, **kwargs)
        token = attach(opened.context)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            close_span(opened, kind, error)
            raise
        finally:
            detach(token)
        _finish(opened, kind, result)
        return result

    return called


def _coroutine(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        opened = _begin(kind, name, function, args, kwargs)
        if opened is None:
            return await function(*args, **kwargs)
        token = attach(opened.context)
        try:
            result = await function(*args, **kwargs)
        except BaseException as error:
            close_span(opened, kind, error)
            raise
        finally:
            detach(token)
        _finish(opened, kind, result)
        return result

    return awaited


def _generator(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def generated(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        opened = _begin(kind, name, function, args, kwargs)
        stream = function(*args, **kwargs)
        if opened is None:
            return (yield from stream)
        yielded = _Yielded()
        failure: BaseException | None = None

        def keep(error: BaseException | None) -> None:
            nonlocal failure
            failure = error

        try:
            returned = yield from drive(stream, opened.context, yielded.add, keep)
            yielded.end(returned)
            return returned
        finally:
            _finish_stream(opened, kind, yielded, failure)

    return generated


def _async_generator(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def generated(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        opened = _begin(kind, name, function, args, kwargs)
        stream = function(*args, **kwargs)
        yielded = _Yielded()
        failure: BaseException | None = None
        try:
            sent = None
            while True:
                token = None if opened is None else attach(opened.context)
                try:
                    item = await stream.asend(sent)
                except StopAsyncIteration:
                    yielded.end(None)
                    return
                finally:
                    if token is not None:
                        detach(token)
                yielded.add(item)
                sent = yield item
        except BaseException as error:
            failure = error
            await stream.aclose()
            raise
        finally:
            if opened is not None:
                _finish_stream(opened, kind, yielded, failure)

    return generated


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
    kind: str, name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Opened | None:
    opened = open_span(kind, name)
    if opened is not None:
        describe(opened, lambda content: _record_call(content, kind, function, args, kwargs))
    return opened


def _record_call(
    content: Content,
    kind: str,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    if not content.visible:
        return
    bound = bind(parameter_names(function), args, kwargs)
    if bound.positional and kind == TOOL:
        content.json(ours.TOOL_POSITIONAL, list(bound.positional))
    if kind == TOOL:
        content.input_json(genai.TOOL_CALL_ARGUMENTS, bound.named)
        return
    named = list(bound.named.values())
    # An agent's task is what it is called with when that is one thing; else the names are needed.
    content.input(named[0] if kind == AGENT and len(named) == 1 else bound.named)


def _finish(opened: Opened, kind: str, result: Any) -> None:
    describe(opened, lambda content: _record_result(content, kind, result))
    close_span(opened, kind, None)


def _finish_stream(opened: Opened, kind: str, yielded: _Yielded, failure: BaseException | None) -> None:
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
