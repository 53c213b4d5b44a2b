"""Results that hold nothing: an empty list, no rows, no match.

In: a result. Out: whether it is empty. Answering from an empty result is no success.
"""

from __future__ import annotations

import re

from spanproof.trace import JsonValue

_NOTHING = frozenset(
    {"", "None", "[]", "{}", "()", "set()", "null", "nan", "NaN", "<empty>", '""', "''", "undefined", "NULL"}
)
_NO_ROWS = re.compile(
    r"(?:\(?0 (?:rows?|results?|matches|hits|records|items|documents|files|entries)\b(?: in set.*"
    r"| returned| found| affected)?\)?\.?"
    r"|(?:Empty set|Empty DataFrame|Empty result|Empty|No output|\(no output\)|\(empty\)"
    r"|no output)\b[^\n]{0,60}(?:\nColumns: .*\nIndex: \[\])?"
    r"|(?:Found )?(?:No|no|Zero|zero|0) (?:good |matching |relevant |search )?(?:results?|rows?"
    r"|matches|match|records?|data|documents?|files?|entries|hits|items|orders?|customers?|users?"
    r"|products?|tickets?)"
    r"(?: (?:were |was )?(?:found|returned|available|matched|match))?(?: (?:for|in|matching|with|from"
    r"|that|of)\b[^\n]{0,120})?[.!]?"
    r"|No (?:\w+ ){1,3}found\.?|\(empty (?:array|list|set|result)\)|\(nil\)"
    r"|\[\(None(?:, None)*,?\)\]|\[\{(?:['\"]\w[^'\"]*['\"]: (?:None|null)(?:, )?)+\}\]"
    r"|(?:Nothing|nothing|None|Not) found[^\n]{0,80}|The query returned no (?:results|rows)\.?"
    r"|Query returned (?:0|no) (?:rows|results)\.?"
    r"|[^\n]{1,200}\n\s*-{2,}[-+\s]*\n\(0 rows\)|(?:\[\]|\(\))\s*(?:\(0 rows\))?)\Z"
)
_ROWS = ("rows", "results", "items", "data", "records", "hits", "documents", "matches", "result", "value")
_ABOUT = frozenset(
    str.split(
        "count total total_count num_results columns page query status success ok has_more next "
        "next_page error message"
        " limit offset took_ms fields"
    )
)


def is_empty(text: str, value: JsonValue = None) -> bool:
    """Whether a result holds nothing."""
    if isinstance(value, dict):
        rows = [value[name] for name in _ROWS if name in value]
        nothing = bool(rows) and all(row in ([], {}, None, "") for row in rows)
        return value == {} or (nothing and set(value) <= _ABOUT | set(_ROWS))
    if isinstance(value, list):
        return not value
    plain = text.strip()
    return plain in _NOTHING or (len(plain) < 400 and _NO_ROWS.match(plain) is not None)
