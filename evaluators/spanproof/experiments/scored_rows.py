"""Scores of rows without a trace: an answer beside its outputs, a run as its steps.

from spanproof.experiments import Step, Trajectory, score_answer, score_run

score_answer("The refund is $45.00.", ["refund: $45.00"]).state
score_run(Trajectory("How much is it?", [Step("print(30 + 15)", "45")], "It is 45.")).layers
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.layers.groundedness import Ledger, Verdict, build_ledger
from spanproof.evaluators.model import RunEvaluation
from spanproof.experiments.errors import ExperimentError
from spanproof.experiments.notebook import open_engine
from spanproof.trace import OPEN_VALUE, Message, State, ToolCall
from spanproof.trace.dialects import read_traces
from spanproof.trace.exports.transcripts import CodeStep, Transcript, iter_transcript_spans
from spanproof.trace.html_tables import format_html_table

_STATES: Final = {
    Verdict.GROUNDED: State.PASS,
    Verdict.CONTRADICTED: State.FAIL,
    Verdict.UNCERTAIN: State.OPEN,
}


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The verdict of the outputs on an answer.

    Attributes:
        state: `pass` where they bear out every sentence, `fail` where they contradict one, else `open`.
        value: the share of the bound claims that agree with their source; 0.5 where none is bound.
        ledger: the sentences with their claims.
    """

    state: State
    value: float
    ledger: Ledger

    def _repr_html_(self) -> str:
        rows = [(sentence.text, sentence.verdict) for sentence in self.ledger.sentences]
        return format_html_table(f"{self.state}: {self.value:.2f}", ("sentence", "verdict"), rows)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an agent: code that it ran, or a tool that it called.

    Attributes:
        code: what it ran; empty of a tool call.
        observation: what it was shown.
        error: what was raised, as `Type: message`; None where nothing was.
        tool: the tool's name; empty of code.
        arguments: of the tool.
        language: of the code.
    """

    code: str = ""
    observation: str | None = None
    error: str | None = None
    tool: str = ""
    arguments: Mapping[str, Any] | None = None
    language: str = "python"

    def __post_init__(self) -> None:
        if bool(self.code) == bool(self.tool):
            raise ExperimentError("a step has code, or the name of a tool: Step(code=…) or Step(tool=…)")


@dataclass(frozen=True)
class Trajectory:
    """A run of an agent as rows: its task, its steps in order, its answer.

    Attributes:
        steps: of `Step`, or dicts of its fields.
        model: that was called, for the cost; empty where it is not known.
    """

    task: str
    steps: Sequence[Step | Mapping[str, Any]] = ()
    answer: str | None = None
    name: str = "agent"
    model: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.task, str):
            raise ExperimentError(f"task must be a text, got {type(self.task).__name__}")
        if isinstance(self.steps, str | Mapping) or not isinstance(self.steps, Sequence):
            raise ExperimentError(
                f"steps must be a list of Step or of dicts, got {type(self.steps).__name__}"
            )
        object.__setattr__(self, "steps", tuple(map(_read_step, self.steps)))


def score_answer(
    answer: str,
    outputs: Sequence[Any],
    *,
    task: str | None = None,
    system: str | None = None,
    now: datetime | None = None,
) -> AnswerScore:
    """Return what outputs say of an answer, by the rules of groundedness; nothing is run.

    Args:
        answer: what the agent says.
        outputs: what its tools and its code returned, in order; what is no text counts as JSON.
        task: the task that it answers.
        system: its system prompt.
        now: when it answered, with a zone, for words such as "yesterday".

    Raises:
        ExperimentError: an argument is of another type; says what was expected.
    """
    if not isinstance(answer, str):
        raise ExperimentError(f"answer must be a text, got {type(answer).__name__}")
    if isinstance(outputs, str | bytes | Mapping) or not isinstance(outputs, Sequence):
        raise ExperimentError(
            f"outputs must be a list of what tools and code returned, got {type(outputs).__name__}"
        )
    texts = [output if isinstance(output, str) else json.dumps(output, default=str) for output in outputs]
    ledger = build_ledger(texts, answer, task, now=now, system=system)
    agreeing, bound = ledger.facts
    return AnswerScore(_STATES[ledger.verdict], agreeing / bound if bound else OPEN_VALUE, ledger)


def score_run(
    trajectory: Trajectory, *, engine: Engine | None = None, backend: str = "jail"
) -> RunEvaluation:
    """Return a run judged by all layers; its code is replayed in the sandbox.

    Args:
        trajectory: the run.
        engine: that judges it; None opens one, with the default policy.
        backend: the sandbox of the engine that is opened; without one here, nothing is replayed.

    Raises:
        ExperimentError: it is no trajectory.
    """
    if not isinstance(trajectory, Trajectory):
        raise ExperimentError(
            f"score_run takes a Trajectory(task, steps, answer), got {type(trajectory).__name__}"
        )
    if engine is not None:
        return _evaluate_trajectory(trajectory, engine)
    with open_engine(backend) as opened:
        return _evaluate_trajectory(trajectory, opened)


def _evaluate_trajectory(trajectory: Trajectory, engine: Engine) -> RunEvaluation:
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    spans.extend(iter_transcript_spans(_build_transcript(trajectory)))
    (trace,) = read_traces([request])
    return engine.evaluate(trace).runs[0]


def _build_transcript(trajectory: Trajectory) -> Transcript:
    turns: list[Message | CodeStep] = []
    errors: dict[str, str] = {}
    for number, step in enumerate(map(_read_step, trajectory.steps), start=1):
        if step.code:
            turns.append(CodeStep(step.code, step.observation, error=step.error, language=step.language))
            continue
        key = f"call-{number}"
        arguments = dict(step.arguments or {})
        turns.append(Message("assistant", "", (ToolCall(step.tool, arguments, key),)))
        turns.append(Message("tool", step.observation or "", tool_call_id=key))
        if step.error is not None:
            errors[key] = step.error
    return Transcript(
        key=f"trajectory {uuid4()}",
        name=trajectory.name,
        turns=turns,
        task=trajectory.task,
        answer=trajectory.answer,
        model=trajectory.model or None,
        errors=errors,
    )


def _read_step(step: Step | Mapping[str, Any]) -> Step:
    if isinstance(step, Step):
        return step
    names = {member.name for member in fields(Step)}
    if not isinstance(step, Mapping) or not set(step) <= names:
        if isinstance(step, Mapping):
            shown = sorted(set(step) - names)
        else:
            shown = type(step).__name__
        raise ExperimentError(f"a step is a Step, or a dict of {', '.join(sorted(names))}; got {shown}")
    return Step(**step)
