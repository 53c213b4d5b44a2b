# ruff: noqa: E501 - programs and rows keep their lines
"""Failure classes come from facts; a header of any content gives an `Execution`."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanproof.sandbox import Execution, FailureClass, Limits
from spanproof.sandbox.guest.outcome import build_execution
from spanproof.sandbox.guest.wire import Header

LIMITS = Limits()
FAILED, WELL = 1 << 8, 0


def class_of(*, language: str = "python", **header: object) -> FailureClass:
    return build_execution(header, [b"", b""], LIMITS, language=language).failure_class


def test_a_file_that_lies_nowhere_has_not_been_refused() -> None:
    header = {"status": FAILED, "attempts": [["file", "/a", False]], "missing": ["/a"]}

    def found(language: str, may_exist: bool, **more: object) -> FailureClass:
        given = {**header, **more}
        return build_execution(
            given, [b"", b""], LIMITS, language=language, may_exist=lambda _path: may_exist
        ).failure_class

    report = {"outcome": "raised", "raised": raised(os=True, path="/a")}
    assert (
        found("bash", may_exist=False) is found("python", may_exist=False, **report) is FailureClass.EXCEPTION
    )
    refused = FailureClass.PERMISSION_DENIED
    assert found("bash", may_exist=True) is found("python", may_exist=True, **report) is refused
    others = [["file", "/a", False], ["file", "/b", False]]
    assert found("bash", may_exist=False, attempts=others) is refused
    assert (
        found("bash", may_exist=False, missing="/a") is found("bash", may_exist=False, missing=[1]) is refused
    )


def raised(**flags: object) -> dict[str, object]:
    return {"type": "X", "message": "", **flags}


REFUSED_FILE = [["file", "/etc/shadow", False]]
REFUSED_CALL = [["privilege", "mount", False]]
REFUSED_NETWORK = [["network", "8.8.8.8:53", False]]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ({"status": WELL, "outcome": "finished"}, FailureClass.OK),
        ({"status": WELL, "outcome": "raised", "raised": raised(os=True)}, FailureClass.OK),
        ({"status": FAILED, "outcome": "raised", "raised": raised()}, FailureClass.EXCEPTION),
        ({"status": FAILED}, FailureClass.EXCEPTION),
        ({"status": FAILED, "outcome": "syntax"}, FailureClass.SYNTAX_ERROR),
        (
            {"status": FAILED, "outcome": "raised", "raised": raised(assertion=True)},
            FailureClass.ASSERTION_FAILURE,
        ),
        (
            {"status": FAILED, "outcome": "raised", "raised": raised(missing=True)},
            FailureClass.MISSING_DEPENDENCY,
        ),
        (
            {"status": FAILED, "outcome": "raised", "raised": raised(os=True, permission=True)},
            FailureClass.EXCEPTION,
        ),
        (
            {
                "status": FAILED,
                "outcome": "raised",
                "raised": raised(os=True, permission=True),
                "attempts": REFUSED_FILE,
            },
            FailureClass.PERMISSION_DENIED,
        ),
        (
            {
                "status": FAILED,
                "outcome": "raised",
                "raised": raised(os=True, path="/etc/shadow"),
                "attempts": REFUSED_FILE,
            },
            FailureClass.PERMISSION_DENIED,
        ),
        (
            {
                "status": FAILED,
                "outcome": "raised",
                "raised": raised(os=True, path="/box/work/x"),
                "attempts": REFUSED_FILE,
            },
            FailureClass.EXCEPTION,
        ),
        (
            {"status": FAILED, "outcome": "raised", "raised": raised(os=True), "attempts": REFUSED_NETWORK},
            FailureClass.PERMISSION_DENIED,
        ),
        (
            {"status": FAILED, "outcome": "raised", "raised": raised(), "attempts": REFUSED_NETWORK},
            FailureClass.EXCEPTION,
        ),
        (
            {"status": FAILED, "outcome": "raised", "raised": raised(os=True), "attempts": REFUSED_CALL},
            FailureClass.UNSAFE_OPERATION,
        ),
        ({"status": FAILED, "outcome": "raised", "raised": raised(memory=True)}, FailureClass.EXCEPTION),
        (
            {"status": FAILED, "outcome": "raised", "raised": raised(memory=True), "memory_refused": 10**12},
            FailureClass.OUT_OF_MEMORY,
        ),
        (
            {
                "status": FAILED,
                "outcome": "raised",
                "raised": raised(memory=True),
                "peak": LIMITS.memory_bytes,
            },
            FailureClass.OUT_OF_MEMORY,
        ),
        ({"status": int(signal.SIGKILL), "oom_killed": True}, FailureClass.OUT_OF_MEMORY),
        ({"status": int(signal.SIGKILL), "stopped": "memory"}, FailureClass.OUT_OF_MEMORY),
        ({"status": int(signal.SIGKILL), "stopped": "timeout"}, FailureClass.TIMEOUT),
        ({"status": int(signal.SIGKILL), "stopped": "output"}, FailureClass.OUTPUT_LIMIT),
        ({"status": int(signal.SIGXCPU), "cpu_s": LIMITS.cpu_s}, FailureClass.TIMEOUT),
        ({"status": int(signal.SIGXCPU), "cpu_s": 0.1}, FailureClass.KILLED),
        ({"status": int(signal.SIGSEGV)}, FailureClass.KILLED),
        ({"status": int(signal.SIGSEGV), "attempts": REFUSED_CALL}, FailureClass.UNSAFE_OPERATION),
        ({"status": WELL, "tests_total": 3, "tests_passed": 3}, FailureClass.OK),
        ({"status": WELL, "tests_total": 3, "tests_passed": 1}, FailureClass.ASSERTION_FAILURE),
    ],
)
def test_facts_give_the_class(header: Header, expected: FailureClass) -> None:
    assert class_of(**header) is expected


def test_a_script_s_code_shows_a_missing_command() -> None:
    assert class_of(language="bash", status=127 << 8) is FailureClass.MISSING_DEPENDENCY
    assert class_of(language="bash", status=1 << 8, attempts=REFUSED_FILE) is FailureClass.PERMISSION_DENIED


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "stopped", "status", "oom_killed", "memory_refused", "peak", "cpu_s", "wall_s", "attempts", "outcome", "raised",
    "tests_passed", "tests_total", "files", "text", "result", "out_cut",
]  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(FIELDS), anything), st.lists(st.binary(max_size=20), max_size=3))
def test_any_header_gives_an_execution(header: Header, parts: list[bytes]) -> None:
    execution = build_execution(header, parts, LIMITS)
    assert isinstance(execution, Execution)
    assert execution.tests_total is None or (execution.tests_passed or 0) <= execution.tests_total
