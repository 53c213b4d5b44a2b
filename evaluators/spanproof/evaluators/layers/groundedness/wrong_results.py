"""Results that their operands refute: a change, a share or a total that is another one.

In: a stated value that is not bound, the reading and the world. Out: a contradicting claim, or None. The
operands are values that the sentence states, or the one column that it names.
"""

from __future__ import annotations

from typing import Final

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness import bind
from spanproof.evaluators.layers.groundedness.alarms import OF_REACH, is_derivable
from spanproof.evaluators.layers.groundedness.bind import ValueBinder
from spanproof.evaluators.layers.groundedness.derive import iter_columns
from spanproof.evaluators.layers.groundedness.model import Cause, Claim, ClaimEvidence
from spanproof.evaluators.layers.groundedness.reader import Reading, Stated
from spanproof.evaluators.layers.groundedness.relations import find_change
from spanproof.reading.agreement import Hedge, is_hedged_number
from spanproof.reading.lexicon import list_cues
from spanproof.reading.values import NUMERIC, Kind

_TOTAL: Final = frozenset(("total", "altogether", "sum"))
# "From" may be anywhere in the sentence.
_WHOLE_SENTENCE: Final = 100


def find_wrong_change(stated: Stated, reading: Reading, binder: ValueBinder) -> Claim | None:
    """Return the claim that a change is not that of the two values beside it: "by 14% from 432 to 404".

    Behind the values a noun says that it is the change: "from 432 to 404, a decline of 14%".
    """
    value = stated.mention.value
    before = [word.text.lower() for word in reading.words[max(0, stated.words[0] - 2) : stated.words[0]]]
    change = find_change(reading, stated.start) if before[-1:] == ["by"] else None
    if before[-1:] == ["of"] and list_cues(reading.words[max(0, stated.words[0] - 2) : stated.words[0]]):
        change = find_change(reading, 0, _WHOLE_SENTENCE)
    if change is None or stated.hedge is not Hedge.NONE or value.kind not in NUMERIC:
        return None
    earlier, later = (fact.value.number * fact.factor for fact in change)
    if value.kind is Kind.PERCENT and (change[0].value.kind is Kind.PERCENT or not earlier):
        return None
    result = abs(later - earlier) / (abs(earlier) / 100 if value.kind is Kind.PERCENT else 1.0)
    if is_hedged_number(value, Hedge.ABOUT, result):
        return None
    evidence = bind.build_evidence(
        change[1],
        binder.world,
        f"from {change[0].value.amount:g} to {change[1].value.amount:g} = {result:.4g}",
    )
    return _build_other_result(stated, reading, evidence)


def find_wrong_share(stated: Stated, reading: Reading, binder: ValueBinder) -> Claim | None:
    """Return the claim that a percentage is not that of the part and the whole: "12 of 80, or 25%"."""
    amounts = sorted((at, fact) for at, fact in reading.by_stated.items() if fact.value.kind is Kind.NUMBER)
    is_share = stated.mention.value.kind is Kind.PERCENT and stated.hedge is Hedge.NONE
    if not is_share or len(amounts) != 2 or len(reading.stated) != 3:
        return None
    (start, part), (end, whole) = amounts
    between = [word.text.lower() for word in reading.words_between(start, end)][1:]
    is_of_whole = between[:1] == ["of"] and len(between) <= OF_REACH
    if not is_of_whole or not whole.value.number or is_derivable(stated, binder, reading):
        return None
    result = 100 * part.value.number / whole.value.number
    program = f"{part.value.number:g} of {whole.value.number:g} = {result:.4g} %"
    return _build_other_result(stated, reading, bind.build_evidence(part, binder.world, program))


def find_wrong_total(stated: Stated, reading: Reading, binder: ValueBinder) -> Claim | None:
    """Return the claim that a total is not that of the one column that its clause names."""
    world = binder.world
    low, high = reading.get_clause(stated.start)
    clause = reading.words_between(low, high)
    is_total = any(word.text.lower() in _TOTAL for word in clause) and list_cues(clause) <= {"sum"}
    is_of_rows = bool(reading.names or reading.scope)
    if not is_total or is_of_rows or stated.hedge is not Hedge.NONE or world.base.cut:
        return None
    words = frozenset(word.form for word in clause)
    columns = [
        facts
        for facts in iter_columns(stated, reading, binder)
        if not words.isdisjoint(world.words_of(facts[0]))
    ]
    if len(columns) != 1 or len(reading.stated) != 1 or is_derivable(stated, binder, reading):
        return None
    (facts,) = columns
    total = sum(fact.value.number * fact.factor for fact in facts)
    program = f"the sum of {len(facts)} values = {total:g}"
    return _build_other_result(stated, reading, bind.build_evidence(facts[0], world, program))


def _build_other_result(stated: Stated, reading: Reading, evidence: ClaimEvidence) -> Claim:
    kind, rule = bind.get_claim_kind(stated), GroundednessRule.MISQUOTE
    return bind.build_contradiction(
        reading, (stated.start, stated.end), kind, Cause.OTHER_RESULT, evidence, rule
    )
