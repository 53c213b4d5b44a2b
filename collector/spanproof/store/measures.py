"""Scores measured by cohort over a window: what alert rules compare.

Each method reads one window and returns a row for each group of values; no dimensions make one group, which
is there even where nothing was counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spanproof.semconv import spanproof as ours
from spanproof.store.connection import Connections
from spanproof.store.dimensions import resolve_column
from spanproof.store.feedback import SCORE_NAME as FEEDBACK
from spanproof.store.filters import IS_OPEN, Filter, build_verdict_conditions
from spanproof.store.queries import (
    CAUSE_COLUMNS,
    CAUSE_KEYS,
    list_score_columns,
    parse_cause_count,
    parse_counts,
)
from spanproof.store.rollups import SUMS, build_verdict_source
from spanproof.store.rows import parse_score
from spanproof.store.schema import VERDICT_COUNTS
from spanproof.store.values import CauseCount, FailRate, FailsWhen
from spanproof.trace import Layer, Score

Values = tuple[str, ...]
"""Of the dimensions a measure is grouped by, in their order."""

_MOST_GROUPS = 1000
_AGGREGATES = {
    "mean": "avgOrNull({column})",
    "p50": "quantileExactOrNull(0.5)({column})",
    "p95": "quantileExactOrNull(0.95)({column})",
}
_ALL = f"sum({' + '.join(VERDICT_COUNTS)})"
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

    def where(self) -> tuple[str, dict[str, Any]]:
        """Return the condition and its parameters.

        Raises:
            StoreError: there is no such dimension.
        """
        if not self.by:
            return "1", {}
        kinds = ", ".join(["String"] * len(self.by))
        # `tuple` also makes one of a single dimension.
        condition = f"tuple({', '.join(_list_columns(self.by))}) IN {{groups:Array(Tuple({kinds}))}}"
        return condition, {"groups": [tuple(values) for values in self.values]}


class Measures:
    """Reads the table of scores. Every method raises StoreError where that fails."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def verdicts(
        self, chosen: Filter, by: Sequence[str], fails_when: FailsWhen | None
    ) -> dict[Values, FailRate]:
        """Return the verdicts of a score, counted."""
        if _is_feedback(chosen):
            passes, fails, bound = build_verdict_conditions(fails_when)
            rows = self._query_groups(
                f"countIf({passes}), countIf({fails}), countIf({_ERRORED}), countIf(outcome = 'skipped'),"
                f" 0, countIf(outcome = 'scored' AND NOT ({passes}) AND NOT ({fails}))",
                chosen,
                by,
                bound,
            )
            return {values: parse_counts(row) for values, row in rows}
        columns = _list_columns(by)
        keys = "".join(f"{column}, " for column in columns)
        with self._connections.lease() as client:
            source, bound = build_verdict_source(
                client, self._connections.database, chosen, fails_when, by=by
            )
            grouped = f" GROUP BY {', '.join(columns)} ORDER BY {_ALL} DESC, {keys}1 LIMIT {_MOST_GROUPS}"
            found = client.query(
                f"SELECT {keys}{SUMS} FROM {source}{grouped if by else ''}",  # noqa: S608
                parameters=bound,
            ).result_rows
        return {_get_values(row, by): parse_counts(row[len(by) :]) for row in found}

    def amounts(
        self, chosen: Filter, by: Sequence[str], aggregate: str, *, raw: bool
    ) -> dict[Values, Amount]:
        """Return a mean or percentile (`mean`, `p50`, `p95`) of raw amounts or of values from 0 to 1.

        The placeholders that open verdicts have for a value are left out.
        """
        column = "raw" if raw else _VALUE
        rows = self._query_groups(
            f"{_AGGREGATES[aggregate].format(column=column)}, count({column})", chosen, by, {}
        )
        return {values: Amount(row[0], int(row[1])) for values, row in rows}

    def absences(self, chosen: Filter, by: Sequence[str]) -> dict[Values, Share]:
        """Return the runs of which the score has no judgement with a value, of all runs that were judged."""
        run = "(project, trace_id, run_span_id)"
        rows = self._query_groups(
            f"uniqExact{run}, uniqExactIf(project, trace_id, run_span_id,"
            " layer = {of:String} AND name = {named:String} AND outcome = 'scored')",
            replace(chosen, layer=None, name=None),
            by,
            {"of": chosen.layer.value if chosen.layer else "", "named": chosen.name or ""},
        )
        return {values: Share(int(row[0]) - int(row[1]), int(row[0])) for values, row in rows}

    def streaks(
        self, chosen: Filter, by: Sequence[str], length: int, fails_when: FailsWhen | None, *, errors: bool
    ) -> dict[Values, Share]:
        """Return how many of the newest judgements are bad: verdicts that are fail, or errors."""
        passes, fails, bound = build_verdict_conditions(fails_when)
        bad, whole = (
            (_ERRORED, f"{_ERRORED} OR outcome = 'scored'") if errors else (fails, f"{passes} OR {fails}")
        )
        condition, parameters = chosen.where()
        source, carried = self._build_source(chosen, by)
        keys = ", ".join(_list_columns(by))
        newest = f"LIMIT {{newest:UInt32}} BY {keys}" if by else "LIMIT {newest:UInt32}"
        rows = self._query(
            f"SELECT {keys + ', ' if by else ''}countIf(bad), count() FROM"  # noqa: S608
            f" (SELECT {keys + ', ' if by else ''}({bad}) AS bad FROM {source}"
            f" WHERE {condition} AND ({whole}) ORDER BY scores.span_time DESC, id {newest})"
            + (f" GROUP BY {keys} LIMIT {_MOST_GROUPS}" if by else ""),
            {**parameters, **carried, **bound, "newest": length},
        )
        return {_get_values(row, by): Share(int(row[-2]), int(row[-1])) for row in rows}

    def releases(self, chosen: Filter, by: Sequence[str]) -> dict[Values, list[str]]:
        """Return the releases of each group, in the order in which they were first seen."""
        rows = self._query_groups(
            "min(scores.span_time) AS first", chosen, (*by, "release"), {}, " AND release != ''", "first"
        )
        found: dict[Values, list[str]] = {}
        for values, _ in rows:
            found.setdefault(values[:-1], []).append(values[-1])
        return found

    def failures(
        self, chosen: Filter, groups: Groups, fails_when: FailsWhen | None, limit: int
    ) -> dict[Values, list[tuple[str, int]]]:
        """Return the commonest explanations of fails, with how often; numbers in them count as equal."""
        _, fails, bound = build_verdict_conditions(fails_when)
        return self._count_reasons(chosen, groups, fails, "explanation", bound, limit)

    def errors(self, chosen: Filter, groups: Groups, limit: int) -> dict[Values, list[tuple[str, int]]]:
        """Return the commonest errors of an evaluator, with how often."""
        return self._count_reasons(
            chosen, groups, _ERRORED, "concat(error_type, ': ', explanation)", {}, limit
        )

    def errored_scores(self, chosen: Filter, groups: Groups, limit: int) -> dict[Values, list[Score]]:
        """Return the newest scores that errored."""
        return self._fetch_newest(chosen, groups, _ERRORED, {}, limit)

    def failing_scores(
        self, chosen: Filter, groups: Groups, fails_when: FailsWhen | None, limit: int
    ) -> dict[Values, list[Score]]:
        """Return the newest scores that fail."""
        _, fails, bound = build_verdict_conditions(fails_when)
        return self._fetch_newest(chosen, groups, fails, bound, limit)

    def open_scores(self, chosen: Filter, groups: Groups, limit: int) -> dict[Values, list[Score]]:
        """Return the newest scores that are open."""
        return self._fetch_newest(chosen, groups, IS_OPEN, {}, limit)

    def open_causes(self, chosen: Filter, groups: Groups) -> dict[Values, list[CauseCount]]:
        """Return why scores are open, with how many of them; the commonest first."""
        condition, parameters = chosen.where()
        within, chosen_groups = groups.where()
        source, carried = self._build_source(chosen, groups.by)
        keys = "".join(f"{column}, " for column in _list_columns(groups.by))
        rows = self._query(
            f"SELECT {keys}{CAUSE_COLUMNS} FROM {source}"  # noqa: S608
            f" WHERE {condition} AND {IS_OPEN} AND {within}"
            f" GROUP BY {keys}{CAUSE_KEYS} ORDER BY times DESC, {CAUSE_KEYS}",
            {**parameters, **carried, **chosen_groups},
        )
        found: dict[Values, list[CauseCount]] = {}
        for row in rows:
            found.setdefault(_get_values(row, groups.by), []).append(parse_cause_count(row[len(groups.by) :]))
        return found

    def extreme_scores(
        self, chosen: Filter, groups: Groups, limit: int, *, raw: bool, highest: bool
    ) -> dict[Values, list[Score]]:
        """Return the scores with the highest or the lowest amounts."""
        column = "raw" if raw else _VALUE
        order = f"{column} {'DESC' if highest else 'ASC'}, "
        return self._fetch_newest(chosen, groups, f"{column} IS NOT NULL", {}, limit, order)

    def _build_source(self, chosen: Filter, by: Sequence[str]) -> tuple[str, dict[str, Any]]:
        """Return what scores are read from: the table, or the ratings of users as scores of their runs."""
        database = self._connections.database
        ratings = _RATINGS.format(database=database) if _is_feedback(chosen) else ""
        return chosen.source(database, by, rows=ratings)

    def _fetch_newest(
        self,
        chosen: Filter,
        groups: Groups,
        which: str,
        bound: Mapping[str, Any],
        limit: int,
        order: str = "",
    ) -> dict[Values, list[Score]]:
        condition, parameters = chosen.where()
        within, chosen_groups = groups.where()
        source, carried = self._build_source(chosen, groups.by)
        keys = _list_columns(groups.by)
        columns = tuple(dict.fromkeys((*list_score_columns(), *keys)))
        per_group = f" BY {', '.join(keys)}" if keys else ""
        rows = self._query(
            f"SELECT {', '.join(columns)} FROM {source}"  # noqa: S608
            f" WHERE {condition} AND {which} AND {within}"
            f" ORDER BY {order}scores.span_time DESC, id LIMIT {{limit:UInt32}}{per_group}",
            {**parameters, **carried, **bound, **chosen_groups, "limit": limit},
        )
        found: dict[Values, list[Score]] = {}
        for row in rows:
            cells = dict(zip(columns, row, strict=True))
            found.setdefault(tuple(str(cells[column]) for column in keys), []).append(parse_score(cells))
        return found

    def _count_reasons(
        self, chosen: Filter, groups: Groups, which: str, text: str, bound: Mapping[str, Any], limit: int
    ) -> dict[Values, list[tuple[str, int]]]:
        condition, parameters = chosen.where()
        within, chosen_groups = groups.where()
        source, carried = self._build_source(chosen, groups.by)
        keys = "".join(f"{column}, " for column in _list_columns(groups.by))
        per_group = f" BY {keys.removesuffix(', ')}" if keys else ""
        rows = self._query(
            f"SELECT {keys}min({text}), count() AS times FROM {source}"  # noqa: S608
            f" WHERE {condition} AND {which} AND {within}"
            f" GROUP BY {keys}replaceRegexpAll({text}, '[0-9]+', '#') AS kind ORDER BY times DESC, kind"
            f" LIMIT {{limit:UInt32}}{per_group}",
            {**parameters, **carried, **bound, **chosen_groups, "limit": limit},
        )
        found: dict[Values, list[tuple[str, int]]] = {}
        for row in rows:
            found.setdefault(_get_values(row, groups.by), []).append((str(row[-2]), int(row[-1])))
        return found

    def _query_groups(
        self,
        aggregates: str,
        chosen: Filter,
        by: Sequence[str],
        bound: Mapping[str, Any],
        more: str = "",
        order: str = "",
    ) -> list[tuple[Values, Sequence[Any]]]:
        condition, parameters = chosen.where()
        source, carried = self._build_source(chosen, by)
        keys = ", ".join(_list_columns(by))
        rows = self._query(
            f"SELECT {keys + ', ' if by else ''}{aggregates} FROM {source}"  # noqa: S608
            f" WHERE {condition}{more}"
            + (
                f" GROUP BY {keys} ORDER BY {order or 'count() DESC'}, {keys} LIMIT {_MOST_GROUPS}"
                if by
                else ""
            ),
            {**parameters, **carried, **bound},
        )
        return [(_get_values(row, by), row[len(by) :]) for row in rows]

    def _query(self, sql: str, parameters: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        with self._connections.lease() as client:
            return client.query(sql, parameters=dict(parameters)).result_rows


def _is_feedback(chosen: Filter) -> bool:
    return (chosen.layer, chosen.name) == (Layer.TRAJECTORY, FEEDBACK)


def _get_values(row: Sequence[Any], by: Sequence[str]) -> Values:
    return tuple(str(value) for value in row[: len(by)])


def _list_columns(by: Sequence[str]) -> list[str]:
    return [resolve_column(name) for name in by]
