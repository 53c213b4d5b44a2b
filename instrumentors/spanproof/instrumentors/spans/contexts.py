"""Work of the host with a context that is current while it works: a call, a coroutine, a generator.

For a generator the context is attached around each `next()`, `send()`, `throw()` and `close()`: attached once
for all of it, it would leak to its consumer. The host sees the original's values, exceptions and returned
value.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator
from contextvars import Token
from functools import partial
from typing import Any, TypeVar

from opentelemetry.context import Context, attach
from opentelemetry.context import detach as api_detach
from opentelemetry.context import get_current as current

from spanproof.instrumentors.frameworks.delegate import Delegate
from spanproof.instrumentors.frameworks.diagnostics import record_swallowed

__all__ = [
    "DrivenIterator",
    "attach",
    "current",
    "detach",
    "iter_within",
    "run_within",
    "run_within_async",
]

_T = TypeVar("_T")


def detach(token: Token[Context]) -> None:
    """Reset what an `attach` has set, or do nothing where that happened in another thread or task.

    A generator of the host may be closed in another task or by the garbage collector. Its context is not
    current there, and the API's `detach` would log a traceback on the agent's console.
    """
    variable: Any = getattr(token, "var", None)
    try:
        if variable is None:  # a context implementation named by `OTEL_PYTHON_CONTEXT`
            api_detach(token)
        else:
            variable.reset(token)
    except (ValueError, RuntimeError):
        pass


def run_within(
    work: Callable[[], _T], context: Context, on_end: Callable[[_T | None, BaseException | None], object]
) -> _T:
    """Return what `work` returns within `context`; `on_end` is called with its result, or what it raised."""
    token = attach(context)
    try:
        result = work()
    except BaseException as error:
        on_end(None, error)
        raise
    finally:
        detach(token)
    on_end(result, None)
    return result


async def run_within_async(
    work: Callable[[], Awaitable[_T]],
    context: Context,
    on_end: Callable[[_T | None, BaseException | None], object],
) -> _T:
    """Return what a coroutine returns within `context`; see `run_within`."""
    token = attach(context)
    try:
        result = await work()
    except BaseException as error:
        on_end(None, error)
        raise
    finally:
        detach(token)
    on_end(result, None)
    return result


def iter_within(
    stream: Any,
    context: Context,
    on_item: Callable[[Any], object] | None,
    on_end: Callable[[BaseException | None], object],
) -> Generator[Any, Any, Any]:
    """Yield what `stream` yields, each step of it within `context`.

    Args:
        stream: a generator, or an iterator (which takes no `send`).
        context: attached while the stream works.
        on_item: called with each value.
        on_end: called once, with the exception that ended the stream; None when it was exhausted or
        abandoned.
    """
    advance: Callable[[], Any] = partial(next, stream)
    failure: BaseException | None = None
    abandoned = False
    try:
        while True:
            token = attach(context)
            try:
                item = advance()
            except StopIteration as stop:
                return stop.value
            finally:
                detach(token)
            if on_item is not None:
                _call(on_item, item)
            try:
                sent = yield item
            except GeneratorExit:
                abandoned = True
                if isinstance(stream, Generator):
                    token = attach(context)
                    try:
                        stream.close()
                    finally:
                        detach(token)
                raise
            except BaseException as thrown:
                if not isinstance(stream, Generator):
                    raise
                advance = partial(stream.throw, thrown)
            else:
                if sent is None:
                    advance = partial(next, stream)
                else:
                    advance = partial(stream.send, sent)
    except BaseException as error:
        # What a stream raises on being closed is no failure of the work that was abandoned.
        failure = None if abandoned else error
        raise
    finally:
        _call(on_end, failure)


def _call(callback: Callable[[Any], object], value: Any) -> None:
    try:
        callback(value)
    except Exception as error:  # noqa: BLE001 - ours, so the host must not see it
        record_swallowed("streams", error)


class DrivenIterator(Delegate):
    """An iterator that is no generator, advanced by the generator that drives it."""

    _spanproof_driven: Iterator[Any]

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._spanproof_driven)
