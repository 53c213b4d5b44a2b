"""Counts of our own errors that were kept from the host.

Every hook does its own work behind `shielded`; each error is counted here and
recorded as an event on the current span. This module must never raise, and never log above debug: the console
is the agent's.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from opentelemetry import trace

from spanproof.instrumentors.content.texts import to_text
from spanproof.semconv import genai
from spanproof.semconv import spanproof as ours

_P = ParamSpec("_P")
_T = TypeVar("_T")

_logger = logging.getLogger(__name__)


def build_lock() -> threading.RLock:
    """Return a reentrant lock that a forked child finds free; the thread that holds it may not be there."""
    lock: Any = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lock._at_fork_reinit)  # noqa: SLF001 - as `logging` does
    return lock  # type: ignore[no-any-return]


_lock = build_lock()
_counts: dict[str, int] = {}
_last: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What went wrong inside the instrumentation.

    Attributes:
        errors: place to number of swallowed errors; empty when all is well.
        last: place to the last error's type and message there.
    """

    errors: Mapping[str, int]
    last: Mapping[str, str]

    @property
    def total(self) -> int:
        """Return how many errors were swallowed in all."""
        return sum(self.errors.values())


def diagnostics() -> Diagnostics:
    """Return the errors swallowed in this process so far."""
    with _lock:
        return Diagnostics(dict(_counts), dict(_last))


def remove_diagnostics() -> None:
    """Reset all counts."""
    with _lock:
        _counts.clear()
        _last.clear()


def record_swallowed(source: str, error: BaseException) -> None:
    """Count an error that is kept from the host, and mark the current span with it."""
    described = f"{type(error).__name__}: {to_text(error)}"
    with _lock:
        _counts[source] = _counts.get(source, 0) + 1
        _last[source] = described
    try:
        _logger.debug("swallowed at %s: %s", source, described)
        span = trace.get_current_span()
        if span.is_recording():
            attributes = {ours.INSTRUMENTOR_ERROR_PLACE: source, genai.ERROR_TYPE: type(error).__name__}
            span.add_event(ours.INSTRUMENTOR_ERROR_EVENT, attributes)
    except Exception:  # noqa: BLE001, S110 - it is counted; a foreign log handler or span may raise
        pass


class shielded:  # noqa: N801 - a decorator, like `suppress`
    """Keep our own errors from the host, and count them: of a `with` block, or of a function.

    A decorated function returns None where it would raise.
    """

    def __init__(self, source: str) -> None:
        self._place = source

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, stack: object) -> bool:
        if not isinstance(error, Exception):
            return False
        record_swallowed(self._place, error)
        return True

    def __call__(self, function: Callable[_P, _T]) -> Callable[_P, _T | None]:
        """Decorate a function of ours."""

        @wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _T | None:
            try:
                return function(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - the host must not see it
                record_swallowed(self._place, error)
                return None

        return call
