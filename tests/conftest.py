"""What every test may use."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, and nothing of the code: speed is tests/bench's.
settings.register_profile("spanproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("spanproof")

pytest_plugins = ["docker_daemon"]


@pytest.fixture(scope="session")
def mounts() -> Callable[[], frozenset[str]]:
    """The machine's mounts."""

    def now() -> frozenset[str]:
        return frozenset(Path("/proc/self/mountinfo").read_text().splitlines())

    return now


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
