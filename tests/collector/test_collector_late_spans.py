"""Spans of one trace that come one after the other, however late."""

from __future__ import annotations

import time

from waiting import wait_until

from spanproof.evaluators.model import TraceEvaluation

from .collectors import agent_request, post, running


def test_a_late_span_opens_its_trace_again_and_the_store_has_the_whole_of_it(tmp_path, make_request) -> None:
    with running(tmp_path) as collector:
        seen = []
        collector.evaluated.add_subscriber(seen.append)
        post(collector, agent_request(make_request, (1, 1, None)))
        assert collector.evaluated.wait_for(1, timeout_s=120)
        post(collector, agent_request(make_request, (1, 2, 1)))
        wait_until(lambda: len(seen) == 2)
        assert [len(evaluation.trace.spans) for evaluation in seen] == [1, 2]
        stored = collector.store.evaluation(f"{1:032x}")
        assert stored is not None
        assert len(stored.trace.spans) == 2
        assert collector.evaluated.traces == 1


def test_states_of_one_trace_are_evaluated_one_after_the_other(tmp_path, make_request) -> None:
    with running(tmp_path, assembly__max_bytes="1") as collector:  # every span is given out at once
        seen = []
        collector.evaluated.add_subscriber(seen.append)
        for number in range(2, 12):
            post(collector, agent_request(make_request, (1, number, 1)))
        post(collector, agent_request(make_request, (1, 1, None)))
        wait_until(lambda: bool(seen) and len(seen[-1].trace.spans) == 11)
        assert [len(evaluation.trace.spans) for evaluation in seen] == sorted(
            len(evaluation.trace.spans) for evaluation in seen
        )


def test_an_incomplete_trace_is_taken_up_again_after_a_restart(tmp_path, make_request) -> None:
    with running(tmp_path) as collector:
        post(collector, agent_request(make_request, (1, 2, 1)))
    with running(tmp_path) as collector:
        post(collector, agent_request(make_request, (1, 1, None)))
        assert collector.evaluated.wait_for(1, timeout_s=120)
        assert len(collector.evaluated.latest[-1].trace.spans) == 2


def test_what_is_later_than_memory_joins_what_the_store_has_and_gives_the_run_of_the_whole(
    tmp_path, make_request
) -> None:
    spans = ((1, 1, None), (1, 2, 1), (1, 3, 1))
    with running(tmp_path / "whole") as collector:
        post(collector, agent_request(make_request, *spans))
        assert collector.evaluated.wait_for(1, timeout_s=120)
        at_once = collector.store.evaluation(f"{1:032x}")
    with running(tmp_path / "pieces", assembly__reopen_s="0.1") as collector:
        seen = []
        collector.evaluated.add_subscriber(seen.append)
        # Of the first trace the root comes late, of the second a child.
        post(collector, agent_request(make_request, *spans[1:]))
        post(collector, agent_request(make_request, (2, 1, None)))
        wait_until(lambda: len(seen) == 2)
        time.sleep(0.5)
        post(collector, agent_request(make_request, spans[0]))
        post(collector, agent_request(make_request, (2, 2, 1)))
        wait_until(lambda: len(seen) == 4)
        assert count_spans(seen, 1) == [2, 3]
        assert count_spans(seen, 2) == [1, 2]
        healed = collector.store.evaluation(f"{1:032x}")
        current = list(collector.store.scores(trace_id=f"{1:032x}"))
    assert at_once is not None
    assert healed is not None
    assert healed.trace == at_once.trace
    assert {run.run.span_id: run.layers for run in healed.runs} == {
        run.run.span_id: run.layers for run in at_once.runs
    }
    # What was said of the spans while they had no root is withdrawn.
    assert {score.run_span_id for score in current} == {f"{1:016x}"}


def count_spans(seen: list[TraceEvaluation], number: int) -> list[int]:
    """Return how many spans a trace had each time it was evaluated."""
    return [
        len(evaluation.trace.spans) for evaluation in seen if evaluation.trace.trace_id == f"{number:032x}"
    ]
