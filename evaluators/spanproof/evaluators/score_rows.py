"""Runs and their scores as JSON data, as `spanproof eval --json` and `spanproof suite run --json` print them.

`spanproof gate` reads this form again.
"""

from __future__ import annotations

from dataclasses import asdict

from spanproof.evaluators.model import RunEvaluation
from spanproof.trace import Errored, Score, Scored, Skipped


def run_row(run: RunEvaluation) -> dict[str, object]:
    """Return one run with its cohort and its scores."""
    return {
        "span_id": run.run.span_id,
        "name": run.run.name,
        "cohort": {name: value for name, value in asdict(run.run.cohort).items() if value},
        "scores": [score_row(score) for score in run.scores],
    }


def score_row(score: Score) -> dict[str, object]:
    """Return one score; `reason` says why it was skipped or what errored."""
    row: dict[str, object] = {
        "layer": score.layer.value,
        "name": score.name,
        "span_id": score.span_id,
        "outcome": "scored",
        "value": None,
        "raw": None,
        "unit": None,
        "label": None,
        "explanation": None,
        "reason": None,
    }
    match score.outcome:
        case Scored() as scored:
            label = scored.label.value if scored.label is not None else None
            row.update(value=scored.value, label=label, explanation=scored.explanation)
            if scored.raw is not None:
                row.update(raw=scored.raw, unit=str(scored.unit))
        case Skipped(reason):
            row.update(outcome="skipped", reason=reason)
        case Errored(error_type, message):
            row.update(outcome="errored", reason=f"{error_type}: {message}")
    return row
