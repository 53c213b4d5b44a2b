"""Runs from their spans: task, answer, ending, cohort, flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spanproof.evaluators.refusals import find_ending_refusal, find_refusal
from spanproof.evaluators.runs.answers import find_answer
from spanproof.evaluators.runs.prompts import build_prompt_version, find_system_prompt
from spanproof.evaluators.runs.scope import (
    RunScope,
    awaits_tools,
    compute_usage,
    list_model_calls,
    list_scopes,
)
from spanproof.evaluators.runs.steps import build_steps
from spanproof.semconv import spanproof as ours
from spanproof.trace import (
    AttributeValue,
    Cohort,
    Ending,
    Message,
    Payload,
    Run,
    Snippet,
    Span,
    SpanKind,
    Step,
    Trace,
)
from spanproof.trace.project import get_stored_project

# How smolagents opens the message that holds the task.
_NEW_TASK = "New task:\n"

_OUT_OF_STEPS = frozenset(
    {"AgentMaxStepsError", "MaxTurnsExceeded", "GraphRecursionError", "UsageLimitExceeded"}
)
_MAX_STEPS_KEYS = (ours.RUN_MAX_STEPS, "smolagents.max_steps")


def list_runs(trace: Trace, snippets: Sequence[Snippet]) -> list[Run]:
    """Return the runs of this trace, in order of time.

    Args:
        trace: the whole trace.
        snippets: what `detect` found in it.
    """
    scopes = list_scopes(trace, {snippet.span_id for snippet in snippets})
    runs = [_build_run(trace, scope, snippets) for scope in scopes]
    return [_with_handed_task(run, runs) for run in runs]


def _build_run(trace: Trace, scope: RunScope, snippets: Sequence[Snippet]) -> Run:
    root = scope.root
    spans = (root, *scope.members)
    own = {span.span_id for span in spans}
    steps = build_steps(trace, scope, [snippet for snippet in snippets if snippet.span_id in own])
    calls = list_model_calls(trace, spans)
    output = _find_output(root, calls, steps)
    answer = find_answer(output)
    steps = _with_final_step(steps, answer, stopped=bool(calls) and awaits_tools(calls[-1]))
    ending = _classify_ending(root, steps, answer)
    if ending is Ending.ANSWERED and answer is None and output is not None:
        ending = Ending.UNKNOWN  # it ended with nothing, which its producer calls an answer
    if ending is Ending.MAX_STEPS:
        steps = _with_refused_end(steps)
    error = root.error
    if error is None and ending is Ending.FAILED:
        error = next((step.error for step in reversed(steps) if step.error is not None), None)
    is_hidden = any(span.hidden for span in spans)
    return Run(
        trace_id=trace.trace_id,
        span_id=root.span_id,
        name=root.agent or root.name,
        task=_find_task(root, calls),
        answer=answer,
        steps=steps,
        ending=ending,
        error=error,
        cohort=_build_cohort(root, spans, calls, steps),
        usage=compute_usage(trace, spans),
        start_ns=root.start_ns,
        end_ns=root.end_ns,
        hidden=is_hidden,
        truncated=any(span.truncated for span in spans),
        parent_span_id=scope.parent_span_id,
        refusal=find_refusal(trace, root) or find_ending_refusal(trace, root),
    )


def _find_task(root: Span, calls: Sequence[Span]) -> str | None:
    """Return the task of the agent: its input, else the user's last words before the first model call."""
    request = _find_last_text(root.input_messages, "user")
    if request is not None:
        return request
    if root.kind is SpanKind.AGENT and root.input is not None and isinstance(root.input.value, str):
        return root.input.text
    for call in calls[:1]:
        request = _find_last_text(call.input_messages, "user")
        if request is not None:
            return request.removeprefix(_NEW_TASK)
    if root.input is None or root.kind is SpanKind.TOOL:
        return None
    return root.input.text or None


def _find_output(root: Span, calls: Sequence[Span], steps: Sequence[Step]) -> Payload | None:
    """Return what the agent ended with: its last step's final one, its output, or its model's last words."""
    # First, as a streamed run's output may be the stream printed, not its end.
    result = _find_final_result(steps[-1]) if steps else None
    if result is not None:
        return result
    ends_in_calls = _ends_in_calls(root.output_messages)
    text = _find_last_text(root.output_messages, "assistant")
    if text is not None and not ends_in_calls:
        return Payload(text, text)
    if root.output is not None and root.kind is not SpanKind.TOOL and not root.output_messages:
        return root.output
    if not calls or awaits_tools(calls[-1]) or ends_in_calls:
        return None
    last = _find_last_text(calls[-1].output_messages, "assistant")
    return Payload(last, last) if last is not None else None


def _find_final_result(step: Step) -> Payload | None:
    """Return what a step's call of `final_answer` gave."""
    ending = (call for call in step.calls if call.tool == "final_answer" and call.error is None)
    call = next(ending, None)
    if call is not None and step.error is None:
        return call.result
    return None


def _find_last_text(spoken: Sequence[Message], role: str) -> str | None:
    return next((message.text for message in reversed(spoken) if message.role == role and message.text), None)


def _ends_in_calls(spoken: Sequence[Message]) -> bool:
    """Whether the last message requests calls and has no text."""
    last = next((message for message in reversed(spoken) if message.role == "assistant"), None)
    return last is not None and bool(last.tool_calls) and not last.text and spoken[-1] is last


def _with_final_step(steps: tuple[Step, ...], answer: Payload | None, *, stopped: bool) -> tuple[Step, ...]:
    """Return the steps with the last one marked final where its model's words are the answer.

    Args:
        steps: of one run.
        answer: what it answered.
        stopped: its last model call stopped for tools to run.
    """
    if not steps or answer is None or any(step.is_final for step in steps):
        return steps
    last = steps[-1]
    is_final = last.kind == "final_answer" or (bool(last.text) and not stopped)
    if is_final:
        return (*steps[:-1], replace(last, is_final=True))
    return steps


def _classify_ending(root: Span, steps: Sequence[Step], answer: Payload | None) -> Ending:
    declared = root.attributes.get(ours.RUN_ENDING)
    if isinstance(declared, str) and declared in set(Ending):
        return Ending(declared)
    errors = [error for error in (root.error, *(step.error for step in steps[-1:])) if error is not None]
    if any(_OUT_OF_STEPS & {error.type, *error.chain} for error in errors):
        return Ending.MAX_STEPS
    if root.error is not None:
        return Ending.FAILED
    limit = next((root.attributes[key] for key in _MAX_STEPS_KEYS if key in root.attributes), None)
    acted = [step for step in steps if step.kind == "action"]
    if isinstance(limit, int) and 0 < limit <= len(acted) and not any(step.is_final for step in acted):
        return Ending.MAX_STEPS
    if answer is not None:
        return Ending.ANSWERED
    return Ending.UNKNOWN


def _with_refused_end(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps of a run that reached its step limit; the error of that limit takes over a refusal.

    smolagents records the limit as the error of a last step, in which it only demands an answer. Where the
    step before was refused, that error is no failure of its own.
    """
    acted = [step for step in steps if step.snippets or step.calls or step.refusal]
    if not acted or acted[-1].refusal is None:
        return steps
    last = acted[-1]
    ended = []
    for step in steps:
        is_limit = step.error is not None and step.error.type in _OUT_OF_STEPS
        ended.append(replace(step, refusal=last.refusal) if is_limit and step.number > last.number else step)
    return tuple(ended)


def _build_cohort(root: Span, spans: Sequence[Span], calls: Sequence[Span], steps: Sequence[Step]) -> Cohort:
    snippets = [snippet for step in steps for snippet in step.snippets]
    ran = [snippet for snippet in snippets if snippet.executed]
    language = next((snippet.language.value for snippet in ran or snippets), "")
    prompt = find_system_prompt(calls)
    prompt_version = _read_declared(spans, "prompt_version")
    if not prompt_version and prompt:
        prompt_version = build_prompt_version(prompt)
    return Cohort(
        project=_get_project(root, spans),
        service=_read_text(root.resource, "service.name"),
        agent=root.agent or "",
        model=next((span.model for span in (*calls, *spans) if span.model), ""),
        prompt_version=prompt_version,
        task=_read_declared(spans, "task"),
        language=language,
        fixture_set=_read_declared(spans, "fixture_set"),
        executor=_format_executor(ran),
        release=_read_declared(spans, "release") or _read_text(root.resource, "service.version"),
    )


def _get_project(root: Span, spans: Sequence[Span]) -> str:
    return (
        get_stored_project(root.resource, "")
        or _read_declared(spans, "project")
        or _read_text(root.resource, "openinference.project.name")
        or "default"
    )


def _format_executor(ran: Sequence[Snippet]) -> str:
    """Return the type of the first executor that is recorded, with its image: `docker:python`."""
    executor = next((snippet.executor for snippet in ran if snippet.executor.type), None)
    if executor is None or executor.type is None:
        return ""
    if executor.image_name:
        return f"{executor.type}:{executor.image_name}"
    return executor.type


def _read_declared(spans: Sequence[Span], dimension: str) -> str:
    """Return a dimension as the first span that declares it has it, or as its resource has it."""
    key = ours.COHORT_PREFIX + dimension
    found = (_read_text(span.attributes, key) or _read_text(span.resource, key) for span in spans)
    return next((value for value in found if value), "")


def _read_text(attributes: Mapping[str, AttributeValue], key: str) -> str:
    value = attributes.get(key)
    return value if isinstance(value, str) else ""


def _with_handed_task(run: Run, runs: Sequence[Run]) -> Run:
    """Return the run; where its own task is not on the trace, with that of the run that called it."""
    if run.task is not None or run.parent_span_id is None:
        return run
    caller = next((other for other in runs if other.span_id == run.parent_span_id), None)
    if caller is not None:
        return replace(run, task=caller.task)
    return run
