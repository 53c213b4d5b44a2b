"""Make records of sentences, and of single lines of `name: value`.

In: a part of a text. Out: a record for each sentence, with its values, the fields it writes as `name=value`,
and the capitalised names in it.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from spanproof.reading.numbers import list_cached_mentions
from spanproof.reading.records import LONG_TEXT, FactBase, Role, Sentence

SENTENCE = re.compile(r"(?<=[.!?;])(?:\s+|(?=\\n))|\n+|\\n|(?<=[。；])")
_PAIR = re.compile(
    r"[ \t]*(?:[-*•]\s+)?(?:\*\*)?(?P<name>[^\W\d][\w ./()%°-]{0,48}?)(?:\*\*)?\s*"
    r"(?:=|(?<!\d):|:(?!\d)|->|\t)(?:\*\*)?[ \t]*(?P<value>\S.*?)[ \t]*$"
)
_PAIR_SIGN = re.compile(r"[=:\t]|->")
_INLINE = re.compile(r"(?<![\w.])(?P<name>[A-Za-z_][\w.-]*+)=(?P<value>\"[^\"]*\"|'[^']*'|[^\s,;]+)")
_NAME = re.compile(r"\b[A-Z][\w'’-]*+(?:\s+(?:(?:of|the|de|and|&)\s+)?[A-Z][\w'’-]*+){0,4}")


def add_prose(
    base: FactBase, source: int, start: int, end: int, parent: int | None, path: tuple[str, ...] = ()
) -> None:
    """Add a record for each sentence of a text, with the values it writes."""
    text = base.texts[source]
    group = base.add_group(path[-1] if path else "")
    at = start
    for match in [*SENTENCE.finditer(text, start, end), None]:
        stop = match.start() if match else end
        sentence = text[at:stop]
        if sentence and not sentence.isspace():
            record = base.add_record(source, parent, at, stop, group)
            if _PAIR_SIGN.search(sentence, 0, LONG_TEXT):
                pair = _PAIR.match(sentence)
            else:
                pair = None
            if pair is not None and len(pair["value"]) <= LONG_TEXT:
                low, high = pair.span("value")
                base.add_cell(record, (*path, pair["name"].strip()), at + low, at + high)
                base.add_cell(record, (), at + pair.start("name"), at + pair.end("name"), Role.KEY)
            else:
                add_values(base, record, sentence, at, path)
        at = match.end() if match else end


def add_values(base: FactBase, record: int, text: str, start: int, path: tuple[str, ...] = ()) -> None:
    """Add the values, fields and names that a sentence or a line of a log writes."""
    taken: list[tuple[int, int]] = []
    for match in _INLINE.finditer(text) if "=" in text else ():
        low, high = match.span("value")
        taken.append((match.start(), high))
        if text[low] in "\"'":
            low, high = low + 1, high - 1
        base.add_cell(record, (*path, match["name"]), start + low, start + high)
    sentence = Sentence(text, start)
    for mention in list_cached_mentions(text):
        before = bisect_right(taken, (mention.start, len(text))) - 1
        if before < 0 or mention.start >= taken[before][1]:
            base.add_mention(record, mention, sentence)
    for match in _NAME.finditer(text):
        if match.start() or " " in match[0]:
            base.add_cell(record, (), start + match.start(), start + match.end(), Role.PROSE)
