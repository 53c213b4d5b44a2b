"""The rules for absence and for flags: "no orders were found", "it is not enabled".

In: the `Binding`. Out: claims. An absence is borne out by empty outputs, by a zero or a null under the name,
by a table without such a row; it is contradicted by the opposite. A flag is held against the negation around
its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.words import (
    canonical,
    canonical_set,
    content_words,
    plain_set,
    words_of,
)
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact, Records
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.naming import best_named

_ABSENT = re.compile(
    r"\b(?:no|without(?: any)?)\s+(?P<what>(?:[\w-]+\s+){0,2}[\w-]+)"
    r"|\b(?:could\s?n[o'’]t|could not|cannot|can['’]?t|did not|didn['’]t|unable to|failed"
    r" to)\s+(?:find|locate|identify|retrieve)\s+(?:any\s+)?(?P<sought>(?:[\w-]+\s+){0,2}[\w-]+)"
    r"|\b(?P<nothing>nothing|none)\s+(?:was|were|has been)\s+(?:found|returned)",
    re.IGNORECASE,
)
_ABSENT_CUES = plain_set("no without find locate identify retrieve nothing none")
_NOTHING_CUES = plain_set("free empty zero nil none waived")
_NOTHING = re.compile(
    r"\b(?P<what>(?:[\w-]+\s+){0,2}[\w-]+)\s+(?:is|was|are|were)\s+(?:currently\s+|now\s+|completely\s+)?"
    r"(?:free(?: of charge)?|empty|zero|nil|none|waived)(?=\s*(?:[.,;!]|$))",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"\s*\w+\s*[\])]")
"""A value told behind its name: "is_normal[no]"."""
_BEHIND = re.compile(r"\s*(?:[\w-]+\s+){0,2}")
_GENERIC = canonical_set(
    "items item rows records entries results result data products customers orders order elements"
    " files users matches matching"
    " match objects names employees transactions tickets events information anything record entry"
)
_TALLIES = canonical_set("count total number rows results hits matches records found items length n of")
"""Keys that count what was looked for, without naming it."""
_FILLER = canonical_set(
    "found such any longer matching more other further relevant available existing your the for in on"
    " were was are is of this that to returned listed doubt need problem worries"
)
_IDIOM = re.compile(
    r"\bno\s+(?:longer|doubt|need|problem|worries|later|less|more|one|matter|way|change)\b", re.IGNORECASE
)
_NOT_FOUND = re.compile(
    r"\b(?:not found|no such|does not exist|doesn't exist|no (?:results?|match\w*|data|rows|records)"
    r"|404|nothing found)\b",
    re.IGNORECASE,
)
_MAX_FLAGS = 200
_BOUNDED = re.compile(r"\b(?:is|are|was|were)\s+(?:under|over|above|below|more|less)\b", re.IGNORECASE)
"""What none of them is: "no region is under 250 ms" says nothing of how many there are."""
_ABLE = "abl"
_CAN_BE = re.compile(r"\b(?:can(?:not|['’]?t)?|could(?:n['’]t)?)\s+(?:\w+\s+){0,2}be\s+(\w+)", re.IGNORECASE)
_IS_ON = re.compile(
    r"\b(?:is|are|was|were)\s+(?:not\s+)?(?:currently\s+|now\s+)?(?:switched\s+|turned\s+)?(?:on|off)\b", re.I
)
_LEAST_STEM = 5
_FLAG_PREFIXES = canonical_set("is has have can was are does should allow allows") | {"is", "has", "can"}
_NEGATION = re.compile(
    r"\b(?:no|not|never|without|neither|nor|none|isn|aren|wasn|hasn|haven|doesn|don|cannot|off|disabled|false|inactive)\b|n['’]t\b",
    re.IGNORECASE,
)


def absence_claims(binding: Binding) -> list[Claim]:
    """Every absence the answer states, and every flag it speaks of."""
    claims = [
        found
        for match in _worth_asking(_ABSENT, _ABSENT_CUES, binding)
        if not _IDIOM.match(match.group())
        and not _BOUNDED.search(match.group())
        and not _supposes(match, binding)
        and (found := _absent(match, binding)) is not None
    ]
    claims.extend(_flags(binding))
    claims.extend(_nothing(binding))
    return claims


def _worth_asking(
    pattern: re.Pattern[str], cues: AbstractSet[str], binding: Binding
) -> Iterator[re.Match[str]]:
    """Where the answer matches, which it can only with one of the cues."""
    answer = binding.answer
    return iter(()) if cues.isdisjoint(answer.said) else islice(pattern.finditer(answer.text), MAX_CLAIMS)


def _nothing(binding: Binding) -> Iterator[Claim]:
    """What is said to be free, empty or zero, where one value bears its name."""
    for match in _worth_asking(_NOTHING, _NOTHING_CUES, binding):
        if any(
            _BEHIND.fullmatch(binding.answer.text, each.what.end, match.start())
            for each in binding.answer.stated
        ):
            continue  # "7.6 GB of the storage are free": the number is, and not what it is of
        what = set(content_words(words_of(match["what"])))
        named = [fact for fact in binding.numbers if not fact.weak and fact.key and fact.key[0] in what]
        if len(named) != 1:
            continue
        place = (binding, match.start(), match.end(), ClaimKind.ABSENCE)
        if named[0].number == 0:
            yield claim(*place, Verdict.GROUNDED, "an output says so", evidence_of(named[0]))
        elif set(named[0].key) <= what:
            reason = f"`{named[0].text}` is what the outputs say"
            yield claim(*place, Verdict.UNCERTAIN, reason, evidence_of(named[0]))


def all_empty(binding: Binding) -> bool:
    """Whether every output is empty."""
    return bool(binding.facts.texts) and len(binding.facts.empty) == len(binding.facts.texts)


def _supposes(match: re.Match[str], binding: Binding) -> bool:
    """Whether "without" opens its sentence, and only supposes: "Without shipping you pay $85"."""
    opens = any(sentence.start == match.start() for sentence in binding.answer.sentences)
    return opens and match.group().lower().startswith("without")


def _absent(match: re.Match[str], binding: Binding) -> Claim | None:
    place = (binding, match.start(), match.end(), ClaimKind.ABSENCE)
    if all_empty(binding):
        return claim(
            *place, Verdict.GROUNDED, "the outputs are empty", ClaimEvidence(0, binding.facts.texts[0][:60])
        )
    what = set(content_words(words_of(match["what"] or match["sought"] or ""))) - _FILLER
    named, one_row = _called(what, match, binding)
    for fact in named:
        absent = fact.null or fact.number == 0 or fact.flag is False
        if absent:
            return claim(*place, Verdict.GROUNDED, "an output says so", evidence_of(fact))
        alone = fact.records < 0 or binding.facts.records[fact.records].rows < 0
        if (alone or one_row) and (fact.number or fact.flag):
            return claim(
                *place, Verdict.UNCERTAIN, f"`{fact.text}` is what the outputs say", evidence_of(fact)
            )
    counts = [fact for fact in binding.numbers if not fact.weak and _TALLIES.issuperset(fact.key)]
    if len(counts) == 1 and counts[0].number == 0 and counts[0].key:
        return claim(*place, Verdict.GROUNDED, "an output counts none", evidence_of(counts[0]))
    for fact in binding.facts.facts:
        if fact.string and _NOT_FOUND.search(fact.string):
            return claim(*place, Verdict.GROUNDED, "an output says so", evidence_of(fact))
    for index, text in enumerate(binding.facts.texts):
        if len(text) < 500 and _NOT_FOUND.search(text):
            return claim(*place, Verdict.GROUNDED, "an output says so", ClaimEvidence(index, text[:80]))
    for records in binding.facts.records:
        found = _in_records(records, what, sought=match["sought"] is not None)
        if found is not None:
            number, told = found
            evidence = ClaimEvidence(records.output, records.label or "the list", told)
            if number == 0:
                return claim(*place, Verdict.GROUNDED, "the outputs hold none", evidence)
            return claim(*place, Verdict.CONTRADICTED, f"the outputs hold {told}", evidence)
    return None


def _called(what: AbstractSet[str], match: re.Match[str], binding: Binding) -> tuple[list[Fact], bool]:
    """The facts that bear the name, of the row that the clause names where it names one."""
    sentence = next(each for each in binding.answer.sentences if each.start <= match.start() <= each.end)
    start, end = sentence.piece_at(match.start())
    said = what | set(words_of(binding.answer.text[match.end() : end]))
    found = [
        fact
        for fact in binding.facts.facts
        if not fact.weak
        and fact.key
        and set(fact.key) - _FLAG_PREFIXES <= said
        and not what.isdisjoint(fact.key)
    ]
    rows = best_named(found, frozenset(words_of(binding.answer.text[start:end])))
    if rows and len(rows) < len(found):
        return rows, len(rows) == 1
    return found, False


def _in_records(records: Records, what: AbstractSet[str], *, sought: bool) -> tuple[int, str] | None:
    """How many entries answer to the name; None where the name is not of these records."""
    if records.rows < 0:
        return None
    names = _GENERIC | set(records.words)
    for name, column in records.columns.items():
        names |= set(words_of(name)) if not column or column[0].number is None else set()
    qualifiers = what - names
    if not what & names and not (sought and what):
        return None
    if not qualifiers:
        return records.rows, f"{records.rows} entries"
    for column in records.columns.values():
        counted = sum(
            1 for fact in column if fact.string is not None and qualifiers <= set(words_of(fact.string))
        )
        if counted:
            return counted, f"{counted} entries with {' '.join(sorted(qualifiers))}"
    values = {
        word
        for column in records.columns.values()
        for fact in column
        if fact.string
        for word in words_of(fact.string)
    }
    return (0, "no such entry") if records.rows and values and what & names else None


def _flags(binding: Binding) -> Iterator[Claim]:
    flags = [fact for fact in binding.facts.facts if fact.flag is not None and fact.key and not fact.weak]
    del flags[_MAX_FLAGS:]
    if not flags:
        return
    for sentence in binding.answer.sentences:
        for start, end in sentence.pieces:
            text = binding.answer.text[start:end]
            words = set(words_of(text))
            spoken = [
                fact
                for fact in flags
                if (wanted := set(fact.key) - _FLAG_PREFIXES)
                and (wanted <= words - _possible(text) or _is_said_otherwise(wanted, words, text))
                and not _other_row(fact, flags, words)
            ]
            if len({fact.flag for fact in spoken}) > 1 and len({fact.key for fact in spoken}) == 1:
                spoken = best_named(spoken, frozenset(sentence.words) - set(spoken[0].key))
                if len({fact.flag for fact in spoken}) > 1:
                    continue  # rows that differ, and none of them is named
            for fact in spoken:
                yield _flag_claim(fact, start, end, binding)


def _possible(text: str) -> set[str]:
    """What is only said to be possible: "it can be merged" says nothing of `merged`."""
    return {canonical(match[1]) for match in _CAN_BE.finditer(text)}


def _is_said_otherwise(wanted: set[str], words: set[str], text: str) -> bool:
    """Whether the words say it in another form: "can be merged" of `mergeable`, "auto-renewal is on"."""
    stems = {word.removesuffix(_ABLE).removesuffix("e") if word.endswith(_ABLE) else word for word in wanted}
    if stems != wanted and stems <= words:
        return _CAN_BE.search(text) is not None
    return _IS_ON.search(text) is not None and all(
        any(len(word) >= _LEAST_STEM and said.startswith(word) for said in words) or word in words
        for word in wanted
    )


def _flag_claim(fact: Fact, start: int, end: int, binding: Binding) -> Claim:
    text = binding.answer.text
    told = _IN_BRACKETS.match(text, end) if text[end - 1 : end] in ("[", "(") else None
    right = (_NEGATION.search(text, start, told.end() if told else end) is None) == fact.flag
    return claim(
        binding,
        start,
        end,
        ClaimKind.STATUS,
        Verdict.GROUNDED if right else Verdict.UNCERTAIN,
        "an output says so" if right else f"`{fact.text}` is what the outputs say",
        evidence_of(fact),
    )


def _other_row(fact: Fact, flags: list[Fact], words: AbstractSet[str]) -> bool:
    """Whether the words name another row's flag of this name."""
    return any(
        other is not fact
        and other.key == fact.key
        and not (other.scope - fact.scope).isdisjoint(words)
        and (fact.scope - other.scope).isdisjoint(words)
        for other in flags
    )
