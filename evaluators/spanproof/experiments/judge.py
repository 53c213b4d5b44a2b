"""A trial judged: its trace evaluated by all layers, and each requirement of the case held against it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from spanproof.evaluators.casetests import CaseTests, build_patched_files, build_work_tests
from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.runs import list_runs
from spanproof.evaluators.score_rows import build_run_row
from spanproof.experiments.launch import Ended
from spanproof.experiments.trial import Trial, TrialVerdict
from spanproof.suites import Case
from spanproof.suites.case import UnknownCalls
from spanproof.suites.requirements import Attempt, Finding, list_endpoint_requirements
from spanproof.trace import Cause, Layer, Run, Scored, SpanKind, Trace, get_state
from spanproof.trace.dialects import read_traces
from spanproof.trace.otlp import MalformedOtlp, read_file

_HOW_TO_TRACE = "a program or service sends its spans to OTEL_EXPORTER_OTLP_ENDPOINT or --listen-port"
_COST_SCORE = (Layer.TRAJECTORY, "cost_usd")
_NOTHING_SHOWN = (
    "no required layer has a verdict; say in `must` what the agent has to do, or give the case tests"
)


def evaluate_trial(
    case: Case, number: int, ended: Ended, trace_file: Path, engine: Engine, seed: int
) -> Trial:
    """Return the result of a trial whose agent has ended.

    Args:
        case: its requirements, tests and fixtures.
        number: of the trial, from 1.
        ended: how the agent ended.
        trace_file: the spans it left; there may be none.
        engine: judges the run.
        seed: of the trial, which its replay starts from, too.
    """
    start = time.monotonic()
    return replace(
        _evaluate_ended(case, number, ended, trace_file, engine, seed),
        judge_s=round(time.monotonic() - start, 3),
    )


def _evaluate_ended(
    case: Case, number: int, ended: Ended, trace_file: Path, engine: Engine, seed: int
) -> Trial:
    trace = load_trace(trace_file)
    if trace is None:
        return _evaluate_without_run(case, number, ended)
    root = _find_root(trace)
    if root is None:
        return _evaluate_without_run(case, number, ended)
    if case.tests is not None:
        tests = {root.span_id: _build_tests(case, ended)}
    else:
        tests = None
    evaluation = engine.evaluate(trace, tests, case.fixtures, seed)
    run = next(judged for judged in evaluation.runs if judged.run.span_id == root.span_id)
    findings = _list_findings(case, Attempt(run, ended.answer, ended.files, ended.requests))
    verdict, reason, layer = _classify_findings(findings, ended)
    return Trial(
        case=case.id,
        number=number,
        verdict=verdict,
        reason=reason,
        layer=layer,
        findings=findings,
        layers={layer.value: get_state(run.layers.get(layer)) for layer in Layer},
        answer=ended.answer,
        error=ended.error,
        wall_s=ended.wall_s,
        tokens=_count_tokens(evaluation),
        cost_usd=_compute_cost(evaluation),
        steps=len(run.run.steps),
        ok_steps=sum(step.error is None for step in run.run.steps),
        models=_list_models(trace),
        unknown_calls=ended.unknown_calls,
        requests=tuple(request.to_json() for request in ended.requests),
        trace_id=trace.trace_id,
        trace_file=trace_file.name,
        row={"trace_id": trace.trace_id, "case": case.id, "trial": number, "runs": [build_run_row(run)]},
    )


def _build_tests(case: Case, ended: Ended) -> CaseTests:
    """Return the case's tests, over the files that the agent left or patched where these are known."""
    assert case.tests is not None
    left = build_patched_files(ended.answer, case.files, ended.files or {})
    if left:
        return build_work_tests(case.tests, case.files, left)
    return case.tests


def _evaluate_without_run(case: Case, number: int, ended: Ended) -> Trial:
    """Return the result where no run is on record: answers and files are judged all the same."""
    findings = _list_findings(case, Attempt(None, ended.answer, ended.files, ended.requests))
    verdict, reason, layer = _classify_findings(findings, ended)
    # Without a run, only the tests of the case can fail a layer: they have no code to test.
    needs_trace = verdict is TrialVerdict.UNJUDGED or (layer is not None and ended.error is None)
    return Trial(
        case.id,
        number,
        verdict,
        f"{reason}; {_HOW_TO_TRACE}" if needs_trace else reason,
        layer,
        findings,
        answer=ended.answer,
        error=ended.error,
        wall_s=ended.wall_s,
        unknown_calls=ended.unknown_calls,
        requests=tuple(request.to_json() for request in ended.requests),
    )


def _list_findings(case: Case, attempt: Attempt) -> tuple[Finding, ...]:
    is_bound = bool(attempt.requests) and case.unknown_calls is UnknownCalls.FAIL
    if is_bound:
        required = (*list_endpoint_requirements(), *case.required)
    else:
        required = case.required
    return tuple(requirement.evaluate(attempt) for requirement in required)


def load_trace(path: Path) -> Trace | None:
    """Return the trace with the most spans; None where no spans were written."""
    try:
        requests = read_file(path) if path.exists() else []
    except MalformedOtlp:
        requests = []  # a process that was killed while it wrote
    return max(read_traces(requests), key=lambda trace: len(trace.spans), default=None)


def _find_root(trace: Trace) -> Run | None:
    """Return the run that no other run called; of several the first."""
    runs = list_runs(trace, list_snippets(trace))
    return next((run for run in runs if run.parent_span_id is None), None)


def _classify_findings(findings: Sequence[Finding], ended: Ended) -> tuple[TrialVerdict, str, Layer | None]:
    failed = [finding for finding in findings if finding.holds is False]
    layer = next((finding.layer for finding in failed if finding.layer), None)
    if ended.error is not None:
        return TrialVerdict.FAILED, f"the agent failed: {ended.error}", layer
    if failed:
        return TrialVerdict.FAILED, _format_finding(failed[0]), layer
    errored = next((finding for finding in findings if finding.errored), None)
    if errored is not None:
        return TrialVerdict.ERRORED, _format_finding(errored), None
    undecided = [finding for finding in findings if finding.holds is None]
    unjudged = [finding for finding in undecided if not finding.is_open]
    if unjudged:
        return TrialVerdict.UNJUDGED, f"not judged: {_format_finding(unjudged[0])}", None
    if undecided:
        gravest = min(undecided, key=_get_rank)
        return TrialVerdict.OPEN, _format_finding(gravest), gravest.layer
    # An agent that does nothing fails no layer, either.
    if not any(finding.is_evidence for finding in findings):
        return TrialVerdict.UNJUDGED, f"not judged: {_NOTHING_SHOWN}", None
    return TrialVerdict.PASSED, "", None


def _get_rank(finding: Finding) -> int:
    """Return the place of a cause among all, which are listed from the gravest on."""
    causes = list(Cause)
    if finding.cause is not None:
        return causes.index(finding.cause)
    return len(causes)


def _format_finding(finding: Finding) -> str:
    if finding.layer:
        return finding.reason
    return f"{finding.requirement}: {finding.reason}"


def _count_tokens(evaluation: TraceEvaluation) -> int:
    usages = [judged.run.usage for judged in evaluation.runs]
    return sum(usage.input_tokens + usage.output_tokens for usage in usages)


def _list_models(trace: Trace) -> tuple[str, ...]:
    """Return the models that were called, in the order of the alphabet."""
    calls = [span for span in trace.spans if span.kind is SpanKind.LLM]
    return tuple(sorted({call.model for call in calls if call.model}))


def _compute_cost(evaluation: TraceEvaluation) -> float | None:
    """Return the cost of all runs in US dollars; None where no run's model has a known price."""
    scores = [score for score in evaluation.scores if (score.layer, score.name) == _COST_SCORE]
    raw = [score.outcome.raw for score in scores if isinstance(score.outcome, Scored)]
    costs = [cost for cost in raw if cost is not None]
    return sum(costs) if costs else None
