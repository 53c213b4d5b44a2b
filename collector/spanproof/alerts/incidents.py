"""Incidents: the firing alerts of one rule, reported together and updated seldom.

In: what happens to the alerts of a rule at one time. Out: which of them the next notification has, or that
there is none. 120 tenants that fail by one database begin in one notification, and those that follow come in
updates, with pauses that double.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spanproof.alerts.episodes import AlertState, Step, compute_episode_id
from spanproof.alerts.model import Incident
from spanproof.alerts.pacing import DAY_NS
from spanproof.trace import digest

FIRST_UPDATE_NS: Final = 300 * 10**9
"""The pause before the first update: `group_interval` of Alertmanager is 5 min, too, by default."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a notification is made of; empty where there is none.

    Attributes:
        incident: that its alerts are members of.
        steps: of alerts that it reports, in the order of the rule's steps.
        ended: alerts that ended earlier, and whose end no target knows yet.
        is_page: whether it begins an incident or reminds of one, and counts as a page.
    """

    incident: Incident | None = None
    steps: Sequence[Step] = ()
    ended: Sequence[AlertState] = ()
    is_page: bool = False


@dataclass(frozen=True, slots=True)
class OpenIncident:
    """The incident of a rule.

    Attributes:
        notified_ns: when its last notification was made.
        ended: alerts that ended since then.
    """

    incident: Incident
    notified_ns: int
    ended: Sequence[AlertState] = ()

    @property
    def update_due_ns(self) -> int:
        """When the next update may be sent: 5 min after the first notification, then 10, then 20."""
        return self.notified_ns + min(DAY_NS, FIRST_UPDATE_NS << min(self.incident.update, 20))


def find_open_incident(
    states: Sequence[AlertState], unreported_ends: Sequence[AlertState]
) -> OpenIncident | None:
    """Return the incident that the alerts of one rule are in; None where no target knows of one."""
    reported = [*(state for state in states if state.is_member), *unreported_ends]
    if not reported:
        return None
    # Of alerts that were stored before there were incidents, the first is the incident.
    newest = max(reported, key=lambda state: (state.alert.incident or _build_incident(state)).update)
    incident = newest.alert.incident or _build_incident(newest)
    return OpenIncident(incident, max(state.event.notified_ns for state in reported), tuple(unreported_ends))


def build_plan(found: OpenIncident | None, steps: Sequence[Step], now_ns: int) -> Plan:
    """Return what is reported now.

    Args:
        found: the incident that is open before these steps.
        steps: what happens to alerts of the rule, with a step for each member that fires on.
        now_ns: Unix time in nanoseconds.
    """
    starts = [step for step in steps if step.is_start and not step.is_muted]
    if found is None:
        return _build_first_plan([step for step in starts if step.may_start])
    ends = [step for step in steps if step.is_end]
    members = [step for step in steps if step.status == step.before.status and step.before.notified_ns]
    next_one = Incident(found.incident.id, found.incident.since_ns, found.incident.update + 1)
    changed = (*starts, *ends, *found.ended)
    # The end of all is reported at once, and so are new alerts where no reported one fires any more.
    is_due = now_ns >= found.update_due_ns or not members
    if changed and is_due:
        reported = {id(step) for step in (*starts, *ends, *members)}
        return Plan(next_one, [step for step in steps if id(step) in reported], found.ended)
    if any(step.is_reminder for step in members):
        return Plan(next_one, members, is_page=True)
    return Plan()


def _build_first_plan(steps: Sequence[Step]) -> Plan:
    """Return the page that opens an incident; nothing where no alert may start one."""
    if not steps:
        return Plan()
    return Plan(_start_incident(steps), steps, is_page=True)


def _start_incident(steps: Sequence[Step]) -> Incident:
    first = min(steps, key=lambda step: step.before.episode_ns).before
    return Incident(digest("incident", compute_episode_id(first)), first.episode_ns, 0)


def _build_incident(state: AlertState) -> Incident:
    return Incident(state.alert.id, state.alert.since_ns, 0)
