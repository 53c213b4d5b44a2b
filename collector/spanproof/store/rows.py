"""An evaluation to rows, and score rows back to scores.

Pure functions: each takes evaluations and gives rows as mappings from column to value, ready for an insert.
Text goes in as ClickHouse can hold it (UTF-8, lone surrogates as U+FFFD); the lossless form is the document
on the `traces` row. Times outside what the tables can order are moved to the nearest they can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, TypeAlias

from spanproof.evaluators.model import NoReplay, Replay, RunEvaluation, TraceEvaluation
from spanproof.sandbox.scanners.model import Scan
from spanproof.store.schema import (
    DOCUMENT_FORMAT,
    OTEL_TRACE_TIMES,
    OTEL_TRACES,
    REPLAYS,
    SCORES,
    SNIPPETS,
    TRACES,
    Table,
)
from spanproof.trace import (
    Cohort,
    Errored,
    Evidence,
    Label,
    Layer,
    Outcome,
    Score,
    Scored,
    Skipped,
    Snippet,
    Span,
    SpanError,
)
from spanproof.trace.codec import decode, dump_json, encode, to_plain

Row: TypeAlias = dict[str, Any]
"""Column name to value: what the driver takes."""

_LATEST_NS = 4_102_444_800 * 10**9
"""2100-01-01: hours are kept in 32 bits of seconds, which end in 2106."""


def rows_of(evaluation: TraceEvaluation, written_ns: int) -> dict[Table, list[Row]]:
    """Every row an evaluation makes, by table."""
    rows: dict[Table, list[Row]] = {
        SCORES: [],
        SNIPPETS: [],
        REPLAYS: [],
        OTEL_TRACES: list(_span_rows(evaluation, written_ns)),
        OTEL_TRACE_TIMES: [_times_row(evaluation)],
        TRACES: [_trace_row(evaluation, written_ns)],
    }
    times = {span.span_id: span.start_ns for span in evaluation.trace.spans}
    for run in evaluation.runs:
        rows[SCORES] += [_score_row(score, written_ns) for score in run.scores]
        rows[SNIPPETS] += _snippet_rows(run, times, written_ns)
        rows[REPLAYS] += _replay_rows(run, times, written_ns)
    return rows


def project_of(evaluation: TraceEvaluation) -> str:
    """The project a trace stands under: that of its first run."""
    cohort = evaluation.runs[0].run.cohort if evaluation.runs else Cohort()
    return _storable(cohort.project)


def score_of(row: Mapping[str, Any]) -> Score:
    """The score a row holds; the inverse of what `rows_of` writes."""
    cohort = Cohort(**{field.name: row[field.name] for field in fields(Cohort)})
    return Score(
        id=row["id"],
        trace_id=row["trace_id"],
        run_span_id=row["run_span_id"],
        span_id=row["span_id"],
        snippet_id=row["snippet_id"] or None,
        layer=Layer(row["layer"]),
        name=row["name"],
        evaluator=row["evaluator"],
        version=row["version"],
        outcome=_outcome_of(row),
        cohort=cohort,
        span_time_ns=row["span_time_ns"],
        input_digest=row["input_digest"],
    )


def _outcome_of(row: Mapping[str, Any]) -> Outcome:
    if row["outcome"] == "scored":
        evidence = decode(tuple[Evidence, ...], row["evidence"])
        label = Label(row["label"]) if row["label"] else None
        return Scored(row["value"], label, row["explanation"], evidence)
    if row["outcome"] == "skipped":
        return Skipped(row["explanation"])
    return Errored(row["error_type"], row["explanation"])


def _score_row(score: Score, written_ns: int) -> Row:
    row: Row = {
        **{name: _storable(value) for name, value in asdict(score.cohort).items()},
        "trace_id": score.trace_id,
        "run_span_id": score.run_span_id,
        "span_id": score.span_id,
        "snippet_id": score.snippet_id or "",
        "layer": score.layer.value,
        "name": score.name,
        "evaluator": score.evaluator,
        "version": score.version,
        "span_time": _time(score.span_time_ns),
        "span_time_ns": _unsigned(score.span_time_ns),
        "id": score.id,
        "input_digest": score.input_digest,
        "current": 1,
        "evaluated_ns": written_ns,
        "is_deleted": 0,
        "value": None,
        "label": "",
        "evidence": "[]",
        "error_type": "",
    }
    match score.outcome:
        case Scored(value, label, explanation, evidence):
            row |= {
                "outcome": "scored",
                "value": value,
                "label": label.value if label else "",
                "explanation": _storable(explanation),
                "evidence": encode(evidence),
            }
        case Skipped(reason):
            row |= {"outcome": "skipped", "explanation": _storable(reason)}
        case Errored(error_type, message):
            row |= {
                "outcome": "errored",
                "explanation": _storable(message),
                "error_type": _storable(error_type),
            }
    return row


def _snippet_rows(run: RunEvaluation, times: Mapping[str, int], written_ns: int) -> Iterator[Row]:
    for snippet in run.run.snippets:
        scan = run.scans.get(snippet.id)
        yield {
            **_place(run, snippet, times, written_ns),
            "language": snippet.language.value,
            "path": _storable(snippet.path),
            "source": _storable(snippet.source),
            "executed": int(snippet.executed),
            "truncated": int(snippet.truncated),
            "verdict": scan.verdict.value if scan else "",
            **_findings(scan),
        }


def _findings(scan: Scan | None) -> Row:
    found = scan.findings if scan else ()
    return {
        "Findings.Rule": [finding.rule for finding in found],
        "Findings.Severity": [finding.severity.value for finding in found],
        "Findings.Verdict": [finding.verdict.value for finding in found],
        "Findings.Line": [max(0, finding.line) for finding in found],
        "Findings.Message": [_storable(finding.message) for finding in found],
    }


def _replay_rows(run: RunEvaluation, times: Mapping[str, int], written_ns: int) -> Iterator[Row]:
    if isinstance(run.replay, NoReplay):
        return
    for snippet in run.run.snippets:
        found = _replay_of(run.replay, snippet)
        if found:
            yield {**_place(run, snippet, times, written_ns), **found}


def _replay_of(replay: Replay, snippet: Snippet) -> Row | None:
    step = replay.step(snippet.id)
    reason = replay.unreplayed.get(snippet.id)
    if step is None and reason is None:
        return None
    row: Row = {
        "backend": replay.backend,
        "failure_class": "",
        "unreplayed": _storable(reason or ""),
        **dict.fromkeys(("stdout", "stderr", "difference"), ""),
        **dict.fromkeys(("wall_s", "cpu_s"), 0.0),
        **dict.fromkeys(("peak_memory_bytes", "divergences"), 0),
        **dict.fromkeys(("exit_code", "signal", "agrees")),
        **{f"Attempts.{name}": [] for name in ("Kind", "Target", "Allowed")},
    }
    if step is None:
        return row
    ran = step.execution
    return row | {
        "failure_class": ran.failure_class.value,
        "exit_code": ran.exit_code,
        "signal": ran.signal,
        "stdout": _storable(ran.stdout),
        "stderr": _storable(ran.stderr),
        "wall_s": ran.wall_s,
        "cpu_s": ran.cpu_s,
        "peak_memory_bytes": max(0, ran.peak_memory_bytes),
        "agrees": None if step.agrees is None else int(step.agrees),
        "difference": _storable(step.difference or ""),
        "divergences": len(step.divergences),
        "Attempts.Kind": [attempt.kind.value for attempt in ran.attempts],
        "Attempts.Target": [_storable(attempt.target) for attempt in ran.attempts],
        "Attempts.Allowed": [int(attempt.allowed) for attempt in ran.attempts],
    }


def _place(run: RunEvaluation, snippet: Snippet, times: Mapping[str, int], written_ns: int) -> Row:
    return {
        "project": _storable(run.run.cohort.project),
        "trace_id": snippet.trace_id,
        "run_span_id": run.run.span_id,
        "span_id": snippet.span_id,
        "snippet_id": snippet.id,
        "span_time": _time(times.get(snippet.span_id, run.run.start_ns)),
        "evaluated_ns": written_ns,
        "is_deleted": 0,
    }


def _trace_row(evaluation: TraceEvaluation, written_ns: int) -> Row:
    spans = evaluation.trace.spans
    start = min(span.start_ns for span in spans)
    return {
        "project": project_of(evaluation),
        "trace_id": evaluation.trace.trace_id,
        "start": _time(start),
        "start_ns": _unsigned(start),
        "end_ns": _unsigned(max(span.end_ns for span in spans)),
        "spans": len(spans),
        "defects": sorted(defect.value for defect in evaluation.trace.defects),
        "document": encode(evaluation),
        "document_format": DOCUMENT_FORMAT,
        "evaluated_ns": written_ns,
        "is_deleted": 0,
    }


def _times_row(evaluation: TraceEvaluation) -> Row:
    spans = evaluation.trace.spans
    return {
        "TraceId": evaluation.trace.trace_id,
        "Start": _time(min(span.start_ns for span in spans)) // 10**9,
        "End": _time(max(span.end_ns for span in spans)) // 10**9,
    }


def _span_rows(evaluation: TraceEvaluation, written_ns: int) -> Iterator[Row]:
    project = project_of(evaluation)
    for span in evaluation.trace.spans:
        yield {
            **_exporter_columns(span),
            "SpanproofKind": span.kind.value,
            "SpanproofProject": project,
            "SpanproofWritten": written_ns,
        }


def _exporter_columns(span: Span) -> Row:
    attributes = _texts(span.attributes)
    return {
        "Timestamp": _time(span.start_ns),
        "TraceId": span.trace_id,
        "SpanId": span.span_id,
        "ParentSpanId": span.parent_id or "",
        "TraceState": "",
        "SpanName": _storable(span.name),
        # Which side of a call a span stands for is not kept by our model; the exporter's word for that.
        "SpanKind": "Unspecified",
        "ServiceName": _texts(span.resource).get("service.name", ""),
        "ResourceAttributes": _texts(span.resource),
        "ScopeName": _storable(span.scope),
        "ScopeVersion": "",
        "SpanAttributes": attributes,
        "Duration": _unsigned(span.end_ns - span.start_ns),
        "StatusCode": "Error" if span.error else "Unset",
        "StatusMessage": _status_message(span.error),
        "Events.Timestamp": [_time(event.time_ns) for event in span.events],
        "Events.Name": [_storable(event.name) for event in span.events],
        "Events.Attributes": [_texts(event.attributes) for event in span.events],
        "Links.TraceId": [],
        "Links.SpanId": [],
        "Links.TraceState": [],
        "Links.Attributes": [],
    }


def _status_message(error: SpanError | None) -> str:
    if error is None:
        return ""
    return _storable(f"{error.type}: {error.message}" if error.type else error.message)


def _texts(attributes: Mapping[str, Any]) -> dict[str, str]:
    """Attributes as the exporter writes them: strings as they are, all else as JSON."""
    return {
        _storable(key): _storable(value if isinstance(value, str) else dump_json(to_plain(value)))
        for key, value in attributes.items()
    }


def _storable(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unsigned(number: int) -> int:
    return min(max(0, number), 2**64 - 1)


def _time(ns: int) -> int:
    return min(max(0, ns), _LATEST_NS)


def columns(rows: Sequence[Row], names: Sequence[str]) -> list[list[Any]]:
    """Rows as the driver's insert takes them, values in the order of the names."""
    return [[row[name] for name in names] for row in rows]
