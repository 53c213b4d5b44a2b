"""Read a result: its failure first, then what of a batch was done, then whether it holds anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spanproof.reading.envelopes.batches import find_partial_result
from spanproof.reading.envelopes.documents import (
    find_document_envelope,
    find_joined_text,
    find_result_document,
)
from spanproof.reading.envelopes.emptiness import is_empty
from spanproof.reading.envelopes.model import EMPTY, WORKED, Envelope
from spanproof.reading.envelopes.texts import find_text_failure
from spanproof.reading.log_lines import without_time
from spanproof.reading.tool_kinds import ToolKind
from spanproof.trace import JsonValue


def read_envelope(
    text: str,
    kind: ToolKind,
    value: JsonValue = None,
    command: str = "",
    arguments: Sequence[JsonValue] = (),
    *,
    is_batch: bool = True,
) -> Envelope:
    """Return what a result says of itself.

    Args:
        text: the result as text.
        kind: of the tool that gave it.
        value: the decoded result where it was JSON.
        command: the source of the shell command that printed it, where known.
        arguments: what the call was given: a result may repeat it.
        is_batch: the result may be that of an operation on several items; else a list is one of records.
    """
    failure = find_failure(text, kind, value, command, arguments)
    if failure is not None:
        return failure
    document = value if isinstance(value, dict | list) else find_result_document(text)
    partial = find_partial_result(document, text) if is_batch else None
    if partial is not None:
        return partial
    if is_empty(text, value, kind, arguments):
        return EMPTY
    return WORKED


def find_failure(
    text: str,
    kind: ToolKind,
    value: JsonValue = None,
    command: str = "",
    arguments: Sequence[JsonValue] = (),
) -> Envelope | None:
    """Return the failure that a result reports, None where it reports none; see `read_envelope`."""
    whole = text.strip()
    # A reader of logs may give one line of a log.
    if kind is not ToolKind.DOCUMENTS:
        whole = without_time(whole)
    if not whole:
        return None
    document = value if isinstance(value, dict | list) else find_result_document(whole)
    if document is not None:
        return _find_document_failure(document, kind, command, arguments)
    return find_text_failure(whole, kind, command)


def _find_document_failure(
    document: JsonValue, kind: ToolKind, command: str, arguments: Sequence[JsonValue]
) -> Envelope | None:
    parts = find_joined_text(document)
    if parts is not None:
        return find_failure(parts, kind, command=command)
    if isinstance(document, list):
        # Salesforce: a list with one error.
        alone = document[0] if len(document) == 1 else None
        found = (
            find_document_envelope(alone, arguments)
            if isinstance(alone, dict) and "errorCode" in alone
            else None
        )
        return found if found is not None and found.failed else None
    if not isinstance(document, dict):
        return None
    found = find_document_envelope(document, arguments)
    if found is not None:
        return found if found.failed else None
    return _find_wrapped_failure(document, kind, command)


def _find_wrapped_failure(document: Mapping[str, JsonValue], kind: ToolKind, command: str) -> Envelope | None:
    """Return the failure of the one text that a document wraps."""
    names = ("stderr", "result", "output", "text", "message", "response", "content")
    inner = next((document[name] for name in names if document.get(name)), None)
    if isinstance(inner, str) and sum(bool(item) for item in document.values()) == 1:
        return find_failure(inner, kind, command=command)
    return None
