"""The backends by name. Each is imported when it is opened, so that none costs those who do not use it."""

from __future__ import annotations

from spanproof.sandbox.backend import Availability, Sandbox
from spanproof.sandbox.errors import SandboxUnavailable

_NAMES = ("jail",)


def backend_names() -> tuple[str, ...]:
    """Backends that configuration may name."""
    return _NAMES


def open_sandbox(backend: str = "jail", *, workers: int = 1) -> Sandbox:
    """A sandbox that runs up to `workers` programs at once. Starts nothing until the first program.

    Raises:
        SandboxUnavailable: there is no backend of this name.
    """
    _check(backend)
    from spanproof.sandbox.jail.backend import JailSandbox

    return JailSandbox(workers=workers)


def availability(backend: str) -> Availability:
    """Whether a backend can run here, feature by feature.

    Raises:
        SandboxUnavailable: there is no backend of this name.
    """
    _check(backend)
    from spanproof.sandbox.jail import probe

    return probe.availability()


def _check(backend: str) -> None:
    if backend not in _NAMES:
        known = ", ".join(_NAMES)
        raise SandboxUnavailable(f"there is no sandbox backend {backend!r}; known: {known}")
