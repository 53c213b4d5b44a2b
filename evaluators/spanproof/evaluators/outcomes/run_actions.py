"""The actions of a run, in order, from its steps and their outcomes.

In: the steps of a run, the scans of its code and the outcome of each part. Out: `Action`s. What failed is
taken from the outcomes: nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from spanproof.evaluators.actions import (
    CODE,
    Action,
    build_call_action,
    build_code_action,
    build_refused_action,
    build_reply_action,
    find_thought,
)
from spanproof.evaluators.outcomes.context import is_within, list_code_spans
from spanproof.evaluators.outcomes.model import FAILING, StepOutcome
from spanproof.evaluators.recorded import read_unseen_output
from spanproof.sandbox.scanners.model import Scan
from spanproof.trace import JsonValue, RecordedCall, Refusal, Run, Snippet, SpanError, Step, digest

OfCall = Callable[[Step, int], StepOutcome]
OfSnippet = Callable[[Snippet], StepOutcome]


def list_actions(
    run: Run, scans: Mapping[str, Scan], of_snippet: OfSnippet, of_call: OfCall
) -> tuple[Action, ...]:
    """Return the actions of a run, in order."""
    return tuple(
        action for step in run.steps for action in _iter_step_actions(step, scans, of_snippet, of_call)
    )


def _iter_step_actions(
    step: Step, scans: Mapping[str, Scan], of_snippet: OfSnippet, of_call: OfCall
) -> Iterator[Action]:
    executed = [snippet for snippet in step.snippets if snippet.executed or snippet.refusal is not None]
    in_code = list_code_spans(executed)
    for snippet in executed:
        outcome = of_snippet(snippet)
        action = build_code_action(
            step.number,
            snippet.span_id,
            snippet.source,
            error=find_error_text(outcome, snippet.error or _find_own_error(step, snippet)),
            observation=snippet.observation or snippet.logs or step.observation,
            scan=scans.get(snippet.id),
            thought=find_thought(step.text, snippet.source),
        )
        yield _with_refusal(action, outcome.refusal)
    outer = [
        (position, call)
        for position, call in enumerate(step.calls)
        if not executed or not is_within(call, executed, in_code)
    ]
    for position, call in outer:
        yield _build_call_action(step, call, of_call(step, position))
    if not executed:
        yield from _iter_unseen_code(step)
    if not executed and not outer:
        yield from _iter_unrun_calls(step)


def _with_refusal(action: Action, refusal: Refusal | None) -> Action:
    if refusal is not None:
        return build_refused_action(action, refusal)
    return action


def find_error_text(outcome: StepOutcome, error: SpanError | None) -> str | None:
    """Return a failed part's error as `Type: message`, None where it did not fail."""
    if outcome.state not in FAILING:
        return None
    if error is not None:
        return f"{error.type or 'error'}: {error.message}"
    named = outcome.error_type is not None and not outcome.quote.startswith(outcome.error_type)
    if named:
        return f"{outcome.error_type}: {outcome.quote}"
    return outcome.quote or str(outcome.failure_class)


def _find_own_error(step: Step, snippet: Snippet) -> SpanError | None:
    """Return the step's error where nothing else is recorded of its code."""
    shown = snippet.observation or snippet.logs or snippet.output
    return None if shown else step.error


def _iter_unseen_code(step: Step) -> Iterator[Action]:
    """Code that is not on the trace but whose printed output is."""
    printed = read_unseen_output(step)
    if printed:
        outcome = digest("outcome", printed)
        yield Action(
            step.number, step.span_id, CODE, digest("unseen", str(step.number)), "unseen", outcome=outcome
        )


def _build_call_action(step: Step, call: RecordedCall, outcome: StepOutcome) -> Action:
    arguments: dict[str, JsonValue] = dict(call.kwargs)
    if call.args:
        arguments["args"] = list(call.args)
    action = build_call_action(
        step.number,
        call.span_id or step.span_id,
        call.tool,
        arguments,
        error=find_error_text(outcome, call.error),
        result=call.result.text if call.result else None,
        thought=find_thought(step.text),
    )
    return _with_refusal(action, outcome.refusal)


def _iter_unrun_calls(step: Step) -> Iterator[Action]:
    """Yield calls the model requested that never ran: they failed where the step did."""
    if step.error is not None:
        error = f"{step.error.type or 'error'}: {step.error.message}"
    else:
        error = None
    unrun = [
        build_call_action(
            step.number,
            step.span_id,
            call.name,
            call.arguments,
            error=error,
            result=step.observation,
            thought=find_thought(step.text),
        )
        for call in step.requested
    ]
    if not unrun and step.error is not None:
        unrun = [build_reply_action(step.number, step.span_id, step.text, error=error)]
    for action in unrun:
        yield _with_refusal(action, step.refusal)
