"""Whether this backend can run: library, daemon, runtime, image, and a container that comes up."""

from __future__ import annotations

from spanproof.sandbox.backend import Availability, Feature
from spanproof.sandbox.backends.docker.container import Container
from spanproof.sandbox.backends.docker.daemon import Daemon, Settings, Shape
from spanproof.sandbox.errors import SandboxError
from spanproof.sandbox.model import Limits
from spanproof.sandbox.toolchains import TOOLCHAINS

_RUNC = "Use the runtime runc, on Linux 5.19 or newer."
_START = (
    "Install its library (pip install 'spanproof[docker]') and Docker or Podman, start the daemon, name its"
    " address where it is not Docker's own: --set host=unix:///run/podman/podman.sock."
)
_USE_ANOTHER = "Name an image with Python 3.11 or newer as python3, and a daemon with a current runtime."


def get_availability(settings: Settings) -> Availability:
    """Query the daemon, and start one container; takes about half a second."""
    return Availability("docker", tuple(_list_features(settings)))


def _list_features(settings: Settings) -> list[Feature]:
    try:
        daemon = Daemon(settings)
    except SandboxError as problem:
        return [_build_missing_feature("container daemon", str(problem), _START)]
    features: list[Feature] = []
    try:
        features.append(_build_present_feature("container daemon", daemon.version))
        for name, missing in (
            ("runtime", daemon.find_runtime_problem()),
            ("image", daemon.find_image_problem()),
        ):
            if name == "runtime":
                wanted = settings.runtime or "the daemon's own"
            else:
                wanted = settings.image
            features.append(
                _build_present_feature(name, wanted)
                if missing is None
                else _build_missing_feature(name, *missing)
            )
        if all(feature.present for feature in features):
            features += _list_container_features(daemon)
    except SandboxError as failure:
        features.append(_build_missing_feature("a container, started and armed", str(failure), _USE_ANOTHER))
    finally:
        daemon.close()
    return features


def _list_container_features(daemon: Daemon) -> list[Feature]:
    limits = Limits()
    container = Container(daemon, Shape(limits.memory_bytes, limits.processes, limits.disk_bytes))
    container.close()
    return [
        _build_present_feature("a container, started and armed", f"python {container.facts.get('python')}"),
        _build_optional_feature("attempts", container.watched, "reported by the kernel", _RUNC),
        _build_optional_feature(
            "memory events",
            container.facts.get("oom") is True,
            "of its group",
            "Let the daemon manage groups.",
        ),
        *(
            _build_optional_feature(
                name, name in container.runtimes.languages, "in the image", "Name an image with it."
            )
            for name in ("bash", "javascript", "typescript", *sorted(TOOLCHAINS))
        ),
    ]


def _build_present_feature(name: str, detail: str) -> Feature:
    return Feature(name=name, present=True, required=True, detail=detail)


def _build_missing_feature(name: str, detail: str, remedy: str) -> Feature:
    return Feature(name=name, present=False, required=True, detail=detail, remedy=remedy)


def _build_optional_feature(name: str, present: bool, detail: str, remedy: str) -> Feature:
    return Feature(
        name=name,
        present=present,
        required=False,
        detail=detail if present else "not here",
        remedy="" if present else remedy,
    )
