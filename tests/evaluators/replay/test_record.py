from __future__ import annotations

import pytest

from spanproof.evaluators.replay.record import classify_recorded_error, find_raised_type, read_record
from spanproof.sandbox import FailureClass
from spanproof.trace import Language, Payload, SpanError

RAISED = "Code execution failed at line 'x = {source}' due to: {what}"


def wrapped(what, *, source="1"):
    return SpanError("AgentExecutionError", RAISED.format(source=source, what=what))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (None, FailureClass.OK),
        (SpanError("ZeroDivisionError", "division by zero"), FailureClass.EXCEPTION),
        (SpanError("SyntaxError", "invalid syntax"), FailureClass.SYNTAX_ERROR),
        (SpanError("builtins.AssertionError", ""), FailureClass.ASSERTION_FAILURE),
        (SpanError("ModuleNotFoundError", "No module named 'x'"), FailureClass.MISSING_DEPENDENCY),
        (SpanError("ImportError", "cannot import name 'flatten'"), FailureClass.EXCEPTION),
        (
            SpanError("ImportError", "Missing optional dependency 'openpyxl'."),
            FailureClass.MISSING_DEPENDENCY,
        ),
        (SpanError("TimeoutError", ""), FailureClass.TIMEOUT),
        (SpanError("MemoryError", ""), FailureClass.OUT_OF_MEMORY),
        (SpanError("PermissionError", "/etc/shadow"), FailureClass.PERMISSION_DENIED),
        (SpanError(None, "something went wrong"), FailureClass.EXCEPTION),
        (
            SpanError("AgentExecutionError", "…", ("AgentExecutionError", "InterpreterError", "MemoryError")),
            FailureClass.OUT_OF_MEMORY,
        ),
        (SpanError("AgentExecutionError", "…", ("ExecutionTimeoutError",)), FailureClass.TIMEOUT),
        (wrapped("ZeroDivisionError: division by zero"), FailureClass.EXCEPTION),
        (wrapped("AssertionError: no"), FailureClass.ASSERTION_FAILURE),
        (
            SpanError("AgentExecutionError", "Code parsing failed on line 1 due to: SyntaxError: invalid"),
            FailureClass.SYNTAX_ERROR,
        ),
        (
            wrapped("InterpreterError: Import of os is not allowed. Authorized imports are: ['math']"),
            FailureClass.PERMISSION_DENIED,
        ),
        (wrapped("InterpreterError: Forbidden access to module: os"), FailureClass.PERMISSION_DENIED),
        (
            wrapped("InterpreterError: Forbidden function evaluation: 'open' is not among the explicitly …"),
            FailureClass.PERMISSION_DENIED,
        ),
        (
            wrapped(
                "InterpreterError: Forbidden function evaluation: 'my_tool' is not among the explicitly …"
            ),
            FailureClass.EXCEPTION,
        ),
    ],
)
def test_the_class_comes_from_type_chain_and_the_frameworks_fixed_forms(error, expected):
    assert classify_recorded_error(error) is expected


E2B = "printed before\nExecuting code yielded an error:\n{type}\ndivision by zero\nTraceback …"
JUPYTER = (
    "\x1b[0;31m---------------------------------------------------------------------------\x1b[0m\n"
    "\x1b[0;31m{type}\x1b[0m                         Traceback (most recent call last)\n"
    "Cell \x1b[0;32mIn[1], line 1\x1b[0m\n----> 1 x\n\n\x1b[0;31m{type}\x1b[0m: the message"
)


@pytest.mark.parametrize("form", [E2B, JUPYTER])
@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        ("ZeroDivisionError", FailureClass.EXCEPTION),
        ("ModuleNotFoundError", FailureClass.MISSING_DEPENDENCY),
        ("AssertionError", FailureClass.ASSERTION_FAILURE),
    ],
)
def test_errors_handed_on_by_remote_executors_are_read_by_their_form(form, raised, expected):
    error = SpanError("AgentError", form.format(type=raised))
    assert classify_recorded_error(error) is expected
    assert find_raised_type(error) == raised


def test_a_syntax_error_out_of_jupyter_is_one():
    shown = "\x1b[0;31mSyntaxError\x1b[0m: invalid syntax"
    message = f"  Cell \x1b[0;32mIn[1], line 1\x1b[0m\n    1 +\n       ^\n{shown}"
    assert classify_recorded_error(SpanError("AgentError", message)) is FailureClass.SYNTAX_ERROR


def test_words_in_the_message_of_an_ordinary_exception_do_not_change_its_class():
    shown = "Import of os is not allowed, MemoryError, SyntaxError, TimeoutError"
    assert classify_recorded_error(SpanError("ValueError", shown)) is FailureClass.EXCEPTION
    assert classify_recorded_error(wrapped(f"ValueError: {shown}")) is FailureClass.EXCEPTION


def test_the_raised_type_is_read_through_the_frameworks_wrappers():
    chain = ("AgentExecutionError", "InterpreterError", "ZeroDivisionError")
    assert find_raised_type(SpanError("AgentExecutionError", "…", chain)) == "ZeroDivisionError"
    assert find_raised_type(wrapped("KeyError: 'a'")) == "KeyError"
    assert find_raised_type(SpanError(None, "lost")) is None


def test_nothing_on_the_trace_means_no_class(build):
    assert read_record(build.snippet("1")).failure_class is None


def test_an_observation_in_the_frameworks_form_is_split_into_prints_and_value(build):
    shown = "Execution logs:\na\nb\nLast output from code snippet:\n45.0"
    record = read_record(build.snippet("…", observation=shown))
    assert (record.stdout, record.output.text, record.shown) == ("a\nb\n", "45.0", None)


def test_an_observation_without_prints_is_split_too(build):
    record = read_record(
        build.snippet("…", observation="Execution logs:\nLast output from code snippet:\nNone")
    )
    assert (record.stdout, record.output.text) == ("", "None")


def test_any_other_observation_is_what_the_agent_was_shown(build):
    record = read_record(build.snippet("…", observation="45.0\n"))
    assert (record.stdout, record.output, record.shown) == (None, None, "45.0\n")


def test_the_prints_of_a_step_that_did_not_parse_are_not_its_own(build):
    error = build.error("AgentExecutionError", "Code parsing failed on line 1 due to: SyntaxError: invalid")
    record = read_record(build.snippet("1 +", observation="Execution logs:\nfrom before", error=error))
    assert (record.failure_class, record.stdout) == (FailureClass.SYNTAX_ERROR, None)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"stdout": "Error: no", "exit_code": 0}, FailureClass.OK),
        ({"stdout": "fine", "exit_code": 2}, FailureClass.EXCEPTION),
        ({"returncode": -9}, FailureClass.KILLED),
        ({"stdout": "Error"}, FailureClass.OK),
        ({"exit_code": "1"}, FailureClass.OK),
        ("exit_code: 1", FailureClass.OK),
    ],
)
def test_a_program_s_exit_status_says_how_it_ended_and_its_words_do_not(build, given, expected):
    snippet = build.snippet("make", language=Language.BASH, output=Payload(str(given), given))
    assert read_record(snippet).failure_class is expected
    python = build.snippet("run()", output=Payload(str(given), given))
    assert (
        read_record(python).failure_class is FailureClass.OK
    )  # a value of the code's own, whatever its keys


def test_causes_behind_the_exception_are_the_code_s_own_business():
    """`try: … except KeyError: raise ValueError` ends in ValueError, as its replay does."""
    chain = ("AgentExecutionError", "InterpreterError", "ValueError", "TimeoutError")
    assert find_raised_type(SpanError("ValueError", "…", chain)) == "ValueError"
    assert classify_recorded_error(SpanError("ValueError", "…", chain)) is FailureClass.EXCEPTION
    assert find_raised_type(SpanError("ValueError", "bad", ("ValueError", "KeyError"))) == "ValueError"


def test_what_the_recorded_interpreter_refused_in_a_handler_is_its_refusal(build):
    """Behind it is the exception that was being handled."""
    error = SpanError(
        "RateLimited",
        "Code execution failed at line 'x' due to: InterpreterError: Forbidden access to dunder attribute: "
        "__name__",
        ("AgentExecutionError", "InterpreterError", "InterpreterError", "RateLimited"),
    )
    record = read_record(build.snippet("try:\n    x\nexcept Exception as e:\n    x", error=error))
    assert record.refused_by_executor


@pytest.mark.parametrize(
    ("source", "own"), [("try:\n    d['a']\nexcept KeyError:\n    pass", True), ("d['a']", False)]
)
def test_an_error_of_the_interpreter_s_own_counts_as_such_where_code_catches(build, source, own):
    error = SpanError(
        "KeyError",
        f"Code execution failed at line '{source}' due to: InterpreterError: Could not index {{}} with 'a'",
        ("AgentExecutionError", "InterpreterError", "InterpreterError", "KeyError"),
    )
    assert read_record(build.snippet(source, error=error)).interpreter_only is own
