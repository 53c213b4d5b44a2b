"""An exporter over OTLP, as arguments and the standard variables say, over HTTP or gRPC.

The exporters read most of the variables themselves. Where it cannot be understood what one of them says of
where spans go, or of how they are protected, there is no exporter: none are sent, rather than elsewhere or in
the open.
"""

from __future__ import annotations

import os
import re
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from opentelemetry.sdk.trace.export import SpanExporter

from spanproof.instrumentors.provider.environment import tell
from spanproof.instrumentors.provider.variables import reading

HTTP: Final = "http/protobuf"
GRPC: Final = "grpc"

_CERTIFICATES: Final = ("CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY")
_GRPC_TARGET: Final = re.compile(r"(dns|unix|unix-abstract|ipv4|ipv6|vsock):|[^/:]+:\d+$|\[[0-9a-f:]+\]:\d+$")
_NOT_INSTALLED: Final = (
    "needs the package opentelemetry-exporter-otlp-proto-grpc; install it, or choose http/protobuf"
)


def protocol_of(given: str | None) -> str:
    """The protocol asked for.

    Raises:
        ValueError: the one given is not known.
        ImportError: `grpc` is given and its exporter is not installed.
    """
    if given is None:
        return _variable("PROTOCOL")[1] or HTTP
    if given not in (HTTP, GRPC):
        raise ValueError(f"protocol={given!r} is not known; choose {HTTP!r} or {GRPC!r}")
    if given == GRPC:
        _grpc_exporter()
    return given


def otlp_exporter(
    endpoint: str | None, protocol: str, headers: dict[str, str] | None, *, batch: bool
) -> SpanExporter | None:
    """An exporter over OTLP; None where it is told already why there is none."""
    guarding = [*map(_variable, _CERTIFICATES), _credential_provider(protocol)]
    if any(value and reading(name).remedy for name, value in guarding):
        return None
    if endpoint is None and not _is_address(protocol):
        return None
    timeout_s = _timeout_s() if batch else None
    if protocol == GRPC:
        if find_spec("opentelemetry.exporter.otlp.proto.grpc") is None:
            variable, asked = _variable("PROTOCOL")
            if asked != GRPC:
                variable, asked = "OTEL_TRACES_EXPORTER", "otlp_proto_grpc"
            tell(variable, asked, f"{_NOT_INSTALLED}; no spans are exported until then")
            return None
        return _over_grpc(endpoint, headers, timeout_s)
    return _over_http(endpoint, headers, timeout_s)


def _over_http(endpoint: str | None, headers: dict[str, str] | None, timeout_s: float | None) -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(
        endpoint=None if endpoint is None else _traces_url(endpoint),
        headers=headers,
        timeout=timeout_s,
        session=_session(),
    )


def _session() -> Any:
    """A session that trusts the authority named for OTLP; any other takes REQUESTS_CA_BUNDLE in its stead."""
    if not _variable("CERTIFICATE")[1] or _credential_provider(HTTP)[1]:
        return None
    import requests  # the exporter brings it along

    class Session(requests.Session):
        def merge_environment_settings(self, *arguments: Any, **named: Any) -> Any:
            return {**super().merge_environment_settings(*arguments, **named), "verify": self.verify}

    return Session()


def _over_grpc(endpoint: str | None, headers: dict[str, str] | None, timeout_s: float | None) -> SpanExporter:
    exporter = _grpc_exporter()
    import grpc  # the exporter brings it along

    name, compression = _variable("COMPRESSION")
    if compression == "deflate":
        tell(name, compression, "is not for gRPC, where none holds; choose gzip, or http/protobuf")
    made: SpanExporter = exporter(
        endpoint=endpoint,
        insecure=None if endpoint is None else urlsplit(endpoint).scheme == "http",
        credentials=_credentials(),
        headers=headers and {name.lower(): value for name, value in headers.items()},  # gRPC takes no others
        timeout=timeout_s,
        # The exporter would raise at `none`.
        compression=grpc.Compression.Gzip if compression == "gzip" else grpc.Compression.NoCompression,
    )
    return made


def _grpc_exporter() -> Any:
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    except ImportError as missing:
        raise ImportError(f"protocol='grpc' {_NOT_INSTALLED}") from missing
    return OTLPSpanExporter


def _credentials() -> Any:
    """What certificates and key make together; the exporter drops a client's where no authority is named."""
    import grpc

    name = _credential_provider(GRPC)[1]
    if name:
        (found, *_) = entry_points(group="opentelemetry_otlp_credential_provider", name=name)
        return found.load()()
    authority, certificate, key = (value for _, value in map(_variable, _CERTIFICATES))
    if not authority and not certificate:
        return None
    return grpc.ssl_channel_credentials(
        root_certificates=Path(authority).read_bytes() if authority else None,
        private_key=Path(key or certificate).read_bytes() if certificate else None,
        certificate_chain=Path(certificate).read_bytes() if certificate else None,
    )


def _is_address(protocol: str) -> bool:
    """Whether the endpoint's variable can be understood; with what is no URL each export would fail."""
    name, value = _variable("ENDPOINT")
    parts = urlsplit(value)
    is_url = parts.scheme in ("http", "https") and bool(parts.netloc)
    if not value or is_url or (protocol == GRPC and _GRPC_TARGET.match(value)):
        return True
    tell(name, value, "is no URL, so no spans are exported; write it like http://127.0.0.1:4318")
    return False


def _timeout_s() -> float | None:
    """`OTEL_BSP_EXPORT_TIMEOUT`, which the SDK does not observe, where it is shorter than the exporter's."""
    batch_ms, exporter_s = os.environ.get("OTEL_BSP_EXPORT_TIMEOUT"), _variable("TIMEOUT")[1] or "10"
    return min(int(batch_ms) / 1000, float(exporter_s)) if batch_ms else None


def _variable(what: str, prefix: str = "OTEL_EXPORTER_OTLP_") -> tuple[str, str]:
    """A variable of the OTLP exporters that is set, that for traces first: its name and value, or empty."""
    names = (f"{prefix}TRACES_{what}", f"{prefix}{what}")
    return next(((name, value) for name in names if (value := os.environ.get(name))), (names[-1], ""))


def _credential_provider(protocol: str) -> tuple[str, str]:
    spoken = "GRPC" if protocol == GRPC else "HTTP"
    return _variable("CREDENTIAL_PROVIDER", f"OTEL_PYTHON_EXPORTER_OTLP_{spoken}_")


def address_of(endpoint: str, protocol: str) -> str:
    """Where an exporter to this endpoint sends, as it holds it itself."""
    return urlsplit(endpoint).netloc if protocol == GRPC else _traces_url(endpoint)


def _traces_url(endpoint: str) -> str:
    """A base endpoint takes the signal's path, as OTEL_EXPORTER_OTLP_ENDPOINT does; a full one stays."""
    return endpoint if endpoint.endswith("/v1/traces") else endpoint.rstrip("/") + "/v1/traces"
