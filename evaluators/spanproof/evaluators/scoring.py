"""Judgements made scores: each with its place, its cohort and an id that follows from what was judged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass

from spanproof.evaluators.model import RunEvidence
from spanproof.trace import Judgement, Run, Score, Snippet, digest, score_id


def build_scores(evidence: RunEvidence, judgements: Sequence[Judgement]) -> tuple[Score, ...]:
    """Return the scores of one run, in the order of its judgements."""
    run = evidence.run
    of_run = _compute_digest(run)
    of_snippets = {snippet.id: _compute_digest(snippet) for snippet in run.snippets}
    return tuple(
        _build_score(evidence, judgement, of_snippets.get(judgement.snippet_id or "", of_run))
        for judgement in judgements
    )


def _build_score(evidence: RunEvidence, judgement: Judgement, input_digest: str) -> Score:
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


def _compute_digest(judged: Run | Snippet) -> str:
    return digest(json.dumps(judged, sort_keys=True, default=_to_json))


def _to_json(value: object) -> object:
    """Return what `asdict` gives, without a copy of all that is in it."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return str(value)
