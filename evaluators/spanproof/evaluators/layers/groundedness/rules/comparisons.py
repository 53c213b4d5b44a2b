"""The rule for comparisons: "the mean is higher than the median", "3 fewer in May than in April".

In: the `Binding`. Out: a claim where a sentence sets two named facts beside each other with "than" (or with
"exceeds", "trails") and the outputs say which is greater. Where the two sides do not name a pair, nothing is
claimed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from spanproof.evaluators.layers.groundedness.language.answer import MAX_CLAIMS
from spanproof.evaluators.layers.groundedness.language.direction_words import better_side
from spanproof.evaluators.layers.groundedness.language.quantity import Quantity
from spanproof.evaluators.layers.groundedness.language.segments import Sentence
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.language.words import plain_set, words_of
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, claim
from spanproof.evaluators.layers.groundedness.rules.derive import measured_value
from spanproof.evaluators.layers.groundedness.rules.matching import number_text
from spanproof.evaluators.layers.groundedness.rules.qualities import ADJECTIVES, side_of

_MORE = (
    "farther|higher|greater|more expensive|more costly|more|larger|bigger|older|longer|slower|warmer|hotter"
    "|heavier|above|pricier|dearer|costlier|wetter|rainier|sunnier|taller|deeper|wider|windier|louder"
)
_LESS = (
    "closer|nearer|lower|less expensive|less costly|less|fewer|smaller|younger|newer|shorter|faster|quicker"
    "|cooler|colder|lighter|cheaper|below|drier|dryer|shallower|narrower"
)
_THAN = re.compile(
    rf"\b(?:(?P<more>{_MORE})|(?P<less>{_LESS})|(?P<better>better|worse))\b"
    rf"(?P<between>[^.;\n]{{0,60}}?)\bthan\b(?P<right>[^.;\n]{{1,80}})",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:(?P<more>exceeds?|exceeded|outnumbers?|outweighs?|beats?|outscored"
    r"|outsold|outpaced|outperform(?:s|ed)?|surpass(?:es|ed)|edged out"
    r"|leads|led|ahead of)|(?P<less>trails?|trailed|behind|falls short of|fell short of|lost to"
    r"|lagged behind|lags behind))\b"
    r"(?P<between>)(?P<right>[^.;\n]{1,80})",
    re.IGNORECASE,
)
_VERBS = plain_set(
    "exceed exceeds exceeded outnumber outnumbers outweigh outweighs beat beats outscored outsold outpaced"
    " outperform outperforms outperformed surpasses surpassed edged leads led trail trails trailed short lost"
    " lagged lags behind ahead"
)
_OPPOSITE = re.compile(r"\b(?:more|less)\s+(?:cheap|fast|slow|efficient|popular|likely)", re.IGNORECASE)
_NOT = re.compile(r"(?:\bnot|\bno|n['’]t)\s+$", re.IGNORECASE)
_STANDING = plain_set("ahead behind leads led trails trailed beats beat lost")
_MEASURED = frozenset(Dimension) - {Dimension.MONEY, Dimension.FRACTION}
_MAX_FACTS = 120


def comparison_claims(binding: Binding) -> list[Claim]:
    """Every comparison of two named facts."""
    claims: list[Claim] = []
    patterns = _worth_asking(binding)
    for sentence in binding.answer.sentences[:MAX_CLAIMS] if patterns else ():
        for pattern in patterns:
            match = pattern.search(binding.answer.text, sentence.start, sentence.end)
            if match is None or _OPPOSITE.match(match.group()):
                continue
            found = _settle(match, sentence.start, binding)
            if found is not None:
                claims.append(found)
    return claims


def pair_compared(sentence: Sentence, binding: Binding) -> tuple[Fact, Fact] | None:
    """The two facts that a sentence sets beside each other, None where it names no pair."""
    for pattern in _worth_asking(binding):
        match = pattern.search(binding.answer.text, sentence.start, sentence.end)
        if match is not None:
            return _named_pair(match, sentence.start, binding)
    return None


def _worth_asking(binding: Binding) -> list[re.Pattern[str]]:
    """The forms of a comparison whose words stand in the answer."""
    said = binding.answer.said
    patterns = [_THAN] if "than" in said else []
    return patterns if _VERBS.isdisjoint(said) else [*patterns, _VERB]


def _named_pair(match: re.Match[str], start: int, binding: Binding) -> tuple[Fact, Fact] | None:
    text = binding.answer.text
    left = set(words_of(text[start : match.start()])) | set(words_of(match["between"]))
    right, adjective = set(words_of(match["right"])), _adjective(match)
    numbers = _measured_beside(match, binding) or binding.numbers
    if not any(side_of(adjective, fact) for fact in numbers):
        adjective = ""
    return facts_set_beside(numbers, left, right, adjective)


def _measured_beside(match: re.Match[str], binding: Binding) -> list[Fact]:
    """The values of what the number right before it measures: "12.8 minutes more than B"."""
    told = (each.what for each in binding.answer.stated if 0 <= match.start() - each.what.end <= 1)
    wanted = next((what.dimension for what in told if isinstance(what, Quantity)), None)
    return [fact for fact in binding.numbers if fact.dimension is wanted] if wanted in _MEASURED else []


def _adjective(match: re.Match[str]) -> str:
    """The word that compares: "expensive" of "more expensive"."""
    told = match.group().lower().split()
    return told[1] if told[0] in ("more", "less") and told[1] in ADJECTIVES else told[0]


def _settle(match: re.Match[str], start: int, binding: Binding) -> Claim | None:
    text = binding.answer.text
    pair = _named_pair(match, start, binding)
    if pair is None or _NOT.search(text[max(0, match.start() - 5) : match.start()]):
        return None
    one, other = pair
    side = _side(match, one, text[start : match.start()])
    if not side:
        return None
    first, second = measured_value(one), measured_value(other)
    right_way = (first - second) * side > 0
    sign = ">" if first > second else "<" if first < second else "="
    return claim(
        binding,
        match.start(),
        match.end(),
        ClaimKind.COMPARISON,
        Verdict.GROUNDED if right_way else Verdict.CONTRADICTED,
        f"`{one.text}` beside `{other.text}`",
        ClaimEvidence(
            one.output, f"{one.text}; {other.text}", f"{number_text(first)} {sign} {number_text(second)}"
        ),
    )


def _side(match: re.Match[str], one: Fact, before: str) -> int:
    """1 where the word says that the first is the greater, -1 the smaller, 0 where that is open."""
    word = match.group().lower()
    if match.groupdict().get("better"):
        return better_side(one.words.union(words_of(before), words_of(match["between"]))) * (
            1 if word.startswith("better") else -1
        )
    plain = 1 if match["more"] is not None else -1
    if not _STANDING.isdisjoint(word.split()):
        if one.dimension is Dimension.TIME:
            return 0  # who is ahead took less, or lasted longer
        return -plain if better_side(one.words) < 0 else plain
    return side_of(_adjective(match), one, less=word.startswith("less ")) or plain


def facts_set_beside(
    numbers: Sequence[Fact], left: set[str], right: set[str], adjective: str = ""
) -> tuple[Fact, Fact] | None:
    """The best named pair, of what the adjective measures where there is one.

    None where none is named, or where the best ones disagree about which is greater.
    """
    facts = [
        fact
        for fact in numbers
        if not fact.weak
        and not fact.words.isdisjoint(left | right)
        and (not adjective or side_of(adjective, fact))
    ][:_MAX_FACTS]
    best: list[tuple[Fact, Fact]] = []
    top = 0
    ones = [fact for fact in facts if not fact.words.isdisjoint(left)]
    others = [fact for fact in facts if not fact.words.isdisjoint(right)]
    for one, other in product(ones, others):
        if not _may_stand_beside(one, other, left, right):
            continue
        score = _nearness(one, other, left, right)
        if score > top:
            best, top = [(one, other)], score
        elif score == top:
            best.append((one, other))
    signs = {
        (measured_value(one) - measured_value(other)) * (side_of(adjective, one) or 1) > 0
        for one, other in best
    }
    return best[0] if len(signs) == 1 else None


def _may_stand_beside(one: Fact, other: Fact, left: set[str], right: set[str]) -> bool:
    """Whether each is named on its own side, and they are two values of one kind."""
    ours, theirs = one.words - other.words, other.words - one.words
    if not ours & left or not theirs & right or not (ours & right).issubset(left):
        return False
    if one.records == other.records >= 0 and one.row != other.row and one.key != other.key:
        return False
    return one.dimension is other.dimension or (
        one.key == other.key and not (one.dimension and other.dimension)
    )


def _nearness(one: Fact, other: Fact, left: set[str], right: set[str]) -> int:
    """How well two are named: by words, then by a key or a row they share."""
    named = len(one.words & left) + len(other.words & right) + len(one.words & other.words & (left | right))
    like = 2 * (one.key == other.key) + ((one.records, one.row) == (other.records, other.row))
    return 4 * named + like
