"""Spans to a trace: order, tree, and what is wrong with the shape.

Takes spans of one trace in any order and any state; returns a `Trace` whose defects are named. Never raises
on a bad shape: a missing parent makes a further root, a cycle is cut at its earliest span, and of two spans
with one id the one that ended last is kept, as exporters that retry send the finished one last. Spans stay as
they came: only the tree leaves out a parent, so that a trace can be built again once more of it has come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from spanproof.trace.html_tables import format_html_table
from spanproof.trace.model import Defect, Environment, Span


@dataclass(frozen=True, slots=True)
class Trace:
    """All spans of one trace as a forest.

    Attributes:
        trace_id: lower-case hex.
        spans: ordered by start, then by end descending, so that parents come before children.
        parents: of each span id the id of the span above it; None where there is none, or it is missing, or
            the span is the earliest of a cycle.
        children_of: span ids by the id of the span above them; roots stand under None.
        by_id: the same spans by their ids.
        defects: what is wrong with the shape.
    """

    trace_id: str
    spans: tuple[Span, ...]
    parents: Mapping[str, str | None]
    children_of: Mapping[str | None, tuple[str, ...]]
    by_id: Mapping[str, Span]
    defects: frozenset[Defect] = frozenset()

    def span(self, span_id: str) -> Span:
        """Return the span with this id; `KeyError` when the trace has none."""
        return self.by_id[span_id]

    def children(self, span_id: str | None) -> tuple[Span, ...]:
        """Return the spans right under this one, or the roots for None."""
        return tuple(self.span(child) for child in self.children_of.get(span_id, ()))

    def _repr_html_(self) -> str:
        rows = [
            (
                span.name,
                span.kind.value,
                f"{(span.end_ns - span.start_ns) / 1e9:.3f} s",
                span.error.message if span.error else "",
            )
            for span in self.spans
        ]
        return format_html_table(f"trace {self.trace_id}", ("span", "kind", "time", "error"), rows)

    @property
    def orphans(self) -> frozenset[str]:
        """The ids of spans whose parent has not come."""
        parents = {span.span_id: span.parent_id for span in self.roots if span.parent_id is not None}
        return frozenset(span_id for span_id, parent in parents.items() if parent not in self.by_id)

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
        named = [item for item in own if item.environment] or [
            span for span in self.spans if span.environment
        ]
        newest = max(named, key=lambda item: item.end_ns, default=None)
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
        parent = self.parents[span_id]
        while parent is not None:
            yield self.span(parent)
            parent = self.parents[parent]


def trace_of(spans: Iterable[Span]) -> Trace:
    """Build the trace of these spans, which share one trace id.

    Raises:
        ValueError: no span, or spans of several traces.
    """
    all_spans = list(spans)
    trace_ids = {span.trace_id for span in all_spans}
    if len(trace_ids) != 1:
        raise ValueError(f"a trace is made of spans with one trace id, got {sorted(trace_ids)}")
    return link_spans(trace_ids.pop(), *order_spans(all_spans))


def order_spans(spans: Iterable[Span]) -> tuple[list[Span], set[Defect]]:
    """Return one span for each id in order of time, and whether ids were given twice.

    The order in which the spans are given makes no difference.
    """
    defects: set[Defect] = set()
    by_id: dict[str, Span] = {}
    for span in spans:
        earlier = by_id.setdefault(span.span_id, span)
        if earlier != span:
            defects.add(Defect.DUPLICATE_SPAN_IDS)
            by_id[span.span_id] = max(earlier, span, key=_get_completeness)
    return sorted(by_id.values(), key=lambda span: (span.start_ns, -span.end_ns, span.span_id)), defects


def _get_completeness(span: Span) -> tuple[int, int, str]:
    """Return what orders two spans of one id: the finished one is sent last, and has more on it."""
    return span.end_ns, len(span.attributes) + len(span.events), repr(span)


def link_spans(trace_id: str, ordered: Iterable[Span], defects: Iterable[Defect] = ()) -> Trace:
    """Return the trace of spans that are in order and have one id each; `defects` are those known of it."""
    spans = tuple(ordered)
    by_id = {span.span_id: span for span in spans}
    found = set(defects)
    parents = _build_parents(by_id, found)
    if any(span.dropped_attributes for span in spans):
        found.add(Defect.DROPPED_ATTRIBUTES)
    children: dict[str | None, list[str]] = {}
    for span in spans:
        children.setdefault(parents[span.span_id], []).append(span.span_id)
    if len(children.get(None, ())) > 1:
        found.add(Defect.SEVERAL_ROOTS)
    frozen = {parent: tuple(ids) for parent, ids in children.items()}
    return Trace(trace_id, spans, parents, frozen, by_id, frozenset(found))


def _build_parents(by_id: Mapping[str, Span], defects: set[Defect]) -> dict[str, str | None]:
    """Return the parent of each span; a span whose parent is missing or that begins a cycle has none."""
    parents = {span_id: span.parent_id for span_id, span in by_id.items()}
    if None not in parents.values():
        defects.add(Defect.NO_ROOT)
    for span_id, parent in parents.items():
        if parent is not None and parent not in by_id:
            defects.add(Defect.MISSING_PARENT)
            parents[span_id] = None
    for first in _list_cycle_starts(by_id, parents):
        defects.add(Defect.PARENT_CYCLE)
        parents[first] = None
    return parents


def _list_cycle_starts(by_id: Mapping[str, Span], parents: Mapping[str, str | None]) -> list[str]:
    """Return the earliest span of each cycle of parents."""
    settled: set[str] = set()
    firsts: list[str] = []
    for start in by_id:
        path: list[str] = []
        at: str | None = start
        while at is not None and at not in settled and at not in path:
            path.append(at)
            at = parents[at]
        if at is not None and at in path:
            cycle = path[path.index(at) :]
            firsts.append(min(cycle, key=lambda span_id: (by_id[span_id].start_ns, span_id)))
        settled.update(path)
    return firsts
