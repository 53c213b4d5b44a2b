"""The settings of Kafka, which roles in several processes are joined by."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, SecretStr, field_validator

from spanproof.config.section import Seconds, Section

# Options that what is promised depends on.
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


class Kafka(Section):
    """The topic between receivers and workers; see docs/scale.md."""

    brokers: tuple[str, ...] = Field(
        default=(), description="`host:port` of some brokers; required for roles other than `all`."
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
        description="Number of partitions if Spanproof creates the topic; null leaves its creation to the"
        " brokers.",
    )
    max_pending_traces: int = Field(
        default=2000,
        ge=1,
        description="Traces that may wait for evaluation in a worker; beyond it, the worker pauses reading.",
    )
    hand_over_s: Seconds = Field(
        default=30.0,
        description="How long a worker that must give up a partition may finish the traces that it has"
        " started.",
    )
    options: Mapping[str, SecretStr] = Field(
        default_factory=dict,
        description="Further options of librdkafka for every client, such as `security.protocol` and"
        " `sasl.password`.",
    )
    consumer_options: Mapping[str, SecretStr] = Field(
        default_factory=dict,
        description="Options for consumers only, such as `session.timeout.ms`.",
    )
    producer_options: Mapping[str, SecretStr] = Field(
        default_factory=dict,
        description="Options for producers only, such as `linger.ms`.",
    )

    @field_validator("options", "consumer_options", "producer_options")
    @classmethod
    def _check_options(cls, options: Mapping[str, SecretStr]) -> Mapping[str, SecretStr]:
        if taken := sorted(_OURS & options.keys()):
            raise ValueError(f"{taken[0]} is set by Spanproof and cannot be changed")
        return options

    def build_client_options(self) -> dict[str, str]:
        """Return the options of every client."""
        ours = {"bootstrap.servers": ",".join(self.brokers), "client.id": "spanproof"}
        return ours | _build_revealed(self.options)

    def build_consumer_options(self) -> dict[str, str]:
        """Return the options of a consumer."""
        return self.build_client_options() | _build_revealed(self.consumer_options)

    def build_producer_options(self) -> dict[str, str]:
        """Return the options of a producer."""
        return self.build_client_options() | _build_revealed(self.producer_options)


def _build_revealed(options: Mapping[str, SecretStr]) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in options.items()}
