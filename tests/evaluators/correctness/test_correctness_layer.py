from __future__ import annotations

from dataclasses import replace

import pytest

from spanproof.evaluators.layers import correctness
from spanproof.evaluators.model import ApiReport, Budget, MissingName, TestReport
from spanproof.sandbox import FailureClass
from spanproof.trace import Cause, Label, Language, Scored, Skipped, State, get_state

DONE = "Execution logs:\nLast output from code snippet:\n1"


def judged(build, snippets, score_of, **evidence):
    run = build.run(snippets)
    return correctness.evaluate_correctness(build.evidence(run, **evidence))


def test_a_run_whose_replay_agrees_passes_and_says_so(build, score_of):
    snippet = build.snippet("1", observation=DONE)
    found = judged(build, [snippet], score_of, replayed=[build.step(snippet, agrees=True)])
    layer = score_of(found, "correctness")
    assert (layer.value, layer.label) == (1.0, Label.PASS)
    assert "replay agrees" in layer.explanation
    assert score_of(found, "replay_agrees", snippet).label is Label.PASS


def test_a_replay_that_differs_from_the_record_fails_and_names_the_difference(build, score_of):
    snippet = build.snippet("1", observation=DONE)
    difference = "the value was recorded '2', replayed '1'"
    step = build.step(snippet, agrees=False, difference=difference, stdout="printed")
    found = judged(build, [snippet], score_of, replayed=[step])
    assert score_of(found, "correctness").label is Label.FAIL
    assert "recorded '2', replayed '1'" in score_of(found, "correctness").explanation
    (fact,) = score_of(found, "correctness").evidence
    assert (fact.recorded, fact.replayed) == (DONE, "printed")


def test_a_failure_that_a_later_snippet_mended_counts_half_and_fails_nothing(build, score_of):
    failing = build.snippet("1 / 0", error=build.error("ZeroDivisionError"))
    working = build.snippet("1", observation=DONE)
    layer = score_of(judged(build, [failing, working], score_of), "correctness")
    assert (layer.value, layer.label) == (0.75, Label.PASS)
    assert "recovered" in layer.explanation


def test_a_failure_that_nothing_mended_fails(build, score_of):
    working = build.snippet("1", observation=DONE)
    failing = build.snippet("1 / 0", error=build.error("ZeroDivisionError"))
    layer = score_of(judged(build, [working, failing], score_of), "correctness")
    assert (layer.value, layer.label) == (0.5, Label.FAIL)


def test_a_later_success_does_not_mend_a_replay_that_differs(build, score_of):
    first, second = build.snippet("1", observation=DONE), build.snippet("2", observation=DONE)
    steps = [build.step(first, agrees=False, difference="d"), build.step(second, agrees=True)]
    found = judged(build, [first, second], score_of, replayed=steps)
    assert score_of(found, "correctness").label is Label.FAIL


def test_source_that_does_not_parse_fails_to_compile_with_its_line(build, score_of):
    snippet = build.snippet("x = 1\nif True print(1)", executed=False)
    found = judged(build, [snippet], score_of)
    outcome = score_of(found, "compiles", snippet)
    assert outcome.label is Label.FAIL
    assert "line 2" in outcome.explanation
    assert score_of(found, "correctness").label is Label.FAIL


def test_source_in_a_dialect_of_python_that_ran_is_not_failed(build, score_of):
    snippet = build.snippet("%pip list\n1", observation=DONE)
    found = judged(build, [snippet], score_of)
    assert isinstance(score_of(found, "compiles", snippet), Skipped)
    assert score_of(found, "correctness").label is Label.PASS


@pytest.mark.parametrize("source", ["x = '\x00'", "x = 1\x00", "(" * 5000, "\ud800", ""])
def test_hostile_source_gets_a_verdict(build, score_of, source):
    snippet = build.snippet(source, executed=False)
    assert isinstance(score_of(judged(build, [snippet], score_of), "compiles", snippet), Scored)


def test_a_cut_snippet_is_skipped_not_failed(build, score_of):
    snippet = build.snippet("x = (1,", truncated=True)
    found = judged(build, [snippet], score_of, unreplayed={snippet.id: "its source is cut on the trace"})
    assert all(isinstance(judgement.outcome, Skipped) for judgement in found)


def test_a_made_up_api_fails_without_running(build, score_of):
    snippet = build.snippet("from itertools import flatten", executed=False)
    report = ApiReport(
        ("itertools", "itertools.flatten"),
        (MissingName("itertools.flatten", 1, False),),
        modules=("itertools",),
    )
    found = judged(build, [snippet], score_of, apis={snippet.id: report})
    outcome = score_of(found, "attributes_exist", snippet)
    assert (outcome.value, outcome.label) == (0.0, Label.FAIL)
    assert "itertools.flatten" in outcome.explanation
    assert score_of(found, "imports_exist", snippet).label is Label.PASS
    assert score_of(found, "correctness").label is Label.FAIL


def test_a_name_that_only_our_runtime_lacks_is_skipped(build, score_of):
    snippet = build.snippet("import numpy as np\nnp.float_", observation=DONE)
    report = ApiReport(("numpy", "numpy.float_"), (MissingName("numpy.float_", 2, False),))
    found = judged(build, [snippet], score_of, apis={snippet.id: report})
    assert isinstance(score_of(found, "attributes_exist", snippet), Skipped)
    assert score_of(found, "correctness").label is Label.PASS


def test_a_package_that_is_not_installed_here_is_skipped(build, score_of):
    snippet = build.snippet("import polars", observation=DONE)
    report = ApiReport(("polars",), (), ("polars",))
    found = judged(build, [snippet], score_of, apis={snippet.id: report})
    assert isinstance(score_of(found, "imports_exist", snippet), Skipped)


def test_a_package_that_neither_runtime_has_fails(build, score_of):
    snippet = build.snippet("import leftpad", error=build.error("ModuleNotFoundError"))
    report = ApiReport(("leftpad",), (), ("leftpad",))
    found = judged(build, [snippet], score_of, apis={snippet.id: report})
    assert score_of(found, "imports_exist", snippet).label is Label.FAIL


def test_no_code_is_skipped_with_the_reason(build, score_of):
    assert (
        "no code"
        in score_of(correctness.evaluate_correctness(build.evidence(build.run([]))), "correctness").reason
    )


def test_hidden_content_is_skipped_with_the_reason(build, score_of):
    found = correctness.evaluate_correctness(build.evidence(build.run([], hidden=True)))
    assert "hidden" in score_of(found, "correctness").reason


def test_documents_are_no_code(build, score_of):
    snippet = build.snippet('{"a": 1', language=Language.JSON, executed=False)
    assert isinstance(score_of(judged(build, [snippet], score_of), "correctness"), Skipped)


def test_another_language_compiles_where_it_ran(build, score_of):
    snippet = build.snippet("ls", language=Language.BASH, observation="a")
    found = judged(build, [snippet], score_of)
    assert score_of(found, "compiles", snippet).label is Label.PASS
    assert isinstance(score_of(found, "imports_exist", snippet), Skipped)


def test_an_executed_step_without_outcome_is_open_and_says_what_is_known(build, score_of):
    snippet = build.snippet("1")
    layer = score_of(judged(build, [snippet], score_of), "correctness")
    assert (get_state(layer), layer.cause) == (State.OPEN, Cause.CODE_NOT_RUN)
    assert layer.explanation == "1 snippet compiles; how the code ended is neither on the trace nor replayed."


def test_a_step_that_ended_in_replay_alone_is_judged_by_it(build, score_of):
    snippet = build.snippet("1 / 0")
    step = build.step(snippet, FailureClass.EXCEPTION)
    assert score_of(judged(build, [snippet], score_of, replayed=[step]), "correctness").label is Label.FAIL


@pytest.mark.parametrize(
    ("wall_s", "allowed_s", "words"),
    [
        (0.00321, 0.0001, "0.00321 s of 0.0001 s allowed"),
        (4.0, 2, "4 s of 2 s allowed"),
        (0.000249, 0.5, "0.000249 s of 0.5 s allowed"),
        (2.00049, 2, "2.0005 s of 2 s allowed"),
        (1234.56, 2000, "1235 s of 2000 s allowed"),
        (2.0, 2, "2 s of 2 s allowed"),
        (0.0, 2, "0 s of 2 s allowed"),
        (2.0000000001, 2, "2 s of 2 s allowed"),
    ],
)
def test_what_a_budget_was_used_up_by_is_given_in_digits_that_count(
    build, score_of, wall_s, allowed_s, words
):
    snippet = build.snippet("1", observation=DONE)
    run = build.run([snippet])
    evidence = build.evidence(run, replayed=[build.step(snippet, wall_s=wall_s)])
    tests = TestReport(budget=Budget(wall_s=allowed_s))
    found = correctness.evaluate_correctness(replace(evidence, tests=tests))
    assert score_of(found, "within_budget").explanation == f"The replay took {words}."
