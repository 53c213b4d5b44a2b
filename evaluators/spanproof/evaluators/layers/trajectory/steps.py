"""A run's steps as actions and as turns.

In: the evidence about a run, or bare steps, for the batch interface. Out: in order, the `Action`s (what was
done and how it ended) and the `Turn`s (what was said, done and shown).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from spanproof.evaluators.layers.trajectory.unsourced import Turn
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.outcomes.actions import (
    Action,
    code_action,
    thought_of,
)
from spanproof.evaluators.runs import spans_of
from spanproof.sandbox.scanners.model import Scan
from spanproof.trace import JsonValue, Payload, SpanError, SpanKind, Step


def actions_of(evidence: RunEvidence) -> list[Action]:
    """The actions of a run, in order."""
    return list(evidence.account.actions)


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


def _turn(step: Step, answer: Payload | None) -> Turn:
    """One step; of the step that answers, the answer is no statement of this layer's."""
    sources = [snippet.source for snippet in step.snippets]
    words = thought_of(step.text, "\n".join(sources)) or ""
    if answer is not None:
        words = words.replace(answer.text.strip(), " ") if answer.text.strip() else words
    given = [json.dumps([*call.args, *call.kwargs.values()], default=str) for call in step.calls]
    shown = [step.observation, _shown_error(step.error)]
    shown += [text for snippet in step.snippets for text in (snippet.observation, snippet.logs)]
    shown += [call.result.text for call in step.calls if call.result]
    shown += [_shown_error(call.error) for call in step.calls]
    return Turn(
        step.number, step.span_id, words, "\n".join([*sources, *given]), "\n".join(filter(None, shown))
    )


def _shown_error(error: SpanError | None) -> str | None:
    if error is None:
        return None
    return f"{error.type or 'error'}: {error.message}"


def _written(value: JsonValue) -> str:
    if isinstance(value, dict):
        return f"{value.get('type') or 'error'}: {value.get('message') or ''}"
    return value if isinstance(value, str) else json.dumps(value)
