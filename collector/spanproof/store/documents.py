"""The document of a trace: its whole evaluation as the store keeps it.

Format 1 has every field of every value, as `codec.encode` writes them; format 2 has each long text and each
shared object once. Both are read, and what is evaluated again is written in the latest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from spanproof.evaluators.model import TraceEvaluation
from spanproof.store.errors import StoreError
from spanproof.trace import OPEN_VALUE, Cause, Layer, Score, Scored, Skipped
from spanproof.trace.codec import MalformedDocument
from spanproof.trace.packed import decode_packed

DOCUMENT_FORMAT = 2
"""Of `traces.document`; raised when an older reader could no longer read it."""

NEEDED_A_JUDGE: Final = "the answer needs a judge: "
"""What the reason of an open answer begins with in a store before schema 13, where it was skipped."""


def read_document(trace_id: str, document: str, document_format: int) -> TraceEvaluation:
    """Return the evaluation that a document holds.

    Raises:
        StoreError: this Spanproof cannot read it.
    """
    if document_format > DOCUMENT_FORMAT:
        raise StoreError(
            f"trace {trace_id}: stored in format {document_format}, this Spanproof reads"
            f" {DOCUMENT_FORMAT}: upgrade spanproof"
        )
    try:
        return _open_unsettled_answers(decode_packed(TraceEvaluation, document))
    except MalformedDocument as problem:
        raise StoreError(f"trace {trace_id}: what is stored cannot be read: {problem}") from problem


def _open_unsettled_answers(evaluation: TraceEvaluation) -> TraceEvaluation:
    """Return the evaluation with answers that an earlier version skipped, for want of a judge, as open."""
    runs = (replace(run, scores=tuple(map(_open_unsettled_answer, run.scores))) for run in evaluation.runs)
    return replace(evaluation, runs=tuple(runs))


def _open_unsettled_answer(score: Score) -> Score:
    is_of_answer = score.layer is Layer.GROUNDEDNESS and score.name == score.layer.value
    match score.outcome:
        case Skipped(reason=reason) if is_of_answer and reason.startswith(NEEDED_A_JUDGE):
            opened = Scored(OPEN_VALUE, None, reason, cause=Cause.VALUE_NOT_CERTAIN)
            return replace(score, outcome=opened)
        case _:
            return score
