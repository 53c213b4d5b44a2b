"""A service and machines that fail: what is tried again and reported, and that nothing is left behind."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from waiting import wait_until

from spanproof.sandbox import (
    Clock,
    Database,
    DatabaseEngine,
    Ecosystem,
    Exchange,
    Execution,
    FailureClass,
    Fixtures,
    Limits,
    PackageSet,
    Program,
    SandboxBroken,
    SandboxUnavailable,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
    ToolStub,
    UnsupportedFixtures,
)
from spanproof.sandbox.backends.e2b import E2BSandbox
from spanproof.sandbox.backends.remote import backend as remote_backend
from spanproof.sandbox.backends.remote.conversation import Conversation

from .e2b_service import KEY, E2BService, on_loopback

__all__ = ["on_loopback"]  # for the fixture `served`

HELLO = Program("python", "print('hello')")
Settings = dict[str, str]


def run(settings: Settings, program: Program = HELLO, **more: str) -> Execution:
    with E2BSandbox(**settings, **more) as sandbox:
        return sandbox.run(program)


def test_machines_have_no_way_out_and_end_with_the_sandbox(service: E2BService, settings: Settings) -> None:
    assert run(settings, lifetime_s="120").stdout == "hello\n"
    (made,) = service.created
    assert (made["templateID"], made["timeout"], made["allow_internet_access"]) == ("base", 120, False)
    assert len(service.killed) == 1
    assert service.live == []


@pytest.mark.parametrize("statuses", [[429], [503, 502], [500]])
def test_a_creation_that_fails_for_now_is_tried_again(
    service: E2BService, settings: Settings, statuses: list[int]
) -> None:
    service.trouble.create = statuses
    assert run(settings).stdout == "hello\n"
    assert len(service.created) == 1


def test_a_creation_that_goes_on_failing_is_broken_not_failed(
    service: E2BService, settings: Settings
) -> None:
    service.trouble.create = [500] * 20
    with pytest.raises(SandboxBroken, match=r"create a machine.*as the test wants"):
        run(settings, retries="1")
    assert len(service.trouble.create) == 18


@pytest.mark.parametrize("trouble", ["refuse", "garbage", "noise"])
def test_a_machine_that_fails_before_the_program_started_is_replaced(
    service: E2BService, settings: Settings, trouble: str
) -> None:
    service.trouble.start = [trouble]
    assert run(settings).stdout == "hello\n"
    assert len(service.created) == 2
    assert service.live == []


@pytest.mark.parametrize("trouble", ["cut", "gone"])
def test_a_program_that_has_started_is_never_run_again(
    service: E2BService, settings: Settings, trouble: str
) -> None:
    service.trouble.start = [trouble]
    with pytest.raises(SandboxBroken, match="e2b"):
        run(settings, Program("python", "import time; time.sleep(1)"))
    assert len(service.created) == 1
    assert service.live == []


def test_a_machine_that_says_nothing_is_timed_by_our_clock(
    service: E2BService, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_backend, "_START_S", 1.0)
    service.trouble.start = ["hang"]
    with pytest.raises(SandboxBroken, match="did not start"):
        run(settings, retries="0")
    assert service.live == []


def test_a_program_whose_machine_does_not_stop_it_is_stopped_by_our_clock(
    service: E2BService, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_backend, "_GRACE_S", -1.5)
    execution = run(settings, Program("python", "while True: pass", limits=Limits(wall_s=2.0)))
    assert execution.failure_class is FailureClass.TIMEOUT
    assert service.live == []


def test_a_machine_that_cannot_be_ended_is_reported(
    service: E2BService, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    service.trouble.kill = [500] * 3
    assert run(settings).stdout == "hello\n"
    assert "could not be ended" in caplog.text
    for name in service.live:
        service.machines[name].end()


def test_a_machine_that_keeps_nothing_apart_runs_one_program(service: E2BService, settings: Settings) -> None:
    service.trouble.rootless = True
    with E2BSandbox(**settings) as sandbox:
        for _ in range(2):
            sandbox.run(HELLO)
    assert len(service.created) == 2


def test_a_machine_that_keeps_nothing_apart_judges_nothing(service: E2BService, settings: Settings) -> None:
    service.trouble.rootless = True
    tested = Program("python", "def f(x): return x", tests="assert f(1) == 1")
    with pytest.raises(SandboxUnavailable, match=r"could read its tests.*use a template"):
        run(settings, tested)
    assert service.live == []


def test_a_machine_that_keeps_nothing_apart_serves_no_recorded_call(
    service: E2BService, settings: Settings
) -> None:
    service.trouble.rootless = True
    recorded = Fixtures(http=(Exchange("GET", "http://a.test/"),))
    with pytest.raises(UnsupportedFixtures, match=r"recorded HTTP calls.*use a template"):
        run(settings, Program("python", "1", fixtures=recorded))
    assert service.live == []


def test_a_machine_that_keeps_users_apart_is_used_again_until_it_is_worn(
    service: E2BService, settings: Settings
) -> None:
    with E2BSandbox(**settings, reuse="2") as sandbox:
        for _ in range(5):
            assert sandbox.run(HELLO).stdout == "hello\n"
    assert len(service.created) == 3
    assert service.live == []


def test_cost_is_counted_in_seconds_of_machines(
    service: E2BService, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "spanproof.sandbox")
    with E2BSandbox(**settings, price_per_second="2") as sandbox:
        sandbox.run(HELLO)
        spent = sandbox.cost
    assert (spent.machines, spent.runs) == (1, 1)
    assert spent.seconds > 0
    assert spent.price == pytest.approx(2 * spent.seconds)
    assert "cost" in caplog.text


def test_closing_ends_what_runs(service: E2BService, settings: Settings) -> None:
    sandbox = E2BSandbox(**settings)
    broken: list[BaseException] = []

    def hold() -> None:
        try:
            sandbox.run(Program("python", "import time; time.sleep(60)", limits=Limits(wall_s=60)))
        except SandboxBroken as problem:
            broken.append(problem)

    thread = threading.Thread(target=hold)
    thread.start()
    wait_until(lambda: service.created and sandbox.cost.machines, "a machine of the service runs")
    sandbox.close()
    thread.join(120)
    assert len(broken) == 1
    assert service.live == []


def _main_thread_waits() -> bool:
    """Whether it waits for the machine: elsewhere an interrupt may fall into a callback and be lost."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None and frame.f_code is not Conversation.wait_for_frame.__code__:
        frame = frame.f_back
    return frame is not None


def test_an_interrupt_ends_the_machine(service: E2BService, settings: Settings) -> None:
    with E2BSandbox(**settings) as sandbox:
        service.created.clear()

        def interrupt() -> None:
            wait_until(lambda: service.live and _main_thread_waits(), "the main thread waits for the machine")
            time.sleep(1.0)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # as a terminal does

        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            sandbox.run(Program("python", "import time; time.sleep(60)", limits=Limits(wall_s=60)))
        assert service.live == []


def test_the_end_of_the_interpreter_ends_the_machine(
    service: E2BService, settings: Settings, tmp_path: Path
) -> None:
    script = (
        "from spanproof.sandbox import Program\n"
        "from spanproof.sandbox.registry import open_sandbox\n"
        f"sandbox = open_sandbox('e2b', settings={settings!r})\n"
        "session = sandbox.session(__import__('spanproof.sandbox').sandbox.SessionSpec(), print)\n"
        "print(session.execute('1 + 1').result)\n"
        "raise SystemExit('leaves without closing')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env={"E2B_API_KEY": KEY}, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("2\n", "leaves without closing\n")
    assert service.live == []


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"template": "never-built"}, "template 'never-built'"),
        ({"api_url": "http://127.0.0.1:9"}, "does not answer"),
        ({"key": "e2b_wrong"}, "E2B_API_KEY"),
        ({"key": ""}, "E2B_API_KEY is not set"),
    ],
)
def test_what_is_missing_is_unavailable_and_says_so(
    service: E2BService,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, str],
    detail: str,
) -> None:
    monkeypatch.setenv("E2B_API_KEY", change.pop("key", KEY))
    sandbox = E2BSandbox(**(settings | change))
    missing = sandbox.availability().missing
    assert missing
    assert any(detail in feature.detail and feature.remedy for feature in missing)
    with pytest.raises(SandboxUnavailable, match=detail):
        sandbox.run(HELLO)


def test_without_the_sdk_it_says_what_to_install(
    service: E2BService, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not E2BSandbox(**settings).availability().usable
    with pytest.raises(SandboxUnavailable, match=r"spanproof\[e2b\]"):
        run(settings)


def test_a_template_without_a_build_is_reported(service: E2BService, settings: Settings) -> None:
    def pinned(template: str) -> bool:
        found = E2BSandbox(**settings, template=template).availability()
        assert found.usable
        return all(feature.present for feature in found.features)

    assert not pinned("base")
    assert pinned("pinned:v1")


@pytest.mark.parametrize(
    ("language", "fixtures"),
    [
        ("python", Fixtures(packages=PackageSet(Ecosystem.PIP, ("six==1.17.0",)))),
        ("python", Fixtures(clock=Clock(0.0, rate=0.0))),
        ("sql", Fixtures(database=Database(DatabaseEngine.DUCKDB))),
        ("bash", Fixtures(seed=1)),
    ],
)
def test_fixtures_it_cannot_give_are_refused(settings: Settings, language: str, fixtures: Fixtures) -> None:
    with pytest.raises(UnsupportedFixtures, match="jail"):
        run(settings, Program(language, "x", fixtures=fixtures))


def test_a_program_finds_its_seed_and_clock(service: E2BService, settings: Settings) -> None:
    source = (
        "import random, secrets, time; print(random.random(), secrets.token_hex(), int(time.time()) // 1000)"
    )
    program = Program("python", source, fixtures=Fixtures(seed=3, clock=Clock(1.7e9)))
    with E2BSandbox(**settings) as sandbox:
        first, second = (sandbox.run(program) for _ in range(2))
    assert first.stdout == second.stdout
    assert first.stdout.endswith(" 1700000\n")


def test_a_session_that_loses_its_machine_is_over(
    service: E2BService, settings: Settings, deadline: Callable[[float], AbstractContextManager[None]]
) -> None:
    def pull_the_plug(request: ToolRequest) -> ToolAnswer:
        for name in service.live:
            service.machines[name].end()
        return ToolAnswer()

    spec = SessionSpec(tools=(ToolStub("t"),))
    with E2BSandbox(**settings) as sandbox, sandbox.session(spec, pull_the_plug) as session, deadline(60):
        with pytest.raises(SandboxBroken):
            session.execute("t()")
        with pytest.raises(SandboxBroken, match="over"):
            session.execute("1")


def test_a_session_answers_only_the_call_that_was_made(service: E2BService, settings: Settings) -> None:
    requests: list[ToolRequest] = []

    def answer(request: ToolRequest) -> ToolAnswer:
        requests.append(request)
        return ToolAnswer(result=len(requests))

    find = "import gc\nR = next(o for o in gc.get_objects() if type(o).__name__ == 'Reporter')\n"
    abuse = "R.send('call', call=7, tool='nothing', args=[], kwargs={})\n"
    abuse += "R.send('call', call=8, tool='t', args=3, kwargs={})"
    spec = SessionSpec(tools=(ToolStub("t"),))
    with E2BSandbox(**settings) as sandbox, sandbox.session(spec, answer) as session:
        session.execute(find + abuse)
        assert session.execute("t('a')").result == 1
    assert requests == [ToolRequest("t", ("a",), {})]
