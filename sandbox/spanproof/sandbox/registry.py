"""The backends by name. Each is imported when it is opened, so that none costs those who do not use it.

Beside our own, an installed distribution may bring one: an entry point of the group `spanproof.sandboxes`
that names a subclass of `Sandbox`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points

from spanproof.sandbox.backend import Availability, Sandbox
from spanproof.sandbox.backends.elsewhere import ElsewhereDocker, ElsewhereSandbox, needs_other_system
from spanproof.sandbox.errors import BadSetting, SandboxUnavailable

GROUP = "spanproof.sandboxes"
_STAND_INS: Mapping[str, type[Sandbox]] = {"jail": ElsewhereSandbox, "docker": ElsewhereDocker}
_OURS = {
    "jail": "spanproof.sandbox.backends.jail.backend:JailSandbox",
    "docker": "spanproof.sandbox.backends.docker.backend:DockerSandbox",
    "e2b": "spanproof.sandbox.backends.e2b:E2BSandbox",
    "kubernetes": "spanproof.sandbox.backends.kubernetes:KubernetesSandbox",
    "daytona": "spanproof.sandbox.backends.daytona:DaytonaSandbox",
    "modal": "spanproof.sandbox.backends.modal:ModalSandbox",
}


def list_backends() -> tuple[str, ...]:
    """Return the backends that configuration may name, ours first."""
    return tuple(_group_entry_points())


def open_sandbox(
    backend: str = "jail", *, workers: int = 1, settings: Mapping[str, str] | None = None
) -> Sandbox:
    """Open a sandbox that runs up to `workers` programs at once. Starts nothing until the first program.

    The sandbox is a context manager; leaving it ends all that it started. Its methods may be called from any
    thread.

    Args:
        backend: one of `list_backends()`; `jail` needs Linux and no service.
        workers: programs at once; a thread that calls `run` beyond that waits.
        settings: the backend's own, each a text, by the names in its `settings`: `{"tier": "reduced"}`.

    Returns:
        A `Sandbox`: `run` takes one `Program`, `session` keeps an interpreter over several.

    Raises:
        SandboxUnavailable: there is no backend of this name. Whether this machine can run one is known when
            the first program runs, and by `check_availability`.
        BadSetting: the backend does not know a setting, or cannot take its value.
    """
    kind = _load_backend(backend)
    options = dict(settings or {})
    for name in options.keys() - kind.settings.keys():
        near = difflib.get_close_matches(name, kind.settings, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        names = ", ".join(sorted(kind.settings)) or "none"
        raise BadSetting(f"sandbox backend {backend!r} has no setting {name!r}{hint} (it has: {names})")
    make: Callable[..., Sandbox] = kind
    return make(workers=workers, **options)


def check_availability(backend: str, settings: Mapping[str, str] | None = None) -> Availability:
    """Whether a backend can run here, feature by feature.

    Raises:
        SandboxUnavailable: there is no backend of this name.
        BadSetting: the backend does not know a setting, or cannot take its value.
    """
    with open_sandbox(backend, settings=settings) as sandbox:
        return sandbox.availability()


def _load_backend(name: str) -> type[Sandbox]:
    points = _group_entry_points()
    if name not in points:
        raise SandboxUnavailable(f"there is no sandbox backend {name!r}; known: {', '.join(points)}")
    if name in _STAND_INS and needs_other_system(name):
        return _STAND_INS[name]
    kind = points[name].load()
    if not (isinstance(kind, type) and issubclass(kind, Sandbox)):
        raise SandboxUnavailable(f"sandbox backend {name!r}: {points[name].value} is no subclass of Sandbox")
    return kind


def _group_entry_points() -> dict[str, EntryPoint]:
    theirs = {point.name: point for point in entry_points(group=GROUP)}
    ours = {name: EntryPoint(name, path, GROUP) for name, path in _OURS.items()}
    return ours | {name: point for name, point in sorted(theirs.items()) if name not in ours}
