"""Exporters for `register()`: which ones the environment asks for, and failures of theirs made visible.

In comes an endpoint and a protocol, else the standard variables; out come span processors. An export that
fails is counted in `diagnostics()`, also the last one at shutdown, when no log is read any more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Final
from weakref import WeakSet

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)

from spanproof.instrumentors.frameworks.diagnostics import swallowed
from spanproof.instrumentors.provider.environment import tell
from spanproof.instrumentors.provider.otlp import GRPC, HTTP, address_of, otlp_exporter
from spanproof.instrumentors.provider.variables import OTLP_EXPORTERS

_EXPORTERS: Final = "OTEL_TRACES_EXPORTER"
_exporting: WeakSet[TracerProvider] = WeakSet()
"""Providers that we gave an exporter."""


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


def add_exporters(
    provider: TracerProvider,
    present: set[tuple[str | None, str]],
    endpoint: str | None,
    protocol: str,
    *,
    batch: bool,
    headers: dict[str, str] | None,
) -> None:
    """Add a processor for each exporter asked for that is not `present` yet; what cannot be made is told.

    An `endpoint` that anybody's exporter of this provider sends to already gets nothing twice.
    """
    wished = os.environ.get(_EXPORTERS, "").split(",")
    names = [name.strip() for name in wished if name.strip()]
    if endpoint is not None or not names:
        names = ["otlp"]
    for name in names:
        spoken = {"otlp_proto_grpc": GRPC, "otlp_proto_http": HTTP}.get(name, protocol)
        is_otlp = name in OTLP_EXPORTERS
        key = (endpoint, spoken) if is_otlp else (name, "")
        if name == "none" or key in present:
            continue
        if endpoint is not None and address_of(endpoint, spoken) in _sent_to(provider):
            continue
        try:
            made = otlp_exporter(endpoint, spoken, headers, batch=batch) if is_otlp else _named(name)
        except Exception as error:  # noqa: BLE001 - the application runs on, and so do the other exporters
            reason = f"{type(error).__name__}: {error}"
            tell(_EXPORTERS, name, f"fails with {reason}; no spans are exported through it")
            continue
        if made is not None:
            watched = Watched(made, endpoint or f"the {name} exporter")
            provider.add_span_processor(
                BatchSpanProcessor(watched) if batch else SimpleSpanProcessor(watched)
            )
            present.add(key)
            if provider not in _exporting:
                _exporting.add(provider)
                _flush_with_worker(provider)


def _named(name: str) -> SpanExporter:
    """An exporter of another package's, by the name that `OTEL_TRACES_EXPORTER` gives it."""
    (found, *_) = entry_points(group="opentelemetry_traces_exporter", name=name)
    made: SpanExporter = found.load()()
    return made


def processors_of(provider: TracerProvider) -> tuple[SpanProcessor, ...]:
    """What spans of a provider go through; the SDK has no word for it."""
    processors = getattr(getattr(provider, "_active_span_processor", None), "_span_processors", ())
    return tuple(processors)


def _sent_to(provider: TracerProvider) -> set[str]:
    """The addresses of the OTLP exporters that a provider has, as those hold them."""
    exporters = [getattr(each, "span_exporter", None) for each in processors_of(provider)]
    return {getattr(getattr(each, "wrapped", each), "_endpoint", "") for each in exporters}


def _flush_with_worker(provider: TracerProvider) -> None:
    """Export what a worker of `multiprocessing` has recorded before it ends: of `atexit` it runs nothing."""
    util = sys.modules.get("multiprocessing.util")
    if util is None:
        return
    # A worker that begins forgets what is to be run at its end, and then asks those who registered for it.
    util.register_after_fork(provider, _flush_at_its_end)
    if sys.modules["multiprocessing.process"].parent_process() is not None:
        _flush_at_its_end(provider)  # it has begun


def _flush_at_its_end(provider: TracerProvider) -> None:
    from multiprocessing.util import Finalize

    Finalize(provider, provider.force_flush, exitpriority=-100)


def _flush_in_child() -> None:
    for provider in list(_exporting):
        _flush_with_worker(provider)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_flush_in_child)
