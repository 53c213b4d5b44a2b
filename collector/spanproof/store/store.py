"""The store: spans and evaluations in; traces, scores and fail rates out.

One code path over ClickHouse, whether it runs within this process or on a server. Writing is at least once
and idempotent: the same evaluation written again changes nothing, and of two evaluations of a trace the later
one counts. Methods may be called from any thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from clickhouse_connect.driver.client import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.evaluators.model import TraceEvaluation
from spanproof.store import queries, rollups
from spanproof.store.alerts import AlertLog
from spanproof.store.assignments import Assignments
from spanproof.store.audit import AuditLog
from spanproof.store.browse import Browse
from spanproof.store.cells import Row
from spanproof.store.connection import Connections, open_connections
from spanproof.store.dead_letters import DeadLetter, build_letter_row, fetch_dead_letters
from spanproof.store.documents import DOCUMENT_FORMAT, read_document
from spanproof.store.erase import list_subject_traces, remove_traces
from spanproof.store.errors import AmbiguousTrace
from spanproof.store.external import (
    ExternalScore,
    build_external_row,
    fetch_external_scores,
    to_run_scores,
    with_external,
    without_external,
)
from spanproof.store.failures import (
    CohortShare,
    FailingRun,
    FailureCluster,
    TriageAction,
    count_failure_shares,
    fetch_failing_runs,
    fetch_failure_clusters,
    write_triage,
)
from spanproof.store.feedback import Feedback, fetch_feedback
from spanproof.store.measures import Measures
from spanproof.store.migrations import check_schema, update_schema
from spanproof.store.rows import build_rows, build_score_row, get_stored_key
from spanproof.store.saved_views import SavedViews
from spanproof.store.schema import (
    DEAD_LETTERS,
    EXTERNAL_SCORES,
    OTEL_TRACE_TIMES,
    OTEL_TRACES,
    SCORES,
    TRACES,
)
from spanproof.store.span_pages import ReceivedSpan, fetch_span_page
from spanproof.store.supersede import read_known, update_superseded
from spanproof.store.table import Table
from spanproof.store.trace_list import TraceTerms, fetch_traces, list_trace_ids
from spanproof.store.upkeep import Upkeep
from spanproof.store.values import TraceRow
from spanproof.store.verdict_reads import VerdictReads
from spanproof.store.waiting import Waiting, fetch_waiting
from spanproof.trace import Layer, Score, State
from spanproof.trace.dimensions import Subject
from spanproof.trace.project import TraceKey

_HOUR_NS = rollups.HOUR_S * 10**9

# Rows of one insert: big enough for ClickHouse, small enough for memory.
_INSERT_ROWS = 20_000

# The same for rows that hold whole documents.
_DOCUMENT_ROWS = 200


def open_store(location: str | Path, *, read_only: bool = False, share: bool = False) -> Store:
    """Open a store and bring its schema up to date.

    Args:
        location: a directory (ClickHouse within this process, one process at a time), or the DSN of a
            ClickHouse server: `clickhouse://user:password@host:8123/database`, or `http://`, `https://`.
        read_only: nothing will be written, and the schema stays as it is.
        share: let other processes of this user read and write a directory for as long as this one holds it.
            Without it a directory that another process holds and shares is reached through that process.

    Raises:
        StoreBusy: another process holds the directory and does not share it.
        StoreUnavailable: the server does not answer, or the directory cannot be made.
        SchemaTooNew: a newer Spanproof wrote it.
        StoreError: a DSN that cannot be read.
    """
    connections = open_connections(location, read_only=read_only, share=share)
    try:
        with connections.lease() as client:
            if read_only or connections.borrowed:
                check_schema(client, connections.database)
            else:
                update_schema(client, connections.layout)
    except BaseException:
        connections.close()
        raise
    return Store(connections)


class Store(VerdictReads, Upkeep):
    """An open store; a context manager. Made by `open_store`."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        # A trace and scores from elsewhere about it, written at once, would each miss the other.
        self._joining = threading.Lock()

    @property
    def name(self) -> str:
        """Where it is, without a password."""
        return self._connections.name

    @property
    def exclusive(self) -> bool:
        """Whether it is a directory that this process holds."""
        return self._connections.exclusive

    def limited_to(self, project: str) -> Store:
        """Return this store as one that reads rows of one project alone; it is closed with this one.

        Raises:
            StoreError: it is reached through the process that holds it.
        """
        return Store(self._connections.with_project(project))

    def write(self, evaluations: Sequence[TraceEvaluation]) -> None:
        """Write evaluations with their snippets, replays and scores; spans are written by `write_spans`.

        When this returns, all of it is written; when it raises, some may be, and writing again is safe. Of a
        trace that was evaluated before, what the new evaluation no longer holds is withdrawn. Give it many
        evaluations at once: ClickHouse likes batches of a thousand rows and more.

        Raises:
            StoreUnavailable: the server does not answer; worth a retry.
            StoreError: the database refused.
        """
        # Of one trace given twice the last is the later evaluation.
        latest = {get_stored_key(evaluation): evaluation for evaluation in evaluations}
        if not latest:
            return
        with self._joining, self._connections.lease() as client:
            external = fetch_external_scores(client, self._database, list(latest))
            stored = read_known(client, self._database, list(latest))
            # Later than what is there, also where the clock was set back in between.
            written_ns = max(time.time_ns(), stored.written_ns + 1)
            batch: dict[Table, list[Row]] = {}
            for key, evaluation in latest.items():
                evaluation = without_external(evaluation)
                more = to_run_scores(evaluation, external.get(key, ()))
                for table, rows in build_rows(evaluation, written_ns, more).items():
                    batch.setdefault(table, []).extend(rows)
            hours = {row["span_time"] // _HOUR_NS for row in batch[SCORES]}
            hours |= rollups.list_trace_hours(client, self._database, stored.keys)
            with self._changing(client, hours):
                update_superseded(client, self._database, batch, stored, written_ns)
                # The trace's own row goes last: once it is there, everything about the trace is.
                for table in sorted(batch, key=lambda table: table is TRACES):
                    self._write_rows(client, table, batch[table])

    def write_spans(self, requests: Iterable[ExportTraceServiceRequest], project: str = "default") -> int:
        """Write the spans of export requests, a row for each id; of one sent again the latest counts.

        Args:
            requests: with valid ids; give many at once.
            project: of spans whose resource names none.

        Returns:
            How many spans were given.

        Raises:
            StoreUnavailable: the server does not answer; worth a retry.
            StoreError: the database refused.
        """
        from spanproof.store.spans import SpanColumns  # loads Arrow: only where something is written

        columns = SpanColumns(project, time.time_ns())
        for request in requests:
            columns.add(request)
        if len(columns):
            with self._connections.lease() as client:
                client.insert_arrow(f"{self._database}.{OTEL_TRACES.name}", columns.build_spans())
                client.insert_arrow(f"{self._database}.{OTEL_TRACE_TIMES.name}", columns.build_times())
        return len(columns)

    def write_external(self, scores: Sequence[ExternalScore]) -> int:
        """Keep scores from elsewhere, and write them as scores of the traces that are stored.

        Returns:
            How many are scores of a stored run now; the others become so when their trace is written.

        Raises:
            StoreUnavailable: the server does not answer; worth a retry.
            StoreError: the database refused.
        """
        with self._joining, self._connections.lease() as client:
            keys = self._list_scored_keys(client, scores)
            latest_ns = read_known(client, self._database, keys).written_ns
            written_ns = max(time.time_ns(), latest_ns + 1)
            self._write_rows(
                client, EXTERNAL_SCORES, [build_external_row(score, written_ns) for score in scores]
            )
            found = queries.fetch_documents(client, self._database, keys)
            joined: list[Score] = []
            settled: list[TraceKey] = []
            for key, document in found.items():
                of_trace = [score for score in scores if score.key in (key, TraceKey("", key.trace_id))]
                of_runs = to_run_scores(read_document(key.trace_id, *document), of_trace)
                joined += of_runs
                settled += [key] if of_runs else []
            rows = [build_score_row(score, written_ns) for score in joined]
            with self._changing(client, {row["span_time"] // _HOUR_NS for row in rows}):
                self._write_rows(client, SCORES, rows)
                queries.update_states(client, self._database, settled, written_ns)
        scored = {key.trace_id for key in settled}
        return sum(score.trace_id in scored for score in scores)

    def write_dead_letters(self, letters: Sequence[DeadLetter]) -> None:
        """Keep traces that no attempt could evaluate; a later one of the same trace replaces the former.

        Raises:
            StoreUnavailable: the server does not answer; worth a retry.
            StoreError: the database refused.
        """
        with self._connections.lease() as client:
            self._write_rows(client, DEAD_LETTERS, [build_letter_row(letter) for letter in letters])

    def dead_letters(self, trace_ids: Sequence[str] = (), limit: int = 1000) -> list[DeadLetter]:
        """Return the traces that no attempt could evaluate, newest first; of these ids, or of all."""
        with self._connections.lease() as client:
            return fetch_dead_letters(client, self._database, trace_ids, limit)

    def remove_dead_letters(self, letters: Sequence[DeadLetter]) -> None:
        """Remove dead letters, which were evaluated after all."""
        with self._connections.lease() as client:
            self._write_rows(
                client, DEAD_LETTERS, [build_letter_row(letter, removed=True) for letter in letters]
            )

    def readable_documents(self, keys: Sequence[TraceKey]) -> dict[TraceKey, str]:
        """Return the documents of these traces that this Spanproof can read."""
        with self._connections.lease() as client:
            found = queries.fetch_documents(client, self._database, keys)
        return {key: text for key, (text, written_as) in found.items() if written_as <= DOCUMENT_FORMAT}

    def traces(
        self,
        *,
        project: str | None = None,
        since_ns: int | None = None,
        failing: Layer | bool | None = None,
        states: Collection[State] = (),
        limit: int = 50,
        cohort: Mapping[str, str] = MappingProxyType({}),
        before: tuple[int, str] | None = None,
    ) -> list[TraceRow]:
        """Return the latest traces, newest first.

        Args:
            project: only this one.
            since_ns: only traces that started at this time (Unix nanoseconds) or later.
            failing: a layer: only traces with a run that fails it; True: any layer; False: none.
            states: only traces whose runs are one of these together, with the verdicts of people in place of
                ours; none named is any.
            limit: at most so many.
            cohort: only traces with a score of these values, by dimension; see `spanproof.trace.Cohort`.
            before: the `place` of a row: only those that follow it in this order.

        Raises:
            StoreError: `cohort` names an unknown dimension.
        """
        with self._connections.lease() as client:
            chosen = TraceTerms(project, since_ns, failing, states, cohort)
            return fetch_traces(client, self._database, chosen, limit=limit, before=before)

    def waiting_traces(self, project: str | None = None) -> Waiting:
        """Return the traces of the last minutes whose spans are stored and that are not evaluated yet."""
        with self._connections.lease() as client:
            return fetch_waiting(client, self._database, time.time_ns(), project)

    def select(self, sql: str, limit: int) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Run one SELECT of a person, and return the names of its columns and its first rows.

        Raises:
            StoreError: it is something else than one SELECT over tables, or the database refuses it.
        """
        from spanproof.store.sql import run_select  # loads a parser of SQL

        with self._connections.lease() as client:
            return run_select(client, self._database, sql, limit)

    def trace_ids(
        self,
        prefix: str = "",
        limit: int = 10,
        *,
        project: str | None = None,
        since_ns: int | None = None,
    ) -> list[str]:
        """Return ids of stored traces that start with this prefix, newest first.

        Args:
            prefix: of the id; empty is every trace.
            limit: at most so many.
            project: only this one.
            since_ns: only traces that started at this time (Unix nanoseconds) or later.
        """
        with self._connections.lease() as client:
            chosen = TraceTerms(project, since_ns)
            return list_trace_ids(client, self._database, prefix, limit, chosen)

    def traces_of_changed_code(
        self, *, project: str | None = None, since_ns: int | None = None, limit: int = 100
    ) -> list[str]:
        """Return ids of traces with code whose recorded outcomes are not all of one failure class.

        Args:
            project: only this one.
            since_ns: only outcomes of this time (Unix nanoseconds) or later.
            limit: so many pieces of code at most, the newest ones; of each the newest few traces.
        """
        with self._connections.lease() as client:
            return queries.list_traces_of_changed_code(
                client, self._database, project=project, since_ns=since_ns, limit=limit
            )

    def evaluation(self, trace_id: str, project: str | None = None) -> TraceEvaluation | None:
        """Return the latest evaluation of a trace, as written; None where there is no such trace.

        Raises:
            AmbiguousTrace: several projects have a trace with this id, and none is named.
            StoreError: what is stored cannot be read by this Spanproof.
        """
        found = self.evaluations([trace_id], project)
        if len(found) > 1:
            raise AmbiguousTrace(trace_id, [evaluation.key.project for evaluation in found])
        return found[0] if found else None

    def evaluations(self, trace_ids: Sequence[str], project: str | None = None) -> list[TraceEvaluation]:
        """Return the latest evaluations of these traces, in this order; without those that are not stored.

        Args:
            trace_ids: of the traces.
            project: only those of this one; None gives an evaluation for each project that has such a trace.

        Raises:
            StoreError: what is stored cannot be read by this Spanproof.
        """
        with self._connections.lease() as client:
            keys = queries.fetch_keys(client, self._database, trace_ids, project)
            found = queries.fetch_documents(client, self._database, keys)
            external = fetch_external_scores(client, self._database, keys)
        return [
            with_external(read_document(key.trace_id, *found[key]), external.get(key, ()))
            for key in keys
            if key in found
        ]

    def received_spans(
        self, trace_id: str, project: str | None, after: tuple[int, str] | None, limit: int
    ) -> list[ReceivedSpan]:
        """Return a page of the spans of a trace that a collector received, the earliest first.

        Args:
            trace_id: of the trace.
            project: only of this one.
            after: start and id of the last span of the page before.
            limit: at most so many.

        Raises:
            AmbiguousTrace: several projects have a trace with this id, and none is named.
        """
        with self._connections.lease() as client:
            keys = queries.fetch_keys(client, self._database, [trace_id], project)
            if len(keys) > 1:
                raise AmbiguousTrace(trace_id, [key.project for key in keys])
            return [
                span for key in keys for span in fetch_span_page(client, self._database, key, after, limit)
            ]

    def span_parents(self, keys: Sequence[TraceKey]) -> dict[TraceKey, dict[str, str | None]]:
        """Return the parents of spans as received, by trace and span id; None of a root."""
        with self._connections.lease() as client:
            return queries.fetch_parents(client, self._database, keys)

    def failure_clusters(
        self, *, start_ns: int, end_ns: int, cohort: Mapping[str, str] = MappingProxyType({})
    ) -> list[FailureCluster]:
        """Return the clusters of failures with a run in a window of span times, those with most runs first.

        Args:
            start_ns: Unix nanoseconds of the first span time counted.
            end_ns: Unix nanoseconds of the first span time no longer counted.
            cohort: only runs of these values, by dimension. Ids, first and last times are of the whole store.

        Raises:
            StoreError: `cohort` names an unknown dimension.
        """
        with self._connections.lease() as client:
            return fetch_failure_clusters(client, self._database, start_ns, end_ns, cohort)

    def failure_shares(
        self, found: FailureCluster, dimension: str, *, start_ns: int, end_ns: int, limit: int = 10
    ) -> list[CohortShare]:
        """Return how many of the runs of each value of a dimension are in a cluster, the most first.

        Raises:
            StoreError: there is no such dimension.
        """
        with self._connections.lease() as client:
            return count_failure_shares(
                client, self._database, found.fingerprints, dimension, start_ns, end_ns, limit
            )

    def failing_runs(
        self, found: FailureCluster, *, start_ns: int = 0, end_ns: int = 2**63 - 1, limit: int = 5
    ) -> list[FailingRun]:
        """Return runs that represent a cluster, each once.

        The newest of each fingerprint, agent, model and release come first.
        """
        with self._connections.lease() as client:
            return fetch_failing_runs(client, self._database, found.fingerprints, start_ns, end_ns, limit)

    def triage(self, subject: str, action: TriageAction, value: str, note: str = "") -> None:
        """Write what was decided about a cluster, also through a process that shares its store.

        Args:
            subject: id of the cluster; of a move also a fingerprint.
            action: what is decided.
            value: the state, the name, the link, the id of the cluster it is moved to, or a judge's fix.
            note: why, in the person's words; of a judge's fix its model.

        Raises:
            StoreUnavailable: the server does not answer.
        """
        with self._connections.lease() as client:
            write_triage(client, self._database, subject, action, value, note)

    def feedback(self, key: TraceKey | None = None) -> list[Feedback]:
        """Return the ratings of runs by users, in order of time; of one trace, or of all."""
        with self._connections.lease() as client:
            return fetch_feedback(client, self._database, key)

    @property
    def alerts(self) -> AlertLog:
        """What happened to alerts: their states, notifications, silences and acknowledgements."""
        return AlertLog(self._connections)

    @property
    def measures(self) -> Measures:
        """Scores measured by cohort over a window, for alert rules."""
        return Measures(self._connections)

    @property
    def audit(self) -> AuditLog:
        """A record of code that a person had run."""
        return AuditLog(self._connections)

    @property
    def views(self) -> SavedViews:
        """Views of the list of traces that people keep for their project."""
        return SavedViews(self._connections)

    @property
    def assignments(self) -> Assignments:
        """The assignment of a verdict to a reviewer."""
        return Assignments(self._connections)

    @property
    def browse(self) -> Browse:
        """What people browse: code, replays, attempts, sessions, labels, what is new."""
        return Browse(self._connections)

    def close(self) -> None:
        """Let go of the store. Safe to call twice."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def traces_of(self, subject: Subject, value: str, project: str | None = None) -> list[str]:
        """Return the ids of traces with a span that names this session or user, of one project or of all."""
        with self._connections.lease() as client:
            return list_subject_traces(client, self._database, subject, value, project)

    def erase_traces(self, trace_ids: Sequence[str], project: str | None = None) -> int:
        """Delete everything about these traces, for good; returns how many of them were there.

        Args:
            trace_ids: of the traces.
            project: only those of this one; None is every project that has a trace with such an id.

        Raises:
            StoreUnavailable: the server does not answer; some may be deleted, and deleting again is safe.
            StoreError: the database refused.
        """
        with self._joining, self._connections.lease() as client:
            return remove_traces(client, self._connections.layout, trace_ids, project)

    @contextmanager
    def _changing(self, client: Client, hours: AbstractSet[int]) -> Iterator[None]:
        """Mark the hours whose scores are changed in the block as dirty."""
        # Before it for those who read meanwhile; and after it, as they may have been counted meanwhile.
        rollups.write_marks(client, self._database, hours)
        yield
        rollups.write_marks(client, self._database, hours)

    def _list_scored_keys(self, client: Client, scores: Sequence[ExternalScore]) -> list[TraceKey]:
        """Return the traces that scores are of; one of no project is of every trace with its id."""
        keys = {score.key for score in scores if score.project}
        shared = sorted({score.trace_id for score in scores if not score.project})
        return sorted(keys | set(queries.fetch_keys(client, self._database, shared)))

    def _write_rows(self, client: Client, table: Table, rows: Sequence[Row]) -> None:
        from spanproof.store.inserting import write_rows  # loads Arrow

        size = _DOCUMENT_ROWS if table is TRACES else _INSERT_ROWS
        for first in range(0, len(rows), size):
            write_rows(client, self._database, table, rows[first : first + size])
