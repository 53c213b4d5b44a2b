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
    """The machine's mounts, but for those of container engines, which other tests start meanwhile."""

    def now() -> frozenset[str]:
        found = set()
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            before, _, after = line.partition(" - ")
            root, point = before.split()[3:5]
            own_place_again = root == point != "/"  # a daemon makes its data directory a mount of its own
            if after.split()[0] not in ("overlay", "nsfs") and not own_place_again:
                found.add(line)
        return frozenset(found)

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
