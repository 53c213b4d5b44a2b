"""The document of a trace: its whole evaluation as the store keeps it."""

from __future__ import annotations

from spanproof.evaluators.model import TraceEvaluation
from spanproof.store.errors import StoreError
from spanproof.trace.codec import MalformedDocument, decode

DOCUMENT_FORMAT = 1
"""Of `traces.document`; raised when an older reader could no longer read it."""


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
        return decode(TraceEvaluation, document)
    except MalformedDocument as problem:
        raise StoreError(f"trace {trace_id}: what is stored cannot be read: {problem}") from problem
