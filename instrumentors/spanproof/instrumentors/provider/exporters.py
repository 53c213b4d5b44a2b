"""Exporters for `register()`: which ones the environment names, and their failures made visible.

In comes an endpoint and a protocol, else the standard variables; out come span processors. A failed export is
counted under `export` in `diagnostics()`, also the last one at shutdown, when no log is read any more.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)

from spanproof.instrumentors.frameworks.diagnostics import record_swallowed
from spanproof.instrumentors.provider.environment import read_otlp_variable, write_variable_warning

HTTP: Final = "http/protobuf"
GRPC: Final = "grpc"
_OTLP_PROTOCOLS: Final = {"otlp": None, "otlp_proto_grpc": GRPC, "otlp_proto_http": HTTP}
_CERTIFICATES: Final = ("CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY")


class ExportFailed(Exception):  # noqa: N818 - counted, never raised
    """Spans could not be exported."""


class CountingExporter(SpanExporter):
    """An exporter whose failures are counted under `export`."""

    def __init__(self, wrapped: SpanExporter, target: str) -> None:
        self.wrapped = wrapped
        self._target = target

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export the spans; an exception is a failure, too."""
        try:
            result = self.wrapped.export(spans)
        except Exception as error:  # noqa: BLE001 - with `batch=False` this is the agent's own thread
            record_swallowed("export", error)
            return SpanExportResult.FAILURE
        if result is not SpanExportResult.SUCCESS:
            record_swallowed(
                "export", ExportFailed(f"{len(spans)} spans were not accepted by {self._target}")
            )
        return result

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self.wrapped.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Export what the exporter itself holds."""
        return self.wrapped.force_flush(timeout_millis)


def get_protocol(protocol: str | None) -> str:
    """Return the protocol to export by.

    Raises:
        ValueError: the one given is not known.
        ImportError: `grpc` is given and its exporter is not installed.
    """
    if protocol is None:
        return read_otlp_variable("PROTOCOL")[1] or HTTP
    if protocol not in (HTTP, GRPC):
        raise ValueError(f"protocol={protocol!r} is not known; choose {HTTP!r} or {GRPC!r}")
    if protocol == GRPC:
        _load_grpc_exporter()
    return protocol


def add_exporters(
    provider: TracerProvider,
    present: set[tuple[str | None, str]],
    endpoint: str | None,
    protocol: str,
    *,
    batch: bool,
    headers: dict[str, str] | None,
) -> None:
    """Add a processor for each exporter that is not `present` yet; report those that cannot be made.

    An `endpoint` that any exporter of this provider sends to already gets nothing twice.
    """
    named = _list_named_exporters() if endpoint is None else []
    for name in named or ["otlp"]:
        is_otlp = name in _OTLP_PROTOCOLS
        used = _OTLP_PROTOCOLS.get(name) or protocol
        key = (endpoint, used) if is_otlp else (name, "")
        if name == "none" or key in present:
            continue
        if endpoint is not None and _get_address(endpoint, used) in _list_addresses(provider):
            continue
        try:
            if is_otlp:
                exporter = _build_otlp(endpoint, used, headers)
            else:
                exporter = _load_exporter(name)
        except Exception as error:  # noqa: BLE001 - the application runs on, and so do the other exporters
            problem = f"fails with {type(error).__name__}: {error}; no spans are exported through it"
            write_variable_warning("OTEL_TRACES_EXPORTER", name, problem)
            continue
        counting = CountingExporter(exporter, endpoint or f"the {name} exporter")
        provider.add_span_processor(BatchSpanProcessor(counting) if batch else SimpleSpanProcessor(counting))
        if not present:
            _add_worker_flush(provider)
        present.add(key)


def _list_named_exporters() -> list[str]:
    """Return the exporters that the environment names."""
    names = os.environ.get("OTEL_TRACES_EXPORTER", "").split(",")
    return [name.strip() for name in names if name.strip()]


def _load_exporter(name: str) -> SpanExporter:
    """Return an exporter of another package, by its entry point."""
    (found, *_) = entry_points(group="opentelemetry_traces_exporter", name=name) or (None,)
    if found is None:
        raise LookupError("no installed package provides it")
    made: SpanExporter = found.load()()
    return made


def _build_otlp(endpoint: str | None, protocol: str, headers: dict[str, str] | None) -> SpanExporter:
    for certificate in _CERTIFICATES:  # without them the exporters would send with less protection
        path = read_otlp_variable(certificate)[1]
        if path:
            Path(path).read_bytes()
    if protocol == GRPC:
        return _build_grpc(endpoint, headers)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    url = None if endpoint is None else _build_traces_url(endpoint)
    return OTLPSpanExporter(endpoint=url, headers=headers, session=_build_session())


def _build_session() -> Any:
    """Return a session that prefers the authority named for OTLP to REQUESTS_CA_BUNDLE."""
    provider = "OTEL_PYTHON_EXPORTER_OTLP_HTTP_{}CREDENTIAL_PROVIDER"
    if not read_otlp_variable("CERTIFICATE")[1] or any(
        os.environ.get(provider.format(signal)) for signal in ("", "TRACES_")
    ):
        return None
    import requests  # a dependency of the exporter

    class Session(requests.Session):
        def merge_environment_settings(self, *arguments: Any, **named: Any) -> Any:
            return {**super().merge_environment_settings(*arguments, **named), "verify": self.verify}

    return Session()


def _build_grpc(endpoint: str | None, headers: dict[str, str] | None) -> SpanExporter:
    exporter = _load_grpc_exporter()
    import grpc  # a dependency of the exporter

    gzip = read_otlp_variable("COMPRESSION")[1] == "gzip"
    if headers:
        headers = {name.lower(): value for name, value in headers.items()}  # gRPC refuses others
    made: SpanExporter = exporter(
        endpoint=endpoint,
        insecure=None if endpoint is None else urlsplit(endpoint).scheme == "http",
        headers=headers,
        # The exporter raises at `none`.
        compression=grpc.Compression.Gzip if gzip else grpc.Compression.NoCompression,
    )
    return made


def _load_grpc_exporter() -> Any:
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    except ImportError as error:
        raise ImportError(
            "gRPC needs the package opentelemetry-exporter-otlp-proto-grpc;"
            " install it, or choose http/protobuf"
        ) from error
    return OTLPSpanExporter


def list_processors(provider: TracerProvider) -> tuple[SpanProcessor, ...]:
    """Return a provider's span processors; the SDK has no public way."""
    processors = getattr(getattr(provider, "_active_span_processor", None), "_span_processors", ())
    return tuple(processors)


def _list_addresses(provider: TracerProvider) -> set[str]:
    """Return where the OTLP exporters of a provider send to, in their own notation."""
    exporters = [getattr(processor, "span_exporter", None) for processor in list_processors(provider)]
    return {getattr(getattr(exporter, "wrapped", exporter), "_endpoint", "") for exporter in exporters}


def _get_address(endpoint: str, protocol: str) -> str:
    if protocol == GRPC:
        return urlsplit(endpoint).netloc
    return _build_traces_url(endpoint)


def _build_traces_url(endpoint: str) -> str:
    """Append the path for traces, as the exporter does to `OTEL_EXPORTER_OTLP_ENDPOINT`."""
    if endpoint.endswith("/v1/traces"):
        return endpoint
    return endpoint.rstrip("/") + "/v1/traces"


def _add_worker_flush(provider: TracerProvider) -> None:
    """Flush before a worker of `multiprocessing` ends, which runs no `atexit` handlers."""
    from multiprocessing import parent_process, util  # which takes 20 ms

    # A new worker clears its finalizers, and then calls what is registered here.
    util.register_after_fork(provider, _add_finalizer)
    if parent_process() is not None:
        _add_finalizer(provider)  # this is a worker already


def _add_finalizer(provider: TracerProvider) -> None:
    from multiprocessing.util import Finalize

    Finalize(provider, provider.force_flush, exitpriority=-100)
