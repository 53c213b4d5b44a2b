# ruff: noqa: S608 - names of columns come from the schema alone, values are bound
"""What people browse beside traces and scores: code, replays, attempts, sessions, labels, what is new.

Every answer is bounded by a limit, and every value a caller gives goes in as a bound parameter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from spanproof.evaluators.judge_bounds import JUDGE_PREFIXES
from spanproof.evaluators.run_state import EXTERNAL_PREFIX, PERSON_VERDICT
from spanproof.store.connection import Connections
from spanproof.store.dimensions import get_column
from spanproof.store.filters import IS_OPEN, Filter
from spanproof.store.keys import build_key_condition
from spanproof.store.queries import get_row_key, list_score_columns
from spanproof.store.rows import parse_score
from spanproof.store.sessions import SessionRow, fetch_sessions, fetch_traces_of_session
from spanproof.store.trace_list import (
    Facets,
    TraceOrder,
    TraceTerms,
    fetch_facets,
    fetch_run_summaries,
    fetch_traces,
    fetch_traces_by_id,
)
from spanproof.store.usage import UsagePoint, UsageShare, fetch_usage_points, fetch_usage_shares
from spanproof.store.values import RunSummary, TraceRow
from spanproof.trace import Label, Layer, Score
from spanproof.trace.project import TraceKey

_NO_COHORT: Final[Mapping[str, str]] = MappingProxyType({})
CORRECTION_NAME: Final = "correction"
"""The name of a score whose explanation is the right answer, in a person's words."""

SENTENCE_NAME: Final = "sentence"
"""What the name of a person's ruling on a sentence begins with; its first and last character follow."""

PASS_SAMPLE_SHARE: Final = 0.1
"""Share of the passes that the review queue holds: enough to find out whether passes are right."""

_HASH_PARTS: Final = 1000
_IS_IN_SAMPLE: Final = f"sipHash64(trace_id, run_span_id, layer) % {_HASH_PARTS} < {{sampled:UInt32}}"

Page: TypeAlias = tuple[int, str] | None
"""Time and key of the last row of the page before."""


@dataclass(frozen=True, slots=True)
class CodeRow:
    """A snippet in a list, with what became of it."""

    project: str
    trace_id: str
    run_span_id: str
    snippet_id: str
    span_time_ns: int
    language: str
    source: str
    executed: bool
    verdict: str
    rules: tuple[str, ...]

    @property
    def place(self) -> tuple[int, str]:
        """Where it is in the order of a list; several projects may have a snippet with its id."""
        return self.span_time_ns, f"{self.snippet_id}/{self.project}"


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """A replayed snippet in a list; `agrees` is None where nothing could be compared."""

    project: str
    trace_id: str
    run_span_id: str
    snippet_id: str
    span_time_ns: int
    failure_class: str
    agrees: bool | None
    difference: str
    wall_s: float
    peak_memory_bytes: int

    @property
    def place(self) -> tuple[int, str]:
        """Where it is in the order of a list; several projects may have a snippet with its id."""
        return self.span_time_ns, f"{self.snippet_id}/{self.project}"


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """A target that programs tried to reach, of one agent and release."""

    kind: str
    target: str
    allowed: bool
    agent: str
    release: str
    times: int
    runs: int
    last_ns: int
    trace_id: str


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A scanner's rule that fired on the code of one agent and release."""

    rule: str
    verdict: str
    message: str
    agent: str
    release: str
    snippets: int
    runs: int
    last_ns: int
    trace_id: str


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One piece of code, however often it was written, with the verdict that it got."""

    language: str
    source: str
    verdict: str
    times: int
    trace_id: str


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A person's verdict on a layer of a run beside ours; `ours` is None where we gave none."""

    trace_id: str
    run_span_id: str
    layer: Layer
    source: str
    label: Label | None
    note: str
    given_ns: int
    ours: Label | None
    agent: str
    project: str = ""


class Browse:
    """Reads for people. Every method raises StoreUnavailable or StoreError where the store fails."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def fetch_trace_rows(self, trace_ids: Sequence[str]) -> list[TraceRow]:
        """Return these traces as rows of a list, newest first; without those the store does not have."""
        with self._connections.lease() as client:
            return fetch_traces_by_id(client, self._connections.database, trace_ids)

    def list_traces(
        self, chosen: TraceTerms, *, order: TraceOrder, limit: int, before: Page = None
    ) -> list[TraceRow]:
        """Return the first traces of a list in an order; `before` is where the page before ended.

        Raises:
            StoreError: `chosen.cohort` names an unknown dimension.
        """
        with self._connections.lease() as client:
            return fetch_traces(
                client, self._connections.database, chosen, order=order, limit=limit, before=before
            )

    def get_facets(self, chosen: TraceTerms, dimensions: Sequence[str], limit: int) -> Facets:
        """Return how many traces of a list have each state, and each of the commonest values of dimensions.

        Raises:
            StoreError: there is no such dimension.
        """
        with self._connections.lease() as client:
            return fetch_facets(client, self._connections.database, chosen, dimensions, limit)

    def list_traces_since(self, evaluated_ns: int, limit: int) -> tuple[list[TraceRow], int]:
        """Return traces that were evaluated after a time, oldest first, and the time of the last of them."""
        rows = self._select(
            "SELECT project, trace_id, max(evaluated_ns) AS at FROM {db}.traces"
            " WHERE evaluated_ns > {since:UInt64} GROUP BY project, trace_id ORDER BY at"
            " LIMIT {limit:UInt32}",
            {"since": evaluated_ns, "limit": limit},
        )
        if not rows:
            return [], evaluated_ns
        listed = self.fetch_trace_rows([row["trace_id"] for row in rows])
        found = {TraceKey(row.project, row.trace_id): row for row in listed}
        ordered = [found[key] for row in rows if (key := get_row_key(row)) in found]
        return ordered, int(rows[-1]["at"])

    def get_newest_evaluation_ns(self) -> int:
        """Return when the latest evaluation was written, in Unix nanoseconds; 0 of an empty store."""
        return int(self._select("SELECT max(evaluated_ns) AS at FROM {db}.traces", {})[0]["at"])

    def list_values(self, dimension: str, start_ns: int, prefix: str, limit: int) -> list[str]:
        """Return the commonest values of a dimension that start so.

        Raises:
            StoreError: there is no such dimension.
        """
        column = get_column(dimension)
        chosen = Filter(start_ns=start_ns)
        condition, bound = chosen.build_condition()
        source, keys = chosen.build_source("{db}", (dimension,), rows="{db}.scores")
        rows = self._select(
            f"SELECT {column} AS value FROM {source} WHERE {condition} AND name = layer"
            f" AND startsWith({column}, {{prefix:String}}) AND {column} != ''"
            f" GROUP BY {column} ORDER BY count() DESC, value LIMIT {{limit:UInt32}}",
            {**bound, **keys, "prefix": prefix, "limit": limit},
        )
        return [str(row["value"]) for row in rows]

    def count_failure_trends(
        self, *, start_ns: int, end_ns: int, buckets: int, cohort: Mapping[str, str] = _NO_COHORT
    ) -> dict[str, list[int]]:
        """Return for each fingerprint of a failure how many runs have it in each part of a window."""
        length = max(1, (end_ns - start_ns) // buckets)
        chosen = Filter(cohort=cohort, start_ns=start_ns, end_ns=end_ns, every_version=True)
        condition, bound = chosen.build_condition()
        source, keys = chosen.build_source("{db}", table="failures")
        rows = self._select(
            "SELECT fingerprint, toUInt32(intDiv(toUnixTimestamp64Nano(span_time) - {from_ns:Int64},"
            " {length:Int64})) AS part, uniqExact(project, trace_id, run_span_id) AS runs"
            f" FROM {source} WHERE {condition} GROUP BY fingerprint, part",
            {**bound, **keys, "length": length},
        )
        found: dict[str, list[int]] = {}
        for row in rows:
            trend = found.setdefault(row["fingerprint"], [0] * buckets)
            trend[min(buckets - 1, int(row["part"]))] += int(row["runs"])
        return found

    def list_snippets(
        self, *, start_ns: int, verdict: str | None, rule: str | None, limit: int, after: Page
    ) -> list[CodeRow]:
        """Return snippets, newest first."""
        terms, bound = _build_page_terms(start_ns, after)
        if verdict is not None:
            terms.append("verdict = {verdict:String}")
            bound["verdict"] = verdict
        if rule is not None:
            terms.append("has(`Findings.Rule`, {rule:String})")
            bound["rule"] = rule
        rows = self._select(
            "SELECT project, trace_id, run_span_id, snippet_id,"
            " toUnixTimestamp64Nano(span_time) AS span_time_ns,"
            " language, substringUTF8(source, 1, 2000) AS source, executed, verdict,"
            f" `Findings.Rule` AS rules FROM {{db}}.snippets FINAL WHERE {' AND '.join(terms)}"
            " ORDER BY span_time_ns DESC, snippet_id, project LIMIT {limit:UInt32}",
            {**bound, "limit": limit},
        )
        return [
            CodeRow(**{**row, "executed": bool(row["executed"]), "rules": tuple(row["rules"])})
            for row in rows
        ]

    def list_replays(
        self, *, start_ns: int, failure_class: str | None, agrees: bool | None, limit: int, after: Page
    ) -> list[ReplayRow]:
        """Return replayed snippets, newest first."""
        terms, bound = _build_page_terms(start_ns, after)
        terms.append("unreplayed = ''")
        if failure_class is not None:
            terms.append("failure_class = {class:String}")
            bound["class"] = failure_class
        if agrees is not None:
            terms.append("agrees = {agrees:UInt8}")
            bound["agrees"] = int(agrees)
        rows = self._select(
            "SELECT project, trace_id, run_span_id, snippet_id,"
            " toUnixTimestamp64Nano(span_time) AS span_time_ns,"
            " failure_class, agrees, difference, wall_s, peak_memory_bytes"
            f" FROM {{db}}.replays FINAL WHERE {' AND '.join(terms)}"
            " ORDER BY span_time_ns DESC, snippet_id, project LIMIT {limit:UInt32}",
            {**bound, "limit": limit},
        )
        return [
            ReplayRow(**{**row, "agrees": None if row["agrees"] is None else bool(row["agrees"])})
            for row in rows
        ]

    def list_attempts(
        self, *, start_ns: int, kind: str | None, cohort: Mapping[str, str] = _NO_COHORT, limit: int
    ) -> list[AttemptRow]:
        """Return what programs tried, by target, agent and release; what was not allowed first."""
        runs, bound = self._build_run_query(start_ns, cohort)
        kinds = "1"
        if kind is not None:
            kinds = "attempt_kind = {kind:String}"
            bound["kind"] = kind
        rows = self._select(
            "SELECT attempt_kind AS kind, attempt_target AS target, attempt_allowed AS allowed,"
            " run_agent AS agent, run_release AS release, count() AS times,"
            " uniqExact(project, trace_id, run_span_id) AS runs,"
            " max(at_ns) AS last_ns, argMax(trace_id, at_ns) AS latest FROM ("
            "SELECT project, trace_id, run_span_id, toUnixTimestamp64Nano(span_time) AS at_ns, attempt_kind,"
            " attempt_target, attempt_allowed FROM {db}.replays FINAL"
            " ARRAY JOIN `Attempts.Kind` AS attempt_kind, `Attempts.Target` AS attempt_target,"
            " `Attempts.Allowed` AS attempt_allowed"
            f" WHERE span_time >= {_FROM} AND {kinds}) AS tried"
            f" INNER JOIN ({runs}) AS runs USING (project, trace_id, run_span_id)"
            " GROUP BY kind, target, allowed, agent, release"
            " ORDER BY allowed, times DESC, kind, target, agent, release LIMIT {limit:UInt32}",
            {**bound, "limit": limit},
        )
        return [
            AttemptRow(
                **{name: row[name] for name in ("kind", "target", "agent", "release", "times", "runs")},
                allowed=bool(row["allowed"]),
                last_ns=int(row["last_ns"]),
                trace_id=row["latest"],
            )
            for row in rows
        ]

    def list_findings(
        self, *, start_ns: int, cohort: Mapping[str, str] = _NO_COHORT, limit: int
    ) -> list[FindingRow]:
        """Return the scanners' rules that fired, by agent and release; denials first."""
        runs, bound = self._build_run_query(start_ns, cohort)
        rows = self._select(
            "SELECT rule, found AS verdict, any(said) AS message, run_agent AS agent,"
            " run_release AS release, count() AS snippets,"
            " uniqExact(project, trace_id, run_span_id) AS runs, max(at_ns) AS last_ns,"
            " argMax(trace_id, at_ns) AS latest FROM ("
            "SELECT project, trace_id, run_span_id, toUnixTimestamp64Nano(span_time) AS at_ns, rule, found,"
            " said"
            " FROM {db}.snippets FINAL ARRAY JOIN `Findings.Rule` AS rule, `Findings.Verdict` AS found,"
            " `Findings.Message` AS said"
            f" WHERE span_time >= {_FROM}) AS seen"
            f" INNER JOIN ({runs}) AS runs USING (project, trace_id, run_span_id)"
            " GROUP BY rule, verdict, agent, release"
            " ORDER BY indexOf(['deny', 'review', 'allow'], verdict), snippets DESC, rule, agent, release"
            " LIMIT {limit:UInt32}",
            {**bound, "limit": limit},
        )
        names = ("rule", "verdict", "message", "agent", "release", "snippets", "runs")
        return [
            FindingRow(
                **{name: row[name] for name in names}, last_ns=int(row["last_ns"]), trace_id=row["latest"]
            )
            for row in rows
        ]

    def list_sources(self, *, start_ns: int, limit: int) -> list[SourceRow]:
        """Return each piece of code once, the commonest first."""
        rows = self._select(
            "SELECT language, source, any(verdict) AS verdict, count() AS times, any(trace_id) AS trace_id"
            f" FROM {{db}}.snippets FINAL WHERE span_time >= {_FROM} AND truncated = 0"
            " GROUP BY language, source ORDER BY times DESC, language, source LIMIT {limit:UInt32}",
            {"from_ns": start_ns, "limit": limit},
        )
        return [SourceRow(**row) for row in rows]

    def list_sessions(
        self, *, start_ns: int, limit: int, after: Page = None, project: str | None = None
    ) -> list[SessionRow]:
        """Return conversations, of one project or all, the latest first; `after` is where a page ended."""
        with self._connections.lease() as client:
            database = self._connections.database
            return fetch_sessions(
                client, database, start_ns=start_ns, limit=limit, after=after, project=project
            )

    def list_traces_of_session(self, session_id: str, limit: int, project: str | None = None) -> list[str]:
        """Return ids of the traces of a conversation, in order of time."""
        with self._connections.lease() as client:
            return fetch_traces_of_session(client, self._connections.database, session_id, limit, project)

    def list_labels(
        self,
        *,
        layer: Layer | None = None,
        wrong: bool = False,
        project: str | None = None,
        limit: int,
        after: Page = None,
    ) -> list[LabelRow]:
        """Return people's verdicts beside ours, newest first.

        Args:
            layer: only on this one.
            project: only on traces of this one.
            wrong: only those that are not ours.
            limit: at most so many.
            after: time and key (`trace_id.span_id.layer.source/project`) of the row before.
        """
        terms = ["given.name = {label_name:String}"]
        bound: dict[str, Any] = {"label_name": PERSON_VERDICT, "limit": limit}
        if layer is not None:
            terms.append("layer = {layer:String}")
            bound["layer"] = layer.value
        if project is not None:
            terms.append("(given.project = {project:String} OR ours.project = {project:String})")
            bound["project"] = project
        if wrong:
            terms.append("ours.label IN ('pass', 'fail') AND given.label != ours.label")
        key = "concat(trace_id, '.', span_id, '.', layer, '.', source, '/', given.project)"
        if after is not None:
            terms.append(
                f"(given_ns < {{after_ns:Int64}} OR given_ns = {{after_ns:Int64}} AND {key} > {{key:String}})"
            )
            bound |= {"after_ns": after[0], "key": after[1]}
        rows = self._select(
            "SELECT trace_id, ours.run_span_id AS run, span_id, layer, source, given.label AS label,"
            " given.project AS project,"
            " given.explanation AS note, toUnixTimestamp64Nano(given.given) AS given_ns, ours.label AS ours,"
            " ours.agent AS agent FROM (SELECT * FROM {db}.external_scores FINAL) AS given"
            " LEFT JOIN (SELECT project, trace_id, span_id, run_span_id, layer, label, agent"
            " FROM {db}.scores FINAL"
            " WHERE current = 1 AND name = layer"
            " AND trace_id IN (SELECT trace_id FROM {db}.external_scores)) AS ours"
            " ON given.trace_id = ours.trace_id AND given.span_id = ours.span_id AND given.layer = ours.layer"
            " AND (given.project = ours.project OR given.project = '')"
            f" WHERE {' AND '.join(terms)} ORDER BY given_ns DESC, {key} LIMIT {{limit:UInt32}}",
            bound,
        )
        return [
            LabelRow(
                row["trace_id"], row["run"] or row["span_id"], Layer(row["layer"]), row["source"],
                _find_label(row["label"]), row["note"], int(row["given_ns"]),
                _find_label(row["ours"]), row["agent"], row["project"],
            )
            for row in rows
        ]  # fmt: skip

    def list_unlabelled(
        self,
        layer: Layer | None = None,
        *,
        start_ns: int,
        cohort: Mapping[str, str] = _NO_COHORT,
        limit: int,
        traces: Sequence[TraceKey] | None = None,
    ) -> list[Score]:
        """Return verdicts of layers that no person has judged: open ones, then fails, then some passes.

        Within each the newest come first. Of the passes there is a share of `PASS_SAMPLE_SHARE`, always of
        the same runs.

        Args:
            layer: only on this one; None is on any.
            start_ns: Unix nanoseconds of the first span time.
            cohort: only runs of these values, by dimension.
            limit: at most so many.
            traces: only those of these traces, with every pass; None is of any.
        """
        waiting, bound = _build_waiting_query(layer, start_ns, cohort, traces)
        rows = self._select(
            f"SELECT {', '.join(list_score_columns())} {waiting}"
            " ORDER BY indexOf(['', 'fail', 'pass'], label), scores.span_time DESC, layer, id"
            " LIMIT {limit:UInt32}",
            {**bound, "limit": limit},
        )
        return [parse_score(row) for row in rows]

    def count_unlabelled(
        self, layer: Layer | None = None, *, start_ns: int, cohort: Mapping[str, str] = _NO_COHORT, most: int
    ) -> int:
        """Return how many verdicts `list_unlabelled` has; the store counts no further than `most`."""
        waiting, bound = _build_waiting_query(layer, start_ns, cohort)
        rows = self._select(
            f"SELECT count() AS waiting FROM (SELECT 1 {waiting} LIMIT {{most:UInt32}})",
            {**bound, "most": most},
        )
        return int(rows[0]["waiting"])

    def get_run_summaries(self, keys: Sequence[TraceKey]) -> dict[tuple[TraceKey, str], RunSummary]:
        """Return task, answer, tokens and cost of the runs of these traces, by trace and run."""
        with self._connections.lease() as client:
            return fetch_run_summaries(client, self._connections.database, keys)

    def list_usage_points(self, chosen: TraceTerms, *, start_ns: int, bucket_ns: int) -> list[UsagePoint]:
        """Return states, latency, tokens and cost over time.

        Raises:
            StoreError: `chosen.cohort` names an unknown dimension.
        """
        with self._connections.lease() as client:
            return fetch_usage_points(client, self._connections.database, chosen, start_ns, bucket_ns)

    def list_usage_shares(self, chosen: TraceTerms) -> list[UsageShare]:
        """Return tokens and cost by agent and model, the most tokens first.

        Raises:
            StoreError: `chosen.cohort` names an unknown dimension.
        """
        with self._connections.lease() as client:
            return fetch_usage_shares(client, self._connections.database, chosen)

    def count_judged(
        self, *, start_ns: int, cohort: Mapping[str, str] = _NO_COHORT
    ) -> dict[Layer, tuple[int, int]]:
        """Return how many verdicts of each layer a judge was queried about, and how many it settled.

        Args:
            start_ns: Unix nanoseconds of the first span time.
            cohort: only runs of these values, by dimension.
        """
        chosen = Filter(None, None, cohort, None, start_ns)
        condition, bound = chosen.build_condition()
        source, keys = chosen.build_source("{db}")
        rows = self._select(
            "SELECT layer, count() AS queried, countIf(label IN ('pass', 'fail')) AS settled"
            f" FROM {source} WHERE {condition} AND name = layer"
            " AND arrayExists(prefix -> startsWith(evaluator, prefix), {judges:Array(String)})"
            " GROUP BY layer",
            {**bound, **keys, "judges": list(JUDGE_PREFIXES)},
        )
        return {Layer(row["layer"]): (int(row["queried"]), int(row["settled"])) for row in rows}

    def _build_run_query(self, start_ns: int, cohort: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
        """Return the statement for runs with agent and release, and its parameters."""
        chosen = Filter(Layer.BOUNDARY, Layer.BOUNDARY.value, cohort, None, max(0, start_ns))
        condition, bound = chosen.build_condition()
        source, keys = chosen.build_source("{db}")
        runs = (
            "SELECT project, trace_id, run_span_id, any(scores.agent) AS run_agent,"
            f" any(scores.release) AS run_release FROM {source} WHERE {condition}"
            " GROUP BY project, trace_id, run_span_id"
        )
        return runs, bound | keys

    def _select(self, sql: str, bound: Mapping[str, Any]) -> list[dict[str, Any]]:
        with self._connections.lease() as client:
            statement = sql.replace("{db}", self._connections.database)
            found: list[dict[str, Any]] = list(
                client.query(statement, parameters=dict(bound)).named_results()
            )
        return found


_FROM: Final = "fromUnixTimestamp64Nano({from_ns:Int64}, 'UTC')"


def _build_waiting_query(
    layer: Layer | None,
    start_ns: int,
    cohort: Mapping[str, str],
    traces: Sequence[TraceKey] | None = None,
) -> tuple[str, dict[str, Any]]:
    """Return what selects the verdicts that no person has judged, and its parameters."""
    chosen = Filter(layer, layer.value if layer else None, cohort, None, start_ns)
    condition, bound = chosen.build_condition()
    source, keys = chosen.build_source("{db}")
    of_traces, ids = ("1", {}) if traces is None else build_key_condition(traces)
    is_wanted_pass = _IS_IN_SAMPLE if traces is None else "1"
    query = (
        f"FROM {source} WHERE {condition} AND {of_traces}"
        f" AND name = layer AND ({IS_OPEN} OR label = 'fail' OR label = 'pass' AND {is_wanted_pass})"
        " AND (project, trace_id, run_span_id, layer) NOT IN ("
        # A step begins after its run, and so within the window as well.
        "SELECT project, trace_id, run_span_id, layer FROM {db}.scores FINAL"
        f" WHERE current = 1 AND span_time >= {_FROM}"
        " AND name = {label_name:String} AND startsWith(evaluator, {external:String}))"
    )
    return query, {
        **bound,
        **keys,
        **ids,
        "label_name": PERSON_VERDICT,
        "external": EXTERNAL_PREFIX,
        "sampled": int(PASS_SAMPLE_SHARE * _HASH_PARTS),
    }


def _build_page_terms(start_ns: int, after: Page) -> tuple[list[str], dict[str, Any]]:
    """Return the conditions of a page of rows by time and snippet, and their parameters."""
    terms = [f"span_time >= {_FROM}"]
    bound: dict[str, Any] = {"from_ns": start_ns}
    if after is not None:
        terms.append(
            "(span_time < fromUnixTimestamp64Nano({after_ns:Int64}, 'UTC')"
            " OR toUnixTimestamp64Nano(span_time) = {after_ns:Int64}"
            " AND concat(snippet_id, '/', project) > {after_id:String})"
        )
        bound |= {"after_ns": after[0], "after_id": after[1]}
    return terms, bound


def _find_label(text: str) -> Label | None:
    return Label(text) if text else None
