"""Tickets: a cluster of failures is one ticket of a tracker, closed when a release is free of it.

In: the clusters of a window, and how many runs of each release are in them. Out: a notification for each
cluster, which the notifiers of trackers turn into a ticket, its update or its end. Nothing is kept: the id of
a ticket follows from the cluster and from the release with which its latest occurrence began, so that one
which comes back after its end is a new ticket.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from spanproof.alerts.messages import describe_span, format_line
from spanproof.alerts.model import Alert, FailureLine, Incident, ScoreLine, Status
from spanproof.alerts.notification import Notification
from spanproof.alerts.notifiers import Notifier
from spanproof.alerts.notifiers.base import NotDelivered
from spanproof.collector.periodic import PeriodicTask
from spanproof.config.tickets import Tickets
from spanproof.failures import ClusterState
from spanproof.store import CohortShare, FailingRun, FailureCluster, StoreError
from spanproof.store.filters import Filter
from spanproof.store.measures import Measures
from spanproof.trace import Layer, digest

_log = logging.getLogger(__name__)

TICKET_MEASURE: Final = "cluster"
"""`measure` of an alert that is a cluster of failures."""

NO_ADVICE: Final = "No advice yet: read the runs below."
"""In place of a fix where no rule explains a cluster."""

_SHOWN_RUNS = 3
_MOST_RELEASES = 1_000
_LONGEST_SAMPLE = 300


class ClusterStore(Protocol):
    """What tickets need of a store."""

    @property
    def measures(self) -> Measures:
        """What counts runs by release."""

    def failure_clusters(self, *, start_ns: int, end_ns: int) -> list[FailureCluster]:
        """Return the clusters of a window."""

    def failure_shares(
        self, found: FailureCluster, dimension: str, *, start_ns: int, end_ns: int, limit: int
    ) -> list[CohortShare]:
        """Return how many runs of each value of a dimension are in a cluster."""

    def failing_runs(
        self, found: FailureCluster, *, start_ns: int, end_ns: int, limit: int
    ) -> list[FailingRun]:
        """Return runs that represent a cluster."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release with the number of its runs that were judged, failing or not."""

    name: str
    runs: int


@dataclass(frozen=True, slots=True)
class Occurrence:
    """The latest stretch of releases in which a cluster occurred.

    Attributes:
        first_release: with which it began; empty where runs name no release.
        clean_release: the newest release that had enough runs, none of them in the cluster; None while the
            cluster occurs.
    """

    first_release: str
    clean_release: Release | None


@dataclass(frozen=True, slots=True)
class TicketResult:
    """What became of a cluster at one tracker; `error` is empty where it has the ticket."""

    cluster: str
    target: str
    status: Status
    summary: str
    error: str = ""


def run_ticket_updates(
    store: ClusterStore,
    settings: Tickets,
    notifiers: Mapping[str, Notifier],
    now_ns: int,
    *,
    console_url: str | None = None,
) -> Iterator[TicketResult]:
    """Bring the tickets of every tracker up to date, and yield what became of each.

    Args:
        store: with the clusters.
        settings: which clusters are tickets.
        notifiers: by the name of their target.
        now_ns: Unix time in nanoseconds, where the window ends.
        console_url: where links begin; None: there are none.

    Raises:
        StoreError: the store cannot be read.
    """
    for notification in build_ticket_notifications(store, settings, now_ns, console_url=console_url):
        (ticket,) = notification.alerts
        for target, notifier in notifiers.items():
            error = ""
            try:
                notifier.send(notification)
            except NotDelivered as problem:
                error = str(problem)
            yield TicketResult(ticket.labels["cluster"], target, ticket.status, ticket.summary, error)


def build_ticket_notifications(
    store: ClusterStore, settings: Tickets, now_ns: int, *, console_url: str | None = None
) -> list[Notification]:
    """Return a notification for each cluster that is or was a ticket, the commonest first."""
    start_ns, end_ns = max(0, now_ns - int(settings.window_s * 1e9)), now_ns + 1
    releases = _count_releases(store, start_ns, end_ns)
    made = []
    for cluster in store.failure_clusters(start_ns=start_ns, end_ns=end_ns):
        if cluster.runs < settings.min_runs:
            continue
        shares = store.failure_shares(
            cluster, "release", start_ns=start_ns, end_ns=end_ns, limit=_MOST_RELEASES
        )
        failing = {share.value: share.failing for share in shares}
        occurrence = compute_occurrence(releases, failing, settings.min_release_runs)
        runs = store.failing_runs(cluster, start_ns=start_ns, end_ns=end_ns, limit=_SHOWN_RUNS)
        made.append(_build_notification(cluster, occurrence, runs, settings, now_ns, console_url))
    return made


def compute_occurrence(
    releases: Sequence[Release], failing: Mapping[str, int], min_release_runs: int
) -> Occurrence:
    """Return the latest stretch of releases with a cluster.

    Args:
        releases: in the order in which they were first seen.
        failing: runs of the cluster by release.
        min_release_runs: a release without the cluster ends a stretch where it has so many runs.
    """
    first_release, clean_release = "", None
    for release in releases:
        if failing.get(release.name):
            if clean_release is not None or not first_release:
                first_release = release.name
            clean_release = None
        elif first_release and release.runs >= min_release_runs:
            clean_release = release
    return Occurrence(first_release, clean_release)


def _count_releases(store: ClusterStore, start_ns: int, end_ns: int) -> list[Release]:
    """Return the releases of a window in the order in which they were first seen, with their runs."""
    # Every run has the value of this layer, be it skipped.
    chosen = Filter(Layer.TRAJECTORY, Layer.TRAJECTORY.value, {}, None, start_ns, end_ns)
    counted = store.measures.count_verdicts(chosen, ("release",), None)
    names = store.measures.group_releases(chosen, ()).get((), [])
    runs = {
        values[0]: found.passed + found.failed + found.open + found.skipped + found.errored
        for values, found in counted.items()
    }
    return [Release(name, runs.get(name, 0)) for name in names]


def _build_notification(
    cluster: FailureCluster,
    occurrence: Occurrence,
    runs: Sequence[FailingRun],
    settings: Tickets,
    now_ns: int,
    console_url: str | None,
) -> Notification:
    is_over = cluster.state is ClusterState.RESOLVED or occurrence.clean_release is not None
    status = Status.RESOLVED if is_over else Status.FIRING
    ticket_id = digest("ticket", cluster.id, occurrence.first_release)
    explanation, base = cluster.explanation, (console_url or "").rstrip("/")
    summary = _describe_cluster(cluster, occurrence, settings)
    alert = Alert(
        id=ticket_id,
        rule="clusters of failures",
        status=status,
        severity="error",
        metric=f"{cluster.signature.layer.value}.{cluster.signature.check}",
        measure=TICKET_MEASURE,
        cohort={},
        group={},
        labels={"cluster": cluster.id, "kind": explanation.kind.id if explanation.kind is not None else ""},
        summary=summary,
        since_ns=cluster.first_seen_ns,
        at_ns=now_ns,
        window_s=settings.window_s,
        threshold=f"at least {settings.min_runs} runs",
        value=None,
        low=None,
        before=None,
        part=cluster.runs,
        whole=cluster.runs,
        not_counted={},
        failures=_list_samples(runs),
        scores=tuple(_build_run_line(run, base) for run in runs),
        url=f"{base}/failures/{cluster.id}" if base else "",
        first_summary=summary,
        incident=Incident(ticket_id, cluster.first_seen_ns, 0),
        title=format_line(cluster.name, 150),
    )
    return Notification(digest(ticket_id, status.value, str(now_ns)), alert.rule, now_ns, (alert,))


def _describe_cluster(cluster: FailureCluster, occurrence: Occurrence, settings: Tickets) -> str:
    """Return how often a cluster occurs with its cause and fix, or why its ticket ends."""
    if occurrence.clean_release is not None:
        release = occurrence.clean_release
        return f"None of the {release.runs} runs of release {format_line(release.name, 80)} failed so."
    if cluster.state is ClusterState.RESOLVED:
        return f"The cluster is resolved. {cluster.note}".strip()
    explanation = cluster.explanation
    window = describe_span(settings.window_s)
    if cluster.new_since:
        since = f" New in {format_line(cluster.new_since, 80)}."
    else:
        since = ""
    cause = f" Suspected cause: {explanation.cause}" if explanation.cause else ""
    counts = f"{cluster.runs} runs in the last {window}, {cluster.runs_before} before."
    return f"{counts}{since}{cause} {_describe_fix(cluster)}"


def _describe_fix(cluster: FailureCluster) -> str:
    """Return the fix of a rule, else that of a judge, marked as such."""
    if cluster.explanation.fix:
        return f"Suggested fix: {cluster.explanation.fix}"
    if cluster.judge_fix:
        model = format_line(cluster.judge_model, 80)
        return f"Fix suggested by the judge {model}, not by a rule: {format_line(cluster.judge_fix, 400)}"
    return NO_ADVICE


def _list_samples(runs: Sequence[FailingRun]) -> tuple[FailureLine, ...]:
    counts: dict[str, int] = {}
    for run in runs:
        sample = format_line(run.sample, _LONGEST_SAMPLE)
        counts[sample] = counts.get(sample, 0) + 1
    return tuple(FailureLine(sample, count) for sample, count in counts.items() if sample)


def _build_run_line(run: FailingRun, base: str) -> ScoreLine:
    return ScoreLine(
        run.fingerprint,
        run.trace_id,
        run.run_span_id,
        run.span_id,
        run.agent,
        None,
        None,
        "",
        format_line(run.sample, _LONGEST_SAMPLE),
        f"{base}/traces/{run.trace_id}" if base else "",
    )


class TicketUpdater(PeriodicTask):
    """Brings tickets up to date from time to time: trackers may take long to answer.

    Args:
        store: with the clusters.
        settings: which clusters are tickets, and how often they are brought up to date.
        notifiers: by the name of their target.
        console_url: where links begin; None: there are none.
    """

    def __init__(
        self,
        store: ClusterStore,
        settings: Tickets,
        notifiers: Mapping[str, Notifier],
        *,
        console_url: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__("spanproof-tickets", settings.every_s, self._run_update, clock)
        self._store = store
        self._settings = settings
        self._notifiers = notifiers
        self._console_url = console_url

    def _run_update(self) -> None:
        try:
            for result in run_ticket_updates(
                self._store, self._settings, self._notifiers, time.time_ns(), console_url=self._console_url
            ):
                if result.error:
                    _log.warning("ticket of cluster %s: not delivered: %s", result.cluster, result.error)
        except StoreError as problem:
            _log.warning("tickets are not brought up to date: %s", problem)
