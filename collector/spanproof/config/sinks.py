"""The section of the configuration for sinks: products that show scores beside the traces they have."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from spanproof.config.section import Seconds, Section


class SinkKind(StrEnum):
    """The products that scores can be sent to."""

    PHOENIX = "phoenix"
    LANGFUSE = "langfuse"
    LANGSMITH = "langsmith"
    MLFLOW = "mlflow"
    BRAINTRUST = "braintrust"
    WEAVE = "weave"
    DATADOG = "datadog"
    OTLP = "otlp"


DEFAULT_URLS: Final[Mapping[SinkKind, str]] = MappingProxyType(
    {
        SinkKind.PHOENIX: "http://127.0.0.1:6006",
        SinkKind.LANGFUSE: "https://cloud.langfuse.com",
        SinkKind.LANGSMITH: "https://api.smith.langchain.com",
        SinkKind.MLFLOW: "http://127.0.0.1:5000",
        SinkKind.BRAINTRUST: "https://api.braintrust.dev",
        SinkKind.WEAVE: "https://trace.wandb.ai",
        SinkKind.DATADOG: "https://api.datadoghq.com",
    }
)
"""Where each product answers, unless `url` says otherwise."""

KEY_VARIABLES: Final[Mapping[SinkKind, str]] = MappingProxyType(
    {
        SinkKind.PHOENIX: "PHOENIX_API_KEY",
        SinkKind.LANGFUSE: "LANGFUSE_SECRET_KEY",
        SinkKind.LANGSMITH: "LANGSMITH_API_KEY",
        SinkKind.MLFLOW: "MLFLOW_TRACKING_TOKEN",
        SinkKind.BRAINTRUST: "BRAINTRUST_API_KEY",
        SinkKind.WEAVE: "WANDB_API_KEY",
        SinkKind.DATADOG: "DD_API_KEY",
    }
)
"""The variable that holds the key where `key` is not set: the product's own name for it."""

PUBLIC_KEY_VARIABLE: Final = "LANGFUSE_PUBLIC_KEY"

_KEY_REQUIRED: Final = frozenset(SinkKind) - {SinkKind.PHOENIX, SinkKind.MLFLOW, SinkKind.OTLP}
_PROJECT_REQUIRED: Final = MappingProxyType(
    {
        SinkKind.BRAINTRUST: "the project's id",
        SinkKind.WEAVE: "`entity/project`",
        SinkKind.DATADOG: "the name of the LLM application (`ml_app`)",
    }
)


class Sink(Section):
    """A product that gets the scores of each stored trace; docs/sinks.md."""

    kind: SinkKind = Field(description="The product.")
    name: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{0,60}$")] | None = Field(
        default=None, description="Unique name of its queue and in metrics; default: the kind."
    )
    url: str | None = Field(
        default=None,
        description="Base URL; default: the product's own. Required for `otlp`, where `/v1/logs` is"
        " appended.",
    )
    key: SecretStr | None = Field(
        default=None, description="API key; default: the product's variable, such as `LANGFUSE_SECRET_KEY`."
    )
    public_key: str | None = Field(
        default=None, description="Langfuse's public key; default: `LANGFUSE_PUBLIC_KEY`."
    )
    project: str | None = Field(
        default=None,
        description="Braintrust: the project's id; Weave: `entity/project`; Datadog: the `ml_app`. For"
        " `spanproof pull`: Phoenix's project, MLflow's experiment; not used for Langfuse.",
    )
    headers: Mapping[str, SecretStr] = Field(
        default_factory=dict, description="Headers sent with every request."
    )
    scores: Literal["layers", "steps", "all"] = Field(
        default="layers",
        description="`layers`: five scores of a run, one per layer, on the agent's span; `steps`: also those"
        " of each step; `all`: also sub-scores and metrics.",
    )
    timeout_s: Seconds = Field(default=10.0, description="Longest wait for the response to one request.")
    keep_for_s: Seconds = Field(
        default=7 * 86400.0,
        description="How long a score is kept and retried before the server gives up on it.",
    )
    max_waiting: int = Field(
        default=1_000_000,
        ge=1,
        description="Largest number of scores in the queue; beyond it, new ones are dropped.",
    )

    @field_validator("url")
    @classmethod
    def _normalise_url(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("a URL begins with http:// or https:// and has a host")
        return value.rstrip("/")

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if self.url is None and self.kind not in DEFAULT_URLS:
            raise ValueError(f"a sink of kind {self.kind} needs a url")
        if self.project is None and (wanted := _PROJECT_REQUIRED.get(self.kind)):
            raise ValueError(f"a sink of kind {self.kind} needs project: {wanted}")
        if self.kind is SinkKind.WEAVE and str(self.project).count("/") != 1:
            raise ValueError(f"project of a sink of kind weave is `entity/project`, got {self.project!r}")
        return self

    @property
    def label(self) -> str:
        """The name, or the kind where none is given."""
        return self.name or self.kind.value

    @property
    def base_url(self) -> str:
        """Where it answers, without a slash at the end."""
        return self.url or DEFAULT_URLS[self.kind]

    def read_key(self, environ: Mapping[str, str] = os.environ) -> str:
        """Return the key, from the configuration or the product's variable; empty where there is none."""
        if self.key is not None:
            return self.key.get_secret_value()
        return environ.get(KEY_VARIABLES.get(self.kind, ""), "")

    def read_public_key(self, environ: Mapping[str, str] = os.environ) -> str:
        """Return Langfuse's public key likewise."""
        return self.public_key or environ.get(PUBLIC_KEY_VARIABLE, "")

    def list_missing_keys(self, environ: Mapping[str, str] = os.environ) -> list[str]:
        """Return the variables that must be set before anything can be sent."""
        missing = []
        if self.kind in _KEY_REQUIRED and not self.read_key(environ):
            missing.append(KEY_VARIABLES[self.kind])
        if self.kind is SinkKind.LANGFUSE and not self.read_public_key(environ):
            missing.append(PUBLIC_KEY_VARIABLE)
        return missing


def find_repeated_name(sinks: Sequence[Sink]) -> str | None:
    """Return a name that two sinks have, None where each has its own."""
    labels = [sink.label for sink in sinks]
    return next((label for label in labels if labels.count(label) > 1), None)
