"""From what the store gives to the models of the API.

Text of a trace goes out as it is, but bounded, with secrets of known formats masked; who shows it escapes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final, Literal

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from spanproof.api import models
from spanproof.evaluators.intervals import compute_wilson_interval
from spanproof.evaluators.model import NoReplay, ReplayedStep, RunEvaluation, TraceEvaluation
from spanproof.evaluators.redact import with_masked_formats
from spanproof.evaluators.refusals import format_refusal
from spanproof.evaluators.replay.record import read_record
from spanproof.evaluators.run_state import EXTERNAL_PREFIX, find_reason, is_person_verdict
from spanproof.evaluators.scores import find_state
from spanproof.store import (
    CauseCount,
    CohortShare,
    FailRate,
    FailureCluster,
    Group,
)
from spanproof.trace import (
    CAUSE_WORDS,
    ClaimVerdict,
    Errored,
    Evidence,
    JsonValue,
    Language,
    Layer,
    Outcome,
    Payload,
    RecordedCall,
    Refusal,
    Score,
    Scored,
    SentenceState,
    Skipped,
    Snippet,
    State,
    Step,
    fold_states,
    get_state,
)

_LONGEST: Final = 20_000
# The console's `Plain` shows the same characters by their code points.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_CODE_OPENS: Final = re.compile(r"(?:<code>|```\w*)\s*\Z")
EVERY_STEP: Final = slice(None)
"""The steps of a run that is shown whole."""
_MOST_EVIDENCE: Final = 100
TREND_PARTS: Final = 24
_FORMATTER: Final[HtmlFormatter[str]] = HtmlFormatter(nowrap=True)
_NO_TREND: Final = (0,) * TREND_PARTS


def build_failure_cluster(
    found: FailureCluster, trends: Mapping[str, Sequence[int]]
) -> models.FailureCluster:
    """Return a cluster of failures with what is known about it."""
    explanation = found.explanation
    kind, category = (
        (explanation.kind.id, explanation.kind.category) if explanation.kind is not None else ("", "")
    )
    return models.FailureCluster(
        id=found.id,
        name=with_masked_formats(found.name),
        layer=found.signature.layer,
        state=found.state,
        note=found.note,
        link=found.link,
        cause=explanation.cause,
        fix=explanation.fix,
        judge_fix=found.judge_fix,
        judge_model=found.judge_model,
        kind=kind,
        category=category,
        runs=found.runs,
        runs_before=found.runs_before,
        first_seen_ns=found.first_seen_ns,
        last_seen_ns=found.last_seen_ns,
        new_since=found.new_since,
        fingerprints=list(found.fingerprints),
        trend=[
            sum(parts)
            for parts in zip(
                *(trends.get(fingerprint, _NO_TREND) for fingerprint in found.fingerprints), strict=False
            )
        ],
    )


def build_failure_share(share: CohortShare) -> models.FailureShare:
    """Return the share of a cohort's runs that are in a cluster."""
    interval = compute_wilson_interval(share.failing, share.runs)
    assert interval is not None, "a cohort with a failing run has a run"
    return models.FailureShare(
        value=share.value, failing=share.failing, runs=share.runs, low=interval.low, high=interval.high
    )


def build_rate(counted: FailRate) -> models.Rate:
    """Return counted verdicts with the rate and its interval."""
    interval = compute_wilson_interval(counted.failed, counted.judged)
    return models.Rate(
        state=_compute_state(counted),
        judged=counted.judged,
        passed=counted.passed,
        failed=counted.failed,
        open=counted.open,
        errored=counted.errored,
        skipped=counted.skipped,
        advice=counted.advice,
        rate=counted.rate,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        open_rate=counted.open_rate,
        words=counted.words,
    )


def build_reason(found: CauseCount, outcomes: int) -> models.Reason:
    """Return a cause with its count, of so many outcomes."""
    return models.Reason(
        layer=found.layer,
        outcome=_OUTCOMES[found.state],
        cause=found.cause,
        reason=format_text(found.name),
        cause_words=format_text(found.words),
        times=found.count,
        share=found.count / outcomes if outcomes else 0.0,
        detail=format_text(found.detail),
        trace_id=found.trace_id,
    )


_OUTCOMES: Final[Mapping[State, Literal["open", "skipped", "errored"]]] = MappingProxyType(
    {State.OPEN: "open", State.SKIPPED: "skipped", State.ERRORED: "errored"}
)


def _compute_state(counted: FailRate) -> State:
    """Return what the verdicts of a window are together."""
    counts = {
        State.FAIL: counted.failed,
        State.ERRORED: counted.errored,
        State.OPEN: counted.open,
        State.PASS: counted.passed,
    }
    return fold_states(state for state, count in counts.items() if count)


def build_cohort_rates(value: str, layers: Mapping[Layer, models.Rate]) -> models.CohortRates:
    """Return the verdicts of one value of a dimension."""
    return models.CohortRates(
        value=value, state=fold_states(rate.state for rate in layers.values()), layers=dict(layers)
    )


def build_measured(group: Group) -> models.Measured:
    """Return one score over one stretch of time."""
    return models.Measured(
        values=[format_text(value) for value in group.values],
        start_ns=group.start_ns,
        rate=build_rate(group.verdicts),
        mean=group.mean,
        raw_mean=group.raw_mean,
        raw_p50=group.raw_p50,
        raw_p95=group.raw_p95,
        unit=format_text(group.unit),
    )


def build_outcome(outcome: Outcome) -> models.Outcome:
    """Return the outcome of a layer: a verdict, or why there is none."""
    return _build_outcome(outcome, get_state(outcome))


def _build_outcome(outcome: Outcome, state: State | None) -> models.Outcome:
    """Return an outcome in this state; None is that of advice and of metrics."""
    value: float | None = None
    match outcome:
        case Scored(value=value, explanation=explanation):
            pass
        case Skipped(reason=explanation):
            pass
        case Errored(error_type=error_type, message=message):
            explanation = f"{error_type}: {message}"
    cause = None if isinstance(outcome, Errored) else outcome.cause
    return models.Outcome(
        state=state,
        verdict=get_state(outcome),
        value=value,
        explanation=format_text(explanation),
        cause=cause,
        cause_words=CAUSE_WORDS[cause][0] if cause else "",
        detail="" if isinstance(outcome, Errored) else format_text(outcome.detail),
    )


def build_run(evaluation: RunEvaluation, steps: slice = EVERY_STEP) -> models.Run:
    """Return one run with verdicts, evidence and claims, and with these steps and their scores."""
    found = evaluation.run
    numbers = group_step_numbers(found.steps)
    shown_steps = found.steps[steps]
    layers, others = _split_scores(evaluation, numbers, shown_steps)
    state = evaluation.state
    answer = found.answer.text if found.answer else None
    shown = find_text(answer)
    cohort = {name: format_text(value) for name in _DIMENSIONS if (value := getattr(found.cohort, name))}
    tokens = (found.usage.input_tokens + found.usage.output_tokens) or None
    # A masked secret moves the characters behind it: claims are not marked then.
    claims = list(_iter_claims(layers)) if shown == answer else []
    evidence_steps = {
        span_id: numbers[span_id] for span_id in _iter_evidence_spans(layers) if span_id in numbers
    }
    return models.Run(
        span_id=found.span_id,
        agent=format_text(found.name),
        task=find_text(found.task),
        answer=shown,
        ending=found.ending.value,
        start_ns=found.start_ns,
        end_ns=found.end_ns,
        cohort=cohort,
        tokens=tokens,
        state=state,
        sentence=_describe_state(evaluation.layers),
        reason_layer=_find_reason_layer(evaluation.layers),
        verdict=state,
        replay=_describe_replay(evaluation),
        layers=[_build_layer(evaluation, score) for score in layers],
        scores=[_build_score(score) for score in others],
        claims=claims,
        steps=[_build_step(evaluation, step) for step in shown_steps],
        step_count=len(found.steps),
        step_of_span=evidence_steps,
    )


def _split_scores(
    evaluation: RunEvaluation, numbers: Mapping[str, int], shown_steps: Iterable[Step]
) -> tuple[list[Score], list[Score]]:
    """Return the scores of the layers, in their order, and the others of the run and of these steps."""
    run_span_id = evaluation.run.span_id
    shown_numbers = {None, *(step.number for step in shown_steps)}
    layers: list[Score] = []
    others: list[Score] = []
    for score in evaluation.scores:
        if score.name == score.layer.value and score.span_id == run_span_id:
            layers.append(score)
        elif score.span_id == run_span_id or numbers.get(score.span_id) in shown_numbers:
            others.append(score)
    order = list(Layer)
    return sorted(layers, key=lambda score: order.index(score.layer)), others


def group_step_numbers(steps: Iterable[Step]) -> Mapping[str, int]:
    """Return the number of the step of each span that is a step, its code or a call."""
    numbers: dict[str, int] = {}
    for step in steps:
        of_code = [snippet.span_id for snippet in step.snippets]
        of_calls = [call.span_id for call in step.calls if call.span_id is not None]
        for span_id in (step.span_id, *of_code, *of_calls):
            numbers.setdefault(span_id, step.number)
    return numbers


def _iter_evidence_spans(scores: Iterable[Score]) -> Iterator[str]:
    """Yield the spans that the evidence of scores names."""
    for score in scores:
        if isinstance(score.outcome, Scored):
            yield from (fact.span_id for fact in score.outcome.evidence if fact.span_id is not None)


_DIMENSIONS = ("service", "agent", "model", "prompt_version", "task", "executor", "release")


def describe_reason(layers: Mapping[Layer, Outcome]) -> str:
    """Return why a run is not passed: its gravest layer and what that says; empty where it passed."""
    if not layers:
        return "the trace holds nothing to judge"
    layer = _find_reason_layer(layers)
    return f"{layer.value}: {build_outcome(layers[layer]).explanation}" if layer else ""


def _find_reason_layer(layers: Mapping[Layer, Outcome]) -> Layer | None:
    """Return the layer that says why a run is not passed; None where it passed."""
    found = find_reason(layers)
    return found[0] if found and get_state(found[1]) is not State.PASS else None


def _describe_state(layers: Mapping[Layer, Outcome]) -> str:
    """Return why a run is in its state."""
    passed = [layer.value for layer in Layer if get_state(layers.get(layer)) is State.PASS]
    return describe_reason(layers) or f"passes {', '.join(passed)}"


def _describe_replay(evaluation: RunEvaluation) -> str:
    if isinstance(evaluation.replay, NoReplay):
        return f"not replayed: {format_text(evaluation.replay.reason)}"
    steps, left = evaluation.replay.steps, evaluation.replay.first_divergence
    if left is not None:
        number, step = left
        how = step.difference or "it calls a tool in a way that is not on record"
        return f"the replay leaves the record first at snippet {number}: {format_text(how)}"
    compared = sum(step.agrees is not None for step in steps)
    return f"{len(steps)} of {len(evaluation.run.snippets)} snippets replayed, {compared} compared, all agree"


def _iter_claims(layers: Iterable[Score]) -> Iterable[models.Claim]:
    for score in layers:
        if score.layer is Layer.GROUNDEDNESS and isinstance(score.outcome, Scored):
            for fact in score.outcome.evidence:
                if fact.claim is not None:
                    yield models.Claim(
                        start=fact.claim.start,
                        end=fact.claim.end,
                        verdict=fact.claim.verdict,
                        why=format_text(fact.what),
                        span_id=fact.span_id,
                        found=None if fact.claim.found is None else format_text(fact.claim.found),
                        cell=fact.claim.cell[0] if fact.claim.cell else None,
                    )


def _build_layer(evaluation: RunEvaluation, score: Score) -> models.Score:
    """Return a layer's own score, with a person's verdict in its place where there is one."""
    shown = _build_score(score)
    counting = evaluation.layers[score.layer]
    person = next((item for item in evaluation.scores if item.outcome is counting), None)
    if person is None or not is_person_verdict(person):
        return shown
    return shown.model_copy(
        update={
            "outcome": build_outcome(counting),
            "settled_by": format_text(person.evaluator.removeprefix(EXTERNAL_PREFIX)),
            "settled": shown.outcome,
        }
    )


def _build_score(score: Score) -> models.Score:
    scored = score.outcome if isinstance(score.outcome, Scored) else None
    return models.Score(
        layer=score.layer,
        name=format_text(score.name),
        span_id=score.span_id,
        outcome=_build_outcome(score.outcome, find_state(score.layer, score.name, score.outcome)),
        settled_by="",
        settled=None,
        raw=scored.raw if scored else None,
        unit=scored.unit if scored else "",
        evidence=build_facts(score),
    )


def build_facts(score: Score) -> list[models.Fact]:
    """Return the facts behind a verdict, the strongest first and a bounded number."""
    evidence = score.outcome.evidence if isinstance(score.outcome, Scored) else ()
    shown = [fact for fact in evidence if not _repeats_verdict(fact)]
    return [
        models.Fact(
            what=format_text(fact.what),
            claim=_find_claim_verdict(fact),
            span_id=fact.span_id,
            recorded=find_text(fact.recorded),
            replayed=find_text(fact.replayed),
        )
        for fact in shown[:_MOST_EVIDENCE]
    ]


def _repeats_verdict(fact: Evidence) -> bool:
    """Whether a fact says no more than the verdict of its sentence, which facts of its claims explain."""
    return fact.sentence is not None and fact.what == fact.sentence.verdict.value


def _find_claim_verdict(fact: Evidence) -> ClaimVerdict | None:
    """Return what the outputs say of a claim; a sentence that was not read is uncertain."""
    if fact.claim is not None:
        return fact.claim.verdict
    is_open = fact.sentence is not None and fact.sentence.verdict is SentenceState.OPEN
    return ClaimVerdict.UNCERTAIN if is_open else None


def build_versioned_score(score: Score) -> models.VersionedScore:
    """Return a score with where it came from."""
    shown = _build_score(score)
    return models.VersionedScore(
        **dict(shown), id=score.id, evaluator=format_text(score.evaluator), version=format_text(score.version)
    )


def find_snippet(evaluation: TraceEvaluation, snippet_id: str) -> models.Snippet | None:
    """Return one snippet of a trace; None where it has no such snippet."""
    for run in evaluation.runs:
        for snippet in run.run.snippets:
            if snippet.id == snippet_id:
                return _build_snippet(run, snippet)
    return None


def _build_step(evaluation: RunEvaluation, step: Step) -> models.Step:
    return models.Step(
        number=step.number,
        kind=step.kind,
        span_id=step.span_id,
        start_ns=step.start_ns,
        end_ns=step.end_ns,
        thought=format_text(_format_thought(step)),
        snippets=[_build_snippet(evaluation, snippet) for snippet in step.snippets],
        calls=[_build_call(call) for call in step.calls],
        error=format_text(step.error.message) if step.error else None,
        refused=_find_refusal(step.refusal),
    )


def _format_thought(step: Step) -> str:
    """Return what the model wrote before its code: the code is shown as code."""
    thought = step.text
    for snippet in step.snippets:
        thought = thought.partition(snippet.source.strip())[0] if snippet.source.strip() else thought
    return _CODE_OPENS.sub("", thought).strip()


def format_arguments(call: RecordedCall) -> str:
    """Return the arguments of a tool call, as they would be written."""
    arguments = [
        *map(_format_value, call.args),
        *(f"{name}={_format_value(value)}" for name, value in call.kwargs.items()),
    ]
    return format_text(", ".join(arguments))


def _build_call(call: RecordedCall) -> models.Call:
    return models.Call(
        span_id=call.span_id,
        tool=format_text(call.tool),
        arguments=format_arguments(call),
        result=_find_payload(call.result),
        error=format_text(call.error.message) if call.error else None,
        refused=_find_refusal(call.refusal),
    )


def _find_refusal(refusal: Refusal | None) -> str | None:
    return None if refusal is None else format_text(format_refusal(refusal))


def _build_snippet(evaluation: RunEvaluation, snippet: Snippet) -> models.Snippet:
    scan = evaluation.scans[snippet.id]
    replay = evaluation.replay
    again = None if isinstance(replay, NoReplay) else replay.find_step(snippet.id)
    reason = replay.reason if isinstance(replay, NoReplay) else replay.unreplayed.get(snippet.id)
    recorded = _build_recorded(snippet) if snippet.executed else None
    replayed = _build_replayed(again) if again else None
    return models.Snippet(
        id=snippet.id,
        span_id=snippet.span_id,
        language=snippet.language.value,
        executed=snippet.executed,
        lines=split_highlighted(snippet.source, snippet.language),
        cut=snippet.truncated or len(snippet.source) > _LONGEST,
        scan=scan.verdict.value,
        findings=[
            models.Finding(
                rule=finding.rule,
                severity=finding.severity.value,
                verdict=finding.verdict.value,
                line=finding.line,
                message=format_text(finding.message),
                remedy=format_text(finding.remedy),
            )
            for finding in scan.findings
        ],
        recorded=recorded,
        replayed=replayed,
        not_replayed=None if again else find_text(reason),
        refused=_find_refusal(snippet.refusal),
    )


def _build_recorded(snippet: Snippet) -> models.Recorded:
    record = read_record(snippet)
    printed = record.stdout if record.stdout is not None else record.shown
    return models.Recorded(
        ended=record.failure_class.value if record.failure_class else None,
        printed=find_text(printed),
        value=_find_payload(record.output),
        error=format_text(snippet.error.message) if snippet.error else None,
    )


def _build_replayed(step: ReplayedStep) -> models.Replayed:
    ran = step.execution
    return models.Replayed(
        ended=ran.failure_class.value,
        printed=format_text(ran.stdout),
        value=find_text(ran.result_text),
        error=format_text(f"{ran.raised.type}: {ran.raised.message}") if ran.raised else None,
        agrees=step.agrees,
        difference=find_text(step.difference),
        flaky=step.flaky,
        wall_s=ran.wall_s,
        peak_memory_bytes=ran.peak_memory_bytes,
        attempts=[
            models.Attempt(
                kind=attempt.kind.value,
                target=format_text(attempt.target),
                allowed=attempt.allowed,
                count=attempt.count,
            )
            for attempt in ran.attempts
        ],
        files={format_text(path): size for path, size in list(ran.files.items())[:200]},
    )


def split_highlighted(source: str, language: Language) -> list[str]:
    """Return source code as lines of HTML, escaped, with Pygments' short classes.

    Characters that show nothing, or that move others, are shown as their code points.
    """
    code = format_text(source).replace("\r\n", "\n").replace("\r", "\n")
    html = str(highlight(code, _get_lexer(language), _FORMATTER)).rstrip("\n")
    return _CONTROL.sub(_format_character, html).split("\n")


def _format_character(found: re.Match[str]) -> str:
    return f'<span class="control">U+{ord(found[0]):04X}</span>'


@cache
def _get_lexer(language: Language) -> Lexer:
    try:
        return get_lexer_by_name(language.value, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return get_lexer_by_name("text", stripnl=False, ensurenl=False)


def _find_payload(payload: Payload | None) -> str | None:
    return None if payload is None else format_text(payload.text)


def _format_value(value: JsonValue) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    return shown if len(shown) <= 200 else f"{shown[:199]}…"


def find_text(text: str | None) -> str | None:
    """Return text as `format_text` does, and None as it is."""
    return None if text is None else format_text(text)


def format_text(text: str) -> str:
    """Return text that JSON in UTF-8 can carry, bounded, without secrets of known formats."""
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return with_masked_formats(cut.encode("utf-8", "replace").decode())
