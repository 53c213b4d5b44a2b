"""The rule for ratios told in words: "twice as many", "almost three times", "half of", "doubled".

In: the `Binding`. Out: a claim where the sentence names two facts, or two points in time of one, and the
outputs say how many times the one the other is. Words round: "twice" is held to a tenth, "almost twice" and
"more than twice" to their side of it. What lies between close and clearly wrong stays uncertain.
"""

from __future__ import annotations

import re
from itertools import islice

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.segments import Sentence
from spanproof.evaluators.layers.groundedness.language.words import plain_set, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.rules.changes import ordered_family
from spanproof.evaluators.layers.groundedness.rules.comparisons import facts_set_beside
from spanproof.evaluators.layers.groundedness.rules.derive import measured_value
from spanproof.evaluators.layers.groundedness.rules.matching import number_text

_TIMES = {
    "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "seven": 7.0, "eight": 8.0, "nine": 9.0,
    "ten": 10.0, "twelve": 12.0, "twenty": 20.0,
}  # fmt: skip
_WORDS = {
    "twice": 2.0, "double": 2.0, "doubled": 2.0, "doubles": 2.0, "triple": 3.0, "tripled": 3.0,
    "triples": 3.0, "thrice": 3.0, "quadruple": 4.0, "quadrupled": 4.0, "half": 0.5, "halved": 0.5,
    "a third": 1 / 3, "one and a half times": 1.5,
    "two thirds": 2 / 3, "two-thirds": 2 / 3, "a quarter": 0.25, "three quarters": 0.75, "tenfold": 10.0,
}  # fmt: skip
_CHANGES = frozenset(("doubled", "doubles", "tripled", "triples", "quadrupled", "halved"))
_RATIO = re.compile(
    r"\b(?P<hedge>(?:almost|nearly|just under|less than|about|around|roughly|approximately|over|more than"
    r"|just over|exactly)\s+)?(?:(?P<times>two|three|four|five|six|seven|eight|nine|ten"
    r"|twelve|twenty)\s+times"
    r"(?=\s+(?:as|that|those|the"
    r"|more|higher|larger|bigger|greater|what|of|[\w-]+['’]s))|(?P<word>"
    + "|".join(sorted(_WORDS, key=len, reverse=True)) + r"))\b",
    re.IGNORECASE,
)  # fmt: skip
_CUES = plain_set(
    "times twice double doubled doubles triple tripled triples thrice quadruple quadrupled half halved third"
    " thirds quarter quarters tenfold"
)
"""One of these stands in every ratio."""
_RELATES = re.compile(
    r"\s+(?:(?:as\s+\w+(?:\s+\w+)?\s+as|that|those|the|what|of|more|higher|larger|bigger|greater|than|in)\b)",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"\s+of\s+(?:all|the total|the whole|every)\s+(?P<what>[^.;,\n]{1,40})", re.IGNORECASE)
_OF_THEM = re.compile(r"\s+of\s+(?:them|these|those|it|which|whom)\b", re.IGNORECASE)
_LEAST_PARTS = 2
_BELOW = frozenset(("almost", "nearly", "just under", "less than"))
_ABOVE = frozenset(("over", "more than", "just over"))
_CLOSE, _WIDE, _WRONG = 0.1, 0.2, 0.15
"""Shares of the ratio: what a word rounds, what a hedged word rounds, and how far past it is wrong."""


def ratio_claims(binding: Binding) -> list[Claim]:
    """Every ratio told in words whose two sides the sentence names."""
    claims: list[Claim] = []
    if not binding.numbers or _CUES.isdisjoint(binding.answer.said):
        return claims
    for sentence in binding.answer.sentences[:MAX_CLAIMS]:
        for match in islice(_RATIO.finditer(binding.answer.text, sentence.start, sentence.end), MAX_CLAIMS):
            found = _settle(match, sentence, binding)
            if found is not None:
                claims.append(found)
    return claims


def is_ratio_word(start: int, end: int, binding: Binding) -> bool:
    """Whether a spelled number stands in a ratio: "three times as many" counts nothing."""
    text = binding.answer.text
    return not _CUES.isdisjoint(binding.answer.said) and any(
        match.start() <= start < match.end() for match in _RATIO.finditer(text, max(0, start - 20), end + 30)
    )


def _settle(match: re.Match[str], sentence: Sentence, binding: Binding) -> Claim | None:
    word = (match["word"] or "").lower()
    stated = _WORDS[word] if word else _TIMES[match["times"].lower()]
    whole = _of_all(match, sentence, binding)
    if whole is not None:
        part, total = whole
        share = measured_value(part) / total
        verdict = _verdict(share / stated, (match["hedge"] or "").strip().lower())
        told = f"{number_text(measured_value(part))} / {number_text(total)} = {number_text(share)}"
        place = (binding, match.start(), match.end(), ClaimKind.COMPARISON, verdict)
        return claim(*place, f"`{part.text}` is {share:.3g} of them all", evidence_of(part, told))
    pair = _sides(match, sentence, binding, changing=word in _CHANGES)
    if pair is None:
        return None
    if _OF_THEM.match(binding.answer.text, match.end()):
        pair = pair[::-1]  # "263 donors, almost half of them for the first time"
    one, other = pair
    first, second = measured_value(one), measured_value(other)
    if not second or one.dimension is not other.dimension:
        return None
    ratio = first / second
    verdict = _verdict(ratio / stated, (match["hedge"] or "").strip().lower())
    if verdict is Verdict.CONTRADICTED and any(sentence.start <= at < sentence.end for at in binding.derived):
        verdict = Verdict.UNCERTAIN  # of what the sentence has reckoned, and not of these
    if verdict is Verdict.CONTRADICTED and _tells_of_another(sentence, binding, one):
        verdict = Verdict.UNCERTAIN  # "3,120 yes votes, twice as many as": of the column that is told
    derivation = f"{number_text(first)} / {number_text(second)} = {number_text(ratio)}"
    evidence = ClaimEvidence(one.output, f"{one.text}; {other.text}", derivation)
    reason = f"`{one.text}` is {ratio:.3g} times `{other.text}`"
    return claim(binding, match.start(), match.end(), ClaimKind.COMPARISON, verdict, reason, evidence)


def _tells_of_another(sentence: Sentence, binding: Binding, one: Fact) -> bool:
    """Whether a number of the sentence is bound under another key than the pair's."""
    told = [facts for at, facts in binding.bound.items() if sentence.start <= at < sentence.end]
    return any(all(fact.key != one.key for fact in facts) for facts in told)


def _of_all(match: re.Match[str], sentence: Sentence, binding: Binding) -> tuple[Fact, float] | None:
    """The one part that is named of the whole column that is: "a third of all parcels"."""
    whole = _WHOLE.match(binding.answer.text, match.end(), sentence.end)
    if whole is None:
        return None
    said, named = set(sentence.words), set(words_of(whole["what"]))
    for records in binding.facts.records:
        for column in records.columns.values():
            numbers = [fact for fact in column if fact.number is not None]
            if len(numbers) < _LEAST_PARTS or named.isdisjoint(numbers[0].key):
                continue
            shared = frozenset.intersection(*(fact.words for fact in numbers))
            parts = [fact for fact in numbers if not (fact.words - shared).isdisjoint(said)]
            total = sum(map(measured_value, numbers))
            if len(parts) == 1 and total:
                return parts[0], total
    return None


def _verdict(off: float, hedge: str) -> Verdict:
    """How far the outputs' ratio lies off the word's, as a share of it."""
    low, high = 1 - _CLOSE, 1 + _CLOSE
    if hedge in _BELOW:
        low, high = 1 - _WIDE, 1.0
    elif hedge in _ABOVE:
        low, high = 1.0, 1 + 2 * _WIDE
    elif hedge:
        low, high = 1 - _WIDE, 1 + _WIDE
    if low <= off <= high:
        return Verdict.GROUNDED
    return Verdict.CONTRADICTED if off < low - _WRONG or off > high + _WRONG else Verdict.UNCERTAIN


def _sides(
    match: re.Match[str], sentence: Sentence, binding: Binding, *, changing: bool
) -> tuple[Fact, Fact] | None:
    """The fact that is so many times the other, and the other."""
    text = binding.answer.text
    if changing:
        family = ordered_family(sentence, binding)
        return None if family is None else (family[1], family[0])
    relates = _RELATES.match(text, match.end(), sentence.end)
    if relates is None:
        return None
    left = set(words_of(text[sentence.start : match.start()]))
    between = set(words_of(relates.group()))
    return facts_set_beside(
        binding.numbers, left | between, set(words_of(text[relates.end() : sentence.end]))
    )
