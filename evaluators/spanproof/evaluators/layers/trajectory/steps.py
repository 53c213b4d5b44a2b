"""A run's steps as actions and as turns.

In: the evidence about a run, or bare steps, for the batch interface. Out: in order, the `Action`s (what was
done and what came of it) and the `Turn`s (what was said, done and shown).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from spanproof.evaluators.layers.common import unseen_output
from spanproof.evaluators.layers.trajectory.unsourced import Turn
from spanproof.evaluators.model import Replay, RunEvidence
from spanproof.evaluators.outcomes.actions import (
    CODE,
    Action,
    call_action,
    code_action,
    reply_action,
    thought_of,
)
from spanproof.evaluators.runs import spans_of
from spanproof.sandbox import FailureClass
from spanproof.sandbox.scanners.model import Scan
from spanproof.trace import JsonValue, Payload, RecordedCall, Snippet, SpanError, SpanKind, Step, digest


def actions_of(evidence: RunEvidence) -> list[Action]:
    """The actions of a run, in order."""
    return [action for step in evidence.run.steps for action in _of_step(step, evidence)]


def turns_of(evidence: RunEvidence) -> list[Turn]:
    """The steps of a run, those in which the model only spoke included."""
    return [_turn(step, evidence.run.answer) for step in evidence.run.steps]


def turns_in(actions: Sequence[Action]) -> list[Turn]:
    """A turn for each action, where nothing else is known of the steps."""
    return [
        Turn(
            action.step,
            action.span_id,
            action.thought or "",
            action.text,
            f"{action.result} {action.error_text}",
        )
        for action in actions
    ]


def of_steps(steps: list[Mapping[str, JsonValue]], scans: list[Scan | None]) -> list[Action]:
    """Actions of bare steps, as the batch interface takes them: `code`, `observation`, `error`."""
    actions: list[Action] = []
    for number, (step, scan) in enumerate(zip(steps, scans, strict=True), start=1):
        error, observation = step.get("error"), step.get("observation")
        actions.append(
            code_action(
                number,
                str(number),
                str(step.get("code") or ""),
                error=_written(error) if error else None,
                observation=_written(observation) if observation is not None else None,
                scan=scan,
                thought=thought_of(str(step.get("thought") or "")),
            )
        )
    return actions


def read_by(evidence: RunEvidence) -> str:
    """What the model calls were given and did not say themselves: prompts, users' words, tools' answers."""
    texts: dict[str, None] = {}
    for span in spans_of(evidence.trace, evidence.run):
        if span.kind is SpanKind.LLM:
            texts |= {message.text: None for message in span.input_messages if message.role != "assistant"}
            if not span.input_messages and span.input is not None:
                texts[span.input.text] = None
    return "\n".join(texts)


def _of_step(step: Step, evidence: RunEvidence) -> Iterator[Action]:
    executed = [snippet for snippet in step.snippets if snippet.executed]
    in_code = {call.span_id for snippet in executed for call in snippet.tape if call.span_id}
    in_code |= {snippet.span_id for snippet in executed}
    for snippet in executed:
        error = _snippet_error(snippet, step, evidence)
        yield code_action(
            step.number,
            snippet.span_id,
            snippet.source,
            error=error,
            observation=snippet.observation or snippet.logs or step.observation,
            scan=evidence.scans.get(snippet.id),
            thought=thought_of(step.text, snippet.source),
        )
    outer = [call for call in step.calls if not executed or not _within(call, executed, in_code)]
    for call in outer:
        yield _of_call(step, call)
    if not executed:
        yield from _unseen(step)
    if not executed and not outer:
        yield from _asked_in_vain(step)


def _within(call: RecordedCall, executed: list[Snippet], spans: set[str | None] | set[str]) -> bool:
    """Whether a call was made by a snippet, or is the very call that ran one."""
    if call.span_id in spans or any(call in snippet.tape for snippet in executed):
        return True
    given = [*call.args, *call.kwargs.values()]
    return any(snippet.source == value for snippet in executed for value in given)


def _unseen(step: Step) -> Iterator[Action]:
    """Code that is not on the trace but whose printed output is."""
    printed = unseen_output(step)
    if printed:
        outcome = digest("outcome", printed)
        yield Action(
            step.number, step.span_id, CODE, digest("unseen", str(step.number)), "unseen", outcome=outcome
        )


def _of_call(step: Step, call: RecordedCall) -> Action:
    arguments: dict[str, JsonValue] = dict(call.kwargs)
    if call.args:
        arguments["args"] = list(call.args)
    result = call.result.text if call.result else None
    return call_action(
        step.number,
        call.span_id or step.span_id,
        call.tool,
        arguments,
        error=_told(call.error),
        result=result,
        thought=thought_of(step.text),
    )


def _asked_in_vain(step: Step) -> Iterator[Action]:
    """Calls the model asked for that never ran: they failed where the step did."""
    for call in step.asked:
        yield call_action(
            step.number,
            step.span_id,
            call.name,
            call.arguments,
            error=_told(step.error),
            result=step.observation,
            thought=thought_of(step.text),
        )
    if not step.asked and step.error is not None:
        yield reply_action(step.number, step.span_id, step.text, error=_told(step.error))


def _snippet_error(snippet: Snippet, step: Step, evidence: RunEvidence) -> str | None:
    """The recorded error; where nothing at all is recorded, the replay's."""
    recorded = _told(snippet.error) or _told(step.error)
    if recorded is not None:
        return recorded
    if snippet.observation or snippet.logs or snippet.output or step.observation:
        return None
    again = evidence.replay.step(snippet.id) if isinstance(evidence.replay, Replay) else None
    if (
        again is None
        or again.divergences
        or again.execution.failure_class in (FailureClass.OK, FailureClass.SANDBOX_UNAVAILABLE)
    ):
        return None
    raised = again.execution.raised
    return f"{raised.type}: {raised.message}" if raised else again.execution.failure_class.value


def _turn(step: Step, answer: Payload | None) -> Turn:
    """One step; of the step that answers, the answer is no statement of this layer's."""
    sources = [snippet.source for snippet in step.snippets]
    words = thought_of(step.text, "\n".join(sources)) or ""
    if answer is not None:
        words = words.replace(answer.text.strip(), " ") if answer.text.strip() else words
    given = [json.dumps([*call.args, *call.kwargs.values()], default=str) for call in step.calls]
    shown = [step.observation, _told(step.error)]
    shown += [text for snippet in step.snippets for text in (snippet.observation, snippet.logs)]
    shown += [call.result.text for call in step.calls if call.result]
    shown += [_told(call.error) for call in step.calls]
    return Turn(
        step.number, step.span_id, words, "\n".join([*sources, *given]), "\n".join(filter(None, shown))
    )


def _told(error: SpanError | None) -> str | None:
    if error is None:
        return None
    return f"{error.type or 'error'}: {error.message}"


def _written(value: JsonValue) -> str:
    if isinstance(value, dict):
        return f"{value.get('type') or 'error'}: {value.get('message') or ''}"
    return value if isinstance(value, str) else json.dumps(value)
