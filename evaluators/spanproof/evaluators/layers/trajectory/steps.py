"""A run's steps as actions and as turns.

In: the evidence about a run, or bare steps, for the batch interface. Out: in order, the `Action`s (what was
done and how it ended) and the `Turn`s (what was said, done and shown).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from spanproof.evaluators.actions import (
    Action,
    build_code_action,
    find_thought,
)
from spanproof.evaluators.layers.trajectory.unsourced import Turn
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.runs import list_run_spans
from spanproof.sandbox.scanners.model import Scan
from spanproof.trace import JsonValue, Payload, SpanError, SpanKind, Step


def list_actions(evidence: RunEvidence) -> list[Action]:
    """Return the actions of a run, in order."""
    return list(evidence.account.actions)


def build_turns(evidence: RunEvidence) -> list[Turn]:
    """Return the steps of a run, those in which the model only spoke included."""
    return [_build_turn(step, evidence.run.answer) for step in evidence.run.steps]


def list_turns_of_actions(actions: Sequence[Action]) -> list[Turn]:
    """Return a turn for each action, where nothing else is known of the steps."""
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


def build_actions(steps: list[Mapping[str, JsonValue]], scans: list[Scan | None]) -> list[Action]:
    """Return actions of bare steps, as the batch interface takes them: `code`, `observation`, `error`."""
    actions: list[Action] = []
    for number, (step, scan) in enumerate(zip(steps, scans, strict=True), start=1):
        error, observation = step.get("error"), step.get("observation")
        code, thought = str(step.get("code") or ""), str(step.get("thought") or "")
        actions.append(
            build_code_action(
                number,
                str(number),
                code,
                error=_to_text(error) if error else None,
                observation=_to_text(observation) if observation is not None else None,
                scan=scan,
                thought=find_thought(thought),
            )
        )
    return actions


def get_model_input(evidence: RunEvidence) -> str:
    """Return what model calls were given, not what they said: prompts, users' words, tools' answers."""
    texts: dict[str, None] = {}
    for span in list_run_spans(evidence.trace, evidence.run):
        if span.kind is SpanKind.LLM:
            texts |= {message.text: None for message in span.input_messages if message.role != "assistant"}
            if not span.input_messages and span.input is not None:
                texts[span.input.text] = None
    return "\n".join(texts)


def _build_turn(step: Step, answer: Payload | None) -> Turn:
    """Return one step; of the step that answers, the answer is no statement of this layer's."""
    sources = [snippet.source for snippet in step.snippets]
    words = find_thought(step.text, "\n".join(sources)) or ""
    if answer is not None:
        if answer.text.strip():
            words = words.replace(answer.text.strip(), " ")
        else:
            words = words
    arguments = [json.dumps([*call.args, *call.kwargs.values()], default=str) for call in step.calls]
    shown = [step.observation, _find_error_text(step.error)]
    shown += [text for snippet in step.snippets for text in (snippet.observation, snippet.logs)]
    shown += [call.result.text for call in step.calls if call.result]
    shown += [_find_error_text(call.error) for call in step.calls]
    return Turn(
        step.number, step.span_id, words, "\n".join([*sources, *arguments]), "\n".join(filter(None, shown))
    )


def _find_error_text(error: SpanError | None) -> str | None:
    if error is None:
        return None
    return f"{error.type or 'error'}: {error.message}"


def _to_text(value: JsonValue) -> str:
    if isinstance(value, dict):
        return f"{value.get('type') or 'error'}: {value.get('message') or ''}"
    if isinstance(value, str):
        return value
    return json.dumps(value)
