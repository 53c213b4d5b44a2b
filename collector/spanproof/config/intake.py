"""The sections of the configuration for what comes in: where, from whom, how much, and what is kept back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from spanproof.config.section import Seconds, Section
from spanproof.evaluators.answers import parse_pattern

MIB = 1024 * 1024
Port = Annotated[int, Field(ge=0, le=65535)]


class Role(StrEnum):
    """What the holder of a token may do."""

    SEND = "send"
    """Export spans, logs and metrics, and request verdicts."""
    READ = "read"
    """Read the API of the console."""
    WRITE = "write"
    """Send scores."""


class Token(Section):
    """A bearer token; a plain text is a token that may send and write."""

    token: SecretStr = Field(description="The token: the text after `Bearer` in the header `authorization`.")
    roles: tuple[Role, ...] = Field(
        default=(Role.SEND, Role.WRITE),
        min_length=1,
        description="What the token allows: `send` spans, logs and metrics, `read` the console's API,"
        " `write` scores.",
    )
    project: str | None = Field(
        default=None,
        min_length=1,
        description="Project of everything that is sent with the token, whatever the sender names, and the"
        " only project that it may read in the console. Null: the sender's project, and all"
        " projects.",
    )
    name: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Name in the settings of the console; the token itself is never shown.",
    )

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, Mapping | cls):
            return value
        return {"token": value}

    @field_validator("token")
    @classmethod
    def _check_token(cls, token: SecretStr) -> SecretStr:
        if not token.get_secret_value().strip():
            raise ValueError("a token must not be blank")
        return token


class Tls(Section):
    """TLS of a listener; enabled once `certificate` is set. The files are read again when they change."""

    certificate: Path | None = Field(
        default=None, description="PEM file with the certificate and its chain; null: no TLS."
    )
    key: Path | None = Field(default=None, description="PEM file with the certificate's private key.")
    client_ca: Path | None = Field(
        default=None,
        description="PEM file with the authorities of clients' certificates; clients without such a"
        " certificate are refused (mutual TLS).",
    )

    @model_validator(mode="after")
    def _check_certificate(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("`certificate` and `key` go together; set both or neither")
        if self.client_ca is not None and self.certificate is None:
            raise ValueError("`client_ca` needs `certificate` and `key`")
        return self


class GrpcReceiver(Section):
    """OTLP over gRPC."""

    enabled: bool = Field(default=True, description="Whether to listen for OTLP over gRPC.")
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="Address to listen on. Anything but loopback is reachable by others: set `tokens` too.",
    )
    port: Port = Field(default=4317, description="Port to listen on; 0 takes any free one.")
    tls: Tls = Field(default=Tls(), description="TLS of this listener.")


class HttpReceiver(Section):
    """OTLP over HTTP: `POST /v1/traces`, `/v1/logs`, `/v1/metrics`, and pages for the operator."""

    enabled: bool = Field(default=True, description="Whether to listen for OTLP over HTTP.")
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="Address to listen on. Anything but loopback is reachable by others: set `tokens` too.",
    )
    port: Port = Field(default=4318, description="Port to listen on; 0 takes any free one.")
    cors_origins: tuple[Annotated[str, Field(pattern=r"^https?://[^/\s*]+$")], ...] = Field(
        default=(),
        description="Origins (`https://app.example.com`) whose pages may send from a browser; empty allows"
        " none.",
    )
    tls: Tls = Field(default=Tls(), description="TLS of this listener.")


class Receivers(Section):
    """Where spans come in."""

    grpc: GrpcReceiver = Field(default=GrpcReceiver(), description="OTLP over gRPC.")
    http: HttpReceiver = Field(default=HttpReceiver(), description="OTLP over HTTP, protobuf and JSON.")
    fallback_port: bool = Field(
        default=True,
        description="If a port is in use, listen on a free one and say so instead of refusing to start.",
    )

    @model_validator(mode="after")
    def _check_receivers(self) -> Self:
        if not (self.grpc.enabled or self.http.enabled):
            raise ValueError("every receiver is disabled; enable `grpc` or `http`")
        return self


class Limits(Section):
    """How much is received at once. Beyond it, requests are refused and clients retry later."""

    max_body_bytes: int = Field(
        default=64 * MIB,
        gt=0,
        le=1024 * MIB,
        description="Largest request body, measured after decompression; the client must not retry a larger"
        " one.",
    )
    max_in_flight_requests: int = Field(
        default=256,
        gt=0,
        description="Concurrent requests, both protocols together; a request whose body is still arriving"
        " does not count.",
    )
    max_in_flight_bytes: int = Field(
        default=256 * MIB,
        gt=0,
        description="Bytes of requests in memory, compressed and decompressed, including bodies that are"
        " still arriving; at least twice `max_body_bytes`. One address may use half of it.",
    )
    max_backlog_bytes: int = Field(
        default=256 * MIB,
        gt=0,
        description="Acknowledged bytes whose spans are not stored yet.",
    )
    max_resident_bytes: int | None = Field(
        default=None,
        gt=0,
        description="Resident memory of the process above which requests are refused until it falls; null:"
        " no limit. Set it to three quarters of the container's memory.",
    )
    max_connections_per_peer: int = Field(
        default=512,
        gt=0,
        description="Open HTTP connections and gRPC calls of one address.",
    )
    header_timeout_s: Seconds = Field(
        default=10.0, description="How long the headers of a request, or its message over gRPC, may take."
    )
    body_timeout_s: Seconds = Field(default=30.0, description="How long the body of a request may take.")
    min_body_bytes_per_s: int = Field(
        default=1024,
        ge=0,
        description="Minimum rate of a body after its first five seconds; a slower one is refused. 0: no"
        " minimum.",
    )
    max_span_age_days: int = Field(
        default=3650,
        gt=0,
        description="A span that began longer ago than this, or more than a day in the future, gets the time"
        " of its arrival; `partial_success` informs the client.",
    )

    @model_validator(mode="after")
    def _check_largest_body(self) -> Self:
        if self.max_in_flight_bytes < 2 * self.max_body_bytes:
            raise ValueError(
                "max_in_flight_bytes must be at least twice max_body_bytes, or the largest body could never "
                f"be taken, got {self.max_in_flight_bytes} and {self.max_body_bytes}"
            )
        return self


class RedactionRules(Section):
    """What is replaced in all incoming data, before it is written anywhere."""

    patterns: tuple[str, ...] = Field(
        default=(),
        description="Regular expressions (RE2); each match in a name, a value, a message or a number is "
        "replaced.",
    )
    keys: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(),
        description="Attributes, and members of JSON documents in values, whose values are replaced"
        " completely; case is ignored, and the last part of a dotted name matches too.",
    )
    secrets: bool = Field(
        default=False,
        description="Whether to replace everything in a provider's format of secrets. The scanners then no"
        " longer find it in code.",
    )
    replacement: str = Field(default="[redacted]", description="The replacement text.")

    @field_validator("patterns")
    @classmethod
    def _check_patterns(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            if parse_pattern(pattern).search("") is not None:
                raise ValueError(f"{pattern!r} matches the empty text, so it would be everywhere")
        return patterns

    @property
    def any(self) -> bool:
        """Whether there is a rule."""
        return bool(self.patterns or self.keys or self.secrets)
