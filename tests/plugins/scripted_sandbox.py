"""A sandbox that answers programs from a given mapping, for tests of what is built on a sandbox.

In: executions by source text, chosen by the test. Out: those, and nothing else: a source the mapping does not
know is an error of the test. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spanproof.sandbox.backend import AnswerTool, Availability, Feature, Sandbox, Session
from spanproof.sandbox.errors import SandboxBroken
from spanproof.sandbox.model import Execution, Program, SessionSpec, ToolAnswer, ToolRequest


@dataclass(frozen=True, slots=True)
class ScriptedStep:
    """What a session's step gives: the tool calls it makes first, then its execution."""

    execution: Execution
    calls: Sequence[ToolRequest] = ()


@dataclass(slots=True)
class ScriptedSandbox(Sandbox):
    """Answers from mappings.

    Attributes:
        executions: of `run`, by source.
        steps: of sessions, by source.
        programs: every program that was run, in order; `specs`, every session that was started.
        answers: what the host answered to the steps' tool calls, in order.
    """

    executions: Mapping[str, Execution] = field(default_factory=dict)
    steps: Mapping[str, ScriptedStep] = field(default_factory=dict)
    programs: list[Program] = field(default_factory=list)
    specs: list[SessionSpec] = field(default_factory=list)
    answers: list[ToolAnswer] = field(default_factory=list)
    name: str = "scripted"
    languages: frozenset[str] = frozenset({"python", "bash", "sql", "javascript", "typescript"})

    def availability(self) -> Availability:
        """Return that it is always usable: it needs nothing."""
        return Availability(self.name, (Feature("script", True, True, "answers from a mapping"),))

    def run(self, program: Program) -> Execution:
        """Return the mapping's answer; see `Sandbox.run`."""
        self.programs.append(program)
        if program.source not in self.executions:
            raise SandboxBroken(f"the script has no execution for {program.source[:80]!r}")
        return self.executions[program.source]

    def session(self, spec: SessionSpec, answer: AnswerTool) -> Session:
        """Start a session over the mapping; see `Sandbox.session`."""
        self.specs.append(spec)
        return _ScriptedSession(self, answer)

    def close(self) -> None:
        """Return at once; there is nothing to end."""


class _ScriptedSession(Session):
    def __init__(self, sandbox: ScriptedSandbox, answer: AnswerTool) -> None:
        self._sandbox = sandbox
        self._answer = answer
        self._open = True

    def execute(self, source: str) -> Execution:
        if not self._open:
            raise SandboxBroken("the session is over")
        if source not in self._sandbox.steps:
            raise SandboxBroken(f"the script has no step for {source[:80]!r}")
        step = self._sandbox.steps[source]
        self._sandbox.answers.extend(self._answer(call) for call in step.calls)
        return step.execution

    def close(self) -> None:
        self._open = False
