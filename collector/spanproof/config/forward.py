"""The section of the configuration for OTLP targets: where spans and their scores are sent on to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import unquote, urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from spanproof.config.section import Seconds, Section
from spanproof.trace import digest

_REMOTE = frozenset({"http", "https", "grpc", "grpcs"})


class Forward(Section):
    """An OTLP target for spans with their scores, evaluation events, and received logs and metrics."""

    endpoint: str = Field(
        description="`http://` or `https://`: base URL of OTLP/HTTP, to which `/v1/traces` and similar paths"
        " are appended; `grpc://` or `grpcs://` (TLS): host and port of OTLP over gRPC;"
        " `file:///path`: a file of OTLP JSON lines."
    )
    name: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{0,60}$")] | None = Field(
        default=None,
        description="Unique name of its queue and in metrics; default: derived from the endpoint.",
    )
    headers: Mapping[str, SecretStr] = Field(
        default_factory=dict, description="Headers sent with every request, such as an API key."
    )
    traces: Literal["agents", "all", False] = Field(
        default="agents",
        description="Which spans are sent: `agents`: those received, unchanged; `all`: those with their"
        " scores as attributes, and a span for each score; `false`: none.",
    )
    logs: bool = Field(
        default=True,
        description="Whether `gen_ai.evaluation.result` events and received logs are sent.",
    )
    metrics: bool = Field(
        default=False, description="Whether received metrics and the collector's own are sent."
    )
    own_traces: bool = Field(
        default=False,
        description="Whether the collector's own traces are sent: for each evaluated trace, one with the"
        " times of waiting, evaluation and storage.",
    )
    ca: Path | None = Field(
        default=None,
        description="File with the authorities of the target's certificate; default: the system's.",
    )
    certificate: Path | None = Field(default=None, description="Client certificate (mutual TLS), PEM.")
    key: Path | None = Field(default=None, description="Private key of the client certificate, PEM.")
    timeout_s: Seconds = Field(default=10.0, description="Longest wait for the response to one request.")
    retry_for_s: Seconds = Field(
        default=86400.0,
        description="How long to retry a failing request before it is dropped and counted.",
    )
    queue_bytes: int = Field(
        default=1024 * 1024 * 1024,
        gt=0,
        description="Maximum size of this target's queue on disk; beyond it, the newest data is dropped and"
        " counted.",
    )
    rotate_bytes: int = Field(
        default=100 * 1024 * 1024,
        ge=4096,
        description="For a file: size at which it is renamed with the time and a new one is started.",
    )
    keep_files: int = Field(default=10, ge=0, description="For a file: how many renamed files are kept.")

    @field_validator("endpoint")
    @classmethod
    def _normalise_endpoint(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme == "file":
            if parts.netloc or not parts.path.strip("/"):
                raise ValueError("a file is named by its absolute path: file:///var/log/spans.jsonl")
            return value
        if parts.scheme not in _REMOTE or not parts.hostname:
            raise ValueError(
                "an endpoint is an http://, https://, grpc:// or grpcs:// URL with a host, or file:///path"
            )
        return value.rstrip("/")

    @model_validator(mode="after")
    def _check_client_certificate(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("`certificate` and `key` go together; set both or neither")
        return self

    @property
    def scheme(self) -> str:
        """How the target is spoken to."""
        return urlsplit(self.endpoint).scheme

    @property
    def path(self) -> Path:
        """The file of a `file:` target."""
        return Path(unquote(urlsplit(self.endpoint).path))

    @property
    def label(self) -> str:
        """Name of the queue and in metrics; holds no secret."""
        return self.name or f"{self.scheme}-{digest(self.endpoint)[:12]}"
