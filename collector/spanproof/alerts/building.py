"""Alerts out of readings: every field that a message shows, from what a rule read.

In: an episode, a reading of its rule, the scores that the reading counted. Out: the alert as it is now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Final

from spanproof.alerts.delivery import TargetFailure
from spanproof.alerts.episodes import FIRING, PENDING, compute_episode_id
from spanproof.alerts.messages import (
    build_console_url,
    build_trace_url,
    describe_bound,
    format_line,
    format_summary,
)
from spanproof.alerts.model import Alert, FailureLine, ScoreLine, Status
from spanproof.alerts.rules import Details, Reading
from spanproof.evaluators.scores import is_open
from spanproof.store import AlertEvent
from spanproof.trace import Cohort, Errored, Score, Scored, Skipped, digest

DEAD_AFTER_NS: Final = 600 * 10**9
"""A target without a delivery for so long is reported: one that is restarted or deployed is back sooner."""

_LONGEST_EXPLANATION = 500


def build_alert(
    event: AlertEvent,
    status: str,
    reading: Reading,
    details: Details,
    now_ns: int,
    *,
    before: Alert | None,
    end_ns: int | None = None,
    console_url: str | None,
) -> Alert:
    """Return an alert as it is now.

    Args:
        event: of its episode.
        status: that it has now.
        reading: what its rule reads now.
        details: of the reading.
        now_ns: Unix time in nanoseconds.
        before: the alert as it was earlier in this episode, once it fired.
        end_ns: when it ends where its rate, which is below the bound, stays so.
        console_url: where links begin; None: there are none.
    """
    rule, counted = reading.rule, reading.verdicts
    if status in (PENDING, FIRING):
        shown = Status.FIRING
    else:
        shown = Status.RESOLVED
    not_counted = {}
    if counted is not None:
        not_counted = {"skipped": counted.skipped, "errored": counted.errored, "open": counted.open}
    summary = format_summary(reading, shown, event.episode_ns, now_ns, details.causes, end_ns)
    causes = ((cause.name, cause.count) for cause in details.causes)
    failures = [
        FailureLine(format_line(text, _LONGEST_EXPLANATION), count)
        for text, count in (*details.failures, *causes)
    ]
    return Alert(
        id=compute_episode_id(event),
        rule=rule.name,
        status=shown,
        severity=rule.severity.value,
        metric=rule.metric,
        measure=rule.measure.value,
        cohort=reading.cohort,
        group=reading.group,
        labels=rule.labels,
        summary=summary,
        first_summary=before.first_summary if before is not None else summary,
        since_ns=event.episode_ns,
        at_ns=now_ns,
        window_s=reading.window_s,
        threshold=describe_bound(rule, reading),
        value=reading.value,
        low=reading.low,
        before=reading.before,
        part=reading.part,
        whole=reading.whole,
        not_counted=not_counted,
        failures=tuple(failures),
        scores=tuple(_build_score_line(score, console_url) for score in details.scores),
        url=build_console_url(console_url, rule, reading.cohort),
        shared=select_shared_dimensions(details.scores),
        incident=before.incident if before is not None else None,
    )


def select_shared_dimensions(scores: Sequence[Score]) -> dict[str, str]:
    """Return the dimensions of the cohort that have one value in several scores; the project is no cause."""
    if len(scores) < 2:
        return {}
    names = (field.name for field in fields(Cohort) if field.name != "project")
    values = {name: {str(getattr(score.cohort, name)) for score in scores} for name in names}
    return {name: next(iter(found)) for name, found in values.items() if len(found) == 1 and found != {""}}


def _build_score_line(score: Score, console_url: str | None) -> ScoreLine:
    value: float | None = None
    raw: float | None = None
    unit = ""
    match score.outcome:
        case Scored() as scored:
            # The value of an open verdict is a placeholder.
            value = None if is_open(score) else scored.value
            raw, unit, explanation = scored.raw, scored.unit, scored.explanation
        case Errored(message=message):
            explanation = message
        case Skipped():
            explanation = ""
    return ScoreLine(
        score.id,
        score.trace_id,
        score.run_span_id,
        score.span_id,
        score.cohort.agent,
        value,
        raw,
        unit,
        format_line(explanation, _LONGEST_EXPLANATION),
        build_trace_url(console_url, score.trace_id),
    )


def build_target_alert(failure: TargetFailure, status: Status, now_ns: int) -> Alert:
    """Return the alert about a target that gets nothing, or gets notifications again."""
    label = format_line(failure.label, 100)
    error = format_line(failure.error, _LONGEST_EXPLANATION)
    summary = f"The target {label} gets no notifications: {error}."
    if status is Status.RESOLVED:
        summary = f"The target {label} gets notifications again."
    return Alert(
        id=digest("target", failure.target, str(failure.since_ns)),
        rule="alert target",
        status=status,
        severity="error",
        metric="alerts.delivery",
        measure="delivery",
        cohort={},
        group={},
        labels={"target": label},
        summary=summary,
        since_ns=failure.since_ns,
        at_ns=now_ns,
        window_s=DEAD_AFTER_NS / 1e9,
        threshold="no delivery",
        value=None,
        low=None,
        before=None,
        part=None,
        whole=0,
        not_counted={},
        failures=(),
        scores=(),
        url="",
        first_summary=summary,
    )
