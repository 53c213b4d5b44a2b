"""Make records of sentences and of `name: value` lines."""

from __future__ import annotations

import re

from spanproof.reading.numbers import scan_cached
from spanproof.reading.records import FactBase, Role, Sentence

SENTENCE = re.compile(r"(?<=[.!?;])(?:\s+|(?=\\n))|\n+|\\n|(?<=[。；])")
_PAIR = re.compile(r"^[ \t]*(?:[-*•]\s+)?(?:\*\*)?(?P<name>[^\W\d][\w ./()%°-]{0,48}?)(?:\*\*)?\s*(?P<sep>=|(?<!\d):|:(?!\d)|->|\t)(?:\*\*)?[ \t]*(?P<value>\S.*?)[ \t]*$")  # fmt: skip  # noqa: E501
_INLINE = re.compile(r"(?<![\w.])(?P<name>[A-Za-z_][\w.-]*)=(?P<value>\"[^\"]*\"|'[^']*'|[^\s,;]+)")


def add_prose(
    base: FactBase, source: int, start: int, end: int, parent: int | None, path: tuple[str, ...] = ()
) -> None:
    """Add a record for each sentence of a text, with the values it writes."""
    text = base.texts[source]
    group = base.new_group(path[-1] if path else "")
    at = start
    for match in [*SENTENCE.finditer(text, start, end), None]:
        stop = match.start() if match else end
        if text[at:stop].strip():
            _add_sentence(base, source, at, stop, parent, group, path)
        at = match.end() if match else end


def _add_sentence(
    base: FactBase, source: int, start: int, end: int, parent: int | None, group: int, path: tuple[str, ...]
) -> None:
    sentence = base.texts[source][start:end]
    record = base.new_record(source, parent, start, end, group)
    pair = _PAIR.match(sentence)
    if pair is not None and len(pair.group("value")) <= 90:
        base.add_cell(
            record,
            (*path, pair.group("name").strip()),
            start + pair.start("value"),
            start + pair.end("value"),
        )
        if len(pair.group("name")) <= 60:
            base.add_cell(record, (), start + pair.start("name"), start + pair.end("name"), Role.KEY)
        return
    inline = list(_INLINE.finditer(sentence))
    taken = [(match.start("name"), match.end()) for match in inline]
    for match in inline:
        low, high = match.span("value")
        if sentence[low] in "\"'":
            low, high = low + 1, high - 1
        base.add_cell(record, (*path, match.group("name")), start + low, start + high)
    written = Sentence(sentence, start)
    for mention in scan_cached(sentence):
        if not any(low <= mention.start < high for low, high in taken):
            base.add_mention(record, mention, written)
    _add_names(base, record, sentence, start)


_NAME = re.compile(r"\b[A-Z][\w'’-]*(?:\s+(?:(?:of|the|de|and|&)\s+)?[A-Z][\w'’-]*){0,4}")


def _add_names(base: FactBase, record: int, sentence: str, start: int) -> None:
    """Add capitalised names as anchors of their sentence."""
    for match in _NAME.finditer(sentence):
        if match.start() or " " in match.group():
            base.add_cell(record, (), start + match.start(), start + match.end(), Role.PROSE)
