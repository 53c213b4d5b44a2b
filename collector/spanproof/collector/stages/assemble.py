"""Spans in pieces and out of order become complete traces.

Comes in: fragments (the spans of one trace out of one request) with the number of the log record they came
in. Goes out: a `CompleteTrace` once the root has ended, no parent is missing and it has been quiet for a
while; later where something is missing; at the latest after a hard maximum. A span that comes after that
re-opens its trace, which is then given out again, whole. Bytes in memory are bounded. Keeps no clock of its
own: the caller says what time it is, in seconds of a clock that never goes back. Not thread-safe: the
pipeline's intake thread owns it.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from spanproof.collector.stages.fragments import Fragment
from spanproof.config.model import Assembly

_LINK_BYTES = 200
"""Rough cost in memory of knowing one span's place, measured with small dicts of bytes."""


_MOST_PATIENCE = 8
"""An agent that pauses for longer than the quiet period at every step would have its whole run evaluated at
every step: so each time a trace is opened again its quiet period doubles, up to this multiple."""

_ROOM_LEFT_FULL = 0.9
"""How full memory is left after traces were given out for want of it."""


class Why(StrEnum):
    """Why a trace was given out."""

    QUIET = "quiet"
    ORPHANS = "orphans"
    MAX_WAIT = "max_wait"
    MEMORY = "memory"
    SHUTDOWN = "shutdown"


@dataclass(frozen=True, slots=True)
class CompleteTrace:
    """A trace to evaluate.

    Attributes:
        bodies: its spans, each body a valid request; joined they are one.
        fresh_from: index of the first body that was not there when the trace was given out before.
        records: the log records that are done once this trace is stored.
        generation: how often it was given out before.
        whole: the root has ended and no parent is missing.
    """

    trace_id: str
    bodies: tuple[bytes, ...]
    fresh_from: int
    records: frozenset[int]
    generation: int
    whole: bool
    why: Why

    @property
    def size(self) -> int:
        """Bytes of its spans."""
        return sum(map(len, self.bodies))


@dataclass(slots=True)
class _Open:
    first_s: float
    last_s: float
    bodies: list[bytes] = field(default_factory=list)
    known: dict[bytes, bytes] = field(default_factory=dict)
    missing: set[bytes] = field(default_factory=set)
    has_root: bool = False
    records: set[int] = field(default_factory=set)
    fresh_from: int = 0
    generation: int = 0
    size: int = 0

    @property
    def whole(self) -> bool:
        return self.has_root and not self.missing


class Assembler:
    """Collects the fragments of many traces at once.

    Args:
        rules: the waiting times and the bound on memory.
        on_repeated: told how many spans of a fragment were known already.
    """

    def __init__(self, rules: Assembly, on_repeated: Callable[[int], None] = lambda _: None) -> None:
        self._rules = rules
        self._on_repeated = on_repeated
        self._open: dict[str, _Open] = {}
        self._deadlines: list[tuple[float, str]] = []
        self._closed: OrderedDict[str, _Open] = OrderedDict()
        self._size = 0

    @property
    def open_traces(self) -> int:
        """Traces that are not complete."""
        return len(self._open)

    @property
    def held_bytes(self) -> int:
        """Bytes held for traces being assembled and for late spans."""
        return self._size

    def add(self, fragment: Fragment, record: int, now_s: float) -> bool:
        """Take a fragment; False where all its spans were known, so that its record may be done at once."""
        trace = self._open.get(fragment.trace_id) or self._closed.get(fragment.trace_id)
        fresh = [
            link for link in fragment.links if trace is None or trace.known.get(link.span_id) != link.digest
        ]
        self._on_repeated(len(fragment.links) - len(fresh))
        if not fresh and trace is not None:
            if fragment.trace_id in self._open:
                # An exporter that repeats itself did not get our answer; what it holds is not stored yet.
                trace.records.add(record)
                return True
            return False
        trace = self._opened(fragment.trace_id, now_s)
        trace.last_s = now_s
        trace.records.add(record)
        trace.bodies.append(fragment.body)
        grown = len(fragment.body) + _LINK_BYTES * len(fresh)
        trace.size += grown
        self._size += grown
        for link in fresh:
            trace.known[link.span_id] = link.digest
            trace.missing.discard(link.span_id)
            if link.parent_id is None:
                trace.has_root = True
            elif link.parent_id not in trace.known:
                trace.missing.add(link.parent_id)
        return True

    def due(self, now_s: float) -> Iterator[CompleteTrace]:
        """Give out the traces whose time has come, then as many more as memory asks for."""
        self._forget(now_s)
        while self._deadlines and self._deadlines[0][0] <= now_s:
            _, trace_id = heapq.heappop(self._deadlines)
            trace = self._open.get(trace_id)
            if trace is None:
                continue
            deadline = self._deadline(trace)
            if deadline > now_s:
                heapq.heappush(self._deadlines, (deadline, trace_id))
                continue
            yield self._give_out(trace_id, self._reason(trace, now_s), now_s)
        if self._size > self._rules.max_bytes:
            yield from self._make_room(now_s)

    def flush(self, now_s: float) -> Iterator[CompleteTrace]:
        """Give out everything, as it is.

        Where something is missing it may still come after a restart, so the records of such a trace are not
        among those that are done with it: it is assembled again then.
        """
        for trace_id in list(self._open):
            complete = self._give_out(trace_id, Why.SHUTDOWN, now_s)
            yield complete if complete.whole else replace(complete, records=frozenset())

    def _opened(self, trace_id: str, now_s: float) -> _Open:
        trace = self._open.get(trace_id)
        if trace is None:
            trace = self._closed.pop(trace_id, None) or _Open(now_s, now_s)
            trace.first_s = trace.last_s = now_s
            self._open[trace_id] = trace
            heapq.heappush(self._deadlines, (now_s + self._rules.quiet_s, trace_id))
        return trace

    def _make_room(self, now_s: float) -> Iterator[CompleteTrace]:
        """Give out the quietest traces; somewhat more than needed, so that not every span asks for it."""
        enough = self._rules.max_bytes * _ROOM_LEFT_FULL
        for trace_id in sorted(self._open, key=lambda trace_id: self._open[trace_id].last_s):
            if self._size <= enough:
                return
            yield self._give_out(trace_id, Why.MEMORY, now_s)
            self._size -= self._closed.pop(trace_id).size

    def _deadline(self, trace: _Open) -> float:
        quiet = self._rules.quiet_s if trace.whole else self._rules.orphan_quiet_s
        patience = min(1 << trace.generation, _MOST_PATIENCE)
        return min(trace.last_s + quiet * patience, trace.first_s + self._rules.max_wait_s)

    def _reason(self, trace: _Open, now_s: float) -> Why:
        if now_s >= trace.first_s + self._rules.max_wait_s:
            return Why.MAX_WAIT
        return Why.QUIET if trace.whole else Why.ORPHANS

    def _give_out(self, trace_id: str, why: Why, now_s: float) -> CompleteTrace:
        trace = self._open.pop(trace_id)
        complete = CompleteTrace(
            trace_id=trace_id,
            bodies=tuple(trace.bodies),
            fresh_from=trace.fresh_from,
            records=frozenset(trace.records),
            generation=trace.generation,
            whole=trace.whole,
            why=why,
        )
        trace.fresh_from = len(trace.bodies)
        trace.generation += 1
        trace.records = set()
        trace.last_s = now_s
        self._closed[trace_id] = trace
        self._closed.move_to_end(trace_id)
        return complete

    def _forget(self, now_s: float) -> None:
        """Let go of evaluated traces that are too old, or that memory is needed for."""
        while self._closed:
            trace_id, oldest = next(iter(self._closed.items()))
            if oldest.last_s + self._rules.reopen_s > now_s and self._size <= self._rules.max_bytes:
                return
            del self._closed[trace_id]
            self._size -= oldest.size
