"""Features of a claim and its bindings: what the learned choice sees.

Names, values and words of the answer are not among them, so that a model cannot learn a data set's subjects.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p, log10

from spanproof.evaluators.groundedness_rules import GroundednessRule
from spanproof.evaluators.layers.groundedness.claims.frames import AnswerFrames, Bound, Frame
from spanproof.evaluators.layers.groundedness.claims.relations import find_way
from spanproof.evaluators.layers.groundedness.model import Cause
from spanproof.evaluators.layers.groundedness.solve.bind import Binding, Scored
from spanproof.evaluators.layers.groundedness.solve.derive import POOL, Derivation
from spanproof.evaluators.layers.groundedness.solve.match import Match, are_comparable
from spanproof.evaluators.layers.groundedness.solve.requested import Derived, Op, names_operation
from spanproof.evaluators.layers.groundedness.solve.states import StateBinding
from spanproof.evaluators.layers.groundedness.solve.subject import compare_with_subject
from spanproof.evaluators.layers.groundedness.sources.model import Source, SourceKind
from spanproof.reading.numbers import scan_cached
from spanproof.reading.records import Fact, FactBase, Role
from spanproof.reading.values import (
    NUMERIC,
    Kind,
    Value,
    is_same_number,
    is_year,
)
from spanproof.reading.words import base_form

_PAST = re.compile(r"\b(?:was|were|had|held|before|previously|earlier|formerly|from|went|used to)\b", re.I)
_ONE_NUMBER = re.compile(r"\D*(?P<digits>\d[\d,.]*\d|\d)[^\d\w]{0,3}[^\W\d]*[^\d\w]*")
_SCALE_WORDS = re.compile(r"\b(?:thousands?|millions?|billions?|mn|bn|000s?|k|m)\b|['’]000", re.I)
# From which scope a record is the one that a sentence names, and from which it may be: more than a sibling's.
_NAMED_SCOPE, _PARTLY_NAMED = 0.95, 0.55

_FEWEST_DIGITS = 3
_PREFIXED = frozenset(str.split("data mass length volume power energy frequency bitrate"))
_COMPARED = re.compile(r"\b(?:from|than|vs\.?|versus|against|compared (?:to|with))\s+[$€£]?\Z", re.I)
_SMALL, _BEST, _MAX_BARE = 10, 8, 80
_NEAR = 40
_MOST = 4
_CHANGES = frozenset(
    map(base_form, ["change", "chg", "delta", "diff", "difference", "growth", "gain", "variance"])
)
_CURRENCY_FIELDS, _CODE = frozenset(("currency", "currency_code", "ccy")), 3
_NEXT_WORD = re.compile(r" ([a-z]+)\b")
_TOKEN = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W_]|[\[\]{}|]")
_KINDS = (Kind.ID, Kind.DATE, Kind.TIME, Kind.MONEY, Kind.PERCENT, Kind.QUANTITY)

VALUE_FEATURES = (
    "equal", "equal_name", "equal_label", "equal_scope", "equal_quality", "equals", "other", "other_name",
    "other_label", "other_scope", "margin", "compared", "task", "system", "arguments", "hit", "hit_fit", "hit_cued",  # noqa: E501
    "hit_alike", "hit_named", "hit_year", "hit_margin", "equal_year", "other_year",
    "chance", "miss", "misprint", "digits", "small", "year", "spelled", "soft", "negated", "inexact", "overtaken",  # noqa: E501
    "rival_same_field", "prose", "unfound", "slip", "free", "free_margin",
    "free_same_field", "equal_context", "other_context", "few",
    "requested", "requested_hit", "requested_other", "requested_lead", "requested_slip", "operand",
    "hit_sign", "hit_fair_chance", "hit_row", "hit_subject", "subject",
    *(f"is_{kind}" for kind in _KINDS),
)  # fmt: skip
STATE_FEATURES = (
    "equal", "equal_scope", "equal_name", "other", "other_scope", "other_name", "margin", "elsewhere", "given",  # noqa: E501
    "scoped", "soft", "negated", "beside", "shown",
)  # fmt: skip


def value_features(
    binding: Binding, derivation: Derivation, base: FactBase, sources: Sequence[Source], read: AnswerFrames
) -> list[float]:
    """Return the features of a value claim, in the order of `VALUE_FEATURES`."""
    frame = binding.frame
    said = frame.mention.value
    in_outputs = [each for each in binding.equal if _is_output(each, sources)]
    equal = in_outputs[0] if in_outputs else None
    others = [
        each
        for each in binding.other
        if (_is_output(each, sources) and each.fact.value.kind is not Kind.DATE) or said.kind is Kind.DATE
    ]
    other = others[0] if others else None
    # What the answer states elsewhere is less likely to be what it should state here.
    free = next((each for each in others if not _is_stated(each, read, frame)), None)
    best = equal.total if equal else 0.0
    around = _collect_words_around(read.answer, frame.mention.start, frame.mention.end)
    given = dict.fromkeys(SourceKind, 0.0)
    for each in binding.equal:
        kind = sources[each.fact.source].kind
        given[kind] = max(
            given[kind],
            0.5 + 0.25 * min(2.0, each.name + each.scope) if each.match is not Match.SIDE else 0.3,
        )
    hit = derivation.hits[0] if derivation.hits else None
    miss = derivation.misses[0] if derivation.misses else None
    whole = said.kind is Kind.NUMBER and said.step in (0.0, 1.0)
    year = is_year(said)
    unfound = equal is None and max(given.values()) == 0 and not (hit is not None and derivation.chance < 0.6)
    slip = score_misprint(binding, base, sources)
    operands = hit.operands[:POOL] if hit is not None else ()
    return [
        float(equal is not None),
        equal.name if equal else 0.0,
        equal.label if equal else 0.0,
        equal.scope if equal else 0.0,
        equal.match.value if equal else 0.0,
        log1p(len(in_outputs)),
        float(other is not None),
        other.name if other else 0.0,
        other.label if other else 0.0,
        other.scope if other else 0.0,
        (equal.total if equal else 0.0) - (other.total if other else 0.0),
        log1p(binding.compared),
        given[SourceKind.TASK],
        given[SourceKind.SYSTEM],
        given[SourceKind.ARGUMENTS],
        float(hit is not None),
        hit.fit if hit else 0.0,
        float(hit.cued) if hit else 0.0,
        float(hit.alike) if hit else 0.0,
        hit.named if hit else 0.0,
        hit.year if hit else 0.0,
        _compute_margin(hit, derivation) if hit else 0.0,
        equal.year if equal else 0.0,
        other.year if other else 0.0,
        derivation.chance,
        miss.fit if miss else 0.0,
        slip,
        _count_digits(said.number, said.step)
        if said.kind in (Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.QUANTITY)
        else 4.0,
        float(whole and abs(said.number) < 13),
        float(year),
        float(frame.mention.spelled),
        float(frame.soft),
        float(frame.negated),
        float(frame.bound is not Bound.EXACT),
        float(find_later_value(equal, others) is not None),
        score_field_rival(equal, others),
        float(equal is not None and equal.fact.role is Role.PROSE),
        float(unfound),
        slip * unfound,
        float(free is not None),
        best - (free.total if free else 0.0),
        score_field_rival(equal, [each for each in others if each is free]),
        max((_count_shared_words(around, each, base) for each in binding.equal[:_BEST]), default=0.0),
        max((_count_shared_words(around, each, base) for each in others[:_BEST]), default=0.0),
        float(len(read.frames) <= 2),
        float(bool(derivation.requested.ops)),
        derivation.requested.hit_fit,
        derivation.requested.other_fit,
        derivation.requested.hit_fit - derivation.requested.other_fit,
        derivation.requested.other_fit if is_slip_of_result(frame, derivation) else 0.0,
        float(is_operand(binding, derivation, base)),
        float(hit is not None and (hit.value < 0) == (said.number < 0)),
        derivation.fair_chance,
        float(bool(operands) and len({fact.record for fact in operands}) == 1),
        float(compare_with_subject(operands, frame, read, base) if operands else 0),
        float(compare_with_subject([equal.fact], frame, read, base) if equal else 0),
        *(float(said.kind is kind) for kind in _KINDS),
    ]


def is_operand(binding: Binding, derivation: Derivation, base: FactBase) -> bool:
    """Return whether a stated value is a plain cell where the claim names an operation: 53 for a mean of 53 and 68."""  # noqa: E501
    ops = derivation.requested.ops
    return (
        bool(ops)
        and derivation.requested.hit is None
        and bool(binding.equal)
        # What a line prints alone has been worked out.
        and not any(names_operation(each.fact, ops) or is_bare(each.fact, base) for each in binding.equal)
    )


def is_slip_of_result(frame: Frame, derivation: Derivation) -> bool:
    """Return whether a value is a misprint of what the operation that the claim names gives."""
    other = derivation.requested.other
    return other is not None and derivation.requested.hit is None and is_misprint_of(frame, other.value)


def is_misprint_of(frame: Frame, value: float) -> bool:
    """Return whether a stated value is another one with a digit changed or two exchanged."""
    places = len(_extract_digits(frame.text).partition(".")[2])
    written = f"{abs(value) / frame.mention.value.factor:.{places}f}"
    return is_digit_slip(_extract_digits(frame.text), written)


def _collect_words_around(text: str, start: int, end: int) -> tuple[list[str], list[str]]:
    """Return the words before a place, the nearest first, and those behind it."""
    before = _TOKEN.findall(text[max(0, start - _NEAR) : start].lower())[::-1]
    return before[:_MOST], _TOKEN.findall(text[end : end + _NEAR].lower())[:_MOST]


def _count_shared_words(around: tuple[list[str], list[str]], scored: Scored, base: FactBase) -> float:
    """Return how many words in a row are the same about a stated value and about a known one."""
    fact = scored.fact
    known = _collect_words_around(base.texts[fact.source], fact.start, fact.end)
    shared = 0
    for said, there in zip(around, known, strict=True):
        for one, other in zip(said, there, strict=False):
            if one != other:
                break
            shared += 1
    return float(shared)


def _compute_margin(hit: Derived, derivation: Derivation) -> float:
    """Return how much better a hit fits than the best other result of its operation."""
    return hit.fit - max((miss.fit for miss in derivation.misses if miss.op is hit.op), default=0.0)


def _is_output(scored: Scored, sources: Sequence[Source]) -> bool:
    return sources[scored.fact.source].kind in (SourceKind.OUTPUT, SourceKind.ERROR)


def _count_digits(number: float, step: float) -> float:
    return min(8.0, log10(max(1.0, abs(number) / step)) + 1 if step else 1.0)


def score_misprint(binding: Binding, base: FactBase, sources: Sequence[Source]) -> float:
    """Return how near another value's characters are: its scope where one character or two exchanged differ."""  # noqa: E501
    frame = binding.frame
    said = _extract_digits(frame.text)
    best = 0.0
    if frame.mention.value.kind is Kind.ID:
        name = frame.text.strip("#$€£ ").lower()
        for fact in base.by_kind[Kind.ID][:4000]:
            if sources[fact.source].kind is SourceKind.OUTPUT and is_digit_slip(name, fact.value.text):
                return 1.0
        return 0.0
    for each in binding.other[:20]:
        known = _extract_digits(base.texts[each.fact.source][each.fact.start : each.fact.end])
        if is_digit_slip(said, known):
            best = max(best, 0.2 + 0.4 * each.scope + 0.4 * each.name)
    return best


def is_digit_slip(said: str, known: str) -> bool:
    """Return whether two texts differ in one digit of three or more, or in two neighbouring digits exchanged.

    Of numbers the significant digits count: `$54.00` and `4500` cents are 54 and 45.
    """
    said, known = _extract_significant_digits(said), _extract_significant_digits(known)
    if len(said) != len(known) or len(said) < 2:
        return False
    wrong = [place for place, (one, two) in enumerate(zip(said, known, strict=True)) if one != two]
    if not wrong or any(not (said[place].isdigit() and known[place].isdigit()) for place in wrong):
        return False
    if len(wrong) == 1:
        return len(said) > 2
    return (
        len(wrong) == 2
        and wrong[1] - wrong[0] == 1
        and said[wrong[0]] == known[wrong[1]]
        and said[wrong[1]] == known[wrong[0]]
    )


def has_same_digits(binding: Binding, rival: Scored, base: FactBase) -> bool:
    """Return whether a rival differs in its sign or its scale only: which of them is meant is not certain.

    A thousand times a plain number is no other scale where no words of the source say so.
    """
    text = base.texts[rival.fact.source][rival.fact.start : rival.fact.end]
    said, known = binding.frame.mention.value, rival.fact.value
    plain = said.factor == known.factor == rival.fact.factor == 1.0 and said.kind is not Kind.PERCENT
    times = abs(said.number / known.number) if known.number else 0.0
    if plain and round(times) in (1000, 1_000_000) and not _SCALE_WORDS.search(base.texts[rival.fact.source]):
        return False
    return _extract_significant_digits(_extract_digits(text.strip("()"))) == _extract_significant_digits(
        _extract_digits(binding.frame.text.strip("()"))
    )


def _extract_digits(text: str) -> str:
    """Return the digits that a text writes as one number, without its unit or currency; else the text."""
    found = _ONE_NUMBER.fullmatch(text)
    return found["digits"] if found is not None else text.strip("#$€£ ").lower()


def _extract_significant_digits(text: str) -> str:
    bare = text.replace(",", "").strip("+-−$€£% ")
    if not bare.replace(".", "").isdigit() or bare.count(".") > 1:
        return text
    return bare.replace(".", "").strip("0")


def find_later_value(equal: Scored | None, others: Sequence[Scored]) -> Scored | None:
    """Return the later output's value of the same field, where the stated one is in an earlier output only."""  # noqa: E501
    if equal is None or not equal.fact.path or equal.fact.role is not Role.CELL:
        return None
    for each in others[:20]:
        later = each.fact.source > equal.fact.source and each.fact.path == equal.fact.path
        if later and each.scope >= equal.scope - 0.05 and each.name >= equal.name:
            return each
    return None


def score_field_rival(equal: Scored | None, others: Sequence[Scored]) -> float:
    """Return how near a record is named whose same field has another value; 0 without one."""
    if equal is None:
        return max((each.scope * each.name for each in others[:5]), default=0.0)
    return max(
        (each.scope for each in others if each.fact.words == equal.fact.words and each.fact.words),
        default=0.0,
    )


@dataclass(frozen=True, slots=True)
class Refutation:
    """What refutes a claim without a doubt: the rule, the cause, and the value in its place."""

    rule: GroundednessRule
    cause: Cause
    rival: Scored


def find_refutation(
    binding: Binding, derivation: Derivation, base: FactBase, sources: Sequence[Source], read: AnswerFrames
) -> Refutation | None:
    """Return what refutes a value whatever else is known: a slip, or a later word of the same field.

    A slip: no source has the value nor gives it, and the field that is named differs from it in one digit or
    in two exchanged. Real answers that are right almost never look so, changed digits half the time. A value
    that the answer states as well takes the place of none.
    """
    frame = binding.frame
    others = [each for each in binding.other if _is_output(each, sources)]
    outputs = [each for each in binding.equal if _is_output(each, sources)]
    scaled = _find_other_scale(frame, others) if not binding.equal and not derivation.hits else None
    if scaled is not None and not (frame.soft or frame.negated):
        return Refutation(GroundednessRule.OTHER_SCALE, Cause.OTHER_VALUE, scaled)
    if not _is_exact(frame, in_outputs=bool(outputs)) or len(outputs) < len(binding.equal):
        return None
    if outputs and all(_is_in_other_currency(frame.mention.value, each.fact, base) for each in outputs):
        return Refutation(GroundednessRule.OTHER_SCALE, Cause.OTHER_VALUE, outputs[0])
    if outputs:
        way = find_way(frame, read)
        changes = all(each.fact.words & _CHANGES and each.fact.value.number * way < 0 for each in outputs)
        if way and changes and frame.mention.value.number > 0:
            return Refutation(GroundednessRule.DIRECTION, Cause.OTHER_VALUE, outputs[0])
        named = _find_named_field(frame, outputs, base, read)
        if named is not None:
            return Refutation(
                GroundednessRule.OTHER_FIELD, Cause.OTHER_VALUE, Scored(named, Match.NONE, 1.0, 0.0, 1.0)
            )
        later = _find_later_word(frame, outputs[0], others, base, read)
        return later or _find_other_record(frame, outputs, others, derivation, read)
    hits = [each for each in derivation.hits if not _is_mixed(each, base)]
    if hits and (derivation.chance < 0.6 or hits[0].cued):
        return None
    slip = _find_slip(frame, others, base, sources, read)
    if slip is not None:
        return Refutation(GroundednessRule.SLIP, Cause.OTHER_VALUE, slip)
    alone = len(read.frames) == 1 and binding.compared == 1 and bool(others) and not derivation.hits
    kinds = (frame.mention.value.kind, Kind.NUMBER)
    # "SK 1422" is a name with a number in it.
    whole = bool(others) and _is_whole(others[0].fact, base)
    if alone and whole and others[0].name >= 0.6 and others[0].fact.value.kind in kinds:
        return Refutation(GroundednessRule.ONLY_VALUE, Cause.OTHER_VALUE, others[0])
    result = _find_last_result(others, base, sources) if not derivation.hits else None
    if result is not None and len(read.frames) == 1 and _replaces(frame.mention.value, result.fact.value):
        return Refutation(GroundednessRule.ONLY_VALUE, Cause.OTHER_VALUE, result)
    return None


def _is_in_other_currency(said: Value, fact: Fact, base: FactBase) -> bool:
    """Return whether a record, or one that it is in, names another currency than the stated amount is in."""
    if said.kind is not Kind.MONEY or fact.value.kind is not Kind.NUMBER:
        return False
    named = (each for record in base.chain(fact.record) for each in base.by_record.get(record, ()))
    code = next((each.value.text.upper() for each in named if each.field.lower() in _CURRENCY_FIELDS), "")
    dollars = said.unit == "USD" and code.endswith("D")  # "$" is of several countries
    return len(code) == _CODE and code != said.unit and not dollars


def _is_mixed(result: Derived, base: FactBase) -> bool:
    """Return whether a difference is of two fields of two rows of one table: no answer would state that."""
    groups = [base.records[fact.record].group for fact in result.operands]
    return result.op is Op.DIFFERENCE and not result.alike and None not in groups and len(set(groups)) == 1


def _find_last_result(others: Sequence[Scored], base: FactBase, sources: Sequence[Source]) -> Scored | None:
    """Return the value that the last output with an amount prints, if it is one on a line of its own."""
    # "What is left of 2000?": an amount of the task may have been reckoned with.
    task = next((source.text for source in sources if source.kind is SourceKind.TASK), "")
    if any(each.value.kind in NUMERIC and abs(each.value.number) >= _SMALL for each in scan_cached(task)):
        return None
    outputs = (each for each in base.amount_sources if sources[each].kind is SourceKind.OUTPUT)
    last = max(outputs, default=-1)
    printed = [fact for kind in NUMERIC for fact in base.by_kind[kind] if fact.source == last]
    # Fewer digits count, or say that it went well.
    if len(printed) != 1 or not is_bare(printed[0], base):
        return None
    value = printed[0].value
    long = _count_digits(value.amount, value.step / value.factor) >= _FEWEST_DIGITS
    return next((each for each in others if long and each.fact is printed[0]), None)


def _replaces(said: Value, result: Value) -> bool:
    """Return whether a value can only stand for a result: not in another unit, nor what is left of all."""
    if said.kind not in (Kind.NUMBER, Kind.MONEY, Kind.PERCENT) or _count_digits(said.number, said.step) < 2:
        return False
    wholes = (1.0, 100.0) if said.kind is Kind.PERCENT or 0 < abs(result.number) < 1 else ()
    stated = {said.number, said.number / 100}
    return not any(
        is_same_number(each, whole - result.number, said.step) for each in stated for whole in wholes
    )


def _is_exact(frame: Frame, *, in_outputs: bool) -> bool:
    """Return whether a claim states one exact value, which another value can refute."""
    said = frame.mention.value
    return not (
        frame.bound is not Bound.EXACT
        or frame.soft
        or is_year(said)
        or frame.negated
        or said.kind is Kind.TIME
        or (said.kind is Kind.ID and not in_outputs)
        or frame.mention.spelled
    )


def _find_later_word(
    frame: Frame, equal: Scored, others: Sequence[Scored], base: FactBase, read: AnswerFrames
) -> Refutation | None:
    """Return the later value of the same field, unless the answer speaks of the past or states it as well."""
    later = find_later_value(equal, others) if frame.mention.value.kind is not Kind.ID else None
    low, high = read.sentence_at(frame.line, frame.mention.start)
    if (
        later is None
        or _PAST.search(read.answer[low:high])
        or _is_stated(later, read, frame)
        or not _are_of_same_thing(equal, later, base)
    ):
        return None
    return Refutation(GroundednessRule.LATER_WORD, Cause.OVERTAKEN, later)


def _find_other_record(
    frame: Frame,
    outputs: Sequence[Scored],
    others: Sequence[Scored],
    derivation: Derivation,
    read: AnswerFrames,
) -> Refutation | None:
    """Return the named record's own value, where the stated one is in that field of records not named."""
    said, fact = frame.mention.value, outputs[0].fact
    compared = _COMPARED.search(read.answer, max(0, frame.mention.start - _NEAR), frame.mention.start)
    if said.kind not in NUMERIC or _count_digits(said.number, said.step) < _FEWEST_DIGITS or compared:
        return None
    held = {each.fact for each in outputs}
    if any(held.isdisjoint(each.operands) for each in derivation.hits):
        return None  # worked out, not by itself times one
    alike = all(each.fact.role is Role.CELL and each.fact.path == fact.path for each in outputs)
    if not alike or not fact.path or any(each.scope >= _PARTLY_NAMED for each in outputs):
        return None
    of_field = [each for each in others if each.fact.path == fact.path and each.scope >= _PARTLY_NAMED]
    if len(of_field) != 1 or of_field[0].scope < _NAMED_SCOPE or of_field[0].fact.source != fact.source:
        return None
    if _is_stated(of_field[0], read, frame):
        return None
    return Refutation(GroundednessRule.OTHER_RECORD, Cause.OTHER_VALUE, of_field[0])


def _find_named_field(
    frame: Frame, outputs: Sequence[Scored], base: FactBase, read: AnswerFrames
) -> Fact | None:
    """Return the field that the word behind a number names, where its record has the number in another."""
    records, said = {each.fact.record for each in outputs}, frame.mention.value
    noun = _NEXT_WORD.match(read.answer, frame.mention.end)
    if (
        len(records) != 1
        or noun is None
        or said.kind is not Kind.NUMBER
        or _count_digits(said.number, said.step) < 2
    ):
        return None
    words = frozenset((base_form(noun[1]),))
    if any((words | frame.near.keys()) & each.fact.words or not each.fact.path for each in outputs):
        return None
    facts = [
        fact for fact in base.by_record[records.pop()] if fact.words == words and fact.value.kind in NUMERIC
    ]
    return facts[0] if len(facts) == 1 and facts[0].role is Role.CELL else None


def _find_slip(
    frame: Frame, others: Sequence[Scored], base: FactBase, sources: Sequence[Source], read: AnswerFrames
) -> Scored | None:
    """Return the value of which the stated one is a misprint: one that is near, or was printed last."""
    digits = _extract_digits(frame.text)
    kind = frame.mention.value.kind
    # What prints no amount, such as a closing `None`, is no last word.
    outputs = (each for each in base.amount_sources if sources[each].kind is SourceKind.OUTPUT)
    last = max(outputs, default=0)
    # The others that are kept may all be of larger outputs.
    kept = {each.fact for each in others}
    printed = [
        Scored(fact, Match.NONE, 0.0, 0.0, 0.0)
        for fact in base.by_source(last)
        if are_comparable(frame.mention.value, fact.value) and fact not in kept and is_bare(fact, base)
    ]
    for place, each in enumerate((*others, *printed)):
        known = _extract_digits(base.texts[each.fact.source][each.fact.start : each.fact.end])
        close = place < _BEST and (each.name >= 0.5 or each.scope >= 0.5 or _is_lone(each, others, kind))
        close = close or (each.fact.source == last and is_bare(each.fact, base))
        if not close or each.fact.role is Role.HEADER or not is_digit_slip(digits, known):
            continue
        if not _is_as_large(frame.mention.value, each.fact):
            continue
        if not _is_stated(each, read, frame):
            return each
    return None


def _find_other_scale(frame: Frame, others: Sequence[Scored]) -> Scored | None:
    """Return the one value in a unit that is the stated one in another: 53,018,624 bytes of "53 GB"."""
    said = frame.mention.value
    if (
        said.kind is not Kind.QUANTITY
        or said.unit not in _PREFIXED
        or _count_digits(said.number, said.step) < 2
    ):
        return None
    alike = [each for each in others if each.fact.value.unit == said.unit]
    found = [
        each
        for each in alike
        for times in (1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e9)
        if abs(said.number * times - each.fact.value.number) <= said.step * times / 2
    ]
    return found[0] if found and len({each.fact.value.number for each in alike}) == 1 else None


def _is_whole(fact: Fact, base: FactBase) -> bool:
    """Return whether a value is all that its cell writes."""
    text = base.texts[fact.source]
    return not (text[fact.cell[0] : fact.start] + text[fact.end : fact.cell[1]]).strip(" ()*~\"'")


def _is_as_large(said: Value, known: Fact) -> bool:
    """Return whether two numbers have as many digits before their points, or one is in cents."""
    if said.kind not in NUMERIC or not said.number or not known.value.number:
        return True
    times = abs(known.value.number * known.factor / said.number), abs(known.value.amount / said.amount)
    cents = said.kind is Kind.MONEY and known.value.kind is Kind.NUMBER
    return any(0.1 < each < 10 or (cents and 10 < each < 1000) for each in times)


def _is_lone(scored: Scored, others: Sequence[Scored], kind: Kind) -> bool:
    """Return whether outputs hold few other values, or none of the kind that a unit or a currency names."""
    alike = {each.fact.value.number for each in others if each.fact.value.kind is kind}
    return len(others) <= 3 or (kind is not Kind.NUMBER and alike == {scored.fact.value.number})


def is_unmistakable(binding: Binding, base: FactBase, sources: Sequence[Source], read: AnswerFrames) -> bool:
    """Return whether a value is in one lone record, and no later value in its field.

    A lone record is a single object, the only row of a table, a short sentence or a bare value that is all
    that its line prints.
    """
    found = [each for each in binding.equal if _is_output(each, sources)]
    # A result may be a cell of a table too: the least price is a price.
    candidates = [*found[:1], *(each for each in found[1:] if is_bare(each.fact, base))]
    return any(_is_all_of_its_record(binding, each, base, sources, read) for each in candidates)


def _is_all_of_its_record(
    binding: Binding, equal: Scored, base: FactBase, sources: Sequence[Source], read: AnswerFrames
) -> bool:
    said = binding.frame.mention.value
    if said.kind is Kind.ID or not _is_as_written(said, equal):
        return False
    bare = is_bare(equal.fact, base)
    if said.kind not in (Kind.DATE, Kind.TIME) and _count_digits(said.number, said.step) < (2 if bare else 3):
        return False
    group = base.records[equal.fact.record].group
    lone = bare or group is None or len(base.groups[group]) == 1
    if not lone and not (equal.fact.role is Role.PROSE and binding.compared <= 3):
        return False
    rivals = [
        each
        for each in binding.other
        if _is_output(each, sources)
        and each.fact.source >= equal.fact.source
        and not _is_of_another_claim(each, read, binding.frame)
    ]
    return not any(
        _is_of_field(each, equal, base) or (each.name and each.total > equal.total + 0.5) for each in rivals
    )


def _is_of_field(rival: Scored, equal: Scored, base: FactBase) -> bool:
    """Return whether two values are in one field, or are both printed without one."""
    return rival.fact.words == equal.fact.words and (bool(equal.fact.words) or is_bare(rival.fact, base))


def _is_as_written(said: Value, equal: Scored) -> bool:
    """Return whether the source writes the stated value, or the number before a unit that it leaves out.

    A bare duration is in seconds and a bare size in bytes more often than in the unit that the answer names.
    """
    if equal.match is Match.UNSCALED:
        named = said.kind is Kind.QUANTITY and said.unit not in ("time", "data")
        return named and said.scale == 1.0 and not equal.fact.value.unit
    return equal.match in (Match.EXACT, Match.ROUNDED, Match.MINOR)


def is_given(binding: Binding, sources: Sequence[Source]) -> bool:
    """Return whether a date, a time, a percentage or a number of three digits is given.

    It is not where an output is about it.

    What an agent called a tool with is what the tool's output is about: a date among the arguments is as good
    as one in the output.
    """
    said = binding.frame.mention.value
    timely = said.kind in (Kind.DATE, Kind.TIME)
    # "Add 21 %" is answered by "with 21 % on top".
    percents = said.kind is Kind.PERCENT and any(each.fact.value.kind is said.kind for each in binding.equal)
    if said.kind is Kind.ID or not (timely or percents or _count_digits(said.number, said.step) >= 3):
        return False
    given = {sources[each.fact.source].kind for each in binding.equal if each.match is not Match.SIDE}
    given -= {SourceKind.OUTPUT, SourceKind.ERROR}
    if timely and SourceKind.ARGUMENTS in given:
        return True
    about = any(
        each.name >= 0.5 and each.scope >= 0.5 for each in binding.other[:5] if _is_output(each, sources)
    )
    return bool(given) and not about


def is_bare(fact: Fact, base: FactBase) -> bool:
    """Return whether a line prints values and nothing else, such as the `4500 45.0` of `print(a, b)`."""
    text = base.texts[fact.source]
    line = text[text.rfind("\n", 0, fact.start) + 1 : (text.find("\n", fact.end) + 1 or len(text) + 1) - 1]
    return len(line) <= _MAX_BARE and not _WORD.search(_remove_values(line))


def _remove_values(line: str) -> str:
    """Return a line without the values that it writes."""
    for mention in reversed(scan_cached(line)):
        line = line[: mention.start] + line[mention.end :]
    return line


def _is_of_another_claim(scored: Scored, read: AnswerFrames, frame: Frame) -> bool:
    """Return whether another claim states a fact's value, and names its field better than this one."""
    known, words = scored.fact.value, scored.fact.words
    here = sum(frame.near.get(word, 0.0) for word in words)
    return any(
        other is not frame
        and (other.mention.value.amount, other.mention.value.date) == (known.amount, known.date)
        and sum(other.near.get(word, 0.0) for word in words) > here
        for other in read.frames
    )


def _is_stated(scored: Scored, read: AnswerFrames, frame: Frame) -> bool:
    known = scored.fact.value
    return any(
        other is not frame
        and known.number in (other.mention.value.number, other.mention.value.amount)
        and other.mention.value.date == known.date
        and other.mention.value.text == known.text
        for other in read.frames
    )


def _are_of_same_thing(one: Scored, two: Scored, base: FactBase) -> bool:
    """Whether two records are of one thing: both stand alone, and no name or text of theirs differs."""
    records = one.fact.record, two.fact.record
    if any(base.records[record].group is not None for record in records):
        return False
    names = [
        {
            fact.path: fact.value.text
            for fact in base.by_record[record]
            if fact.value.kind in (Kind.ID, Kind.TEXT)
        }
        for record in records
    ]
    return all(names[0][path] == names[1][path] for path in names[0].keys() & names[1].keys())


def state_features(binding: StateBinding) -> list[float]:
    """Return the features of a state claim, in the order of `STATE_FEATURES`."""
    frame = binding.claim.frame
    return [
        float(binding.equal is not None),
        binding.equal_scope,
        binding.equal_name,
        float(binding.other is not None),
        binding.other_scope,
        binding.other_name,
        binding.equal_scope + 0.5 * binding.equal_name - binding.other_scope - 0.5 * binding.other_name,
        log1p(binding.elsewhere),
        log1p(binding.given),
        float(binding.scoped),
        float(frame.soft),
        float(frame.negated),
        float(binding.beside),
        float(binding.equal is not None and binding.elsewhere > 0),
    ]
