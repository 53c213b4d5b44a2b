"""Spans in pieces and out of order become complete traces.

Comes in: fragments (ids of the spans of one trace out of one request) with the number of the log record they
came in. Goes out: a `CompleteTrace` once the root has ended, no parent is missing and it has been quiet for a
while; later where something is missing; at the latest after a hard maximum. A span that comes after that
re-opens its trace, which is then given out again. Bodies stay in the log: held here is an index of about 50
bytes a span, packed, and bounded. Keeps no clock of its own: the caller gives the time in seconds of a clock
that never goes back. Not thread-safe: the pipeline's intake thread owns it.
"""

from __future__ import annotations

import heapq
import math
import struct
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum

from spanproof.collector.stages.fragments import ENTRY_BYTES, NO_SPAN_ID, Fragment
from spanproof.config.model import Assembly
from spanproof.trace.project import TraceKey

# An agent that pauses for longer than the quiet period at every step would have its whole run evaluated at
# every step: so each time a trace is opened again its quiet period doubles, up to this multiple.
_MOST_PATIENCE = 8

# How full memory is left after traces were given out for want of it.
_ROOM_LEFT_FULL = 0.9

# Of a trace's index: seconds of its first span and of its last one since it was opened, and how often it was
# given out.
_HEADER = struct.Struct("<ddH")

_ENTRY = struct.Struct("<8sI8s")
# A span's id and checksum, with which its entry begins.
_KEY_BYTES = 12
# An entry whose span id is zeros: the number of a log record, and whether its body is needed.
_RECORD = struct.Struct("<8sIQ")
assert _ENTRY.size == _RECORD.size == ENTRY_BYTES

# Rough cost in memory of a trace beside its entries: the key, the slots in dictionaries, the array.
_TRACE_BYTES = 250

_TRACE_ID_BYTES = 16

_LARGE_SPANS = 1024
# A trace of more spans has its keys in so many buckets too, or each of them would search through all.
_BUCKETS = 256

_TICKS_PER_S = 10


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
        bodies: numbers of the log records that hold spans which were not given out before.
        records: the log records that are done once this trace is stored; those of `bodies` among them.
        generation: how often it was given out before.
        whole: the root has ended and no parent is missing.
        spans: how many are in the index, with those that were given out before; the store may have more.
    """

    key: TraceKey
    bodies: tuple[int, ...]
    records: tuple[int, ...]
    generation: int
    whole: bool
    why: Why
    spans: int = 0

    @property
    def trace_id(self) -> str:
        """In hexadecimal; another project may have a trace with the same one."""
        return self.key.trace_id


class _Trace:
    """View of one trace's packed index: a header, then entries of spans and of log records."""

    __slots__ = ("packed",)

    def __init__(self, packed: bytearray) -> None:
        self.packed = packed

    @property
    def times(self) -> tuple[float, float, int]:
        """Seconds of the first and of the last span since it was opened, and the generation."""
        first, last, generation = _HEADER.unpack_from(self.packed)
        return first, last, generation

    @times.setter
    def times(self, values: tuple[float, float, int]) -> None:
        _HEADER.pack_into(self.packed, 0, *values)

    @property
    def whole(self) -> bool:
        """Whether the root has ended and no parent is missing."""
        ids, parents = set(), set()
        for span_id, _, parent in self._iter_entries():
            if span_id != NO_SPAN_ID:
                ids.add(span_id)
                parents.add(parent)
        return NO_SPAN_ID in parents and parents <= ids | {NO_SPAN_ID}

    @property
    def span_count(self) -> int:
        return (len(self.packed) - _HEADER.size) // ENTRY_BYTES

    def knows(self, key: bytes) -> bool:
        """Whether a span of this id and checksum is among the entries."""
        at = self.packed.find(key, _HEADER.size)
        while at >= 0:
            if (at - _HEADER.size) % ENTRY_BYTES == 0:
                return True
            at = self.packed.find(key, at + 1)
        return False

    def add_record(self, number: int, *, needed: bool) -> None:
        self.packed += _RECORD.pack(NO_SPAN_ID, needed, number)

    def split_records(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Remove the log records; returns those whose bodies are needed, and all of them."""
        bodies: dict[int, None] = {}
        records: dict[int, None] = {}
        spans = bytearray(self.packed[: _HEADER.size])
        for at in range(_HEADER.size, len(self.packed), ENTRY_BYTES):
            if self.packed[at : at + 8] != NO_SPAN_ID:
                spans += self.packed[at : at + ENTRY_BYTES]
                continue
            _, needed, number = _RECORD.unpack_from(self.packed, at)
            records[number] = None
            if needed:
                bodies[number] = None
        self.packed[:] = spans
        return tuple(bodies), tuple(records)

    def _iter_entries(self) -> Iterator[tuple[bytes, int, bytes]]:
        return _ENTRY.iter_unpack(memoryview(self.packed)[_HEADER.size :])


def _encode_key(key: TraceKey) -> bytes:
    """Return what identifies a trace in half of the memory that its tuple takes."""
    return bytes.fromhex(key.trace_id) + key.project.encode()


def _decode_key(packed: bytes) -> TraceKey:
    return TraceKey(packed[_TRACE_ID_BYTES:].decode(), packed[:_TRACE_ID_BYTES].hex())


class Assembler:
    """Collects the fragments of many traces at once.

    Args:
        rules: the waiting times and the bound on memory.
        on_repeated: called with how many spans of a fragment were known already.
    """

    def __init__(self, rules: Assembly, on_repeated: Callable[[int], None] = lambda _: None) -> None:
        self._rules = rules
        self._on_repeated = on_repeated
        self._open: dict[bytes, bytearray] = {}
        self._closed: dict[bytes, bytearray] = {}
        self._keys: dict[bytes, list[bytearray]] = {}
        self._due: dict[int, list[bytes]] = {}
        self._ticks: list[int] = []
        self._size = 0

    @property
    def open_traces(self) -> int:
        """Traces that are not complete."""
        return len(self._open)

    @property
    def held_bytes(self) -> int:
        """Bytes of the index, of traces being assembled and of evaluated ones that late spans may re-open."""
        return self._size

    def add(self, fragment: Fragment, record: int, now_s: float) -> bool:
        """Take a fragment; False where the log record is not needed, as all its spans were known."""
        trace_key = _encode_key(fragment.key)
        packed = self._open.get(trace_key, self._closed.get(trace_key))
        entries = fragment.entries
        state = _Trace(packed) if packed is not None else None
        fresh = [
            entries[at : at + ENTRY_BYTES]
            for at in range(0, len(entries), ENTRY_BYTES)
            if state is None or not self._is_known_span(trace_key, state, entries[at : at + _KEY_BYTES])
        ]
        self._on_repeated(len(entries) // ENTRY_BYTES - len(fresh))
        if not fresh:
            if state is None or trace_key not in self._open:
                return False
            # An exporter that repeats itself did not get our answer; what it holds is not stored yet.
            state.add_record(record, needed=False)
            self._size += ENTRY_BYTES
            return True
        trace = self._open_trace(trace_key, now_s)
        first, _, generation = trace.times
        trace.times = first, now_s, generation
        trace.packed += b"".join(fresh)
        trace.add_record(record, needed=True)
        self._size += ENTRY_BYTES * (len(fresh) + 1)
        self._add_to_buckets(trace_key, trace, fresh)
        return True

    def due(self, now_s: float) -> Iterator[CompleteTrace]:
        """Give out the traces whose time has come, then as many more as memory requires."""
        self._remove_old(now_s)
        while self._ticks and self._ticks[0] <= now_s * _TICKS_PER_S:
            for trace_key in self._due.pop(heapq.heappop(self._ticks)):
                packed = self._open.get(trace_key)
                if packed is None:
                    continue
                trace = _Trace(packed)
                whole = trace.whole
                deadline = self._compute_deadline(trace, whole=whole)
                if deadline > now_s:
                    self._add_tick(trace_key, deadline)
                else:
                    yield self._build_complete(
                        trace_key, self._classify_end(trace, now_s, whole=whole), now_s, whole=whole
                    )
        if self._size > self._rules.max_bytes:
            yield from self._iter_quietest(now_s)

    def flush(self, now_s: float) -> Iterator[CompleteTrace]:
        """Give out everything, as it is.

        Where something is missing it may still come after a restart, so the records of such a trace are not
        among those that are done with it: it is assembled again then.
        """
        for trace_key in list(self._open):
            whole = _Trace(self._open[trace_key]).whole
            complete = self._build_complete(trace_key, Why.SHUTDOWN, now_s, whole=whole)
            yield complete if complete.whole else replace(complete, records=())

    def drop(self, records: AbstractSet[int]) -> list[int]:
        """Give up the open traces of which a part is in these log records, and give nothing of them out.

        Returns:
            Their log records, each as often as a trace needs it.
        """
        dropped: list[int] = []
        for trace_key, packed in list(self._open.items()):
            _, needed = _Trace(bytearray(packed)).split_records()
            if not records.isdisjoint(needed):
                dropped += needed
                self._remove_trace(trace_key, self._open)
        return dropped

    def forget(self, keys: Iterable[TraceKey]) -> None:
        """Forget traces that were given out: all of their spans will come again."""
        for trace_key in map(_encode_key, keys):
            if trace_key in self._closed:
                self._remove_trace(trace_key, self._closed)

    def _is_known_span(self, trace_key: bytes, trace: _Trace, key: bytes) -> bool:
        buckets = self._keys.get(trace_key)
        if buckets is None:
            return trace.knows(key)
        bucket = buckets[key[7]]
        at = bucket.find(key)
        while at % _KEY_BYTES and at >= 0:
            at = bucket.find(key, at + 1)
        return at >= 0

    def _add_to_buckets(self, trace_key: bytes, trace: _Trace, fresh: list[bytes]) -> None:
        """Keep the keys of a trace of many spans in buckets, so that adding to it takes constant time."""
        buckets = self._keys.get(trace_key)
        if buckets is None:
            if trace.span_count < _LARGE_SPANS:
                return
            buckets = self._keys[trace_key] = [bytearray() for _ in range(_BUCKETS)]
            body = memoryview(trace.packed)[_HEADER.size :]
            fresh = [bytes(body[at : at + ENTRY_BYTES]) for at in range(0, len(body), ENTRY_BYTES)]
        for entry in fresh:
            buckets[entry[7]] += entry[:_KEY_BYTES]
        self._size += len(fresh) * _KEY_BYTES

    def _open_trace(self, trace_key: bytes, now_s: float) -> _Trace:
        packed = self._open.get(trace_key)
        if packed is not None:
            return _Trace(packed)
        packed = self._closed.pop(trace_key, None)
        if packed is None:
            packed = bytearray(_HEADER.size)
            self._size += _TRACE_BYTES
        trace = _Trace(packed)
        trace.times = now_s, now_s, trace.times[2]
        self._open[trace_key] = packed
        self._add_tick(trace_key, now_s + self._rules.quiet_s)
        return trace

    def _add_tick(self, trace_key: bytes, at_s: float) -> None:
        tick = math.ceil(at_s * _TICKS_PER_S)
        if tick not in self._due:
            self._due[tick] = []
            heapq.heappush(self._ticks, tick)
        self._due[tick].append(trace_key)

    def _iter_quietest(self, now_s: float) -> Iterator[CompleteTrace]:
        """Give out the quietest traces; more than needed, so that not every span has to make room."""
        enough = self._rules.max_bytes * _ROOM_LEFT_FULL
        for trace_key in sorted(self._open, key=lambda trace_key: _Trace(self._open[trace_key]).times[1]):
            if self._size <= enough:
                return
            whole = _Trace(self._open[trace_key]).whole
            yield self._build_complete(trace_key, Why.MEMORY, now_s, whole=whole)
            self._remove_trace(trace_key, self._closed)

    def _compute_deadline(self, trace: _Trace, *, whole: bool) -> float:
        first_s, last_s, generation = trace.times
        quiet = self._rules.quiet_s if whole else self._rules.orphan_quiet_s
        patience = min(1 << min(generation, 16), _MOST_PATIENCE)
        return min(last_s + quiet * patience, first_s + self._rules.max_wait_s)

    def _classify_end(self, trace: _Trace, now_s: float, *, whole: bool) -> Why:
        if now_s >= trace.times[0] + self._rules.max_wait_s:
            return Why.MAX_WAIT
        return Why.QUIET if whole else Why.ORPHANS

    def _build_complete(self, trace_key: bytes, why: Why, now_s: float, *, whole: bool) -> CompleteTrace:
        packed = self._open.pop(trace_key)
        trace = _Trace(packed)
        before = len(packed)
        bodies, records = trace.split_records()
        self._size -= before - len(packed)
        first, _, generation = trace.times
        trace.times = first, now_s, min(generation + 1, 0xFFFF)
        self._closed[trace_key] = packed
        return CompleteTrace(
            _decode_key(trace_key), bodies, records, generation, whole, why, trace.span_count
        )

    def _remove_old(self, now_s: float) -> None:
        """Drop evaluated traces that are too old, or whose memory is needed."""
        while self._closed:
            trace_key = next(iter(self._closed))
            last = _Trace(self._closed[trace_key]).times[1]
            if last + self._rules.reopen_s > now_s and self._size <= self._rules.max_bytes:
                return
            self._remove_trace(trace_key, self._closed)

    def _remove_trace(self, trace_key: bytes, traces: dict[bytes, bytearray]) -> None:
        packed = traces.pop(trace_key)
        self._size -= _TRACE_BYTES + len(packed) - _HEADER.size
        self._size -= sum(map(len, self._keys.pop(trace_key, ())))
