"""What would have come out: a run, replayed with other code or with other tool results.

In: a run and what is changed in it. Out: the replay of a case's frozen run, which is not judged; or a stored
run judged by every layer, with what the replay gave in place of the record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spanproof.evaluators.actions import is_answer
from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.engine import Engine, build_subject
from spanproof.evaluators.model import NoReplay, Replay, RunEvaluation
from spanproof.evaluators.replay import FixtureBook
from spanproof.evaluators.runner import Runner
from spanproof.evaluators.runs import list_runs
from spanproof.sandbox import Sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.suites.case import Case
from spanproof.suites.errors import SuiteError
from spanproof.trace import (
    JsonValue,
    Payload,
    RecordedCall,
    Run,
    Snippet,
    Span,
    SpanError,
    Step,
    Trace,
    digest,
    trace_of,
)


@dataclass(frozen=True, slots=True)
class Alteration:
    """What is other than on record.

    Attributes:
        sources: code, by the id of its snippet.
        results: what tool calls return, by their number in `list_calls`.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[int, JsonValue] = field(default_factory=dict)


def get_frozen_run(case: Case) -> tuple[Trace, Run]:
    """Return the frozen run of a case with its trace.

    Raises:
        SuiteError: the case holds no run.
    """
    if case.trace is not None and case.origin is not None:
        for run in list_runs(case.trace, list_snippets(case.trace)):
            if run.span_id == case.origin.run_span_id:
                return case.trace, run
    raise SuiteError(f"case {case.id} holds no frozen run")


def list_calls(run: Run) -> list[RecordedCall]:
    """Return the tool calls of a run, in order of its steps."""
    return [call for step in run.steps for call in step.calls]


def run_altered(case: Case, change: Alteration, pipeline: Pipeline, sandbox: Sandbox) -> RunEvaluation:
    """Replay the frozen run of a case as it is altered; nothing is judged, and nothing is written.

    Raises:
        SuiteError: the case holds no run, or the alteration names what the run does not have.
    """
    trace, run = get_frozen_run(case)
    altered = build_altered_run(run, change, f"case {case.id}")
    gates = {
        snippet.id: pipeline.with_subject(build_subject(trace, altered, snippet))
        for snippet in altered.snippets
    }
    scans = {
        snippet.id: gates[snippet.id].scan(snippet.language.value, snippet.source)
        for snippet in altered.snippets
    }
    runner = Runner(sandbox, "", 0.0)
    too_weak = runner.find_weakness(altered, {name: gate.policy for name, gate in gates.items()})
    if too_weak is not None:
        return RunEvaluation(altered, scans, NoReplay(too_weak), ())
    fixtures = case.fixtures or FixtureBook()
    replay, _ = runner.run_replay(trace, altered, scans, fixtures, with_apis=False)
    return RunEvaluation(altered, scans, replay, ())


def evaluate_altered(engine: Engine, trace: Trace, run: Run, change: Alteration) -> RunEvaluation:
    """Run a stored run again as it is altered, and judge what it would have been.

    The recorded tools answer. The run that is judged has what its replay gave in place of the record: what
    its code printed and returned, and the answer where its last code gives that.

    Raises:
        SuiteError: the alteration names what the run does not have.
    """
    replayed = engine.evaluate_altered(trace, build_altered_run(run, change, f"run {run.span_id}"))
    if isinstance(replayed.replay, NoReplay):
        return replayed
    return engine.evaluate_altered(trace, _with_replay(replayed.run, replayed.replay))


def _with_replay(run: Run, replay: Replay) -> Run:
    """Return the run with what its replay gave in place of the record; code that was not replayed stays."""
    steps = []
    answer = run.answer
    for step in run.steps:
        snippets, calls = [], step.calls
        for snippet in step.snippets:
            again = replay.find_step(snippet.id)
            if again is None:
                snippets.append(snippet)
                continue
            ran = again.execution
            output = Payload(ran.result_text, ran.result) if ran.result_text is not None else None
            error = SpanError(ran.raised.type, ran.raised.message, ran.raised.chain) if ran.raised else None
            observation = "".join((ran.stdout, ran.result_text or ""))
            snippets.append(
                replace(snippet, logs=ran.stdout, output=output, error=error, observation=observation)
            )
            if snippet.is_final and output is not None:
                answer = output
                calls = tuple(_build_final_call(call, output) for call in calls)
        shown = next((snippet.observation for snippet in snippets if snippet.observation is not None), None)
        observation_of_step = step.observation if shown is None else shown
        steps.append(replace(step, snippets=tuple(snippets), calls=calls, observation=observation_of_step))
    return replace(run, steps=tuple(steps), answer=answer)


def _build_final_call(call: RecordedCall, answer: Payload) -> RecordedCall:
    """Return the call that ended the run as it is with another answer; other calls as they are."""
    if not is_answer(call) or call.result is None:
        return call
    args, kwargs = (
        _build_changed(arguments, call.result.value, answer.value)
        for arguments in ([*call.args], {**call.kwargs})
    )
    return replace(call, args=tuple(args), kwargs=kwargs, result=answer)


def _build_changed(data: Any, old: JsonValue, new: JsonValue) -> Any:
    """Return JSON data with a value in place of another, wherever that is."""
    if data == old:
        return new
    if isinstance(data, Mapping):
        return {name: _build_changed(value, old, new) for name, value in data.items()}
    return [_build_changed(value, old, new) for value in data] if isinstance(data, list) else data


def build_altered_trace(trace: Trace, altered: Run, change: Alteration) -> Trace:
    """Return the trace with an altered run in place of its own, under an id that follows from the change.

    Raises:
        SuiteError: changed code is in a message of a model alone, where it cannot be replaced.
    """
    snippets = {snippet.span_id: snippet for snippet in altered.snippets if snippet.executed}
    calls = {call.span_id: call for call in list_calls(altered) if call.span_id is not None}
    changed = sorted(
        (*change.sources.items(), *((str(at), repr(value)) for at, value in change.results.items()))
    )
    trace_id = digest(
        "altered", trace.trace_id, altered.span_id, *(part for pair in changed for part in pair)
    )[:32]
    spans = []
    for span in trace.spans:
        span = replace(span, trace_id=trace_id)
        snippet, call = snippets.get(span.span_id), calls.get(span.span_id)
        if snippet is not None and span.code is not None:
            code = replace(span.code, source=snippet.source, logs=snippet.logs, output=snippet.output)
            span = replace(span, code=code, observation=snippet.observation, error=snippet.error)
        elif snippet is not None and snippet.id in change.sources:
            raise SuiteError(
                f"the code of span {span.span_id} is in a message: a case cannot hold it changed"
            )
        if call is not None:
            span = _build_call_span(span, call)
        if span.span_id == altered.span_id:
            span = replace(span, output=altered.answer)
        spans.append(span)
    return trace_of(spans)


def _build_call_span(span: Span, call: RecordedCall) -> Span:
    """Return the span of a tool with the result of its call, and that of the last one with the new answer."""
    if is_answer(call) and span.tool and span.output and call.result:
        arguments = _build_changed(span.tool.arguments, span.output.value, call.result.value)
        if arguments != span.tool.arguments:
            tool = replace(span.tool, arguments=arguments)
            span = replace(span, tool=tool, input=_build_payload(arguments))
    return replace(span, output=call.result, error=call.error)


def build_altered_run(run: Run, change: Alteration, name: str) -> Run:
    """Return the run with the code and the results of tools that a change names.

    Raises:
        SuiteError: the change names what the run does not have; `name` is what the message calls the run.
    """
    ids = {snippet.id for snippet in run.snippets}
    if unknown := sorted(change.sources.keys() - ids):
        raise SuiteError(f"{name} has no snippet {unknown[0]!r}")
    calls = list_calls(run)
    if unknown_calls := sorted(number for number in change.results if not 0 <= number < len(calls)):
        raise SuiteError(f"{name} has {len(calls)} tool calls, none of number {unknown_calls[0]}")
    results = [(calls[number], _build_payload(value)) for number, value in change.results.items()]

    def answer(call: RecordedCall) -> RecordedCall:
        """Return the call with its new result: it is on the step and on the tape of the code that made it."""
        for old, result in results:
            if (call.span_id == old.span_id) if call.span_id is not None else (call == old):
                return replace(call, result=result, error=None, replayable=True, reason=None)
        return call

    def rewrite(snippet: Snippet) -> Snippet:
        source = change.sources.get(snippet.id, snippet.source)
        return replace(snippet, source=source, tape=tuple(map(answer, snippet.tape)))

    def revise(step: Step) -> Step:
        return replace(
            step, snippets=tuple(map(rewrite, step.snippets)), calls=tuple(map(answer, step.calls))
        )

    return replace(run, steps=tuple(map(revise, run.steps)))


def _build_payload(value: JsonValue) -> Payload:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Payload(text, value, typed=True)
