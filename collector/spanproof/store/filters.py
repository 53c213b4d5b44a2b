"""Which scores are read, and what of them is a pass or a fail, as conditions in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from spanproof.evaluators.scores import SCORES
from spanproof.store.dimensions import get_column, with_carried
from spanproof.store.values import FailsWhen
from spanproof.trace import Layer
from spanproof.trace.dimensions import is_carried

_VERDICT_NAMES: Final = ", ".join(
    f"('{spec.layer.value}', '{spec.name}')" for spec in SCORES if not spec.advisory and not spec.normalises
)

HAS_VERDICT: Final = f"(layer, name) IN ({_VERDICT_NAMES})"
"""The condition for scores that can have a verdict; `scores.find_state` says the same of one of them."""

IS_OPEN: Final = f"(outcome = 'scored' AND label = '' AND {HAS_VERDICT})"
"""The condition for open verdicts, whose value is a placeholder: no average and no bound takes it."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which scores; see `Store.scores`."""

    layer: Layer | None = None
    name: str | None = None
    cohort: Mapping[str, str] = field(default_factory=dict)
    trace_id: str | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    every_version: bool = False

    def build_condition(self) -> tuple[str, dict[str, Any]]:
        """Return the condition and its parameters.

        Raises:
            StoreError: an unknown dimension.
        """
        terms: list[str] = [] if self.every_version else ["current = 1"]
        bound: dict[str, Any] = {}
        for column, value in self._iter_equalities():
            terms.append(f"{column} = {{{column}:String}}")
            bound[column] = value
        for parameter, comparison, time_ns in (("from_ns", ">=", self.start_ns), ("to_ns", "<", self.end_ns)):
            if time_ns is not None:
                terms.append(f"span_time {comparison} fromUnixTimestamp64Nano({{{parameter}:Int64}}, 'UTC')")
                bound[parameter] = min(max(0, time_ns), 2**63 - 1)
        return " AND ".join(terms) or "1", bound

    def build_source(
        self, database: str, by: Iterable[str] = (), table: str = "scores", rows: str = ""
    ) -> tuple[str, dict[str, Any]]:
        """Return what rows are read from, with columns that spans carry, and parameters.

        Args:
            database: of the table.
            by: dimensions that are needed beside those that are chosen by.
            table: one of which a row names a trace, a run and a span.
            rows: what is read in place of the table, under its name.
        """
        stored = {name: value for name, value in self.cohort.items() if not is_carried(name)}
        condition, bound = replace(self, cohort=stored).build_condition()
        names = (*by, *self.cohort)
        source, keys = with_carried(database, rows or f"{database}.{table} FINAL", table, names, condition)
        return source, bound | keys

    def _iter_equalities(self) -> Iterator[tuple[str, str]]:
        for dimension, value in self.cohort.items():
            yield get_column(dimension), value
        if self.layer is not None:
            yield "layer", self.layer.value
        if self.name is not None:
            yield "name", self.name
        if self.trace_id is not None:
            yield "trace_id", self.trace_id


def build_verdict_conditions(fails_when: FailsWhen | None) -> tuple[str, str, dict[str, Any]]:
    """Return the conditions for a pass and for a fail, neither ever NULL, and their parameters.

    What is open is neither, whatever its value is compared with.
    """
    if fails_when is None:
        return "label = 'pass'", "label = 'fail'", {}
    column = "raw" if fails_when.raw else "value"
    compared = f"ifNull({column} {fails_when.comparison.value} {{fails_at:Float64}}, 0)"
    decided = f"outcome = 'scored' AND NOT {IS_OPEN}"
    passes = f"{decided} AND {column} IS NOT NULL AND NOT {compared}"
    return passes, f"{decided} AND {compared}", {"fails_at": fails_when.threshold}
