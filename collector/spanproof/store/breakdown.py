"""What happened to the code of agents, counted by cohort: failure classes, attempts, denials, weaknesses.

Counts are of snippets: one that has a thing twice has it once. The whole that a share is of are the snippets
that could have it: those that were replayed, or those that were scanned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from clickhouse_connect.driver.client import Client

from spanproof.store.dimensions import get_column
from spanproof.store.filters import Filter


class Fact(StrEnum):
    """What is counted."""

    FAILURE_CLASS = "failure_class"
    """How the replay ended."""
    ATTEMPT = "attempt"
    """What the replay tried beyond its sandbox, by kind, and whether it was blocked."""
    BLOCKED = "blocked"
    """The rules by which a scanner denied the code."""
    CWE = "cwe"
    """The weaknesses, by CWE, that a scanner found."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """How many snippets of a cohort have a thing.

    Attributes:
        values: of the dimensions, in their order.
        item: the class, kind, rule or weakness.
        snippets: that have it.
        whole: snippets of the cohort that could have it.
    """

    values: tuple[str, ...]
    item: str
    snippets: int
    whole: int


_REPLAYED: Final = "unreplayed = ''"
_SCANNED: Final = "verdict != ''"
_KIND: Final = "concat(kind, if(allowed, '', ' (blocked)'))"
# The table, which of its rows could have the thing, and what a row has.
_FACTS: Final = {
    Fact.FAILURE_CLASS: ("replays", _REPLAYED, "[toString(failure_class)]"),
    Fact.ATTEMPT: (
        "replays",
        _REPLAYED,
        f"arrayMap((kind, allowed) -> {_KIND}, Attempts.Kind, Attempts.Allowed)",
    ),
    Fact.BLOCKED: (
        "snippets",
        _SCANNED,
        "arrayFilter((rule, verdict) -> verdict = 'deny', Findings.Rule, Findings.Verdict)",
    ),
    Fact.CWE: (
        "snippets",
        _SCANNED,
        "arrayMap(cwe -> if(cwe = 0, '', concat('CWE-', toString(cwe))), Findings.Cwe)",
    ),
}


def fetch_breakdown(
    client: Client, database: str, fact: Fact, chosen: Filter, by: Sequence[str], limit: int
) -> list[Breakdown]:
    """Return what most snippets have first; see `Store.break_down`."""
    table, could_have, items = _FACTS[fact]
    columns = [get_column(name) for name in by]
    keys = "".join(f"{column}, " for column in columns)
    cohorts, bound = _build_run_query(database, chosen, by)
    within, times = replace(chosen, cohort={}, every_version=True).build_condition()
    rows = (
        f"SELECT {keys}items FROM (SELECT project, trace_id, run_span_id, arrayDistinct({items}) AS items"  # noqa: S608
        f" FROM {database}.{table} FINAL WHERE {within} AND {could_have}) AS code"
        f" INNER JOIN ({cohorts}) AS runs USING (project, trace_id, run_span_id)"
    )
    grouped = f" GROUP BY {keys.removesuffix(', ')}" if by else ""
    parameters = {**bound, **times}
    wholes = client.query(f"SELECT {keys}count() FROM ({rows}){grouped}", parameters=parameters).result_rows  # noqa: S608
    whole = {tuple(map(str, row[:-1])): int(row[-1]) for row in wholes}
    found = client.query(
        f"SELECT {keys}arrayJoin(items) AS item, count() AS snippets FROM ({rows}) GROUP BY {keys}item"  # noqa: S608
        f" HAVING item != '' ORDER BY snippets DESC, {keys}item LIMIT {{rows:UInt32}}",
        parameters={**parameters, "rows": limit},
    ).result_rows
    return [
        Breakdown(values, str(row[-2]), int(row[-1]), whole[values])
        for row in found
        for values in [tuple(map(str, row[:-2]))]
    ]


def _build_run_query(database: str, chosen: Filter, by: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return each run with its dimensions: rows about code name their run and no cohort."""
    condition, bound = chosen.build_condition()
    source, keys = chosen.build_source(database, by)
    named = [column for column in map(get_column, by) if column != "project"]  # a key already
    columns = "".join(f", any(scores.{column}) AS {column}" for column in named)
    runs = (
        # Chosen within: outside, the name of a dimension is that of its aggregate.
        f"SELECT project, trace_id, run_span_id{columns} FROM (SELECT * FROM {source} WHERE {condition}"  # noqa: S608
        " AND name = layer) AS scores GROUP BY project, trace_id, run_span_id"
    )
    return runs, bound | keys
