"""Results that hold nothing: an empty list, a table without rows, a sentence that says so.

In: a result and what gave it. Out: whether it is empty. A sentence counts where a tool gave it, as the whole
of a short text: what an agent's own code prints in words is its finding. Answering from an empty result is no
success.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from spanproof.evaluators.outcomes.places import Giver
from spanproof.trace import JsonValue
from spanproof.trace.dialects.decode import decode_document

_NOTHING = frozenset(
    {"", "None", "[]", "{}", "()", "set()", "null", "nan", "NaN", "<empty>", '""', "''", "undefined", "NULL"}
    | {
        "[[]]",
        "[{}]",
        "[None]",
        "[null]",
        "nil",
        "(nil)",
        "-",
        "N/A",
        "n/a",
        "NA",
        "<NA>",
        "NaT",
        "None None",
    }
    | {"dict_keys([])", "dict_values([])", "dict_items([])", "frozenset()", "deque([])", "array([])"}
)
_BARE = re.compile(
    r"(?:\(?0 (?:rows?|results?|matches|hits|records|items|documents|files|entries)\b(?: in set.*"
    r"| returned| found| affected)?\)?\.?"
    r"|(?:Empty set|Empty DataFrame|Empty result|Empty|No output|\(no output\)|\(empty\)"
    r"|no output)\b[^\n]{0,60}(?:\nColumns: .*\nIndex: .*)?"
    r"|Series\(\[\], .*\)|array\(\[\], .*\)|Index\(\[\], .*\)"
    r"|\(empty (?:array|list|set|result)\)|[\[(]no (?:rows|results|data|matches|output)[\])]"
    r"|\[\(None(?:, None)*,?\)\]|\[\{(?:['\"]\w[^'\"]*['\"]: (?:None|null)(?:, )?)+\}\]"
    r"|(?:rows?|results?|matches|hits|records|items|count|total|documents|entries|found): ?(?:0|none|\[\])\.?"
    r"|[^\n]{1,200}\n\s*-{2,}[-+\s]*\n\(0 rows\)|(?:\[\]|\(\))\s*(?:\(0 rows\))?"
    r"|<(?P<tag>\w+)(?: [^<>]*)?(?:/>|>\s*</(?P=tag)>))\Z",
    re.IGNORECASE,
)
# A table of which there is only the head and its rule.
_HEAD_ALONE = re.compile(r"\|?[^|\n]+(?:\|[^|\n]*)+\n\s*\|?[\s:|+-]*-[\s:|+-]*\Z")

_COLUMNS = re.compile(r"[A-Za-z_]\w*(?:\s*[,;|\t]\s*[A-Za-z_]\w*)+\Z")
# The names of a table without rows, on an ended line; names with commas between them may be a list.
_HEADER_LINE = re.compile(r"[a-z_]\w*(?:[;|\t][a-z_]\w*)+\r?\n")

# What it is good, or a failure, to have none of.
_GOOD = (
    r"(?:errors?|issues?|problems?|warnings?|failures?|conflicts?|vulnerabilit\w+|exceptions?|changes?"
    r"|differences?|duplicates?|violations?|action|need|longer|limit|charge|cost|fee|doubt|idea|access"
    r"|permission|answer|response|reply|such|one|more|further|route|connection|module|space|way)\b"
)

_NOTHING_OF = rf"(?:no|zero|0) (?!(?:[\w'-]+ ){{0,2}}{_GOOD})(?:[\w'-]+ ){{0,3}}?[\w'-]+"
_SENTENCES = re.compile(
    r"(?:"
    # The query returned no rows. Search matched nothing.
    r"[^.\n:]{0,70}?\b(?:returned|returns|found|finds|gave|produced|matched|yielded|contains"
    r"|contained|has|had"
    rf"|have|got|retrieved|brought)(?: back)? (?:{_NOTHING_OF}|nothing|none|an empty [\w'-]+|empty)"
    r"(?: [^.\n]{0,80})?"
    # There is nothing to export. No records for this period.
    rf"|(?:(?:there (?:is|are|was|were)|I found|we found|found|it seems there (?:is|are|was"
    rf"|were)) )?{_NOTHING_OF}"
    r"(?: (?:(?:is|are|was|were|has|have|had|could be|been|currently) )*(?:found|returned|available|matched"
    r"|match|matches|exists?|recorded|present|on file|yet|to \w+))*(?: (?:for|in|matching"
    r"|with|from|that|of|on"
    r"|by|at|within|under|between|since|to|your|this)\b[^.\n]{0,120})?"
    r"|(?:(?:there (?:is|was)) )?(?:nothing|none)(?: (?:was|were|is))?(?: (?:found|matches|matched|returned"
    r"|available|recorded|scheduled|here|to \w+))?(?: (?:for|in|matching|with|from|that|on"
    r"|at)\b[^.\n]{0,120})?"
    r"|[^.\n]{0,60}\b(?:is|are|was|came back|returned) (?:empty|an empty (?:list|array|set|table|result))"
    r"|(?:result|results|response|table|list|collection|folder|directory|inbox"
    r"|queue)(?: set)?:? (?:is )?empty"
    r"|not found[^\n]{0,80}"
    r"|keine?r?n? (?:\w+ ){0,2}(?:treffer|ergebnisse?|daten|eintr[äa]ge?|datens[äa]tze?"
    r"|zeilen|dokumente|dateien)"
    r"[^.\n]{0,60}|(?:es wurde )?nichts gefunden|aucune? (?:\w+ ){0,2}(?:r[ée]sultats?|donn[ée]es?|lignes?"
    r"|enregistrements?|documents?)[^.\n]{0,60}|(?:sin|no hay|ning[úu]n"
    r"|no se encontr\w+) (?:resultados?|datos"
    r"|registros?|filas|documentos?)[^.\n]{0,60}|nessun[ao]? (?:risultat\w|dat\w|rig\w"
    r"|document\w)[^.\n]{0,60}"
    r"|nenhum[a]? (?:resultados?|registros?|dados|linhas?)[^.\n]{0,60}|geen (?:resultaten"
    r"|gegevens|rijen)[^.\n]{0,60}"
    r"|没有[^\n]{0,12}(?:结果|数据|记录)|未找到[^\n]{0,20}|無結果|該当[^\n]{0,10}(?:なし|ありません)|見つかりません[^\n]{0,10}"
    r")[.!。]?(?: (?:please |try |check |consider |did you |you (?:can|may) )[^\n]{0,160})?\Z",
    re.IGNORECASE,
)
_LONGEST_SENTENCE = 300
_ROWS = frozenset(
    str.split("rows results items data records hits documents matches result value values entries list")
)
_ABOUT = frozenset(
    str.split(
        "count total total_count num_results columns page query status success ok has_more next took"
        " next_page error message limit offset took_ms fields cursor per_page page_size pages source table"
        " name_of_query filter filters sort order_by elapsed elapsed_ms duration_ms time_ms schema header"
        " headers rowcount row_count previous prev total_pages request_id"
    )
)


def is_empty(
    text: str, value: JsonValue = None, giver: Giver = Giver.OTHER, given: Sequence[JsonValue] = ()
) -> bool:
    """Whether a result holds nothing.

    Args:
        text: the result as text.
        value: the decoded result where it was JSON.
        giver: what gave it.
        given: what the call was given: a result may repeat it.
    """
    if isinstance(value, dict | list):
        return _holds_nothing(value, given)
    plain = text.strip()
    if plain in _NOTHING:
        return True
    if plain[0] in "[{(" and len(plain) < 2_000:
        document = decode_document(plain)
        if isinstance(document, dict | list) and _holds_nothing(document, given):
            return True
    if len(plain) < 2_000 and (_BARE.match(plain) or _HEAD_ALONE.match(plain)):
        return True
    if giver is Giver.SQL and _COLUMNS.match(plain):
        return True
    if giver in (Giver.OTHER, Giver.CONTENT) and _HEADER_LINE.fullmatch(text):
        return True
    in_words = giver is not Giver.PYTHON and len(plain) <= _LONGEST_SENTENCE
    return in_words and _SENTENCES.match(plain) is not None


def _is_row_of_nulls(value: JsonValue) -> bool:
    """Whether a row has no value in any column: what an aggregate gives over no rows."""
    cells = list(value.values()) if isinstance(value, dict) else value
    return isinstance(cells, list) and all(cell is None for cell in cells)


def _holds_nothing(
    value: Mapping[str, JsonValue] | Sequence[JsonValue], given: Sequence[JsonValue] = ()
) -> bool:
    """Whether a document is empty lists, zeros, what is said about them, and what the call was given."""
    if not isinstance(value, Mapping):
        return all(each in (None, [], {}) or _is_row_of_nulls(each) for each in value)
    if not value:
        return True
    empty = [name for name, item in value.items() if item in ([], {}) or (item is None and name in _ROWS)]
    inner = [
        name
        for name, item in value.items()
        if name in _ROWS and isinstance(item, dict) and item and _holds_nothing(item, given)
    ]
    rest = [name for name in value if name not in empty and name not in inner]
    if not empty and not inner:
        return bool(value.keys() & _ROWS) and all(
            item in ("", None) if name in _ROWS else name in _ABOUT for name, item in value.items()
        )
    nothing = (0, None, "", False, *given)
    return all(name.lower() in _ABOUT or value[name] in nothing for name in rest)
