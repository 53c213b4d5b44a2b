"""What a run was given beside its outputs: task, system prompt, earlier words, arguments, errors."""

from __future__ import annotations

import json

from spanproof.evaluators.layers.groundedness.sources.model import Context
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.outcomes.actions import is_answer
from spanproof.evaluators.runs.scope import spans_of
from spanproof.trace import RecordedCall, SpanKind

_MAX_ARGUMENTS = 60
_INSTRUCTING = frozenset(("system", "developer"))


def given_to(evidence: RunEvidence) -> Context:
    """Return what the run was given; the code it ran is apart, for what code writes down proves nothing."""
    tasks = [turn.task for turn in evidence.earlier if turn.task] + [evidence.run.task or ""]
    arguments: list[str] = []
    errors: list[str] = []
    for step in evidence.run.steps:
        calls = [call for call in step.calls if not is_answer(call)]
        arguments += [_arguments(call) for call in calls if call.args or call.kwargs]
        errors += [call.error.message for call in calls if call.error is not None and call.error.message]
        if step.error is not None and step.error.message:
            errors.append(step.error.message)
    return Context(
        "\n".join(tasks),
        _system_prompt(evidence),
        tuple(arguments[:_MAX_ARGUMENTS]),
        tuple(errors[:_MAX_ARGUMENTS]),
        tuple(each.source for each in evidence.run.snippets if each.executed and not each.is_final),
    )


def _system_prompt(evidence: RunEvidence) -> str:
    """Return what the run's first model call that has any was instructed by."""
    for span in spans_of(evidence.trace, evidence.run):
        found = [each.text for each in span.input_messages if each.role in _INSTRUCTING and each.text.strip()]
        if span.kind is SpanKind.LLM and found:
            return "\n".join(found)
    return ""


def _arguments(call: RecordedCall) -> str:
    given: object = dict(call.kwargs) if call.kwargs else list(call.args)
    return json.dumps(given, ensure_ascii=False, default=str)
