"""The rule for stated numbers: bound to a fact, derived, counted, given by the task, or contradicted.

In: a stated quantity and the `Binding`. Out: one claim, or None where the digits are part of a name. Among
facts of the right value the one that is named counts: where the words name another fact instead, whose value
differs, the answer has put a right number in the wrong place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from spanproof.evaluators.layers.groundedness.language.answer import Stated
from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import UNDER, Asked, asked_of
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, evidence_of
from spanproof.evaluators.layers.groundedness.rules.bounds import bound_claim
from spanproof.evaluators.layers.groundedness.rules.candidates import (
    aggregate_asked,
    matches_of,
    of_another_day,
)
from spanproof.evaluators.layers.groundedness.rules.compound import whole_of
from spanproof.evaluators.layers.groundedness.rules.counting import Count, counted
from spanproof.evaluators.layers.groundedness.rules.derive import Derived
from spanproof.evaluators.layers.groundedness.rules.deriving import derived_value, is_whole, natural_value
from spanproof.evaluators.layers.groundedness.rules.overtaken import is_elsewhere, overtaken_claim
from spanproof.evaluators.layers.groundedness.rules.ratios import is_ratio_word
from spanproof.evaluators.layers.groundedness.rules.results import result_at, result_claim
from spanproof.evaluators.layers.groundedness.rules.rivals import rivals_of
from spanproof.evaluators.layers.groundedness.rules.tallies import tally_claim
from spanproof.evaluators.layers.groundedness.rules.unsupported import (
    OF_ALL,
    list_of,
    says_a_fact,
    unsupported_claim,
)
from spanproof.evaluators.layers.groundedness.rules.years import is_part_of_a_name, is_year, year_claim

_SIDE = re.compile(r"\b(?:below|above)\s+$", re.IGNORECASE)
_LEVELS: dict[Dimension | None, tuple[float, ...]] = {
    Dimension.FRACTION: (0.1, 1.0, 5.0, 10.0, 90.0, 95.0, 99.0),
    None: (0.001, 0.01, 0.05, 0.1, 0.9, 0.95, 0.99),
}
"""Levels of significance and confidence that nobody needs to be told."""
_TESTED = re.compile(
    r"\b(?:significan\w*|confidence|alpha|CI|hypothesis|reject(?:s|ed|ing)?)\b|α|\bp\s*[<>]\s*", re.IGNORECASE
)
_SAYS_HOW_MANY = re.compile(
    r"\b(?:there (?:are|is|were)|found|returned|contains?|lists?|has|have|had|holds?|includes?|total of|all"
    r"|the|these|across|over|for|of|with|show|shows|got|consists? of)\s+$|^\s*$|[:.(]\s*$",
    re.IGNORECASE,
)
"""What stands before a number that says how many there are in all."""
_LESS = re.compile(
    r"\s+(?:[a-z]+\s+)?(?:more|less|fewer|higher|lower|larger|smaller)\s+than\b", re.IGNORECASE
)
_OF_THE = re.compile(r"\s+(?:out\s+)?of\s+(?:the|these|those|them|our|your|its|their)\b", re.IGNORECASE)
_OF_SOME = re.compile(
    r"\s+[\w-]+(?:\s+[\w-]+)?\s+(?:are|is|were|was|have|has|had)\s+(?!listed|found|returned)\w", re.I
)

_Matches: TypeAlias = list[tuple[Fact, str]]
"""Facts that have the value, and how each gives it."""


def number_claim(stated: Stated, binding: Binding) -> Claim | None:
    """The claim of one stated quantity."""
    quantity = stated.what
    assert isinstance(quantity, Quantity)
    if is_part_of_a_name(quantity, binding) or _says_no_value(quantity, binding):
        return None
    before = binding.answer.text[max(0, quantity.start - 40) : quantity.start]
    result = result_at(quantity, binding)
    if result is not None:
        return result_claim(result, quantity, binding)
    asked = asked_of(stated, quantity, before, binding)
    if is_year(quantity, before):
        return year_claim(asked)
    if quantity.start in binding.measures:
        return asked.claim(Verdict.GROUNDED, "the answer counts by it", ClaimEvidence(None, quantity.text))
    tallied = tally_claim(asked)
    if tallied is not None:
        return tallied
    found = _bound(asked)
    if found is not None and found.verdict is not Verdict.GROUNDED:
        whole = whole_of(quantity, binding)
        again = _bound(replace(asked, quantity=whole)) if whole is not None else None
        if again is not None and again.verdict is Verdict.GROUNDED:
            return replace(again, text=quantity.text, start=quantity.start, end=quantity.end)
    return found if found is None or not _only_by_chance(asked) else _bound_whole(asked, found)


def _only_by_chance(asked: Asked) -> bool:
    """Whether a part of an amount in two units was found under a key that tells no unit: "changes: 2"."""
    bound = asked.binding.bound.get(asked.quantity.start, ())
    return bool(bound) and asked.quantity.unit is not None and all(fact.unit is None for fact in bound)


def _bound_whole(asked: Asked, found: Claim) -> Claim:
    """The claim of the whole amount, where the quantity is a part of one."""
    quantity = asked.quantity
    whole = whole_of(quantity, asked.binding)
    again = _bound(replace(asked, quantity=whole)) if whole is not None else None
    if again is None or again.verdict is Verdict.GROUNDED:
        return found
    return replace(again, text=quantity.text, start=quantity.start, end=quantity.end)


def _says_no_value(quantity: Quantity, binding: Binding) -> bool:
    """Whether the number is a manner of speaking: "9 below zero", "three times as many", "the 5 % level"."""
    text = binding.answer.text
    if (
        quantity.spelled
        and not quantity.value.is_integer()
        and UNDER.search(text[max(0, quantity.start - 20) : quantity.start])
    ):
        return True  # "less than six and a half hours": a round bound
    if quantity.spelled:
        below_zero = quantity.value == 0 and _SIDE.search(text[max(0, quantity.start - 8) : quantity.start])
        return bool(below_zero) or is_ratio_word(quantity.start, quantity.end, binding)
    level = quantity.value in _LEVELS.get(quantity.dimension, ())
    return level and _TESTED.search(text, max(0, quantity.start - 60), quantity.end + 40) is not None


def _bound(asked: Asked) -> Claim | None:
    """A quantity's claim: what is said comes before what is counted, and that before what is reckoned."""
    compared = bound_claim(asked)
    if compared is not None:
        return compared
    matches = matches_of(asked)
    named = [
        (fact, how)
        for fact, how in matches
        if not rivals_of(asked, fact) and not aggregate_asked(asked, fact) and not of_another_day(asked, fact)
    ]
    stale = overtaken_claim(asked, named)
    if stale is not None:
        return stale
    count = counted(asked.stated, asked.binding) if asked.quantity.unit is None else None
    return (
        _said(asked, named, count)
        or _following(asked, count)
        or _counted_otherwise(asked, count)
        or _listed_or_misplaced(asked, matches)
        or _reckoned(asked)
        or unsupported_claim(asked)
    )


def _said(asked: Asked, named: _Matches, count: Count | None) -> Claim | None:
    """What the outputs count to, or say under a key that the words name."""
    if count is not None and count.agrees:
        return asked.claim(Verdict.GROUNDED, "the outputs count to it", count.evidence)
    if not named or _miscounted(asked, named, count):
        return None
    fact, how = max(
        named, key=lambda pair: (not pair[0].weak, len(pair[0].words & asked.words), pair[0].output)
    )
    asked.binding.bound[asked.quantity.start] = tuple(each for each, _ in named)
    evidence = replace(evidence_of(fact, how), others=_others(fact, (each for each, _ in named)))
    return asked.claim(Verdict.GROUNDED, "an output says so", evidence)


def _following(asked: Asked, count: Count | None) -> Claim | None:
    """What follows from values that the sentence names."""
    if count is not None and _counts_a_list(asked, count):
        return None
    derived = derived_value(asked)
    if derived is not None and is_elsewhere(asked, derived):
        again = derived_value(asked, named=True)
        derived = None if again is None or is_elsewhere(asked, again) else again
    return None if derived is None else _claim_of(asked, derived)


def _counted_otherwise(asked: Asked, count: Count | None) -> Claim | None:
    """What the outputs count to another number."""
    if count is None:
        return None
    if asked.quantity.value < count.number and _OF_SOME.match(_behind(asked)):
        return asked.claim(Verdict.UNCERTAIN, "of how many that holds, nothing in the outputs tells")
    verdict = Verdict.CONTRADICTED if _SAYS_HOW_MANY.search(asked.before) else Verdict.UNCERTAIN
    return asked.claim(verdict, f"the outputs hold {count.what}", count.evidence)


def _listed_or_misplaced(asked: Asked, matches: _Matches) -> Claim | None:
    """A number that the outputs hold, and not as a value of what it is said of."""
    if not matches:
        return None
    listed = list_of(asked) if OF_ALL.search(asked.before) else None
    if listed is not None:
        return asked.claim(Verdict.GROUNDED, "the outputs list so many", listed)
    fact, _ = matches[0]
    return None if _is_chance(asked, fact) else _misplaced(asked, fact)


def _reckoned(asked: Asked) -> Claim | None:
    """What values that belong together come to, though the sentence does not name them."""
    reckoned = natural_value(asked) if is_whole(asked) or not says_a_fact(asked) else None
    if reckoned is None or (len(reckoned.operands) <= 2 and is_elsewhere(asked, reckoned)):
        return None
    return _claim_of(asked, reckoned)


def _claim_of(asked: Asked, derived: Derived) -> Claim:
    asked.binding.derived[asked.quantity.start] = derived
    return asked.claim(Verdict.GROUNDED, "it follows from the outputs", _of_operands(derived))


def _counts_a_list(asked: Asked, count: Count) -> bool:
    """Whether the number is said to be how many entries a list has: "the 5 titles", and no quotient."""
    return (
        count.specific
        and asked.quantity.value > count.number
        and _SAYS_HOW_MANY.search(asked.before) is not None
    )


def _is_chance(asked: Asked, fact: Fact) -> bool:
    """Whether the same value tells nothing: "6 GiB" of `cpu: 6.4`, "2 of the pods" of `age: 2d`."""
    wanted = asked.quantity.dimension
    if wanted not in (None, Dimension.MONEY, Dimension.FRACTION) and fact.dimension is None:
        return any(other.dimension is wanted for other in asked.binding.numbers)
    measured = fact.dimension not in (None, Dimension.MONEY, Dimension.FRACTION)
    if wanted is None and measured and _OF_THE.match(_behind(asked)):
        return True
    if not rivals_of(asked, fact) and not fact.weak and asked.words.isdisjoint(fact.key):
        return len({each.key for each in asked.binding.numbers if each.records == fact.records}) > 1
    return _LESS.match(_behind(asked)) is not None and fact.dimension is None


def _of_operands(derived: Derived) -> ClaimEvidence:
    used = derived.operands
    if not used:
        return ClaimEvidence(None, "", derived.text)
    text = "; ".join(fact.text for fact in used[:4])
    return ClaimEvidence(used[0].output, text, derived.text, _others(used[0], used))


def _others(fact: Fact, facts: Iterable[Fact]) -> tuple[int, ...]:
    return tuple(sorted({each.output for each in facts} - {fact.output}))


def _behind(asked: Asked) -> str:
    return asked.binding.answer.text[asked.quantity.end : asked.quantity.end + 60]


def _misplaced(asked: Asked, fact: Fact) -> Claim:
    """A right number in the wrong place."""
    rivals = rivals_of(asked, fact)
    if rivals:
        rival = rivals[0]
        return asked.claim(
            Verdict.UNCERTAIN,
            f"that is the value of `{fact.text}`; the words name `{rival.text}`",
            evidence_of(rival),
        )
    return asked.claim(
        Verdict.CONTRADICTED,
        f"`{fact.text}` is one value of several, and not what is asked of them",
        evidence_of(fact),
    )


def _miscounted(asked: Asked, named: _Matches, count: Count | None) -> bool:
    """Whether the noun names what was counted to another number, and no bound fact bears the noun."""
    if count is None or not count.specific:
        return False
    return all(not fact.weak and set(fact.key).isdisjoint(asked.stated.noun) for fact, _ in named)
