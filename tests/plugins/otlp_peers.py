"""Programs of others that speak OTLP, built or installed once into `.cache/peers`."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PEERS = _ROOT / ".cache" / "peers"
_SOURCES = _ROOT / "tests" / "peers"
_TELEMETRYGEN = "github.com/open-telemetry/opentelemetry-collector-contrib/cmd/telemetrygen@v0.161.0"
_BUILD_S = 900


def otel_collector() -> Path:
    """Return the OpenTelemetry Collector, with OTLP in and out."""

    def build(target: Path) -> None:
        sources = _PEERS / "otelcol-sources"
        shutil.rmtree(sources, ignore_errors=True)
        shutil.copytree(_SOURCES / "otelcol", sources)  # Go writes the sums of modules beside them
        _run([_find("go"), "build", "-mod=mod", "-ldflags=-s", "-o", str(target), "."], sources)
        shutil.rmtree(sources)

    return _once("otelcol", build)


def telemetrygen() -> Path:
    """Return the generator of telemetry of the OpenTelemetry Collector's contributors."""
    return _once(
        "telemetrygen",
        lambda target: _run([_find("go"), "install", _TELEMETRYGEN], target.parent, GOBIN=str(target.parent)),
    )


def javascript_exporters() -> Path:
    """Return a folder with `send.js` and the exporters that it uses."""

    def install(target: Path) -> None:
        fresh = target.with_name("javascript-new")
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(_SOURCES / "javascript", fresh)
        _run([_find("npm"), "install", "--no-audit", "--no-fund", "--ignore-scripts"], fresh)
        fresh.rename(target)

    return _once("javascript", install)


def _once(name: str, make: Callable[[Path], None]) -> Path:
    """Return what has this name in the cache, made where it is not there; several workers may want it."""
    _PEERS.mkdir(parents=True, exist_ok=True)
    target = _PEERS / name
    with (_PEERS / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            make(target)
    return target


def _find(program: str) -> str:
    return shutil.which(program) or pytest.fail(f"these tests need {program}")


def _run(command: list[str], folder: Path, **more: str) -> None:
    environment = {**os.environ, **more}
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_BUILD_S
    )
    assert ran.returncode == 0, f"{' '.join(command)}: {ran.stderr[-2000:]}"
