"""The rule for stated numbers: bound to a fact, derived, counted, given by the task, or contradicted.

In: a stated quantity and the `Binding`. Out: one claim, or None where the digits are part of a name. Among
facts of the right value the one that is named counts: where the words name another fact instead, whose value
differs, the answer has put a right number in the wrong place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from spanproof.evaluators.layers.groundedness.absences import all_empty
from spanproof.evaluators.layers.groundedness.answer import Stated
from spanproof.evaluators.layers.groundedness.binding import Binding, claim, evidence_of
from spanproof.evaluators.layers.groundedness.counting import Count, counted
from spanproof.evaluators.layers.groundedness.derive import Derived, Search, derive
from spanproof.evaluators.layers.groundedness.facts import Fact
from spanproof.evaluators.layers.groundedness.matching import binds, comparable, fits, number_text
from spanproof.evaluators.layers.groundedness.model import Claim, ClaimEvidence, ClaimKind, Verdict
from spanproof.evaluators.layers.groundedness.naming import best_named, coverage, named_instead
from spanproof.evaluators.layers.groundedness.order import is_later
from spanproof.evaluators.layers.groundedness.quantities import Quantity
from spanproof.evaluators.layers.groundedness.superlatives import column_of, extreme_asked, is_extreme
from spanproof.evaluators.layers.groundedness.units import Dimension
from spanproof.evaluators.layers.groundedness.words import canonical_set

_ARTICLE = r"(?:the\s+|a\s+|an\s+|our\s+|your\s+)?$"
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.?)|~|≈)\s*$", re.IGNORECASE
)
_OVER = re.compile(
    r"\b(?:over|above|more than|greater than|at least|exceed(?:s|ed|ing)?|higher than|no less than)\s+" + _ARTICLE,
    re.IGNORECASE,
)
_UNDER = re.compile(
    r"\b(?:under|below|less than|fewer than|at most|lower than|up to|no more than|within)\s+" + _ARTICLE,
    re.IGNORECASE,
)
_NORM = canonical_set(
    "threshold minimum maximum limit required requirement target quota cap budget benchmark standard goal baseline allowance"
)
_LOWERING = canonical_set(
    "lose lost loss decline declined decrease decreased drop dropped fell fall fallen deficit down below negative minus"
    " lower less fewer reduced reduction short shortfall debt owe owed under overdrawn shrank shrunk"
)
_SAID = re.compile(r"(?:\b(?:is|was|are|were|of|at|=)|[:=])\s*$", re.IGNORECASE)
_YEAR_BEFORE = re.compile(
    r"\b(?:in|of|for|since|from|to|until|till|year|fy|by|during|and|between|after|before|through)\s+$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A stated quantity with all that is asked about it."""

    stated: Stated
    quantity: Quantity
    binding: Binding
    words: frozenset[str]
    before: str
    coarse: bool

    def claim(self, verdict: Verdict, reason: str, evidence: ClaimEvidence | None = None) -> Claim:
        quantity = self.quantity
        return claim(self.binding, quantity.start, quantity.end, _kind(quantity, self.stated), verdict, reason, evidence)


def number_claim(stated: Stated, binding: Binding) -> Claim | None:
    """The claim of one stated quantity."""
    quantity = stated.what
    assert isinstance(quantity, Quantity)
    if _is_part_of_a_name(quantity, binding):
        return None
    before = binding.answer.text[max(0, quantity.start - 40) : quantity.start]
    coarse = any(pattern.search(before) for pattern in (_ABOUT, _OVER, _UNDER))
    asked = _Asked(stated, quantity, binding, binding.words_at(stated), before, coarse)
    if _is_year(quantity, before):
        return _year(asked)
    return _bound(asked)


def _bound(asked: _Asked) -> Claim | None:
    compared = _compared(asked)
    if compared is not None:
        return compared
    matches = _matches(asked)
    named = [(fact, how) for fact, how in matches if not _rivals(asked, fact) and not _aggregate_asked(asked, fact)]
    stale = _overtaken(asked, named)
    if stale is not None:
        return stale
    count = counted(asked.stated, asked.binding) if asked.quantity.unit is None else None
    if count is not None and count.agrees:
        return asked.claim(Verdict.GROUNDED, "the outputs count to it", count.evidence)
    if named and not _miscounted(asked, named, count):
        fact, how = max(named, key=lambda pair: (not pair[0].weak, len(pair[0].words & asked.words), pair[0].output))
        asked.binding.bound[asked.quantity.start] = tuple(each for each, _ in named)
        return asked.claim(Verdict.GROUNDED, "an output says so", evidence_of(fact, how))
    derived = _derived(asked)
    if derived is not None:
        asked.binding.derived[asked.quantity.start] = derived
        output = derived.operands[0].output if derived.operands else None
        text = "; ".join(fact.text for fact in derived.operands[:4])
        return asked.claim(Verdict.GROUNDED, "it follows from the outputs", ClaimEvidence(output, text, derived.text))
    if count is not None:
        return asked.claim(Verdict.CONTRADICTED, f"the outputs hold {count.what}", count.evidence)
    if matches:
        return _misplaced(asked, matches[0][0])
    return _unsupported(asked)


def _misplaced(asked: _Asked, fact: Fact) -> Claim:
    """A right number in the wrong place."""
    rivals = _rivals(asked, fact)
    if rivals:
        rival = rivals[0]
        return asked.claim(
            Verdict.CONTRADICTED,
            f"that is the value of `{fact.text}`; the words name `{rival.text}`",
            evidence_of(rival),
        )
    return asked.claim(
        Verdict.CONTRADICTED, f"`{fact.text}` is one value of several, and not what is asked of them", evidence_of(fact)
    )


_AGGREGATES = canonical_set("total mean median max min")
_PAST = re.compile(r"\b(?:was|were|had|from|previously|before|initially|originally|earlier|at first|used to|started)\b", re.IGNORECASE)


def _aggregate_asked(asked: _Asked, fact: Fact) -> bool:
    """Whether the words ask for a total, mean or extreme of the column, and this is merely one of its values."""
    wanted = _AGGREGATES & asked.words
    column = column_of(fact, asked.binding) if wanted and not wanted & fact.words else []
    if len(column) < 2:
        return False
    common = frozenset.intersection(*(each.words for each in column))
    if not asked.words.isdisjoint(fact.words - common):
        return False  # one row is named: "total sales in Leeds"
    extreme = extreme_asked(wanted)
    if wanted <= {"max", "min"}:
        return extreme != 0 and not is_extreme(fact, column, extreme)
    return "max" not in wanted and "min" not in wanted


def _overtaken(asked: _Asked, named: list[tuple[Fact, str]]) -> Claim | None:
    """The claim where every fact it could mean has been overtaken by a later output that says otherwise."""
    if not named or len(asked.binding.facts.texts) < 2:
        return None
    overtaking: list[Fact] = []
    for fact, _ in named:
        later = [
            other
            for other in asked.binding.numbers
            if is_later(other, fact) and binds(asked.quantity, other, coarse=asked.coarse) is None
        ]
        if not later:
            return None
        overtaking.append(later[-1])
    sentence = asked.binding.answer.sentences[asked.stated.sentence]
    told_as_past = _PAST.search(asked.binding.answer.text, sentence.start, asked.quantity.start) is not None
    last = overtaking[0]
    tells_both = any(
        isinstance(other.what, Quantity) and other is not asked.stated and binds(other.what, last) is not None
        for other in asked.binding.answer.stated
    )
    if told_as_past or tells_both:
        return None
    return asked.claim(Verdict.CONTRADICTED, f"a later output says `{last.text}`", evidence_of(last))


def _unsupported(asked: _Asked) -> Claim | None:
    quantity, binding = asked.quantity, asked.binding
    given = _given_by_task(asked)
    if given is not None:
        return given
    if quantity.spelled and asked.words.isdisjoint(binding.vocabulary):
        return None  # "two options are open to you": a figure of speech more often than a claim
    if all_empty(binding):
        right = quantity.value == 0
        return asked.claim(
            Verdict.GROUNDED if right else Verdict.CONTRADICTED,
            "the outputs are empty",
            ClaimEvidence(0, binding.facts.texts[0][:60]),
        )
    if not binding.numbers and not binding.facts.records and not _between_days(asked):
        return asked.claim(Verdict.UNCERTAIN, "the outputs hold no numbers to compare it with")
    if binding.facts.cut:
        return asked.claim(Verdict.UNCERTAIN, "not found in the part of the outputs that was read")
    nearest = _nearest(asked)
    if nearest is None:
        return asked.claim(Verdict.CONTRADICTED, f"no output gives {quantity.text}")
    return asked.claim(
        Verdict.CONTRADICTED, f"no output gives {quantity.text}; `{nearest.text}` is what they say", evidence_of(nearest)
    )


def _between_days(asked: _Asked) -> bool:
    """Whether the outputs hold days and the quantity could be the time between two."""
    return asked.quantity.dimension is Dimension.TIME and sum(fact.day is not None for fact in asked.binding.facts.facts) > 1


def _matches(asked: _Asked) -> list[tuple[Fact, str]]:
    found: list[tuple[Fact, str]] = []
    for fact in asked.binding.numbers:
        how = binds(asked.quantity, fact, coarse=asked.coarse)
        if how is None and fact.number and (fact.number < 0) != (asked.quantity.value < 0):
            how = _with_sign_in_words(asked, fact)
        if how is not None:
            found.append((fact, how))
    return found


def _with_sign_in_words(asked: _Asked, fact: Fact) -> str | None:
    """A negative fact told as a "loss of 500", or a negative change of what the key calls a decrease."""
    assert fact.number is not None
    lowering = asked.words if asked.quantity.value > 0 else frozenset(fact.key)
    if lowering.isdisjoint(_LOWERING):
        return None
    flipped = Quantity(
        asked.quantity.text, asked.quantity.start, asked.quantity.end, -asked.quantity.value, asked.quantity.ulp,
        asked.quantity.decimals, asked.quantity.digits, asked.quantity.unit, asked.quantity.scaled,
    )  # fmt: skip
    how = binds(flipped, fact, coarse=asked.coarse)
    return None if how is None else how or "the sign is told in words"


def _rivals(asked: _Asked, fact: Fact) -> list[Fact]:
    """Facts that the words name instead of this one, and whose value is another."""
    if fact.weak or not fact.words:
        return []
    elsewhere = {
        id(each)
        for other in asked.binding.answer.stated
        if other is not asked.stated
        and (other.sentence, other.segment) == (asked.stated.sentence, asked.stated.segment)
        and isinstance(other.what, Quantity)
        for each in asked.binding.numbers
        if binds(other.what, each) is not None
    }
    return [
        rival
        for rival in asked.binding.numbers
        if not rival.weak
        and rival is not fact
        and id(rival) not in elsewhere
        and named_instead(rival, fact, asked.words)
        and comparable(asked.quantity, rival)
        and binds(asked.quantity, rival, coarse=asked.coarse) is None
    ]


def _miscounted(asked: _Asked, named: list[tuple[Fact, str]], count: Count | None) -> bool:
    """Whether the noun names what was counted to another number, and no bound fact bears the noun."""
    if count is None or not count.specific:
        return False
    return all(not fact.weak and set(fact.key).isdisjoint(asked.stated.noun) for fact, _ in named)


def _derived(asked: _Asked) -> Derived | None:
    sentence = frozenset(asked.binding.answer.sentences[asked.stated.sentence].words)
    cues = asked.words | asked.binding.task_words if asked.binding.is_short else sentence
    if asked.quantity.spelled and asked.quantity.digits < 2:
        return None
    words = sentence | asked.words | (asked.binding.task_words if asked.binding.is_short else frozenset())
    return derive(Search(asked.quantity, cues, words, asked.binding.facts, _bases(asked)))


def _bases(asked: _Asked) -> tuple[tuple[Fact, ...], tuple[Fact, ...]] | None:
    """The facts behind "from A to B" around this quantity."""
    ends: dict[str, tuple[Fact, ...]] = {}
    for other in asked.binding.answer.stated:
        if other.sentence != asked.stated.sentence or other is asked.stated or not isinstance(other.what, Quantity):
            continue
        leading = asked.binding.answer.text[max(0, other.what.start - 12) : other.what.start].lower()
        found = re.search(r"\b(from|to)\s+$", leading)
        if found:
            facts = tuple(fact for fact in asked.binding.numbers if binds(other.what, fact) is not None)
            if facts:
                ends.setdefault(found[1], facts)
    return (ends["from"], ends["to"]) if len(ends) == 2 else None


def _given_by_task(asked: _Asked) -> Claim | None:
    for quantity in asked.binding.task_quantities:
        if _same_value(asked, quantity):
            subject = _subject(asked) if _SAID.search(asked.before) else None
            if subject is not None and not asked.coarse and coverage(subject, asked.words) == 1.0:
                return None  # the words name a fact of the outputs, and its value is another
            return asked.claim(Verdict.GROUNDED, "the task gives it", ClaimEvidence(None, quantity.text))
    return None


def _same_value(asked: _Asked, given: Quantity) -> bool:
    mine = asked.quantity
    same_unit = mine.unit is None or given.unit is None or mine.dimension is given.dimension
    return same_unit and (fits(mine, given.value) or fits(mine, -given.value))


def _names_a_norm(asked: _Asked) -> bool:
    """Whether an output holds the bound itself (`min_balance: 100`)."""
    return any(
        not _NORM.isdisjoint(fact.key) and binds(asked.quantity, fact) is not None for fact in asked.binding.numbers
    )


def _compared(asked: _Asked) -> Claim | None:
    """ "over 1,300 units": true of a fact that rounds down to it; a threshold nobody gave is made up."""
    over, under = _OVER.search(asked.before), _UNDER.search(asked.before)
    if not over and not under:
        return None
    given = any(_same_value(asked, quantity) for quantity in asked.binding.task_quantities)
    if not given and not _NORM.isdisjoint(asked.stated.noun) and not _names_a_norm(asked):
        return asked.claim(Verdict.CONTRADICTED, f"neither the outputs nor the task give a bound of {asked.quantity.text}")
    wrong = _comparison_fails(asked)
    if wrong is not None or given:
        return wrong
    for fact in _subjects(asked):
        value = _in_unit(asked.quantity, fact)
        near = value and abs(value - asked.quantity.value) <= abs(value) / 4
        if near and (value > asked.quantity.value) == bool(over):
            sign = ">" if over else "<"
            return asked.claim(
                Verdict.GROUNDED,
                "the outputs' value is on that side of it",
                evidence_of(fact, f"{number_text(value)} {sign} {number_text(asked.quantity.value)}"),
            )
    return None


def _comparison_fails(asked: _Asked) -> Claim | None:
    over, under = _OVER.search(asked.before), _UNDER.search(asked.before)
    subject = _subject(asked)
    if subject is None or not (over or under):
        return None
    value = _in_unit(asked.quantity, subject)
    if value == asked.quantity.value or (value > asked.quantity.value) == bool(over):
        return None
    return asked.claim(
        Verdict.CONTRADICTED, f"`{subject.text}` is not {'over' if over else 'under'} it", evidence_of(subject)
    )


def _subjects(asked: _Asked) -> list[Fact]:
    usable = [fact for fact in asked.binding.numbers if comparable(asked.quantity, fact)]
    return best_named(usable, asked.words) or (usable if len(usable) == 1 else [])


def _subject(asked: _Asked) -> Fact | None:
    subjects = _subjects(asked)
    return subjects[0] if len(subjects) == 1 and not subjects[0].weak else None


def _in_unit(quantity: Quantity, fact: Fact) -> float:
    assert fact.number is not None
    if quantity.unit and fact.unit and quantity.unit.dimension is fact.unit.dimension:
        return fact.number * fact.unit.factor / quantity.unit.factor
    if quantity.dimension is Dimension.FRACTION and fact.fraction and abs(fact.number) <= 1 and quantity.unit:
        return fact.number / quantity.unit.factor
    return fact.number


def _nearest(asked: _Asked) -> Fact | None:
    subjects = _subjects(asked)
    return subjects[0] if subjects else None


def _is_part_of_a_name(quantity: Quantity, binding: Binding) -> bool:
    """ "fare class 1", "mar 2019": digits that are words of a key and no value of their own."""
    if quantity.unit is not None or quantity.decimals or quantity.value < 0 or quantity.spelled:
        return False
    written = quantity.text
    word = re.search(r"(\w+)\s+$", binding.answer.text[max(0, quantity.start - 30) : quantity.start])
    if word is not None and word[1].lower() + written in binding.vocabulary:
        return True
    if written not in binding.vocabulary:
        return False
    return not any(fact.number == quantity.value for fact in binding.numbers)


def _is_year(quantity: Quantity, before: str) -> bool:
    plain = quantity.unit is None and quantity.decimals == 0 and len(quantity.text) == 4 and quantity.text.isdigit()
    return plain and 1900 <= quantity.value <= 2100 and _YEAR_BEFORE.search(before) is not None


def _year(asked: _Asked) -> Claim:
    year, binding = int(asked.quantity.value), asked.binding
    if str(year) in binding.vocabulary or str(year) in binding.task:
        return asked.claim(Verdict.GROUNDED, "the outputs or the task name this year")
    for fact in binding.facts.facts:
        if fact.number == year or (fact.day and fact.day.year == year) or (fact.string and str(year) in fact.string):
            return asked.claim(Verdict.GROUNDED, "an output says so", evidence_of(fact))
    if any(str(year) in text for text in binding.facts.texts):
        return asked.claim(Verdict.GROUNDED, "an output names this year")
    if any(fact.day is not None for fact in binding.facts.facts) or any(_YEAR.match(word) for word in binding.vocabulary):
        return asked.claim(Verdict.CONTRADICTED, f"no date in the outputs is in {year}")
    return asked.claim(Verdict.UNCERTAIN, "the outputs hold no dates to compare it with")


_YEAR = re.compile(r"(?:19|20)\d\d$")


def _kind(quantity: Quantity, stated: Stated) -> ClaimKind:
    if quantity.dimension is Dimension.MONEY:
        return ClaimKind.CURRENCY
    if quantity.dimension is Dimension.FRACTION:
        return ClaimKind.PERCENT
    if quantity.unit is not None:
        return ClaimKind.QUANTITY
    return ClaimKind.COUNT if quantity.value.is_integer() and stated.noun and not quantity.decimals else ClaimKind.NUMBER
