"""Programs of others that speak OTLP, built or installed once into `.cache/peers`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from go_programs import SOURCES, build_sources, install_module, make_once, run
from node_programs import run_npm

_ROTEL = "rotel==0.0.1a15"
_TELEMETRYGEN = "github.com/open-telemetry/opentelemetry-collector-contrib/cmd/telemetrygen@v0.161.0"


def otel_collector() -> Path:
    """Return the OpenTelemetry Collector, with the components that the tests and `deploy/otelcol` use."""
    return build_sources("otelcol")


def telemetrygen() -> Path:
    """Return the generator of telemetry of the OpenTelemetry Collector's contributors."""
    return install_module("telemetrygen", _TELEMETRYGEN)


def rotel() -> Path:
    """Return the agent of Rotel, which its package for Python holds."""

    def install(target: Path) -> None:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps"]
        run([*command, "--quiet", "--target", str(target), _ROTEL], target.parent)
        (target / "rotel" / "rotel-agent").chmod(0o755)

    return make_once(_ROTEL, install) / "rotel" / "rotel-agent"


def javascript_exporters() -> Path:
    """Return a folder with `send.js` and the exporters that it uses."""

    def install(target: Path) -> None:
        fresh = target.with_name("javascript-new")
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(SOURCES / "javascript", fresh)
        run_npm(fresh, "install", "--no-audit", "--no-fund", "--ignore-scripts")
        fresh.rename(target)

    return make_once("javascript", install)
