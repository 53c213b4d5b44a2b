"""Reads of scores: one by one, counted over a window, and by dimensions of the cohort."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from spanproof.store import queries
from spanproof.store.breakdown import Breakdown, Fact, fetch_breakdown
from spanproof.store.connected import Connected
from spanproof.store.filters import Filter
from spanproof.store.rows import parse_score
from spanproof.store.values import CauseCount, FailRate, FailsWhen, Group
from spanproof.trace import Layer, Score


class VerdictReads(Connected):
    """The part of a store that reads scores and counts verdicts."""

    def scores(
        self,
        *,
        layer: Layer | None = None,
        name: str | None = None,
        cohort: Mapping[str, str] | None = None,
        trace_id: str | None = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
        every_version: bool = False,
    ) -> Iterator[Score]:
        """Yield scores in order of time, read as a stream.

        Args:
            layer: only this one's.
            name: only scores of this name; a layer's name for its own value.
            cohort: dimension to value; see `spanproof.trace.Cohort`.
            trace_id: only this trace's.
            start_ns: only of spans that started at this time (Unix nanoseconds) or later.
            end_ns: only of spans that started before this time.
            every_version: also those of evaluator versions that a newer one has taken over from.

        Raises:
            StoreError: `cohort` names an unknown dimension.
        """
        chosen = Filter(layer, name, cohort or {}, trace_id, start_ns, end_ns, every_version)
        with self._connections.lease() as client:
            for row in queries.iter_score_rows(client, self._database, chosen):
                yield parse_score(row)

    def fail_rate(
        self,
        layer: Layer,
        *,
        name: str | None = None,
        cohort: Mapping[str, str] | None = None,
        start_ns: int,
        end_ns: int,
        failing: int = 20,
        fails_when: FailsWhen | None = None,
    ) -> FailRate:
        """Count the verdicts of one score over a window of span times.

        Args:
            layer: whose score.
            name: of the score; the layer's own value when None.
            cohort: dimension to value; see `spanproof.trace.Cohort`.
            start_ns: Unix nanoseconds of the first span time counted.
            end_ns: Unix nanoseconds of the first span time no longer counted.
            failing: how many of the failed scores to return with it.
            fails_when: what decides in place of the verdict.

        Raises:
            StoreError: `cohort` names an unknown dimension.
        """
        chosen = Filter(layer, name or layer.value, cohort or {}, None, start_ns, end_ns)
        with self._connections.lease() as client:
            counted = queries.compute_fail_rate(client, self._database, chosen, fails_when)
            if counted.failed and failing:
                rows = queries.fetch_failing_rows(client, self._database, chosen, failing, fails_when)
            else:
                rows = []
        return replace(counted, failing=tuple(parse_score(row) for row in rows))

    def verdict_timeline(
        self, *, start_ns: int, end_ns: int, bucket_ns: int, cohort: Mapping[str, str] = MappingProxyType({})
    ) -> list[tuple[Layer, int, FailRate]]:
        """Return verdicts of layers over a window of span times: layer, bucket start (Unix ns), counts.

        Raises:
            StoreError: `cohort` names an unknown dimension.
        """
        chosen = Filter(cohort=cohort, start_ns=start_ns, end_ns=end_ns)
        with self._connections.lease() as client:
            return queries.fetch_verdict_timeline(client, self._database, chosen, bucket_ns)

    def verdicts_by(
        self,
        dimension: str,
        *,
        start_ns: int,
        end_ns: int,
        cohort: Mapping[str, str] = MappingProxyType({}),
        limit: int = 20,
    ) -> list[tuple[str, Layer, FailRate]]:
        """Return verdicts of layers by value of a dimension of the cohort: value, layer, counts.

        Raises:
            StoreError: there is no such dimension.
        """
        chosen = Filter(cohort=cohort, start_ns=start_ns, end_ns=end_ns)
        with self._connections.lease() as client:
            return queries.count_verdicts_by(client, self._database, chosen, dimension, limit)

    def groups(
        self,
        layer: Layer,
        name: str,
        by: Sequence[str] = (),
        *,
        start_ns: int,
        end_ns: int,
        bucket_ns: int | None = None,
        cohort: Mapping[str, str] = MappingProxyType({}),
        limit: int = 1000,
    ) -> list[Group]:
        """Return one score counted and measured by dimensions of the cohort and stretches of time.

        Args:
            layer: whose score.
            name: of the score; a layer's name for its own value.
            by: dimensions; none is one group.
            start_ns: Unix nanoseconds of the first span time counted.
            end_ns: Unix nanoseconds of the first span time no longer counted.
            bucket_ns: length of a stretch; None is the whole window.
            cohort: only scores of these values, by dimension.
            limit: at most so many groups: in order of time, then those that fail most.

        Raises:
            StoreError: there is no such dimension.
        """
        chosen = Filter(layer, name, cohort, None, start_ns, end_ns)
        with self._connections.lease() as client:
            return queries.fetch_groups(client, self._database, chosen, by, bucket_ns, limit)

    def causes(
        self,
        layer: Layer | None = None,
        *,
        start_ns: int,
        end_ns: int,
        cohort: Mapping[str, str] = MappingProxyType({}),
        limit: int = 20,
    ) -> list[CauseCount]:
        """Return why layers gave no verdict, by cause; the commonest first.

        Args:
            layer: only this one's.
            start_ns: Unix nanoseconds of the first span time counted.
            end_ns: Unix nanoseconds of the first span time no longer counted.
            cohort: only outcomes of these values, by dimension.
            limit: at most so many.

        Raises:
            StoreError: `cohort` names an unknown dimension.
        """
        chosen = Filter(layer, None, cohort, None, start_ns, end_ns)
        with self._connections.lease() as client:
            return queries.count_causes(client, self._database, chosen, limit)

    def break_down(
        self,
        fact: Fact,
        by: Sequence[str] = (),
        *,
        start_ns: int,
        end_ns: int,
        cohort: Mapping[str, str] = MappingProxyType({}),
        limit: int = 1000,
    ) -> list[Breakdown]:
        """Return what happened to the code of agents, by dimensions; what most snippets have first.

        Args:
            fact: what is counted.
            by: dimensions; none is one group.
            start_ns: Unix nanoseconds of the first span time counted.
            end_ns: Unix nanoseconds of the first span time no longer counted.
            cohort: only runs of these values, by dimension.
            limit: rows at most.

        Raises:
            StoreError: there is no such dimension.
        """
        chosen = Filter(cohort=cohort, start_ns=start_ns, end_ns=end_ns)
        with self._connections.lease() as client:
            return fetch_breakdown(client, self._database, fact, chosen, by, limit)
