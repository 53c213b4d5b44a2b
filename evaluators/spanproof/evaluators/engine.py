"""The engine: everything that is found about one trace, from detection to scores.

Takes a `Trace`; gives a `TraceEvaluation`. The order is fixed: every snippet of the trace is scanned before
anything runs, then each run is replayed, then the layers judge. A layer that raises costs its own judgement
and no other; a sandbox that cannot run costs the replay and is told as the reason. The same trace gives the
same scores with the same ids, whenever and wherever it is evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TypeVar

from spanproof.evaluators.detect import detect
from spanproof.evaluators.layers import boundary, correctness, execution, groundedness, trajectory
from spanproof.evaluators.model import (
    ApiReport,
    NoReplay,
    Replay,
    RunEvaluation,
    RunEvidence,
    TraceEvaluation,
)
from spanproof.evaluators.redact import Redactor
from spanproof.evaluators.replay import ApiIndex, replay_run
from spanproof.evaluators.runs import runs_of
from spanproof.sandbox import Sandbox, SandboxBroken, SandboxUnavailable
from spanproof.sandbox.scanners.model import Scan
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.semconv.spanproof import SCOPE_PREFIX
from spanproof.trace import (
    Errored,
    Judgement,
    Layer,
    Run,
    Score,
    Snippet,
    Span,
    SpanKind,
    Trace,
    digest,
    score_id,
    trace_of,
)

_Found = TypeVar("_Found")

Judge = Callable[[RunEvidence], list[Judgement]]

LAYERS: Mapping[Layer, Judge] = {
    Layer.CORRECTNESS: correctness.judge,
    Layer.BOUNDARY: boundary.judge,
    Layer.EXECUTION: execution.judge,
    Layer.GROUNDEDNESS: groundedness.judge,
    Layer.TRAJECTORY: trajectory.judge,
}
"""The order in which layers judge and are shown."""

_SWITCHED_OFF = "replay is switched off"


class Engine:
    """Evaluates traces. Thread-safe, as its sandbox and its pipeline promise to be."""

    def __init__(
        self, *, pipeline: Pipeline, sandbox: Sandbox | None, replay_disabled_reason: str = ""
    ) -> None:
        """Put an engine together.

        Args:
            pipeline: scans every snippet before anything runs.
            sandbox: where runs are replayed; None evaluates without a replay. The caller closes it.
            replay_disabled_reason: why there is no sandbox, as users will read it.
        """
        self._pipeline = pipeline
        self._sandbox = sandbox
        self._apis = ApiIndex(sandbox) if sandbox is not None else None
        self._no_replay = NoReplay(replay_disabled_reason or _SWITCHED_OFF)

    def evaluate(self, trace: Trace) -> TraceEvaluation:
        """Everything found about this trace. Spans of our own evaluators are not evaluated."""
        others = _without_evaluators(trace)
        if not others:
            return TraceEvaluation(trace, (), ())
        judged = trace if len(others) == len(trace.spans) else trace_of(others)
        snippets = detect(judged)
        scans = {
            snippet.id: self._pipeline.scan(snippet.language.value, snippet.source) for snippet in snippets
        }
        runs = tuple(self._evaluate_run(judged, run, scans) for run in runs_of(judged, snippets))
        bearing = {snippet.span_id for snippet in snippets}
        return TraceEvaluation(
            judged, runs, tuple(span.span_id for span in judged.spans if span.span_id in bearing)
        )

    def _evaluate_run(self, trace: Trace, run: Run, scans: Mapping[str, Scan]) -> RunEvaluation:
        own = {snippet.id: scans[snippet.id] for snippet in run.snippets}
        replay, apis = self._run_code(run, own)
        evidence = RunEvidence(trace, run, own, replay, apis, self._pipeline.policy)
        redactor = Redactor(run.snippets, own)
        judgements = [
            replace(judgement, outcome=redactor.outcome(judgement.outcome))
            for layer in LAYERS
            for judgement in judge_layer(layer, evidence)
        ]
        return RunEvaluation(run, own, replay, _scores(evidence, judgements))

    def _run_code(
        self, run: Run, scans: Mapping[str, Scan]
    ) -> tuple[Replay | NoReplay, Mapping[str, ApiReport]]:
        sandbox, apis = self._sandbox, self._apis
        if sandbox is None or apis is None:
            return self._no_replay, {}
        try:
            replay: Replay | NoReplay = _tried_twice(lambda: replay_run(run, scans, sandbox))
        except SandboxUnavailable as missing:
            return NoReplay(str(missing)), {}
        except SandboxBroken as failure:
            replay = NoReplay(f"the sandbox failed twice: {failure}")
        try:
            return replay, _tried_twice(lambda: apis.report(run))
        except (SandboxUnavailable, SandboxBroken):
            return replay, {}


def _tried_twice(run: Callable[[], _Found]) -> _Found:
    """The sandbox's own trouble is worth one more try; a program's is not trouble."""
    try:
        return run()
    except SandboxBroken:
        return run()


def judge_layer(layer: Layer, evidence: RunEvidence) -> list[Judgement]:
    """Ask one layer; what it raises becomes its `Errored` judgement."""
    try:
        return LAYERS[layer](evidence)
    except Exception as failure:  # noqa: BLE001 - one layer's trouble must not take the others along
        outcome = Errored(type(failure).__name__, str(failure) or "no message")
        return [Judgement(layer, layer.value, evidence.run.span_id, outcome, f"spanproof.{layer}")]


def _without_evaluators(trace: Trace) -> list[Span]:
    """The trace's spans but those our evaluators made, and what is below those: scores are not scored."""
    own = {
        span.span_id
        for span in trace.spans
        if span.kind is SpanKind.EVALUATOR and span.scope.startswith(SCOPE_PREFIX)
    }
    if own:
        own |= {below.span_id for root in list(own) for below in trace.descendants(root)}
    return [span for span in trace.spans if span.span_id not in own]


def _scores(evidence: RunEvidence, judgements: Sequence[Judgement]) -> tuple[Score, ...]:
    run = evidence.run
    snippets = {snippet.id: snippet for snippet in run.snippets}
    of_run = _digest_of(run)
    of_snippets = {snippet_id: _digest_of(snippet) for snippet_id, snippet in snippets.items()}
    return tuple(
        _score(evidence, judgement, of_snippets.get(judgement.snippet_id or "", of_run))
        for judgement in judgements
    )


def _score(evidence: RunEvidence, judgement: Judgement, input_digest: str) -> Score:
    run, span = evidence.run, evidence.trace.by_id.get(judgement.span_id)
    return Score(
        id=score_id(
            trace_id=run.trace_id,
            span_id=judgement.span_id,
            snippet=judgement.snippet_id,
            layer=judgement.layer.value,
            name=judgement.name,
            evaluator=judgement.evaluator,
            version=judgement.version,
            input_digest=input_digest,
        ),
        trace_id=run.trace_id,
        run_span_id=run.span_id,
        span_id=judgement.span_id,
        snippet_id=judgement.snippet_id,
        layer=judgement.layer,
        name=judgement.name,
        evaluator=judgement.evaluator,
        version=judgement.version,
        outcome=judgement.outcome,
        cohort=run.cohort,
        span_time_ns=span.start_ns if span is not None else run.start_ns,
        input_digest=input_digest,
    )


def _digest_of(judged: Run | Snippet) -> str:
    return digest(json.dumps(asdict(judged), sort_keys=True, default=str))
