# ruff: noqa: E501 - programs keep their lines
"""What `Session` promises, checked against each backend that runs programs on this machine."""

from __future__ import annotations

import time

import pytest

from spanproof.sandbox import (
    Clock,
    FailureClass,
    Fixtures,
    Limits,
    Sandbox,
    SandboxBroken,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
    ToolStub,
)

from .conftest import SHORT, as_recorded

CALLS_A_STEP = 10_000
"""Tool calls: their time is not the step's, so that their number is bounded."""


def no_tools(request: ToolRequest) -> ToolAnswer:
    raise AssertionError(f"no tool was expected: {request}")


def test_a_session_keeps_its_names_and_gives_the_last_value(sandbox: Sandbox) -> None:
    with sandbox.session(SessionSpec(), no_tools) as session:
        assert session.execute("x = [1, 2]").result_text is None
        step = session.execute("print('seen'); x.append(3); {'n': sum(x), 'x': x}")
        assert (step.result, step.stdout, step.exit_code) == ({"n": 6, "x": [1, 2, 3]}, "seen\n", None)
        assert session.execute("{1, 2}").result is None
        assert session.execute("{1, 2}").result_text == "{1, 2}"


def test_a_value_too_large_to_be_kept_is_marked_and_reported_with_its_length(sandbox: Sandbox) -> None:
    with sandbox.session(SessionSpec(), no_tools) as session:
        for source, text in (
            ("'b' * 500_000", "b" * 500_000),
            ("'\u4e16' * 200_000", "\u4e16" * 200_000),
            ("list(range(200_000))", str(list(range(200_000)))),
            ("[10 ** 1000] * 1000", str([10**1000] * 1000)),
        ):
            step = session.execute(source)
            assert (step.failure_class, step.result, step.result_characters) == (
                FailureClass.OK,
                None,
                len(text),
            )
            head, _, mark = (step.result_text or "").rpartition("\n")
            assert text.startswith(head)
            assert len(head) > 60_000
            assert mark == f"[... {len(text) - len(head)} characters cut ...]"
        whole = session.execute("'b' * 100_000")
        assert (whole.result, whole.result_text, whole.result_characters) == (
            "b" * 100_000,
            "b" * 100_000,
            None,
        )


def test_arguments_too_large_to_be_sent_raise_inside(sandbox: Sandbox) -> None:
    spec = SessionSpec(tools=(ToolStub("count"),))
    with sandbox.session(spec, lambda call: ToolAnswer(result=len(str(call.args)))) as session:
        step = session.execute("count('\u4e16' * 300_000)")
        assert step.raised is not None, step
        assert step.raised.type == "ValueError"
        assert "768 KiB" in step.raised.message
        assert session.execute("count('\u4e16' * 100_000, 'b' * 100_000)").result is not None


def test_an_exception_ends_a_step_but_not_the_session(sandbox: Sandbox) -> None:
    with sandbox.session(SessionSpec(), no_tools) as session:
        session.execute("x = 1")
        failed = session.execute("x = 2\n1 / 0")
        assert failed.failure_class is FailureClass.EXCEPTION
        assert failed.raised is not None
        assert failed.raised.line == 2
        assert session.execute("y = (").failure_class is FailureClass.SYNTAX_ERROR
        assert session.execute("assert x == 3").failure_class is FailureClass.ASSERTION_FAILURE
        denied = as_recorded(sandbox, FailureClass.PERMISSION_DENIED)
        assert session.execute("open('/etc/shadow')").failure_class is denied
        assert session.execute("x").attempts == ()
        assert session.execute("x").result == 2


def test_tools_are_answered_by_the_host(sandbox: Sandbox) -> None:
    requested: list[ToolRequest] = []

    def answer(request: ToolRequest) -> ToolAnswer:
        requested.append(request)
        if request.tool == "fails":
            return ToolAnswer(error_type=str(request.args[0]), error_message="as told")
        return ToolAnswer(result={"rows": [1, 2]})

    tools = (ToolStub("lookup", ("key", "limit")), ToolStub("fails"))
    with sandbox.session(SessionSpec(tools=tools), answer) as session:
        assert session.execute("lookup('a', limit=2)['rows']").result == [1, 2]
        assert session.execute("lookup('a', 1, 2)").raised is not None
        assert session.execute("lookup({1, 1}, limit=(2, {3: b'4'}))['rows']").result == [1, 2]
        error = session.execute("fails('KeyError')").raised
        assert error is not None
        assert (error.type, error.message) == ("KeyError", "'as told'")
        session.execute("try: fails('RateLimited')\nexcept Exception as e: name = type(e).__name__")
        assert session.execute("name").result == "RateLimited"
    assert requested[0] == ToolRequest("lookup", (), {"key": "a", "limit": 2})
    assert requested[1] == ToolRequest("lookup", (), {"key": "{1}", "limit": [2, {"3": "b'4'"}]})
    assert [request.tool for request in requested] == ["lookup", "lookup", "fails", "fails"]


def test_a_stopped_step_ends_the_session(sandbox: Sandbox) -> None:
    with sandbox.session(SessionSpec(limits=SHORT), no_tools) as session:
        assert session.execute("while True: pass").failure_class is FailureClass.TIMEOUT
        with pytest.raises(SandboxBroken, match="over"):
            session.execute("1")


def test_a_session_repeats_itself(sandbox: Sandbox) -> None:
    spec = SessionSpec(fixtures=Fixtures(seed=7, clock=Clock(1_700_000_000.0)))
    source = "import random, time, datetime\n[random.random(), int(time.time()) // 1000, datetime.date.today().isoformat(), hash('a')]"
    values = []
    for _ in range(2):
        with sandbox.session(spec, no_tools) as session:
            values.append(session.execute(source).result)
    assert values[0] == values[1]
    assert isinstance(values[0], list)
    assert values[0][1:3] == [1_700_000, "2023-11-14"]  # it runs: a machine may be slow


def test_what_comes_from_the_operating_system_s_entropy_repeats_in_a_session(sandbox: Sandbox) -> None:
    source = "import numpy as np, os, secrets, uuid\n"
    source += "[str(uuid.uuid4()), secrets.token_hex(), os.urandom(4).hex(), float(np.random.default_rng().random())]"
    values = []
    for seed in (1, 1, 2):
        with sandbox.session(SessionSpec(fixtures=Fixtures(seed=seed)), no_tools) as session:
            values.append(session.execute(source).result)
    assert values[0] == values[1] != values[2]


def test_the_time_a_tool_takes_is_not_the_step_s(sandbox: Sandbox) -> None:
    limits = Limits(wall_s=3.0, cpu_s=3.0)

    def slow(request: ToolRequest) -> ToolAnswer:
        time.sleep(3.2)
        return ToolAnswer(result=1)

    with sandbox.session(SessionSpec(tools=(ToolStub("slow"),), limits=limits), slow) as session:
        assert session.execute("slow()").result == 1


def test_a_host_tool_that_raises_ends_the_session_and_is_not_swallowed(sandbox: Sandbox) -> None:
    def broken(request: ToolRequest) -> ToolAnswer:
        raise RuntimeError("the tape is torn")

    with sandbox.session(SessionSpec(tools=(ToolStub("t"),)), broken) as session:
        with pytest.raises(RuntimeError, match="torn"):
            session.execute("t()")
        with pytest.raises(SandboxBroken):
            session.execute("1")


@pytest.mark.parametrize(
    "source",
    [
        "while True: R.send('call', call=1, tool='t', args=[], kwargs={})",
        "for n in range(300): R.send('step', step=n, outcome='ok', result='forged'); R.send('ready')\nwhile True: pass",
    ],
)
def test_a_session_s_channel_cannot_be_abused(sandbox: Sandbox, source: str) -> None:
    find = "import gc\nR = next(o for o in gc.get_objects() if type(o).__name__ == 'Reporter')\n"
    spec = SessionSpec(tools=(ToolStub("t"),), limits=SHORT)
    requested: list[ToolRequest] = []

    def answer(request: ToolRequest) -> ToolAnswer:
        requested.append(request)
        return ToolAnswer(result=1)

    with sandbox.session(spec, answer) as session:
        first = session.execute(find + source)
        assert len(requested) <= CALLS_A_STEP
        assert first.result != "forged"
        if first.signal is None and first.failure_class is not FailureClass.TIMEOUT:
            assert session.execute("40 + 2").result == 42
