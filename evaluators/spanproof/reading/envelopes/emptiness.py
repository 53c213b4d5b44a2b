"""Results that hold nothing: no rows, no items, a table of which there is only the head."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from spanproof.reading.envelopes.documents import find_document_envelope, find_result_document
from spanproof.reading.envelopes.forms import load_text_forms
from spanproof.reading.envelopes.model import MAX_BARE_CHARS, EnvelopeStatus
from spanproof.reading.log_lines import without_time
from spanproof.reading.tool_kinds import ToolKind
from spanproof.trace import JsonValue
from spanproof.trace.dialects.decode import decode_document

_MAX_SENTENCE_CHARS: Final = 300
_NO_VALUE = frozenset(
    str.split(
        "None [] {} () set() null nan NaN <empty> \"\" '' undefined NULL [[]] [{}] [None] [null] nil (nil) -"
        " N/A n/a NA <NA> NaT dict_keys([]) dict_values([]) dict_items([]) frozenset() deque([]) array([])"
    )
) | {"", "None None"}
# A table of which there is only the head and its rule.
_HEAD_ALONE = re.compile(r"\|?[^|\n]+(?:\|[^|\n]*)+\n\s*\|?[\s:|+-]*-[\s:|+-]*\Z")
_COLUMNS_ALONE = re.compile(r"[A-Za-z_]\w*(?:\s*[,;|\t]\s*[A-Za-z_]\w*)+\Z")
# The names of a table without rows, on an ended line; names with commas between them may be a list.
_HEADER_LINE = re.compile(r"[a-z_]\w*(?:[;|\t][a-z_]\w*)+\r?\n")
_ROW_FIELDS = frozenset(
    str.split("rows results items data records hits documents matches result value values entries list")
)
_PAGE_FIELDS = frozenset(
    str.split(
        "count total total_count num_results columns page query status success ok has_more next took"
        " next_page error message limit offset took_ms fields cursor per_page page_size pages source table"
        " name_of_query filter filters sort order_by elapsed elapsed_ms duration_ms time_ms schema header"
        " headers rowcount row_count previous prev total_pages request_id"
    )
)


def is_empty(
    text: str,
    value: JsonValue = None,
    kind: ToolKind = ToolKind.OTHER,
    arguments: Sequence[JsonValue] = (),
) -> bool:
    """Whether a result holds nothing; see `read_envelope`.

    A sentence counts where a tool gave it, as the whole of a short text: what an agent's own code prints in
    words is its finding.
    """
    plain = without_time(text.strip())
    if isinstance(value, dict | list):
        return _is_empty_document(value, arguments)
    if plain in _NO_VALUE:
        return True
    document = _find_short_document(plain)
    if document is not None and _is_empty_document(document, arguments):
        return True
    forms = load_text_forms()
    if len(plain) < MAX_BARE_CHARS and (forms["bare"].find_match(plain) or _HEAD_ALONE.match(plain)):
        return True
    if kind is ToolKind.SQL and _COLUMNS_ALONE.match(plain):
        return True
    if kind in (ToolKind.OTHER, ToolKind.DOCUMENTS) and _HEADER_LINE.fullmatch(text):
        return True
    in_words = kind is not ToolKind.PYTHON and len(plain) <= _MAX_SENTENCE_CHARS
    return in_words and forms["sentence"].find_match(plain) is not None


def _find_short_document(text: str) -> dict[str, JsonValue] | list[JsonValue] | None:
    """Return the document that a short text is, None where it is none."""
    if text[0] not in "[{(" or len(text) >= MAX_BARE_CHARS:
        return None
    if text[0] == "(":
        document = decode_document(text)
    else:
        document = find_result_document(text)
    return document if isinstance(document, dict | list) else None


def _is_empty_document(
    document: dict[str, JsonValue] | list[JsonValue], arguments: Sequence[JsonValue]
) -> bool:
    """Whether a document has the form of an empty result, or holds nothing."""
    if isinstance(document, dict):
        form = find_document_envelope(document, arguments)
    else:
        form = None
    has_form = form is not None and form.status is EnvelopeStatus.EMPTY
    return has_form or _holds_nothing(document, arguments)


def _holds_nothing(
    document: Mapping[str, JsonValue] | Sequence[JsonValue], arguments: Sequence[JsonValue] = ()
) -> bool:
    """Whether a document is empty lists, zeros, what is said about them, and what the call was given."""
    if not isinstance(document, Mapping):
        return all(value in (None, [], {}) or _is_row_of_nulls(value) for value in document)
    if not document:
        return True
    rest = {name: value for name, value in document.items() if not _is_empty_field(name, value, arguments)}
    if len(rest) < len(document):
        nothing = (0, None, "", False, *arguments)
        return all(name.lower() in _PAGE_FIELDS or value in nothing for name, value in rest.items())
    has_rows = bool(document.keys() & _ROW_FIELDS)
    return has_rows and all(
        value in ("", None) if name in _ROW_FIELDS else name in _PAGE_FIELDS
        for name, value in document.items()
    )


def _is_empty_field(name: str, value: JsonValue, arguments: Sequence[JsonValue]) -> bool:
    """Whether a member is a list or an object without content; one of rows also where it is null."""
    if value in ([], {}):
        return True
    if name not in _ROW_FIELDS:
        return False
    return value is None or (isinstance(value, dict) and _holds_nothing(value, arguments))


def _is_row_of_nulls(value: JsonValue) -> bool:
    """Whether a row has no value in any column: what an aggregate gives over no rows."""
    cells = list(value.values()) if isinstance(value, dict) else value
    return isinstance(cells, list) and all(cell is None for cell in cells)
