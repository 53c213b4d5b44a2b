"""Text that goes to a model: signs of injected instructions and of jailbreaks.

In: text or Markdown, and documents: what a tool or a file brings. Out: findings; where the signs are sure, an
instruction in a document is denied: who wrote it gives the model no instructions. What a user writes is
reviewed at most. The signs and their points are in `data/prompts.txt`; where none is sure in a document, a
model of words decides (`learned_orders`). A rewording passes them, so they are one wall among others and no
boundary.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from spanproof.sandbox.scanners.addresses import (
    has_order_to_model,
    is_hostile_order,
    is_own_request,
    iter_orders,
)
from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.encodings import iter_decoded
from spanproof.sandbox.scanners.learned_orders import LIKELY, SURE, compute_score
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.phrases import compile_phrases
from spanproof.sandbox.scanners.source import START, Source, lower_case

# Characters within which signs of different kinds add up: a long paragraph.
_NEAR: Final = 600
# Characters on each side of a sign within which a quotation mark encloses it: a sentence.
_QUOTED: Final = 80
# Characters behind an address in which a customer speaks of an own order or account.
_OWN: Final = 250
# Points of signs at which a text is reviewed.
_REVIEWED: Final = 3
# Points at which an instruction in a document is denied; `[points]` says how many each kind has.
_SURE: Final = 4

_TOKENS: Final = re.compile(
    r"(?i)<\|(?:im_start|im_end|system|assistant|endoftext|eot_id|start_header_id)\|>"
    r"(?! (?:before|after|and|or|is|are|to|at|tokens?|marks?)\b)|\[/?INST\]|<</?SYS>>"
    r"|(?m:^#{1,4}\s{0,4}(?:system|assistant)\s{0,4}:)"
)
_NEGATION: Final = re.compile(r"(?i)(?:\bnot|\bnever|n't|\bwithout)\W{1,3}(?:\w{1,12}\W{1,3}){0,3}$")
_QUOTES: Final = frozenset("\"'“”„‘’‚«»`")
# A noun for what is quoted, and the quotation that it introduces: `enter the text "…`.
_INTRODUCED: Final = re.compile(
    r"\b(?:text|input|string|phrase|sentence|words?|value|payload|prompt|query|question|message|line|example|like|says?)s?"
    r" [\"“‘«`][^\"”’»`]{0,80}$"
)


# Where a sign begins: at a word, or anywhere in a script that puts no blanks between words.
# An option of a command (`--override`) is no sign.
_BEGINNING: Final = r"(?:(?<!\w)(?<!`--)(?<! --)|(?<=[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]))"


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
        compiled[kind] = compile_phrases(patterns.values(), words, _BEGINNING)
    return compiled


_ENTRIES: Final = read_sections("prompts")["points"]
_POINTS: Final = {kind: int(entry.split()[0]) for kind, entry in _ENTRIES.items()}
# Kinds that are in texts for people too, and count only beside one that speaks to a model.
_WITH_OTHERS: Final = frozenset(kind for kind, entry in _ENTRIES.items() if entry.endswith("with others"))
_KINDS: Final = _compile_kinds()
_MENTION: Final = _KINDS.pop("mention")
# Kinds that set a model's instructions aside, or put another speaker in: an order behind one is sure.
_SET_ASIDE: Final = frozenset({"override", "takeover", "roles", "tokens"})
# Kinds that call on a model, as a customer does too.
_SPOKEN: Final = frozenset({"addressed", "called"})
# Kinds that make an order behind an address a hostile one.
_HOSTILE: Final = tuple(
    _KINDS[kind]
    for kind in (
        "override",
        "takeover",
        "disclosure",
        "own-prompt",
        "jailbreak",
        "robbery",
        "beacon",
        "theft",
    )
)


def scan(context: Context, source: Source) -> None:
    """Report signs, also where they are written in full-width or otherwise compatible letters."""
    text = source.text
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    same = len(normal) == len(text)
    found = [*_iter_signs(lower_case(normal))]
    found += _iter_encoded(text, {sign.kind for sign in found})
    found += _find_foreign_closing(lower_case(normal))
    signs = sorted(found, key=lambda sign: sign.start)
    is_refused = _judge_signs(context, source, signs, same=same)
    if source.language == "document" and not is_refused:
        _judge_wording(context, lower_case(normal))


def _judge_signs(context: Context, source: Source, signs: list[Sign], *, same: bool) -> bool:
    """Report signs that add up; whether some are sure. With `same`, their offsets are those of the source."""
    is_refused = False
    for group in _group_near(signs):
        kinds_found = {sign.kind for sign in group}
        points = sum(_POINTS[kind] for kind in kinds_found)
        if points < _REVIEWED or kinds_found <= _WITH_OTHERS:
            continue
        is_sure = points >= _SURE and source.language == "document"
        kinds = sorted(kinds_found, key=lambda kind: (-_POINTS[kind], kind))
        if kinds[0] == "jailbreak" and len(kinds) == 1:
            rule = "prompt.jailbreak"
        else:
            rule = "prompt.injection"
        context.add(
            rule,
            source.place(group[0].start, group[-1].end) if same else START,
            f"gives orders to the model ({', '.join(kinds)})",
            Verdict.DENY if is_sure else None,
        )
        is_refused = is_refused or is_sure
    return is_refused


def _judge_wording(context: Context, text: str) -> None:
    """Judge a document in which no sign is sure by its words."""
    score = compute_score(text)
    if score >= LIKELY:
        verdict = Verdict.DENY if score >= SURE else None
        context.add("prompt.injection", START, "is worded as orders to the model are", verdict)


# Marks of a chat template that end a turn, and those that begin one.
_CLOSING: Final = re.compile(r"\[/inst\]|<\|(?:im_end|eot_id|end_of_turn|endoftext)\|>|</s>")
_OPENING: Final = re.compile(r"\[inst\]|<\|(?:im_start|start_header_id|begin_of_text|start_of_turn)\|>|<s>")


def _find_foreign_closing(text: str) -> list[Sign]:
    """Return the mark that ends a turn which the text did not begin, where it begins another one after it."""
    closing = _CLOSING.search(text)
    opening = _OPENING.search(text)
    is_foreign = closing and opening and closing.start() < opening.start()
    if is_foreign and closing and opening:
        return [Sign("container", closing.start(), opening.end())]
    return []


def _iter_signs(text: str) -> Iterator[Sign]:
    """Yield the signs in a text in lower case; those of texts for people only where a model is spoken to."""
    to_models = [*_iter_signs_of(text, [kind for kind in _KINDS if kind not in _WITH_OTHERS])]
    to_models += [
        Sign("order", sign.start, sign.end)
        for sign in to_models
        if sign.kind in _SET_ASIDE and has_order_to_model(text, sign.end)
    ]
    for order in iter_orders(text, _is_hostile):
        if not _is_quoted(text, order.start, order.end):
            to_models.append(Sign("order", order.start, order.end))
    yield from to_models
    if to_models:
        yield from _iter_signs_of(text, [kind for kind in _KINDS if kind in _WITH_OTHERS])


def _is_hostile(order: str) -> bool:
    return any(pattern.search(order) for pattern in _HOSTILE)


def _iter_signs_of(text: str, kinds: Collection[str]) -> Iterator[Sign]:
    for kind in kinds:
        for found in _KINDS[kind].finditer(text):
            if kind in _SPOKEN and is_own_request(
                text[found.end() : found.end() + _OWN], is_for_models=False
            ):
                continue
            if not _is_negated(text, kind, found.start()) and not _is_quoted(text, *found.span()):
                yield Sign(kind, *found.span())


# Where a sentence of a decoded text begins.
_SENTENCE: Final = re.compile(r"[\n.:!?]\s{0,4}")


def _iter_encoded(text: str, plain: Collection[str]) -> Iterator[Sign]:
    """Yield the kinds that only decoding shows, with the kind `encoded` and the span of what was decoded."""
    for start, end, inner in iter_decoded(text):
        lower = lower_case(inner)
        kinds = {sign.kind for sign in _iter_signs(lower)} - set(plain)
        if any(is_hostile_order(sentence) for sentence in _SENTENCE.split(lower)):
            kinds.add("order")
        for kind in [*sorted(kinds), "encoded"] if kinds else ():
            yield Sign(kind, start, end)


def _is_negated(text: str, kind: str, start: int) -> bool:
    """Whether a text forbids what it names: `never share your password`."""
    return (
        kind in {"theft", "harm", "robbery"}
        and _NEGATION.search(text[max(start - 60, 0) : start]) is not None
    )


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether a text speaks about such an order and quotes it."""
    before, after = text[max(start - _QUOTED, 0) : start], text[end : end + _QUOTED]
    if _QUOTES.isdisjoint(before) or _QUOTES.isdisjoint(after):
        return False
    return (
        _INTRODUCED.search(before) is not None
        or _MENTION.search(text[max(start - _NEAR, 0) : end + _NEAR]) is not None
    )


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
