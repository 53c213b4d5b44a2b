"""Text that goes to a model: signs of injected instructions and of jailbreaks.

In: text or Markdown, and documents: what a tool or a file brings. Out: findings; where the signs are sure, an
instruction in a document is denied: who wrote it gives the model no instructions. What a user writes is
reviewed at most. The signs and their points are in `data/prompts.txt`. A rewording passes them, so
they are one wall among others and no boundary.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final, NamedTuple

from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.source import START, Source, lower_case

# Within one sentence: a full stop before a blank ends it.
_GAP: Final = r"(?:(?![.!?]\s)[\s\W]){1,6}"
# Characters within which signs of different kinds add up: a long paragraph.
_NEAR: Final = 600
# Characters on each side of a sign within which a quotation mark encloses it: a sentence.
_QUOTED: Final = 80
# Points of signs at which a text is reviewed.
_REVIEWED: Final = 3
# Points at which an instruction in a document is denied; `[points]` says how many each kind has.
_SURE: Final = 4

# A blank of a pattern, or a class of characters, in which a blank is itself.
_BLANK: Final = re.compile(r"\[[^\]]*\]| ")
_TOKENS: Final = re.compile(
    r"(?i)<\|(?:im_start|im_end|system|assistant|endoftext|eot_id|start_header_id)\|>|\[/?INST\]|<</?SYS>>"
    r"|(?m:^#{1,4}\s{0,4}(?:system|assistant)\s{0,4}:)"
)
_NEGATION: Final = re.compile(r"(?i)(?:\bnot|\bnever|n't|\bwithout)\W{1,3}(?:\w{1,12}\W{1,3}){0,3}$")
_QUOTES: Final = frozenset("\"'“”‘’«»`")


# Where a sign begins: at a word, or anywhere in a script that puts no blanks between words.
_BEGINNING: Final = r"(?:(?<!\w)|(?<=[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]))"


class Sign(NamedTuple):
    """One sign in a text: its kind, and where it is."""

    kind: str
    start: int
    end: int


def _compile_kinds() -> dict[str, re.Pattern[str]]:
    sections = read_sections("prompts")
    words = sections.pop("words")
    del sections["points"]
    compiled = {"tokens": _TOKENS}
    for kind, patterns in sections.items():
        joined = "|".join(patterns.values())
        for name, pattern in words.items():
            joined = joined.replace(f"{{{name}}}", pattern)
        compiled[kind] = re.compile(
            _BEGINNING + "(?:" + _BLANK.sub(lambda found: _GAP if found[0] == " " else found[0], joined) + ")"
        )
    return compiled


_ENTRIES: Final = read_sections("prompts")["points"]
_POINTS: Final = {kind: int(entry.split()[0]) for kind, entry in _ENTRIES.items()}
# Kinds that are in texts for people too, and count only beside one that speaks to a model.
_WITH_OTHERS: Final = frozenset(kind for kind, entry in _ENTRIES.items() if entry.endswith("with others"))
_KINDS: Final = _compile_kinds()
_MENTION: Final = _KINDS.pop("mention")


def scan(context: Context, source: Source) -> None:
    """Report signs, also where they are written in full-width or otherwise compatible letters."""
    text = source.text
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    same = len(normal) == len(text)
    signs = sorted([*_iter_signs(lower_case(normal)), *_iter_encoded(text)], key=lambda sign: sign.start)
    for group in _group_near(signs):
        found = {sign.kind for sign in group}
        points = sum(_POINTS[kind] for kind in found)
        if points < _REVIEWED or found <= _WITH_OTHERS:
            continue
        is_sure = points >= _SURE and source.language == "document"
        kinds = sorted(found, key=lambda kind: (-_POINTS[kind], kind))
        rule = "prompt.jailbreak" if kinds[0] == "jailbreak" and len(kinds) == 1 else "prompt.injection"
        context.add(
            rule,
            source.place(group[0].start, group[-1].end) if same else START,
            f"gives orders to the model ({', '.join(kinds)})",
            Verdict.DENY if is_sure else None,
        )


def _iter_signs(text: str) -> Iterator[Sign]:
    """Yield the signs in a text in lower case; those of texts for people only where a model is spoken to."""
    to_models = [*_iter_signs_of(text, [kind for kind in _KINDS if kind not in _WITH_OTHERS])]
    yield from to_models
    if to_models:
        yield from _iter_signs_of(text, [kind for kind in _KINDS if kind in _WITH_OTHERS])


def _iter_signs_of(text: str, kinds: Collection[str]) -> Iterator[Sign]:
    for kind in kinds:
        for found in _KINDS[kind].finditer(text):
            if not _is_negated(text, kind, found.start()) and not _is_quoted(text, found):
                yield Sign(kind, *found.span())


# Base64 of a sentence, and how many stretches of it are decoded.
_BASE64: Final = re.compile(r"(?<![\w+/])[A-Za-z0-9+/]{32,4000}={0,2}(?![\w+/])")
_MOST_DECODED: Final = 16


def _iter_encoded(text: str) -> Iterator[Sign]:
    """Yield the signs in base64, each at the place of the whole stretch, and that they were hidden so."""
    for found in islice(_BASE64.finditer(text), _MOST_DECODED):
        try:
            inner = base64.b64decode(found[0], validate=True).decode("utf-8")
        except ValueError:
            continue
        kinds = {sign.kind for sign in _iter_signs(lower_case(inner))}
        for kind in [*sorted(kinds), "encoded"] if kinds else ():
            yield Sign(kind, *found.span())


def _is_negated(text: str, kind: str, start: int) -> bool:
    """Whether a text forbids what it names: `never share your password`."""
    return (
        kind in {"theft", "harm", "robbery"}
        and _NEGATION.search(text[max(start - 60, 0) : start]) is not None
    )


def _is_quoted(text: str, found: re.Match[str]) -> bool:
    """Whether a text speaks about such an order and quotes it."""
    start, end = found.span()
    before, after = text[max(start - _QUOTED, 0) : start], text[end : end + _QUOTED]
    in_quotes = not _QUOTES.isdisjoint(before) and not _QUOTES.isdisjoint(after)
    return in_quotes and _MENTION.search(text[max(start - _NEAR, 0) : end + _NEAR]) is not None


def _group_near(signs: list[Sign]) -> Iterator[list[Sign]]:
    """Yield signs that are near each other; each group is reported once."""
    group: list[Sign] = []
    for sign in signs:
        if group and sign.start - group[0].start > _NEAR:
            yield group
            group = []
        group.append(sign)
    if group:
        yield group
