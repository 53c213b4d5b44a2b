"""What every test may use."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

import pytest

pytest_plugins = ["docker_daemon"]


@pytest.fixture
def deadline() -> Callable[[float], AbstractContextManager[None]]:
    """A guard against hanging: what is not done after these seconds is stopped. Says nothing of speed."""

    @contextmanager
    def within(seconds: float) -> Iterator[None]:
        def stop(_signal: int, _frame: FrameType | None) -> None:
            raise TimeoutError(f"not done after {seconds:g} s: it hangs, or grows faster than its input")

        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    return within
