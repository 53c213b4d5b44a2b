"""Lists of traces: by words of a run, by what it took and what users said, in several orders, with facets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spanproof.store.trace_list import TraceOrder, TraceTerms
from spanproof.trace import Layer, Scored, State, Usage

ALL = TraceTerms()


@pytest.fixture
def listed(embedded, evaluation):
    """Return a function that lists the numbers of the traces that are chosen."""

    def make(chosen: TraceTerms, **how):
        rows = embedded.browse.list_traces(chosen, **{"order": TraceOrder.NEWEST, "limit": 100, **how})
        return [int(row.trace_id, 16) for row in rows]

    return make


def _answering(evaluation, number: int, answer: str, *, tokens: int = 0, cost: float | None = None):
    """Return an evaluation whose run gives this answer, took so many tokens and cost so much."""
    whole = evaluation(number)
    (run,) = whole.runs
    said = replace(run.run.answer, text=answer, value=answer)
    scores = run.scores
    if cost is not None:
        metric = Scored(0.5, None, "what it cost", raw=cost, unit="usd")
        scores += (replace(scores[0], layer=Layer.TRAJECTORY, name="cost_usd", outcome=metric),)
    changed = replace(run.run, answer=said, usage=Usage(input_tokens=tokens))
    return replace(whole, runs=(replace(run, run=changed, scores=scores),))


def test_a_search_finds_words_of_task_answer_code_and_output_in_any_case(embedded, evaluation, listed):
    embedded.write([evaluation(1), _answering(evaluation, 2, "Äpfel kosten 100 % mehr_als 'Birnen'")])
    assert listed(TraceTerms(texts=["äPFEL"])) == [2]
    assert listed(TraceTerms(texts=["100 %"])) == [2]
    assert listed(TraceTerms(texts=["mehr_als"])) == [2]
    assert listed(TraceTerms(texts=["mehrXals"])) == []
    assert listed(TraceTerms(texts=["'birnen'"])) == [2]
    assert sorted(listed(TraceTerms(texts=["price_of('TEA')"]))) == [1, 2]
    assert listed(TraceTerms(texts=["tea", "$54.00"])) == [1]
    assert listed(TraceTerms(texts=["no such word"])) == []


def test_a_search_reads_the_latest_evaluation_alone(embedded, evaluation, listed):
    embedded.write([_answering(evaluation, 1, "the first answer")])
    embedded.write([_answering(evaluation, 1, "another one")])
    assert listed(TraceTerms(texts=["first answer"])) == []
    assert listed(TraceTerms(texts=["another one"])) == [1]


def test_traces_are_ordered_and_chosen_by_what_they_took_and_paged(embedded, evaluation, listed):
    embedded.write(
        [
            _answering(evaluation, 1, "a", tokens=10, cost=0.2),
            _answering(evaluation, 2, "b", tokens=30),
            _answering(evaluation, 3, "c", tokens=20, cost=0.1),
        ]
    )
    assert listed(ALL, order=TraceOrder.TOKENS) == [2, 3, 1]
    assert listed(ALL, order=TraceOrder.COST) == [1, 3, 2]
    assert listed(TraceTerms(min_tokens=20), order=TraceOrder.TOKENS) == [2, 3]
    assert listed(TraceTerms(min_cost_usd=0.15)) == [1]
    first, *_ = embedded.browse.list_traces(ALL, order=TraceOrder.TOKENS, limit=1)
    place = TraceOrder.TOKENS.get_place(first)
    assert listed(ALL, order=TraceOrder.TOKENS, before=place) == [3, 1]
    assert (first.tokens, first.cost_usd) == (30, None)


def test_facets_count_traces_within_the_filter(embedded, evaluation):
    embedded.write([evaluation(1), evaluation(2), _answering(evaluation, 3, "other words")])
    found = embedded.browse.get_facets(ALL, ["agent", "model"], 10)
    assert found.states == {State.FAIL: 3}
    ((agent, count),) = found.values["agent"]
    assert count == 3
    within = embedded.browse.get_facets(TraceTerms(texts=["other words"]), ["agent", "model"], 10)
    assert within.values["agent"] == ((agent, 1),)
    assert within.states == {State.FAIL: 1}
    assert embedded.browse.get_facets(ALL, [], 10).states == {State.FAIL: 3}
