"""What would have come out: a case's frozen run, replayed with other code or with other tool results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from spanproof.evaluators.detect import detect
from spanproof.evaluators.engine import describe_subject
from spanproof.evaluators.model import NoReplay, RunEvaluation
from spanproof.evaluators.replay import FixtureBook
from spanproof.evaluators.runner import Runner
from spanproof.evaluators.runs import runs_of
from spanproof.sandbox import Sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.suites.case import Case
from spanproof.suites.errors import SuiteError
from spanproof.trace import JsonValue, Payload, RecordedCall, Run, Snippet, Step, Trace


@dataclass(frozen=True, slots=True)
class Alteration:
    """What is other than on record.

    Attributes:
        sources: code, by the id of its snippet.
        results: what tool calls return, by their number in `list_calls`.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[int, JsonValue] = field(default_factory=dict)


def find_frozen_run(case: Case) -> tuple[Trace, Run]:
    """Return the frozen run of a case with its trace.

    Raises:
        SuiteError: the case holds no run.
    """
    if case.trace is not None and case.origin is not None:
        for run in runs_of(case.trace, detect(case.trace)):
            if run.span_id == case.origin.run_span_id:
                return case.trace, run
    raise SuiteError(f"case {case.id} holds no frozen run")


def list_calls(run: Run) -> list[RecordedCall]:
    """Return the tool calls of a run, in order of its steps."""
    return [call for step in run.steps for call in step.calls]


def replay_altered(case: Case, change: Alteration, pipeline: Pipeline, sandbox: Sandbox) -> RunEvaluation:
    """Replay the frozen run of a case as it is altered; nothing is judged, and nothing is written.

    Raises:
        SuiteError: the case holds no run, or the alteration names what the run does not have.
    """
    trace, run = find_frozen_run(case)
    altered = _alter(run, change, case.id)
    gates = {
        each.id: pipeline.for_subject(describe_subject(trace, altered, each)) for each in altered.snippets
    }
    scans = {each.id: gates[each.id].scan(each.language.value, each.source) for each in altered.snippets}
    runner = Runner(sandbox, "", 0.0)
    too_weak = runner.too_weak(altered, {name: gate.policy for name, gate in gates.items()})
    if too_weak is not None:
        return RunEvaluation(altered, scans, NoReplay(too_weak), ())
    fixtures = case.fixtures or FixtureBook()
    replay, _ = runner.replayed(trace, altered, scans, fixtures, with_apis=False)
    return RunEvaluation(altered, scans, replay, ())


def _alter(run: Run, change: Alteration, case: str) -> Run:
    known = {snippet.id for snippet in run.snippets}
    if unknown := sorted(change.sources.keys() - known):
        raise SuiteError(f"case {case} has no snippet {unknown[0]!r}")
    calls = list_calls(run)
    if unknown_calls := sorted(number for number in change.results if not 0 <= number < len(calls)):
        raise SuiteError(f"case {case} has {len(calls)} tool calls, none of number {unknown_calls[0]}")
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
