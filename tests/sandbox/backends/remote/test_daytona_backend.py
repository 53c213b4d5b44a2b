"""Programs in sandboxes of Daytona: what is made, what is reported, and what happens where it fails."""

from __future__ import annotations

import os

import pytest

from spanproof.sandbox import (
    BadSetting,
    FailureClass,
    Limits,
    Program,
    SandboxBroken,
    SandboxUnavailable,
    SessionSpec,
    ToolAnswer,
    ToolStub,
)
from spanproof.sandbox.backend import Evidence
from spanproof.sandbox.backends.daytona import DaytonaSandbox, Marked
from spanproof.sandbox.backends.self_check.promises import PROMISES, evaluate_promise

from .daytona_service import DaytonaService, on_loopback

__all__ = ["on_loopback"]  # for the fixture `served`

HELLO = Program("python", "print('hello')")
Settings = dict[str, str]


def test_a_sandbox_has_no_network_runs_programs_apart_and_ends_with_ours(
    service: DaytonaService, settings: Settings
) -> None:
    with DaytonaSandbox(**settings, snapshot="pinned:1", lifetime_s="120") as sandbox:
        for _ in range(2):
            ran = sandbox.run(HELLO)
            assert (ran.failure_class, ran.stdout) == (FailureClass.OK, "hello\n")
        assert sandbox.cost.machines == 1
    (made,) = service.created
    assert (made["networkBlockAll"], made["public"], made["snapshot"]) == (True, False, "pinned:1")
    assert (made["ttlMinutes"], made["autoDeleteInterval"]) == (3, 0)
    assert service.live == []


def test_a_session_s_tools_are_answered_however_long_their_answers(
    service: DaytonaService, settings: Settings
) -> None:
    spec = SessionSpec(tools=(ToolStub("rows", ("count",)),))
    with (
        DaytonaSandbox(**settings) as sandbox,
        sandbox.session(spec, lambda request: ToolAnswer(result="x" * 400_000)) as session,
    ):
        assert session.execute("found = rows(1)\nlen(found)").result == 400_000
        assert session.execute("len(found) + 1").result == 400_001
    assert service.live == []


def test_without_root_each_program_has_a_sandbox_and_none_is_tested(
    service: DaytonaService, settings: Settings
) -> None:
    with DaytonaSandbox(**settings, user="daytona") as sandbox:
        assert [sandbox.run(HELLO).stdout for _ in range(2)] == ["hello\n"] * 2
        with pytest.raises(SandboxUnavailable, match=r"could read its tests.*use a snapshot"):
            sandbox.run(Program("python", "1", tests="assert True"))
    assert len(service.created) == 3
    assert service.live == []


def test_a_creation_that_fails_for_now_is_tried_again(service: DaytonaService, settings: Settings) -> None:
    service.trouble.create = [500, 429]
    with DaytonaSandbox(**settings) as sandbox:
        assert sandbox.run(HELLO).stdout == "hello\n"


def test_a_socket_that_is_cut_breaks_the_run_and_ends_its_sandbox(
    service: DaytonaService, settings: Settings
) -> None:
    service.trouble.cut = 1
    with (
        DaytonaSandbox(**settings, retries="0") as sandbox,
        pytest.raises(SandboxBroken, match="ended without a report"),
    ):
        sandbox.run(HELLO)
    assert service.live == []


@pytest.mark.parametrize(
    ("key", "more", "words"),
    [
        ("", {}, "DAYTONA_API_KEY is not set"),
        ("wrong", {}, "refuses the key in DAYTONA_API_KEY"),
        (None, {"snapshot": "none"}, r"no snapshot 'none'.*set `snapshot`"),
        (None, {"api_url": "http://127.0.0.1:9"}, "does not answer.*api_url"),
    ],
)
def test_what_the_user_can_set_right_is_unavailable_with_the_remedy(
    service: DaytonaService,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    key: str | None,
    more: Settings,
    words: str,
) -> None:
    if key is not None:
        monkeypatch.setenv("DAYTONA_API_KEY", key)
    with DaytonaSandbox(**{**settings, **more}) as sandbox:
        assert sandbox.availability().missing or "snapshot" in more
        with pytest.raises(SandboxUnavailable, match=words):
            sandbox.run(HELLO)
    assert service.live == []


@pytest.mark.parametrize(
    ("state", "error", "words"),
    [
        ("build_failed", SandboxBroken, "is build_failed: a reason"),
        ("pulling_snapshot", SandboxUnavailable, "is pulling_snapshot after 1 s; set `start_s`"),
    ],
)
def test_a_sandbox_that_does_not_start_is_ended_and_says_its_state(
    service: DaytonaService, settings: Settings, state: str, error: type[Exception], words: str
) -> None:
    service.trouble.state = state
    with DaytonaSandbox(**settings, start_s="1", retries="0") as sandbox, pytest.raises(error, match=words):
        sandbox.run(HELLO)
    assert service.live == []


def test_a_sandbox_lives_as_long_as_a_program_needs_it(service: DaytonaService, settings: Settings) -> None:
    with DaytonaSandbox(**settings, lifetime_s="60") as sandbox:
        for wall_s in (1, 300):  # in one sandbox
            sandbox.run(Program("python", "1", limits=Limits(wall_s=wall_s)))
    assert [int(minutes) > 5 for minutes in service.lives] == [True]


def test_what_is_known_of_a_run_is_declared_and_doctor_names_the_service(
    service: DaytonaService, settings: Settings
) -> None:
    with DaytonaSandbox(**settings) as sandbox:
        assert sandbox.evidence == {Evidence.PEAK_MEMORY, Evidence.CALLS}
        assert [each.name for each in sandbox.availability().features] == [
            "WebSocket client",
            "key",
            "service",
        ]
        assert not sandbox.availability().missing


def test_marks_are_read_wherever_the_pieces_end() -> None:
    whole = b"\x01\x01\x01out\x02\x02\x02err\x01\x01\x01more"
    for size in range(1, len(whole)):
        marked = Marked()
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        found = [each for piece in pieces for each in marked.iter_decoded(piece)]
        assert "".join(out or "" for out, _ in found) == "outmore"
        assert "".join(err or "" for _, err in found) == "err"


def test_a_setting_that_cannot_be_is_refused_with_its_name() -> None:
    with pytest.raises(BadSetting, match="lifetime_s='5' is no whole number of at least 60"):
        DaytonaSandbox(lifetime_s="5")


@pytest.mark.skipif("DAYTONA_API_KEY" not in os.environ, reason="DAYTONA_API_KEY is not set")
def test_each_promise_is_kept_by_the_real_service() -> None:
    with DaytonaSandbox(workers=4) as real:
        findings = [evaluate_promise(promise, real) for promise in PROMISES]
    assert [finding for finding in findings if finding.outcome == "broken"] == []
