from __future__ import annotations

from dataclasses import replace

import pytest

from spanproof.evaluators.layers import execution
from spanproof.sandbox import FailureClass
from spanproof.trace import Cause, Executor, Label, RecordedCall, Skipped, Step, ToolCall

DONE = "Execution logs:\nLast output from code snippet:\n1"


def run_of(build, pattern):
    """A run with a snippet per letter: `.` ended well, `x` raised, `?` left nothing on the trace."""
    fields = {".": {"observation": DONE}, "x": {"error": build.error("KeyError")}, "?": {}}
    return build.run([build.snippet(f"step_{at}", **fields[sign]) for at, sign in enumerate(pattern)])


@pytest.mark.parametrize(
    ("pattern", "value", "label"),
    [
        (".", 1.0, Label.PASS),
        ("...", 1.0, Label.PASS),
        (".x.", 2 / 3, Label.PASS),
        ("x.", 0.5, Label.PASS),
        ("xx.", 1 / 3, Label.FAIL),
        ("..x", 2 / 3, Label.FAIL),
        ("x", 0.0, Label.FAIL),
        ("xxxx", 0.0, Label.FAIL),
        ("?.", 1.0, Label.PASS),
    ],
)
def test_the_run_fails_by_its_last_step_by_none_or_by_most(build, score_of, pattern, value, label):
    layer = score_of(execution.evaluate_execution(build.evidence(run_of(build, pattern))), "execution")
    assert (layer.value, layer.label) == (pytest.approx(value), label)


def test_a_step_is_shown_recorded_beside_replayed(build, score_of):
    snippet = build.snippet("1", observation=DONE)
    step = build.step(snippet, FailureClass.EXCEPTION, agrees=False, difference="d")
    found = execution.evaluate_execution(build.evidence(build.run([snippet]), replayed=[step]))
    outcome = score_of(found, "outcome", snippet)
    assert outcome.label is Label.PASS
    assert (outcome.evidence[0].recorded, outcome.evidence[0].replayed) == ("ok", "exception")
    assert score_of(found, "reproduced", snippet).label is Label.FAIL


def test_a_failure_that_replays_is_reproduced(build, score_of):
    snippet = build.snippet("1 / 0", error=build.error("ZeroDivisionError"))
    step = build.step(snippet, FailureClass.EXCEPTION, agrees=True)
    found = execution.evaluate_execution(build.evidence(build.run([snippet]), replayed=[step]))
    assert score_of(found, "reproduced", snippet).label is Label.PASS
    assert score_of(found, "execution").label is Label.FAIL


def test_what_is_not_comparable_is_not_held_against_the_replay(build, score_of):
    snippet = build.snippet("import requests", observation=DONE)
    step = build.step(snippet, FailureClass.MISSING_DEPENDENCY, difference="no such package")
    found = execution.evaluate_execution(build.evidence(build.run([snippet]), replayed=[step]))
    assert isinstance(score_of(found, "reproduced", snippet), Skipped)


def test_without_a_record_the_replay_gives_the_outcome(build, score_of):
    snippet = build.snippet("1 / 0")
    step = build.step(snippet, FailureClass.EXCEPTION)
    found = execution.evaluate_execution(build.evidence(build.run([snippet]), replayed=[step]))
    assert score_of(found, "execution").label is Label.FAIL
    assert isinstance(score_of(found, "reproduced", snippet), Skipped)


def test_without_record_and_replay_nothing_is_judged(build, score_of):
    found = execution.evaluate_execution(build.evidence(run_of(build, "??")))
    verdicts = [judgement for judgement in found if judgement.name != "wall_s"]
    assert len(verdicts) == 5
    assert all(isinstance(judgement.outcome, Skipped) for judgement in verdicts)


def test_the_word_error_in_an_output_is_no_failure(build, score_of):
    snippet = build.snippet("print('Error')", observation="Execution logs:\nError: Traceback KeyError\n")
    assert (
        score_of(execution.evaluate_execution(build.evidence(build.run([snippet]))), "execution").label
        is Label.PASS
    )


def test_a_run_of_tool_calls_is_judged_by_how_they_ended(build, score_of):
    calls = (build.call("price", 1), RecordedCall("refund", error=build.error("TimeoutError")))
    run = replace(build.run([]), steps=(Step(1, "1" * 16, calls=calls),))
    layer = score_of(execution.evaluate_execution(build.evidence(run)), "execution")
    assert (layer.value, layer.label) == (0.5, Label.FAIL)
    assert "refund failed (TimeoutError)" in layer.explanation


def test_a_call_that_never_came_to_be_counts_by_the_error_of_its_step(build, score_of):
    failed = Step(
        1, "1" * 16, requested=(ToolCall("nope", {}),), error=build.error("AgentToolExecutionError")
    )
    worked = Step(2, "2" * 16, calls=(build.call("price", 1),))
    layer = score_of(
        execution.evaluate_execution(build.evidence(build.run([], steps=(failed, worked)))), "execution"
    )
    assert (layer.value, layer.label) == (0.5, Label.PASS)
    assert "nope" in layer.explanation


def test_a_step_whose_call_failed_is_not_counted_twice(build, score_of):
    call = RecordedCall("price", error=build.error("KeyError"))
    steps = (Step(1, "1" * 16, calls=(call,), error=build.error("AgentToolExecutionError")),)
    layer = score_of(execution.evaluate_execution(build.evidence(build.run([], steps=steps))), "execution")
    assert len(layer.evidence) == 1


def test_no_code_and_no_call_is_skipped(build, score_of):
    outcome = score_of(execution.evaluate_execution(build.evidence(build.run([]))), "execution")
    assert outcome == Skipped("no code and no tool call on the trace", Cause.NO_ACTION)


def test_handing_over_the_answer_makes_nothing_of_a_failure_good(build, score_of):
    failed = Step(1, "1" * 16, calls=(RecordedCall("flaky", error=build.error("TimeoutError")),))
    answered = Step(2, "2" * 16, calls=(build.call("final_answer", "3 it is"),))
    layer = score_of(
        execution.evaluate_execution(build.evidence(build.run([], steps=(failed, answered)))), "execution"
    )
    assert (layer.value, layer.label) == (0.0, Label.FAIL)
    assert layer.explanation == "The one tool call failed (TimeoutError)."


def test_an_answer_alone_is_no_execution(build, score_of):
    steps = (Step(1, "1" * 16, calls=(build.call("final_answer", "3 it is"),)),)
    outcome = score_of(execution.evaluate_execution(build.evidence(build.run([], steps=steps))), "execution")
    assert outcome == Skipped("nothing but the handing over of an answer is on the trace", Cause.NO_ACTION)


def test_code_that_is_not_on_the_trace_counts_by_what_it_printed(build, score_of):
    steps = (
        Step(1, "1" * 16, error=build.error("ZeroDivisionError")),
        Step(2, "2" * 16, calls=(build.call("final_answer", "4500"),), observation="Execution logs:\n4500\n"),
    )
    layer = score_of(execution.evaluate_execution(build.evidence(build.run([], steps=steps))), "execution")
    assert (layer.value, layer.label) == (0.5, Label.PASS)
    assert "1 of 2 actions succeeded; step 1 failed (ZeroDivisionError)" in layer.explanation


def test_hidden_content_is_skipped_not_judged_by_what_little_shows(build, score_of):
    steps = (Step(1, "1" * 16, calls=(RecordedCall("price", error=build.error("KeyError")),)),)
    run = build.run([], hidden=True, steps=steps)
    outcome = score_of(execution.evaluate_execution(build.evidence(run)), "execution")
    assert isinstance(outcome, Skipped)
    assert "hidden" in outcome.reason


LOCAL = Executor("local", "3.12")
DOCKER = Executor("docker", None, "agents", "sha256:ab12")


def test_a_change_of_class_is_drift_and_names_both_places(build, score_of):
    snippet = build.snippet("1", observation=DONE, executor=DOCKER)
    step = build.step(snippet, FailureClass.EXCEPTION, agrees=False, difference="d")
    found = score_of(
        execution.evaluate_execution(build.evidence(build.run([snippet]), replayed=[step])),
        "reproduced",
        snippet,
    )
    assert "environment drift, recorded in docker (agents@sha256:ab12), replayed in" in found.explanation
    assert (found.evidence[0].recorded, found.evidence[0].replayed) == ("ok", "exception")


def test_the_same_code_that_ends_otherwise_on_another_executor_is_drift_without_a_verdict(build, score_of):
    first = build.snippet("import torch", observation=DONE, executor=LOCAL)
    second = build.snippet("import torch\n", error=build.error("ModuleNotFoundError"), executor=DOCKER)
    found = execution.evaluate_execution(build.evidence(build.run([first, second])))
    drift = score_of(found, "drift", second)
    assert (drift.value, drift.label) == (0.0, None)
    assert drift.explanation == (
        "Environment drift: ok in local 3.12, missing_dependency in docker (agents@sha256:ab12),"
        " by the same code."
    )
    assert not [each for each in found if each.name == "drift" and each.snippet_id == first.id]


def test_the_same_code_on_the_same_executor_is_no_drift(build):
    first = build.snippet("take()", observation=DONE, executor=LOCAL)
    second = build.snippet("take()", error=build.error("KeyError"), executor=LOCAL)
    found = execution.evaluate_execution(build.evidence(build.run([first, second])))
    assert not [each for each in found if each.name == "drift"]


def test_a_flaky_step_has_no_verdict_and_says_so(build, score_of):
    snippet = build.snippet("random_price()")
    step = replace(
        build.step(
            snippet,
            FailureClass.OK,
            agrees=None,
            difference="flaky: under another seed and clock it printed 'USD 2'",
        ),
        flaky=True,
    )
    evidence = build.evidence(build.run([snippet]), replayed=[step])
    found = execution.evaluate_execution(replace(evidence, replay=replace(evidence.replay, repeated=True)))
    stable = score_of(found, "stable", snippet)
    assert (stable.value, stable.label) == (0.0, None)
    assert stable.explanation == "Flaky: under another seed and clock it printed 'USD 2'."
    outcome = score_of(found, "outcome", snippet)
    assert isinstance(outcome, Skipped)
    assert "flaky" in outcome.reason


def test_a_step_is_stable_where_two_seeds_came_to_the_same(build, score_of):
    snippet = build.snippet("1", observation=DONE)
    step = build.step(snippet, FailureClass.OK, agrees=True)
    evidence = build.evidence(build.run([snippet]), replayed=[step])
    found = execution.evaluate_execution(replace(evidence, replay=replace(evidence.replay, repeated=True)))
    assert score_of(found, "stable", snippet).value == 1.0
