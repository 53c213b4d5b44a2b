"""What every test may use."""

from __future__ import annotations

import gc
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, and nothing of the code: speed is tests/bench's.
_UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# `make test` draws the same examples each time, so that a change is judged by what it changed. `make explore`
# draws new ones, and keeps those that fail.
settings.register_profile("same", _UNTIMED, derandomize=True, database=None)
settings.register_profile("new", _UNTIMED, derandomize=False, print_blob=True)
settings.load_profile(os.environ.get("SPANPROOF_EXAMPLES", "same"))

_BACKENDS = ("backend", "sandbox", "taped")
"""Parameters that name a sandbox backend."""
_ON_MACHINES = ("e2b", "daytona", "kubernetes", "modal")
_WALLS = ("batch", "found", "scores", "wall")
"""Parameters that name who starts the jail: `root` or `user`; its reduced tier, in an emulated container."""
_CONTAINERS = {"reduced", "reduced-root", "reduced-user"}
_PEERS = {"alertmanager", "broker", "browser", "helm", "mlflow", "node_modules", "phoenix"}
"""Fixtures that start another product, or install it; a test that does so without one has the mark itself."""
_PACKAGES = {"registry", "wheels"}
"""Fixtures of packages that are installed."""

_DESCRIPTORS = 20_000
"""Files that a worker may open: tests make what a process has once for each of 100 examples."""

pytest_plugins = ["component_marks", "docker_daemon", "run_once", "started_programs"]

# A test that takes this long hangs: pytest-timeout fails it and dumps the stacks of all threads. One that no
# signal reaches (in native code) is ended with its process, by faulthandler_timeout in pyproject.toml.
os.environ.setdefault("PYTEST_TIMEOUT", "600")


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C interrupt what tests start, also in a run in the background; raise the limit of descriptors.

    A shell without job control starts `make test &` with SIGINT ignored, and every child inherits that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < _DESCRIPTORS:
        wanted = min(_DESCRIPTORS, hard) if hard >= 0 else _DESCRIPTORS
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the component that they start."""
    for item in items:
        given = getattr(item, "callspec", None)
        named = given.params if given else {}
        backends = {named[name] for name in _BACKENDS if name in named}
        walls = {str(named[name]) for name in _WALLS if name in named}
        fixtures = set(getattr(item, "fixturenames", ()))
        if "gvisor" in backends:
            item.add_marker("gvisor")
        if "docker_daemon" in fixtures or backends & {"docker", "gvisor"}:
            item.add_marker("docker")
        if walls & _CONTAINERS or "served" in fixtures or backends.intersection(_ON_MACHINES):
            item.add_marker("machine")
        if "user" in walls and os.geteuid() == 0:
            item.add_marker("other_user")
        if fixtures & _PEERS:
            item.add_marker("peers")
        if fixtures & _PACKAGES:
            item.add_marker("install")
        if item.path.parent.name == "e2e":
            item.add_marker("e2e")


def pytest_collection() -> None:
    """Have no garbage collection while tests are collected: thousands, which stay to the end."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Have no garbage collection look at them again, nor one for each 700 objects that a test makes."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


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

        began = time.monotonic()
        before = signal.signal(signal.SIGALRM, stop)
        limit, _interval = signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            # The limit of the test as a whole (pytest-timeout) uses the same timer: give it back.
            left = max(limit - (time.monotonic() - began), 0.001) if limit else 0.0
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            signal.setitimer(signal.ITIMER_REAL, left)

    return within
