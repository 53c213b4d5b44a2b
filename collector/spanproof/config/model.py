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

from pydantic import (
    Field,
    PrivateAttr,
    SecretStr,
    field_serializer,
    field_validator,
    model_validator,
)

from spanproof.config.alerts import AlertRule, iter_alert_problems
from spanproof.config.evaluation import Evaluation, JudgeChoice, OwnEvaluator, SandboxChoice
from spanproof.config.forward import Forward
from spanproof.config.hosts import is_loopback
from spanproof.config.intake import (
    MIB,
    GrpcReceiver,
    HttpReceiver,
    Limits,
    Port,
    Receivers,
    RedactionRules,
    Role,
    Tls,
    Token,
)
from spanproof.config.kafka import Kafka
from spanproof.config.load import ConfigError, Gathered, Problem, load_sources, parse_tree
from spanproof.config.section import Seconds, Section
from spanproof.config.sinks import Sink, find_repeated_name
from spanproof.config.targets import Webhook
from spanproof.config.tickets import Tickets
from spanproof.config.verdicts import RouteRule, Verdicts
from spanproof.sandbox.untrusted_files import is_beneath
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
    "Kafka",
    "Limits",
    "Metrics",
    "Oidc",
    "OwnEvaluator",
    "Problem",
    "Receivers",
    "RedactionRules",
    "Retention",
    "Role",
    "RouteRule",
    "SandboxChoice",
    "Sink",
    "Store",
    "Tls",
    "Token",
    "Verdicts",
    "Wal",
    "Webhook",
    "load_config",
]

_PASSWORD = re.compile(r"(://[^:/@\s]*):[^@/\s]*@")

_EXTERNAL = f"^({'|'.join(layer.value for layer in Layer)})\\.[a-z][a-z0-9_]{{0,63}}$"


class Oidc(Section):
    """Readers with a token of an OpenID Connect provider; enabled once `issuer` is set."""

    issuer: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s/]",
        description="The provider's issuer URL; null accepts no such tokens. Its keys are found by"
        " discovery.",
    )
    audience: str = Field(
        default="spanproof", min_length=1, description="The audience that a token's `aud` must name."
    )
    jwks_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s/]",
        description="URL of the provider's keys; default: the one in its discovery document.",
    )
    required_claims: Mapping[str, str] = Field(
        default_factory=dict,
        description="Claims that a token must have with this value, or with a list that contains it, such as"
        " `{groups: reviewers}`.",
    )
    project_claim: str | None = Field(
        default=None,
        min_length=1,
        description="Claim with the one project whose data a reader may see; a token without it is refused."
        " Null: readers see all projects.",
    )


class Console(Section):
    """The console and its API, for people and programs that read: `GET /`, `GET /api/v1/…`."""

    enabled: bool = Field(default=True, description="Whether to serve the console.")
    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="Address to listen on. Anything but loopback is reachable by others, and needs `tokens`.",
    )
    port: Port = Field(
        default=4319,
        description="Port to listen on; 0 takes any free one. If a port that you set is in use, nothing"
        " starts. The default one gives way where `receivers.fallback_port` is true.",
    )
    tokens: tuple[SecretStr, ...] = Field(
        default=(),
        description="Readers' bearer tokens; each request of the API must have one. Tokens of `tokens` with"
        " the role `read` count as well.",
    )
    oidc: Oidc = Field(default=Oidc(), description="Readers with a token of an OpenID Connect provider.")
    tls: Tls = Field(default=Tls(), description="TLS of this listener.")
    writers: tuple[SecretStr, ...] = Field(
        default=(),
        description="Writers' bearer tokens, which may read, label, promote and silence. Without one, a"
        " console with readers' tokens is read-only.",
    )
    workspace: Path | None = Field(
        default=None,
        description="Folder of suites, experiments and gate reports; promoted cases are added there.",
    )

    public_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s/]",
        description="Address of the console for people; links in notifications begin with it. Null: no"
        " links.",
    )


class Wal(Section):
    """The write-ahead log: acknowledged data survives a crash."""

    directory: Path = Field(
        default=Path(".spanproof/wal"),
        description="Directory of acknowledged requests until their scores are stored.",
    )
    segment_bytes: int = Field(
        default=64 * MIB, ge=4096, description="Size at which a new segment file is started."
    )
    max_bytes: int = Field(
        default=16 * 1024 * MIB,
        ge=1024 * 1024,
        description="Maximum size of the log on disk; beyond it, requests are refused until traces are"
        " evaluated.",
    )
    keep_damaged_days: int = Field(
        default=30,
        gt=0,
        description="How long copies of damaged segments are kept, for `spanproof wal salvage`.",
    )
    damaged_bytes: int = Field(
        default=1024 * MIB,
        ge=0,
        description="Maximum total size of those copies; the oldest are removed first.",
    )
    fsync: bool = Field(
        default=True,
        description="Wait for the disk before acknowledging. Without it, a crash of the machine (not of the"
        " process) may lose acknowledged spans.",
    )


class Assembly(Section):
    """When a trace counts as complete. Later spans reopen it."""

    quiet_s: Seconds = Field(
        default=6.0, description="Wait without a new span if the root has ended and no parent is missing."
    )
    # docs/collector.md has the pauses of real agents that both are chosen from.
    orphan_quiet_s: Seconds = Field(
        default=150.0, description="Wait without a new span if the root or a parent is missing."
    )
    max_wait_s: Seconds = Field(
        default=900.0,
        description="Longest time from a trace's first span to its evaluation, even if spans still arrive.",
    )
    reopen_s: Seconds = Field(
        default=600.0, description="How long an evaluated trace stays in memory for late spans."
    )
    max_bytes: int = Field(
        default=256 * MIB,
        gt=0,
        description="Maximum size of the index of traces, about 50 bytes per span. Beyond it, evaluated"
        " traces are dropped first; then the traces that have been quiet longest are evaluated"
        " early.",
    )

    @model_validator(mode="after")
    def _check_waits(self) -> Self:
        if not self.quiet_s <= self.orphan_quiet_s <= self.max_wait_s:
            raise ValueError(
                "quiet_s ≤ orphan_quiet_s ≤ max_wait_s must hold, got "
                f"{self.quiet_s:g}, {self.orphan_quiet_s:g}, {self.max_wait_s:g}"
            )
        return self


Days = Annotated[int, Field(ge=1, le=36_500)]


class Retention(Section):
    """How many days rows are kept, by the time of the span; null keeps them forever."""

    spans: Days | None = Field(default=None, description="Spans as received.")
    evaluations: Days | None = Field(
        default=None,
        description="Complete evaluations, snippets and replays, which `show` and `promote` read.",
    )
    scores: Days | None = Field(default=None, description="Scores and failures.")
    counts: Days | None = Field(
        default=None, description="Verdicts counted by hour and day, which hold no text and no ids."
    )
    dead_letters: Days | None = Field(default=None, description="Traces that no attempt could evaluate.")


class Store(Section):
    """Where spans, scores and replays are kept."""

    location: str = Field(
        default=".spanproof/store",
        min_length=1,
        description="A directory for the embedded ClickHouse, or the DSN of a server "
        "(`clickhouse://user:password@host:port/database`).",
    )

    keep_days: Retention = Field(
        default=Retention(), description="How long rows are kept; applied when the server starts."
    )

    @field_serializer("location", when_used="json")
    def _format_password(self, location: str) -> str:
        return _PASSWORD.sub(r"\1:**********@", location)


class Metrics(Section):
    """The collector's own metrics."""

    max_cohorts: int = Field(
        default=200,
        ge=0,
        le=10_000,
        description="Number of cohorts (agent, model, prompt_version, release) with their own series in"
        " `spanproof_evaluation_verdicts_total`, and of (project, agent, model, task) in"
        " `spanproof_run_…`; further ones count as `(other)`.",
    )
    export_every_s: Seconds = Field(
        default=60.0,
        description="How often the metrics of `GET /metrics` are sent as OTLP to the targets of `forward`"
        " with `metrics: true`.",
    )


class Config(Section):
    """The whole configuration."""

    project: str = Field(default="default", min_length=1, description="Project of traces that name none.")
    receivers: Receivers = Field(default=Receivers(), description="Listeners for spans, logs and metrics.")
    tokens: tuple[Token, ...] = Field(
        default=(),
        description="Bearer tokens; every request must have one. An empty list means no check. A plain text"
        " is a token that may send and write.",
    )
    tokens_file: Path | None = Field(
        default=None,
        description="YAML file with a list like `tokens`, in addition to it; read again when it changes, so"
        " that you can rotate tokens.",
    )
    redaction: RedactionRules = Field(
        default=RedactionRules(), description="What is replaced before anything is written."
    )
    limits: Limits = Field(default=Limits(), description="How much is received at once.")
    wal: Wal = Field(default=Wal(), description="The write-ahead log.")
    assembly: Assembly = Field(default=Assembly(), description="When a trace counts as complete.")
    evaluation: Evaluation = Field(default=Evaluation(), description="How traces are evaluated.")
    sandbox: SandboxChoice = Field(default=SandboxChoice(), description="Where snippets are replayed.")
    policy: Path | None = Field(
        default=None,
        description="The agents' boundary: the name of a preset, such as `devops`, or a file; default: the"
        " preset `data-analysis`. docs/policy.md lists the presets.",
    )
    judge: JudgeChoice = Field(
        default=JudgeChoice(), description="A model that judges what the rules leave open."
    )
    evaluators: tuple[OwnEvaluator, ...] = Field(
        default=(), description="Your own scoring functions; docs/evaluators.md has examples."
    )
    store: Store = Field(default=Store(), description="Where results are stored.")
    kafka: Kafka = Field(default=Kafka(), description="The topic that connects roles in several processes.")
    forward: tuple[Forward, ...] = Field(
        default=(), description="Targets that spans and scores are forwarded to."
    )
    forward_directory: Path = Field(
        default=Path(".spanproof/forward"), description="Directory of the queues of `forward`."
    )
    alerts: tuple[AlertRule, ...] = Field(default=(), description="Rules over scores, and whom to notify.")
    tickets: Tickets = Field(default=Tickets(), description="Clusters of failures as tickets of trackers.")
    sinks: tuple[Sink, ...] = Field(
        default=(), description="Products that get the scores for the traces that they have."
    )
    sinks_directory: Path = Field(
        default=Path(".spanproof/sinks"), description="Directory of the queues of the sinks."
    )
    external_scores: tuple[Annotated[str, Field(pattern=_EXTERNAL)], ...] = Field(
        default=(),
        description="Scores that `POST /v1/scores` accepts, as `layer.name`; empty accepts any. Alerts can"
        " watch the named ones.",
    )
    console: Console = Field(default=Console(), description="The console and its API.")
    metrics: Metrics = Field(default=Metrics(), description="The collector's own metrics.")
    verdicts: Verdicts = Field(default=Verdicts(), description="Verdicts while an agent runs.")
    routes: tuple[RouteRule, ...] = Field(
        default=(), description="Scores that make an agent fall back to another model or to a person."
    )

    # Where each key was set, of a configuration that `load_config` read.
    _gathered: Gathered = PrivateAttr(default_factory=Gathered)

    @field_validator("forward")
    @classmethod
    def _check_target_names(cls, forward: tuple[Forward, ...]) -> tuple[Forward, ...]:
        labels = [target.label for target in forward]
        if repeated := next((label for label in labels if labels.count(label) > 1), None):
            raise ValueError(f"two targets are named {repeated!r}; give each a `name` of its own")
        return forward

    @field_validator("sinks")
    @classmethod
    def _check_sink_names(cls, sinks: tuple[Sink, ...]) -> tuple[Sink, ...]:
        if repeated := find_repeated_name(sinks):
            raise ValueError(f"two sinks are named {repeated!r}; give each a name of its own")
        return sinks

    @field_validator("routes")
    @classmethod
    def _check_route_names(cls, routes: tuple[RouteRule, ...]) -> tuple[RouteRule, ...]:
        names = [rule.name for rule in routes]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"{repeated!r} is the name of two rules")
        return routes

    @model_validator(mode="after")
    def _check_readers(self) -> Self:
        console = self.console
        if console.enabled and not is_loopback(console.host) and not self.readers_are_checked:
            raise ValueError(
                f"console.host {console.host} is reachable by others; set `console.tokens`, "
                "`console.oidc.issuer` or a token with the role `read`, or listen on loopback"
            )
        return self

    @property
    def senders_are_checked(self) -> bool:
        """Whether the receivers require a token."""
        return bool(self.tokens or self.tokens_file)

    @property
    def readers_are_checked(self) -> bool:
        """Whether the console requires a token."""
        console = self.console
        granted = any(Role.READ in token.roles for token in self.tokens)
        has_own_tokens = bool(console.tokens or console.writers or console.oidc.issuer)
        return has_own_tokens or granted or self.tokens_file is not None

    def with_origins(self, gathered: Gathered) -> Self:
        """Return the configuration with where each key was set."""
        self._gathered = gathered
        return self

    def list_settings(self) -> list[tuple[str, str, str]]:
        """Return key, value and origin of each setting, a line each; secrets are masked."""
        return [
            (key, json.dumps(value, ensure_ascii=False), self._gathered.describe_origin(key) or "default")
            for key, value in _iter_values(self.model_dump(mode="json"))
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
            if receiver.enabled and not self.senders_are_checked and not is_loopback(receiver.host)
        ]
        # Prices serve the agents' cost as well.
        if self.judge.model:
            idle = []
        else:
            idle = sorted(self.judge.model_fields_set - {"model", "prices"})
        without_model = [f"judge.{key} is set and judge.model is not: no judge is used" for key in idle[:1]]
        unused = ["routes is set and verdicts.enabled is not: no rule is applied"]
        without_verdicts = unused if self.routes and not self.verdicts.enabled else []
        without_key = [
            f"sink {sink.label}: {name} is not set: its scores wait in the queue"
            for sink in self.sinks
            for name in sink.list_missing_keys()
        ]
        return (*reachable, *without_model, *without_verdicts, *without_key)


def _iter_values(tree: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a tree by dotted key; lists are values."""
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _iter_values(value, f"{under}{name}.")
        else:
            yield f"{under}{name}", value


def _list_misplaced_files(config: Config, path: Path | None) -> list[tuple[str, str]]:
    """Return the keys of evaluators whose file lies elsewhere, with what to do.

    A configuration may come with somebody else's change, and what an evaluator's file holds is shown when it
    fails.
    """
    if path is None:
        folders = [Path.cwd()]
    else:
        folders = [Path.cwd(), path.absolute().parent]
    found = []
    for number, choice in enumerate(config.evaluators):
        if choice.file is not None and not any(is_beneath(folder, choice.file) for folder in folders):
            key, shown = f"evaluators.{number}.file", " nor ".join(map(str, folders))
            found.append((key, f"{choice.file} lies neither in {shown}; put it there"))
    return found


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
    gathered = load_sources(Config, path, environ, overrides or {})
    problems = list(gathered.problems)
    config, found = parse_tree(Config, gathered.tree, gathered)
    problems += found
    if config is not None:
        wrong = iter_alert_problems(
            config.alerts, config.evaluators, config.judge, config.evaluation, config.external_scores
        )
        for key, message in (*wrong, *_list_misplaced_files(config, path)):
            problems.append(Problem(gathered.describe_origin(key), key, message))
    if problems or config is None:
        raise ConfigError(problems)
    return config.with_origins(gathered)
