"""The collector's configuration: one typed tree, and nothing read that it does not know.

In: what `spanproof.config.load` gathered from file, environment and command line. Out: a frozen
`Config`. Every field has a description: docs/configuration.md is made from them. Nothing here opens a file, a
socket or a store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import (
    Field,
    PrivateAttr,
    SecretStr,
    field_serializer,
    field_validator,
    model_validator,
)

from spanproof.config.alerts import AlertRule, check_alerts
from spanproof.config.evaluation import Evaluation, JudgeChoice, OwnEvaluator, SandboxChoice
from spanproof.config.hosts import is_loopback
from spanproof.config.load import ConfigError, Gathered, Problem, gather, validate_tree
from spanproof.config.section import Seconds, Section
from spanproof.config.sinks import Sink, repeated_name
from spanproof.config.targets import Webhook
from spanproof.config.verdicts import RouteRule, Verdicts
from spanproof.trace import Layer

__all__ = [
    "AlertRule",
    "Assembly",
    "Config",
    "ConfigError",
    "Console",
    "Evaluation",
    "Forward",
    "GrpcReceiver",
    "HttpReceiver",
    "JudgeChoice",
    "Limits",
    "Metrics",
    "OwnEvaluator",
    "Problem",
    "Receivers",
    "RouteRule",
    "SandboxChoice",
    "Sink",
    "Store",
    "Verdicts",
    "Wal",
    "Webhook",
    "load_config",
]

_MIB = 1024 * 1024
_PASSWORD = re.compile(r"(://[^:/@\s]*):[^@/\s]*@")

_EXTERNAL = f"^({'|'.join(layer.value for layer in Layer)})\\.[a-z][a-z0-9_]{{0,63}}$"

Port = Annotated[int, Field(ge=0, le=65535)]


class GrpcReceiver(Section):
    """OTLP over gRPC."""

    enabled: bool = Field(default=True, description="Whether to listen for OTLP over gRPC.")
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="Address to listen on. Anything but loopback is reachable by others: set `tokens` too.",
    )
    port: Port = Field(default=4317, description="Port to listen on; 0 takes any free one.")


class HttpReceiver(Section):
    """OTLP over HTTP: `POST /v1/traces`, and `GET /healthz` and `GET /metrics` beside it."""

    enabled: bool = Field(default=True, description="Whether to listen for OTLP over HTTP.")
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="Address to listen on. Anything but loopback is reachable by others: set `tokens` too.",
    )
    port: Port = Field(default=4318, description="Port to listen on; 0 takes any free one.")


class Receivers(Section):
    """Where spans come in."""

    grpc: GrpcReceiver = Field(default=GrpcReceiver(), description="OTLP over gRPC.")
    http: HttpReceiver = Field(default=HttpReceiver(), description="OTLP over HTTP, protobuf and JSON.")
    fallback_port: bool = Field(
        default=True,
        description="When a port is taken: listen on a free one and log it, instead of refusing to start.",
    )

    @model_validator(mode="after")
    def _something_listens(self) -> Self:
        if not (self.grpc.enabled or self.http.enabled):
            raise ValueError("every receiver is disabled; enable `grpc` or `http`")
        return self


class Console(Section):
    """The console and its API, for people and programs that read: `GET /`, `GET /api/v1/…`."""

    enabled: bool = Field(default=True, description="Whether to serve the console.")
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="Address to listen on. Anything but loopback is reachable by others, and needs `tokens`.",
    )
    port: Port = Field(default=4319, description="Port to listen on; 0 takes any free one.")
    tokens: tuple[SecretStr, ...] = Field(
        default=(),
        description="Readers' bearer tokens, one of which each request of the API must carry.",
    )
    writers: tuple[SecretStr, ...] = Field(
        default=(),
        description="Writers' bearer tokens: they read, label, promote and silence. Without one, a console"
        " with readers' tokens is for reading.",
    )
    workspace: Path | None = Field(
        default=None,
        description="Folder of suites, experiments and gate reports to show, and to add cases to.",
    )

    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s/]",
        description="Its address as people reach it: links in notifications begin with it. None: no links.",
    )

    @model_validator(mode="after")
    def _others_need_a_token(self) -> Self:
        if self.enabled and not is_loopback(self.host) and not (self.tokens or self.writers):
            raise ValueError(
                f"host {self.host} is reachable by others; set `console.tokens`, or listen on loopback"
            )
        return self


class Limits(Section):
    """How much is received at once. Beyond it, requests are refused and clients retry later."""

    max_body_bytes: int = Field(
        default=64 * _MIB,
        gt=0,
        le=1024 * _MIB,
        description="Largest request body, measured after decompression; a larger one is refused for good.",
    )
    max_in_flight_requests: int = Field(
        default=256, gt=0, description="Requests being received at once, both protocols together."
    )
    max_in_flight_bytes: int = Field(
        default=256 * _MIB,
        gt=0,
        description="Bytes of those requests, packed and unpacked; at least twice `max_body_bytes`.",
    )
    max_backlog_bytes: int = Field(
        default=256 * _MIB,
        gt=0,
        description="Acknowledged bytes whose spans are not stored yet.",
    )

    @model_validator(mode="after")
    def _the_largest_body_fits(self) -> Self:
        if self.max_in_flight_bytes < 2 * self.max_body_bytes:
            raise ValueError(
                "max_in_flight_bytes must be at least twice max_body_bytes, or the largest body could never "
                f"be taken, got {self.max_in_flight_bytes} and {self.max_body_bytes}"
            )
        return self


class Wal(Section):
    """The write-ahead log: what was acknowledged survives a crash."""

    directory: Path = Field(
        default=Path(".spanproof/wal"),
        description="Where acknowledged requests are kept until their scores are stored.",
    )
    segment_bytes: int = Field(
        default=64 * _MIB, ge=4096, description="A new segment file is begun once one has grown to this size."
    )
    max_bytes: int = Field(
        default=16 * 1024 * _MIB,
        ge=1024 * 1024,
        description="Most bytes of the log on disk; beyond it requests are refused until traces are "
        "evaluated.",
    )
    fsync: bool = Field(
        default=True,
        description="Wait for the disk before acknowledging. Without it a crash of the machine, though not "
        "of the process, may lose acknowledged spans.",
    )


class Assembly(Section):
    """When a trace counts as complete. Spans that come later re-open it."""

    quiet_s: Seconds = Field(
        default=6.0, description="Its root has ended, no parent is missing, and nothing came for this long."
    )
    orphan_quiet_s: Seconds = Field(
        default=35.0, description="The root or a parent is missing, and nothing came for this long."
    )
    max_wait_s: Seconds = Field(
        default=300.0,
        description="Longest time from a trace's first span to its evaluation, whatever still comes.",
    )
    reopen_s: Seconds = Field(
        default=600.0, description="How long an evaluated trace is kept at hand for spans that come late."
    )
    max_bytes: int = Field(
        default=256 * _MIB,
        gt=0,
        description="Most bytes of the index of traces, about 50 a span; beyond it evaluated traces are "
        "forgotten first, then those that have been quiet the longest are evaluated before their time.",
    )

    @model_validator(mode="after")
    def _waits_are_ordered(self) -> Self:
        if not self.quiet_s <= self.orphan_quiet_s <= self.max_wait_s:
            raise ValueError(
                "quiet_s ≤ orphan_quiet_s ≤ max_wait_s must hold, got "
                f"{self.quiet_s:g}, {self.orphan_quiet_s:g}, {self.max_wait_s:g}"
            )
        return self


class Store(Section):
    """Where spans, scores and replays are kept."""

    location: str = Field(
        default=".spanproof/store",
        min_length=1,
        description="A directory for the embedded ClickHouse, or the DSN of a server "
        "(`clickhouse://user:password@host:port/database`).",
    )

    @field_serializer("location", when_used="json")
    def _without_password(self, location: str) -> str:
        return _PASSWORD.sub(r"\1:**********@", location)


class Forward(Section):
    """An OTLP/HTTP endpoint that gets the spans with their scores, and the evaluation events."""

    endpoint: str = Field(
        description="Base URL, as in OTEL_EXPORTER_OTLP_ENDPOINT; `/v1/traces` and `/v1/logs` are appended."
    )
    headers: Mapping[str, SecretStr] = Field(
        default_factory=dict, description="Headers sent with every request, such as an API key."
    )
    traces: bool = Field(default=True, description="Whether spans, evaluator spans among them, are sent.")
    logs: bool = Field(default=True, description="Whether `gen_ai.evaluation.result` events are sent.")
    timeout_s: Seconds = Field(default=10.0, description="Longest wait for an answer to one request.")
    retry_for_s: Seconds = Field(
        default=60.0, description="How long a failing request is repeated before it is dropped and counted."
    )
    queue_bytes: int = Field(
        default=64 * _MIB,
        gt=0,
        description="Most bytes waiting for this endpoint; beyond it the newest are dropped.",
    )

    @field_validator("endpoint")
    @classmethod
    def _is_http_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("an endpoint is an http:// or https:// URL with a host")
        return value.rstrip("/")


class Metrics(Section):
    """What `GET /metrics` shows of verdicts."""

    max_cohorts: int = Field(
        default=200,
        ge=0,
        le=10_000,
        description="Cohorts (agent, model, prompt_version, release) with series of their own in"
        " `spanproof_evaluation_verdicts_total`; the verdicts of further ones count as `(other)`.",
    )


class Config(Section):
    """The whole configuration."""

    project: str = Field(
        default="default", min_length=1, description="Project of traces that do not name one themselves."
    )
    receivers: Receivers = Field(default=Receivers(), description="Where spans come in.")
    tokens: tuple[SecretStr, ...] = Field(
        default=(), description="Bearer tokens, one of which every request must carry; none means no check."
    )
    limits: Limits = Field(default=Limits(), description="How much is taken in at once.")
    wal: Wal = Field(default=Wal(), description="The write-ahead log.")
    assembly: Assembly = Field(default=Assembly(), description="When a trace counts as complete.")
    evaluation: Evaluation = Field(default=Evaluation(), description="How traces are evaluated.")
    sandbox: SandboxChoice = Field(default=SandboxChoice(), description="Where snippets run again.")
    policy: Path | None = Field(
        default=None,
        description="File with the boundary agents are held to; none means the built-in default.",
    )
    judge: JudgeChoice = Field(
        default=JudgeChoice(), description="A model that judges what the rules leave open."
    )
    evaluators: tuple[OwnEvaluator, ...] = Field(
        default=(), description="Functions of your own that score; docs/evaluators.md shows some."
    )
    store: Store = Field(default=Store(), description="Where results are kept.")
    forward: tuple[Forward, ...] = Field(default=(), description="Where spans and scores are sent on to.")
    alerts: tuple[AlertRule, ...] = Field(default=(), description="Rules over scores, and who is notified.")
    sinks: tuple[Sink, ...] = Field(
        default=(), description="Products that get the scores, beside the traces that they have."
    )
    sinks_directory: Path = Field(
        default=Path(".spanproof/sinks"), description="Where the queues of the sinks are kept."
    )
    external_scores: tuple[Annotated[str, Field(pattern=_EXTERNAL)], ...] = Field(
        default=(),
        description="Scores that `POST /v1/scores` takes, as `layer.name`; none allows any. Alerts can watch"
        " those that are named.",
    )
    console: Console = Field(default=Console(), description="The console and its API.")
    metrics: Metrics = Field(default=Metrics(), description="What `GET /metrics` shows of verdicts.")
    verdicts: Verdicts = Field(default=Verdicts(), description="Verdicts while an agent runs.")
    routes: tuple[RouteRule, ...] = Field(
        default=(), description="Which scores make an agent fall back to another model, or to a person."
    )

    # Where each key was set, of a configuration that `load_config` read.
    _gathered: Gathered = PrivateAttr(default_factory=Gathered)

    @field_validator("tokens")
    @classmethod
    def _tokens_are_not_blank(cls, tokens: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(not token.get_secret_value().strip() for token in tokens):
            raise ValueError("a token must not be blank")
        return tokens

    @field_validator("sinks")
    @classmethod
    def _sinks_have_names_of_their_own(cls, sinks: tuple[Sink, ...]) -> tuple[Sink, ...]:
        if repeated := repeated_name(sinks):
            raise ValueError(f"two sinks are named {repeated!r}; give each a name of its own")
        return sinks

    @field_validator("routes")
    @classmethod
    def _routes_have_names_of_their_own(cls, routes: tuple[RouteRule, ...]) -> tuple[RouteRule, ...]:
        names = [rule.name for rule in routes]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"{repeated!r} is the name of two rules")
        return routes

    def with_origins(self, gathered: Gathered) -> Self:
        """Return the configuration with where each key was set."""
        self._gathered = gathered
        return self

    def list_settings(self) -> list[tuple[str, str, str]]:
        """Return key, value and origin of each setting, a line each; secrets are masked."""
        return [
            (key, json.dumps(value, ensure_ascii=False), self._gathered.place_of(key) or "default")
            for key, value in _flatten(self.model_dump(mode="json"))
        ]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is allowed but worth a second look, as sentences."""
        listening: dict[str, GrpcReceiver | HttpReceiver] = {
            "grpc": self.receivers.grpc,
            "http": self.receivers.http,
        }
        reachable = [
            f"receivers.{name}.host is {receiver.host}, which others can reach, and `tokens` is empty"
            for name, receiver in listening.items()
            if receiver.enabled and not self.tokens and not is_loopback(receiver.host)
        ]
        # Prices serve the agents' cost as well.
        idle = [] if self.judge.model else sorted(self.judge.model_fields_set - {"model", "prices"})
        without_model = [f"judge.{key} is set and judge.model is not: no judge is used" for key in idle[:1]]
        unused = ["routes is set and verdicts.enabled is not: no rule is applied"]
        without_verdicts = unused if self.routes and not self.verdicts.enabled else []
        without_key = [
            f"sink {sink.label}: {name} is not set: its scores wait in the queue"
            for sink in self.sinks
            for name in sink.missing_keys()
        ]
        return (*reachable, *without_model, *without_verdicts, *without_key)


def _flatten(tree: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a tree by dotted key; lists are values."""
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _flatten(value, f"{under}{name}.")
        else:
            yield f"{under}{name}", value


def load_config(
    path: Path | None,
    environ: Mapping[str, str],
    overrides: Mapping[str, str] | None = None,
) -> Config:
    """Read the configuration: defaults, then the file, then the environment, then the flags.

    Args:
        path: a YAML file, None for none.
        environ: variables named `SPANPROOF_…`, with `__` between the levels, are read; others are not.
        overrides: values by dotted key (`assembly.quiet_s`), as the command line gives them.

    Raises:
        ConfigError: lists every problem, each with its place and, for unknown keys, the nearest known one.
    """
    gathered = gather(Config, path, environ, overrides or {})
    problems = list(gathered.problems)
    config, found = validate_tree(Config, gathered.tree, gathered)
    problems += found
    if config is not None:
        wrong = check_alerts(
            config.alerts, config.evaluators, config.judge, config.evaluation, config.external_scores
        )
        problems += [Problem(gathered.place_of(key), key, message) for key, message in wrong]
    if problems or config is None:
        raise ConfigError(problems)
    return config.with_origins(gathered)
