"""All rules over time: which alerts there are, and which notifications they make.

`evaluate_rules` reads each rule once, writes the events of its alerts into the store, and hands notifications
to the couriers of their targets. The store has a notification before any target does, and its delivery after:
a restart continues where the process ended, and what may have been sent twice has one id. A rule that cannot
be read, or whose events cannot be written, is logged and tried again in the next evaluation; it never stops
the others.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from spanproof.alerts.building import DEAD_AFTER_NS, build_alert, build_target_alert
from spanproof.alerts.delivery import Courier, OnOutcome, TargetFailure
from spanproof.alerts.episodes import (
    FIRING,
    INACTIVE,
    PENDING,
    RESOLVED,
    AlertState,
    Step,
    build_initial_event,
    build_next_event,
    build_notification,
    compute_fingerprint,
    compute_notification_id,
    find_alert,
)
from spanproof.alerts.evidence import Standing
from spanproof.alerts.incidents import OpenIncident, Plan, build_plan, find_open_incident
from spanproof.alerts.made_rules import group_targets, iter_usable_rules
from spanproof.alerts.model import Alert, Status, build_labels
from spanproof.alerts.notification import Notification
from spanproof.alerts.notifiers import Notifier, build_notifier
from spanproof.alerts.pacing import DAY_NS, Pacing
from spanproof.alerts.rules import AlertStore, Details, Reading, build_empty_reading, fetch_details, read_rule
from spanproof.config.alerts import AlertRule, NoData
from spanproof.config.targets import Target
from spanproof.store import AlertEvent, Delivery, MadeRule, Silence, StoreError
from spanproof.trace import digest
from spanproof.trace.codec import encode_value

_log = logging.getLogger(__name__)

_MOST_STATES = 10_000
_FORGOTTEN_AFTER_NS = 86_400 * 10**9
# A firing alert's text is written anew so often: its scores take longer to read than its rate.
_REFRESH_NS = 60 * 10**9


@dataclass(frozen=True, slots=True)
class _Muting:
    """What keeps alerts from starting a notification now."""

    silences: Sequence[Silence]
    acknowledged: frozenset[tuple[str, str, int]]


class AlertEngine:
    """Rules with their alerts; one thread at a time calls `evaluate_rules`.

    Args:
        rules: of the configuration, with names that differ; those that people made join them at each tick.
        store: what is read, and where alerts are kept.
        open_notifier: gives the notifier of a target.
        console_url: where links in notifications begin; None: there are none.
        clock: Unix time in nanoseconds, by which notifications grow too old to be tried.
        first_pause_s: after the first failed attempt at a target.
        on_outcome: called with a target's kind and how an attempt ended.
        replaying: whether the past is replayed: `evaluate_rules` raises where the store cannot be read, in
            place of trying again, and writes no text anew that has been sent.
    """

    def __init__(
        self,
        rules: Sequence[AlertRule],
        store: AlertStore,
        open_notifier: Callable[[Target], Notifier] = build_notifier,
        *,
        console_url: str | None = None,
        clock: Callable[[], int] = time.time_ns,
        first_pause_s: float = 1.0,
        on_outcome: OnOutcome | None = None,
        replaying: bool = False,
    ) -> None:
        names = [rule.name for rule in rules]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                f"alert rules: the name {twice[0]!r} is given twice; each rule has a name of its own"
            )
        self._store = store
        self._replaying = replaying
        self._configured = tuple(rules)
        self._made: list[MadeRule] | None = None
        self._rules = _list_by_inhibition(rules)
        self._console_url = console_url
        self._clock = clock
        self._couriers = {
            name: Courier(
                target,
                open_notifier(target),
                store.alerts,
                clock=clock,
                first_pause_s=first_pause_s,
                on_outcome=on_outcome,
            )
            for name, target in group_targets(rules).items()
        }
        self._states: dict[tuple[str, str], AlertState] = {}
        self._unreported_ends: dict[str, list[AlertState]] = {}
        self._dead: dict[str, TargetFailure] = {}
        self._pacing = Pacing(store.alerts.firing_notifications(max(0, clock() - DAY_NS)))
        self._update_made_rules()
        self._add_stored_alerts()
        for courier in self._couriers.values():
            courier.start()

    def evaluate_rules(self, now_ns: int) -> list[Notification]:
        """Read every rule and note what happened; returns the notifications that targets will get.

        Args:
            now_ns: Unix time in nanoseconds, where the windows end.
        """
        try:
            self._update_made_rules()
            if not self._rules:
                return []
            muting = self._read_muting(now_ns)
        except StoreError as problem:
            _log.warning("rules and silences cannot be read, no rule is: %s", problem)
            return []
        made: list[Notification] = []
        for rule in self._rules:
            try:
                notification = self._evaluate(rule, muting, now_ns)
            except StoreError as problem:
                if self._replaying:
                    raise
                _log.warning("alert %s: not read: %s", rule.name, problem)
                continue
            if notification is not None:
                made.append(notification)
        self._send_dead_target_alerts(now_ns)
        return made

    def _update_made_rules(self) -> None:
        """Use the rules that people have made by now, and end the alerts of those that are gone."""
        made = self._store.alerts.made_rules()
        if made == self._made:
            return
        self._made = made
        self._rules = _list_by_inhibition([*self._configured, *iter_usable_rules(made, self._configured)])
        names = {rule.name for rule in self._rules}
        gone = [state for state in self._states.values() if state.is_active and state.event.rule not in names]
        for state in gone:
            self._close_removed(state)
            for target in state.event.targets if state.event.notification else ():
                self._couriers[target].add_notification(build_notification([state.event]))

    @property
    def firing(self) -> list[Alert]:
        """The alerts that fire."""
        return [state.alert for state in self._states.values() if state.event.status == FIRING]

    def count_waiting(self) -> int:
        """Return how many notifications wait for a target, each target counted."""
        return sum(courier.count_waiting() for courier in self._couriers.values())

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

    def _send_dead_target_alerts(self, now_ns: int) -> None:
        """Report a target that gets nothing to the others, and its end."""
        for name, courier in self._couriers.items():
            failure, reported = courier.failure, self._dead.get(name)
            if failure is None and reported is not None:
                del self._dead[name]
                self._send_to_others(reported, Status.RESOLVED, now_ns)
            is_dead = failure is not None and now_ns - failure.since_ns >= DEAD_AFTER_NS
            if failure is not None and is_dead and reported is None:
                self._dead[name] = failure
                self._send_to_others(failure, Status.FIRING, now_ns)

    def _send_to_others(self, failure: TargetFailure, status: Status, now_ns: int) -> None:
        alert = build_target_alert(failure, status, now_ns)
        notification = Notification(digest(alert.id, status.value), alert.rule, now_ns, (alert,))
        for name, courier in self._couriers.items():
            if name != failure.target and courier.failure is None:
                courier.add_notification(notification)

    def _add_stored_alerts(self) -> None:
        """Take up the alerts that the store has, and the notifications that were not delivered."""
        for event in self._store.alerts.states():
            alert = find_alert(event)
            if alert is None:
                _log.error("an alert of rule %s cannot be read by this version and is left out", event.rule)
                continue
            self._states[event.rule, event.fingerprint] = AlertState(event, alert)
        rules = {rule.name: rule for rule in self._rules}
        for state in self._states.values():
            rule = rules.get(state.event.rule)
            if rule is None:
                self._close_removed(state)
            elif state.is_member:
                self._add_to_targets(rule, state.alert)
            elif state.is_end_unreported:
                self._unreported_ends.setdefault(rule.name, []).append(state)
                self._add_to_targets(rule, state.alert)
        longest_s = max((courier.retry_for_s for courier in self._couriers.values()), default=0.0)
        self._add_undelivered(self._clock() - int(2 * longest_s * 1e9))

    def _close_removed(self, state: AlertState) -> None:
        """Resolve an alert whose rule is no longer configured."""
        if not state.is_active:
            return
        now_ns = max(self._clock(), state.event.at_ns)
        targets = tuple(target for target in state.event.targets if target in self._couriers)
        notified = state.event.notified_ns > 0
        status = RESOLVED if state.event.status == FIRING else INACTIVE
        summary = f"The rule {state.event.rule} is no longer configured."
        alert = replace(state.alert, status=Status.RESOLVED, at_ns=now_ns, summary=summary)
        event = build_next_event(state.event, status, now_ns, alert)
        if notified:
            event = replace(event, notification=compute_notification_id([event]), targets=targets)
        self._store.alerts.write_events([event])
        state.event, state.alert = event, alert

    def _add_undelivered(self, since_ns: int) -> None:
        found: dict[str, list[tuple[AlertEvent, Mapping[str, int]]]] = {}
        for event, open_ones in self._store.alerts.undelivered(max(0, since_ns)):
            if find_alert(event) is None:
                _log.error("a notification of rule %s cannot be read by this version: not sent", event.rule)
                continue
            found.setdefault(event.notification, []).append((event, open_ones))
        for rows in found.values():
            notification = build_notification([event for event, _ in rows])
            for target, attempts in rows[0][1].items():
                if target in self._couriers:
                    self._couriers[target].add_notification(notification, attempts)
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
            (one.rule, one.fingerprint, one.episode_ns) for one in self._store.alerts.acknowledgements()
        )
        return _Muting(self._store.alerts.silences(now_ns), acknowledged)

    def _evaluate(self, rule: AlertRule, muting: _Muting, now_ns: int) -> Notification | None:
        """Read a rule, write the events of its alerts, and queue the notification they make."""
        readings = self._read_groups(rule, now_ns)
        steps = [
            step
            for fingerprint, reading in readings.items()
            if (step := self._evaluate_reading(reading, fingerprint, muting, now_ns)) is not None
        ]
        states = [state for (name, _), state in self._states.items() if name == rule.name]
        unreported_ends = self._unreported_ends.get(rule.name, [])
        open_incident = find_open_incident(states, unreported_ends)
        plan = build_plan(open_incident, steps, now_ns)
        reported = {step.before.fingerprint for step in plan.steps}
        applied = [step for step in steps if step.is_transition or step.before.fingerprint in reported]
        stepped = {step.before.fingerprint for step in applied}
        unchanged = {name: reading for name, reading in readings.items() if name not in stepped}
        if not self._replaying:
            self._update_texts(unchanged, rule, now_ns)
        changed = self._build_states(applied, plan, now_ns)
        notification = self._handle_changes(rule, changed, plan)
        withheld = [step for step in applied if step.before.fingerprint not in reported]
        unreported_ends = unreported_ends + self._add_withheld(rule, withheld, open_incident)
        self._unreported_ends[rule.name] = [] if plan.ended else unreported_ends
        self._remove_old(now_ns)
        if notification is None:
            return None
        if plan.is_page:
            self._pacing.add_page(rule.name, reported, now_ns)
        for target in dict.fromkeys(target.id for target in rule.notify):
            self._couriers[target].add_notification(notification)
        return notification

    def _add_withheld(
        self, rule: AlertRule, steps: Sequence[Step], incident: OpenIncident | None
    ) -> list[AlertState]:
        """Keep alerts at targets that are not reported now, and return those that have ended."""
        ended = []
        for step in steps:
            state = self._states[rule.name, step.before.fingerprint]
            is_new_member = step.is_start and incident is not None and not step.is_muted
            if step.is_end:
                ended.append(state)
            if step.is_end or is_new_member:
                self._add_to_targets(rule, state.alert)
        return ended

    def _read_groups(self, rule: AlertRule, now_ns: int) -> dict[str, Reading]:
        """Return the readings of a rule by fingerprint, with an empty one for alerts that have no data."""
        readings = {
            compute_fingerprint(rule, reading.group): reading
            for reading in read_rule(rule, self._store, now_ns)
        }
        for (name, fingerprint), state in self._states.items():
            if name == rule.name and state.is_active and fingerprint not in readings:
                readings[fingerprint] = build_empty_reading(rule, state.alert.group, now_ns)
        return readings

    def _handle_changes(
        self, rule: AlertRule, changed: Sequence[AlertState], plan: Plan
    ) -> Notification | None:
        """Write the events of changed alerts, and return the notification that the plan makes of them."""
        reported = {step.before.fingerprint for step in plan.steps}
        ended = [replace(state, alert=replace(state.alert, incident=plan.incident)) for state in plan.ended]
        for state in ended:
            state.event = replace(state.event, document=encode_value(state.alert))
        members = [state for state in changed if state.event.fingerprint in reported] + ended
        if members:
            notification_id = compute_notification_id([state.event for state in members])
            targets = tuple(dict.fromkeys(target.id for target in rule.notify))
            for state in members:
                state.event = replace(state.event, notification=notification_id, targets=targets)
        self._store.alerts.write_events([state.event for state in (*changed, *ended)])
        for state in changed:
            self._states[state.event.rule, state.event.fingerprint] = state
        if members:
            return build_notification([state.event for state in members])
        return None

    def _add_to_targets(self, rule: AlertRule, alert: Alert) -> None:
        """Let targets that hold alerts by themselves have this one before its notification."""
        for target in rule.notify:
            self._couriers[target.id].add_alert(alert)

    def _remove_old(self, now_ns: int) -> None:
        """Forget alerts that ended long ago, where there are many: they matter to a clock set back only."""
        if len(self._states) > _MOST_STATES:
            begin_ns = now_ns - _FORGOTTEN_AFTER_NS
            self._states = {
                key: state
                for key, state in self._states.items()
                if state.is_active or state.event.at_ns > begin_ns
            }

    def _evaluate_reading(
        self, reading: Reading, fingerprint: str, muting: _Muting, now_ns: int
    ) -> Step | None:
        """Return what happens to an alert now, which may be that it fires on; None for nothing."""
        rule = reading.rule
        state = self._states.get((rule.name, fingerprint))
        standing = self._compute_standing(reading, state)
        if standing is not Standing.ABOVE:
            return self._evaluate_clear_reading(reading, standing, state, now_ns)
        if state is None or not state.is_active:
            # An episode is known by its start, which a clock that was set back must not repeat.
            if state is None:
                episode_ns = now_ns
            else:
                episode_ns = max(now_ns, state.event.episode_ns + 1)
            first = build_initial_event(rule.name, fingerprint, episode_ns)
            if rule.fires_after_s > 0:
                return Step(first, PENDING, reading)
            return self._build_firing_step(first, reading, muting, now_ns)
        if state.event.status == PENDING and now_ns - state.event.episode_ns < rule.fires_after_s * 1e9:
            return None
        state.clear_since_ns = state.low_since_ns = None
        return self._build_firing_step(state.event, reading, muting, now_ns)

    def _build_firing_step(self, event: AlertEvent, reading: Reading, muting: _Muting, now_ns: int) -> Step:
        """Return the step of an alert that fires, with what it may start."""
        rule = reading.rule
        is_muted = self._is_muted(reading, muting)
        is_spent = self._pacing.is_spent(rule, now_ns)
        is_paused = self._pacing.is_paused(rule, event.fingerprint, now_ns)
        is_acknowledged = (event.rule, event.fingerprint, event.episode_ns) in muting.acknowledged
        is_cooled_down = event.notified_ns > 0 and now_ns - event.notified_ns >= rule.cooldown_s * 1e9
        may_remind = bool(rule.notify) and not (is_acknowledged or is_muted or is_spent)
        return Step(
            event,
            FIRING,
            reading,
            may_start=not is_spent and not is_paused,
            is_muted=is_muted,
            is_reminder=is_cooled_down and may_remind,
        )

    def _compute_standing(self, reading: Reading, state: AlertState | None) -> Standing:
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

    def _evaluate_clear_reading(
        self, reading: Reading, standing: Standing, state: AlertState | None, now_ns: int
    ) -> Step | None:
        if state is None or not state.is_active:
            return None
        if state.event.status == PENDING:
            return Step(state.event, INACTIVE, reading)
        if standing is Standing.HIGH:
            state.clear_since_ns = state.low_since_ns = None
            return Step(state.event, FIRING, reading, is_muted=True)
        if standing is Standing.LOW:
            state.clear_since_ns = None
        elif state.clear_since_ns is None:
            state.clear_since_ns = now_ns
        if state.low_since_ns is None:
            state.low_since_ns = now_ns
        end_ns = state.find_end_ns(reading.rule)
        if end_ns is not None and now_ns >= end_ns:
            # An end is sent even while it is muted, to those who know of the beginning.
            return Step(state.event, RESOLVED, reading)
        # It fires on, and starts nothing: its bound is not reached now.
        return Step(state.event, FIRING, reading, is_muted=True)

    def _update_texts(self, readings: Mapping[str, Reading], rule: AlertRule, now_ns: int) -> None:
        """Write anew what firing alerts say, where the window has changed since it was written."""
        stale = []
        for fingerprint, reading in readings.items():
            state = self._states.get((rule.name, fingerprint))
            if state is None or state.event.status != FIRING or reading.value is None:
                continue
            if now_ns - state.alert.at_ns >= _REFRESH_NS:
                stale.append((state, reading))
        if not stale:
            return
        found = fetch_details([reading for _, reading in stale], self._store)
        for (state, reading), details in zip(stale, found, strict=True):
            state.alert = build_alert(
                state.event,
                FIRING,
                reading,
                details,
                now_ns,
                before=state.alert,
                end_ns=state.find_end_ns(rule),
                console_url=self._console_url,
            )
            state.event = replace(state.event, document=encode_value(state.alert))
            for target in rule.notify:
                self._couriers[target.id].update_alert(state.alert)
        self._store.alerts.write_events([state.event for state, _ in stale])

    def _build_states(self, steps: Sequence[Step], plan: Plan, now_ns: int) -> list[AlertState]:
        """Return the state of each alert after its step."""
        reported = {step.before.fingerprint for step in plan.steps}
        firing = [step.reading for step in steps if step.status == FIRING]
        details_of_firing = iter(fetch_details(firing, self._store))
        states = []
        for step in steps:
            before = step.before
            if step.status == FIRING:
                details = next(details_of_firing)
            else:
                details = Details()
            former = self._find_fired_state(before)
            firing_on = former if step.status == FIRING else None
            alert = build_alert(
                before,
                step.status,
                step.reading,
                details,
                now_ns,
                before=former.alert if former is not None else None,
                end_ns=firing_on.find_end_ns(step.reading.rule) if firing_on is not None else None,
                console_url=self._console_url,
            )
            is_reported = before.fingerprint in reported
            if is_reported:
                alert = replace(alert, incident=plan.incident)
            event = build_next_event(before, step.status, now_ns, alert)
            if is_reported and step.status == FIRING:
                event = replace(event, notified_ns=now_ns, repeated=before.notified_ns > 0)
            # A member that an update repeats waits for its end since as long as before.
            states.append(
                replace(firing_on, event=event, alert=alert)
                if firing_on is not None
                else AlertState(event, alert)
            )
        return states

    def _find_fired_state(self, event: AlertEvent) -> AlertState | None:
        """Return the alert's state after this event, where it fired."""
        state = self._states.get((event.rule, event.fingerprint))
        is_of_episode = state is not None and state.event.episode_ns == event.episode_ns
        return state if is_of_episode and event.fired_ns else None

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


def _matches_labels(matchers: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return all(fnmatchcase(labels.get(name, ""), pattern) for name, pattern in matchers.items())


def _are_compatible(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    """Return whether two cohorts differ in no dimension that both name."""
    return all(second.get(name, value) == value for name, value in first.items())


def _list_by_inhibition(rules: Sequence[AlertRule]) -> list[AlertRule]:
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
