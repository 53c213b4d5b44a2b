"""What a run was given and did beside its outputs: task, prompts, arguments, errors, code and calls.

In: the evidence about a run. Out: a `Context`, and its calls with their outcomes.
"""

from __future__ import annotations

import json

from spanproof.evaluators.actions import is_answer
from spanproof.evaluators.layers.groundedness.doings import Doing
from spanproof.evaluators.model import RunEvidence
from spanproof.evaluators.returned import Returned, format_payload
from spanproof.evaluators.runs.prompts import find_system_prompt
from spanproof.evaluators.runs.scope import list_run_spans
from spanproof.reading.answer_sources import Context
from spanproof.trace import Language, RecordedCall, SpanKind, Step

_MAX_ARGUMENTS = 60


def build_context(evidence: RunEvidence) -> Context:
    """Return what the run was given; the code it ran is apart, for what code writes down proves nothing."""
    spans = list_run_spans(evidence.trace, evidence.run)
    prompt = find_system_prompt(span for span in spans if span.kind is SpanKind.LLM)
    arguments: list[str] = []
    errors: list[str] = []
    for step in evidence.run.steps:
        calls = [call for call in step.calls if not is_answer(call)]
        arguments += [_format_arguments(call) for call in calls if _is_of_data(call, step)]
        errors += [call.error.message for call in calls if call.error is not None and call.error.message]
        if step.error is not None and step.error.message:
            errors.append(step.error.message)
    code = tuple(
        snippet.source for snippet in evidence.run.snippets if snippet.executed and not snippet.is_final
    )
    earlier = tuple(turn.task for turn in evidence.earlier if turn.task)
    kept = tuple(arguments[:_MAX_ARGUMENTS]), tuple(errors[:_MAX_ARGUMENTS])
    return Context(evidence.run.task or "", prompt or "", *kept, code, earlier)


def _is_of_data(call: RecordedCall, step: Step) -> bool:
    """Return whether a call was given arguments, and none of them is a program."""
    programs = [snippet.source for snippet in step.snippets if snippet.language is not Language.SQL]
    arguments = (*call.args, *call.kwargs.values())
    return bool(arguments) and not any(snippet in programs for snippet in arguments)


def list_doings(evidence: RunEvidence, returned: Returned) -> list[Doing]:
    """Return the calls of a run with their outcomes, for what the answer says was done."""
    positions = {output.span_id: position for position, output in enumerate(returned.outputs)}
    doings = []
    for step in evidence.run.steps:
        for position, call in enumerate(step.calls):
            if is_answer(call):
                continue
            arguments = _format_arguments(call) if call.args or call.kwargs else ""
            worked = call.error is None and evidence.account.of_call(step, position).ok is not False
            result = format_payload(call.result) if call.result is not None else ""
            output = positions.get(call.span_id or step.span_id)
            doings.append(Doing(call.tool, arguments, worked, output, result))
    return doings


def _format_arguments(call: RecordedCall) -> str:
    arguments: object = dict(call.kwargs) if call.kwargs else list(call.args)
    return json.dumps(arguments, ensure_ascii=False, default=str)
