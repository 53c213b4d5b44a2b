"""What fires, what fired when, and what is silenced."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, HTTPException, Query, Request

from spanproof.alerts import Alert
from spanproof.alerts.episodes import FIRING, PENDING, find_alert
from spanproof.alerts.made_rules import InvalidRuleError, group_targets, read_made_rule
from spanproof.alerts.messages import describe_bound, describe_span
from spanproof.api import pages
from spanproof.api.access import WRITER, Opened
from spanproof.api.models.alerts import (
    AlertFailure,
    AlertList,
    AlertRow,
    AlertRule,
    AlertScore,
    DeliveryList,
    DeliveryRow,
    History,
    MadeRuleRow,
    NewAcknowledgement,
    NewRule,
    NewSilence,
    SilenceRow,
)
from spanproof.api.parameters import HOUR_NS
from spanproof.api.problems import build_problem
from spanproof.api.routes.rule_trials import read_rule
from spanproof.config.alerts import AlertRule as ConfiguredRule
from spanproof.store import Acknowledgement, AlertEvent, MadeRule, Silence
from spanproof.trace import State

_DELIVERY_WORDS: Mapping[str, tuple[State, str]] = {
    "delivered": (State.PASS, "delivered"),
    "trying": (State.OPEN, "being tried"),
    "undelivered": (State.OPEN, "tried again"),
    "superseded": (State.SKIPPED, "a later one says more"),
    "given_up": (State.FAIL, "given up"),
}
router = APIRouter()
_REFUSED: dict[int | str, dict[str, Any]] = {
    403: build_problem("this request may not write"),
    404: build_problem("there is none"),
    415: build_problem("the body is not JSON"),
}
_TAKEN = {**_REFUSED, 409: build_problem("the configuration has a rule of this name")}


@router.get("/alerts")
def alerts(
    request: Request,
    store: Opened,
    every: Annotated[bool, Query(description="Also alerts that have ended.")] = False,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> AlertList:
    """Return the rules, the alerts that fire or are pending, and the silences in force."""
    log = store.alerts
    events = [event for event in log.states() if every or event.status in (PENDING, FIRING)]
    taken = {
        (
            acknowledgement.rule,
            acknowledgement.fingerprint,
            acknowledgement.episode_ns,
        ): acknowledgement.author
        for acknowledgement in log.acknowledgements()
    }
    waiting: dict[str, list[str]] = {}
    for delivery in log.deliveries(limit=1000):
        if delivery.state in ("trying", "undelivered", "given_up"):
            waiting.setdefault(delivery.notification, []).append(
                pages.format_text(f"{delivery.target}: {delivery.state} {delivery.error}".strip())
            )
    shown = sorted(events, key=lambda event: event.at_ns, reverse=True)[:limit]
    configured: Sequence[ConfiguredRule] = request.app.state.settings.rules
    made = {rule: _describe_problem(rule, configured) for rule in log.made_rules()}
    rules = [_build_rule(rule) for rule in configured]
    for rule, problem in made.items():
        if not problem:
            rules.append(_build_rule(read_made_rule(rule, configured), rule.author))
    rows = [
        _build_row(
            event,
            alert,
            taken.get((event.rule, event.fingerprint, event.episode_ns), ""),
            waiting.get(event.notification, []),
        )
        for event, alert in _iter_readable(shown)
    ]
    return AlertList(
        rules=rules,
        alerts=rows,
        left_out=len(shown) - len(rows),
        silences=[_build_silence(item) for item in log.silences(time.time_ns())[:limit]],
        made=[_build_made_rule(rule, problem) for rule, problem in made.items()],
        targets=[pages.format_text(name) for name in group_targets(configured)],
    )


@router.get("/alerts/history")
def history(store: Opened, limit: Annotated[int, Query(ge=1, le=500)] = 100) -> History:
    """Return what happened to alerts, newest first, with the scores behind each."""
    events = store.alerts.history(limit)
    rows = [_build_row(event, alert, "", []) for event, alert in _iter_readable(events)]
    return History(events=rows, left_out=len(events) - len(rows))


@router.get("/alerts/deliveries")
def deliveries(store: Opened, limit: Annotated[int, Query(ge=1, le=500)] = 200) -> DeliveryList:
    """Return how far each notification got at each target, the newest first."""
    return DeliveryList(
        deliveries=[
            DeliveryRow(
                notification=delivery.notification,
                rule=pages.format_text(delivery.rule),
                target=pages.format_text(delivery.target),
                state=delivery.state,
                mark=_DELIVERY_WORDS.get(delivery.state, (State.SKIPPED, ""))[0],
                words=_DELIVERY_WORDS.get(delivery.state, (State.SKIPPED, delivery.state))[1],
                attempts=delivery.attempts,
                error=pages.format_text(delivery.error),
                at_ns=delivery.at_ns,
            )
            for delivery in store.alerts.deliveries(limit=limit)
        ]
    )


@router.post("/alerts/rules", status_code=201, responses=_TAKEN, dependencies=[WRITER])
def save_rule(new_rule: NewRule, request: Request, store: Opened) -> MadeRuleRow:
    """Keep a rule: `serve` watches it from its next reading on."""
    rule = read_rule(request, new_rule.rule)
    if any(item.name == rule.name for item in request.app.state.settings.rules):
        raise HTTPException(
            HTTPStatus.CONFLICT, f"the configuration has a rule {rule.name[:200]!r}: change it there"
        )
    made = MadeRule(rule.name, new_rule.rule, new_rule.author, time.time_ns())
    store.alerts.save_rule(made)
    return _build_made_rule(made, "")


@router.delete("/alerts/rules/{name:path}", responses=_REFUSED, dependencies=[WRITER])
def remove_rule(name: str, store: Opened) -> MadeRuleRow:
    """Remove a rule that a person made; its alerts end."""
    for made in store.alerts.made_rules():
        if made.name == name:
            store.alerts.remove_rule(made)
            return _build_made_rule(made, "")
    raise HTTPException(HTTPStatus.NOT_FOUND, f"no rule {name[:200]!r} was made in the console")


@router.post("/alerts/{alert_id}/acknowledgement", responses=_REFUSED, dependencies=[WRITER])
def acknowledge(alert_id: str, acknowledgement: NewAcknowledgement, store: Opened) -> AlertRow:
    """Take care of an alert that fires: it is not sent again until it has ended."""
    for event in store.alerts.states():
        alert = find_alert(event)
        if event.status == FIRING and alert is not None and alert.id == alert_id:
            store.alerts.acknowledge(
                Acknowledgement(
                    event.rule,
                    event.fingerprint,
                    event.episode_ns,
                    acknowledgement.author,
                    acknowledgement.comment,
                    time.time_ns(),
                )
            )
            return _build_row(event, alert, acknowledgement.author, [])
    raise HTTPException(HTTPStatus.NOT_FOUND, f"no alert {alert_id[:64]!r} fires")


@router.post("/silences", status_code=201, responses=_REFUSED, dependencies=[WRITER])
def silence(new_silence: NewSilence, store: Opened) -> SilenceRow:
    """Silence alerts whose labels fit, from now on for some hours."""
    now = time.time_ns()
    written = Silence(
        uuid4().hex,
        new_silence.matchers,
        now,
        now + int(new_silence.hours * HOUR_NS),
        new_silence.author,
        new_silence.comment,
    )
    store.alerts.write_silence(written)
    return _build_silence(written)


@router.delete("/silences/{silence_id}", responses=_REFUSED, dependencies=[WRITER])
def end_silence(silence_id: str, store: Opened) -> SilenceRow:
    """End a silence now."""
    now = time.time_ns()
    for item in store.alerts.silences(now):
        if item.id == silence_id:
            ended = replace(item, ends_ns=now)
            store.alerts.write_silence(ended)
            return _build_silence(ended)
    raise HTTPException(HTTPStatus.NOT_FOUND, f"no silence {silence_id[:64]!r} is in force")


def _describe_problem(made: MadeRule, configured: Sequence[ConfiguredRule]) -> str:
    """Return why a rule that a person made is not watched; empty where it is."""
    try:
        read_made_rule(made, configured)
    except InvalidRuleError as problem:
        return str(problem)
    return ""


def _build_made_rule(made: MadeRule, problem: str) -> MadeRuleRow:
    return MadeRuleRow(
        name=pages.format_text(made.name),
        text=pages.format_text(made.text),
        author=pages.format_text(made.author),
        saved_ns=made.saved_ns,
        problem=pages.format_text(problem),
    )


def _build_rule(rule: ConfiguredRule, made_by: str = "") -> AlertRule:
    return AlertRule(
        name=pages.format_text(rule.name),
        metric=f"{rule.layer.value}.{rule.score or 'score'}",
        severity=rule.severity.value,
        measure=rule.measure.value,
        threshold=rule.threshold,
        bound=pages.format_text(describe_bound(rule)),
        window_s=rule.window_s,
        window=describe_span(rule.longest_s),
        min_count=rule.min_count,
        group_by=list(rule.group_by),
        cohort=_build_texts(rule.cohort),
        notify=[pages.format_text(target.label) for target in rule.notify],
        made_by=pages.format_text(made_by),
    )


def _iter_readable(events: Iterable[AlertEvent]) -> Iterator[tuple[AlertEvent, Alert]]:
    """Yield the events whose alert can be read, with it."""
    for event in events:
        alert = find_alert(event)
        if alert is not None:
            yield event, alert


def _build_row(event: AlertEvent, alert: Alert, acknowledged_by: str, undelivered: list[str]) -> AlertRow:
    return AlertRow(
        id=alert.id,
        incident=alert.incident_id,
        rule=pages.format_text(alert.rule),
        status=event.status,
        severity=alert.severity,
        metric=pages.format_text(alert.metric),
        summary=pages.format_text(alert.summary),
        first_summary=pages.format_text(alert.first_summary),
        threshold=pages.format_text(alert.threshold),
        since_ns=alert.since_ns,
        at_ns=event.at_ns,
        read_ns=alert.at_ns,
        value=alert.value,
        low=alert.low,
        part=alert.part,
        whole=alert.whole,
        not_counted=dict(alert.not_counted),
        cohort=_build_texts(alert.cohort),
        labels=_build_texts(alert.all_labels),
        acknowledged_by=pages.format_text(acknowledged_by),
        undelivered=undelivered,
        failures=[
            AlertFailure(text=pages.format_text(failure.text), count=failure.count)
            for failure in alert.failures
        ],
        scores=[
            AlertScore(
                trace_id=score.trace_id,
                run_span_id=score.run_span_id,
                agent=pages.format_text(score.agent),
                value=score.value,
                explanation=pages.format_text(score.explanation),
            )
            for score in alert.scores
        ],
    )


def _build_silence(silence: Silence) -> SilenceRow:
    return SilenceRow(
        id=silence.id,
        matchers=_build_texts(silence.matchers),
        starts_ns=silence.starts_ns,
        ends_ns=silence.ends_ns,
        author=pages.format_text(silence.author),
        comment=pages.format_text(silence.comment),
    )


def _build_texts(texts: Mapping[str, str]) -> dict[str, str]:
    return {pages.format_text(name): pages.format_text(value) for name, value in texts.items()}
