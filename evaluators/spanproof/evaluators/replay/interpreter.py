"""One interpreter over the steps of a run, that outlives a step which had to be stopped.

Takes sources one by one; gives their executions. A backend ends a session with a step it stops (a time-out,
too much memory or output); then the next step gets a fresh session in which the steps that came before are
run again, with the same answers to their tool calls, so that their state is there. What the stopped step
itself had done is lost. Never answers a tool call from anything but the tape.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spanproof.evaluators.replay.prelude import GIVEN, WAS_GIVEN
from spanproof.evaluators.replay.tape import Tape
from spanproof.sandbox import (
    Execution,
    FailureClass,
    Sandbox,
    SandboxBroken,
    SandboxSilent,
    Session,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
)

_STOPPED = frozenset(
    {FailureClass.TIMEOUT, FailureClass.OUT_OF_MEMORY, FailureClass.OUTPUT_LIMIT, FailureClass.KILLED}
)


class NotRebuilt(SandboxBroken):
    """The steps before one could not be run again as they had run."""


class StepBroke(SandboxBroken):
    """The sandbox failed while it ran a step; `silent` where it gave no answer in time."""

    def __init__(self, message: str, *, silent: bool) -> None:
        super().__init__(message)
        self.silent = silent


def has_ended_session(execution: Execution) -> bool:
    """Whether a session is over after this step: it was stopped, or it ended its own process."""
    exited = execution.exit_code is not None or execution.signal is not None
    reported_itself = execution.raised is not None  # a MemoryError, say, that the interpreter outlived
    return exited or (execution.failure_class in _STOPPED and not reported_itself)


@dataclass(slots=True)
class _Done:
    """A step that left its session running, and what its tool calls were answered."""

    source: str
    answers: list[ToolAnswer] = field(default_factory=list)


class Interpreter:
    """A session that is built up again after a step was stopped. Close it."""

    def __init__(self, sandbox: Sandbox, spec: SessionSpec, tape: Tape, prelude: str) -> None:
        """Prepare the interpreter; nothing starts before the first step.

        Args:
            sandbox: where to run.
            spec: of the session; its tools are answered from the tape.
            tape: answers tool calls.
            prelude: code of ours that runs first; see `spanproof.evaluators.replay.prelude`.
        """
        self._sandbox = sandbox
        self._spec = spec
        self._tape = tape
        self._prelude = prelude
        self._done: list[tuple[int, _Done]] = []
        self._at_work = _Done("")
        self._again: list[ToolAnswer] | None = None
        self._session: Session | None = None
        # Of what the session has executed: which of the steps it was, None for code of ours.
        self._numbers: list[int | None] = []

        # Steps so far.
        self.executed = 0
        # Executions, by the number of their step from 0, with attempts added that came after the step; all
        # are known after `close`.
        self.amended: dict[int, Execution] = {}

    def run_step(self, source: str) -> Execution:
        """Run the next step.

        Raises:
            SandboxUnavailable: the backend cannot run here.
            UnsupportedLanguage: it has no sessions in this language.
            StepBroke: it failed while it ran this step.
            NotRebuilt: what ran before could not be built up again.
            SandboxBroken: it failed otherwise.
        """
        session = self._open_session()
        self._at_work = _Done(source)
        try:
            execution = self._run(session, source, self.executed)
        except SandboxBroken as broken:
            self.close()
            raise StepBroke(str(broken), silent=isinstance(broken, SandboxSilent)) from broken
        self.executed += 1
        if has_ended_session(execution):
            self.close()
        else:
            self._done.append((self.executed - 1, self._at_work))
        return execution

    def find_final_answer(self) -> Execution | None:
        """Return the argument of the last `final_answer` as a result, None where there was none."""
        if self._session is None or self._run(self._session, WAS_GIVEN).result is not True:
            return None
        execution = self._run(self._session, GIVEN)
        if execution.failure_class is FailureClass.OK:
            return execution
        return None

    def close(self) -> None:
        """End the session, where there is one."""
        if self._session is None:
            return
        session, self._session = self._session, None
        session.close()
        for number, execution in session.amended().items():
            step = self._numbers[number]
            if step is not None:
                self.amended[step] = execution

    def _run(self, session: Session, source: str, step: int | None = None) -> Execution:
        self._numbers.append(step)
        return session.execute(source)

    def _open_session(self) -> Session:
        if self._session is None:
            self._session = self._sandbox.session(self._spec, self._handle_request)
            self._numbers = []
            self._run(self._session, self._prelude)
            self._run_done_steps(self._session)
        return self._session

    def _run_done_steps(self, session: Session) -> None:
        for step, done in self._done:
            self._again = list(done.answers)
            try:
                execution = self._run(session, done.source, step)
            except SandboxBroken as broken:
                self.close()
                raise NotRebuilt(f"an earlier step failed when run again: {broken}") from broken
            finally:
                self._again = None
            if has_ended_session(execution):
                self.close()
                raise NotRebuilt(f"an earlier step ended in {execution.failure_class} when run again")

    def _handle_request(self, request: ToolRequest) -> ToolAnswer:
        if self._again is not None:
            if not self._again:
                return ToolAnswer(error_type="ReplayDivergence", error_message="not called the first time")
            return self._again.pop(0)
        answer = self._tape.handle_request(request)
        self._at_work.answers.append(answer)
        return answer
