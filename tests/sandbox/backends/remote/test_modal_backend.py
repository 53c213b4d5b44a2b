"""Programs in sandboxes of Modal: what is made, what is reported, and what happens where it fails."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from grpclib import Status

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
from spanproof.sandbox.backends.modal import ModalSandbox
from spanproof.sandbox.backends.self_check.promises import PROMISES, evaluate_promise

from .modal_service import ModalService, on_loopback

__all__ = ["on_loopback"]  # for the fixture `served`

HELLO = Program("python", "print('hello')")
Settings = dict[str, str]


def test_a_sandbox_has_no_network_runs_programs_apart_and_ends_with_ours(
    service: ModalService, settings: Settings
) -> None:
    chosen = {"image": "python:3.13-slim", "lifetime_s": "120", "cpu": "0.5", "memory_mib": "512"}
    with ModalSandbox(**settings, **chosen, runtime="vm") as sandbox:
        for _ in range(2):
            ran = sandbox.run(HELLO)
            assert (ran.failure_class, ran.stdout) == (FailureClass.OK, "hello\n")
        assert sandbox.cost.machines == 1
    (made,) = service.created
    assert made.network_access.network_access_type == made.network_access.BLOCKED
    assert (made.timeout_secs, made.runtime) == (120, "vm")
    assert (made.resources.milli_cpu, made.resources.memory_mb_max) == (500, 512)
    assert service.images == [["FROM python:3.13-slim"]]
    assert service.live == []


def test_a_session_s_tools_are_answered_however_long_their_answers(
    service: ModalService, settings: Settings
) -> None:
    spec = SessionSpec(tools=(ToolStub("rows", ("count",)),))
    with (
        ModalSandbox(**settings) as sandbox,
        sandbox.session(spec, lambda request: ToolAnswer(result="x" * 400_000)) as session,
    ):
        assert session.execute("found = rows(1)\nlen(found)").result == 400_000
        assert session.execute("len(found) + 1").result == 400_001
    assert service.live == []


def test_without_namespaces_each_program_has_a_sandbox_and_none_is_tested(
    service: ModalService, settings: Settings
) -> None:
    service.trouble.rootless = True
    with ModalSandbox(**settings) as sandbox:
        assert [sandbox.run(HELLO).stdout for _ in range(2)] == ["hello\n"] * 2
        with pytest.raises(SandboxUnavailable, match=r"could read its tests.*set `runtime` to `vm`"):
            sandbox.run(Program("python", "1", tests="assert True"))
    assert len(service.created) == 3
    assert service.live == []


def test_a_creation_that_fails_for_now_is_tried_again(service: ModalService, settings: Settings) -> None:
    service.trouble.create = [Status.INTERNAL, Status.RESOURCE_EXHAUSTED]
    with ModalSandbox(**settings) as sandbox:
        assert sandbox.run(HELLO).stdout == "hello\n"


def test_a_stream_that_is_cut_is_read_on_from_where_it_was(service: ModalService, settings: Settings) -> None:
    with ModalSandbox(**settings) as sandbox:
        assert sandbox.run(HELLO).stdout == "hello\n"
        service.trouble.cut = 4
        assert sandbox.run(Program("python", "print('x' * 100_000)")).stdout == "x" * 100_000 + "\n"
    assert service.trouble.cut == 0


def test_a_program_whose_sandbox_ends_is_broken_and_never_run_again(
    service: ModalService, settings: Settings
) -> None:
    service.trouble.gone = 1
    with ModalSandbox(**settings) as sandbox, pytest.raises(SandboxBroken, match="modal"):
        sandbox.run(Program("python", "import time; time.sleep(1)"))
    assert len(service.created) == 1
    assert service.live == []


def test_a_sandbox_that_cannot_be_ended_is_reported(
    service: ModalService, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    service.trouble.terminate = [Status.PERMISSION_DENIED] * 3
    with ModalSandbox(**settings) as sandbox:
        assert sandbox.run(HELLO).stdout == "hello\n"
    assert "could not be ended" in caplog.text
    for name in service.live:
        service.machines[name].end()


@pytest.mark.parametrize(
    ("environment", "more", "words"),
    [
        ({"MODAL_TOKEN_ID": ""}, {}, "MODAL_TOKEN_ID and MODAL_TOKEN_SECRET are not set"),
        ({"MODAL_TOKEN_SECRET": "wrong"}, {}, "refuses the token in MODAL_TOKEN_ID"),
        ({"MODAL_SERVER_URL": "http://127.0.0.1:9"}, {}, "does not answer.*MODAL_SERVER_URL"),
        ({}, {"image": "none"}, "no such image.*set `image`"),
        ({}, {"image": "im-none"}, "Image 'im-none' not found.*set `image`"),
        ({}, {"environment": "none"}, "Environment 'none' not found.*`environment`"),
    ],
)
def test_what_the_user_can_set_right_is_unavailable_with_the_remedy(
    service: ModalService,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    environment: Settings,
    more: Settings,
    words: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with ModalSandbox(**{**settings, **more}) as sandbox:
        assert sandbox.availability().missing or "image" in more
        with pytest.raises(SandboxUnavailable, match=words):
            sandbox.run(HELLO)
    assert service.live == []


def test_without_the_sdk_it_says_what_to_install(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with ModalSandbox(**settings) as sandbox:
        assert not sandbox.availability().usable
        with pytest.raises(SandboxUnavailable, match=r"spanproof\[modal\]"):
            sandbox.run(HELLO)


def test_an_image_without_a_python_that_is_new_enough_is_unavailable(
    service: ModalService, settings: Settings
) -> None:
    service.trouble.no_python = True
    with (
        ModalSandbox(**settings) as sandbox,
        pytest.raises(SandboxUnavailable, match=r"have no python3, 3\.11 or newer; set `image`"),
    ):
        sandbox.run(HELLO)
    assert service.live == []


def test_an_image_of_modal_is_used_by_its_id(service: ModalService, settings: Settings) -> None:
    with ModalSandbox(**settings, image="im-made-before") as sandbox:
        assert sandbox.run(HELLO).stdout == "hello\n"
    assert [made.image_id for made in service.created] == ["im-made-before"]


def test_a_sandbox_is_made_to_live_as_long_as_its_programs(service: ModalService, settings: Settings) -> None:
    with ModalSandbox(**settings, lifetime_s="120") as sandbox:
        assert sandbox.run(HELLO).stdout == "hello\n"
        for _ in range(2):  # the first sandbox would end too early, and no life can be prolonged
            sandbox.run(Program("python", "1", limits=Limits(wall_s=300)))
    assert [made.timeout_secs > 300 for made in service.created] == [False, True]


def test_a_session_says_when_its_sandbox_would_end(service: ModalService, settings: Settings) -> None:
    spec = SessionSpec(limits=Limits(wall_s=5))
    with ModalSandbox(**settings, lifetime_s="60") as sandbox, sandbox.session(spec, _no_tool) as session:
        assert session.execute("1 + 1").result == 2
        (machine,) = sandbox._live
        machine.life.began_at -= 60  # as if so much time had passed
        with pytest.raises(SandboxBroken, match=r"prolongs no life; set a longer `lifetime_s`"):
            session.execute("1")
    assert service.live == []


def _no_tool(_request: object) -> ToolAnswer:
    return ToolAnswer()


def test_the_end_of_the_interpreter_ends_the_sandbox(service: ModalService, settings: Settings) -> None:
    script = (
        "from spanproof.sandbox import SessionSpec\n"
        "from spanproof.sandbox.registry import open_sandbox\n"
        "session = open_sandbox('modal').session(SessionSpec(), print)\n"
        "print(session.execute('1 + 1').result)\n"
        "raise SystemExit('leaves without closing')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "2\n"
    # Behind it, the SDK may log that its thread ended with the interpreter.
    assert done.stderr.startswith("leaves without closing\n")
    assert "most recent call last" not in done.stderr
    assert service.live == []


def test_what_is_known_of_a_run_is_declared_and_doctor_names_the_service(
    service: ModalService, settings: Settings
) -> None:
    with ModalSandbox(**settings) as sandbox:
        assert sandbox.evidence == {Evidence.PEAK_MEMORY, Evidence.CALLS}
        assert [each.name for each in sandbox.availability().features] == ["modal SDK", "token", "service"]
        assert not sandbox.availability().missing


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"runtime": "kvm"}, "runtime='kvm' is neither gvisor nor vm"),
        ({"lifetime_s": "5"}, "lifetime_s='5' is no whole number of at least 60"),
        ({"imagee": "x"}, "no setting 'imagee'"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_with_its_name(given: Settings, words: str) -> None:
    with pytest.raises(BadSetting, match=words):
        ModalSandbox(**given)


@pytest.mark.skipif(
    "SPANPROOF_TEST_MODAL" not in os.environ,
    reason="no real service: SPANPROOF_TEST_MODAL is not set",
)
def test_each_promise_is_kept_by_the_real_service() -> None:
    with ModalSandbox(workers=4) as real:
        findings = [evaluate_promise(promise, real) for promise in PROMISES]
    assert [finding for finding in findings if finding.outcome == "broken"] == []
