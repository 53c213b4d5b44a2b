"""SQL within a sentence: `I ran SELECT name FROM orders WHERE total > 100 and found three rows`.

A text without code of its own comes in. Out: the longest stretch from a verb on that parses as one statement,
and that has a sign which sentences lack: an operator, a list, a second clause. Sentences use the words of SQL
too ("SELECT your seat FROM the map").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

# Statements looked for in one text: each attempt to parse costs time.
_MOST: Final = 20
# Characters of a statement in a sentence.
_LONGEST: Final = 600
# Words of the sentence after a statement that are removed, one by one, until it parses.
_WORDS_DROPPED: Final = 14

_STATEMENT: Final = re.compile(
    r"(?<![\w$.-])(?:"
    r"(?:SELECT|select)\s+(?:DISTINCT\s+)?[^\n;`]{1,200}?\s(?:FROM|from)\s+(?P<table>[\w.\"]+)"
    r"|(?:INSERT INTO|insert into)\s+[\w.\"]+\s*[^\n;`]{0,200}?(?:VALUES|values|SELECT|select)\b"
    r"|(?:UPDATE|update)\s+[\w.\"]+\s+(?:SET|set)\s+[\w.\"]+\s*="
    r"|(?:DELETE FROM|delete from)\s+[\w.\"]+(?:\s+(?:WHERE|where)\b|(?=\s*[;`]))"
    r"|(?:DROP|drop|CREATE|create|ALTER|alter|TRUNCATE|truncate) (?:TABLE|table|VIEW|view|INDEX|index)"
    r" (?:IF (?:NOT )?EXISTS |if (?:not )?exists )?[\w.\"]+(?=\s*[;(`]| [A-Z]{3,})"
    r")[^\n;`]{0,400}"
)
# What a statement has and a sentence has not.
_SIGN: Final = re.compile(
    r"[*=<>(]|\w, ?\w+ (?:FROM|from)\b|\b(?:WHERE|GROUP BY|ORDER BY|LIMIT \d|JOIN|VALUES)\b"
    r"|\b(?:where \w+ (?:=|<|>|in|like|is)|group by|order by|limit \d)",
)
# Words after `FROM` that no table is named.
_ARTICLES: Final = frozenset(
    {"the", "a", "an", "my", "your", "our", "this", "that", "these", "paris", "where", "what"}
)


def iter_statements(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of statements in sentences, in order."""
    if "\x00" in text:
        return
    for found in islice(_STATEMENT.finditer(text), _MOST):
        table = found.groupdict().get("table")
        if table is not None and table.lower() in _ARTICLES:
            continue
        end = _find_end(found[0][:_LONGEST])
        if end is not None and _SIGN.search(found[0][:end]):
            yield found.start(), found.start() + end


def _find_end(text: str) -> int | None:
    """Return where the longest statement at the beginning of a text ends; None where none parses."""
    if not text.rstrip().endswith(("'", ")")):
        end = len(text.rstrip(" .,:)!?\"'"))
    else:
        end = len(text.rstrip())
    for _ in range(_WORDS_DROPPED):
        if _parses(text[:end]):
            return end
        shorter = text.rfind(" ", 0, end)
        if shorter < 0:
            return None
        end = len(text[:shorter].rstrip(" .,:!?"))
    return None


def _parses(statement: str) -> bool:
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        parsed = parse_one(statement)
    except SqlglotError:
        return False
    if isinstance(parsed, exp.Command):
        return False
    # `FROM orders and found`: a table under the name of a word that goes on with the sentence.
    aliases = {alias.name.lower() for alias in parsed.find_all(exp.TableAlias)}
    return _SENTENCE_WORDS.isdisjoint(aliases)


# Words that follow a statement in a sentence, and that a parser takes for the alias of a table.
_SENTENCE_WORDS: Final = frozenset(
    {
        "to", "gives", "returns", "shows", "found", "which", "that", "but", "so", "then", "works", "here",
        "first", "instead", "because", "if", "it", "is", "was", "and", "again", "now", "will", "yields",
    }
)  # fmt: skip
