"""Traces of several turns: an answer is held against the outputs of its own turn and those before it."""

from __future__ import annotations

from spanproof.evaluators.engine import Engine
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    Label,
    Layer,
    Payload,
    Span,
    SpanKind,
    State,
    ToolCall,
    get_state,
    trace_of,
)

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
ROOT = "e" * 16
NOON = 1_780_056_000_000_000_000


def span(span_id, parent, kind, start, end, **fields):
    scope = "spanproof.instrumentors.smolagents"
    times = {"start_ns": NOON + start, "end_ns": NOON + end}
    return Span(
        TRACE_ID, span_id, parent, kind.value, kind, scope=scope, dialect="spanproof", **times, **fields
    )


def turn(number, result, said):
    """An agent's run with one tool call."""
    start, agent = number * 1_000, f"{number:016x}"
    call = {"tool": ToolCall("get_stock", {}), "output": Payload(result, result)}
    return [
        span(agent, ROOT, SpanKind.AGENT, start, start + 900, output=Payload(said, said)),
        span(f"{number + 100:016x}", agent, SpanKind.TOOL, start + 10, start + 20, **call),
    ]


def outcomes(*turns):
    """What the layer says, by the turn's number and the score's name."""
    spans = [span(ROOT, None, SpanKind.CHAIN, 0, 10_000)]
    for number, (result, said) in enumerate(turns, 1):
        spans += turn(number, result, said)
    engine = Engine(pipeline=Pipeline(), sandbox=None, layers=[Layer.GROUNDEDNESS])
    evaluated = engine.evaluate(trace_of(spans)).runs
    return {
        (int(run.run.span_id, 16), score.name): score.outcome for run in evaluated for score in run.scores
    }


def test_what_an_earlier_turn_returned_bears_out_a_later_answer():
    found = outcomes(
        ('{"unit_price": 39.9}', "The kettle costs $39.90."),
        ('{"eta_days": 4}', "At $39.90 it arrives in 4 days."),
    )
    assert found[1, "groundedness"].label is Label.PASS
    assert found[2, "groundedness"].label is Label.PASS


def test_what_a_later_turn_returned_does_not_bear_out_an_earlier_answer():
    found = outcomes(
        ('{"unit_price": 35.5}', "The kettle costs $39.90."), ('{"unit_price": 39.9}', "It costs $39.90.")
    )
    assert get_state(found[1, "groundedness"]) is State.OPEN
    assert found[2, "groundedness"].label is Label.PASS


def test_an_answer_that_keeps_to_an_earlier_turn_drifts():
    found = outcomes(('{"stock": 18}', "There are 18 left."), ('{"stock": 11}', "There are 18 in stock."))
    drift = found[2, "drift"]
    assert drift.label is Label.FAIL
    assert "stock: 11" in drift.explanation
    assert "turn 2" in drift.explanation
