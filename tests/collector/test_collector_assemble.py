from __future__ import annotations

import random
import struct
import time
import tracemalloc
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.collector.stages.assemble import Assembler, CompleteTrace, Why
from spanproof.collector.stages.fragments import ENTRY_BYTES, Fragment, build_index, select_trace_spans
from spanproof.config.model import Assembly
from spanproof.trace.project import TraceKey

from .conftest import request_with

RULES = Assembly(quiet_s=6, orphan_quiet_s=35, max_wait_s=300, reopen_s=600)


def parts(request: ExportTraceServiceRequest) -> tuple[Fragment, ...]:
    return build_index(request, request.SerializeToString()).fragments


def part(request: ExportTraceServiceRequest) -> Fragment:
    (fragment,) = parts(request)
    return fragment


def test_a_whole_trace_is_given_out_after_the_quiet_period(make_request) -> None:
    assembler = Assembler(RULES)
    assembler.add(part(make_request((1, 2, 1))), 1, now_s=0)
    assembler.add(part(make_request((1, 1, None))), 2, now_s=3)
    assert list(assembler.due(8.9)) == []
    (complete,) = assembler.due(9.1)
    assert complete.why is Why.QUIET
    assert complete.whole
    assert complete.records == complete.bodies == (1, 2)
    assert assembler.open_traces == 0


def test_every_span_starts_the_quiet_period_again(make_request) -> None:
    assembler = Assembler(RULES)
    assembler.add(part(make_request((1, 1, None))), 1, now_s=0)
    assembler.add(part(make_request((1, 2, 1))), 2, now_s=5)
    assert list(assembler.due(10.9)) == []
    assert len(list(assembler.due(11.1))) == 1


def test_a_trace_that_lacks_a_parent_waits_longer(make_request) -> None:
    assembler = Assembler(RULES)
    assembler.add(part(make_request((1, 1, None), (1, 3, 2))), 1, now_s=0)
    assert list(assembler.due(34.9)) == []
    (complete,) = assembler.due(35.1)
    assert complete.why is Why.ORPHANS
    assert not complete.whole


def test_a_parent_that_comes_late_makes_the_trace_whole(make_request) -> None:
    assembler = Assembler(RULES)
    assembler.add(part(make_request((1, 1, None), (1, 3, 2))), 1, now_s=0)
    assembler.add(part(make_request((1, 2, 1))), 2, now_s=10)
    (complete,) = assembler.due(16.1)
    assert complete.why is Why.QUIET


def test_a_trace_that_never_falls_quiet_is_given_out_at_the_maximum(make_request) -> None:
    assembler = Assembler(RULES)
    given_out = []
    for second in range(0, 400, 5):
        assembler.add(part(make_request((1, second + 10, 1))), second, now_s=second)
        given_out += [(second, complete.why) for complete in assembler.due(second)]
    assert given_out == [(300, Why.MAX_WAIT)]


def test_a_late_span_opens_the_trace_again_with_what_is_new(make_request) -> None:
    assembler = Assembler(RULES)
    assembler.add(part(make_request((1, 1, None))), 1, now_s=0)
    (first,) = assembler.due(7)
    assembler.add(part(make_request((1, 2, 1))), 2, now_s=60)
    assert list(assembler.due(71.9)) == []
    (second,) = assembler.due(72.1)
    assert (first.generation, second.generation) == (0, 1)
    assert second.whole
    assert second.records == second.bodies == (2,)


def test_a_run_that_pauses_at_every_step_is_not_evaluated_at_every_step(make_request) -> None:
    assembler = Assembler(RULES)
    given_out = 0
    for step in range(60):
        assembler.add(part(make_request((1, step + 2, 1))), step, now_s=step * 40.0)
        given_out += len(list(assembler.due(step * 40.0 + 39)))
    assert given_out <= 12


def test_a_span_that_comes_twice_changes_nothing(make_request) -> None:
    repeated: list[int] = []
    assembler = Assembler(RULES, repeated.append)
    assert assembler.add(part(make_request((1, 1, None))), 1, now_s=0)
    assert assembler.add(part(make_request((1, 1, None))), 2, now_s=1)
    (complete,) = assembler.due(6.5)
    assert (complete.bodies, complete.records) == ((1,), (1, 2))
    assert not assembler.add(part(make_request((1, 1, None))), 3, now_s=20)
    assert list(assembler.due(100)) == []
    assert sum(repeated) == 2


def test_memory_is_bounded_by_giving_out_the_quietest_trace_early(make_request) -> None:
    assembler = Assembler(RULES.model_copy(update={"max_bytes": 5_000}))
    for number in range(1, 30):
        assembler.add(part(make_request((number, 1, None))), number, now_s=number / 100)
    early = list(assembler.due(1))
    assert assembler.held_bytes <= 5_000
    assert {complete.why for complete in early} == {Why.MEMORY}
    assert early[0].trace_id == f"{1:032x}"


def test_shutdown_gives_out_all_but_leaves_the_records_of_incomplete_traces_open(make_request) -> None:
    assembler = Assembler(RULES)
    assembler.add(part(make_request((1, 1, None))), 1, now_s=0)
    assembler.add(part(make_request((2, 2, 1))), 2, now_s=0)
    whole, torn = sorted(assembler.flush(1), key=lambda complete: complete.trace_id)
    assert (whole.records, torn.records) == ((1,), ())


def test_the_spans_of_one_trace_keep_their_resource_and_scope(make_request) -> None:
    request = make_request((1, 1, None), (2, 5, None), (1, 2, 1), service="billing", scope="langchain")
    assert [len(each.entries) // ENTRY_BYTES for each in parts(request)] == [2, 1]
    chosen = select_trace_spans(request, TraceKey("default", f"{1:032x}"))
    assert chosen.resource_spans[0].resource.attributes[0].value.string_value == "billing"
    assert chosen.resource_spans[0].scope_spans[0].scope.name == "langchain"
    assert len(chosen.resource_spans[0].scope_spans[0].spans) == 2


def test_our_own_evaluator_spans_are_left_out(make_request) -> None:
    request = make_request((1, 1, None), scope="spanproof.evaluators")
    index = build_index(request, request.SerializeToString())
    assert (index.fragments, index.own, index.spans) == ((), 1, 0)


def test_a_trace_of_many_spans_is_collected_in_linear_time_and_knows_each_of_them(make_request) -> None:
    assembler = Assembler(RULES)
    pieces = [
        part(make_request(*((1, number, 1) for number in range(first, first + 500))))
        for first in range(2, 20_002, 500)
    ]

    def add_all(record: int) -> float:
        began = time.thread_time()
        for fragment in pieces:
            assembler.add(fragment, record, now_s=0)
        return time.thread_time() - began

    first, again = add_all(1), add_all(2)
    assert again < 20 * first + 1
    assembler.add(part(make_request((1, 1, None))), 3, now_s=0)
    (complete,) = assembler.due(7)
    assert (complete.whole, complete.bodies, complete.records) == (True, (1, 3), (1, 2, 3))


def test_a_span_in_flight_takes_about_fifty_bytes(make_request) -> None:
    fragments = [
        part(make_request(*((trace, trace * 10 + span, trace * 10 if span else None) for span in range(10))))
        for trace in range(1, 2_001)
    ]
    tracemalloc.start()
    assembler = Assembler(RULES)
    for record, fragment in enumerate(fragments):
        assembler.add(
            # A copy, as each trace is counted with what identifies it.
            Fragment(
                TraceKey(fragment.key.project, "".join(fragment.key.trace_id)),
                fragment.entries,
            ),
            record,
            now_s=record / 9,
        )
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken / 20_000 < 60
    assert 0.6 < assembler.held_bytes / taken < 1.4


BOUND = 1 << 18
TEN_SECONDS = 1_440
"""In four hours: 48 times `max_wait_s`, and 24 times `reopen_s`, after which nothing is held any more."""


def list_run_spans(trace: int, numbers: range) -> Fragment:
    """A fragment of spans whose root has not come."""
    entries = (struct.pack("<8sI8s", number.to_bytes(8, "big"), number, bytes([9] * 8)) for number in numbers)
    return Fragment(TraceKey("default", f"{trace:032x}"), b"".join(entries))


def take_in(assembler: Assembler, fragment: Fragment, record: int, now_s: float) -> list[CompleteTrace]:
    """Return what is given out once the fragment is taken; checks that what is held stays bounded."""
    assembler.add(fragment, record, now_s)
    given_out = list(assembler.due(now_s))
    assert assembler.held_bytes <= BOUND
    return given_out


def test_a_hundred_thousand_spans_of_one_trace_stay_within_the_bound_and_all_are_given_out() -> None:
    assembler = Assembler(RULES.model_copy(update={"max_bytes": BOUND}))
    given_out = [
        complete
        for record in range(1_000)
        for complete in take_in(
            assembler, list_run_spans(1, range(record * 100, record * 100 + 100)), record, record / 50
        )
    ]
    given_out += assembler.flush(100)
    assert [number for complete in given_out for number in complete.bodies] == list(range(1_000))
    assert {complete.why for complete in given_out} == {Why.MEMORY, Why.SHUTDOWN}


def test_a_trace_that_never_ends_stays_within_the_bound_and_is_given_out_every_few_minutes() -> None:
    assembler = Assembler(RULES.model_copy(update={"max_bytes": BOUND}))
    given_out = [
        (request, complete)
        for request in range(TEN_SECONDS)
        for complete in take_in(
            assembler, list_run_spans(1, range(request * 10, request * 10 + 10)), request, request * 10
        )
    ]
    times = [0, *(request * 10 for request, _ in given_out)]
    assert max(later - earlier for earlier, later in pairwise(times)) <= RULES.max_wait_s + 10
    given = [number for _, complete in given_out for number in complete.bodies]
    assert given == list(range(len(given)))
    assert len(given) >= TEN_SECONDS - RULES.max_wait_s / 10 - 1


def test_four_hours_of_late_spans_stays_within_the_bound_and_each_is_given_out() -> None:
    assembler = Assembler(RULES.model_copy(update={"max_bytes": BOUND}))
    given_out: list[CompleteTrace] = []
    for trace in range(TEN_SECONDS):
        # Each gets a span that comes 500 s after the others, while it is kept at hand.
        given_out += take_in(assembler, list_run_spans(trace + 1, range(100)), 2 * trace, trace * 10)
        if trace >= 50:
            late = list_run_spans(trace - 49, range(100, 101))
            given_out += take_in(assembler, late, 2 * trace + 1, trace * 10)
    given_out += assembler.flush(TEN_SECONDS * 10 + 1)
    numbers = [number for complete in given_out for number in complete.bodies]
    assert len(numbers) == len(set(numbers)) == 2 * TEN_SECONDS - 50


@settings(max_examples=15)
@given(seed=st.integers(0, 1 << 32))
def test_what_is_held_is_nothing_once_every_trace_is_forgotten(seed: int) -> None:
    chance = random.Random(seed)
    assembler = Assembler(RULES)
    for record in range(200):
        trace, spans = chance.randrange(1, 5), chance.randrange(1, 20)
        triples = [(trace, chance.randrange(1, 4_000), 1) for _ in range(spans)]
        assembler.add(part(request_with(*triples)), record, now_s=record)
        list(assembler.due(record))
    list(assembler.due(1_000))
    list(assembler.due(5_000))
    assert (assembler.held_bytes, assembler.open_traces) == (0, 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(size=st.integers(2, 12), chance=st.randoms(use_true_random=False), pieces=st.integers(1, 5))
def test_spans_in_any_order_and_any_pieces_make_the_same_trace(
    make_request, size: int, chance: random.Random, pieces: int
) -> None:
    triples = [
        (1, number, chance.randrange(1, number) if number > 1 else None) for number in range(1, size + 1)
    ]
    chance.shuffle(triples)
    assembler = Assembler(RULES)
    for record, start in enumerate(range(0, size, pieces)):
        for fragment in parts(make_request(*triples[start : start + pieces])):
            assembler.add(fragment, record, now_s=record * 0.1)
    (complete,) = assembler.due(100)
    assert complete.whole
    assert complete.bodies == tuple(range(-(-size // pieces)))
