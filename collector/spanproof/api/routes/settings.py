"""How this installation is set up: configuration with its origins, sandbox, evaluators, health."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Final

from fastapi import APIRouter, Request
from pydantic import Field

from spanproof.api import pages
from spanproof.api.access import Opened, read_token
from spanproof.api.models import Answer
from spanproof.evaluators.scores import SCORES
from spanproof.sandbox.registry import list_backends, open_sandbox
from spanproof.trace import Layer

# The ports of `spanproof serve` where nothing else is configured.
_DEFAULT_HTTP = "http://127.0.0.1:4318"
_DEFAULT_GRPC = "http://127.0.0.1:4317"
router = APIRouter()
_KEPT_S: Final = 300.0
_MOST_TOKENS: Final = 500


class Setting(Answer):
    """One value of the configuration."""

    key: str
    value: str = Field(description="As YAML would have it; secrets are masked.")
    origin: str = Field(description="File and line, environment variable or flag; `default`.")


class BuiltInScore(Answer):
    """A score that every run can have."""

    layer: Layer
    name: str
    advisory: bool


class TokenRow(Answer):
    """A token of the collector, by its name: its text is never shown."""

    name: str = Field(description="Empty where it has none.")
    roles: list[str]
    project: str = Field(description="Of everything that is sent with it; empty: the sender's.")


class Settings(Answer):
    """How this installation is set up."""

    version: str
    store: str
    workspace: str
    may_write: bool = Field(description="Whether this request's token may write.")
    readers: int = Field(description="How many readers' tokens there are; their text is never shown.")
    writers: int
    tokens: list[TokenRow] = Field(description="Of the collector, with their roles.")
    otlp_http: str = Field(description="Where spans are received; empty where this process receives none.")
    otlp_grpc: str
    settings: list[Setting] = Field(description="Empty where the console has no configuration.")
    ways: list[Way] = Field(description="How to send the first trace to this service.")
    scores: list[BuiltInScore]
    policy: str = Field(description="The policy file's text; empty: the default policy.")


class Way(Answer):
    """A way to send the first trace."""

    name: str
    text: str = Field(description="What to paste, with the address filled in.")


class Feature(Answer):
    """One isolation feature of a sandbox."""

    name: str
    present: bool
    required: bool
    detail: str
    remedy: str


class Backend(Answer):
    """One sandbox backend, as `spanproof doctor` sees it."""

    name: str
    usable: bool
    tier: str
    features: list[Feature]


class Doctor(Answer):
    """Which sandboxes this machine can run."""

    backends: list[Backend]


class Reading(Answer):
    """One number of the collector."""

    name: str
    meaning: str
    value: float


class Health(Answer):
    """The collector's numbers; empty where this process collects nothing."""

    readings: list[Reading]


@router.get("/settings")
def settings(request: Request, store: Opened) -> Settings:
    """Return how this installation is set up, with secrets masked."""
    settings = request.app.state.settings
    tokens = [
        TokenRow(
            name=pages.format_text(grant.name or ""), roles=sorted(grant.roles), project=grant.project or ""
        )
        for grant in list(settings.read_grants())[:_MOST_TOKENS]
    ]
    stored = [spec for spec in SCORES if spec.stored]
    return Settings(
        version=version("spanproof"),
        store=store.name,
        workspace=str(settings.workspace or ""),
        may_write=settings.may_write(read_token(request)),
        readers=len(settings.tokens),
        writers=len(settings.writers),
        tokens=tokens,
        otlp_http=settings.otlp_http,
        otlp_grpc=settings.otlp_grpc,
        settings=[
            Setting(key=key, value=pages.format_text(value), origin=origin)
            for key, value, origin in settings.configured
        ],
        ways=_list_ways(settings.otlp_http, settings.otlp_grpc),
        scores=[BuiltInScore(layer=spec.layer, name=spec.name, advisory=spec.advisory) for spec in stored],
        policy=pages.format_text(settings.policy),
    )


def _list_ways(http: str, grpc: str) -> list[Way]:
    """Return what sends a first trace, by language or program, to these addresses or the usual ones."""
    http = http or _DEFAULT_HTTP
    grpc = (grpc or _DEFAULT_GRPC).rpartition("://")[2]
    collector = (
        f"exporters:\n  otlp/spanproof:\n    endpoint: {grpc}\n    tls: {{insecure: true}}\n"
        "service:\n  pipelines:\n    traces: {exporters: [otlp/spanproof]}"
    )
    texts = {
        "Python": (
            "from spanproof.instrumentors import register\n\n"
            f'register(service_name="my-agent", endpoint="{http}")'
        ),
        "Collector": collector,
        "JavaScript": (
            f"OTEL_EXPORTER_OTLP_ENDPOINT={http} OTEL_SERVICE_NAME=my-agent \\\n"
            "  node --require @opentelemetry/auto-instrumentations-node/register agent.js"
        ),
        "curl": f"curl -s {http}/v1/traces -H 'content-type: application/json' -d @spans.json",
    }
    return [Way(name=name, text=text) for name, text in texts.items()]


@router.get("/doctor")
def doctor(request: Request) -> Doctor:
    """Return which sandboxes this machine can run; looked at once in five minutes."""
    kept = request.app.state.doctor
    if kept is None or time.monotonic() - kept[0] > _KEPT_S:
        kept = request.app.state.doctor = (time.monotonic(), Doctor(backends=_list_backends()))
    found: Doctor = kept[1]
    return found


@router.get("/health")
def health(request: Request) -> Health:
    """Return what the collector counts: spans, backlog, errors."""
    return Health(
        readings=[
            Reading(name=name, meaning=meaning, value=value)
            for name, meaning, value in request.app.state.settings.read_health()
        ]
    )


def _list_backends() -> list[Backend]:
    found = []
    for name in list_backends():
        with open_sandbox(name) as sandbox:
            seen = sandbox.availability()
        found.append(
            Backend(
                name=name,
                usable=seen.usable,
                tier=seen.tier.value if seen.tier is not None else "",
                features=[
                    Feature(
                        name=feature.name,
                        present=feature.present,
                        required=feature.required,
                        detail=pages.format_text(feature.detail),
                        remedy=pages.format_text(feature.remedy),
                    )
                    for feature in seen.features
                ],
            )
        )
    return found
