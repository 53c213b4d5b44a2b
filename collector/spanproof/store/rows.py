"""An evaluation to rows, and score rows back to scores.

Pure functions: each takes evaluations and gives rows as mappings from column to value, ready for an insert.
Text goes in as ClickHouse can hold it (UTF-8, lone surrogates as U+FFFD); the lossless form is the document
on the `traces` row. Times outside what the tables can order are moved to the nearest they can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from spanproof.evaluators.model import NoReplay, Replay, RunEvaluation, TraceEvaluation
from spanproof.evaluators.run_state import select_layer_outcomes
from spanproof.failures import Failure
from spanproof.sandbox.scanners.model import Finding, Scan
from spanproof.store.cells import Row, to_storable_text, to_storable_time, to_unsigned
from spanproof.store.documents import DOCUMENT_FORMAT
from spanproof.store.schema import FAILURES, REPLAYS, SCORES, SNIPPETS, TRACES
from spanproof.store.summary import build_summary_columns
from spanproof.store.table import Table
from spanproof.trace import (
    Cause,
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
    State,
    fold_outcomes,
    fold_states,
    get_state,
)
from spanproof.trace.codec import decode_value, encode_value
from spanproof.trace.dimensions import DIMENSIONS
from spanproof.trace.packed import encode_packed
from spanproof.trace.project import TraceKey

_COHORTS: Final = 4096
_NO_EVIDENCE: Final = "[]"


def build_rows(
    evaluation: TraceEvaluation, written_ns: int, more: Sequence[Score] = ()
) -> dict[Table, list[Row]]:
    """Return every row that an evaluation makes, by table; its spans have rows of their own already.

    `more` are scores of it that its document does not hold.
    """
    # Here and not above: it loads every evaluator, which a reader of the store does without.
    from spanproof.failures.extract import list_failures

    rows: dict[Table, list[Row]] = {
        SCORES: [build_score_row(score, written_ns) for score in more],
        SNIPPETS: [],
        REPLAYS: [],
        FAILURES: [_build_failure_row(failure, written_ns) for failure in list_failures(evaluation)],
        TRACES: [_build_trace_row(evaluation, written_ns, more)],
    }
    times = {span.span_id: span.start_ns for span in evaluation.trace.spans}
    for run in evaluation.runs:
        rows[SCORES] += [build_score_row(score, written_ns) for score in run.scores]
        rows[SNIPPETS] += _iter_snippet_rows(run, times, written_ns)
        rows[REPLAYS] += _iter_replay_rows(run, times, written_ns)
    project = get_stored_key(evaluation).project
    for row in chain.from_iterable(rows.values()):
        row["project"] = project
    return rows


def get_stored_key(evaluation: TraceEvaluation) -> TraceKey:
    """Return what identifies a trace, as rows have it."""
    return TraceKey(to_storable_text(evaluation.key.project), evaluation.key.trace_id)


def parse_score(row: Mapping[str, Any]) -> Score:
    """Return the score of a row; the inverse of what `build_rows` writes."""
    cohort = _cohort(*(row[name] for name in DIMENSIONS))
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
        outcome=_parse_outcome(row),
        cohort=cohort,
        span_time_ns=row["span_time_ns"],
        input_digest=row["input_digest"],
    )


# Many scores share a cohort: one value for all of them is quicker and smaller.
_cohort = lru_cache(maxsize=_COHORTS)(Cohort)


def _parse_outcome(row: Mapping[str, Any]) -> Outcome:
    if row["outcome"] == "scored":
        evidence = (
            () if row["evidence"] == _NO_EVIDENCE else decode_value(tuple[Evidence, ...], row["evidence"])
        )
        label = Label(row["label"]) if row["label"] else None
        return Scored(
            row["value"],
            label,
            row["explanation"],
            evidence,
            row["raw"],
            row["unit"],
            Cause(row["cause"]) if row["cause"] else None,
            row["cause_detail"],
        )
    if row["outcome"] == "skipped":
        # Rows of an earlier version have no cause.
        return Skipped(row["explanation"], Cause(row["cause"] or Cause.EVALUATOR), row["cause_detail"])
    return Errored(row["error_type"], row["explanation"])


def build_score_row(score: Score, written_ns: int) -> Row:
    """Return a score as a row; the inverse of `parse_score`."""
    return {
        **_build_cohort_columns(score.cohort),
        "trace_id": score.trace_id,
        "run_span_id": score.run_span_id,
        "span_id": score.span_id,
        "snippet_id": score.snippet_id or "",
        "layer": score.layer.value,
        "name": to_storable_text(score.name),
        "evaluator": to_storable_text(score.evaluator),
        "version": to_storable_text(score.version),
        "span_time": to_storable_time(score.span_time_ns),
        "span_time_ns": to_unsigned(score.span_time_ns),
        "id": score.id,
        "input_digest": score.input_digest,
        "current": 1,
        "evaluated_ns": written_ns,
        "is_deleted": 0,
        **_build_outcome_columns(score.outcome),
    }


@lru_cache(maxsize=_COHORTS)
def _build_cohort_columns(cohort: Cohort) -> Row:
    return {name: to_storable_text(getattr(cohort, name)) for name in DIMENSIONS}


def _build_outcome_columns(outcome: Outcome) -> Row:
    unscored: Row = {
        **dict.fromkeys(("value", "raw")),
        **dict.fromkeys(("unit", "label", "error_type", "cause", "cause_detail"), ""),
        "evidence": _NO_EVIDENCE,
    }
    match outcome:
        case Scored(value, label, explanation, evidence, raw, unit, cause, detail):
            return {
                "outcome": "scored",
                "value": value,
                "raw": raw,
                "unit": to_storable_text(unit),
                "label": label.value if label else "",
                "explanation": to_storable_text(explanation),
                "cause": cause.value if cause else "",
                "cause_detail": to_storable_text(detail),
                "evidence": encode_value(evidence) if evidence else _NO_EVIDENCE,
                "error_type": "",
            }
        case Skipped(reason, cause, detail):
            return {
                **unscored,
                "outcome": "skipped",
                "explanation": to_storable_text(reason),
                "cause": cause.value,
                "cause_detail": to_storable_text(detail),
            }
        case Errored(error_type, message):
            return {
                **unscored,
                "outcome": "errored",
                "explanation": to_storable_text(message),
                "error_type": to_storable_text(error_type),
            }


def _iter_snippet_rows(run: RunEvaluation, times: Mapping[str, int], written_ns: int) -> Iterator[Row]:
    for snippet in run.run.snippets:
        scan = run.scans.get(snippet.id)
        yield {
            **_build_place_columns(run, snippet, times, written_ns),
            "language": snippet.language.value,
            "path": to_storable_text(snippet.path),
            "source": to_storable_text(snippet.source),
            "executed": int(snippet.executed),
            "truncated": int(snippet.truncated),
            "verdict": scan.verdict.value if scan else "",
            **_build_finding_columns(scan),
        }


_FINDING_COLUMNS: Final[Mapping[str, Callable[[Finding], object]]] = {
    "Findings.Rule": lambda finding: finding.rule,
    "Findings.Severity": lambda finding: finding.severity.value,
    "Findings.Verdict": lambda finding: finding.verdict.value,
    "Findings.Line": lambda finding: max(0, finding.line),
    "Findings.Message": lambda finding: to_storable_text(finding.message),
    "Findings.Cwe": lambda finding: finding.cwe or 0,
}


def _build_finding_columns(scan: Scan | None) -> Row:
    found = scan.findings if scan else ()
    return {name: [read(finding) for finding in found] for name, read in _FINDING_COLUMNS.items()}


def _iter_replay_rows(run: RunEvaluation, times: Mapping[str, int], written_ns: int) -> Iterator[Row]:
    if isinstance(run.replay, NoReplay):
        return
    for snippet in run.run.snippets:
        found = _find_replay_columns(run.replay, snippet)
        if found:
            yield {**_build_place_columns(run, snippet, times, written_ns), **found}


def _find_replay_columns(replay: Replay, snippet: Snippet) -> Row | None:
    step = replay.find_step(snippet.id)
    reason = replay.unreplayed.get(snippet.id)
    if step is None and reason is None:
        return None
    row: Row = {
        "backend": replay.backend,
        "failure_class": "",
        "unreplayed": to_storable_text(reason or ""),
        **dict.fromkeys(("stdout", "stderr", "difference"), ""),
        **dict.fromkeys(("wall_s", "cpu_s"), 0.0),
        **dict.fromkeys(("peak_memory_bytes", "divergences"), 0),
        **dict.fromkeys(("exit_code", "signal", "agrees")),
        **{f"Attempts.{name}": [] for name in ("Kind", "Target", "Allowed")},
    }
    if step is None:
        return row
    ran = step.execution
    agrees = None if step.agrees is None else int(step.agrees)
    targets = [to_storable_text(attempt.target) for attempt in ran.attempts]
    return row | {
        "failure_class": ran.failure_class.value,
        "exit_code": ran.exit_code,
        "signal": ran.signal,
        "stdout": to_storable_text(ran.stdout),
        "stderr": to_storable_text(ran.stderr),
        "wall_s": ran.wall_s,
        "cpu_s": ran.cpu_s,
        "peak_memory_bytes": max(0, ran.peak_memory_bytes),
        "agrees": agrees,
        "difference": to_storable_text(step.difference or ""),
        "divergences": len(step.divergences),
        "Attempts.Kind": [attempt.kind.value for attempt in ran.attempts],
        "Attempts.Target": targets,
        "Attempts.Allowed": [int(attempt.allowed) for attempt in ran.attempts],
    }


def _build_failure_row(failure: Failure, written_ns: int) -> Row:
    signature = failure.signature
    return {
        **{name: to_storable_text(getattr(failure.cohort, name)) for name in DIMENSIONS},
        "trace_id": failure.trace_id,
        "run_span_id": failure.run_span_id,
        "span_id": failure.span_id,
        "fingerprint": signature.fingerprint,
        "span_time": to_storable_time(failure.time_ns),
        "layer": signature.layer.value,
        "checked": to_storable_text(signature.check),
        "failure_class": to_storable_text(signature.failure_class),
        "error_type": to_storable_text(signature.error_type),
        "message": to_storable_text(signature.message),
        "subject": to_storable_text(signature.subject),
        "package": to_storable_text(signature.package),
        "cause": signature.cause,
        "cause_key": to_storable_text(signature.key),
        "sample": to_storable_text(failure.sample),
        "evaluated_ns": written_ns,
        "is_deleted": 0,
    }


def _build_place_columns(
    run: RunEvaluation, snippet: Snippet, times: Mapping[str, int], written_ns: int
) -> Row:
    return {
        "trace_id": snippet.trace_id,
        "run_span_id": run.run.span_id,
        "span_id": snippet.span_id,
        "snippet_id": snippet.id,
        "span_time": to_storable_time(times.get(snippet.span_id, run.run.start_ns)),
        "evaluated_ns": written_ns,
        "is_deleted": 0,
    }


def list_failing_layers(runs: Iterable[Mapping[Layer, Outcome]]) -> list[str]:
    """Return the layers that fail in one of the runs, from the outcomes of their layers."""
    found = {layer for run in runs for layer, outcome in run.items() if get_state(outcome) is State.FAIL}
    return sorted(layer.value for layer in found)


def _build_trace_row(evaluation: TraceEvaluation, written_ns: int, more: Sequence[Score]) -> Row:
    spans = evaluation.trace.spans
    start = min(span.start_ns for span in spans)
    runs = [
        select_layer_outcomes(run.run.span_id, (*run.scores, *_iter_scores_of_run(more, run)))
        for run in evaluation.runs
    ]
    return {
        "trace_id": evaluation.trace.trace_id,
        "start": to_storable_time(start),
        "start_ns": to_unsigned(start),
        "end_ns": to_unsigned(max(span.end_ns for span in spans)),
        "spans": len(spans),
        "defects": sorted(defect.value for defect in evaluation.trace.defects),
        "failing": list_failing_layers(runs),
        "state": fold_states(fold_outcomes(layers.values()) for layers in runs).value,
        **build_summary_columns(evaluation),
        "document": encode_packed(evaluation),
        "document_format": DOCUMENT_FORMAT,
        "evaluated_ns": written_ns,
        "is_deleted": 0,
    }


def _iter_scores_of_run(scores: Iterable[Score], run: RunEvaluation) -> Iterator[Score]:
    return (score for score in scores if score.run_span_id == run.run.span_id)
