"""The rules for names: identifiers, and what a key is said to be ("the carrier is DHL").

In: the `Binding`. Out: claims. An identifier that no output and no task holds is contradicted only where they
hold one of the same form; a name said under a key is held against the key's value. Names elsewhere in the
prose are no claims: nothing tells what is said of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.words import content_words, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.outputs.order import is_now
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of

_IDENTIFIER = re.compile(
    r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*(?![\w-])"
)
_IS = re.compile(
    r"\b(?P<key>[A-Za-z][\w-]*(?:[ _][\w-]+){0,3}?)\s*"
    r"(?:\s(?:is|are|was|were)\s(?:now\s|currently\s)?|:\s|\s=\s)(?:the\s|an?\s)?"
    r"[\"'`*]*(?P<value>[^\s.,;:()\"'`*](?:[^.,;:()\"`*\n]|[.,:](?=\d)){0,48})",
)
_HEX = re.compile(r"(?=.*\d)[0-9a-f]{7,40}")
_DOTTED = re.compile(r"(?<![\d.])v?\d+(?:\.\d+){2,}(?!\d)|(?<![\w.])v\d+\.\d+(?!\d)")
_LABEL = re.compile(r"(?<![\w-])[A-Za-z]{1,6}\d{1,4}(?![\w-])")
_PHONE = re.compile(
    r"(?<![\w.])(?:\+(?=(?:[ ()-]{0,2}\d){8})\d{1,3}(?:[ -]?\(?\d{1,5}\)?){2,6}"
    r"|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}|0\d{2,4}[ /-]\d{4,9})(?![\w-])"
)
_ZERO_LED = re.compile(r"(?<![\w.,:-])0\d{2,}(?![\w:-]|[.,]\d)")
_TAGGED = re.compile(r"(?<![\w./-])[a-z][\w./-]{0,80}:v?\d+(?:\.\d+)+(?![\w-])")
_NOW = re.compile(r"\b(?:is|are)\s+(?:now|currently)\b", re.IGNORECASE)
_HOLDS_NOW = re.compile(
    r"\b(?:now|currently|(?<!once )(?<!previously )(?:is|are))\s+(?:now\s+|currently\s+)?(?:\w+\s+)?$",
    re.IGNORECASE,
)
"""What stands before a name that is told as what holds now."""
_NOW_CHARS = 40
_LEAST_DIALLED = 7
_MAX_TEXT = 200_000


def entity_claims(binding: Binding) -> list[Claim]:
    """Identifiers and named values."""
    return [*_identifiers(binding), *_numbered_labels(binding), *_named_values(binding)]


def _numbered_labels(binding: Binding) -> Iterator[Claim]:
    """Short labels such as Q3, p99 or T1: one the outputs lack, where they hold others of its row."""
    known: set[str] | None = None
    for match in islice(_LABEL.finditer(binding.answer.text), MAX_CLAIMS):
        if known is None:
            texts = (text[:_MAX_TEXT] for text in (*binding.facts.texts, binding.task))
            known = {
                found.lower() for text in texts for found in _LABEL.findall(text.replace("_", " "))
            } | set(binding.vocabulary)
        label = match.group().lower()
        if label in known:
            continue
        stem = label.rstrip("0123456789")
        if any(word.startswith(stem) and word[len(stem) :].isdigit() for word in known):
            reason = "the outputs hold labels of this kind, but not this one"
            yield claim(
                binding, match.start(), match.end(), ClaimKind.IDENTIFIER, Verdict.CONTRADICTED, reason
            )


def _identifiers(binding: Binding) -> Iterator[Claim]:
    if not binding.answer.identifiers:
        return
    haystack = [text[:_MAX_TEXT].lower() for text in binding.facts.texts]
    shapes: set[str] | None = None
    for start, end, written in binding.answer.identifiers[:MAX_CLAIMS]:
        lowered = written.lower()
        index = next((number for number, text in enumerate(haystack) if _holds(text, lowered)), None)
        place = (binding, start, end, ClaimKind.IDENTIFIER)
        later = _overtaken(lowered, start, binding) if index is not None and len(haystack) > 1 else None
        if later is not None:
            yield claim(
                *place, Verdict.CONTRADICTED, f"a later output says `{later.text}`", evidence_of(later)
            )
        elif index is not None:
            yield claim(*place, Verdict.GROUNDED, "an output names it", ClaimEvidence(index, written))
        elif lowered in binding.task.lower():
            yield claim(*place, Verdict.GROUNDED, "the task names it", ClaimEvidence(None, written))
        else:
            if shapes is None:
                shapes = {_shape(found) for text in haystack for found in _IDENTIFIER.findall(text)}
                shapes |= {_shape(found) for text in haystack for found in _DOTTED.findall(text)}
                shapes |= {_shape(found.group()) for text in haystack for found in _PHONE.finditer(text)}
                shapes |= {_shape(found) for text in haystack for found in _ZERO_LED.findall(text)}
                shapes |= {_shape(found) for text in haystack for found in _TAGGED.findall(text)}
            if _shape(lowered) in shapes:
                yield claim(
                    *place,
                    Verdict.CONTRADICTED,
                    "the outputs hold identifiers of this form, but not this one",
                )


def _overtaken(lowered: str, start: int, binding: Binding) -> Fact | None:
    """What a later output says in place of a name that the answer tells as what holds now."""
    if _HOLDS_NOW.search(binding.answer.text[max(0, start - _NOW_CHARS) : start]) is None:
        return None
    facts = [fact for fact in binding.facts.facts if fact.string and fact.key and not fact.weak]
    held = [fact for fact in facts if (fact.string or "").lower() == lowered]
    said = binding.answer.text.lower()
    for fact in held:
        later = [other for other in facts if is_now(other, fact)]
        if not later or any((other.string or "").lower() in said for other in later):
            return None
    return later[-1] if held else None


def _holds(text: str, identifier: str) -> bool:
    """Whether a text names it; of a dotted number no part of a longer one counts, and a leading v is none."""
    if _PHONE.fullmatch(identifier):
        return any(_same_phone(identifier, found.group()) for found in _PHONE.finditer(text))
    if not _DOTTED.fullmatch(identifier):
        return identifier in text
    return any(found.lstrip("v") == identifier.lstrip("v") for found in _DOTTED.findall(text))


def _same_phone(one: str, other: str) -> bool:
    """Whether two numbers are dialled alike; one may lack the country's code."""
    first, second = re.sub(r"\D", "", one).lstrip("0"), re.sub(r"\D", "", other).lstrip("0")
    short, long = sorted((first, second), key=len)
    return len(short) >= _LEAST_DIALLED and long.endswith(short)


def _shape(identifier: str) -> str:
    if _DOTTED.fullmatch(identifier):
        return re.sub(r"\d+", "9", identifier.lstrip("v"))
    if _PHONE.fullmatch(identifier):
        return "telephone"
    if _HEX.fullmatch(identifier):
        return f"hex {len(identifier)}"
    return re.sub(r"[a-z]", "a", re.sub(r"\d", "9", identifier.lower()))


def _named_values(binding: Binding) -> Iterator[Claim]:
    strings = [
        fact
        for fact in binding.facts.facts[:5_000]
        if fact.string
        and fact.key
        and not fact.weak
        and fact.number is None
        and fact.day is None
        and len(fact.string) < 60
    ]
    if not strings:
        return
    for match in islice(_IS.finditer(binding.answer.text), MAX_CLAIMS):
        said = frozenset(content_words(words_of(match["key"])))
        facts = [fact for fact in strings if _is_key(fact, said)]
        if len(binding.facts.texts) > 1 and _NOW.search(match.group()):
            facts = [fact for fact in facts if not any(is_now(other, fact) for other in facts)]
        if not facts:
            continue
        found = _hold(match, facts, said, binding)
        if found is not None:
            yield found


def _is_key(fact: Fact, said: frozenset[str]) -> bool:
    """Whether the words before "is" are the fact's key, or end in its last word."""
    return bool(said) and said <= fact.words | {"nam"} and (fact.key[-1] in said or set(fact.key) <= said)


def _hold(match: re.Match[str], facts: list[Fact], said: frozenset[str], binding: Binding) -> Claim | None:
    place = (binding, match.start("value"), match.end("value"), ClaimKind.ENTITY)
    value = match["value"].strip()
    words = set(words_of(value))
    for fact in facts:
        assert fact.string is not None
        wanted = set(words_of(fact.string))
        if wanted <= said:
            return None  # "the pool tank is 7 TiB": the name is told, and what is said is another thing
        if wanted and (wanted <= words or (len(words) > 1 and words < wanted)):
            return claim(*place, Verdict.GROUNDED, "an output says so", evidence_of(fact))
    named = [fact for fact in facts if fact.records < 0 or fact.scope & said - set(fact.key)]
    if not named or not _is_a_name(value) or not any(character.isalpha() for character in value):
        return None
    return claim(
        *place, Verdict.UNCERTAIN, f"`{named[0].text}` is what the outputs say", evidence_of(named[0])
    )


def _is_a_name(value: str) -> bool:
    """Whether the whole value reads as a name: capitalised words, or a word with digits."""
    words = value.split()
    return len(words) <= 3 and all(
        word[:1].isupper() or any(character.isdigit() for character in word) for word in words
    )
