"""Results that hold nothing: no rows, no items, a table of which there is only the head."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from spanproof.reading.envelopes.documents import decode_result, match_document
from spanproof.reading.envelopes.forms import load_text_forms
from spanproof.reading.envelopes.model import MAX_BARE_CHARS, EnvelopeStatus
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
    document = value if isinstance(value, dict | list) else None
    plain = text.strip()
    if document is None:
        if plain in _NO_VALUE:
            return True
        if plain[0] in "[{(" and len(plain) < MAX_BARE_CHARS:
            decoded = decode_result(plain) if plain[0] != "(" else decode_document(plain)
            document = decoded if isinstance(decoded, dict | list) else None
    if isinstance(document, dict):
        found = match_document(document, arguments)
        if found is not None and found.status is EnvelopeStatus.EMPTY:
            return True
    if document is not None and (document is value or _holds_nothing(document, arguments)):
        return _holds_nothing(document, arguments)
    forms = load_text_forms()
    if len(plain) < MAX_BARE_CHARS and (forms["bare"].match(plain) or _HEAD_ALONE.match(plain)):
        return True
    if kind is ToolKind.SQL and _COLUMNS_ALONE.match(plain):
        return True
    if kind in (ToolKind.OTHER, ToolKind.DOCUMENTS) and _HEADER_LINE.fullmatch(text):
        return True
    in_words = kind is not ToolKind.PYTHON and len(plain) <= _MAX_SENTENCE_CHARS
    return in_words and forms["sentence"].match(plain) is not None


def _holds_nothing(
    value: Mapping[str, JsonValue] | Sequence[JsonValue], arguments: Sequence[JsonValue] = ()
) -> bool:
    """Whether a document is empty lists, zeros, what is said about them, and what the call was given."""
    if not isinstance(value, Mapping):
        return all(each in (None, [], {}) or _is_row_of_nulls(each) for each in value)
    if not value:
        return True
    empty = [
        name for name, item in value.items() if item in ([], {}) or (item is None and name in _ROW_FIELDS)
    ]
    inner = [
        name
        for name, item in value.items()
        if name in _ROW_FIELDS and isinstance(item, dict) and item and _holds_nothing(item, arguments)
    ]
    rest = [name for name in value if name not in empty and name not in inner]
    if not empty and not inner:
        return bool(value.keys() & _ROW_FIELDS) and all(
            item in ("", None) if name in _ROW_FIELDS else name in _PAGE_FIELDS
            for name, item in value.items()
        )
    nothing = (0, None, "", False, *arguments)
    return all(name.lower() in _PAGE_FIELDS or value[name] in nothing for name in rest)


def _is_row_of_nulls(value: JsonValue) -> bool:
    """Whether a row has no value in any column: what an aggregate gives over no rows."""
    cells = list(value.values()) if isinstance(value, dict) else value
    return isinstance(cells, list) and all(cell is None for cell in cells)
