"""Scores measured by cohort over a window: what alert rules compare.

Each method reads one window and returns a row for each group of values; no dimensions make one group, which
is there even where nothing was counted. `Measures.with_windows` reads many windows with one query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spanproof.semconv import spanproof as ours
from spanproof.store.connection import Connections
from spanproof.store.dimensions import get_column
from spanproof.store.feedback import SCORE_NAME as FEEDBACK
from spanproof.store.filters import IS_OPEN, Filter, build_verdict_conditions
from spanproof.store.queries import (
    CAUSE_COLUMNS,
    CAUSE_KEYS,
    list_score_columns,
    parse_cause_count,
    parse_counts,
)
from spanproof.store.rollups import build_verdict_source
from spanproof.store.rows import parse_score
from spanproof.store.schema import VERDICT_COUNTS
from spanproof.store.values import CauseCount, FailRate, FailsWhen
from spanproof.store.windows import WINDOW_COLUMN, Windows, build_numbers
from spanproof.trace import Layer, Score

Values = tuple[str, ...]
"""Of the dimensions a measure is grouped by, in their order; over many windows, the window's number first."""

_MOST_GROUPS = 1000
_SCORE_TIME = "toUnixTimestamp64Nano(scores.span_time)"
_ERRORED = "outcome = 'errored'"
_VALUE = f"if({IS_OPEN}, NULL, value)"

# Ratings by users as scores of their runs, in the columns of the table; the time is that of the rating.
_RATINGS = f"""(
  SELECT run.* REPLACE (
    'feedback' AS name, 'spanproof.feedback' AS evaluator, 'scored' AS outcome, '[]' AS evidence,
    '' AS cause, '' AS cause_detail,
    given.at AS span_time, toUInt64(toUnixTimestamp64Nano(given.at)) AS span_time_ns,
    if(given.kind = 'thumbs_up', 1., 0.) AS value,
    if(given.kind = 'thumbs_up', 'pass', 'fail') AS label,
    concat('user feedback: ', replaceAll(given.kind, '_', ' '),
      if(given.comment = '', '', concat(': ', given.comment))) AS explanation)
  FROM (
    SELECT * FROM {{database}}.scores FINAL WHERE current = 1 AND layer = 'trajectory' AND name = layer
  ) AS run
  INNER JOIN (
    SELECT Timestamp AS at, SpanAttributes['{ours.FEEDBACK_TRACE_ID}'] AS about,
      SpanAttributes['{ours.FEEDBACK_SPAN_ID}'] AS of_span, SpanAttributes['{ours.FEEDBACK_KIND}'] AS kind,
      SpanAttributes['{ours.FEEDBACK_COMMENT}'] AS comment, SpanproofProject
    FROM {{database}}.otel_traces FINAL
    WHERE SpanName = 'feedback' AND mapContains(SpanAttributes, '{ours.FEEDBACK_KIND}')
  ) AS given ON run.project = given.SpanproofProject AND run.trace_id = given.about
  WHERE given.of_span IN ('', run.run_span_id)
) AS scores"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Amount:
    """A mean or percentile over `count` scores; `value` is None of none."""

    value: float | None
    count: int


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many."""

    part: int
    whole: int


@dataclass(frozen=True, slots=True)
class Groups:
    """Which groups to look into: dimensions, and their values for each; no dimensions are one group."""

    by: Sequence[str]
    values: Sequence[Values]


@dataclass(frozen=True, slots=True)
class _Aggregate:
    """A function over the rows of a group, which can be merged from the states of parts of the group.

    Attributes:
        level: of a quantile.
        of_none: what it is of no rows.
    """

    function: str
    arguments: str = ""
    level: str = ""
    of_none: float | None = 0

    def build_call(self) -> str:
        """Return the call over rows."""
        return f"{self.function}{self.level}({self.arguments})"

    def build_state(self) -> str:
        """Return the call that makes a state of rows."""
        return f"{self.function}State{self.level}({self.arguments})"

    def build_merge(self, state: str) -> str:
        """Return the call that merges a column of states."""
        return f"{self.function}Merge{self.level}({state})"


_ROWS = _Aggregate("count")
_AMOUNTS = {
    "mean": ("avgOrNull", ""),
    "p50": ("quantileExactOrNull", "(0.5)"),
    "p95": ("quantileExactOrNull", "(0.95)"),
}
# In the order of the fields of `FailRate`.
_COUNTS = tuple(_Aggregate("sum", name) for name in VERDICT_COUNTS)


class Measures:
    """Reads the table of scores. Every method raises StoreError where that fails.

    Args:
        connections: to the store.
        windows: that every method reads; None: the one window of the filter.
    """

    def __init__(self, connections: Connections, windows: Windows | None = None) -> None:
        self._connections = connections
        self._windows = windows

    def with_windows(self, windows: Windows) -> Measures:
        """Return measures of many windows: the first value of each group is the number of its window.

        Filters go from the start of the first window to the end of the last.
        """
        return Measures(self._connections, windows)

    def count_verdicts(
        self, chosen: Filter, by: Sequence[str], fails_when: FailsWhen | None
    ) -> dict[Values, FailRate]:
        """Return the verdicts of a score, counted."""
        if _is_feedback(chosen):
            passes, fails, bound = build_verdict_conditions(fails_when)
            advice = f"outcome = 'scored' AND NOT ({passes}) AND NOT ({fails})"
            conditions = (passes, fails, _ERRORED, "outcome = 'skipped'", "0", advice)
            counts = [_Aggregate("countIf", condition) for condition in conditions]
            rows = self._fetch_groups(counts, chosen, by, bound)
            return {values: parse_counts(row) for values, row in rows}
        with self._connections.lease() as client:
            # Rows that are counted ahead are of whole hours, and windows end within them.
            bucket_ns = 0 if self._windows is None else 1
            source, bound = build_verdict_source(
                client, self._connections.database, chosen, fails_when, bucket_ns=bucket_ns, by=by
            )
        order = f"{' + '.join(f'found_{index}' for index in range(len(_COUNTS)))} DESC"
        rows = self._fetch_aggregates(_COUNTS, source, by, bound, order, at="at")
        return {values: parse_counts(row) for values, row in rows}

    def compute_amounts(
        self, chosen: Filter, by: Sequence[str], aggregate: str, *, raw: bool
    ) -> dict[Values, Amount]:
        """Return a mean or percentile (`mean`, `p50`, `p95`) of raw amounts or of values from 0 to 1.

        The placeholders that open verdicts have for a value are left out.
        """
        column = "raw" if raw else _VALUE
        function, level = _AMOUNTS[aggregate]
        amount = _Aggregate(function, column, level, of_none=None)
        rows = self._fetch_groups([amount, _Aggregate("count", column)], chosen, by, {})
        return {values: Amount(row[0], int(row[1])) for values, row in rows}

    def count_absences(self, chosen: Filter, by: Sequence[str]) -> dict[Values, Share]:
        """Return the runs of which the score has no judgement with a value, of all runs that were judged."""
        run = "project, trace_id, run_span_id"
        has_value = "layer = {of:String} AND name = {named:String} AND outcome = 'scored'"
        rows = self._fetch_groups(
            [_Aggregate("uniqExact", run), _Aggregate("uniqExactIf", f"{run}, {has_value}")],
            replace(chosen, layer=None, name=None),
            by,
            {"of": chosen.layer.value if chosen.layer else "", "named": chosen.name or ""},
        )
        return {values: Share(int(row[0]) - int(row[1]), int(row[0])) for values, row in rows}

    def count_streaks(
        self, chosen: Filter, by: Sequence[str], length: int, fails_when: FailsWhen | None, *, errors: bool
    ) -> dict[Values, Share]:
        """Return how many of the newest judgements are bad: verdicts that are fail, or errors."""
        passes, fails, bound = build_verdict_conditions(fails_when)
        bad, whole = (
            (_ERRORED, f"{_ERRORED} OR outcome = 'scored'") if errors else (fails, f"{passes} OR {fails}")
        )
        source, parameters = self._build_source(chosen, by)
        columns = self._list_columns(by)
        keys = "".join(f"{column}, " for column in columns)
        newest = f"LIMIT {{newest:UInt32}}{_build_per_group(columns)}"
        newest_rows = (
            f"(SELECT {keys}({bad}) AS bad FROM {source}"  # noqa: S608
            f" WHERE {whole} ORDER BY scores.span_time DESC, id {newest})"
        )
        grouping = self._build_grouping(by, "count() DESC")
        rows = self._fetch_rows(
            f"SELECT {keys}countIf(bad), count() FROM {newest_rows}{grouping}",  # noqa: S608
            {**parameters, **bound, "newest": length},
        )
        counted = self._add_empty_windows(((self._get_values(row, by), row[-2:]) for row in rows), by, (0, 0))
        return {values: Share(int(row[0]), int(row[1])) for values, row in counted}

    def group_releases(self, chosen: Filter, by: Sequence[str]) -> dict[Values, list[str]]:
        """Return the releases of each group, in the order in which they were first seen."""
        first = _Aggregate("min", "scores.span_time")
        rows = self._fetch_groups([first], chosen, (*by, "release"), {}, "release != ''", "found_0")
        found: dict[Values, list[str]] = {}
        for values, _ in rows:
            found.setdefault(values[:-1], []).append(values[-1])
        return found

    def count_failures(
        self, chosen: Filter, groups: Groups, fails_when: FailsWhen | None, limit: int
    ) -> dict[Values, list[tuple[str, int]]]:
        """Return the commonest explanations of fails, with how often; numbers in them count as equal."""
        _, fails, bound = build_verdict_conditions(fails_when)
        return self._count_reasons(chosen, groups, fails, "explanation", bound, limit)

    def count_errors(self, chosen: Filter, groups: Groups, limit: int) -> dict[Values, list[tuple[str, int]]]:
        """Return the commonest errors of an evaluator, with how often."""
        return self._count_reasons(
            chosen, groups, _ERRORED, "concat(error_type, ': ', explanation)", {}, limit
        )

    def group_errored_scores(self, chosen: Filter, groups: Groups, limit: int) -> dict[Values, list[Score]]:
        """Return the newest scores that errored."""
        return self._fetch_newest(chosen, groups, _ERRORED, {}, limit)

    def group_failing_scores(
        self, chosen: Filter, groups: Groups, fails_when: FailsWhen | None, limit: int
    ) -> dict[Values, list[Score]]:
        """Return the newest scores that fail."""
        _, fails, bound = build_verdict_conditions(fails_when)
        return self._fetch_newest(chosen, groups, fails, bound, limit)

    def group_open_scores(self, chosen: Filter, groups: Groups, limit: int) -> dict[Values, list[Score]]:
        """Return the newest scores that are open."""
        return self._fetch_newest(chosen, groups, IS_OPEN, {}, limit)

    def group_open_causes(self, chosen: Filter, groups: Groups) -> dict[Values, list[CauseCount]]:
        """Return why scores are open, with how many of them; the commonest first."""
        within, chosen_groups = self._build_group_condition(groups)
        source, parameters = self._build_source(chosen, groups.by)
        columns = self._list_columns(groups.by)
        keys = "".join(f"{column}, " for column in columns)
        rows = self._fetch_rows(
            f"SELECT {keys}{CAUSE_COLUMNS} FROM {source}"  # noqa: S608
            f" WHERE {IS_OPEN} AND {within}"
            f" GROUP BY {keys}{CAUSE_KEYS} ORDER BY times DESC, {CAUSE_KEYS}",
            {**parameters, **chosen_groups},
        )
        found: dict[Values, list[CauseCount]] = {}
        for row in rows:
            cause = parse_cause_count(row[len(columns) :])
            found.setdefault(self._get_values(row, groups.by), []).append(cause)
        return found

    def group_extreme_scores(
        self, chosen: Filter, groups: Groups, limit: int, *, raw: bool, highest: bool
    ) -> dict[Values, list[Score]]:
        """Return the scores with the highest or the lowest amounts."""
        column = "raw" if raw else _VALUE
        order = f"{column} {'DESC' if highest else 'ASC'}, "
        return self._fetch_newest(chosen, groups, f"{column} IS NOT NULL", {}, limit, order)

    def _build_source(
        self, chosen: Filter, by: Sequence[str], condition: str = ""
    ) -> tuple[str, dict[str, Any]]:
        """Return the chosen scores, and parameters; over many windows a row for each window of a score."""
        rows, parameters = self._build_rows(chosen, by, condition)
        if self._windows is None:
            return rows, parameters
        numbers = build_numbers(self._windows.build_bounds(_SCORE_TIME))
        source = f"(SELECT *, {numbers} AS {WINDOW_COLUMN} FROM {rows}) AS scores"  # noqa: S608
        return source, parameters | self._windows.parameters

    def _build_rows(self, chosen: Filter, by: Sequence[str], more: str = "") -> tuple[str, dict[str, Any]]:
        """Return the chosen scores, or the ratings of users as scores of their runs, and parameters."""
        database = self._connections.database
        ratings = _RATINGS.format(database=database) if _is_feedback(chosen) else ""
        condition, parameters = chosen.build_condition()
        source, carried = chosen.build_source(database, by, rows=ratings)
        terms = f"{condition} AND {more}" if more else condition
        return f"(SELECT * FROM {source} WHERE {terms}) AS scores", parameters | carried  # noqa: S608

    def _build_group_condition(self, groups: Groups) -> tuple[str, dict[str, Any]]:
        """Return the condition for rows of these groups, and its parameters."""
        columns = self._list_columns(groups.by)
        if not columns:
            return "1", {}
        kinds = ", ".join(["String"] * len(columns))
        # `tuple` also makes one of a single column.
        condition = f"tuple({', '.join(columns)}) IN {{groups:Array(Tuple({kinds}))}}"
        return condition, {"groups": [tuple(values) for values in groups.values]}

    def _fetch_newest(
        self,
        chosen: Filter,
        groups: Groups,
        which: str,
        bound: Mapping[str, Any],
        limit: int,
        order: str = "",
    ) -> dict[Values, list[Score]]:
        within, chosen_groups = self._build_group_condition(groups)
        source, parameters = self._build_source(chosen, groups.by)
        keys = self._list_columns(groups.by)
        columns = tuple(dict.fromkeys((*list_score_columns(), *keys)))
        rows = self._fetch_rows(
            f"SELECT {', '.join(columns)} FROM {source}"  # noqa: S608
            f" WHERE {which} AND {within}"
            f" ORDER BY {order}scores.span_time DESC, id LIMIT {{limit:UInt32}}{_build_per_group(keys)}",
            {**parameters, **bound, **chosen_groups, "limit": limit},
        )
        found: dict[Values, list[Score]] = {}
        for row in rows:
            cells = dict(zip(columns, row, strict=True))
            found.setdefault(tuple(str(cells[column]) for column in keys), []).append(parse_score(cells))
        return found

    def _count_reasons(
        self, chosen: Filter, groups: Groups, which: str, text: str, bound: Mapping[str, Any], limit: int
    ) -> dict[Values, list[tuple[str, int]]]:
        within, chosen_groups = self._build_group_condition(groups)
        source, parameters = self._build_source(chosen, groups.by)
        columns = self._list_columns(groups.by)
        keys = "".join(f"{column}, " for column in columns)
        rows = self._fetch_rows(
            f"SELECT {keys}min({text}), count() AS times FROM {source}"  # noqa: S608
            f" WHERE {which} AND {within}"
            f" GROUP BY {keys}replaceRegexpAll({text}, '[0-9]+', '#') AS kind ORDER BY times DESC, kind"
            f" LIMIT {{limit:UInt32}}{_build_per_group(columns)}",
            {**parameters, **bound, **chosen_groups, "limit": limit},
        )
        found: dict[Values, list[tuple[str, int]]] = {}
        for row in rows:
            found.setdefault(self._get_values(row, groups.by), []).append((str(row[-2]), int(row[-1])))
        return found

    def _fetch_groups(
        self,
        aggregates: Sequence[_Aggregate],
        chosen: Filter,
        by: Sequence[str],
        bound: Mapping[str, Any],
        more: str = "",
        order: str = "",
    ) -> list[tuple[Values, Sequence[Any]]]:
        """Return aggregates of the chosen scores by group, the groups with most scores first."""
        source, parameters = self._build_rows(chosen, by, more)
        found_order = order or f"found_{len(aggregates)} DESC"
        return self._fetch_aggregates(
            [*aggregates, _ROWS], source, by, {**parameters, **bound}, found_order, at=_SCORE_TIME
        )

    def _fetch_aggregates(
        self,
        aggregates: Sequence[_Aggregate],
        source: str,
        by: Sequence[str],
        parameters: Mapping[str, Any],
        order: str,
        *,
        at: str,
    ) -> list[tuple[Values, Sequence[Any]]]:
        """Return aggregates of rows by group.

        Args:
            aggregates: what is selected, in columns `found_0`, `found_1`, ….
            source: of the rows.
            by: dimensions.
            parameters: of the source.
            order: of the groups.
            at: the expression of a row's time; Unix nanoseconds.
        """
        columns = self._list_columns(by)
        keys = "".join(f"{column}, " for column in columns)
        calls = [aggregate.build_call() for aggregate in aggregates]
        if self._windows is not None:
            # A stretch of time that is in the same windows is aggregated once, however many these are.
            dimensions = "".join(f"{column}, " for column in columns[1:])
            states = [f"{one.build_state()} AS state_{index}" for index, one in enumerate(aggregates)]
            parts = (
                f"(SELECT {dimensions}{self._windows.build_bounds(at)} AS bounds, {', '.join(states)}"  # noqa: S608
                f" FROM {source} GROUP BY {dimensions}bounds)"
            )
            source = f"(SELECT *, {build_numbers('bounds')} AS {WINDOW_COLUMN} FROM {parts})"  # noqa: S608
            calls = [one.build_merge(f"state_{index}") for index, one in enumerate(aggregates)]
            parameters = {**parameters, **self._windows.parameters}
        found = ", ".join(f"{call} AS found_{index}" for index, call in enumerate(calls))
        rows = self._fetch_rows(
            f"SELECT {keys}{found} FROM {source}{self._build_grouping(by, order)}",  # noqa: S608
            parameters,
        )
        groups = ((self._get_values(row, by), row[len(columns) :]) for row in rows)
        return self._add_empty_windows(groups, by, [aggregate.of_none for aggregate in aggregates])

    def _build_grouping(self, by: Sequence[str], order: str) -> str:
        """Return the end of a query by group, with the first groups of each window; empty for one group."""
        columns = self._list_columns(by)
        if not columns:
            return ""
        keys = ", ".join(columns)
        per_window = "" if self._windows is None else f" BY {WINDOW_COLUMN}"
        return f" GROUP BY {keys} ORDER BY {order}, {keys} LIMIT {_MOST_GROUPS}{per_window}"

    def _add_empty_windows(
        self, groups: Iterable[tuple[Values, Sequence[Any]]], by: Sequence[str], empty: Sequence[Any]
    ) -> list[tuple[Values, Sequence[Any]]]:
        """Return groups with the one group of each window that has no row, where there are no dimensions."""
        if self._windows is None or by:
            return list(groups)
        found: dict[Values, Sequence[Any]] = {
            (str(number),): empty for number in range(len(self._windows.starts_ns))
        }
        found.update(groups)
        return list(found.items())

    def _list_columns(self, by: Sequence[str]) -> list[str]:
        """Return the columns that groups are known by.

        Raises:
            StoreError: there is no such dimension.
        """
        window = [] if self._windows is None else [WINDOW_COLUMN]
        return [*window, *(get_column(name) for name in by)]

    def _get_values(self, row: Sequence[Any], by: Sequence[str]) -> Values:
        return tuple(str(value) for value in row[: len(self._list_columns(by))])

    def _fetch_rows(self, sql: str, parameters: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        with self._connections.lease() as client:
            return client.query(sql, parameters=dict(parameters)).result_rows


def _is_feedback(chosen: Filter) -> bool:
    return (chosen.layer, chosen.name) == (Layer.TRAJECTORY, FEEDBACK)


def _build_per_group(columns: Sequence[str]) -> str:
    """Return the end of a limit that holds for each group."""
    return f" BY {', '.join(columns)}" if columns else ""
