"""A generator of the host's, driven with a context that is current only while it works.

Attaching once for a whole generator would leak the context to its consumer, so it is attached around each
`next()`, `send()`, `throw()` and `close()`. The host sees the original's values, exceptions and returned
value.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any

from opentelemetry.context import Context

from spanproof.instrumentors.frameworks.delegate import Delegate
from spanproof.instrumentors.frameworks.diagnostics import swallowed
from spanproof.instrumentors.spans.contexts import attach, detach


def drive(
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
                advance = partial(next, stream) if sent is None else partial(stream.send, sent)
    except BaseException as error:
        # What a stream raises on being closed is no failure of the work that was abandoned.
        failure = None if abandoned else error
        raise
    finally:
        _call(on_end, failure)


class DrivenIterator(Delegate):
    """An iterator that is no generator, advanced by the generator that drives it."""

    _spanproof_driven: Iterator[Any]

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._spanproof_driven)


def _call(callback: Callable[[Any], object], value: Any) -> None:
    try:
        callback(value)
    except Exception as error:  # noqa: BLE001 - ours, so the host must not see it
        swallowed("streams", error)
