"""The settings of Kafka, which roles in several processes are joined by."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, SecretStr, field_validator

from spanproof.config.section import Seconds, Section

_OURS = frozenset(
    {
        "bootstrap.servers",
        "group.id",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "enable.idempotence",
        "acks",
        "partitioner",
        "partition.assignment.strategy",
    }
)
"""Options that what is promised depends on."""


class Kafka(Section):
    """The topic between receivers and workers; see docs/scale.md."""

    brokers: tuple[str, ...] = Field(
        default=(), description="`host:port` of some brokers; roles other than `all` need them."
    )
    topic: str = Field(
        default="otlp_spans",
        min_length=1,
        max_length=249,
        description="Topic of spans, in the encoding `otlp_proto` of the OpenTelemetry Collector.",
    )
    group: str = Field(default="spanproof", min_length=1, description="Consumer group of the workers.")
    partitions: int | None = Field(
        default=None,
        ge=1,
        description="Partitions of the topic where it is made here; none leaves making it to the brokers.",
    )
    max_pending_traces: int = Field(
        default=2000,
        ge=1,
        description="Traces that wait for evaluation in a worker before it stops reading for a while.",
    )
    hand_over_s: Seconds = Field(
        default=30.0,
        description="How long a worker that has to give a partition up finishes what it has begun of it.",
    )
    options: Mapping[str, SecretStr] = Field(
        default_factory=dict,
        description="Further options of librdkafka, such as `security.protocol` and `sasl.password`.",
    )

    @field_validator("options")
    @classmethod
    def _promises_are_kept(cls, options: Mapping[str, SecretStr]) -> Mapping[str, SecretStr]:
        if taken := sorted(_OURS & options.keys()):
            raise ValueError(f"{taken[0]} is set by Spanproof and cannot be changed")
        return options

    def client_options(self) -> dict[str, str]:
        """Return the options of every client."""
        given = {name: value.get_secret_value() for name, value in self.options.items()}
        return {"bootstrap.servers": ",".join(self.brokers), "client.id": "spanproof", **given}
