"""A generator of the host's, with a context current while it works and only then.

Attaching once for a whole generator would leak the context to whoever consumes it, and detach it in the wrong
place; so it is attached around each `next()`, `send()`, `throw()` and `close()`. What the host sees (values,
exceptions, the returned value) is the original's.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import wrapt
from opentelemetry.context import Context

from spanproof.instrumentors.frameworks.diagnostics import swallowed
from spanproof.instrumentors.spans.contexts import attach, detach

if TYPE_CHECKING:
    _Proxy = wrapt.ObjectProxy[Any]
else:
    _Proxy = wrapt.ObjectProxy  # takes no type arguments at run time before wrapt 2


def drive(
    stream: Iterator[Any],
    context: Context,
    on_item: Callable[[Any], object] | None,
    on_end: Callable[[BaseException | None], object],
) -> Generator[Any, Any, Any]:
    """Yield what `stream` yields, each step of it within `context`.

    Args:
        stream: a generator, or an iterator (which takes no `send`).
        context: attached while the stream works.
        on_item: sees each value.
        on_end: called once, with the exception that ended the stream, None when it was exhausted or given up.
    """
    advance: Callable[[], Any] | None = None
    failure: BaseException | None = None
    given_up = False
    try:
        while True:
            token = attach(context)
            try:
                item = next(stream) if advance is None else advance()
            except StopIteration as stop:
                return stop.value
            finally:
                detach(token)
            if on_item is not None:
                try:
                    on_item(item)
                except Exception as error:  # noqa: BLE001 - ours, so the host must not see it
                    swallowed("streams", error)
            try:
                sent = yield item
            except GeneratorExit:
                given_up = True
                if isinstance(stream, Generator):
                    _within(context, stream.close)
                raise
            except BaseException as thrown:
                if not isinstance(stream, Generator):
                    raise
                advance = partial(stream.throw, thrown)
            else:
                advance = None if sent is None else partial(_send, stream, sent)
    except BaseException as error:
        # What a stream raises on being closed is no failure of the work that was given up.
        failure = None if given_up else error
        raise
    finally:
        try:
            on_end(failure)
        except Exception as error:  # noqa: BLE001 - as above
            swallowed("streams", error)


class IteratorProxy(_Proxy):
    """An iterator that is no generator, itself in everything but who advances it."""

    def __init__(self, stream: Iterator[Any], driven: Iterator[Any]) -> None:
        super().__init__(stream)
        self._self_driven = driven

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._self_driven)


def _send(stream: Any, value: Any) -> Any:
    return stream.send(value)


def _within(context: Context, act: Callable[[], Any]) -> Any:
    token = attach(context)
    try:
        return act()
    finally:
        detach(token)
