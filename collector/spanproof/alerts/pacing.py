"""How often a rule may page: a bound a day, and growing pauses for an alert that comes and goes.

In: the notifications that were sent. Out: whether a further one has to wait. What waits is not lost: an alert
that still fires when its pause is over is sent then, together with all others of the rule that waited.
"""

from __future__ import annotations

from collections.abc import Iterable

from spanproof.config.alerts import AlertRule
from spanproof.store import AlertEvent

DAY_NS = 86_400 * 10**9
_MOST_DOUBLINGS = 10


class Pacing:
    """The pages of the last day, by rule and by alert.

    Args:
        events: of firing notifications that were sent before.
    """

    def __init__(self, events: Iterable[AlertEvent] = ()) -> None:
        self._of_rules: dict[str, list[int]] = {}
        self._of_alerts: dict[tuple[str, str], list[int]] = {}
        by_notification: dict[str, list[AlertEvent]] = {}
        for event in sorted(events, key=lambda event: event.at_ns):
            by_notification.setdefault(event.notification, []).append(event)
        for together in by_notification.values():
            # An update of an incident has alerts that were reported before beside new ones; it is no page.
            if len({event.repeated for event in together}) == 1:
                fingerprints = [event.fingerprint for event in together]
                self.add_page(together[0].rule, fingerprints, together[0].at_ns)

    def add_page(self, rule: str, fingerprints: Iterable[str], at_ns: int) -> None:
        """Note a notification of a rule, with the alerts that it says fire."""
        times = self._of_rules.setdefault(rule, [])
        if at_ns not in times:  # all events of one notification have its time
            times.append(at_ns)
        _remove_before(times, at_ns - DAY_NS)
        for fingerprint in fingerprints:
            of_alert = self._of_alerts.setdefault((rule, fingerprint), [])
            of_alert.append(at_ns)
            _remove_before(of_alert, at_ns - DAY_NS)

    def is_spent(self, rule: AlertRule, now_ns: int) -> bool:
        """Return whether a rule has sent as many pages within a day as it may."""
        times = self._of_rules.get(rule.name, ())
        return sum(now_ns - DAY_NS < at_ns <= now_ns for at_ns in times) >= rule.pages_per_day

    def is_paused(self, rule: AlertRule, fingerprint: str, now_ns: int) -> bool:
        """Return whether an alert that fires anew must wait: a window after its last page, then two, four."""
        times = [at_ns for at_ns in self._of_alerts.get((rule.name, fingerprint), ()) if at_ns <= now_ns]
        recent = [at_ns for at_ns in times if at_ns > now_ns - DAY_NS]
        if not recent:
            return False
        doublings = min(len(recent) - 1, _MOST_DOUBLINGS)
        return now_ns - recent[-1] < rule.shortest_s * 1e9 * (1 << doublings)


def _remove_before(times: list[int], begin_ns: int) -> None:
    while times and times[0] <= begin_ns:
        times.pop(0)
