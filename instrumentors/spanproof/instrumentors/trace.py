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

from collections.abc import Callable
from contextvars import Token
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from opentelemetry import trace as otel
from opentelemetry.context import Context

from spanproof.instrumentors.content.texts import text_of
from spanproof.instrumentors.decorating import (
    close_span,
    configure,
    current_tracing,
    decorated,
    describe,
    open_span,
)
from spanproof.instrumentors.frameworks.diagnostics import shielded
from spanproof.instrumentors.spans.contexts import attach, current, detach_anywhere
from spanproof.instrumentors.spans.fast_span import set_attributes
from spanproof.instrumentors.spans.span_start import AGENT, CHAIN, TOOL
from spanproof.instrumentors.spans.tracing import OpenSpan
from spanproof.semconv import spanproof as ours

__all__ = ["Block", "agent", "configure", "record_execution", "step", "tool"]

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(slots=True, eq=False)
class _Entered:
    """One entering of a block; without a span where none could be begun."""

    opened: OpenSpan | None
    token: Token[Context] | None


class Block:
    """A span around a block of code, or around each call of a function.

    It may be entered again before it is left, also by another thread: each entering has a span of its own.
    """

    def __init__(self, kind: str, name: str | None, entered: _Entered | None = None) -> None:
        self._kind = kind
        self._name = name
        self._last = entered
        self._not_left: list[_Entered] = []

    def __call__(self, function: _F) -> _F:
        """Decorate a function.

        Raises:
            TypeError: it is a class or a property, which would no longer be one.
        """
        name = self._name or str(getattr(function, "__name__", self._kind.lower()))
        wrapped: Any = decorated(self._kind, name, function)
        return wrapped  # type: ignore[no-any-return]

    def __enter__(self) -> Self:
        opened = open_span(self._kind, self._name or self._kind.lower())
        entered = self._last = _Entered(opened, None if opened is None else attach(opened.context))
        self._not_left.append(entered)
        return type(self)(self._kind, self._name, entered)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        entered = self._left_here()
        if entered is None:
            return
        if entered.token is not None:
            detach_anywhere(entered.token)
        if entered.opened is not None:
            close_span(entered.opened, self._kind, error)

    @property
    def trace_id(self) -> str | None:
        """Return the id of the block's trace, for `feedback()`; None where nothing is traced."""
        if self._last is None or self._last.opened is None:
            return None
        context = self._last.opened.span.get_span_context()
        return otel.format_trace_id(context.trace_id) if context.trace_flags.sampled else None

    def input(self, value: object) -> None:
        """Record what the block works on."""
        if self._last is not None and self._last.opened is not None:
            describe(self._last.opened, lambda content: content.input(value))

    def output(self, value: object) -> None:
        """Record what the block came to."""
        if self._last is not None and self._last.opened is not None:
            describe(self._last.opened, lambda content: content.output(value))

    def _left_here(self) -> _Entered | None:
        """Return the entering that is left: the one whose context is current, else the last."""
        if not self._not_left:  # what `__enter__` gave is left by hand
            return self._last
        context = current()
        for each in reversed(self._not_left):
            if each.opened is not None and each.opened.context is context:
                self._not_left.remove(each)
                return each
        return self._not_left.pop()


@overload
def agent(target: _F, /) -> _F: ...
@overload
def agent(target: str | None = None, /, *, name: str | None = None) -> Block: ...
def agent(target: Any = None, /, *, name: str | None = None) -> Any:
    """Return a decorator, or a block, for an agent's run."""
    return _made(AGENT, target, name)


@overload
def step(target: _F, /) -> _F: ...
@overload
def step(target: str | None = None, /, *, name: str | None = None) -> Block: ...
def step(target: Any = None, /, *, name: str | None = None) -> Any:
    """Return a decorator, or a block, for one step of a run."""
    return _made(CHAIN, target, name)


@overload
def tool(target: _F, /) -> _F: ...
@overload
def tool(target: str | None = None, /, *, name: str | None = None) -> Block: ...
def tool(target: Any = None, /, *, name: str | None = None) -> Any:
    """Return a decorator, or a block, for a tool call."""
    return _made(TOOL, target, name)


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
    content = current_tracing().content()
    content.code(text_of(code), language)
    if not content.visible:  # the span may be the application's own, of another scope
        content.attributes[ours.CONTENT_HIDDEN] = True
    if is_final:
        content.attributes[ours.EXECUTION_IS_FINAL] = True
    if observation is not None:
        content.text(ours.EXECUTION_OBSERVATION, text_of(observation))
    if logs is not None:
        content.text(ours.EXECUTION_LOGS, text_of(logs))
    if output is not None or is_final:
        content.document(ours.EXECUTION_OUTPUT, ours.EXECUTION_OUTPUT_MIME_TYPE, output)
    set_attributes(span, content.finished())
    if isinstance(error, BaseException):
        current_tracing().fail(span, error)
    elif error is not None:
        current_tracing().fail_untyped(span, text_of(error))


def _made(kind: str, target: Any, name: str | None) -> Any:
    if callable(target) or hasattr(type(target), "__get__"):
        return Block(kind, name)(target)
    return Block(kind, name or target)
