"""No program passes hidden tests that it does not satisfy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from spanproof.sandbox import FailureClass, Program, Sandbox
from spanproof.sandbox.errors import UnsupportedLanguage

from . import javascript_forgeries
from .conftest import PATIENT
from .forgeries import FORGERIES, RIGHT, TESTS

# These backends have the guest of `e2b`, where every forgery runs: of each kind they run every fifth.
GUEST_OF_E2B = ("kubernetes", "daytona", "modal")
EVERY = 5


def select_forgeries(sandbox: Sandbox, forgeries: Mapping[str, str]) -> Mapping[str, str]:
    """Return the forgeries that a backend is tried with."""
    step = EVERY if sandbox.name in GUEST_OF_E2B else 1
    return dict(list(forgeries.items())[::step])


def find_missing_package(sandbox: Sandbox, kind: str) -> str | None:
    """Return what tests of a kind need and this sandbox lacks."""
    if kind in ("calls", "unittest"):
        return None
    found = sandbox.run(Program("python", f"import {kind}", limits=PATIENT))
    return None if found.failure_class is FailureClass.OK else kind


def skip_without_javascript(sandbox: Sandbox) -> None:
    """Skip where a backend, or the image of its containers, has no Node.js."""
    try:
        sandbox.run(Program("javascript", "", limits=PATIENT))
    except UnsupportedLanguage:
        pytest.skip(f"{sandbox.name} runs no JavaScript")


@pytest.mark.parametrize("kind", TESTS)
def test_a_right_program_passes_apart_and_no_forgery_does(sandbox: Sandbox, kind: str) -> None:
    missing = find_missing_package(sandbox, kind)
    if missing is not None:
        pytest.skip(f"{sandbox.name} has no {missing}")
    execution = sandbox.run(Program("python", RIGHT, tests=TESTS[kind], limits=PATIENT))
    assert execution.failure_class is FailureClass.OK, execution
    assert execution.tests_passed == execution.tests_total == len(execution.tests_names)
    assert execution.tests_apart is True
    passed = []
    for name, source in select_forgeries(sandbox, FORGERIES[kind]).items():
        forged = sandbox.run(Program("python", source, tests=TESTS[kind], limits=PATIENT))
        if forged.failure_class is FailureClass.OK or forged.tests_passed == forged.tests_total:
            passed.append((name, forged))
    assert not passed


def test_there_are_sixty_forgeries() -> None:
    assert sum(map(len, FORGERIES.values())) >= 60


def test_no_forgery_in_javascript_passes(sandbox: Sandbox) -> None:
    skip_without_javascript(sandbox)
    program = Program(
        "javascript", javascript_forgeries.RIGHT, tests=javascript_forgeries.TESTS, limits=PATIENT
    )
    execution = sandbox.run(program)
    assert execution.failure_class is FailureClass.OK, execution
    assert (execution.tests_passed, execution.tests_total, execution.tests_apart) == (5, 5, True)
    assert execution.tests_names[3:] == ("refuses null", "comes later")
    passed = {}
    for name, source in select_forgeries(sandbox, javascript_forgeries.FORGERIES).items():
        forged = sandbox.run(replace(program, source=source))
        takes_part = forged.tests_apart is False
        if forged.failure_class is FailureClass.OK or forged.tests_passed == forged.tests_total or takes_part:
            passed[name] = forged
    assert not passed


def test_there_are_twenty_forgeries_in_javascript() -> None:
    assert len(javascript_forgeries.FORGERIES) >= 20


@pytest.mark.parametrize(
    "tests",
    [
        "console.assert(f((x) => x + 1) === 2)",
        "console.assert(new f().x === undefined)",
        "import assert from 'node:assert';\nassert.ok(f((x) => x + 1))",
    ],
)
def test_tests_that_hand_over_functions_share_the_interpreter_and_say_so(
    sandbox: Sandbox, tests: str
) -> None:
    skip_without_javascript(sandbox)
    right = "function f(g) { return g ? g(1) : undefined; }"
    execution = sandbox.run(Program("javascript", right, tests=tests, limits=PATIENT))
    assert (execution.failure_class, execution.tests_apart) == (FailureClass.OK, False), execution
    wrong = sandbox.run(Program("javascript", "function f(g) { throw g; }", tests=tests, limits=PATIENT))
    assert wrong.failure_class is not FailureClass.OK


@pytest.mark.parametrize(
    ("tests", "reason"),
    [
        ("expect(f(1)).toBe(2)", "node:assert"),
        ("const x = 1;", "no assertion"),
        ("const assert = require('chai');\nassert(f(1))", "lacks"),
        ("const a = ;", "cannot be read"),
    ],
)
def test_javascript_tests_that_do_not_run_say_why(sandbox: Sandbox, tests: str, reason: str) -> None:
    skip_without_javascript(sandbox)
    execution = sandbox.run(Program("javascript", "function f(x) { return 2; }", tests=tests, limits=PATIENT))
    assert execution.failure_class is FailureClass.TESTS_NOT_RUN, execution
    assert reason in (execution.reason or "")
