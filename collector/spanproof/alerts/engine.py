"""All rules over time: which alerts there are, and which notifications they make.

`tick` reads each rule once, writes what happened to its alerts into the store, and hands notifications to the
couriers of their targets. The store knows of a notification before any target does, and of its delivery
after: a restart goes on where the process ended, and what may have been sent twice has one id. A rule that
cannot be read, or whose events cannot be written, is logged and tried at the next tick; it never stops the
others.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from spanproof.alerts.delivery import Courier, OnOutcome, TargetFailure
from spanproof.alerts.evidence import Standing
from spanproof.alerts.messages import (
    build_console_url,
    build_trace_url,
    describe_bound,
    flatten_line,
    summarise,
)
from spanproof.alerts.model import Alert, FailureLine, Notification, ScoreLine, Status, build_labels
from spanproof.alerts.notifiers import Notifier, notifier_for
from spanproof.alerts.pacing import DAY_NS, Pacing
from spanproof.alerts.rules import AlertStore, Behind, Reading, look_behind, make_empty_reading, read
from spanproof.config.alerts import AlertRule, NoData
from spanproof.config.targets import Target
from spanproof.evaluators.scores import is_open
from spanproof.store import AlertEvent, Delivery, Silence, StoreError
from spanproof.trace import Score, Scored, digest
from spanproof.trace.codec import decode, encode

_log = logging.getLogger(__name__)

_EXPLANATION = 500
_MOST_STATES = 10_000
_FORGOTTEN_AFTER_NS = 86_400 * 10**9
# A target that is restarted or deployed is back sooner.
_DEAD_AFTER_NS = 600 * 10**9
# A firing alert's text is read and written anew so often: look-ups behind it take longer than its rate.
_REFRESH_NS = 60 * 10**9
PENDING, FIRING, RESOLVED, INACTIVE = "pending", "firing", "resolved", "inactive"
"""States of an alert; `inactive` was pending and never fired."""


@dataclass(slots=True)
class _State:
    """An alert: its newest event, and since when its condition does not hold while it still fires.

    Attributes:
        clear_since_ns: since when its rate is below the bound for sure.
        low_since_ns: since when its rate is below the bound, for sure or not.
    """

    event: AlertEvent
    alert: Alert
    clear_since_ns: int | None = None
    low_since_ns: int | None = None

    @property
    def is_active(self) -> bool:
        return self.event.status in (PENDING, FIRING)


@dataclass(frozen=True, slots=True)
class _Step:
    """What happens to an alert next: the event before, the status after, and whether it is notified."""

    before: AlertEvent
    status: str
    reading: Reading
    notify: bool = False


@dataclass(frozen=True, slots=True)
class _Muting:
    """What keeps alerts from starting a notification now."""

    silences: Sequence[Silence]
    acknowledged: frozenset[tuple[str, str, int]]


class AlertEngine:
    """Rules with their alerts; one thread at a time calls `tick`.

    Args:
        rules: with names that differ.
        store: what is read, and where alerts are kept.
        open_notifier: gives the notifier of a target.
        console_url: where links in notifications begin; None: there are none.
        clock: Unix time in nanoseconds, by which notifications grow too old to be tried.
        first_pause_s: after the first failed attempt at a target.
        on_outcome: called with a target's kind and how an attempt ended.
        raising: whether `tick` raises where the store cannot be read, in place of trying again.
    """

    def __init__(
        self,
        rules: Sequence[AlertRule],
        store: AlertStore,
        open_notifier: Callable[[Target], Notifier] = notifier_for,
        *,
        console_url: str | None = None,
        clock: Callable[[], int] = time.time_ns,
        first_pause_s: float = 1.0,
        on_outcome: OnOutcome | None = None,
        raising: bool = False,
    ) -> None:
        names = [rule.name for rule in rules]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                f"alert rules: the name {twice[0]!r} is given twice; each rule has a name of its own"
            )
        self._store = store
        self._raising = raising
        self._rules = _sort_by_inhibition(rules)
        self._console_url = console_url
        self._clock = clock
        targets = {target.id: target for rule in rules for target in rule.notify}
        self._couriers = {
            name: Courier(
                target,
                open_notifier(target),
                store.alerts,
                clock=clock,
                first_pause_s=first_pause_s,
                on_outcome=on_outcome,
            )
            for name, target in targets.items()
        }
        self._states: dict[tuple[str, str], _State] = {}
        self._dead: dict[str, TargetFailure] = {}
        self._pacing = Pacing(store.alerts.firing_notifications(max(0, clock() - DAY_NS)))
        self._restore()
        for courier in self._couriers.values():
            courier.start()

    def tick(self, now_ns: int) -> list[Notification]:
        """Read every rule and note what happened; returns the notifications that targets will get.

        Args:
            now_ns: Unix time in nanoseconds, where the windows end.
        """
        if not self._rules:
            return []
        try:
            muting = self._read_muting(now_ns)
        except StoreError as problem:
            _log.warning("silences cannot be read, no rule is: %s", problem)
            return []
        made: list[Notification] = []
        for rule in self._rules:
            try:
                notification = self._evaluate(rule, muting, now_ns)
            except StoreError as problem:
                if self._raising:
                    raise
                _log.warning("alert %s: not read: %s", rule.name, problem)
                continue
            if notification is not None:
                made.append(notification)
        self._report_dead_targets(now_ns)
        return made

    @property
    def firing(self) -> list[Alert]:
        """The alerts that fire."""
        return [state.alert for state in self._states.values() if state.event.status == FIRING]

    def waiting(self) -> int:
        """Return how many notifications wait for a target, each target counted."""
        return sum(courier.waiting() for courier in self._couriers.values())

    def wait_delivered(self, timeout_s: float) -> bool:
        """Block until every target was tried with all that is due; False when that took longer."""
        until = time.monotonic() + timeout_s
        return all(
            courier.wait_idle(max(0.0, until - time.monotonic())) for courier in self._couriers.values()
        )

    def close(self, timeout_s: float) -> bool:
        """Try once what no target was tried with yet, and end; False when that took longer."""
        until = time.monotonic() + timeout_s
        late = 0
        for courier in self._couriers.values():
            late += not courier.close(max(0.0, until - time.monotonic()))
        return late == 0

    @property
    def dead_targets(self) -> list[TargetFailure]:
        """The targets that got nothing for so long that the other targets get an alert about it."""
        return [self._dead[name] for name in sorted(self._dead)]

    def _report_dead_targets(self, now_ns: int) -> None:
        """Report a target that gets nothing to the others, and its end."""
        for name, courier in self._couriers.items():
            failure, known = courier.failure, self._dead.get(name)
            if failure is not None and known is None and now_ns - failure.since_ns >= _DEAD_AFTER_NS:
                self._dead[name] = failure
                self._send_to_others(failure, Status.FIRING, now_ns)
            elif failure is None and known is not None:
                del self._dead[name]
                self._send_to_others(known, Status.RESOLVED, now_ns)

    def _send_to_others(self, failure: TargetFailure, status: Status, now_ns: int) -> None:
        alert = build_target_alert(failure, status, now_ns)
        notification = Notification(digest(alert.id, status.value), alert.rule, now_ns, (alert,))
        for name, courier in self._couriers.items():
            if name != failure.target and courier.failure is None:
                courier.put(notification)

    def _restore(self) -> None:
        """Take up the alerts that the store has, and the notifications that were not delivered."""
        for event in self._store.alerts.states():
            state = _State(event, decode(Alert, event.document))
            self._states[event.rule, event.fingerprint] = state
        known = {rule.name: rule for rule in self._rules}
        for state in self._states.values():
            rule = known.get(state.event.rule)
            if rule is None:
                self._end_removed(state)
            elif state.event.status == FIRING and state.event.notified_ns:
                for target in rule.notify:
                    self._couriers[target.id].keep_firing(state.alert)
        longest_s = max((courier.retry_for_s for courier in self._couriers.values()), default=0.0)
        self._queue_undelivered(self._clock() - int(2 * longest_s * 1e9))

    def _end_removed(self, state: _State) -> None:
        """Resolve an alert whose rule is no longer configured."""
        if not state.is_active:
            return
        now_ns = max(self._clock(), state.event.at_ns)
        targets = tuple(target for target in state.event.targets if target in self._couriers)
        notified = state.event.notified_ns > 0
        status = RESOLVED if state.event.status == FIRING else INACTIVE
        summary = f"The rule {state.event.rule} is no longer configured."
        alert = replace(state.alert, status=Status.RESOLVED, at_ns=now_ns, summary=summary)
        event = _make_next_event(state.event, status, now_ns, alert)
        if notified:
            event = replace(event, notification=_derive_notification_id([event]), targets=targets)
        self._store.alerts.write_events([event])
        state.event, state.alert = event, alert

    def _queue_undelivered(self, since_ns: int) -> None:
        found: dict[str, list[tuple[AlertEvent, Mapping[str, int]]]] = {}
        for event, open_ones in self._store.alerts.undelivered(max(0, since_ns)):
            found.setdefault(event.notification, []).append((event, open_ones))
        for rows in found.values():
            notification = _build_notification([event for event, _ in rows])
            for target, attempts in rows[0][1].items():
                if target in self._couriers:
                    self._couriers[target].put(notification, attempts)
                    continue
                _log.warning("alert %s: %s is no longer configured", notification.rule, target)
                reason = "the target is no longer configured"
                self._store.alerts.write_delivery(
                    Delivery(
                        notification.id,
                        target,
                        notification.rule,
                        "given_up",
                        attempts,
                        reason,
                        notification.at_ns,
                    )
                )

    def _read_muting(self, now_ns: int) -> _Muting:
        acknowledged = frozenset(
            (each.rule, each.fingerprint, each.episode_ns) for each in self._store.alerts.acknowledgements()
        )
        return _Muting(self._store.alerts.silences(now_ns), acknowledged)

    def _evaluate(self, rule: AlertRule, muting: _Muting, now_ns: int) -> Notification | None:
        """Read a rule, write the events of its alerts, and queue the notification they make."""
        readings = {
            _compute_fingerprint(rule, reading.group): reading for reading in read(rule, self._store, now_ns)
        }
        for (name, fingerprint), state in self._states.items():
            if name == rule.name and state.is_active and fingerprint not in readings:
                readings[fingerprint] = make_empty_reading(rule, state.alert.group, now_ns)
        steps = [
            step
            for fingerprint, reading in readings.items()
            if (step := self._advance(reading, fingerprint, muting, now_ns)) is not None
        ]
        stepped = {step.before.fingerprint for step in steps}
        unchanged = {name: reading for name, reading in readings.items() if name not in stepped}
        self._refresh_texts(unchanged, rule, now_ns)
        states = self._apply(steps, now_ns)
        notified = [state for state, step in zip(states, steps, strict=True) if step.notify]
        notification_id = _derive_notification_id([state.event for state in notified])
        targets = tuple(dict.fromkeys(target.id for target in rule.notify))
        for state in notified:
            state.event = replace(state.event, notification=notification_id, targets=targets)
        self._store.alerts.write_events([state.event for state in states])
        for state in states:
            self._states[state.event.rule, state.event.fingerprint] = state
        self._forget_old(now_ns)
        if not notified:
            return None
        paged = [state.event.fingerprint for state in notified if state.event.status == FIRING]
        if paged:
            self._pacing.note_page(rule.name, paged, now_ns)
        notification = _build_notification([state.event for state in notified])
        for target in targets:
            self._couriers[target].put(notification)
        return notification

    def _forget_old(self, now_ns: int) -> None:
        """Forget alerts that ended long ago, where there are many: they matter to a clock set back only."""
        if len(self._states) > _MOST_STATES:
            begin_ns = now_ns - _FORGOTTEN_AFTER_NS
            self._states = {
                key: state
                for key, state in self._states.items()
                if state.is_active or state.event.at_ns > begin_ns
            }

    def _advance(self, reading: Reading, fingerprint: str, muting: _Muting, now_ns: int) -> _Step | None:
        """Return what happens to an alert now, None for nothing."""
        rule = reading.rule
        state = self._states.get((rule.name, fingerprint))
        standing = self._find_standing(reading, state)
        if standing is not Standing.ABOVE:
            return self._clear(reading, standing, state, now_ns)
        if state is None or not state.is_active:
            # An episode is known by its start, which a clock that was set back must not repeat.
            episode_ns = now_ns if state is None else max(now_ns, state.event.episode_ns + 1)
            first = _make_initial_event(rule.name, fingerprint, episode_ns)
            if rule.fires_after_s > 0:
                return _Step(first, PENDING, reading)
            return _Step(first, FIRING, reading, notify=self._may_page(reading, fingerprint, muting, now_ns))
        event = state.event
        if event.status == PENDING:
            if now_ns - event.episode_ns < rule.fires_after_s * 1e9:
                return None
            return _Step(event, FIRING, reading, notify=self._may_page(reading, fingerprint, muting, now_ns))
        state.clear_since_ns = state.low_since_ns = None
        if not event.notified_ns:
            # It fired while it was muted, or while its rule had sent enough.
            may_page = self._may_page(reading, fingerprint, muting, now_ns)
            return _Step(event, FIRING, reading, notify=True) if may_page else None
        is_over = now_ns - event.notified_ns >= rule.cooldown_s * 1e9
        acknowledged = (event.rule, event.fingerprint, event.episode_ns) in muting.acknowledged
        if not rule.notify or not is_over or acknowledged:
            return None
        is_held_back = self._is_muted(reading, muting) or self._pacing.is_spent(rule, now_ns)
        return None if is_held_back else _Step(event, FIRING, reading, notify=True)

    def _find_standing(self, reading: Reading, state: _State | None) -> Standing:
        """Return where an alert's value is beside the bound, with what the rule makes of no data."""
        if reading.value is not None:
            return reading.standing
        of_this_rule = reading.group.keys() == set(reading.rule.group_by)
        match reading.rule.no_data:
            case NoData.RESOLVE:
                return Standing.BELOW
            case NoData.KEEP:
                holds = state is not None and state.is_active and of_this_rule
            case NoData.FIRE:
                holds = of_this_rule
        return Standing.ABOVE if holds else Standing.BELOW

    def _clear(self, reading: Reading, standing: Standing, state: _State | None, now_ns: int) -> _Step | None:
        if state is None or not state.is_active:
            return None
        if state.event.status == PENDING:
            return _Step(state.event, INACTIVE, reading)
        if standing is Standing.HIGH:
            state.clear_since_ns = state.low_since_ns = None
            return None
        if standing is Standing.LOW:
            state.clear_since_ns = None
        elif state.clear_since_ns is None:
            state.clear_since_ns = now_ns
        if state.low_since_ns is None:
            state.low_since_ns = now_ns
        rule, clear_since_ns = reading.rule, state.clear_since_ns
        is_clear = clear_since_ns is not None and now_ns - clear_since_ns >= rule.ends_after_s * 1e9
        has_settled = now_ns - state.low_since_ns >= rule.settles_after_s * 1e9
        if not is_clear and not has_settled:
            return None
        # An end is sent even while it is muted, to those who know of the beginning.
        return _Step(state.event, RESOLVED, reading, notify=state.event.notified_ns > 0)

    def _may_page(self, reading: Reading, fingerprint: str, muting: _Muting, now_ns: int) -> bool:
        """Return whether an alert that fires anew may start a notification now."""
        rule = reading.rule
        return (
            not self._is_muted(reading, muting)
            and not self._pacing.is_spent(rule, now_ns)
            and not self._pacing.is_paused(rule, fingerprint, now_ns)
        )

    def _refresh_texts(self, readings: Mapping[str, Reading], rule: AlertRule, now_ns: int) -> None:
        """Write anew what firing alerts say, where the window has changed since it was written."""
        stale = [
            (state, reading)
            for fingerprint, reading in readings.items()
            if (state := self._states.get((rule.name, fingerprint))) is not None
            and state.event.status == FIRING
            and now_ns - state.alert.at_ns >= _REFRESH_NS
            and reading.value is not None
        ]
        if not stale:
            return
        seen = look_behind([reading for _, reading in stale], self._store)
        for (state, reading), behind in zip(stale, seen, strict=True):
            state.alert = self._build_alert(state.event, FIRING, reading, behind, now_ns, state.alert)
            state.event = replace(state.event, document=encode(state.alert))
            if state.event.notified_ns:
                for target in rule.notify:
                    self._couriers[target.id].refresh_firing(state.alert)
        self._store.alerts.write_events([state.event for state, _ in stale])

    def _apply(self, steps: Sequence[_Step], now_ns: int) -> list[_State]:
        """Return the state of each alert after its step."""
        firing = [step.reading for step in steps if step.status == FIRING]
        behind = iter(look_behind(firing, self._store))
        states = []
        for step in steps:
            seen = next(behind) if step.status == FIRING else Behind()
            known = self._states.get((step.before.rule, step.before.fingerprint))
            first = known.alert if known is not None and known.event.fired_ns else None
            first = first if known and known.event.episode_ns == step.before.episode_ns else None
            alert = self._build_alert(step.before, step.status, step.reading, seen, now_ns, first)
            event = _make_next_event(step.before, step.status, now_ns, alert)
            if step.notify and step.status == FIRING:
                event = replace(event, notified_ns=now_ns, repeated=step.before.notified_ns > 0)
            states.append(_State(event, alert))
        return states

    def _build_alert(
        self,
        event: AlertEvent,
        status: str,
        reading: Reading,
        behind: Behind,
        now_ns: int,
        before: Alert | None = None,
    ) -> Alert:
        """Return an alert as it is now; `before` is what it said earlier in this episode, once it fired."""
        rule, counted = reading.rule, reading.verdicts
        said = Status.FIRING if status in (PENDING, FIRING) else Status.RESOLVED
        not_counted = (
            {"skipped": counted.skipped, "errored": counted.errored, "open": counted.open} if counted else {}
        )
        summary = summarise(reading, said, event.episode_ns, now_ns, behind.causes)
        return Alert(
            id=_derive_episode_id(event),
            rule=rule.name,
            status=said,
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
            window_s=rule.longest_s,
            threshold=describe_bound(rule, reading),
            value=reading.value,
            low=reading.low,
            before=reading.before,
            part=reading.part,
            whole=reading.whole,
            not_counted=not_counted,
            failures=tuple(
                FailureLine(flatten_line(text, _EXPLANATION), count)
                for text, count in (*behind.failures, *((each.name, each.count) for each in behind.causes))
            ),
            scores=tuple(self._build_score_line(score) for score in behind.scores),
            url=build_console_url(self._console_url, rule, reading.cohort),
        )

    def _build_score_line(self, score: Score) -> ScoreLine:
        outcome = score.outcome
        scored = outcome if isinstance(outcome, Scored) else None
        # The value of an open verdict is a placeholder.
        return ScoreLine(
            score.id,
            score.trace_id,
            score.run_span_id,
            score.span_id,
            score.cohort.agent,
            scored.value if scored and not is_open(score) else None,
            scored.raw if scored else None,
            scored.unit if scored else "",
            flatten_line(
                scored.explanation if scored else str(getattr(outcome, "message", "")), _EXPLANATION
            ),
            build_trace_url(self._console_url, score.trace_id),
        )

    def _is_muted(self, reading: Reading, muting: _Muting) -> bool:
        """Return whether a silence or an alert of another rule keeps it from starting a notification."""
        rule, cohort = reading.rule, reading.cohort
        labels = build_labels(rule.name, rule.metric, rule.severity.value, cohort, rule.labels)
        if any(_matches_labels(silence.matchers, labels) for silence in muting.silences):
            return True
        return any(
            state.event.status == FIRING
            and state.event.rule in rule.inhibited_by
            and _are_compatible(state.alert.cohort, cohort)
            for state in self._states.values()
        )


def build_target_alert(failure: TargetFailure, status: Status, now_ns: int) -> Alert:
    """Return the alert about a target that gets nothing, or gets notifications again."""
    label = flatten_line(failure.label, 100)
    said = f"The target {label} gets no notifications: {flatten_line(failure.error, _EXPLANATION)}."
    if status is Status.RESOLVED:
        said = f"The target {label} gets notifications again."
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
        summary=said,
        since_ns=failure.since_ns,
        at_ns=now_ns,
        window_s=_DEAD_AFTER_NS / 1e9,
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
        first_summary=said,
    )


def _make_initial_event(rule: str, fingerprint: str, episode_ns: int) -> AlertEvent:
    """Return what the first event of an episode follows."""
    return AlertEvent(
        rule,
        fingerprint,
        episode_ns,
        sequence=-1,
        status=INACTIVE,
        at_ns=episode_ns,
        fired_ns=0,
        notified_ns=0,
        notification="",
        targets=(),
        repeated=False,
        document="",
    )


def _make_next_event(event: AlertEvent, status: str, now_ns: int, alert: Alert) -> AlertEvent:
    """Return the next event of an episode, which makes no notification yet."""
    fired_ns = now_ns if status == FIRING and not event.fired_ns else event.fired_ns
    return replace(
        event,
        sequence=event.sequence + 1,
        status=status,
        at_ns=now_ns,
        fired_ns=fired_ns,
        notification="",
        repeated=False,
        document=encode(alert),
    )


def _build_notification(events: Sequence[AlertEvent]) -> Notification:
    alerts = tuple(decode(Alert, event.document) for event in events)
    repeated = all(event.repeated for event in events)
    at_ns = max(event.at_ns for event in events)
    return Notification(events[0].notification, events[0].rule, at_ns, alerts, repeated)


def _derive_notification_id(events: Iterable[AlertEvent]) -> str:
    parts = [f"{each.rule}\0{each.fingerprint}\0{each.episode_ns}\0{each.sequence}" for each in events]
    return digest("notification", *parts)


def _derive_episode_id(event: AlertEvent) -> str:
    return digest("episode", event.rule, event.fingerprint, str(event.episode_ns))


def _compute_fingerprint(rule: AlertRule, group: Mapping[str, str]) -> str:
    return digest(rule.name, *(part for item in sorted(group.items()) for part in item))


def _matches_labels(matchers: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return all(fnmatchcase(labels.get(name, ""), pattern) for name, pattern in matchers.items())


def _are_compatible(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    """Return whether two cohorts differ in no dimension that both name."""
    return all(second.get(name, value) == value for name, value in first.items())


def _sort_by_inhibition(rules: Sequence[AlertRule]) -> list[AlertRule]:
    """Return the rules in an order in which those that inhibit others come before the inhibited ones."""
    by_name = {rule.name: rule for rule in rules}
    ordered: dict[str, AlertRule] = {}

    def add(rule: AlertRule, above: frozenset[str]) -> None:
        for name in rule.inhibited_by:
            if name in by_name and name not in above and name not in ordered:
                add(by_name[name], above | {rule.name})
        ordered[rule.name] = rule

    for rule in rules:
        add(rule, frozenset({rule.name}))
    return list(ordered.values())
