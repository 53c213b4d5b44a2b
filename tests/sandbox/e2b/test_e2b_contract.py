"""Every promise of a backend, kept on machines of E2B: the loopback's, and real ones where there is a key."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from spanproof.sandbox import Sandbox
from spanproof.sandbox.backends.promises import PROMISES, Promise, check_one
from spanproof.sandbox.registry import open_sandbox

from .loopback import Loopback

_REAL_KEY = os.environ.get("E2B_API_KEY")
_NOT_TOLD = {"class permission_denied 8", "class unsafe_operation 9", "network", "outside files"}


@pytest.fixture(scope="module")
def sandbox(served: tuple[Loopback, dict[str, str]]) -> Iterator[Sandbox]:
    with open_sandbox("e2b", workers=4, settings=served[1]) as opened:
        yield opened
    assert served[0].live == []


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_each_promise_is_kept(sandbox: Sandbox, promise: Promise) -> None:
    finding = check_one(promise, sandbox)
    wanted = "not_applicable" if promise.name in _NOT_TOLD else "kept"
    assert finding.outcome == wanted, finding.detail


@pytest.mark.skipif(_REAL_KEY is None, reason="E2B_API_KEY is not set: the real service is not asked")
def test_each_promise_is_kept_by_the_real_service(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _REAL_KEY is not None
    monkeypatch.setenv("E2B_API_KEY", _REAL_KEY)
    with open_sandbox("e2b", workers=4) as real:
        findings = [check_one(promise, real) for promise in PROMISES]
    assert [finding for finding in findings if finding.outcome == "broken"] == []
