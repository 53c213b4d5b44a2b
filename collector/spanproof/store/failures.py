"""Clusters of failures: counted over a window, with what people decided about them.

Failures are rows with a fingerprint. Which fingerprints are one cluster follows from the order in which they
were first seen in the whole store, and from the merges and splits in `failure_triage`; see
`spanproof.failures.cluster`. Counts are of runs: a run that fails five times in one way is one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clickhouse_connect.driver.client import Client

from spanproof.failures import ClusterState, Explanation, Signature, build_explanation, group_signatures
from spanproof.store.cells import to_storable_text
from spanproof.store.decision_tables import TRIAGE_INSERT
from spanproof.store.dimensions import get_column
from spanproof.store.filters import Filter
from spanproof.trace import Layer
from spanproof.trace.project import TraceKey

_RUN = "(project, trace_id, run_span_id)"
# The columns of a signature, in the order of its fields.
_SIGNATURE = (
    "layer",
    "checked",
    "failure_class",
    "error_type",
    "message",
    "subject",
    "package",
    "cause",
    "cause_key",
)


class TriageAction(StrEnum):
    """A person's decision about a cluster, or the fix that a judge suggests.

    A person sets its state, its name, its issue, and where a fingerprint belongs.
    """

    STATE = "state"
    NAME = "name"
    LINK = "link"
    MOVE = "move"
    ADVICE = "advice"


@dataclass(frozen=True, slots=True)
class FailureCluster:
    """Failures of one cause.

    Attributes:
        id: the fingerprint that was seen first, or the one that a person merged it into.
        signature: of that fingerprint.
        fingerprints: all of the cluster, the first seen first.
        runs: in the window.
        runs_before: in the window of the same length before it.
        first_seen_ns, last_seen_ns: in the whole store, Unix nanoseconds.
        new_since: the newest release, where no run failed so before its first run; else empty.
        state: `regressed` where it occurred after it was resolved.
        note: what the person wrote who set the state.
        given_name, link: that a person gave; empty where none was given.
        judge_fix: what a judge suggests where no rule explains the failure; empty where it has no fix.
        judge_model: of the judge that was queried; empty where none was.
    """

    id: str
    signature: Signature
    fingerprints: tuple[str, ...]
    runs: int
    runs_before: int
    first_seen_ns: int
    last_seen_ns: int
    new_since: str = ""
    state: ClusterState = ClusterState.OPEN
    note: str = ""
    given_name: str = ""
    link: str = ""
    judge_fix: str = ""
    judge_model: str = ""

    @property
    def explanation(self) -> Explanation:
        """The explanation of a cause."""
        return build_explanation(self.signature)

    @property
    def name(self) -> str:
        """The name a person gave, else that of the cause."""
        return self.given_name or self.explanation.name


@dataclass(frozen=True, slots=True)
class FailingRun:
    """A run of a cluster, with the words of its failure; `failed_ns` in Unix nanoseconds."""

    trace_id: str
    run_span_id: str
    span_id: str
    fingerprint: str
    sample: str
    agent: str
    model: str
    release: str
    failed_ns: int
    project: str = "default"

    @property
    def key(self) -> TraceKey:
        """What identifies the trace."""
        return TraceKey(self.project, self.trace_id)


@dataclass(frozen=True, slots=True)
class CohortShare:
    """How many of the runs of one value of a dimension are in a cluster."""

    value: str
    failing: int
    runs: int


@dataclass(frozen=True, slots=True)
class _Seen:
    signature: Signature
    first_ns: int
    last_ns: int


def fetch_failure_clusters(
    client: Client, database: str, start_ns: int, end_ns: int, cohort: Mapping[str, str]
) -> list[FailureCluster]:
    """Return the clusters with a run in the window, those with most runs first; see `Store`."""
    seen = _read_fingerprints(client, database)
    decided = _read_triage(client, database)
    moved = {subject: row[0] for (subject, action), row in decided.items() if action is TriageAction.MOVE}
    found = group_signatures({name: failure.signature for name, failure in seen.items()}, moved)
    counts = _count_runs(client, database, found, start_ns, end_ns, cohort)
    newest = _find_newest_release(client, database, cohort)
    members: dict[str, list[str]] = {}
    for fingerprint, cluster_id in found.items():
        members.setdefault(cluster_id, []).append(fingerprint)
    clusters = []
    for cluster_id, (runs, before) in counts.items():
        fingerprints = members[cluster_id]
        leader = seen.get(cluster_id, seen[fingerprints[0]])
        first_ns = min(seen[fingerprint].first_ns for fingerprint in fingerprints)
        last_ns = max(seen[fingerprint].last_ns for fingerprint in fingerprints)
        state, note = _compute_state(decided, cluster_id, last_ns)
        judge_fix, judge_model, _ = decided.get((cluster_id, TriageAction.ADVICE), ("", "", 0))
        clusters.append(
            FailureCluster(
                cluster_id,
                leader.signature,
                tuple(fingerprints),
                runs,
                before,
                first_ns,
                last_ns,
                newest[0] if newest is not None and first_ns >= newest[1] else "",
                state,
                note,
                _get_decision(decided, cluster_id, TriageAction.NAME),
                _get_decision(decided, cluster_id, TriageAction.LINK),
                judge_fix,
                judge_model,
            )
        )
    return sorted(clusters, key=lambda cluster: (-cluster.runs, -cluster.last_seen_ns, cluster.id))


def count_failure_shares(
    client: Client,
    database: str,
    fingerprints: Sequence[str],
    dimension: str,
    start_ns: int,
    end_ns: int,
    limit: int,
) -> list[CohortShare]:
    """Return how many runs of each value of a dimension are in a cluster, the most first; see `Store`."""
    column = get_column(dimension)
    chosen = Filter(start_ns=start_ns, end_ns=end_ns, every_version=True)
    within, bound = chosen.build_condition()
    failing, keys = chosen.build_source(database, (dimension,), "failures")
    every, _ = chosen.build_source(database, (dimension,))
    rows = client.query(
        f"SELECT failing.{column}, failing.runs, greatest(failing.runs, every.runs) FROM"  # noqa: S608
        f" (SELECT {column}, uniqExact({_RUN}) AS runs FROM {failing}"
        f" WHERE {within} AND fingerprint IN {{fingerprints:Array(String)}} GROUP BY {column}) AS failing"
        f" LEFT JOIN (SELECT {column}, uniqExact({_RUN}) AS runs FROM {every}"
        f" WHERE {within} AND name = layer AND current = 1 GROUP BY {column}) AS every"
        f" USING ({column}) ORDER BY failing.runs DESC, failing.{column} LIMIT {{rows:UInt32}}",
        parameters={**bound, **keys, "fingerprints": list(fingerprints), "rows": limit},
    ).result_rows
    return [CohortShare(str(row[0]), int(row[1]), int(row[2])) for row in rows]


def fetch_failing_runs(
    client: Client, database: str, fingerprints: Sequence[str], start_ns: int, end_ns: int, limit: int
) -> list[FailingRun]:
    """Return runs that represent a cluster; see `Store`."""
    within, bound = _build_window_condition(start_ns, end_ns)
    columns = "trace_id, run_span_id, span_id, fingerprint, sample, agent, model, release, project"
    rows = client.query(
        f"SELECT {columns}, toUnixTimestamp64Nano(span_time) FROM (SELECT *, row_number() OVER"  # noqa: S608
        " (PARTITION BY fingerprint, agent, model, release ORDER BY span_time DESC, trace_id, span_id)"
        f" AS nth FROM {database}.failures FINAL"
        f" WHERE {within} AND fingerprint IN {{fingerprints:Array(String)}})"
        " ORDER BY nth, span_time DESC, trace_id, run_span_id, span_id"
        " LIMIT 1 BY project, trace_id, run_span_id LIMIT {rows:UInt32}",
        parameters={**bound, "fingerprints": list(fingerprints), "rows": limit},
    ).result_rows
    names = columns.split(", ")
    return [
        FailingRun(**dict(zip(names, map(str, row), strict=False)), failed_ns=int(row[-1])) for row in rows
    ]


def write_triage(
    client: Client, database: str, subject: str, action: TriageAction, value: str, note: str
) -> None:
    """Write one decision; it takes the place of the former one of this action."""
    client.command(
        TRIAGE_INSERT.replace("{database}", database),
        parameters={
            "subject": subject,
            "action": action.value,
            "value": to_storable_text(value),
            "note": to_storable_text(note),
            "changed": time.time_ns(),
        },
    )


def _read_fingerprints(client: Client, database: str) -> dict[str, _Seen]:
    """Return every fingerprint of the store in the order in which they were first seen."""
    picked = ", ".join(f"argMin({name}, span_time)" for name in _SIGNATURE)
    rows = client.query(
        f"SELECT fingerprint, {picked}, toUnixTimestamp64Nano(min(span_time)) AS first,"  # noqa: S608
        f" toUnixTimestamp64Nano(max(span_time)) FROM {database}.failures FINAL"
        " GROUP BY fingerprint ORDER BY first, fingerprint"
    ).result_rows
    found = {}
    for row in rows:
        layer, *parts = map(str, row[1:10])
        found[str(row[0])] = _Seen(Signature(Layer(layer), *parts), int(row[10]), int(row[11]))
    return found


def _count_runs(
    client: Client,
    database: str,
    clusters: Mapping[str, str],
    start_ns: int,
    end_ns: int,
    cohort: Mapping[str, str],
) -> dict[str, tuple[int, int]]:
    """Return the runs of each cluster in the window, and in the one before it; none without a run in it."""
    length = end_ns - start_ns
    chosen = Filter(cohort=cohort, start_ns=max(0, start_ns - length), end_ns=end_ns, every_version=True)
    condition, bound = chosen.build_condition()
    source, keys = chosen.build_source(database, table="failures")
    in_window = "span_time >= fromUnixTimestamp64Nano({window:Int64}, 'UTC')"
    rows = client.query(
        "SELECT transform(fingerprint, {prints:Array(String)}, {clusters:Array(String)}, '') AS cluster,"  # noqa: S608
        f" uniqExactIf({_RUN}, {in_window}) AS runs, uniqExactIf({_RUN}, NOT ({in_window}))"
        f" FROM {source} WHERE {condition}"
        " GROUP BY cluster HAVING runs > 0 AND cluster != ''",
        parameters={
            **bound,
            **keys,
            "window": min(max(0, start_ns), 2**63 - 1),
            "prints": list(clusters) or [""],
            "clusters": list(clusters.values()) or [""],
        },
    ).result_rows
    return {str(row[0]): (int(row[1]), int(row[2])) for row in rows}


def _find_newest_release(client: Client, database: str, cohort: Mapping[str, str]) -> tuple[str, int] | None:
    """Return the release that began last with the time of its first run; None where there are not two."""
    project = {name: value for name, value in cohort.items() if name in ("project", "service", "agent")}
    condition, bound = Filter(cohort=project).build_condition()
    rows = client.query(
        f"SELECT release, toUnixTimestamp64Nano(min(span_time)) AS began FROM {database}.scores FINAL"  # noqa: S608
        f" WHERE {condition} AND name = layer AND release != '' GROUP BY release"
        " ORDER BY began DESC, release LIMIT 2",
        parameters=bound,
    ).result_rows
    return (str(rows[0][0]), int(rows[0][1])) if len(rows) == 2 else None


_Triage = Mapping[tuple[str, TriageAction], tuple[str, str, int]]


def _read_triage(client: Client, database: str) -> _Triage:
    """Return the latest decisions: value, note and time, by subject and action."""
    rows = client.query(
        f"SELECT subject, action, value, note, changed_ns FROM {database}.failure_triage FINAL"  # noqa: S608
    ).result_rows
    actions = {action.value for action in TriageAction}
    return {
        (str(row[0]), TriageAction(row[1])): (str(row[2]), str(row[3]), int(row[4]))
        for row in rows
        if row[1] in actions
    }


def _get_decision(decided: _Triage, cluster_id: str, action: TriageAction) -> str:
    return decided.get((cluster_id, action), ("", "", 0))[0]


def _compute_state(decided: _Triage, cluster_id: str, last_seen_ns: int) -> tuple[ClusterState, str]:
    value, note, changed_ns = decided.get((cluster_id, TriageAction.STATE), (ClusterState.OPEN.value, "", 0))
    state = ClusterState(value)
    if state is ClusterState.RESOLVED and last_seen_ns > changed_ns:
        state = ClusterState.REGRESSED
    return state, note


def _build_window_condition(start_ns: int, end_ns: int) -> tuple[str, dict[str, Any]]:
    return Filter(start_ns=start_ns, end_ns=end_ns, every_version=True).build_condition()
