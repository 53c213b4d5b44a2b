"""Runs and their scores as JSON data, as `spanproof eval --json` and `spanproof suite run --json` print them.

`spanproof gate` reads this form again.
"""

from __future__ import annotations

from dataclasses import asdict

from spanproof.evaluators.model import RunEvaluation
from spanproof.evaluators.redact import Redactor
from spanproof.evaluators.scores import find_state
from spanproof.sandbox.scanners.model import Finding
from spanproof.trace import Errored, Score, Scored, Skipped


def build_run_row(run: RunEvaluation) -> dict[str, object]:
    """Return one run with its cohort, its scores and its code."""
    return {
        "span_id": run.run.span_id,
        "name": run.run.name,
        "state": run.state.value,
        "cohort": {name: value for name, value in asdict(run.run.cohort).items() if value},
        "scores": [build_score_row(score) for score in run.scores],
        "snippets": _build_snippet_rows(run),
    }


def _build_snippet_rows(run: RunEvaluation) -> list[dict[str, object]]:
    """Return the run's code in order, secrets masked, with what the scanners found in it."""
    redactor = Redactor(run.run.snippets, run.scans)
    return [
        {
            "id": snippet.id,
            "number": number,
            "language": snippet.language.value,
            "executed": snippet.executed,
            "source": redactor.format_masked(snippet.source),
            "findings": [_build_finding_row(finding) for finding in run.scans[snippet.id].findings],
        }
        for number, snippet in enumerate(run.run.snippets, start=1)
    ]


def _build_finding_row(finding: Finding) -> dict[str, object]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "verdict": finding.verdict.value,
        "line": finding.line,
        "end_line": finding.end_line,
        "message": finding.message,
    }


def build_score_row(score: Score) -> dict[str, object]:
    """Return one score.

    `state` is one of the five states, None of advice and of metrics; `reason` says why a score was skipped or
    what errored; `cause` and `detail` say why it is open or skipped.
    """
    state = find_state(score.layer, score.name, score.outcome)
    row: dict[str, object] = {
        "layer": score.layer.value,
        "name": score.name,
        "span_id": score.span_id,
        "snippet_id": score.snippet_id,
        "state": state.value if state else None,
        "outcome": "scored",
        "value": None,
        "raw": None,
        "unit": None,
        "label": None,
        "explanation": None,
        "reason": None,
        "cause": None,
        "detail": None,
    }
    match score.outcome:
        case Scored() as scored:
            label = scored.label.value if scored.label is not None else None
            row.update(value=scored.value, label=label, explanation=scored.explanation)
            if scored.cause is not None:
                row.update(cause=scored.cause.value, detail=scored.detail)
            if scored.raw is not None:
                row.update(raw=scored.raw, unit=str(scored.unit))
        case Skipped(reason, cause, detail):
            row.update(outcome="skipped", reason=reason, cause=cause.value, detail=detail)
        case Errored(error_type, message):
            row.update(outcome="errored", reason=f"{error_type}: {message}")
    return row
