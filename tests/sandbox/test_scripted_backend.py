"""The scripted backend answers from its mapping, and refuses what the mapping does not know."""

from __future__ import annotations

import pytest

from spanproof.sandbox import (
    Execution,
    FailureClass,
    Program,
    SandboxBroken,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
)
from spanproof.sandbox.backends.scripted import ScriptedSandbox, ScriptedStep
from spanproof.sandbox.errors import SandboxUnavailable
from spanproof.sandbox.registry import availability, backend_names, open_sandbox

OK = Execution(FailureClass.OK)


def test_a_program_gets_its_execution() -> None:
    with ScriptedSandbox({"print(1)": OK}) as sandbox:
        assert sandbox.availability().usable
        assert sandbox.run(Program("python", "print(1)")) is OK
        assert [program.source for program in sandbox.programs] == ["print(1)"]
        with pytest.raises(SandboxBroken, match="no execution"):
            sandbox.run(Program("python", "print(2)"))


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
    assert "jail" in backend_names()
    for ask in (open_sandbox, availability):
        with pytest.raises(SandboxUnavailable, match="jail"):
            ask("nowhere")
