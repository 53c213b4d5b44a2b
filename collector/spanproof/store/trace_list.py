# ruff: noqa: S608 - names of columns come from the schema alone, values are bound
"""Lists of traces: which ones, in which order, and how many of them have each value of a dimension.

Every value a caller gives goes in as a bound parameter. A search finds its candidates by an index that may
read former rows of a trace, and holds each candidate against the row that counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from clickhouse_connect.driver.client import Client

from spanproof.semconv import spanproof as ours
from spanproof.store.cells import to_storable_time
from spanproof.store.dimensions import get_column
from spanproof.store.filters import Filter
from spanproof.store.keys import build_key_condition
from spanproof.store.queries import fetch_runs, get_row_key
from spanproof.store.summary import normalise_case
from spanproof.store.values import RunSummary, TraceRow
from spanproof.trace import Layer, State
from spanproof.trace.project import TraceKey

_DAY_NS: Final = 86_400 * 10**9
# The newest traces are looked for in the last day first; the table has a partition for each.
_DAYS_LOOKED_AT: Final = (1, 16)

_NO_COHORT: Final[Mapping[str, str]] = MappingProxyType({})

_LATENCY: Final = "greatest(end_ns, start_ns) - start_ns"
# A place in a list is a whole number: of costs, in millionths of a dollar.
_MICROS: Final = 1_000_000
_MICRO_USD: Final = f"toUInt64(ifNull(cost_usd, 0) * {_MICROS})"
_SUMMARY_COLUMNS: Final = (
    "`Runs.SpanId` AS run_ids, `Runs.Task` AS tasks, `Runs.Answer` AS answers, `Runs.Tokens` AS run_tokens,"
    " `Runs.CostUsd` AS costs, tokens, cost_usd"
)


class TraceOrder(StrEnum):
    """What comes first in a list of traces."""

    NEWEST = "newest"
    SLOWEST = "slowest"
    TOKENS = "tokens"
    COST = "cost"

    def get_place(self, row: TraceRow) -> tuple[int, str]:
        """Return where a row is in a list: what the list is ordered by, then what orders ties."""
        amounts = {
            TraceOrder.NEWEST: row.start_ns,
            TraceOrder.SLOWEST: max(row.start_ns, row.end_ns) - row.start_ns,
            TraceOrder.TOKENS: row.tokens,
            TraceOrder.COST: int((row.cost_usd or 0) * _MICROS),
        }
        return amounts[self], row.place[1]


_ORDERED_BY: Final[Mapping[TraceOrder, str]] = MappingProxyType(
    {
        TraceOrder.NEWEST: "start_ns",
        TraceOrder.SLOWEST: _LATENCY,
        TraceOrder.TOKENS: "tokens",
        TraceOrder.COST: _MICRO_USD,
    }
)


@dataclass(frozen=True, slots=True)
class TraceTerms:
    """Which traces a list has.

    Attributes:
        project: only of this one.
        since_ns: only those that began then or later, Unix nanoseconds.
        failing: a layer: only with a run that fails it; True: any layer; False: none.
        states: only those whose runs are one of these together; none named is any.
        cohort: only with a score of these values, by dimension.
        texts: each must be in a task, an answer, code or an output, in any case.
        feedback: only with a rating of this kind by a user.
        min_latency_ns, min_tokens, min_cost_usd: only those that took as much or more.
    """

    project: str | None = None
    since_ns: int | None = None
    failing: Layer | bool | None = None
    states: Collection[State] = ()
    cohort: Mapping[str, str] = field(default_factory=lambda: _NO_COHORT)
    texts: Sequence[str] = ()
    feedback: str | None = None
    min_latency_ns: int | None = None
    min_tokens: int | None = None
    min_cost_usd: float | None = None

    def build_condition(self, database: str) -> tuple[str, dict[str, Any]]:
        """Return the condition on rows of `traces`, and its parameters.

        Raises:
            StoreError: `cohort` names an unknown dimension.
        """
        terms, bound = self._build_verdict_terms()
        for number, text in enumerate(self.texts):
            # LIKE would be read from the index, which may hold a former row: see `build_candidate_condition`.
            terms.append(f"position(text, {{text{number}:String}}) > 0")
            bound[f"text{number}"] = normalise_case(text)
        if self.cohort:
            of_cohort = Filter(cohort=self.cohort, start_ns=self.since_ns)
            condition, values = of_cohort.build_condition()
            source, keys = of_cohort.build_source(database)
            terms.append(f"(project, trace_id) IN (SELECT project, trace_id FROM {source} WHERE {condition})")
            bound |= values | keys
        if self.feedback is not None:
            terms.append(
                "(project, trace_id) IN (SELECT SpanproofProject, SpanAttributes[{rated:String}]"
                f" FROM {database}.otel_traces WHERE SpanName = 'feedback'"
                " AND SpanAttributes[{kind:String}] = {rating:String})"
            )
            bound |= {"rated": ours.FEEDBACK_TRACE_ID, "kind": ours.FEEDBACK_KIND, "rating": self.feedback}
        return " AND ".join(terms) or "1", bound

    def _build_verdict_terms(self) -> tuple[list[str], dict[str, Any]]:
        terms: list[str] = []
        bound: dict[str, Any] = {}
        if self.project is not None:
            terms.append("project = {project:String}")
            bound["project"] = self.project
        if self.since_ns is not None:
            terms.append("start >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')")
            bound["since"] = min(max(0, self.since_ns), 2**63 - 1)
        if isinstance(self.failing, Layer):
            terms.append("has(failing, {layer:String})")
            bound["layer"] = self.failing.value
        elif self.failing is not None:
            terms.append("notEmpty(failing)" if self.failing else "empty(failing)")
        if self.states:
            terms.append("state IN {states:Array(String)}")
            bound["states"] = [state.value for state in self.states]
        for name, column, kind in (
            ("min_latency_ns", _LATENCY, "UInt64"),
            ("min_tokens", "tokens", "UInt64"),
            ("min_cost_usd", "ifNull(cost_usd, 0)", "Float64"),
        ):
            least = getattr(self, name)
            if least is not None:
                terms.append(f"{column} >= {{{name}:{kind}}}")
                bound[name] = least
        return terms, bound

    def build_candidate_condition(self, database: str, within: str) -> tuple[str, dict[str, Any]]:
        """Return the condition for traces of which some row holds the texts, and its parameters.

        Such a row is found by the index, without FINAL, and may be one that was replaced since.
        """
        if not self.texts:
            return "1", {}
        terms = [f"text LIKE {{like{number}:String}}" for number in range(len(self.texts))]
        bound = {f"like{number}": f"%{_build_like_pattern(text)}%" for number, text in enumerate(self.texts)}
        found = f"SELECT trace_id FROM {database}.traces WHERE {within} AND {' AND '.join(terms)}"
        return f"trace_id IN ({found})", bound


def _build_like_pattern(text: str) -> str:
    folded = normalise_case(text)
    return folded.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def fetch_traces(
    client: Client,
    database: str,
    chosen: TraceTerms,
    *,
    order: TraceOrder = TraceOrder.NEWEST,
    limit: int,
    before: tuple[int, str] | None = None,
) -> list[TraceRow]:
    """Return traces with the verdicts of their runs; see `Store.traces`."""
    condition, bound = chosen.build_condition(database)
    ordered_by = _ORDERED_BY[order]
    if before is not None:
        # In the order of the rows: then by id and project; see `TraceRow.place`.
        condition += (
            f" AND ({ordered_by} < {{before:UInt64}}"
            f" OR {ordered_by} = {{before:UInt64}} AND concat(trace_id, '/', project) > {{before_id:String}})"
        )
        bound |= {"before": before[0], "before_id": before[1]}
    if order is TraceOrder.NEWEST:
        newest_ns = _get_newest_ns(client, database, before)
        stretches = [max(0, newest_ns - days * _DAY_NS) for days in _DAYS_LOOKED_AT]
    else:
        stretches = []
    rows: list[Mapping[str, Any]] = []
    for oldest_ns in (*stretches, None):
        rows = _fetch_rows(client, database, chosen, (condition, bound), ordered_by, oldest_ns, limit)
        if len(rows) >= limit:
            break
    return _add_runs(client, database, rows)


def _get_newest_ns(client: Client, database: str, before: tuple[int, str] | None) -> int:
    latest = f"SELECT toUnixTimestamp64Nano(max(start)) FROM {database}.traces"
    newest = int(client.query(latest).result_rows[0][0])
    if before is None:
        return newest
    return min(newest, to_storable_time(before[0]))


def _fetch_rows(
    client: Client,
    database: str,
    chosen: TraceTerms,
    where: tuple[str, Mapping[str, Any]],
    ordered_by: str,
    oldest_ns: int | None,
    limit: int,
) -> list[Mapping[str, Any]]:
    """Return the first rows in an order, of traces that began at a time or later."""
    condition, bound = where
    if oldest_ns is None:
        within = "1"
    else:
        within = "start >= fromUnixTimestamp64Nano({oldest:Int64}, 'UTC')"
    candidates, likes = chosen.build_candidate_condition(database, within)
    found = client.query(
        f"SELECT project, trace_id, start_ns, end_ns, spans, defects, {_SUMMARY_COLUMNS}"
        f" FROM {database}.traces FINAL WHERE {within} AND {candidates} AND {condition}"
        f" ORDER BY {ordered_by} DESC, trace_id, project LIMIT {{limit:UInt32}}",
        parameters={**bound, **likes, "limit": limit, "oldest": oldest_ns or 0},
    )
    return list(found.named_results())


def fetch_traces_by_id(client: Client, database: str, trace_ids: Sequence[str]) -> list[TraceRow]:
    """Return these traces, newest first; without those the store does not have."""
    found = client.query(
        f"SELECT project, trace_id, start_ns, end_ns, spans, defects, {_SUMMARY_COLUMNS}"
        f" FROM {database}.traces FINAL WHERE trace_id IN {{ids:Array(String)}}"
        " ORDER BY start DESC, trace_id",
        parameters={"ids": list(trace_ids)},
    )
    return _add_runs(client, database, list(found.named_results()))


def _add_runs(client: Client, database: str, rows: Sequence[Mapping[str, Any]]) -> list[TraceRow]:
    keys = [get_row_key(row) for row in rows]
    # Scores are ordered by the hour of their span, which lies within its trace.
    first_ns = min((row["start_ns"] for row in rows), default=0)
    last_ns = max((max(row["start_ns"], row["end_ns"]) for row in rows), default=0)
    runs = fetch_runs(client, database, keys, within_ns=(first_ns, last_ns))
    ratings = count_feedback(client, database, keys)
    return [
        TraceRow(
            project=row["project"],
            trace_id=row["trace_id"],
            start_ns=row["start_ns"],
            end_ns=row["end_ns"],
            spans=row["spans"],
            defects=tuple(row["defects"]),
            runs=tuple(runs.get(key, ())),
            tokens=int(row["tokens"]),
            cost_usd=row["cost_usd"],
            summaries=_read_summaries(row),
            feedback=ratings.get(key, {}),
        )
        for key, row in zip(keys, rows, strict=True)
    ]


def _read_summaries(row: Mapping[str, Any]) -> dict[str, RunSummary]:
    columns = zip(row["run_ids"], row["tasks"], row["answers"], row["run_tokens"], row["costs"], strict=True)
    return {
        span_id: RunSummary(task, answer, int(tokens), cost_usd)
        for span_id, task, answer, tokens, cost_usd in columns
    }


def fetch_run_summaries(
    client: Client, database: str, keys: Sequence[TraceKey]
) -> dict[tuple[TraceKey, str], RunSummary]:
    """Return task, answer, tokens and cost of the runs of these traces, by trace and run."""
    if not keys:
        return {}
    condition, bound = build_key_condition(keys)
    found = client.query(
        f"SELECT project, trace_id, {_SUMMARY_COLUMNS} FROM {database}.traces FINAL WHERE {condition}",
        parameters=bound,
    )
    return {
        (get_row_key(row), span_id): summary
        for row in found.named_results()
        for span_id, summary in _read_summaries(row).items()
    }


def count_feedback(client: Client, database: str, keys: Sequence[TraceKey]) -> dict[TraceKey, dict[str, int]]:
    """Return how many ratings of each kind users gave these traces; none of those without one."""
    if not keys:
        return {}
    condition, bound = build_key_condition(keys, ("SpanproofProject", "rated"))
    # Without FINAL, which would read the whole table: a rating that was sent again is counted once.
    rows = client.query(
        "SELECT SpanproofProject, rated, kind, uniqExact(TraceId, SpanId) AS times FROM ("
        "SELECT SpanproofProject, TraceId, SpanId, SpanAttributes[{rated_key:String}] AS rated,"
        f" SpanAttributes[{{kind_key:String}}] AS kind FROM {database}.otel_traces"
        " WHERE SpanName = 'feedback' AND mapContains(SpanAttributes, {kind_key:String}))"
        f" WHERE {condition} GROUP BY SpanproofProject, rated, kind",
        parameters={**bound, "rated_key": ours.FEEDBACK_TRACE_ID, "kind_key": ours.FEEDBACK_KIND},
    ).result_rows
    found: dict[TraceKey, dict[str, int]] = {}
    for project, trace_id, kind, times in rows:
        found.setdefault(TraceKey(project, trace_id), {})[kind] = int(times)
    return found


def list_trace_ids(client: Client, database: str, prefix: str, limit: int, chosen: TraceTerms) -> list[str]:
    """Return ids that start with a prefix, newest first; see `Store.trace_ids`."""
    condition, bound = chosen.build_condition(database)
    if prefix:
        # Which ids there are is found without FINAL, which would read all of the table.
        condition += (
            f" AND trace_id IN (SELECT DISTINCT trace_id FROM {database}.traces"
            " WHERE startsWith(trace_id, {prefix:String}))"
        )
        bound["prefix"] = prefix
    rows = client.query(
        f"SELECT trace_id FROM {database}.traces FINAL WHERE {condition}"
        " ORDER BY start DESC, trace_id LIMIT {limit:UInt32}",
        parameters={**bound, "limit": limit},
    ).result_rows
    # Two projects may have a trace with one id.
    return list(dict.fromkeys(row[0] for row in rows))


@dataclass(frozen=True, slots=True)
class Facets:
    """How many traces of a list have each state, and each value of dimensions, the commonest first."""

    states: Mapping[State, int]
    values: Mapping[str, tuple[tuple[str, int], ...]]


def fetch_facets(
    client: Client, database: str, chosen: TraceTerms, dimensions: Sequence[str], limit: int
) -> Facets:
    """Return the facets of the traces that are chosen; see `Store.facets`."""
    condition, bound = chosen.build_condition(database)
    candidates, likes = chosen.build_candidate_condition(database, "1")
    traces = f"FROM {database}.traces FINAL WHERE {candidates} AND {condition}"
    bound = {**bound, **likes}
    rows = client.query(f"SELECT state, count() {traces} GROUP BY state", parameters=bound).result_rows
    states = {State(state): int(count) for state, count in rows if state}
    if not dimensions:
        return Facets(states, {})
    columns = [get_column(name) for name in dimensions]
    # Each run has one own outcome of its trajectory, which has the run's whole cohort.
    of_runs = "name = 'trajectory' AND layer = 'trajectory' AND current = 1"
    if condition == "1":
        narrowed = "1"
    else:
        narrowed = f"(project, trace_id) IN (SELECT project, trace_id {traces})"
    groups = ", ".join(f"({column})" for column in columns)
    counted = client.query(
        f"SELECT {', '.join(columns)}, grouping({', '.join(columns)}) AS which,"
        f" uniqExact(project, trace_id) AS times FROM {database}.scores FINAL"
        f" WHERE {of_runs} AND {narrowed} GROUP BY GROUPING SETS ({groups})",
        parameters=bound,
    ).result_rows
    found: dict[str, Counter[str]] = {name: Counter() for name in dimensions}
    for *values, which, times in counted:
        # `grouping` has a bit for each column that a row is not grouped by, the first column's highest.
        for at, name in enumerate(dimensions):
            is_grouped = not which >> (len(columns) - 1 - at) & 1
            if is_grouped and values[at]:
                found[name][values[at]] = int(times)
    return Facets(states, {name: _list_commonest(of_name, limit) for name, of_name in found.items()})


def _list_commonest(counts: Mapping[str, int], limit: int) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])
