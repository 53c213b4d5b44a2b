"""The pool of evaluating processes: what is retried, what is given up, and what a trace is made of."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from faulty_engines import open_engine_once_interrupted, open_faulty_engine
from hypothesis import given
from hypothesis import strategies as st
from waiting import wait_until

from spanproof.collector.stages.assemble import CompleteTrace, Why
from spanproof.collector.stages.evaluate import (
    Evaluated,
    Evaluators,
    build_merged_state,
    compute_build_pause_s,
)
from spanproof.collector.stages.jobs import Start
from spanproof.collector.stages.shared_starts import list_shared_starts
from spanproof.collector.telemetry import Telemetry
from spanproof.collector.wal.file import Encoding
from spanproof.collector.wal.log import Wal
from spanproof.config.model import load_config
from spanproof.evaluators.model import NoReplay, TraceEvaluation
from spanproof.store import StoreUnavailable
from spanproof.trace import Errored, Layer, trace_of
from spanproof.trace.codec import encode_value
from spanproof.trace.dialects import normalise_request
from spanproof.trace.otlp import decode_protobuf
from spanproof.trace.project import TraceKey


def state(bodies: list[int], generation: int) -> CompleteTrace:
    return CompleteTrace(
        TraceKey("default", "a" * 32), tuple(bodies), tuple(bodies), generation, True, Why.QUIET
    )


@given(st.lists(st.integers(1, 20), unique=True), st.lists(st.integers(1, 20), unique=True))
def test_two_states_become_one_that_settles_all_of_both_and_reads_nothing_twice(first, second) -> None:
    both = build_merged_state(state(first, 1), state(second, 2))
    assert sorted(both.bodies) == sorted({*first, *second})
    assert sorted(both.records) == sorted([*first, *second])
    assert both.generation == 1


@pytest.mark.parametrize(
    ("programs", "processes", "shares"),
    [(2, 2, [1, 1]), (5, 2, [3, 2]), (2, 4, [1, 1]), (1, 1, [1])],
)
def test_limits_of_the_sandbox_and_the_judge_hold_for_all_processes_together(
    programs, processes, shares
) -> None:
    given = {"sandbox.workers": str(programs), "evaluation.workers": str(processes)}
    starts = list_shared_starts(Start(load_config(None, {}, given), open_faulty_engine, ()))
    assert [start.config.sandbox.workers for start in starts] == shares
    assert {start.config.judge.shared for start in starts} == {Path(".spanproof/wal/judge")}


class Rig:
    """A pool of one process over a real log; the store's answers are given."""

    def __init__(self, directory: Path, opener=open_faulty_engine, **settings: str) -> None:
        self.wal = Wal(directory / "wal", segment_bytes=1 << 20)
        self.done: list[Evaluated] = []
        self.answers: list[dict[TraceKey, str] | Exception] = [{}]
        self.telemetry = Telemetry()
        given = {"evaluation.replay": "false", "evaluation.workers": "1", "project": "p", **settings}
        self.evaluators = Evaluators(
            start=Start(load_config(None, {}, given), opener, tuple(sys.path)),
            telemetry=self.telemetry,
            places=lambda records: tuple(
                (self.wal.get_place(each).path, self.wal.get_place(each).offset) for each in records
            ),
            documents=self.documents,
            hand_on=self.hand_on,
            wants_bodies=False,
        )
        self.evaluators.open()
        self.evaluators.start()

    def documents(self, keys: list[TraceKey]) -> dict[TraceKey, str]:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def hand_on(self, evaluated: Evaluated) -> None:
        self.done.append(evaluated)
        self.evaluators.settled(evaluated.complete.key)

    def submit(self, request, spans: int = 0) -> None:
        body = request.SerializeToString()
        record = self.wal.append(Encoding.PROTOBUF, body).result(60)
        span = request.resource_spans[0].scope_spans[0].spans[0]
        key = TraceKey("p", span.trace_id.hex())
        self.evaluators.submit(CompleteTrace(key, (record,), (record,), 0, True, Why.QUIET, spans))

    def failed(self, stage: str) -> float:
        labels = {"stage": stage}
        name = "spanproof_evaluation_attempts_failed_total"
        return self.telemetry.registry.get_sample_value(name, labels) or 0.0

    def reasons(self) -> list[str]:
        """Why the runs of the last trace that was handed on were not replayed."""
        evaluation = self.done[-1].evaluation
        assert evaluation is not None
        return [run.replay.reason for run in evaluation.runs if isinstance(run.replay, NoReplay)]

    def one(self) -> Evaluated:
        wait_until(lambda: self.done, "the trace is evaluated")
        return self.done[0]


MAX_SPANS = 4
"""Of a trace that the pool of a test evaluates."""


@pytest.fixture
def rig(tmp_path, monkeypatch) -> Iterator[Rig]:
    monkeypatch.setattr("spanproof.collector.stages.evaluate._STORE_PAUSE_S", 0.05)
    monkeypatch.setattr("spanproof.collector.stages.evaluate._FIRST_BACKOFF_S", 0.05)
    built = Rig(tmp_path, **{"evaluation.deadline_s": "6", "evaluation.max_spans": str(MAX_SPANS)})
    yield built
    built.evaluators.close()
    built.wal.close()


def test_a_part_waits_for_a_store_that_is_down_instead_of_passing_for_the_whole(rig, make_request) -> None:
    rig.answers = [StoreUnavailable("down"), StoreUnavailable("down"), {}]
    rig.submit(make_request((1, 1, None), (1, 2, 1)))
    assert rig.one().evaluation is not None
    assert rig.evaluators.drain(60)


def test_when_the_collector_stops_such_a_part_stays_in_the_log(rig, make_request) -> None:
    rig.answers = [StoreUnavailable("down")]
    rig.submit(make_request((1, 1, None), (1, 2, 1)))
    assert rig.evaluators.drain(60)
    assert rig.done == []


def test_spans_that_were_stored_before_are_part_of_the_trace_but_never_replace_newer_ones(
    rig, make_request
) -> None:
    stored = [
        replace(span, name=f"old {span.span_id}")
        for span in normalise_request(make_request((1, 2, 1), (1, 3, 1)))
    ]
    rig.answers = [{TraceKey("p", f"{1:032x}"): encode_value(TraceEvaluation(trace_of(stored), (), ()))}]
    rig.submit(make_request((1, 1, None), (1, 2, 1)))
    evaluation = rig.one().evaluation
    assert evaluation is not None
    names = [span.name for span in evaluation.trace.spans]
    assert sorted(names) == ["old 0000000000000003", "span 1", "span 2"]


def test_of_a_record_and_a_store_only_readable_spans_of_the_trace_are_taken(rig, make_request) -> None:
    rig.answers = [{TraceKey("p", f"{1:032x}"): "{not a document"}]
    rig.submit(make_request((1, 1, None), (2, 5, None), (1, 2, 1)))
    evaluation = rig.one().evaluation
    assert evaluation is not None
    assert sorted(span.name for span in evaluation.trace.spans) == ["span 1", "span 2"]


@pytest.mark.parametrize("fault", ["building", "failed"])
def test_a_trace_without_its_replay_is_evaluated_again_before_it_is_handed_on(
    rig, make_request, tmp_path, monkeypatch, fault
) -> None:
    monkeypatch.setattr("spanproof.collector.stages.evaluate._BUILD_PAUSE_S", 0.05)
    request = make_request((1, 1, None), service=f"{fault} {tmp_path / 'seen'}")
    kind = request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="openinference.span.kind")
    kind.value.string_value = "AGENT"
    rig.submit(request)
    evaluation = rig.one().evaluation
    assert evaluation is not None
    assert (tmp_path / "seen").exists()
    assert [run.replay.reason for run in evaluation.runs] == ["replay is switched off by evaluation.replay"]


def test_a_trace_that_waits_for_a_build_of_minutes_is_evaluated_a_few_times_only() -> None:
    waited_s, pauses = 0.0, list[float]()
    while waited_s < 300:
        pauses.append(compute_build_pause_s(waited_s))
        waited_s += pauses[-1]
    assert pauses == [2, 2, 4, 8, 16, 32, 60, 60, 60, 60]


def test_a_trace_whose_build_takes_too_long_is_given_out_and_evaluated_again_from_the_store(
    rig, make_request, tmp_path, monkeypatch
) -> None:
    for name, pause_s in (("_BUILD_PAUSE_S", 0.05), ("_LONGEST_BUILD_S", 0.0), ("_RESUBMIT_PAUSE_S", 0.05)):
        monkeypatch.setattr(f"spanproof.collector.stages.evaluate.{name}", pause_s)
    request = make_request((1, 1, None), service=f"unbuilt {tmp_path / 'built'}")
    kind = request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="openinference.span.kind")
    kind.value.string_value = "AGENT"
    stored = encode_value(TraceEvaluation(trace_of(list(normalise_request(request))), (), ()))
    rig.answers = [{}, {TraceKey("p", f"{1:032x}"): stored}]
    rig.submit(request)
    wait_until(lambda: len(rig.done) > 1, "the trace is given out twice")
    (tmp_path / "built").touch()
    wait_until(lambda: "not yet" not in rig.reasons(), "the trace is evaluated with its environment")
    assert rig.reasons() == ["replay is switched off by evaluation.replay"]
    assert [evaluated.complete.generation for evaluated in rig.done] == list(range(len(rig.done)))
    assert [evaluated.complete.records for evaluated in rig.done[1:]] == [()] * (len(rig.done) - 1)
    assert rig.evaluators.drain(60)


@pytest.mark.parametrize(
    ("fault", "stage", "error_type"),
    [
        ("raise", "evaluate", "RuntimeError"),
        ("exit", "worker", "WorkerEnded"),
    ],
)
def test_what_fails_every_time_is_errored_and_kept_and_the_next_trace_goes_through(
    rig, make_request, fault, stage, error_type
) -> None:
    rig.submit(make_request((1, 1, None), service=fault))
    rig.submit(make_request((2, 1, None)))
    wait_until(lambda: len(rig.done) == 2, "both traces are handed on")
    good, bad = sorted(rig.done, key=lambda each: each.letter is not None)
    assert good.complete.trace_id == f"{2:032x}"
    assert rig.failed(stage) == 3
    assert bad.letter is not None
    assert (bad.letter.stage, bad.letter.error_type, bad.letter.attempts) == (stage, error_type, 3)
    assert len(normalise_request(decode_protobuf(bad.letter.body))) == 1
    assert bad.evaluation is not None
    assert {score.layer for score in bad.evaluation.scores} == set(Layer)
    assert all(isinstance(score.outcome, Errored) for score in bad.evaluation.scores)


def test_what_takes_too_long_is_tried_again_without_a_replay(rig, make_request) -> None:
    rig.submit(make_request((1, 1, None), service="hang"))
    evaluated = rig.one()
    assert rig.failed("deadline") == 1
    assert (evaluated.letter, evaluated.evaluation is None) == (None, False)


def test_a_trace_too_large_to_be_judged_in_time_is_errored_with_all_of_its_spans(
    tmp_path, make_request
) -> None:
    # No machine reads so many spans in so short a time, nor writes down that it could not.
    too_large = Rig(tmp_path, **{"evaluation.deadline_s": "0.01"})
    too_large.submit(make_request((1, 1, None), *((1, number, 1) for number in range(2, 2001))))
    try:
        evaluated = too_large.one()
    finally:
        too_large.evaluators.close()
        too_large.wal.close()
    # Once with a replay and once without: a third time would take as long.
    assert too_large.failed("deadline") == 2
    assert evaluated.letter is not None
    assert evaluated.evaluation is not None
    assert len(evaluated.evaluation.trace.spans) == 2000
    outcomes = [score.outcome for score in evaluated.evaluation.scores]
    assert {score.layer for score in evaluated.evaluation.scores} == set(Layer)
    assert {outcome.error_type for outcome in outcomes} == {"DeadlineExceeded"}


def test_too_many_spans_are_errored_at_once_by_assembly_s_count_or_the_process_s(rig, make_request) -> None:
    stored = list(normalise_request(make_request((2, 4, 1), (2, 5, 1))))
    rig.answers = [
        {},
        {TraceKey("p", f"{2:032x}"): encode_value(TraceEvaluation(trace_of(stored), (), ()))},
        {},
    ]
    rig.submit(make_request((1, 1, None), *((1, number, 1) for number in range(2, 6))), spans=5)
    wait_until(lambda: len(rig.done) == 1, "the trace that assembly counted is handed on")
    rig.submit(make_request((2, 1, None), (2, 2, 1), (2, 3, 1)), spans=3)
    wait_until(lambda: len(rig.done) == 2, "the trace of which the store has a part is handed on")
    rig.submit(make_request((3, 1, None), *((3, number, 1) for number in range(2, MAX_SPANS + 1))))
    wait_until(lambda: len(rig.done) == 3, "the trace at the bound is handed on")
    reason = "the trace has 5 spans, more than evaluation.max_spans: 4"
    assert [evaluated.letter and evaluated.letter.error for evaluated in rig.done] == [reason, reason, None]
    for evaluated in rig.done[:2]:
        assert evaluated.evaluation is not None
        assert len(evaluated.evaluation.trace.spans) == 5
        assert {score.outcome for score in evaluated.evaluation.scores} == {Errored("TraceTooLarge", reason)}
    assert rig.failed("size") == 2
    assert rig.failed("deadline") == 0


def test_what_fails_once_is_evaluated_by_the_next_attempt(rig, make_request, tmp_path) -> None:
    rig.submit(make_request((1, 1, None), service=f"once {tmp_path / 'mark'}"))
    assert rig.one().letter is None
    assert rig.failed("evaluate") == 1


def test_a_worker_that_an_interrupt_of_the_terminal_ends_at_its_start_is_started_again(
    tmp_path, make_request
) -> None:
    rig = Rig(tmp_path, open_engine_once_interrupted, **{"wal.directory": str(tmp_path)})
    try:
        assert (tmp_path / "interrupted").exists()
        rig.submit(make_request((1, 1, None)))
        assert rig.one().evaluation is not None
    finally:
        rig.evaluators.close()
        rig.wal.close()


def test_a_worker_that_is_killed_costs_an_attempt_and_no_trace(rig, make_request) -> None:
    process = rig.evaluators._lanes[0]._process
    assert process is not None
    os.kill(process.pid, 9)
    process.wait()
    rig.submit(make_request((1, 1, None)))
    assert rig.one().letter is None
    assert rig.failed("worker") == 1
