"""Spans to a trace: order, tree, and what is wrong with the shape.

Takes spans of one trace in any order and any state; returns a `Trace` whose defects are named. Never raises
on a bad shape: a missing parent makes a further root, a cycle is cut at its earliest span, and of two spans
with one id the one that ended last is kept, as exporters that retry send the finished one last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from spanproof.trace.model import Defect, Environment, Span


@dataclass(frozen=True, slots=True)
class Trace:
    """All spans of one trace as a forest.

    Attributes:
        trace_id: lower-case hex.
        spans: ordered by start, then by end descending, so that parents come before children.
        children_of: span ids by the id of the span above them; roots stand under None.
        by_id: the same spans by their ids; parents that are missing or cyclic are already None.
        defects: what is wrong with the shape.
    """

    trace_id: str
    spans: tuple[Span, ...]
    children_of: Mapping[str | None, tuple[str, ...]]
    by_id: Mapping[str, Span]
    defects: frozenset[Defect] = frozenset()

    def span(self, span_id: str) -> Span:
        """Return the span with this id; `KeyError` when the trace has none."""
        return self.by_id[span_id]

    def children(self, span_id: str | None) -> tuple[Span, ...]:
        """Return the spans right under this one, or the roots for None."""
        return tuple(self.span(child) for child in self.children_of.get(span_id, ()))

    @property
    def roots(self) -> tuple[Span, ...]:
        """Spans without a parent in the trace."""
        return self.children(None)

    def environment(self, run_span_id: str) -> Environment | None:
        """Return what the process of a run ran on, None where no span names it.

        Taken are the run's own spans and those above it, else all of the trace: a process names its
        environment on its outermost span, and once more where it has imported more by the end of a later one.
        """
        own = [self.span(run_span_id), *self.descendants(run_span_id), *self.ancestors(run_span_id)]
        named = [each for each in own if each.environment] or [
            each for each in self.spans if each.environment
        ]
        newest = max(named, key=lambda each: each.end_ns, default=None)
        return None if newest is None else newest.environment

    def descendants(self, span_id: str | None) -> Iterator[Span]:
        """Yield every span below this one, depth first, in order of time."""
        pending = list(reversed(self.children(span_id)))
        while pending:
            span = pending.pop()
            yield span
            pending.extend(reversed(self.children(span.span_id)))

    def ancestors(self, span_id: str) -> Iterator[Span]:
        """Yield the spans above this one, nearest first."""
        parent = self.span(span_id).parent_id
        while parent is not None:
            above = self.span(parent)
            yield above
            parent = above.parent_id


def trace_of(spans: Iterable[Span]) -> Trace:
    """Build the trace of these spans, which share one trace id.

    Raises:
        ValueError: no span, or spans of several traces.
    """
    given = list(spans)
    trace_ids = {span.trace_id for span in given}
    if len(trace_ids) != 1:
        raise ValueError(f"a trace is made of spans with one trace id, got {sorted(trace_ids)}")
    defects: set[Defect] = set()
    by_id = _keep_one_per_id(given, defects)
    linked = _cut_bad_parents(by_id, defects)
    ordered = tuple(sorted(linked.values(), key=lambda span: (span.start_ns, -span.end_ns, span.span_id)))
    if any(span.dropped_attributes for span in ordered):
        defects.add(Defect.DROPPED_ATTRIBUTES)
    children: dict[str | None, list[str]] = {}
    for span in ordered:
        children.setdefault(span.parent_id, []).append(span.span_id)
    if len(children.get(None, ())) > 1:
        defects.add(Defect.SEVERAL_ROOTS)
    frozen = {parent: tuple(ids) for parent, ids in children.items()}
    return Trace(trace_ids.pop(), ordered, frozen, linked, frozenset(defects))


def _keep_one_per_id(spans: list[Span], defects: set[Defect]) -> dict[str, Span]:
    by_id: dict[str, Span] = {}
    for span in spans:
        known = by_id.get(span.span_id)
        if known is None:
            by_id[span.span_id] = span
            continue
        if known != span:
            defects.add(Defect.DUPLICATE_SPAN_IDS)
        if span.end_ns >= known.end_ns:
            by_id[span.span_id] = span
    return by_id


def _cut_bad_parents(by_id: dict[str, Span], defects: set[Defect]) -> dict[str, Span]:
    linked = dict(by_id)
    if all(span.parent_id is not None for span in linked.values()):
        defects.add(Defect.NO_ROOT)
    for span in by_id.values():
        if span.parent_id is not None and span.parent_id not in by_id:
            defects.add(Defect.MISSING_PARENT)
            linked[span.span_id] = replace(span, parent_id=None)
    for first in _find_cycle_starts(linked):
        defects.add(Defect.PARENT_CYCLE)
        linked[first] = replace(linked[first], parent_id=None)
    return linked


def _find_cycle_starts(by_id: Mapping[str, Span]) -> list[str]:
    """Return the earliest span of each cycle of parents."""
    settled: set[str] = set()
    firsts: list[str] = []
    for start in by_id:
        path: list[str] = []
        at: str | None = start
        while at is not None and at not in settled and at not in path:
            path.append(at)
            at = by_id[at].parent_id
        if at is not None and at in path:
            cycle = path[path.index(at) :]
            firsts.append(min(cycle, key=lambda span_id: (by_id[span_id].start_ns, span_id)))
        settled.update(path)
    return firsts
