"""Errors as frameworks word them: the cause is named and compared, not the wrapping."""

from __future__ import annotations

import pytest

from spanproof.reading.error_causes import compute_signature, describe_cause

DIVISION = "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (DIVISION, DIVISION),
        (f"Traceback (most recent call last):\n  File 'x', line 3\n{DIVISION}", DIVISION),
        (
            f"AgentExecutionError: Code execution failed at line 'avg = r['n'] / len(x)' due to: {DIVISION}",
            f"{DIVISION}, at `avg = r['n'] / len(x)`",
        ),
        (
            (
                "AgentToolExecutionError: Error executing tool 'flaky' with arguments {'x': 3}: TimeoutError:"
                " upstream 504 for x=3\nPlease try again or use another tool"
            ),
            "TimeoutError: upstream 504 for x=3",
        ),
        ("AgentToolExecutionError: Unknown tool nope.", "Unknown tool nope."),
        (
            "error: Error running tool (non-fatal): {'tool_name': 'run', 'error': 'Tool execution failed.'}",
            "Tool execution failed.",
        ),
        (f"error: Error running tool (non-fatal): {DIVISION}", DIVISION),
        ("", "no message"),
    ],
)
def test_the_cause_is_named_without_the_frameworks_words(text, words):
    assert describe_cause(text) == words


def test_a_long_cause_is_cut_and_marked():
    assert describe_cause(f"ValueError: {'x' * 5_000}").endswith("…")


def test_two_causes_in_one_wrapping_are_two():
    wrapped = "Error executing tool '{}' with arguments {{}}: {}\nPlease try again or use another tool"
    one = compute_signature(wrapped.format("a", "TimeoutError: no reply after 10 s"))
    assert one == compute_signature(wrapped.format("b", "TimeoutError: no reply after 20 s"))
    assert one != compute_signature(wrapped.format("a", "KeyError: 'price'"))
