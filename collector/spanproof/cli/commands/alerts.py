"""`spanproof alerts`: what fires, silences, acknowledgements, trials. All of it works while a server runs."""

from __future__ import annotations

import getpass
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

import click

from spanproof.alerts import Alert, AlertRule
from spanproof.alerts.episodes import FIRING, PENDING, find_alert
from spanproof.alerts.messages import describe_span
from spanproof.alerts.notification import Notification, describe_members, list_members
from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.config import with_config_options
from spanproof.cli.options.store import (
    get_location,
    opened_store,
    parse_span,
    store_option,
    with_limit_option,
)
from spanproof.cli.output.console import console, select_attributes, write_json, write_remark
from spanproof.cli.output.hostile import format_line
from spanproof.cli.output.listing import build_listing
from spanproof.cli.output.words import format_count, format_time
from spanproof.cli.problems import UsageProblem
from spanproof.config.model import Config
from spanproof.store import Acknowledgement, AlertEvent, Delivery, Silence, Store

_SHOWN_ID = 12


@click.group("alerts")
def command() -> None:
    """List alerts, silence and acknowledge them, try a rule on the past."""


@dataclass(frozen=True, slots=True)
class _Row:
    event: AlertEvent
    alert: Alert
    acknowledged: Acknowledgement | None
    undelivered: tuple[Delivery, ...]


@command.command("list")
@click.option("--all", "every", is_flag=True, help="List alerts that have ended, too, the newest ones.")
@with_limit_option(100, "List at most this many alerts.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line per alert, then per silence, on stdout.")
def list_alerts(every: bool, limit: int, location: str, as_json: bool) -> int:
    """List the alerts that fire or are pending, and the silences in force."""
    now_ns = time.time_ns()
    with opened_store(location) as store:
        rows = _read_rows(store, every=every, limit=limit)
        silences = store.alerts.silences(now_ns)
    if as_json:
        _write_lines(rows, silences)
        return EXIT_PASS
    if not rows:
        write_remark("no alert fires" if not every else "there is no alert")
    else:
        _write_table(rows)
    for silence in silences:
        until = f"until {format_time(silence.ends_ns)} UTC"
        console.print(format_line(f"silence {silence.id[:_SHOWN_ID]} {until}: {_describe_row(silence)}"))
    return EXIT_PASS


@command.command("silence")
@click.argument("matchers", nargs=-1, metavar="[LABEL=PATTERN]...")
@click.option(
    "--for",
    "duration",
    default="1h",
    show_default=True,
    help="How long the silence lasts: 90s, 15m, 24h, 7d.",
)
@click.option("--end", "ended", metavar="ID", help="End this silence now; the start of its id is enough.")
@click.option("--comment", default="", help="Why.")
@click.option("--author", default=None, help="Name of the author. By default your login name.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="The silence as one JSON line on stdout.")
def silence(
    matchers: tuple[str, ...],
    duration: str,
    ended: str | None,
    comment: str,
    author: str | None,
    location: str,
    as_json: bool,
) -> int:
    """Keep alerts whose labels fit from starting notifications.

    Labels are the dimensions of the cohort, `alertname`, `layer`, `score`, `severity` and the rule's own;
    `*` and `?` in a pattern are wildcards. All matchers must fit.
    """
    if bool(matchers) is (ended is not None):
        raise UsageProblem(
            "alerts silence: give matchers, or --end",
            "As in: spanproof alerts silence agent=checkout --for 2h",
        )
    now_ns = time.time_ns()
    with opened_store(location, writing=True) as store:
        if ended is not None:
            written = replace(_get_silence(store, ended, now_ns), ends_ns=now_ns)
        else:
            until_ns = now_ns + parse_span("--for", duration)
            named = author or _get_user_name()
            written = Silence(uuid4().hex, _read_matchers(matchers), now_ns, until_ns, named, comment)
        store.alerts.write_silence(written)
    if as_json:
        write_json(_to_silence_row(written))
    elif ended is not None:
        console.print(format_line(f"silence {written.id[:_SHOWN_ID]} has ended"))
    else:
        until = format_time(written.ends_ns)
        console.print(
            format_line(f"silence {written.id[:_SHOWN_ID]} until {until} UTC: {_describe_row(written)}")
        )
    return EXIT_PASS


@command.command("ack")
@click.argument("alert")
@click.option("--comment", default="", help="What you do about the alert.")
@click.option("--author", default=None, help="Name of the author. By default your login name.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="The acknowledgement as one JSON line on stdout.")
def acknowledge(alert: str, comment: str, author: str | None, location: str, as_json: bool) -> int:
    """Acknowledge an alert or an incident that fires.

    It is not sent again until it has ended. ALERT is its id, as `spanproof alerts list` shows it; the start
    is enough. The id of an incident means all of its alerts that fire now.
    """
    with opened_store(location, writing=True) as store:
        rows = [row for row in _read_rows(store, every=False, limit=10_000) if row.event.status == FIRING]
        found = _list_rows(rows, alert)
        if not found:
            matching = sum(row.alert.id.startswith(alert) for row in rows)
            many = f"{format_count(matching, 'alert')} of this id fire"
            raise UsageProblem(f"alert {alert!r}: {many}", "`spanproof alerts list` lists them.")
        named, now_ns = author or _get_user_name(), time.time_ns()
        for row in found:
            event = row.event
            store.alerts.acknowledge(
                Acknowledgement(event.rule, event.fingerprint, event.episode_ns, named, comment, now_ns)
            )
    for row in found if as_json else ():
        written = {"rule": row.alert.rule, "author": named, "comment": comment, "at_ns": now_ns}
        write_json({"id": row.alert.id, **written})
    if not as_json:
        first = found[0].alert
        if len(found) == 1:
            what = first.rule
        else:
            what = f"{first.rule} ({len(found)} alerts)"
        console.print(format_line(f"{what} is acknowledged by {named}: {first.summary}"))
    return EXIT_PASS


def _list_rows(rows: Sequence[_Row], start: str) -> list[_Row]:
    """Return the one alert, or the alerts of the one incident, whose id starts so; none where several do."""
    of_incident = [row for row in rows if row.alert.incident_id.startswith(start)]
    if of_incident and len({row.alert.incident_id for row in of_incident}) == 1:
        return of_incident
    of_alert = [row for row in rows if row.alert.id.startswith(start)]
    return of_alert if len(of_alert) == 1 else []


@command.command("test")
@click.argument("rule")
@click.option("--since", default="7d", show_default=True, help="How far back: 24h, 7d.")
@with_config_options
@store_option
@click.option("--json", "as_json", is_flag=True, help="A JSON line per notification, then their number.")
def try_rule(rule: str, since: str, config: Config, location: str, as_json: bool) -> int:
    """Show how often a rule of the configuration would have fired.

    RULE is its name. The rule is evaluated over the scores in the store, from the start of --since, in
    steps of a twelfth of its window. Nothing is sent, and nothing is written.
    """
    from spanproof.alerts.replay import compute_step_s, is_page, iter_stored_notifications

    watched = next((one for one in config.alerts if one.name == rule), None)
    if watched is None:
        names = ", ".join(one.name for one in config.alerts) or "none"
        raise UsageProblem(f"alerts test: there is no rule {rule!r}", f"The configuration has: {names}.")
    end_ns = time.time_ns()
    start_ns = end_ns - parse_span("--since", since)
    with opened_store(get_location(location, config)) as store:
        step_s = compute_step_s(watched)
        fired = 0
        for notification in iter_stored_notifications(watched, store.measures, start_ns, end_ns, step_s):
            fired += is_page(notification)
            _write_trial_notification(notification, as_json=as_json)
    if as_json:
        write_json({"kind": "trial", "rule": rule, "start_ns": start_ns, "end_ns": end_ns, "fired": fired})
        return EXIT_PASS
    console.print(format_line(f"{rule} would have fired {format_count(fired, 'time')} in the last {since}"))
    return EXIT_PASS


def _write_trial_notification(notification: Notification, *, as_json: bool) -> None:
    """Write a notification that a rule would have made, as a line."""
    if as_json:
        fields = select_attributes(notification, "at_ns status repeated is_update summary")
        write_json({"kind": "notification", **fields})
        return
    kind = "update" if notification.is_update else notification.status.value
    line = f"{format_time(notification.at_ns)} UTC  {kind}: {notification.summary}"
    console.print(format_line(line))


@command.command("simulate")
@click.option("--window", default="1h", show_default=True, help="The rule's window: 10m, 1h, 24h.")
@click.option(
    "--threshold",
    default=0.1,
    show_default=True,
    type=click.FloatRange(0.001, 0.5),
    help="The rule's threshold.",
)
@click.option(
    "--verdicts",
    "volumes",
    multiple=True,
    type=click.IntRange(1, 100_000),
    help="Verdicts per window; may be given several times. By default 40, 200 and 1000.",
)
@click.option(
    "--weeks",
    default=4,
    show_default=True,
    type=click.IntRange(1, 520),
    help="Weeks simulated at each steady rate.",
)
@click.option(
    "--steps",
    default=25,
    show_default=True,
    type=click.IntRange(0, 10_000),
    help="Number of simulated doublings of the rate.",
)
@click.option(
    "--groups",
    default=0,
    type=click.IntRange(0, 1000),
    help="Instead of rates, simulate one outage that affects this many groups of the rule.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line per rule and volume on stdout.")
def simulate(
    window: str,
    threshold: float,
    volumes: Sequence[int],
    weeks: int,
    steps: int,
    groups: int,
    as_json: bool,
) -> int:
    """Simulate how often a rule pages.

    The simulation uses steady rates, and measures how soon the rule detects a doubling. Two rules in the
    style of Prometheus are compared. With --groups: the notifications of one outage. The numbers are
    reproducible.
    """
    from spanproof.alerts.simulation import FACTORS, run_rule_simulation

    window_s = parse_span("--window", window) / 1e9
    settings = {"name": "simulated", "layer": "groundedness", "window_s": window_s, "threshold": threshold}
    if groups:
        _write_outage({**settings, "group_by": ["user"]}, groups, (*volumes, 120)[0], as_json=as_json)
        return EXIT_PASS
    rule = AlertRule.model_validate(settings)
    found = [
        result
        for volume in volumes or (40, 200, 1000)
        for result in run_rule_simulation(rule, volume, weeks=weeks, steps=steps)
    ]
    if as_json:
        for result in found:
            write_json(
                select_attributes(
                    result, "name verdicts_per_window pages_a_week detected_within_window windows_to_detect"
                )
            )
        return EXIT_PASS
    factors = (f"{factor:g} x" for factor in FACTORS)
    table = build_listing("rule", "verdicts a window", *factors, "detected within", "median")
    for result in found:
        if result.windows_to_detect is None:
            wait = "-"
        else:
            wait = f"{result.windows_to_detect:.2f} windows"
        pages = (f"{pages:.2g}" for pages in result.pages_a_week)
        table.add_row(
            result.name, str(result.verdicts_per_window), *pages, f"{result.detected_within_window:.0%}", wait
        )
    console.print(
        "Pages a week at steady rates, by multiple of the threshold; doublings detected within the window."
    )
    console.print(table)
    return EXIT_PASS


def _write_outage(settings: dict[str, object], groups: int, volume: int, *, as_json: bool) -> None:
    from spanproof.alerts.outage import list_outage_lines, run_outage_simulation

    result = run_outage_simulation(AlertRule.model_validate(settings), groups, volume)
    counts = select_attributes(result, "groups incidents updates most_members has_ended pages_by_group")
    if as_json:
        write_json(counts)
        return
    for after, kind, summary in list_outage_lines(result):
        console.print(format_line(f"{after}  {kind}: {summary}"))
    sent = format_count(len(result.notifications), "notification")
    console.print(
        f"{groups} groups: {format_count(result.incidents, 'incident')}, {sent}"
        f" ({format_count(result.updates, 'update')}). A Prometheus rule that is not grouped pages"
        f" {format_count(result.pages_by_group, 'time')}."
    )


def _read_rows(store: Store, *, every: bool, limit: int) -> list[_Row]:
    events = [event for event in store.alerts.states() if every or event.status in (PENDING, FIRING)]
    acknowledged = {
        (one.rule, one.fingerprint, one.episode_ns): one for one in store.alerts.acknowledgements()
    }
    waiting: dict[str, list[Delivery]] = {}
    for delivery in store.alerts.deliveries():
        if delivery.state in ("trying", "undelivered", "given_up"):
            waiting.setdefault(delivery.notification, []).append(delivery)
    shown = sorted(events, key=lambda event: event.at_ns, reverse=True)[:limit]
    rows = [
        _Row(
            event,
            alert,
            acknowledged.get((event.rule, event.fingerprint, event.episode_ns)),
            tuple(waiting.get(event.notification, ())),
        )
        for event in shown
        if (alert := find_alert(event)) is not None
    ]
    if left_out := len(shown) - len(rows):
        them = "it" if left_out == 1 else "them"
        write_remark(f"{format_count(left_out, 'alert')} left out: this version cannot read {them}")
    return rows


def _write_lines(rows: Sequence[_Row], silences: Sequence[Silence]) -> None:
    for row in rows:
        alert = select_attributes(
            row.alert, "id rule severity metric value low part whole threshold since_ns at_ns"
        )
        texts = select_attributes(row.alert, "summary first_summary url")
        taken = row.acknowledged
        write_json(
            {
                "kind": "alert",
                "state": row.event.status,
                **alert,
                **texts,
                "incident": row.alert.incident_id,
                "cohort": dict(row.alert.cohort),
                "window": describe_span(row.alert.window_s),
                "not_counted": dict(row.alert.not_counted),
                "traces": [score.trace_id for score in row.alert.scores],
                "acknowledged": select_attributes(taken, "author comment at_ns") if taken else None,
                "undelivered": [
                    select_attributes(one, "target state attempts error") for one in row.undelivered
                ],
            }
        )
    for silence in silences:
        write_json(_to_silence_row(silence))


def _to_silence_row(silence: Silence) -> dict[str, object]:
    fields = select_attributes(silence, "id starts_ns ends_ns author comment")
    return {"kind": "silence", **fields, "matchers": dict(silence.matchers)}


def _write_table(rows: Sequence[_Row]) -> None:
    table = build_listing("alert", "state", "since (UTC)", "severity", "what", "note")
    together: dict[tuple[str, str], list[_Row]] = {}
    for row in rows:
        # What fires in one incident is one line.
        if row.event.status == FIRING:
            key = row.alert.incident_id
        else:
            key = row.alert.id
        together.setdefault((row.event.status, key), []).append(row)
    for (state, shown_id), members in together.items():
        alerts = list_members([row.alert for row in members])
        first = alerts[0]
        summary = f"{first.rule}: {first.summary}"
        if len(alerts) > 1:
            summary = describe_members(first.rule, alerts)
        else:
            shown_id = first.id
        table.add_row(
            shown_id[:_SHOWN_ID],
            state,
            format_time(min(alert.since_ns for alert in alerts)),
            first.severity,
            format_line(summary),
            format_line("; ".join(_list_notes(members))),
        )
    console.print(table)


def _list_notes(members: Sequence[_Row]) -> list[str]:
    """Return who takes care of an incident, and which targets did not get its notification."""
    authors = {row.acknowledged.author: None for row in members if row.acknowledged is not None}
    deliveries = {delivery: None for row in members for delivery in row.undelivered}
    notes = [f"acknowledged by {author}" for author in authors]
    return notes + [f"{one.target}: {one.state} {one.error}".strip() for one in deliveries]


def _read_matchers(texts: Sequence[str]) -> dict[str, str]:
    matchers = {}
    for text in texts:
        name, equals, pattern = text.partition("=")
        if not equals or not name.strip():
            raise UsageProblem(
                f"alerts silence: {text!r} is no matcher", "Write LABEL=PATTERN: agent='check*'."
            )
        matchers[name.strip()] = pattern
    return matchers


def _get_silence(store: Store, start: str, now_ns: int) -> Silence:
    found = [silence for silence in store.alerts.silences(now_ns) if silence.id.startswith(start)]
    if len(found) != 1:
        many = (
            f"{format_count(len(found), 'silence')} in force {'has' if len(found) == 1 else 'have'} this id"
        )
        raise UsageProblem(f"silence {start!r}: {many}", "`spanproof alerts list` lists them.")
    return found[0]


def _describe_row(silence: Silence) -> str:
    fit = ", ".join(f"{name}={pattern}" for name, pattern in silence.matchers.items())
    comment = f" ({silence.comment})" if silence.comment else ""
    return f"{fit}, by {silence.author}{comment}"


def _get_user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
