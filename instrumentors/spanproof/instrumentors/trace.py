"""Spans for agents of no framework: decorators and blocks, for any Python code.

    from spanproof.instrumentors import trace

    @trace.tool
    def lookup(order_id): ...

    @trace.agent(name="clerk")
    async def answer(task): ...

    with trace.step("step 1"):
        trace.record_execution(code, "python", observation=printed)

A decorated function may be sync, async, a generator or an async generator; it behaves as before, and what it
is given and returns is recorded. Outside of a sampled trace nothing is looked at.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from functools import partial, wraps
from types import TracebackType
from typing import Any, Final, Self, TypeVar, overload

from opentelemetry import trace as otel

from spanproof.instrumentors.content.capture import Content, ContentPolicy
from spanproof.instrumentors.content.code_tools import Parameters, read_parameters
from spanproof.instrumentors.content.texts import to_text
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.spans.contexts import attach, current, detach, iter_within
from spanproof.instrumentors.spans.span_start import AGENT, CHAIN, TOOL, build_start
from spanproof.instrumentors.spans.tracing import OpenSpan, Tracing, was_abandoned
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

__all__ = ["Block", "agent", "configure", "record_execution", "step", "tool"]

_F = TypeVar("_F", bound=Callable[..., Any])

_NAMES: Final = {AGENT: genai.AGENT_NAME, TOOL: genai.TOOL_NAME}
# Items of a generator up to which they are its output; those of a longer one are not kept.
_MAX_ITEMS: Final = 1_000

_tracing: Tracing | None = None


def configure(provider: otel.TracerProvider | None = None, content: ContentPolicy | None = None) -> None:
    """Send these spans to a provider (the global one when None); `register()` does it."""
    global _tracing
    _tracing = Tracing("trace", provider, content)


def get_current_tracing() -> Tracing:
    """Return the tracing that these spans are made by."""
    if _tracing is None:
        configure()
    assert _tracing is not None
    return _tracing


class _Work(OpenSpan):
    """A span around the host's work, current from `__enter__` to `__exit__`."""

    kind = ""
    _returned = False

    def describe(self, fill: Callable[[Content], None]) -> None:
        """Put content onto the span."""
        if self.recording:
            with shielded("trace.describe"):
                fill(self)
                self.write()

    def returned(self, result: Any) -> Any:
        """Record a function's result, and return it."""
        self._returned = True
        self.describe(lambda content: _record_result(content, self.kind, result))
        return result

    def __enter__(self) -> Self:
        self._token = attach(self.context)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        if self._token is not None:
            detach(self._token)
        self._token = None
        self.end(error)

    def end(self, error: BaseException | None) -> None:
        """End the span, failed where there is an error of the work's own.

        None is that the caller abandoned it, or what is raised after it has returned.
        """
        if error is not None and not self._returned and not was_abandoned(error):
            with shielded("trace.fail"):
                self.fail(error)
                if self.kind == AGENT:
                    self.fact(ours.RUN_ENDING, "failed")
        self.close()


def _start(kind: str, name: str) -> _Work:
    name = to_text(name)
    facts = {_NAMES[kind]: name} if kind in _NAMES else {}
    work = get_current_tracing().open(_Work, build_start(name, kind, facts))
    work.kind = kind
    return work


class Block:
    """A span around a block of code, or around each call of a function.

    It may be entered again before it is left, also by another thread: each entering has a span of its own.
    """

    def __init__(self, kind: str, name: str | None, entered: _Work | None = None) -> None:
        self._kind = kind
        self._name = name
        self._last = entered
        self._not_left: list[_Work] = []

    def __call__(self, function: _F) -> _F:
        """Decorate a function.

        Raises:
            TypeError: it is a class or a property, which would no longer be one.
        """
        name = self._name or str(getattr(function, "__name__", self._kind.lower()))
        wrapped: Any = _decorate(self._kind, name, function)
        return wrapped  # type: ignore[no-any-return]

    def __enter__(self) -> Self:
        self._last = _start(self._kind, self._name or self._kind.lower()).__enter__()
        self._not_left.append(self._last)
        return type(self)(self._kind, self._name, self._last)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        left = self._pop_entered()
        if left is not None:
            left.__exit__(kind, error, stack)

    @property
    def trace_id(self) -> str | None:
        """Return the id of the block's trace, for `feedback()`; None where nothing is traced."""
        if self._last is None:
            return None
        context = self._last.span.get_span_context()
        if context.trace_flags.sampled:
            return otel.format_trace_id(context.trace_id)
        return None

    def input(self, value: object) -> None:
        """Record what the block works on."""
        if self._last is not None:
            self._last.describe(lambda content: content.input(value))

    def output(self, value: object) -> None:
        """Record what the block came to."""
        if self._last is not None:
            self._last.describe(lambda content: content.output(value))

    def _pop_entered(self) -> _Work | None:
        """Return the entering that is left: the one whose context is current, else the last."""
        if not self._not_left:  # what `__enter__` gave is left by hand
            return self._last
        context = current()
        for item in reversed(self._not_left):
            if item.context is context:
                self._not_left.remove(item)
                return item
        return self._not_left.pop()


@overload
def agent(target: _F, /) -> _F: ...
@overload
def agent(target: str | None = None, /, *, name: str | None = None) -> Block: ...
def agent(target: Any = None, /, *, name: str | None = None) -> Any:
    """Return a decorator, or a block, for an agent's run."""
    return _make_block(AGENT, target, name)


@overload
def step(target: _F, /) -> _F: ...
@overload
def step(target: str | None = None, /, *, name: str | None = None) -> Block: ...
def step(target: Any = None, /, *, name: str | None = None) -> Any:
    """Return a decorator, or a block, for one step of a run."""
    return _make_block(CHAIN, target, name)


@overload
def tool(target: _F, /) -> _F: ...
@overload
def tool(target: str | None = None, /, *, name: str | None = None) -> Block: ...
def tool(target: Any = None, /, *, name: str | None = None) -> Any:
    """Return a decorator, or a block, for a tool call."""
    return _make_block(TOOL, target, name)


@shielded("trace.record_execution")
def record_execution(
    code: str,
    language: str | None = None,
    *,
    observation: str | None = None,
    logs: str | None = None,
    output: object = None,
    error: BaseException | str | None = None,
    is_final: bool = False,
) -> None:
    """Record on the current span that code ran within it.

    Args:
        code: as it ran.
        language: `python`, `bash`, `sql`, …
        observation: what the agent was shown.
        logs: what the code printed.
        output: the value it ended with.
        error: the exception it ended in, or what was said of it; the span is marked failed.
        is_final: whether it ended the run.
    """
    span = otel.get_current_span()
    if not span.is_recording():
        return
    content = OpenSpan(get_current_tracing().policy, span, current(), recording=True)
    content.code(to_text(code), language)
    if not content.visible:  # the span may be the application's own, of another scope
        content.attributes[ours.CONTENT_HIDDEN] = True
    if is_final:
        content.attributes[ours.EXECUTION_IS_FINAL] = True
    if observation is not None:
        content.text(ours.EXECUTION_OBSERVATION, to_text(observation))
    if logs is not None:
        content.text(ours.EXECUTION_LOGS, to_text(logs))
    if output is not None or is_final:
        content.document(ours.EXECUTION_OUTPUT, ours.EXECUTION_OUTPUT_MIME_TYPE, output)
    content.write()
    if isinstance(error, BaseException):
        content.fail(error)
    elif error is not None:
        content.fail_untyped(to_text(error))


def _make_block(kind: str, target: Any, name: str | None) -> Any:
    if callable(target) or hasattr(type(target), "__get__"):
        return Block(kind, name)(target)
    return Block(kind, name or target)


def _decorate(kind: str, name: str, function: Any) -> Any:
    """Return the function or method with each call of it within a span."""
    if isinstance(function, classmethod | staticmethod):
        return type(function)(_decorate(kind, name, function.__func__))
    if isinstance(function, type) or not callable(function):
        if isinstance(function, type):
            remedy = "methods of the class"
        else:
            remedy = "function itself, below its wrapper"
        raise TypeError(f"{function!r} cannot be traced; decorate the {remedy}")
    begin = partial(_begin, kind, name, read_parameters(function))
    shape = _find_shape(function)
    if inspect.isasyncgenfunction(shape):
        return _wrap_async_generator(begin, function)
    if inspect.isgeneratorfunction(shape):
        return _wrap_generator(begin, function)
    if inspect.iscoroutinefunction(shape):
        return _wrap_coroutine(begin, function)
    return _wrap_function(begin, function)


def _find_shape(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that decides the shape: the `__call__` of an object that is not one itself."""
    while isinstance(function, partial):
        function = function.func
    if inspect.isroutine(function):
        return function
    return type(function).__call__


def _begin(
    kind: str, name: str, parameters: Parameters, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> _Work:
    """Start the span of a call of a decorated function, and record what it is given."""
    work = _start(kind, name)
    work.describe(lambda content: _record_call(content, kind, parameters, args, kwargs))
    return work


def _wrap_function(begin: Callable[..., _Work], function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with begin(args, kwargs) as call:
            return call.returned(function(*args, **kwargs))

    return called


def _wrap_coroutine(begin: Callable[..., _Work], function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        with begin(args, kwargs) as call:
            return call.returned(await function(*args, **kwargs))

    return awaited


def _wrap_generator(begin: Callable[..., _Work], function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def generated(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        call, items = begin(args, kwargs), _Items()
        try:
            stream = function(*args, **kwargs)
        except BaseException as error:
            call.end(error)
            raise
        ended: list[BaseException | None] = []
        try:
            returned = yield from iter_within(stream, call.context, items.add, ended.append)
            call.returned(items.kept if returned is None else returned)
            return returned
        finally:
            call.end(ended[0] if ended else None)

    return generated


def _wrap_async_generator(begin: Callable[..., _Work], function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    async def generated(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        call, items = begin(args, kwargs), _Items()
        failure: BaseException | None = None
        try:
            stream = function(*args, **kwargs)
            advance: Callable[[], Awaitable[Any]] = stream.__anext__
            while True:
                try:
                    item = await _await_within(call, advance)
                except StopAsyncIteration:
                    call.returned(items.kept)
                    return
                items.add(item)
                try:
                    sent = yield item
                except GeneratorExit:
                    await _await_within(call, stream.aclose)
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


async def _await_within(opened: OpenSpan, act: Callable[[], Awaitable[Any]]) -> Any:
    token = attach(opened.context)
    try:
        return await act()
    finally:
        detach(token)


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
    bound = parameters.build_bound(args, kwargs)
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
