"""The signals of OTLP: their messages, their service over gRPC and their path over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2


class Signal(StrEnum):
    """A signal; its value is the last part of its path."""

    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"

    @property
    def path(self) -> str:
        """The path over HTTP, below the base URL."""
        return f"/v1/{self.value}"


@dataclass(frozen=True, slots=True)
class Shape:
    """The messages of a signal.

    Attributes:
        request: class of the export request.
        response: class of the answer.
        service: full name over gRPC.
        rejected: field of a partial success that counts what was refused.
        resources: field of the request, and of each resource the field with its scopes.
    """

    request: type[Message]
    response: type[Message]
    service: str
    rejected: str
    resources: str


def _build_shape(package: Any, name: str, path: str, rejected: str, resources: str) -> Shape:
    service = f"opentelemetry.proto.collector.{path}.v1.{name}Service"
    request = getattr(package, f"Export{name}ServiceRequest")
    return Shape(request, getattr(package, f"Export{name}ServiceResponse"), service, rejected, resources)


SHAPES: Final[Mapping[Signal, Shape]] = MappingProxyType(
    {
        Signal.TRACES: _build_shape(trace_service_pb2, "Trace", "trace", "rejected_spans", "resource_spans"),
        Signal.LOGS: _build_shape(logs_service_pb2, "Logs", "logs", "rejected_log_records", "resource_logs"),
        Signal.METRICS: _build_shape(
            metrics_service_pb2, "Metrics", "metrics", "rejected_data_points", "resource_metrics"
        ),
    }
)


def build_export_response(signal: Signal, rejected: int, message: str) -> Message:
    """Return the answer to a request; nothing is set in that to one which was taken as it is."""
    response = SHAPES[signal].response()
    if rejected or message:
        partial: Any = response.partial_success  # type: ignore[attr-defined]
        setattr(partial, SHAPES[signal].rejected, rejected)
        partial.error_message = message
    return response
