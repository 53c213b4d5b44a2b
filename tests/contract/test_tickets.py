"""A cluster of failures is one ticket of a tracker: opened, updated, closed by a release without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from spanproof.alerts import build_notifier
from spanproof.alerts.tickets import (
    Occurrence,
    Release,
    TicketUpdater,
    compute_occurrence,
    run_ticket_updates,
)
from spanproof.config.tickets import Tickets
from spanproof.failures import ClusterState, build_signature
from spanproof.store import CohortShare, FailingRun, FailRate, FailureCluster, StoreError
from spanproof.store.filters import Filter
from spanproof.trace import Layer

from .loopback_targets import IssueTracker, settings_of, target_of

NOW = 1_790_000_000 * 10**9
HOUR = 3600 * 10**9
TRACKERS = ("github", "gitlab", "linear", "jira", "pagerduty")
SETTINGS = Tickets(min_runs=3, min_release_runs=20)

RATE_LIMIT = build_signature(
    Layer.EXECUTION, "call", error_type="RateLimitError", message="Error code: 429", subject="quotes"
)
UNKNOWN = build_signature(
    Layer.EXECUTION, "call", error_type="ShopError", message="order 7 is odd", subject="refund"
)


@dataclass
class ReleaseCounts:
    """What a store counts by release: judged and failing runs."""

    counts: dict[str, tuple[int, int]]

    def count_verdicts(
        self, chosen: Filter, by: Sequence[str], _: None
    ) -> Mapping[tuple[str, ...], FailRate]:
        return {
            (name,): FailRate(passed=judged - 1, failed=0, errored=0, skipped=1, open=0)
            for name, (judged, _) in self.counts.items()
        }

    def group_releases(self, chosen: Filter, by: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
        return {(): list(self.counts)}


@dataclass
class Clusters:
    """A store with one cluster, and how many runs of each release are judged and failing."""

    cluster: FailureCluster
    releases: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def measures(self) -> ReleaseCounts:
        return ReleaseCounts(self.releases)

    def failure_clusters(self, **_: int) -> list[FailureCluster]:
        return [self.cluster]

    def failure_shares(self, *_: object, **__: int) -> list[CohortShare]:
        return [
            CohortShare(name, failing, judged) for name, (judged, failing) in self.releases.items() if failing
        ]

    def failing_runs(self, *_: object, **__: int) -> list[FailingRun]:
        sample = "RateLimitError: Error code: 429"
        return [
            FailingRun(f"{number:032x}", "a" * 16, "b" * 16, "f", sample, "clerk", "m", "1.1", NOW)
            for number in range(1, 4)
        ]


@dataclass
class UnreadableOnce(Clusters):
    """A store that cannot be read the first time."""

    reads: int = 0

    def failure_clusters(self, **window: int) -> list[FailureCluster]:
        self.reads += 1
        if self.reads == 1:
            raise StoreError("the server does not answer")
        return super().failure_clusters(**window)


def make_clusters(signature=RATE_LIMIT, **changes: object) -> Clusters:
    found = FailureCluster("c1", signature, ("c1",), 12, 3, NOW - 9 * HOUR, NOW - HOUR)
    return Clusters(replace(found, **changes), {"1.0": (50, 0), "1.1": (40, 12)})


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        ({"1.1": 4}, Occurrence("1.1", Release("1.3", 30))),
        ({"1.1": 4, "1.3": 1}, Occurrence("1.1", None)),  # 1.2 had too few runs to be free of it
        ({"1.0": 4, "1.3": 1}, Occurrence("1.3", None)),  # it came back: another occurrence
        ({"1.3": 2}, Occurrence("1.3", None)),
        ({}, Occurrence("", None)),
        ({"": 5}, Occurrence("", None)),
    ],
)
def test_an_occurrence_ends_with_a_release_of_enough_runs_without_it(failing, expected):
    releases = [Release("1.0", 50), Release("1.1", 40), Release("1.2", 5), Release("1.3", 30)]
    assert compute_occurrence(releases, failing, 20) == expected


@pytest.mark.parametrize("kind", TRACKERS)
def test_a_cluster_is_one_ticket_updated_and_closed_by_a_release_without_it(http, kind):
    tracker = IssueTracker(kind).serve(http)
    notifiers = {"tracker": build_notifier(target_of(settings_of(kind, http.url)))}
    clusters = make_clusters()

    def sync() -> list[str]:
        found = list(
            run_ticket_updates(clusters, SETTINGS, notifiers, NOW, console_url="https://spanproof.example")
        )
        assert not any(result.error for result in found)
        return [result.status.value for result in found]

    assert sync() == ["firing"]
    (text,) = tracker.texts()
    assert "12 runs in the last 30 d, 3 before" in text
    assert "Suspected cause: More calls were made than the service allows." in text
    assert "Suggested fix: Retry with a delay in the tool" in text
    if kind != "pagerduty":
        assert f"{1:032x}"[:12] in text
    clusters.cluster = replace(clusters.cluster, runs=20)
    clusters.releases["1.2"] = (5, 0)
    assert sync() == ["firing"]
    (text,) = tracker.texts()
    assert "20 runs in the last 30 d" in text
    clusters.releases["1.2"] = (25, 0)
    assert sync() == ["resolved"]
    assert sync() == ["resolved"]
    assert tracker.states() == ["closed"]
    clusters.releases["1.3"] = (30, 2)
    assert sync() == ["firing"]
    assert tracker.states() == ["closed", "open"]  # it came back: a ticket of its own


def test_a_cluster_that_a_person_resolved_ends_its_ticket(http):
    tracker = IssueTracker("github").serve(http)
    notifiers = {"tracker": build_notifier(target_of(settings_of("github", http.url)))}
    clusters = make_clusters()
    assert len(list(run_ticket_updates(clusters, SETTINGS, notifiers, NOW))) == 1
    clusters.cluster = replace(clusters.cluster, state=ClusterState.RESOLVED, note="cache added")
    (result,) = run_ticket_updates(clusters, SETTINGS, notifiers, NOW)
    assert result.summary == "The cluster is resolved. cache added"
    assert tracker.states() == ["closed"]


def test_a_cluster_without_a_rule_has_no_advice_and_three_runs_to_read(http):
    tracker = IssueTracker("github").serve(http)
    notifiers = {"tracker": build_notifier(target_of(settings_of("github", http.url)))}
    list(run_ticket_updates(make_clusters(UNKNOWN), SETTINGS, notifiers, NOW))
    (text,) = tracker.texts()
    assert "No advice yet: read the runs below." in text
    assert all(f"{number:032x}"[:12] in text for number in (1, 2, 3))


def test_a_fix_of_a_judge_is_marked_as_such(http):
    tracker = IssueTracker("github").serve(http)
    notifiers = {"tracker": build_notifier(target_of(settings_of("github", http.url)))}
    clusters = make_clusters(UNKNOWN, judge_fix="Have the tool check the order.", judge_model="m-2026-01-01")
    list(run_ticket_updates(clusters, SETTINGS, notifiers, NOW))
    (text,) = tracker.texts()
    marked = "Fix suggested by the judge m-2026-01-01, not by a rule: Have the tool check the order."
    assert marked in text
    assert "No advice yet" not in text


def test_the_server_brings_tickets_up_to_date_every_so_often(http):
    tracker = IssueTracker("github").serve(http)
    notifiers = {"tracker": build_notifier(target_of(settings_of("github", http.url)))}
    clusters, clock = make_clusters(), iter([0.0, 899.0, 900.0])
    updater = TicketUpdater(clusters, Tickets(min_runs=3), notifiers, clock=lambda: next(clock))

    def update() -> int:
        updater.start_due()
        assert updater.close(60.0)  # the thread has ended
        return len(http.requests)

    first = update()
    assert tracker.states() == ["open"]
    clusters.cluster = replace(clusters.cluster, runs=20)
    assert update() == first  # 15 min are not over
    assert update() > first
    (text,) = tracker.texts()
    assert "20 runs in the last 30 d" in text


def test_a_store_that_cannot_be_read_ends_no_updates(http):
    tracker = IssueTracker("github").serve(http)
    notifiers = {"tracker": build_notifier(target_of(settings_of("github", http.url)))}
    clusters, clock = UnreadableOnce(make_clusters().cluster), iter([0.0, 900.0])
    updater = TicketUpdater(clusters, Tickets(min_runs=3), notifiers, clock=lambda: next(clock))
    for expected in ([], ["open"]):
        updater.start_due()
        assert updater.close(60.0)
        assert tracker.states() == expected


def test_a_cluster_of_few_runs_is_no_ticket(http):
    notifiers = {"tracker": build_notifier(target_of(settings_of("github", http.url)))}
    assert list(run_ticket_updates(make_clusters(runs=2), SETTINGS, notifiers, NOW)) == []
    assert http.requests == []


def test_a_tracker_that_refuses_is_reported_and_the_others_are_served(http):
    http.answers = [(401, {})]
    tracker = IssueTracker("gitlab").serve(http)
    notifiers = {
        kind: build_notifier(target_of(settings_of(kind, http.url))) for kind in ("github", "gitlab")
    }
    refused, served = run_ticket_updates(make_clusters(), SETTINGS, notifiers, NOW)
    assert refused.error.endswith("HTTP 401")
    assert served.error == ""
    assert tracker.states() == ["open"]
