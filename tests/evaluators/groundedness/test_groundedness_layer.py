"""The layer's verdict on whole runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from spanproof.evaluators.layers import groundedness
from spanproof.sandbox import FailureClass
from spanproof.trace import (
    Cause,
    ClaimVerdict,
    Ending,
    Label,
    Payload,
    Scored,
    Skipped,
    State,
    Step,
    get_state,
)

START_NS = 1_780_000_000_000_000_000


def answer(text):
    return Payload(text, text)


def judged(build, snippets, text, **fields):
    replayed = fields.pop("replayed", None)
    run = build.run(snippets, answer=None if text is None else answer(text), **fields)
    return groundedness.evaluate_groundedness(build.evidence(run, replayed=replayed))


def test_an_answer_its_execution_returned_passes(build, score_of):
    snippet = build.snippet("print(refund())", observation='{"amount_cents": 4500}')
    outcome = score_of(judged(build, [snippet], "Your refund is $45.00."), "groundedness")
    assert (outcome.value, outcome.label) == (1.0, Label.PASS)
    assert "amount_cents: 4500" in outcome.explanation


def test_a_misquoted_amount_fails_and_quotes_what_was_returned(build, score_of):
    snippet = build.snippet("print(refund())", observation='{"amount_cents": 4500}')
    outcome = score_of(judged(build, [snippet], "Your refund is $54.00."), "groundedness")
    assert (outcome.value, outcome.label) == (0.0, Label.FAIL)
    assert "$54.00" in outcome.explanation
    assert outcome.evidence[0].recorded == "amount_cents: 4500"
    assert outcome.evidence[0].span_id == snippet.span_id
    start, end = outcome.evidence[0].claim.cell
    assert '{"amount_cents": 4500}'[start:end] == "4500"


@pytest.mark.parametrize(
    ("code", "printed", "said", "explained"),
    [
        ("cents = refund()\nprint(cents)", "4500", "$54.00", "the code printed $45.00, from 4500 cents"),
        (
            "print(refund())",
            '{"amount_cents": 4500}',
            "€54.00",
            "the code printed €45.00, from amount_cents: 4500",
        ),
        ("print(refund())", '{"amount": 4500}', "$54.00", "the code printed amount: 4500"),
        ("print(refund())", '{"amount_cents": 4500}', "54 dollars", "the code printed amount_cents: 4500"),
    ],
)
def test_both_amounts_are_in_one_unit_where_it_is_known(build, score_of, code, printed, said, explained):
    snippet = build.snippet(code, observation=printed)
    outcome = score_of(judged(build, [snippet], f"Your refund is {said}."), "groundedness")
    assert explained in outcome.explanation


def test_an_answer_cannot_bear_itself_out(build, score_of):
    work = build.snippet("r = refund()\nprint(r)", observation="4500")
    last = build.snippet(
        "final_answer('Your refund is $54.00.')",
        observation="Execution logs:\n\nLast output from code snippet:\nYour refund is $54.00.",
        output=answer("Your refund is $54.00."),
        is_final=True,
    )
    assert score_of(judged(build, [work, last], "Your refund is $54.00."), "groundedness").label is Label.FAIL


def test_what_the_final_code_computes_counts_as_returned(build, score_of):
    work = build.snippet("cents = refund()\nprint('got it')", observation="got it, 1 refund")
    last = build.snippet(
        "final_answer(f'Your refund is ${cents / 100:.2f}.')",
        output=answer("Your refund is $45.00."),
        is_final=True,
    )
    assert score_of(judged(build, [work, last], "Your refund is $45.00."), "groundedness").label is Label.PASS


def test_a_tool_result_is_an_output(build, score_of):
    step = Step(1, "01" * 8, calls=(build.call("get_stock", {"stock": 35}),))
    run = build.run([], steps=(step,), answer=answer("There are 53 in stock."))
    assert (
        score_of(groundedness.evaluate_groundedness(build.evidence(run)), "groundedness").label is Label.FAIL
    )


def test_numbers_without_any_output_fail_when_everything_failed(build, score_of):
    snippet = build.snippet("flaky(3)", error=build.error("TimeoutError", "504"))
    outcome = score_of(judged(build, [snippet], "3 it is", task="Get 3"), "groundedness")
    assert outcome.label is Label.FAIL
    assert outcome.explanation == "the answer states 3, but no execution returned anything"


def test_owning_up_to_a_failure_is_not_failed(build, score_of):
    snippet = build.snippet("flaky(3)", error=build.error("TimeoutError", "504"))
    outcome = score_of(judged(build, [snippet], "I could not get 3.", task="Get 3"), "groundedness")
    assert (get_state(outcome), outcome.cause) == (State.PASS, None)


def test_a_later_output_overtakes_an_earlier_one_and_the_step_is_named(build, score_of):
    first = build.snippet("print(stock())", observation='{"stock": 18}')
    second = build.snippet("print(stock())", observation='{"stock": 11}')
    found = judged(build, [first, second], "There are 18 in stock.")
    assert score_of(found, "groundedness").label is Label.FAIL
    drift = score_of(found, "drift")
    assert drift.label is Label.FAIL
    assert "step 2" in drift.explanation


def test_prose_is_open(build, score_of):
    snippet = build.snippet("print(page())", observation="A town by the sea with a long history.")
    outcome = score_of(judged(build, [snippet], "It is a lovely place."), "groundedness")
    assert (get_state(outcome), outcome.cause) == (State.OPEN, Cause.VALUE_NOT_CERTAIN)


def test_a_run_without_an_answer_is_skipped_with_the_reason(build, score_of):
    snippet = build.snippet("print(1)", observation="1")
    for fields, words in (
        ({"ending": Ending.MAX_STEPS}, "step limit"),
        ({"hidden": True}, "content is hidden"),
        ({}, "no answer"),
    ):
        outcome = score_of(judged(build, [snippet], None, **fields), "groundedness")
        assert isinstance(outcome, Skipped)
        assert words in outcome.reason


def test_an_answer_without_any_output_is_open(build, score_of):
    outcome = score_of(judged(build, [], "It is 5."), "groundedness")
    assert (get_state(outcome), outcome.cause) == (State.OPEN, Cause.NO_OUTPUT)
    assert outcome.explanation == "no output on the trace to compare the answer with"


def test_a_value_that_no_source_has_is_open_and_the_verdict_says_what_was_checked(build, score_of):
    snippet = build.snippet("print(order())", observation='{"id": "A-17", "units": 3}')
    found = judged(build, [snippet], "Order A-17 has 3 units and costs $12.34.")
    outcome = score_of(found, "groundedness")
    assert (get_state(outcome), outcome.cause, outcome.detail) == (
        State.OPEN, Cause.VALUE_NOT_FOUND, "$12.34",
    )  # fmt: skip
    assert outcome.explanation == (
        "2 of 3 facts agree with the outputs; not read: *costs*; the answer says $12.34;"
        " no source has it or gives it"
    )
    verdicts = [fact.claim.verdict for fact in outcome.evidence if fact.claim is not None]
    assert verdicts == [ClaimVerdict.UNCERTAIN, ClaimVerdict.GROUNDED, ClaimVerdict.GROUNDED]
    assert score_of(found, "context_adherence").value == 2 / 3


def test_the_replay_speaks_where_the_record_is_silent(build, score_of):
    snippet = build.snippet("total()")
    again = build.step(snippet, FailureClass.OK, stdout="", result=45, result_text="45")
    outcome = score_of(judged(build, [snippet], "The total is 54.", replayed=[again]), "groundedness")
    assert isinstance(outcome, Scored)
    assert outcome.label is Label.FAIL
    assert outcome.evidence[0].replayed == "45"


def test_a_replay_that_differs_is_shown_beside_the_record(build, score_of):
    snippet = build.snippet("print(total())", observation="45")
    again = build.step(snippet, agrees=False, difference="stdout: '45' became '54'")
    outcome = score_of(judged(build, [snippet], "The total is 45.", replayed=[again]), "groundedness")
    assert outcome.label is Label.PASS
    assert any(fact.replayed == "stdout: '45' became '54'" for fact in outcome.evidence)


def test_each_output_is_shown_with_the_claims_that_rest_on_it(build, score_of):
    snippets = [
        build.snippet("print(price())", observation='{"unit_price": 39.9}'),
        build.snippet("print(weather())", observation='{"degrees": 17}'),
        build.snippet("print(eta())", observation='{"eta_days": 4}'),
    ]
    said = "The kettle costs $39.90 and arrives in 4 days."
    found = groundedness.evaluate_groundedness(
        build.evidence(build.run(snippets, answer=Payload(said, said)))
    )
    chunks = score_of(found, "chunk_attribution")
    assert (round(chunks.value, 2), chunks.label) == (0.67, None)
    assert [(each.what, each.span_id) for each in chunks.evidence] == [
        ("step 1 bears out '$39.90'", snippets[0].span_id),
        ("step 3 bears out '4 days'", snippets[2].span_id),
    ]


def turn(build, number, source, observation, said):
    """One run of a conversation: each begins after the one before it has ended."""
    snippet = build.snippet(source, observation=observation)
    start = START_NS + number * 1_000_000
    run = build.run([snippet], answer=answer(said), span_id=f"{0xF0 + number:016x}")
    return replace(run, start_ns=start, end_ns=start + 500_000)


def test_an_answer_may_rest_on_what_an_earlier_turn_returned(build, score_of):
    first = turn(build, 1, "print(price())", '{"unit_price": 39.9}', "The kettle costs $39.90.")
    second = turn(build, 2, "print(eta())", '{"eta_days": 4}', "At $39.90 it arrives in 4 days.")
    alone = build.evidence(second)
    assert get_state(score_of(groundedness.evaluate_groundedness(alone), "groundedness")) is State.OPEN
    found = groundedness.evaluate_groundedness(replace(alone, earlier=(first,)))
    assert score_of(found, "groundedness").label is Label.PASS
    assert score_of(found, "chunk_attribution").value == 1.0


def test_drift_over_turns_names_the_turn_and_the_output(build, score_of):
    first = turn(build, 1, "print(stock())", '{"stock": 18}', "There are 18 in stock.")
    second = turn(build, 2, "print(stock() )", '{"stock": 11}', "There are 18 in stock.")
    drift = score_of(
        groundedness.evaluate_groundedness(replace(build.evidence(second), earlier=(first,))), "drift"
    )
    assert drift.label is Label.FAIL
    assert "stock: 11" in drift.explanation
    assert "turn 2, step 1" in drift.explanation


def test_the_runs_start_is_its_clock(build, score_of):
    snippet = build.snippet("print(order())", observation='{"due": "2026-05-30"}')
    noon = int(datetime(2026, 5, 28, 12, tzinfo=UTC).timestamp() * 1e9)
    for said, label in (("It is due in two days.", Label.PASS), ("It is due tomorrow.", Label.FAIL)):
        run = replace(build.run([snippet], answer=answer(said)), start_ns=noon)
        assert (
            score_of(groundedness.evaluate_groundedness(build.evidence(run)), "groundedness").label is label
        )


ROWS = (
    "[(3, 120.5)]",
    "[(3,120.5)]",
    "rows: [(3, 120.5)]",
    "{3: 120.5}",
    '{"3": 120.5}',
    "[Row(3, 120.5)]",
    "3|120.5",
)


@pytest.mark.parametrize("rows", ROWS)
def test_a_number_that_an_output_holds_is_never_called_unknown(build, score_of, rows):
    snippet = build.snippet("print(run_query())", observation=rows)
    outcome = score_of(judged(build, [snippet], "3 orders are open, for 120.5 in all."), "groundedness")
    assert all("no source" not in each.what for each in outcome.evidence), outcome
