"""What of the contract applies to machines of E2B; the contract's own tests run them on the loopback."""

from __future__ import annotations

import os

import pytest

from spanproof.sandbox.backends.e2b import E2BSandbox
from spanproof.sandbox.backends.self_check.promises import PROMISES, evaluate_promise
from spanproof.sandbox.backends.self_check.quiet import QUIET


def test_only_promises_about_attempts_do_not_apply() -> None:
    without = {
        promise.name for promise in PROMISES if promise.needs and promise.needs not in E2BSandbox.evidence
    }
    assert without == {
        "class permission_denied 8",
        "class unsafe_operation 9",
        "network",
        "outside files",
        *(one.name for one in QUIET),
    }


@pytest.mark.skipif(
    "E2B_API_KEY" not in os.environ, reason="E2B_API_KEY is not set: no real service is asked"
)
def test_each_promise_is_kept_by_the_real_service() -> None:
    with E2BSandbox(workers=4) as real:
        findings = [evaluate_promise(promise, real) for promise in PROMISES]
    assert [finding for finding in findings if finding.outcome == "broken"] == []
