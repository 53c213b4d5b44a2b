"""The failures of a run, from what the layers found.

In: a trace and one run's evaluation. Out: the `Failure` at the root of its failed verdicts. Explanations are
never read: exceptions come from the recorded and replayed outcomes, boundary failures from findings and
attempts, claims from their marks, the rest from the run's end and the names of failed scores. A run has one
root cause: the first mistake that nothing mended. A name that is undefined after it, circles and the limit of
steps are its symptoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

from spanproof.evaluators.actions import is_answer
from spanproof.evaluators.model import NoReplay, RunEvaluation, TraceEvaluation
from spanproof.evaluators.outcomes.account import build_account
from spanproof.evaluators.outcomes.model import FAILING, Account, StepOutcome
from spanproof.evaluators.outcomes.recovery import RecoveryStatus
from spanproof.evaluators.redact import with_masked_formats
from spanproof.evaluators.scores import find_score
from spanproof.failures.causes import build_signature
from spanproof.failures.messages import read_raised
from spanproof.failures.model import Failure, Signature
from spanproof.failures.targets import classify_target
from spanproof.sandbox import Attempt
from spanproof.sandbox.scanners.model import Verdict
from spanproof.trace import (
    ClaimVerdict,
    Ending,
    Label,
    Language,
    Layer,
    Run,
    Score,
    Scored,
    Snippet,
    SpanError,
    Step,
    Trace,
)

MAX_SAMPLE_CHARS = 300

# Layers that fail because of code or a call that failed.
_CODE_LAYERS = frozenset({Layer.EXECUTION, Layer.CORRECTNESS, Layer.TRAJECTORY})

# Scores of the trajectory that fail for what the agent did, and for nothing that went wrong before.
_ACTIONS = frozenset({"action_safety", "tool_selection"})

# Scores of the trajectory that fail because of another failure, where one of these layers has one.
_CONSEQUENCES = {
    "recovery": frozenset(Layer),
    "answered": frozenset(Layer),
}


class _Rank(IntEnum):
    """What a failure is within its run, the likeliest root cause first."""

    MISTAKE = 0
    MENDED = 1
    """Code or a call that failed, and that a later step mended."""
    SYMPTOM = 2
    """What follows from a mistake: circles, the step limit, no answer, no recovery."""
    OWN_EVALUATOR = 3


@dataclass(frozen=True, slots=True)
class _Found:
    """A failure before it has its place: where it is, what was said, and what it is within its run."""

    signature: Signature
    span_id: str
    sample: str = ""
    rank: _Rank = _Rank.MISTAKE


def list_failures(evaluation: TraceEvaluation) -> list[Failure]:
    """Return the failure of every run of a trace; none of runs whose every layer passes."""
    return [failure for run in evaluation.runs for failure in list_run_failures(evaluation.trace, run)]


def list_run_failures(trace: Trace, evaluated: RunEvaluation) -> list[Failure]:
    """Return the failure of one run, its root cause; none where it passes."""
    failed = [score for score in evaluated.scores if _is_failed(score)]
    if not failed:
        return []
    run = evaluated.run
    account = build_account(trace, run, evaluated.scans, evaluated.replay)
    layers = {score.layer for score in failed if score.name == score.layer.value}
    if layers & _CODE_LAYERS:
        found = _list_outcome_failures(evaluated, account)
    else:
        found = []
    if Layer.CORRECTNESS in layers:
        found += _iter_correctness_failures(failed, {failure.span_id for failure in found})
    found += _iter_boundary_failures(evaluated, failed)
    if Layer.GROUNDEDNESS in layers:
        found += _iter_groundedness_failures(failed, account)
    if Layer.TRAJECTORY in layers:
        found += _iter_trajectory_failures(run, failed, {failure.signature.layer for failure in found})
    found += [
        _Found(
            build_signature(score.layer, score.name, failure_class="fail"),
            score.span_id,
            rank=_Rank.OWN_EVALUATOR,
        )
        for score in failed
        if not _is_built_in(score)
    ]
    if not found:
        return []
    # Of one rank and time the first layer counts: `min` keeps the order.
    root = min(found, key=lambda failure: (failure.rank, _get_mistake_time(trace, run, failure.span_id)))
    return [
        Failure(
            signature=root.signature,
            trace_id=run.trace_id,
            run_span_id=run.span_id,
            span_id=root.span_id,
            sample=_format_sample(root.sample),
            time_ns=_get_time(trace, run, root.span_id),
            cohort=run.cohort,
        )
    ]


def _is_failed(score: Score) -> bool:
    return isinstance(score.outcome, Scored) and score.outcome.label is Label.FAIL


def _is_built_in(score: Score) -> bool:
    return find_score(score.layer, score.name) is not None


def _list_outcome_failures(evaluated: RunEvaluation, account: Account) -> list[_Found]:
    """Return the code and the calls that failed, with those that a later step mended."""
    mended = {
        recovery.failure.span_id
        for recovery in account.recoveries
        if recovery.status is not RecoveryStatus.UNRECOVERED
    }
    return [
        replace(failure, rank=_Rank.MENDED) if failure.span_id in mended else failure
        for failure in _iter_failed_parts(evaluated, account)
    ]


def _iter_failed_parts(evaluated: RunEvaluation, account: Account) -> Iterator[_Found]:
    for step in evaluated.run.steps:
        of_code: set[str | None] = set()
        has_part = False
        for snippet in step.snippets:
            outcome = account.get_snippet_outcome(snippet)
            if outcome.state in FAILING:
                has_part = True
                of_code |= {snippet.span_id, *(call.span_id for call in snippet.tape)}
                yield _build_snippet_failure(evaluated, snippet, outcome)
        for position, call in enumerate(step.calls):
            outcome = account.get_call_outcome(step, position)
            if outcome.state not in FAILING or is_answer(call) or call.span_id in of_code:
                continue
            has_part = True
            yield _build_outcome_failure("call", outcome, call.error, call.span_id or step.span_id, call.tool)
        own = account.steps.get(step.number)
        if not has_part and own is not None and own.state in FAILING:
            yield _build_outcome_failure("call", own, step.error, step.span_id, _get_requested_tool(step))


def _build_snippet_failure(evaluated: RunEvaluation, snippet: Snippet, outcome: StepOutcome) -> _Found:
    """Return the failure of code, with the traceback of its replay where the record has none of its words."""
    subject = "" if snippet.language is Language.PYTHON else snippet.language.value
    text, package = outcome.quote, ""
    replay = evaluated.replay
    again = None if isinstance(replay, NoReplay) else replay.find_step(snippet.id)
    if again is not None and outcome.replayed == outcome.failure_class:
        traced = read_raised(again.execution.stderr)
        if traced.error_type and traced.error_type == outcome.error_type:
            package = traced.package
        text = text or again.execution.stderr
    return _build_outcome_failure("outcome", outcome, snippet.error, snippet.span_id, subject, text, package)


def _build_outcome_failure(
    check: str,
    outcome: StepOutcome,
    error: SpanError | None,
    span_id: str,
    subject: str,
    text: str = "",
    package: str = "",
) -> _Found:
    if error is not None and error.message:
        words_of_error = error.message
    else:
        words_of_error = text or outcome.quote
    raised = read_raised(words_of_error, outcome.error_type)
    signature = build_signature(
        Layer.EXECUTION,
        check,
        failure_class=str(outcome.failure_class or ""),
        error_type=raised.error_type,
        message=raised.message,
        subject=subject,
        package=package or raised.package,
    )
    words = ": ".join(part for part in (raised.error_type, raised.message) if part)
    return _Found(signature, span_id, words or str(outcome.failure_class or ""))


def _get_requested_tool(step: Step) -> str:
    return step.requested[0].name if step.requested else ""


def _iter_correctness_failures(scores: Iterable[Score], raised: set[str]) -> Iterator[_Found]:
    for score in scores:
        of_layer = score.layer is Layer.CORRECTNESS and score.name != Layer.CORRECTNESS.value
        if of_layer and score.span_id not in raised and _is_built_in(score):
            yield _Found(build_signature(score.layer, score.name), score.span_id)


def _iter_boundary_failures(evaluated: RunEvaluation, scores: Iterable[Score]) -> Iterator[_Found]:
    checks: dict[str, set[str]] = {}
    for score in scores:
        if score.layer is Layer.BOUNDARY:
            checks.setdefault(score.snippet_id or "", set()).add(score.name)
            if score.name == "no_code":
                yield _Found(build_signature(score.layer, score.name), score.span_id)
    for snippet in evaluated.run.snippets:
        names = checks.get(snippet.id, set())
        if "scan" in names:
            yield from _iter_scan_failures(evaluated, snippet)
        elif "attempts" in names:
            yield from _iter_attempt_failures(evaluated, snippet)


def _iter_scan_failures(evaluated: RunEvaluation, snippet: Snippet) -> Iterator[_Found]:
    scan = evaluated.scans.get(snippet.id)
    for finding in scan.findings if scan is not None else ():
        if finding.verdict is Verdict.DENY:
            signature = build_signature(Layer.BOUNDARY, "scan", failure_class="deny", subject=finding.rule)
            yield _Found(signature, snippet.span_id, finding.message)


def _iter_attempt_failures(evaluated: RunEvaluation, snippet: Snippet) -> Iterator[_Found]:
    replay = evaluated.replay
    step = None if isinstance(replay, NoReplay) else replay.find_step(snippet.id)
    refused: list[Attempt] = [
        attempt for attempt in (step.execution.attempts if step is not None else ()) if not attempt.allowed
    ]
    for attempt in refused:
        subject = classify_target(attempt.kind, attempt.target)
        signature = build_signature(
            Layer.BOUNDARY, "attempts", failure_class=attempt.kind.value, subject=subject
        )
        yield _Found(signature, snippet.span_id, attempt.target)
    if not refused:
        yield _Found(build_signature(Layer.BOUNDARY, "attempts"), snippet.span_id)


def _iter_groundedness_failures(scores: Iterable[Score], account: Account) -> Iterator[_Found]:
    of_layer = [score for score in scores if score.layer is Layer.GROUNDEDNESS]
    if account.fabricated:
        for origin in account.fabricated:
            subject = origin.kind.value
            signature = build_signature(
                Layer.GROUNDEDNESS, "origin", failure_class="fabricated", subject=subject
            )
            yield _Found(signature, origin.span_id or of_layer[0].span_id, origin.value)
        return
    if any(score.name == "drift" for score in of_layer):
        yield _Found(build_signature(Layer.GROUNDEDNESS, "drift"), of_layer[0].span_id)
        return
    for score in of_layer:
        if score.name != Layer.GROUNDEDNESS.value or not isinstance(score.outcome, Scored):
            continue
        marks = [fact.claim for fact in score.outcome.evidence if fact.claim is not None]
        wrong = [mark for mark in marks if mark.verdict is ClaimVerdict.CONTRADICTED]
        for mark in wrong:
            signature = build_signature(score.layer, "claim", failure_class="contradicted", subject=mark.kind)
            yield _Found(signature, score.span_id, mark.found or "")
        if not wrong:
            yield _Found(build_signature(score.layer, "claim", failure_class="unsupported"), score.span_id)


def _iter_trajectory_failures(run: Run, scores: Iterable[Score], explained: set[Layer]) -> Iterator[_Found]:
    for score in scores:
        if score.layer is not Layer.TRAJECTORY or score.name == score.layer.value or not _is_built_in(score):
            continue
        ending = _classify_ending(run) if score.name == "answered" else ""
        follows = explained & _CONSEQUENCES.get(score.name, frozenset())
        if follows and ending != Ending.MAX_STEPS.value:
            continue
        error = run.error if ending == Ending.FAILED.value else None
        if error is not None:
            raised = read_raised(error.message, error.type)
        else:
            raised = read_raised("")
        signature = build_signature(
            score.layer,
            score.name,
            failure_class=ending,
            error_type=raised.error_type,
            message=raised.message,
        )
        rank = _Rank.MISTAKE if score.name in _ACTIONS else _Rank.SYMPTOM
        yield _Found(signature, score.span_id, raised.message, rank)


def _classify_ending(run: Run) -> str:
    """Return how a run that did not complete its task ended; `reported` where its answer says so."""
    if run.ending in (Ending.MAX_STEPS, Ending.FAILED):
        return run.ending.value
    if run.answer is not None and run.answer.text.strip():
        return "reported"
    return ""


def _get_time(trace: Trace, run: Run, span_id: str) -> int:
    span = trace.by_id.get(span_id)
    if span is not None:
        return span.start_ns
    return run.start_ns


def _get_mistake_time(trace: Trace, run: Run, span_id: str) -> int:
    """Return the time of a mistake; what is found in a run as a whole comes after its steps."""
    if span_id == run.span_id:
        return run.end_ns
    return _get_time(trace, run, span_id)


def _format_sample(sample: str) -> str:
    masked = with_masked_formats(" ".join(sample[: MAX_SAMPLE_CHARS * 4].split()))
    if len(masked) <= MAX_SAMPLE_CHARS:
        return masked
    return f"{masked[: MAX_SAMPLE_CHARS - 1]}…"
