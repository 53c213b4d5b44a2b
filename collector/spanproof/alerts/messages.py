"""Sentences and links: what a notification says to people, without the markup of any target.

Explanations quote what agents printed, so they are hostile: control characters go, all text becomes one short
line, and every notifier escapes them for its own markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from spanproof.alerts.model import Alert, Status
from spanproof.alerts.rules import Reading
from spanproof.config.alerts import AlertRule, BurnWindow, Measure
from spanproof.store import CauseCount
from spanproof.trace import Layer
from spanproof.trace.dimensions import DIMENSIONS

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")
_MOST_SCORES = 5
# The console's query line has no words for other dimensions: its list then has more than the alert's runs.
_CONSOLE_NAMES = frozenset(DIMENSIONS) - {"fixture_set"}
_WHAT = {
    Measure.ERROR_RATE: "errored",
    Measure.ABSENCE_RATE: "without a verdict",
}


def format_line(text: str, limit: int = 200) -> str:
    """Return hostile text as one short line without control and direction characters."""
    flat = _CONTROL.sub(" ", text).strip()
    if len(flat) <= limit:
        return flat
    return flat[: limit - 1].rstrip() + "…"


def format_summary(
    reading: Reading,
    status: Status,
    since_ns: int,
    at_ns: int,
    causes: Sequence[CauseCount] = (),
    end_ns: int | None = None,
) -> str:
    """Return one sentence: what got worse for whom and for which causes, or that it is over.

    A second one says when the alert ends, where its rate is below the bound already.
    """
    rule = reading.rule
    who = describe_cohort(reading.cohort)
    window = describe_span(reading.window_s)
    why = f": {', '.join(cause.words for cause in causes)}" if causes else ""
    now = f"{_describe_measure(reading)} over the last {window}{why}; {describe_bound(rule, reading)}."
    if status is Status.FIRING:
        if end_ns:
            waits = f" Within its bound now: ends at {format_utc(end_ns)} if it stays so."
        else:
            waits = ""
        return f"{rule.metric} of {who}: {now}{waits}"
    lasted = describe_span((at_ns - since_ns) / 1e9)
    return f"{rule.metric} of {who} is within its bound again after {lasted}: {now}"


def describe_cohort(cohort: Mapping[str, str]) -> str:
    """Return a cohort in words: `agent checkout, release 2026.11`."""
    named = (f"{name} {format_line(value, 80) or '(none)'}" for name, value in cohort.items())
    return ", ".join(named) or "all runs"


def describe_bound(rule: AlertRule, reading: Reading | None = None) -> str:
    """Return the bound of a rule in words."""
    if rule.limit is not None:
        return f"bound {rule.limit.format_limit(rule.watched.unit)}"
    if not rule.measure.is_rate:
        return f"bound {rule.min_count} in a row"
    lower = " for the lower end of its interval" if rule.needs_evidence else ""
    if rule.burn_rate is not None:
        fired = reading.burn if reading is not None else None
        pairs = (fired,) if fired is not None else rule.burn_rate.windows
        bounds = " or ".join(_describe_burn(pair, rule.burn_rate.budget) for pair in pairs)
        return f"threshold {bounds}{lower}"
    if rule.baseline is not None:
        if rule.baseline.previous_release:
            earlier = "the release before"
        else:
            earlier = "the same window before"
        if reading is None or reading.before is None:
            before = "nothing"
        else:
            before = format_percent(reading.before)
        return f"{earlier} had {before}, bound a rise by {format_percent(rule.threshold)}{lower}"
    return f"threshold {format_percent(rule.threshold)}{lower}"


def _describe_burn(pair: BurnWindow, budget: float) -> str:
    """Return the rate at which a pair of windows fires, with the windows and the budget."""
    windows = f"{describe_span(pair.long_s)} and {describe_span(pair.short_s)}"
    multiple = f"{pair.factor:g} × the budget of {format_percent(budget)}"
    return f"{format_percent(pair.factor * budget)} over {windows} ({multiple})"


def format_title(alert: Alert) -> str:
    """Return a headline."""
    if alert.title:
        return format_line(alert.title, 150)
    sign = "FIRING" if alert.status is Status.FIRING else "RESOLVED"
    return format_line(f"{sign}: {alert.rule} – {describe_cohort(alert.cohort)}", 150)


def list_score_lines(alert: Alert) -> tuple[str, ...]:
    """Return the first scores of an alert, one line per score."""
    lines = []
    for score in alert.scores[:_MOST_SCORES]:
        amount = score.raw if score.raw is not None else score.value
        if amount is None:
            number = "–"
        else:
            number = f"{amount:.4g}{' ' + score.unit if score.unit else ''}"
        lines.append(f"{score.trace_id[:12]} {number}  {format_line(score.explanation, 120)}".strip())
    return tuple(lines)


def list_failure_lines(alert: Alert) -> tuple[str, ...]:
    """Return the commonest failures of an alert, or the causes of what is open, one line per failure."""
    return tuple(f"{failure.count} × {format_line(failure.text, 160)}" for failure in alert.failures)


def format_failures_heading(alert: Alert) -> str:
    """Return the heading of `list_failure_lines`."""
    if alert.measure == Measure.OPEN_RATE:
        return "Commonest causes"
    return "Commonest failures"


def format_scores_heading(alert: Alert) -> str:
    """Return the heading of `list_score_lines`: a cluster of failures has runs."""
    return "Runs" if alert.title else "Scores"


def format_plain_text(alert: Alert) -> str:
    """Return the whole message as plain text, for mail and issues."""
    parts = [alert.summary, f"Since {format_utc(alert.since_ns)}."]
    if alert.failures:
        parts += [
            "",
            f"{format_failures_heading(alert)}:",
            *(f"  {line}" for line in list_failure_lines(alert)),
        ]
    if alert.scores:
        parts += ["", f"{format_scores_heading(alert)}:", *(f"  {line}" for line in list_score_lines(alert))]
    if alert.url:
        parts += ["", alert.url]
    return "\n".join(parts)


def format_utc(unix_ns: int) -> str:
    """Return a time as `2026-11-24 09:30 UTC`."""
    return f"{datetime.fromtimestamp(unix_ns / 1e9, UTC):%Y-%m-%d %H:%M} UTC"


def describe_span(seconds: float) -> str:
    """Return a stretch of time in one unit: `5 min`, `24 h`, `7 d`."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        # A window of a day is one of 24 h to those who write it.
        if seconds >= (2 * length if unit == "d" else length):
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"


def build_console_url(base: str | None, rule: AlertRule, cohort: Mapping[str, str]) -> str:
    """Return the address of the console's list of traces that fail so, or of the queue of what is open."""
    if not base:
        return ""
    if rule.measure is Measure.OPEN_RATE:
        hours = max(1, round(rule.longest_s / 3600))
        return f"{base.rstrip('/')}/review?layer={rule.layer.value}&hours={hours}"
    terms = ["label:fail", f"layer:{rule.layer.value}"]
    terms += [f"{name}:{_format_term(value)}" for name, value in cohort.items() if name in _CONSOLE_NAMES]
    terms.append(f"since:{max(1, round(rule.longest_s / 3600))}h")
    return f"{base.rstrip('/')}/traces?q={quote(' '.join(terms))}"


def build_trace_url(base: str | None, trace_id: str) -> str:
    """Return the address of a trace in the console."""
    return f"{base.rstrip('/')}/traces/{trace_id}" if base else ""


def _format_term(value: str) -> str:
    if re.search(r"[\s\"]", value) or not value:
        return '"' + value.replace('"', '\\"') + '"'
    return value


def _describe_measure(reading: Reading) -> str:
    rule, value = reading.rule, reading.value
    if value is None:
        counted = reading.verdicts
        if counted is not None and counted.open:
            return counted.words
        return "nothing to measure"
    if rule.limit is not None:
        unit = rule.watched.unit.value
        name = "mean" if rule.measure is Measure.MEAN else rule.measure.value
        return f"{name} {value:.4g}{' ' + unit if unit else ''} of {reading.whole}"
    if rule.measure is Measure.FAIL_RATE and reading.verdicts is not None:
        return f"{reading.verdicts.words} ({format_percent(value)})"
    of = f"{reading.part} of {reading.whole}"
    if rule.measure is Measure.OPEN_RATE:
        what = "answers" if rule.layer is Layer.GROUNDEDNESS else "runs"
        return f"{of} {what} are open ({format_percent(value)})"
    if not rule.measure.is_rate:
        return f"{of} in a row {'errored' if rule.measure is Measure.CONSECUTIVE_ERRORS else 'failed'}"
    return f"{format_percent(value)} {_WHAT[rule.measure]} ({of})"


def format_percent(share: float) -> str:
    """Return a share as `12.5 %`."""
    return f"{share * 100:.3g} %"
