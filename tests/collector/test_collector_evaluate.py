from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import wait_until

from spanproof.collector.stages.assemble import CompleteTrace, Why
from spanproof.collector.stages.evaluate import Evaluated, Evaluators, merged
from spanproof.collector.telemetry import Telemetry
from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import StoreError, StoreUnavailable
from spanproof.trace import Span
from spanproof.trace.dialects import normalise


def state(bodies: list[bytes], fresh_from: int, records: set[int], generation: int) -> CompleteTrace:
    return CompleteTrace("a" * 32, tuple(bodies), fresh_from, frozenset(records), generation, True, Why.QUIET)


@given(st.lists(st.binary(min_size=1), min_size=2, max_size=8), st.data())
def test_two_states_become_one_that_has_all_of_both_and_forwards_nothing_twice(bodies, data) -> None:
    bodies = [bytes([number]) + body for number, body in enumerate(bodies)]
    sent = data.draw(st.integers(0, len(bodies) - 1))
    middle = data.draw(st.integers(sent, len(bodies) - 1))
    forgotten = data.draw(st.booleans())
    former = state(bodies[:middle], sent, {1}, generation=1)
    # Where memory was short the later state holds only what came since.
    later = state(bodies[middle:], 0, {2}, 0) if forgotten else state(bodies, middle, {2}, 2)
    both = merged(former, later)
    assert list(both.bodies) == bodies
    assert list(both.bodies[both.fresh_from :]) == bodies[sent:]
    assert both.records == {1, 2}


class Rig:
    """Evaluators over the real engine, without a sandbox; the store's answers are given."""

    def __init__(self, answers: list[tuple[Span, ...] | Exception]) -> None:
        self.done: list[Evaluated] = []
        self.answers = answers
        self.evaluators = Evaluators(
            engine=Engine(pipeline=Pipeline(), sandbox=None),
            workers=2,
            project="p",
            telemetry=Telemetry(),
            known_spans=self.known,
            hand_on=self.hand_on,
            counted_twice=lambda _: None,
        )

    def known(self, trace_id: str) -> tuple[Span, ...]:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def hand_on(self, evaluated: Evaluated) -> None:
        self.done.append(evaluated)
        self.evaluators.settled(evaluated.complete.trace_id)


@pytest.fixture
def two_spans(make_request) -> CompleteTrace:
    body = make_request((1, 1, None), (1, 2, 1)).SerializeToString()
    return CompleteTrace(f"{1:032x}", (body,), 0, frozenset({1}), 0, True, Why.QUIET)


def test_a_part_waits_for_a_store_that_is_down_instead_of_passing_for_the_whole(
    two_spans, monkeypatch
) -> None:
    monkeypatch.setattr("spanproof.collector.stages.evaluate._STORE_PAUSE_S", 0.05)
    rig = Rig([StoreUnavailable("down"), StoreUnavailable("down"), ()])
    rig.evaluators.submit(two_spans)
    wait_until(lambda: rig.done, "the trace is evaluated")
    assert rig.evaluators.drain(10)
    assert rig.done[0].evaluation is not None


def test_when_the_collector_stops_such_a_part_stays_in_the_log(two_spans) -> None:
    rig = Rig([StoreUnavailable("down")])
    rig.evaluators.submit(two_spans)
    rig.evaluators.drain(10)
    assert rig.done == []


def test_spans_that_were_stored_before_are_part_of_the_trace_but_never_replace_newer_ones(
    two_spans, make_request
) -> None:
    stored = normalise(make_request((1, 2, 1), (1, 3, 1)))
    renamed = [replace(span, name=f"old {span.span_id}") for span in stored]
    rig = Rig([tuple(renamed)])
    rig.evaluators.submit(two_spans)
    assert rig.evaluators.drain(60)
    (evaluated,) = rig.done
    assert evaluated.evaluation is not None
    names = [span.name for span in evaluated.evaluation.trace.spans]
    assert sorted(names) == ["old 0000000000000003", "span 1", "span 2"]


def test_what_the_store_cannot_read_is_no_reason_not_to_evaluate(two_spans) -> None:
    rig = Rig([StoreError("stored by a newer version")])
    rig.evaluators.submit(two_spans)
    assert rig.evaluators.drain(60)
    assert rig.done[0].evaluation is not None
