"""Scores from elsewhere: labels of people, ratings of a product, verdicts of one's own harness.

They are kept as they were given, and written as scores of their run beside ours: at once where the trace is
stored, else when it is. Evaluating a trace again loses none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from clickhouse_connect.driver.client import Client

from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.evaluators.run_state import EXTERNAL_PREFIX
from spanproof.store.cells import Row, to_storable_text
from spanproof.store.keys import build_key_condition
from spanproof.trace import Label, Layer, Score, Scored, digest, score_id
from spanproof.trace.project import TraceKey

_VERSION: Final = "1"


@dataclass(frozen=True, slots=True)
class ExternalScore:
    """A score that was given from elsewhere. A later one of the same place, name and source replaces it.

    Attributes:
        trace_id: of the run's trace.
        span_id: of the step or run that was judged; None is the first run of the trace.
        name: unique within the layer.
        source: who judged, such as `human` or `harness`.
        value: from 0 to 1.
        label: the verdict; None for advice.
        raw, unit: of a metric the amount behind the value.
        given_ns: Unix time in nanoseconds.
        project: of the trace; empty is every one that has a trace with this id, which only those may name
            who write for all projects.
    """

    trace_id: str
    span_id: str | None
    layer: Layer
    name: str
    source: str
    value: float
    label: Label | None
    explanation: str
    raw: float | None
    unit: str
    given_ns: int
    project: str = ""

    @property
    def key(self) -> TraceKey:
        """What identifies the trace; of no project where it is empty."""
        return TraceKey(self.project, self.trace_id)


def is_external(score: Score) -> bool:
    """Return whether a score came from elsewhere."""
    return score.evaluator.startswith(EXTERNAL_PREFIX)


def build_external_row(score: ExternalScore, written_ns: int) -> Row:
    """Return a score from elsewhere as a row."""
    return {
        "project": to_storable_text(score.project),
        "trace_id": score.trace_id,
        "span_id": score.span_id or "",
        "layer": score.layer.value,
        "name": score.name,
        "source": score.source,
        "value": score.value,
        "label": score.label.value if score.label else "",
        "explanation": to_storable_text(score.explanation),
        "raw": score.raw,
        "unit": to_storable_text(score.unit),
        "given": score.given_ns,
        "evaluated_ns": written_ns,
        "is_deleted": 0,
    }


def fetch_external_scores(
    client: Client, database: str, keys: Sequence[TraceKey]
) -> Mapping[TraceKey, list[ExternalScore]]:
    """Return the scores from elsewhere about these traces, by trace; what was given last comes last."""
    if not keys:
        return {}
    condition, bound = build_key_condition([*keys, *(TraceKey("", key.trace_id) for key in keys)])
    rows = client.query(
        "SELECT project, trace_id, span_id, layer, name, source, value, label, explanation, raw, unit,"  # noqa: S608
        f" toUnixTimestamp64Nano(given) FROM {database}.external_scores FINAL"
        f" WHERE {condition} ORDER BY trace_id, given, span_id, layer, name, source, project",
        parameters=bound,
    ).result_rows
    by_key: dict[TraceKey, list[ExternalScore]] = {}
    for project, *row in rows:
        score = ExternalScore(
            trace_id=row[0],
            span_id=row[1] or None,
            layer=Layer(row[2]),
            name=row[3],
            source=row[4],
            value=row[5],
            label=Label(row[6]) if row[6] else None,
            explanation=row[7],
            raw=row[8],
            unit=row[9],
            given_ns=int(row[10]),
            project=project,
        )
        by_key.setdefault(score.key, []).append(score)
    return {key: found for key in keys if (found := _select_given(by_key, key))}


def _select_given(by_key: Mapping[TraceKey, list[ExternalScore]], key: TraceKey) -> list[ExternalScore]:
    """Return the scores of a trace, those of no project among them, in the order in which they were given."""
    scores = [*by_key.get(key, ()), *by_key.get(TraceKey("", key.trace_id), ())]
    return sorted(scores, key=lambda score: score.given_ns)


def to_run_scores(evaluation: TraceEvaluation, external: Iterable[ExternalScore]) -> list[Score]:
    """Return scores from elsewhere as scores of the runs of their trace; none where it has no run."""
    return [
        _build_score(score, run, evaluation)
        for score in external
        if (run := _find_run(evaluation, score.span_id)) is not None
    ]


def with_external(evaluation: TraceEvaluation, external: Sequence[ExternalScore]) -> TraceEvaluation:
    """Return the evaluation with scores from elsewhere behind its own."""
    scores = to_run_scores(evaluation, external)
    if not scores:
        return evaluation
    runs = (
        replace(run, scores=(*run.scores, *(one for one in scores if one.run_span_id == run.run.span_id)))
        for run in evaluation.runs
    )
    return replace(evaluation, runs=tuple(runs))


def without_external(evaluation: TraceEvaluation) -> TraceEvaluation:
    """Return the evaluation without scores from elsewhere: those are kept apart."""
    if not any(map(is_external, evaluation.scores)):
        return evaluation
    runs = (
        replace(run, scores=tuple(score for score in run.scores if not is_external(score)))
        for run in evaluation.runs
    )
    return replace(evaluation, runs=tuple(runs))


def _find_run(evaluation: TraceEvaluation, span_id: str | None) -> RunEvaluation | None:
    """Return the run that a span is in: the nearest above it; the first run for a span that is in none."""
    runs = {run.run.span_id: run for run in evaluation.runs}
    seen: set[str] = set()
    while span_id is not None and span_id not in seen:
        if span_id in runs:
            return runs[span_id]
        seen.add(span_id)
        span = evaluation.trace.by_id.get(span_id)
        span_id = span.parent_id if span is not None else None
    return evaluation.runs[0] if evaluation.runs else None


def _build_score(external: ExternalScore, of_run: RunEvaluation, evaluation: TraceEvaluation) -> Score:
    run = of_run.run
    span_id = external.span_id or run.span_id
    span = evaluation.trace.by_id.get(span_id)
    evaluator = f"{EXTERNAL_PREFIX}{external.source}"
    judged = digest(
        "external", str(external.given_ns), repr(external.value), external.label or "", external.explanation
    )
    return Score(
        id=score_id(
            trace_id=external.trace_id,
            span_id=span_id,
            snippet=None,
            layer=external.layer.value,
            name=external.name,
            evaluator=evaluator,
            version=_VERSION,
            input_digest=judged,
        ),
        trace_id=external.trace_id,
        run_span_id=run.span_id,
        span_id=span_id,
        snippet_id=None,
        layer=external.layer,
        name=external.name,
        evaluator=evaluator,
        version=_VERSION,
        outcome=Scored(external.value, external.label, external.explanation, (), external.raw, external.unit),
        cohort=run.cohort,
        span_time_ns=span.start_ns if span is not None else run.start_ns,
        input_digest=judged,
    )
