"""Rows of lists: traces, spans, snippets of code and replays, from what the store gives."""

from __future__ import annotations

from typing import Final

from spanproof.api import models
from spanproof.api.pages import build_outcome, describe_reason, format_text
from spanproof.store import RunRow, TraceRow
from spanproof.store.browse import CodeRow, ReplayRow
from spanproof.store.span_pages import ReceivedSpan
from spanproof.store.values import RunSummary
from spanproof.trace import SpanKind, get_state

_NO_SUMMARY: Final = RunSummary("", "", 0, None)


def build_code_row(row: CodeRow) -> models.CodeRow:
    """Return a snippet of a list."""
    return models.CodeRow(
        trace_id=row.trace_id,
        run_span_id=row.run_span_id,
        snippet_id=row.snippet_id,
        started_ns=max(0, row.span_time_ns),
        language=format_text(row.language),
        source=format_text(row.source),
        executed=row.executed,
        verdict=row.verdict,
        rules=[format_text(rule) for rule in row.rules],
    )


def build_received_span(span: ReceivedSpan) -> models.SpanRow:
    """Return a span of a page of spans; its parent is the one it came with."""
    return models.SpanRow(
        span_id=span.span_id,
        parent_id=span.parent_id,
        name=format_text(span.name),
        kind=format_text(span.kind) or SpanKind.OTHER.value,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        error=None if span.error is None else format_text(span.error),
    )


def build_replay_row(row: ReplayRow) -> models.ReplayRow:
    """Return a replayed snippet of a list."""
    return models.ReplayRow(
        trace_id=row.trace_id,
        run_span_id=row.run_span_id,
        snippet_id=row.snippet_id,
        started_ns=max(0, row.span_time_ns),
        ended=row.failure_class,
        agrees=row.agrees,
        difference=format_text(row.difference),
        wall_s=row.wall_s,
        peak_memory_bytes=row.peak_memory_bytes,
    )


def build_trace_row(row: TraceRow) -> models.TraceRow:
    """Return one trace of a list."""
    return models.TraceRow(
        trace_id=row.trace_id,
        state=row.state,
        project=format_text(row.project),
        start_ns=row.start_ns,
        end_ns=row.end_ns,
        spans=row.spans,
        tokens=row.tokens or None,
        cost_usd=row.cost_usd,
        feedback={format_text(kind): times for kind, times in row.feedback.items()},
        defects=list(row.defects),
        runs=[_build_run_row(run, row.summaries.get(run.run_span_id, _NO_SUMMARY)) for run in row.runs],
    )


def _build_run_row(run: RunRow, summary: RunSummary) -> models.RunRow:
    return models.RunRow(
        span_id=run.run_span_id,
        agent=format_text(run.agent),
        model=format_text(run.model),
        task=format_text(summary.task),
        answer=format_text(summary.answer),
        tokens=summary.tokens or None,
        cost_usd=summary.cost_usd,
        state=run.state,
        reason=describe_reason(run.layers),
        layers={layer: build_outcome(outcome) for layer, outcome in run.layers.items()},
        layer_states={layer: get_state(outcome) for layer, outcome in run.layers.items()},
    )
