"""No program passes hidden tests that it does not satisfy."""

from __future__ import annotations

import pytest

from spanproof.sandbox import FailureClass, Program, Sandbox

from .conftest import PATIENT
from .forgeries import FORGERIES, RIGHT, TESTS


def find_missing_package(sandbox: Sandbox, kind: str) -> str | None:
    """Return what tests of a kind need and this sandbox lacks."""
    if kind in ("calls", "unittest"):
        return None
    found = sandbox.run(Program("python", f"import {kind}", limits=PATIENT))
    return None if found.failure_class is FailureClass.OK else kind


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
    for name, source in FORGERIES[kind].items():
        forged = sandbox.run(Program("python", source, tests=TESTS[kind], limits=PATIENT))
        if forged.failure_class is FailureClass.OK or forged.tests_passed == forged.tests_total:
            passed.append((name, forged))
    assert not passed


def test_there_are_sixty_forgeries() -> None:
    assert sum(map(len, FORGERIES.values())) >= 60
