"""A stored run that is changed and run again: its verdicts are about what it would have been."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.runs import list_runs
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.suites import SuiteError
from spanproof.suites.what_if import Alteration, build_altered_trace, evaluate_altered
from spanproof.trace import Layer, Payload, State, ToolCall, get_state, trace_of

from .conftest import misquote


@pytest.fixture(scope="module")
def judge():
    """Return a function that judges the misquoting run as it is changed, in a real sandbox."""
    trace = misquote()
    (run,) = list_runs(trace, list_snippets(trace))
    with open_sandbox("jail", workers=1) as sandbox:
        engine = Engine(pipeline=Pipeline(), sandbox=sandbox)
        yield lambda sources=None, results=None: evaluate_altered(
            engine,
            trace,
            run,
            Alteration(
                {run.snippets[number].id: code for number, code in (sources or {}).items()}, results or {}
            ),
        )


def test_an_unchanged_run_keeps_its_verdicts(judge):
    found = judge()
    assert found.run.answer.text == "A box of tea costs $54.00."
    assert get_state(found.layers[Layer.GROUNDEDNESS]) is State.FAIL
    assert get_state(found.layers[Layer.CORRECTNESS]) is State.PASS


def test_another_result_of_a_tool_bears_the_answer_out(judge):
    found = judge(results={0: 5400})
    assert found.run.snippets[0].logs == "5400\n"
    assert get_state(found.layers[Layer.GROUNDEDNESS]) is State.PASS


def test_other_code_gives_another_answer(judge):
    found = judge(sources={1: "final_answer(f'A box of tea costs ${cents / 100:.2f}.')"})
    assert found.run.answer.text == "A box of tea costs $45.00."
    assert get_state(found.layers[Layer.GROUNDEDNESS]) is State.PASS


def test_code_that_fails_now_is_judged_as_failed(judge):
    found = judge(sources={0: "raise ValueError('no price')"})
    assert found.run.snippets[0].error.type == "ValueError"
    assert get_state(found.layers[Layer.EXECUTION]) is State.FAIL


def test_a_changed_run_is_a_trace_of_its_own(judge):
    trace = misquote()
    (run,) = list_runs(trace, list_snippets(trace))
    code = "final_answer(f'A box of tea costs ${cents / 100:.2f}.')"
    altered = build_altered_trace(
        trace, judge(sources={1: code}).run, change := Alteration({run.snippets[1].id: code})
    )
    (again,) = list_runs(altered, list_snippets(altered))
    assert (again.answer.text, again.snippets[1].source) == ("A box of tea costs $45.00.", code)
    assert altered.trace_id != trace.trace_id
    same = build_altered_trace(trace, judge(sources={1: code}).run, change)
    assert same.trace_id == altered.trace_id


def test_the_recorded_call_that_ended_the_run_has_the_new_answer():
    trace = misquote()
    answer, (root, step, call, last) = "A box of tea costs $54.00.", trace.spans
    ending = replace(
        call,
        span_id="e" * 16,
        parent_id=last.span_id,
        name="final_answer",
        start_ns=last.start_ns + 1,
        end_ns=last.start_ns + 2,
        tool=ToolCall("final_answer", {"args": [answer], "kwargs": {}}),
        input=Payload(answer, answer),
        output=Payload(answer, answer),
    )
    trace = trace_of([root, step, call, last, ending])
    (run,) = list_runs(trace, list_snippets(trace))
    assert run.steps[1].calls[0].result.text == answer
    code = "final_answer(f'A box of tea costs ${cents / 100:.2f}.')"
    change = Alteration({run.snippets[1].id: code})
    with open_sandbox("jail", workers=1) as sandbox:
        judged = evaluate_altered(Engine(pipeline=Pipeline(), sandbox=sandbox), trace, run, change)
    altered = build_altered_trace(trace, judged.run, change)
    (again,) = list_runs(altered, list_snippets(altered))
    for found in (judged.run, again):
        (ended,) = found.steps[1].calls
        assert (found.answer.text, ended.result.text) == ("A box of tea costs $45.00.",) * 2
        assert ended.args == ("A box of tea costs $45.00.",)


def test_what_the_run_does_not_have_is_refused(judge):
    with pytest.raises(SuiteError, match="1 tool calls, none of number 7"):
        judge(results={7: 1})
