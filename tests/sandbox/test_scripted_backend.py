"""The scripted backend answers from its mapping, and refuses what the mapping does not know."""

from __future__ import annotations

import pytest
from tests.plugins.scripted_sandbox import ScriptedSandbox, ScriptedStep

from spanproof.sandbox import (
    Attempt,
    AttemptKind,
    Execution,
    FailureClass,
    Program,
    SandboxBroken,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
)
from spanproof.sandbox.backends.self_check.promises import evaluate_promise
from spanproof.sandbox.backends.self_check.recorded import RECORDED
from spanproof.sandbox.errors import SandboxUnavailable
from spanproof.sandbox.registry import check_availability, list_backends, open_sandbox

OK = Execution(FailureClass.OK)


def test_a_program_gets_its_execution() -> None:
    with ScriptedSandbox({"print(1)": OK}) as sandbox:
        assert sandbox.availability().usable
        assert sandbox.run(Program("python", "print(1)")) is OK
        assert [program.source for program in sandbox.programs] == ["print(1)"]
        with pytest.raises(SandboxBroken, match="no execution"):
            sandbox.run(Program("python", "print(2)"))


class Always(dict[str, Execution]):
    """One execution for every source."""

    def __init__(self, execution: Execution) -> None:
        super().__init__()
        self._execution = execution

    def __contains__(self, _source: object) -> bool:
        return True

    def __getitem__(self, _source: str) -> Execution:
        return self._execution


def test_the_promises_of_recorded_calls_find_out_a_backend_that_does_not_keep_them() -> None:
    promises = {one.name: one for one in RECORDED}
    url = "http://api.example.com/{}".format
    attempts = tuple(Attempt(AttemptKind.NETWORK, f"GET {url(path)}", path == "a") for path in ("a", "other"))
    executions = {
        "recorded TLS": Execution(OK.failure_class, stdout="secret\n"),
        "no other call": Execution(FailureClass.EXCEPTION, stdout="recorded\n"),
        "calls reported": Execution(FailureClass.PERMISSION_DENIED, stdout="recorded\n", attempts=attempts),
    }
    for name, kept in executions.items():
        for execution, outcome in ((kept, "kept"), (Execution(OK.failure_class, stdout="live\n"), "broken")):
            assert evaluate_promise(promises[name], ScriptedSandbox(Always(execution))).outcome == outcome


def test_a_step_makes_its_calls_first() -> None:
    call = ToolRequest("lookup", ("a",), {})
    sandbox = ScriptedSandbox(steps={"lookup('a')": ScriptedStep(OK, [call])})
    with sandbox.session(SessionSpec(), lambda request: ToolAnswer(result=request.tool)) as session:
        assert session.execute("lookup('a')") is OK
        with pytest.raises(SandboxBroken, match="no step"):
            session.execute("x")
    assert sandbox.answers == [ToolAnswer(result="lookup")]
    with pytest.raises(SandboxBroken, match="over"):
        session.execute("lookup('a')")


def test_an_unknown_backend_is_named_with_those_known() -> None:
    assert "jail" in list_backends()
    for ask in (open_sandbox, check_availability):
        with pytest.raises(SandboxUnavailable, match="jail"):
            ask("nowhere")
