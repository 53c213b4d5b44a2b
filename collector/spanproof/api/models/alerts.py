"""The answers about alerts, their rules, silences and history."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from spanproof.api.models import Answer, Nanoseconds
from spanproof.trace import State


class AlertScore(Answer):
    """A score behind an alert."""

    trace_id: str
    run_span_id: str
    agent: str
    value: float | None
    explanation: str


class AlertFailure(Answer):
    """One of the commonest failures behind an alert."""

    text: str
    count: int


class AlertRow(Answer):
    """An alert in one of its states."""

    id: str
    incident: str = Field(description="The id of the incident that it is a member of.")
    rule: str
    status: str = Field(description="`pending`, `firing`, `resolved` or `inactive`.")
    severity: str
    metric: str
    summary: str = Field(description="As it was at `read_ns`.")
    first_summary: str = Field(description="The sentence with which it began to fire.")
    threshold: str = Field(description="The bound in the unit of its rule: `bound > 20 steps`.")
    since_ns: Nanoseconds
    at_ns: Nanoseconds = Field(description="Of the state.")
    read_ns: Nanoseconds = Field(description="Of the value and the counts.")
    value: float | None
    low: float | None
    part: int | None
    whole: int
    not_counted: dict[str, int] = Field(
        description="Of a fail rate: how many are open, were skipped or errored, and are not in `whole`."
    )
    cohort: dict[str, str]
    labels: dict[str, str] = Field(description="What the matchers of a silence are held against.")
    acknowledged_by: str
    undelivered: list[str]
    failures: list[AlertFailure]
    scores: list[AlertScore]


class AlertRule(Answer):
    """A rule of the configuration."""

    name: str
    metric: str
    severity: str
    measure: str
    threshold: float
    bound: str = Field(description="The bound in the unit of the rule: `bound > 20 steps`, `threshold 10 %`.")
    window_s: float
    window: str = Field(description="The window in one unit: `24 h`.")
    min_count: int
    group_by: list[str]
    cohort: dict[str, str]
    notify: list[str]
    made_by: str = Field(description="Who made it in the console; empty of a rule of the configuration.")


class MadeRuleRow(Answer):
    """A rule that a person made in the console."""

    name: str
    text: str = Field(description="The rule in YAML.")
    author: str
    saved_ns: Nanoseconds
    problem: str = Field(description="Why it is not watched; else empty.")


class NewRule(Answer):
    """A rule to be kept; one of the same name is replaced."""

    rule: Annotated[
        str,
        Field(
            min_length=1,
            max_length=20_000,
            description="As in `alerts` of a configuration, in YAML; `notify` names targets of the"
            " configuration.",
        ),
    ]
    author: Annotated[str, Field(min_length=1, max_length=100)]


class DeliveryRow(Answer):
    """How far a notification got at one target."""

    notification: str
    rule: str
    target: str
    state: str = Field(description="`trying`, `undelivered`, `delivered`, `superseded` or `given_up`.")
    mark: State = Field(description="The state as one of the five; `open` while it is being tried.")
    words: str = Field(description="The state in words.")
    attempts: int
    error: str = Field(description="Of the last attempt that failed, with the time of the next one.")
    at_ns: Nanoseconds


class DeliveryList(Answer):
    """Deliveries of notifications, the newest first."""

    deliveries: list[DeliveryRow]


class SilenceRow(Answer):
    """A silence: alerts whose labels fit all matchers start no notification."""

    id: str
    matchers: dict[str, str]
    starts_ns: Nanoseconds
    ends_ns: Nanoseconds
    author: str
    comment: str


class AlertList(Answer):
    """Rules, alerts and silences."""

    rules: list[AlertRule] = Field(description="None where the console has no configuration.")
    alerts: list[AlertRow]
    left_out: int = Field(description="Alerts in a form that this version cannot read.")
    silences: list[SilenceRow]
    made: list[MadeRuleRow] = Field(description="The rules that people made in the console.")
    targets: list[str] = Field(description="Targets of the configuration, which such a rule may name.")


class History(Answer):
    """What happened to alerts, newest first."""

    events: list[AlertRow]
    left_out: int = Field(description="Events in a form that this version cannot read.")


class NewSilence(Answer):
    """A silence to be written."""

    matchers: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=200)], Annotated[str, Field(max_length=500)]],
        Field(min_length=1, max_length=20, description="Label to a pattern with `*` and `?`."),
    ]
    hours: Annotated[float, Field(gt=0, le=24 * 90)]
    author: Annotated[str, Field(min_length=1, max_length=100)]
    comment: Annotated[str, Field(max_length=2000)] = ""


class NewAcknowledgement(Answer):
    """Somebody takes care of an alert."""

    author: Annotated[str, Field(min_length=1, max_length=100)]
    comment: Annotated[str, Field(max_length=2000)] = ""
