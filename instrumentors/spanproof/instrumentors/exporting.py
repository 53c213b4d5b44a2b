"""Exporters for `register()`: which ones the environment asks for, and failures of theirs made visible.

In comes an endpoint and a protocol, else the standard variables; out come span processors. An export that
fails is counted in `diagnostics()`, also the last one at shutdown, when no log is read any more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Final
from urllib.parse import urlsplit

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)

from spanproof.instrumentors.diagnostics import swallowed

HTTP: Final = "http/protobuf"
GRPC: Final = "grpc"


class ExportFailed(Exception):  # noqa: N818 - says what happened; it is counted, never raised
    """Spans could not be handed over."""


class Watched(SpanExporter):
    """An exporter whose failures are counted under `export`."""

    def __init__(self, wrapped: SpanExporter, where: str) -> None:
        self.wrapped = wrapped
        self._where = where

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Hand the spans over; a failure is told, an exception is one."""
        try:
            result = self.wrapped.export(spans)
        except Exception as error:  # noqa: BLE001 - with `batch=False` this is the agent's own thread
            swallowed("export", error)
            return SpanExportResult.FAILURE
        if result is not SpanExportResult.SUCCESS:
            swallowed("export", ExportFailed(f"{len(spans)} spans were not taken by {self._where}"))
        return result

    def shutdown(self) -> None:
        """End the exporter."""
        self.wrapped.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Hand over what the exporter itself holds."""
        return self.wrapped.force_flush(timeout_millis)


def protocol_of(given: str | None) -> str:
    """The protocol asked for.

    Raises:
        ValueError: it is not known.
    """
    variables = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    protocol = given or next((os.environ[name] for name in variables if os.environ.get(name)), HTTP)
    if protocol not in (HTTP, GRPC):
        raise ValueError(f"protocol={protocol!r} is not known; choose {HTTP!r} or {GRPC!r}")
    return protocol


def add_exporters(
    add: Callable[[SpanProcessor], None],
    present: set[tuple[str | None, str]],
    endpoint: str | None,
    protocol: str,
    *,
    batch: bool,
    headers: dict[str, str] | None,
) -> None:
    """Add a processor for each exporter asked for that is not `present` yet."""
    wished = os.environ.get("OTEL_TRACES_EXPORTER", "").split(",")
    names = [name.strip() for name in wished if name.strip()]
    if endpoint is not None or not names:
        names = ["otlp"]
    for name in names:
        key = (endpoint, protocol) if name == "otlp" else (name, "")
        if name == "none" or key in present:
            continue
        wrapped = _otlp(endpoint, protocol, headers) if name == "otlp" else _named(name)
        exporter = Watched(wrapped, endpoint or f"the {name} exporter")
        add(BatchSpanProcessor(exporter) if batch else SimpleSpanProcessor(exporter))
        present.add(key)


def _named(name: str) -> SpanExporter:
    """An exporter of another package's, by the name that `OTEL_TRACES_EXPORTER` gives it."""
    for found in entry_points(group="opentelemetry_traces_exporter", name=name):
        made: SpanExporter = found.load()()
        return made
    raise ValueError(f"OTEL_TRACES_EXPORTER={name!r}: no package is installed that brings this exporter")


def _otlp(endpoint: str | None, protocol: str, headers: dict[str, str] | None) -> SpanExporter:
    if protocol == GRPC:
        try:
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
        except ImportError as missing:
            raise ImportError(
                "protocol='grpc' needs the package opentelemetry-exporter-otlp-proto-grpc;"
                " install it or use protocol='http/protobuf'"
            ) from missing
        insecure = None if endpoint is None else urlsplit(endpoint).scheme == "http"
        return GrpcExporter(endpoint=endpoint, insecure=insecure, headers=headers)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

    return HttpExporter(endpoint=None if endpoint is None else _traces_url(endpoint), headers=headers)


def _traces_url(endpoint: str) -> str:
    """A base endpoint takes the signal's path, as OTEL_EXPORTER_OTLP_ENDPOINT does; a full one stays."""
    return endpoint if endpoint.endswith("/v1/traces") else endpoint.rstrip("/") + "/v1/traces"
