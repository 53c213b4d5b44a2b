"""Replays of runs in the real sandbox."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spanproof.evaluators.replay import replay_run
from spanproof.sandbox import FailureClass
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.trace import Language, Payload, RecordedCall

DONE = "Execution logs:\n{logs}Last output from code snippet:\n{output}"


def shown(logs="", output="None"):
    return DONE.format(logs=logs, output=output)


@pytest.fixture
def replayed(build, jail):
    def replay(*snippets, **fields):
        run = build.run(snippets, **fields)
        return replay_run(run, {snippet.id: Scan(Verdict.ALLOW, ()) for snippet in snippets}, jail)

    return replay


def endings(replay):
    return [(step.execution.failure_class, step.agrees) for step in replay.steps]


def test_variables_carry_over_and_the_run_agrees_with_its_record(build, replayed):
    price = build.call("price", {"cents": 4500}, item="hat")
    first = build.snippet(
        "r = price(item='hat')\nprint(r)", observation=shown("{'cents': 4500}\n"), tape=(price,)
    )
    second = build.snippet("r['cents'] / 100", observation=shown(output="45.0"))
    third = build.snippet("final_answer(f\"{r['cents']} cents\")", output=Payload("4500 cents", "4500 cents"))
    assert endings(replayed(first, second, third)) == [(FailureClass.OK, True)] * 3


def test_a_failure_on_record_is_reproduced_and_the_session_goes_on(build, replayed):
    first = build.snippet("x = 1", observation=shown())
    failing = build.snippet("x / 0", error=build.error("ZeroDivisionError"))
    third = build.snippet("print(x)", observation=shown("1\n"))
    assert endings(replayed(first, failing, third)) == [
        (FailureClass.OK, True),
        (FailureClass.EXCEPTION, True),
        (FailureClass.OK, True),
    ]


def test_a_record_that_was_tampered_with_disagrees(build, replayed):
    snippet = build.snippet("print(4500 / 100)", observation=shown("54.0\n"))
    (step,) = replayed(snippet).steps
    assert (step.agrees, step.difference) == (False, "printed recorded '54.0', replayed '45.0'")


def test_a_tool_that_failed_fails_again(build, replayed):
    call = RecordedCall("price", (), {"item": "hat"}, error=build.error("KeyError", "'hat'"))
    snippet = build.snippet("try:\n    price('hat')\nexcept KeyError as e:\n    print('no', e)", tape=(call,))
    snippet = replace(snippet, observation=shown("no 'hat'\n"))
    assert endings(replayed(snippet)) == [(FailureClass.OK, True)]


@pytest.mark.parametrize(("source", "logs"), [("print(x / 100)", "45.0\n"), ("print(x + '!')", "4500!\n")])
def test_of_two_readings_of_a_recorded_result_the_one_that_fits_is_taken(build, replayed, source, logs):
    call = RecordedCall("price", (), {}, Payload("4500", 4500))
    first = build.snippet("x = price()", observation=shown(), tape=(call,))
    second = build.snippet(source, observation=shown(logs))
    assert endings(replayed(first, second)) == [(FailureClass.OK, True)] * 2


def test_a_table_of_which_the_record_holds_the_text_is_no_disagreement(build, replayed):
    call = RecordedCall("load", (), {}, Payload("   a\n0  1", "   a\n0  1"))
    first = build.snippet("df = load()", observation=shown(), tape=(call,))
    second = build.snippet("m = df.mean()\nprint(m)", observation=shown("a    1.0\n"))
    third = build.snippet("print(len('abc'))", observation=shown("4\n"))
    fourth = build.snippet("print(m * 2)", observation=shown("a    2.0\n"))
    replay = replayed(first, second, third, fourth)
    assert [step.agrees for step in replay.steps] == [True, None, False]
    assert "on record as text" in replay.steps[1].difference
    assert "depends on 'm'" in replay.unreplayed[fourth.id]


def test_a_call_the_tape_does_not_know_is_a_divergence_not_a_disagreement(build, replayed):
    snippet = build.snippet("price('coat')", observation=shown(), tape=(build.call("price", 1, item="hat"),))
    (step,) = replayed(snippet).steps
    assert [d.reason for d in step.divergences] == ["unknown_arguments"]
    assert step.agrees is None
    assert "not on the tape" in step.difference


def test_a_tool_the_agent_made_up_fails_as_it_did(build, replayed):
    message = (
        "Code execution failed at line 'refund(3)' due to: InterpreterError: Forbidden function evaluation: "
        "'refund' is not among the explicitly allowed tools"
    )
    snippet = build.snippet("refund(3)", error=build.error("AgentExecutionError", message))
    (step,) = replayed(snippet).steps
    assert (step.execution.raised.type, step.agrees) == ("NameError", True)
    assert step.divergences[0].reason == "unknown_tool"


@pytest.mark.parametrize(
    "source",
    [
        "final_answer(3)",
        "for i in [3]:\n    final_answer(i)",
        "final_answer(answer=3)\nx = 5",
        "if True:\n    final_answer(3)\nx = 5",
    ],
)
def test_the_final_answer_is_the_value_wherever_it_is_given(build, replayed, source):
    snippet = build.snippet(source, output=Payload("3", 3), is_final=True)
    assert endings(replayed(snippet)) == [(FailureClass.OK, True)]
    assert replayed(replace(snippet, output=Payload("4", 4))).steps[0].agrees is False


def test_a_final_answer_may_be_any_object(build, replayed):
    source = "final_answer({1, 2} & {2, 3})\nprint('never')"
    assert endings(replayed(build.snippet(source, output=Payload("{2}", "{2}"), is_final=True))) == [
        (FailureClass.OK, True)
    ]


def test_the_clock_begins_where_the_run_did(build, replayed):
    snippet = build.snippet("import datetime\nprint(datetime.datetime.now(datetime.UTC).date())")
    (step,) = replayed(snippet).steps
    assert step.execution.stdout.strip() == "2026-05-28"


def test_chance_repeats_from_replay_to_replay_and_is_not_held_against_the_record(build, replayed):
    snippet = build.snippet("import random\nprint(random.random())", observation=shown("0.1\n"))
    first, second = (replayed(snippet).steps[0] for _ in range(2))
    assert first.execution.stdout == second.execution.stdout
    assert first.agrees is None
    assert "random.random" in first.difference


def test_a_replay_repeats_to_the_last_digit(build, replayed):
    sources = [
        "import random, uuid, secrets, os\nprint(random.random(), uuid.uuid4())",
        "print(secrets.token_hex(), os.urandom(3))",
        "print({'a', 'b', 'c'}, hash('abc'))",
        "import numpy as np\nprint(np.random.rand(), np.random.default_rng().random())",
        "import datetime\nprint(datetime.datetime.now().replace(minute=0, second=0, microsecond=0))",
    ]
    runs = [
        [step.execution.stdout for step in replayed(*map(build.snippet, sources)).steps] for _ in range(2)
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import nosuchpackage", "package"),
        ("open('sales.csv')", "file"),
        ("print(orders)", "outside the run"),
        ("import socket\nsocket.create_connection(('203.0.113.5', 80))", "withheld"),
    ],
)
def test_what_the_replay_lacks_is_not_held_against_the_record(build, replayed, source, reason):
    (step,) = replayed(build.snippet(source, observation=shown("a\n"))).steps
    assert step.execution.failure_class is not FailureClass.OK
    assert step.agrees is None
    assert reason in step.difference


def test_an_import_the_recorded_executor_refused_is_a_difference_of_executors(build, replayed):
    message = (
        "Code execution failed at line 'import os' due to: InterpreterError: Import of os is not allowed."
    )
    (step,) = replayed(build.snippet("import os", error=build.error("AgentExecutionError", message))).steps
    assert (step.execution.failure_class, step.agrees) == (FailureClass.OK, None)
    assert "refused by its own list" in step.difference


def test_a_tool_that_keeps_no_state_is_not_held_against_its_record(build, replayed):
    first = build.snippet("x = 1", observation=shown())
    second = build.snippet("print(x)", error=build.error("NameError", "name 'x' is not defined"))
    assert replayed(first, second).steps[1].agrees is None


def test_functions_the_recorded_interpreter_had_built_in_are_there(build, replayed):
    assert endings(replayed(build.snippet("sqrt(16)", observation=shown(output="4.0")))) == [
        (FailureClass.OK, True)
    ]


def test_a_cut_snippet_and_those_that_need_it_are_left_out_with_the_reason(build, replayed):
    cut = build.snippet("rows = [1, 2,", truncated=True)
    needs = build.snippet("total = sum(rows)", observation=shown())
    needs_that = build.snippet("print(total)", observation=shown("3\n"))
    free = build.snippet("print(1 + 1)", observation=shown("2\n"))
    replay = replayed(cut, needs, needs_that, free)
    assert [step.snippet.id for step in replay.steps] == [free.id]
    assert replay.unreplayed[cut.id] == "its source is cut on the trace"
    assert "depends on 'rows'" in replay.unreplayed[needs.id]
    assert "depends on 'total'" in replay.unreplayed[needs_that.id]


def test_a_name_the_cut_part_may_define_is_not_called_an_error(build, replayed):
    cut = build.snippet("rows = [1, 2,", truncated=True)
    needs = build.snippet("print(later)", observation=shown("3\n"))
    assert "may define" in replayed(cut, needs).unreplayed[needs.id]


def test_a_snippet_whose_tool_result_is_hidden_is_left_out(build, replayed):
    call = RecordedCall("price", (), {}, replayable=False, reason="result is hidden")
    snippet = build.snippet("price()", observation=shown(), tape=(call,))
    assert "result is hidden" in replayed(snippet).unreplayed[snippet.id]


def test_a_snippet_that_was_not_scanned_never_runs(build, jail):
    snippet = build.snippet("print(1)")
    replay = replay_run(build.run([snippet]), {}, jail)
    assert (replay.steps, replay.unreplayed[snippet.id]) == ((), "it was not scanned")


def test_a_denied_snippet_is_replayed_for_what_it_attempts(build, jail):
    snippet = build.snippet("open('/etc/shadow')")
    (step,) = replay_run(build.run([snippet]), {snippet.id: build.scan(Verdict.DENY)}, jail).steps
    assert any(attempt.target == "/etc/shadow" and not attempt.allowed for attempt in step.execution.attempts)


def test_proposed_snippets_and_documents_do_not_run(build, replayed):
    proposed = build.snippet("print(1)", executed=False)
    document = build.snippet("{}", language=Language.JSON)
    sql = build.snippet("SELECT 1", language=Language.SQL)
    replay = replayed(proposed, document, sql)
    assert replay.steps == ()
    assert replay.unreplayed.keys() == {document.id, sql.id}


def test_another_language_runs_by_itself(build, replayed):
    bash = build.snippet("echo $((6 * 7))", language=Language.BASH, observation="42\n")
    other = build.snippet("cat no-such-file", language=Language.BASH, observation="hello\n")
    assert endings(replayed(bash, other)) == [(FailureClass.OK, True), (FailureClass.EXCEPTION, None)]


@pytest.mark.parametrize("ending", ["os.abort()", "os._exit(0)", "os._exit(3)"])
def test_a_step_that_ends_the_session_does_not_take_the_state_before_it_along(build, replayed, ending):
    price = build.call("price", 4500, item="hat")
    first = build.snippet("x = price(item='hat')", observation=shown(), tape=(price,))
    dying = build.snippet(f"import os\n{ending}", error=build.error("SystemExit"))
    third = build.snippet("print(x)", observation=shown("4500\n"))
    steps = replayed(first, dying, third).steps
    assert (steps[2].execution.failure_class, steps[2].agrees) == (FailureClass.OK, True)
    assert steps[2].divergences == ()


@pytest.mark.parametrize(
    ("ending", "words"),
    [("os.abort()", "its replay ended in killed"), ("os._exit(0)", "its replay ended the interpreter")],
)
def test_what_a_stopped_step_would_have_bound_is_reported_as_missing(build, replayed, ending, words):
    dying = build.snippet(f"import os\ny = 1\n{ending}", observation=shown())
    needs = build.snippet("print(y)", observation=shown("1\n"))
    replay = replayed(dying, needs)
    assert words in replay.unreplayed[needs.id]


def test_a_step_that_was_stopped_proves_nothing(build, replayed):
    dying = build.snippet("import os\nos.abort()", observation=shown())
    assert replayed(dying).steps[0].agrees is None


def test_a_step_that_raised_a_memory_error_leaves_the_state_before_it_and_its_own(build, replayed):
    failed = build.snippet("x = 41\ny = [0] * 10 ** 10", error=build.error("MemoryError"))
    then = build.snippet("print(x + 1)", observation=shown("42\n"))
    steps = replayed(failed, then).steps
    assert [(step.execution.failure_class, step.agrees) for step in steps] == [
        (FailureClass.OUT_OF_MEMORY, True),
        (FailureClass.OK, True),
    ]


def test_a_run_without_executed_code_starts_nothing(build, replayed):
    assert replayed().steps == ()
