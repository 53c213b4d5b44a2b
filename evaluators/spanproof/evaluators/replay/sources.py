"""Replay of bare sources: the steps of a run that comes without a trace.

Takes sources in order, the tape and the tools' parameters; gives what became of each step. Used where a run
is kept as a file or comes over a batch interface; there is no record to compare with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanproof.evaluators.model import Divergence
from spanproof.evaluators.replay.compare import ends_in_call_of
from spanproof.evaluators.replay.interpreter import Interpreter, has_ended_session
from spanproof.evaluators.replay.names import list_unbound_calls, read_names
from spanproof.evaluators.replay.prelude import FINAL_ANSWER, build_prelude, list_heavy_imports
from spanproof.evaluators.replay.tape import Tape
from spanproof.sandbox import Clock, Execution, Fixtures, JsonValue, Sandbox, SessionSpec, ToolStub
from spanproof.trace import RecordedCall

SEED = 0
CLOCK_S = 1_704_067_200.0
"""The clock of steps of no known time: 2024-01-01 UTC, so that a replay repeats."""


@dataclass(frozen=True, slots=True)
class ReplayedSource:
    """One step.

    Attributes:
        result: the argument of `final_answer` where it was called, else the last value; its text where it has
            no JSON form.
        result_characters: of that text, where it is cut.
        ended_interpreter: it ended the interpreter all steps share: it was stopped, it exited or crashed.
        lost_steps: numbers, from 1, of the steps before that did so: what they bound or changed is not there.
    """

    execution: Execution
    result: JsonValue
    divergences: tuple[Divergence, ...]
    result_characters: int | None = None
    ended_interpreter: bool = False
    lost_steps: tuple[int, ...] = ()


def run_sources(
    steps: Sequence[str],
    tape: Sequence[RecordedCall],
    tools: Mapping[str, Sequence[str]],
    sandbox: Sandbox,
    clock_s: float = CLOCK_S,
) -> list[ReplayedSource]:
    """Replay Python sources in one session.

    Args:
        steps: the sources, in order.
        tape: recorded calls, in order.
        tools: parameter names by tool; tools of the tape that are not named here take any arguments.
        sandbox: where to run.
        clock_s: Unix time at which the session's clock starts.

    Raises:
        SandboxUnavailable: the backend cannot run here.
        SandboxBroken: it failed.
    """
    calls = Tape([(call, None) for call in tape], tools)
    names = (calls.tools | list_unbound_calls(map(read_names, steps)) | tools.keys()) - {FINAL_ANSWER}
    stubs = tuple(ToolStub(name) for name in sorted(names))
    spec = SessionSpec(
        tools=stubs, fixtures=Fixtures(seed=SEED, clock=Clock(clock_s)), imports=list_heavy_imports(steps)
    )
    interpreter = Interpreter(sandbox, spec, calls, build_prelude(steps, SEED, declared=tools))
    replayed: list[ReplayedSource] = []
    cut_off: tuple[int, ...] = ()
    try:
        for number, source in enumerate(steps, 1):
            calls.start_snippet(None)
            execution = interpreter.run_step(source)
            ended = has_ended_session(execution)
            value, characters = _read_value(interpreter, source, execution)
            replayed.append(
                ReplayedSource(execution, value, tuple(calls.divergences), characters, ended, cut_off)
            )
            cut_off += (number,) if ended else ()
    finally:
        interpreter.close()
    return replayed


def _leaves_answer_open(source: str) -> bool:
    """Whether the step may give a final answer that is not its value: it is requested afterwards."""
    return FINAL_ANSWER in source and not ends_in_call_of(source, FINAL_ANSWER)


def _read_value(interpreter: Interpreter, source: str, execution: Execution) -> tuple[JsonValue, int | None]:
    """Return what the step gave, and how many characters that has where it is a text that was cut."""
    if _leaves_answer_open(source):
        execution = interpreter.find_final_answer() or execution
    if execution.result is None and execution.result_text not in (None, "None"):
        return execution.result_text, execution.result_characters
    return execution.result, None
