"""The rule for proper names: "It is 21 °C in Bergen" where the outputs speak of Oslo, "the capital is Lyon".

In: the `Binding`. Out: claims. A name is judged only in a frame that the outputs share: behind a preposition
whose key holds a single other name, or as what a sentence of the same words says. It is contradicted only
where neither outputs nor task know it and their own name is not told beside it; elsewhere it is no claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.dates import dates_in
from spanproof.evaluators.layers.groundedness.language.words import canonical_set, content_words, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of

_NAME = r"[A-ZÀ-Þ][\w'’&-]*(?:\s+(?:(?:of|de|the|van|von|da)\s+)?[A-ZÀ-Þ][\w'’&-]*){0,3}"
_PLACED = re.compile(rf"\b(?P<preposition>(?i:in|at|for|from|to|by|with))\s+(?P<name>{_NAME})")
_KEYS = {
    "in": canonical_set("city country location place region state town store office warehouse"),
    "at": canonical_set("location place store office company venue airport station hotel"),
    "for": canonical_set("customer client user name company city product"),
    "from": canonical_set("origin source from city country sender"),
    "to": canonical_set("destination to recipient city"),
    "by": canonical_set("author artist director seller vendor brand publisher owner creator writer composer"),
    "with": canonical_set("carrier airline provider vendor doctor agent host"),
}  # fmt: skip
"""Keys whose single value is what a preposition speaks of."""
_COPULA = re.compile(
    rf"(?P<subject>[^\s.;:][^.;:\n]{{2,120}}?)\s+(?:is|was|are|were|won by|written by|called|named)\s+"
    rf"(?P<name>{_NAME})(?=\s*(?:[.,;!?)]|$))"
)
_COPULA_AND_NAME = re.compile(r"\s(?:is|was|are|were|by|called|named)\s+[A-ZÀ-Þ]")
_MAX_TEXT = 20_000
_MAX_SAID = 20


def named_claims(binding: Binding) -> list[Claim]:
    """Names behind a preposition, and names that a sentence says of something."""
    return [*_placed(binding), *_said(binding)]


def _placed(binding: Binding) -> Iterator[Claim]:
    strings: list[Fact] | None = None
    for match in islice(_PLACED.finditer(binding.answer.text), _MAX_SAID):
        if strings is None:
            strings = _lone_names(binding)
        if not strings:
            return
        facts = [fact for fact in strings if not _KEYS[match["preposition"].lower()].isdisjoint(fact.key)]
        if len(facts) != 1 or _is_told(facts[0], binding):
            continue
        alike = (facts[0].string or "").isupper()  # of two names in capitals neither is short for another
        if not _is_unknown(match["name"], binding, capitals=alike):
            continue
        yield _against(match, facts[0].text, evidence_of(facts[0]), binding)


def _said(binding: Binding) -> Iterator[Claim]:
    texts: list[tuple[int, list[tuple[set[str], str]]]] | None = None
    if _COPULA_AND_NAME.search(binding.answer.text) is None:
        return
    for match in islice(_COPULA.finditer(binding.answer.text), _MAX_SAID):
        if texts is None:
            short = (pair for pair in enumerate(binding.facts.texts) if len(pair[1]) <= _MAX_TEXT)
            texts = [(index, _sayings(text, binding)) for index, text in islice(short, _MAX_SAID)]
        subject = set(content_words(words_of(match["subject"])))
        name = set(words_of(match["name"]))
        for index, sayings in texts:
            other = next((told for theirs, told in sayings if _same_subject(subject, theirs)), None)
            if other is None:
                continue
            evidence = ClaimEvidence(index, binding.facts.texts[index].strip()[:120])
            theirs = set(words_of(other))
            if name <= theirs or theirs <= name:
                place = (binding, match.start("name"), match.end("name"), ClaimKind.ENTITY)
                yield claim(*place, Verdict.GROUNDED, "an output says so", evidence)
                break
            if name.isdisjoint(theirs) and _is_unknown(match["name"], binding):
                yield _against(match, evidence.text, evidence, binding)
                break


def _sayings(text: str, binding: Binding) -> list[tuple[set[str], str]]:
    """What a text says by name of something; an output that is a bare name says it of what the task asks."""
    stripped = text.strip().strip("\"'.")
    if len(stripped) <= 100 and re.fullmatch(_NAME, stripped):
        return [(set(binding.task_words), stripped)] if binding.task else []
    return [
        (set(content_words(words_of(match["subject"]))), match["name"])
        for match in islice(_COPULA.finditer(text), _MAX_SAID)
    ]


def _same_subject(subject: set[str], theirs: set[str]) -> bool:
    return bool(subject and theirs) and (subject <= theirs or theirs <= subject)


def _lone_names(binding: Binding) -> list[Fact]:
    """Strings that stand alone under their key, and so are what the whole output is about."""
    return [
        fact
        for fact in binding.facts.facts[:200]
        if fact.string
        and fact.key
        and fact.records < 0
        and fact.day is None
        and re.fullmatch(_NAME, fact.string)
    ]


def _is_unknown(name: str, binding: Binding, *, capitals: bool = False) -> bool:
    """Whether neither outputs nor task hold any of the name's words, nor what could be short for it."""
    if next(dates_in(name), None) is not None or (name.isupper() and len(name) <= 3 and not capitals):
        return False
    known = " ".join((*(text[:_MAX_TEXT] for text in binding.facts.texts), binding.task)).lower()
    initials = "".join(word[0] for word in name.split()).lower()
    if len(initials) > 1 and re.search(rf"\b{re.escape(initials)}\b", known):
        return False
    return not any(word in known for word in content_words(words_of(name)) or [name.lower()])


def _is_told(fact: Fact, binding: Binding) -> bool:
    """Whether the answer tells the outputs' own name, or the task asks by it."""
    own = words_of(fact.string or "")
    said = f"{binding.answer.text} {binding.task}".lower()
    return any(word in said for word in content_words(own))


def _against(match: re.Match[str], text: str, evidence: ClaimEvidence, binding: Binding) -> Claim:
    place = (binding, match.start("name"), match.end("name"), ClaimKind.ENTITY)
    return claim(*place, Verdict.UNCERTAIN, f"`{text}` is what the outputs say", evidence)
