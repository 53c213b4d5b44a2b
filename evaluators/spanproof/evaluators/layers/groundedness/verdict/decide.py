"""Decide: each claim's verdict with its evidence, and the answer's within one budget of alarms.

In: a solved answer and the learned choice. Out: a `Grounding`. A claim is contradicted only where the choice is
surer of it the more claims the answer has: twenty claims are not twenty chances of an alarm.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from spanproof.evaluators.groundedness_rules import GroundednessRule as Rule
from spanproof.evaluators.layers.groundedness.choose.features import (
    Refutation,
    find_refutation,
    has_same_digits,
    is_digit_slip,
    is_given,
    is_misprint_of,
    is_operand,
    is_unmistakable,
    state_features,
    value_features,
)
from spanproof.evaluators.layers.groundedness.choose.model import Choice
from spanproof.evaluators.layers.groundedness.claims.frames import Bound, Frame
from spanproof.evaluators.layers.groundedness.claims.relations import Direction
from spanproof.evaluators.layers.groundedness.model import (
    Cause,
    Claim,
    ClaimEvidence,
    ClaimKind,
    Grounding,
    Verdict,
)
from spanproof.evaluators.layers.groundedness.solve.bind import Binding, Scored
from spanproof.evaluators.layers.groundedness.solve.derive import Derivation
from spanproof.evaluators.layers.groundedness.solve.match import Match
from spanproof.evaluators.layers.groundedness.solve.printed import Printed
from spanproof.evaluators.layers.groundedness.solve.relations import Settled
from spanproof.evaluators.layers.groundedness.solve.requested import Derived, Op, Worked, find_worked
from spanproof.evaluators.layers.groundedness.solve.solver import Solved
from spanproof.evaluators.layers.groundedness.solve.states import StateBinding
from spanproof.evaluators.layers.groundedness.solve.subject import compare_with_subject, find_own_value
from spanproof.evaluators.layers.groundedness.sources.model import SourceKind
from spanproof.reading.answer_words import reports_failure, reports_nothing
from spanproof.reading.numerals import find_numbers
from spanproof.reading.records import Fact, Role
from spanproof.reading.values import NUMERIC, Kind, Value, is_same_number

_KINDS = {
    Kind.MONEY: ClaimKind.CURRENCY,
    Kind.PERCENT: ClaimKind.PERCENT,
    Kind.QUANTITY: ClaimKind.QUANTITY,
    Kind.DATE: ClaimKind.DATE,
    Kind.TIME: ClaimKind.TIME,
    Kind.ID: ClaimKind.IDENTIFIER,
}
_BUDGET = 6  # So many claims may be judged at the plain threshold; with more, it falls in proportion
_OUTPUTS = (SourceKind.OUTPUT, SourceKind.ERROR)
_CERTAIN = 0.01
_BACKWARDS = 0.4
_OF_A_VALUE = re.compile(r"\d\s?[^\W\d]{0,4} (?:out )?of (?:the |a total of )?[$€£]?\Z")
_BEHIND_DENIAL = 40  # A state so near behind a denial is what is denied: its own claim settles it
_BY_ACCIDENT = 0.05
_UNMISTAKABLE = 0.8
_FEWEST_DIGITS, _MOST_TIMES, _MOST_SUMMED = 2, 20, 10
_GIVEN = 0.7
# An identifier that a source has is a name of something: whether it is the right one, the values by it show.
_KNOWN_NAME = 0.9
# So well a result of the operation that a claim names has to fit to stand against the stated value.
_REQUESTED = 1.5
_KNOWN_STATE = 0.75  # A state that the record which is named has, with no rival named better
_RELATION_RULES = {
    ClaimKind.SUPERLATIVE: Rule.SUPERLATIVE,
    ClaimKind.COMPARISON: Rule.COMPARISON,
    ClaimKind.QUANTIFIER: Rule.QUANTIFIER,
    ClaimKind.NAME: Rule.OTHER_RECORD,
    ClaimKind.STATUS: Rule.FLAG,
}
ALL_RULES = frozenset(Rule)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A claim with how probable it is, before the answer's budget; `rests` on these other claims."""

    claim: Claim
    accept: float
    accuse: float
    refuted: bool
    rests: tuple[str, ...] = ()


def decide(
    solved: Solved,
    choice: Choice,
    rules: frozenset[Rule] = ALL_RULES,
    written: frozenset[str] = frozenset(),
    *,
    owns_up: bool = False,
) -> Grounding:
    """Return the verdict on an answer; `rules` are those that may decide.

    Args:
        solved: the answer's claims with what was found for each.
        choice: the weights and thresholds.
        rules: those that may decide.
        written: the numbers of the agent's own code, in their plain form.
        owns_up: the answer says that something failed, and it did: that needs no source.
    """
    judged = [
        _judge_value(binding, derivation, solved, choice, rules) for binding, derivation in solved.values
    ]
    judged = [_clear_if_written(each, written) for each in judged]
    if Rule.OWN_RESULT in rules:
        bindings = [binding for binding, _ in solved.values]
        judged = [
            _apply_own_result(each, binding, derivation, bindings, solved)
            for each, (binding, derivation) in zip(judged, solved.values, strict=True)
        ]
    relations = [
        _judge_relation(each, solved) for each in solved.relations if _RELATION_RULES[each.kind] in rules
    ]
    taken = {(each.claim.start, each.claim.end) for each in relations}
    judged += [
        _judge_state(_drop_rival_of_other(binding, solved), solved, choice, rules)
        for binding in solved.states
        if (binding.equal is not None or binding.other is not None)
        and (binding.claim.frame.mention.start, binding.claim.frame.mention.end) not in taken
    ]
    judged += relations
    if Rule.DIRECTION in rules:
        judged += [_judge_direction(each, judged, solved) for each in solved.directions]
    stated = [(each.claim.start, each.claim.end) for each in judged if each.claim.kind is ClaimKind.STATUS]
    judged += [
        _Judged(_build_denial_claim(start, end, solved), 1.0, 0.0, refuted=False)
        for start, end in solved.denials
        if not any(0 <= low - end <= _BEHIND_DENIAL for low, _ in stated)
        and not (owns_up and _reports(start, solved))
    ]
    if not judged and solved.printed is not None and Rule.PRINTED_RESULT in rules:
        judged = [_judge_printed(solved.printed, solved)]
    judged.sort(key=lambda each: (each.claim.start, each.claim.end))
    budget = min(1.0, (_BUDGET / max(1, len(judged))) ** 0.5)
    claims = _break_circles(judged, [_settle_claim(each, budget, solved.base.cut) for each in judged])
    verdicts = {claim.verdict for claim in claims}
    confidence = min((each.claim.confidence for each in judged), default=0.5)
    if Verdict.CONTRADICTED in verdicts:
        overall = Verdict.CONTRADICTED
    elif verdicts <= {Verdict.GROUNDED} and (owns_up or any(c.cause is not Cause.GIVEN for c in claims)):
        # An answer that only repeats what it was given says nothing of what was found.
        overall = Verdict.GROUNDED
    else:
        overall = Verdict.UNCERTAIN
    settled = [claim.verdict for claim in claims if claim.verdict is not Verdict.UNCERTAIN]
    value = settled.count(Verdict.GROUNDED) / len(settled) if settled else 0.5
    return Grounding(overall, value, claims, confidence)


def _break_circles(judged: Sequence[_Judged], claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Return the claims, those uncertain that only bear each other out: 10 by 4 + 6, and 6 by 10 - 4."""
    resting = [set(each.rests) for each in judged]
    borne_out: set[str] = set()
    while True:
        more = {
            claim.text
            for claim, rests in zip(claims, resting, strict=True)
            if claim.verdict is Verdict.GROUNDED and rests <= borne_out
        }
        if more <= borne_out:
            break
        borne_out |= more
    return tuple(
        claim
        if claim.verdict is not Verdict.GROUNDED or rests <= borne_out
        else replace(claim, verdict=Verdict.UNCERTAIN)
        for claim, rests in zip(claims, resting, strict=True)
    )


def _settle_claim(judged: _Judged, budget: float, cut: bool) -> Claim:
    claim = judged.claim
    if (
        judged.refuted
        and not cut
        and (claim.confidence <= _CERTAIN or claim.confidence < judged.accuse * budget)
    ):
        return replace(claim, verdict=Verdict.CONTRADICTED)
    supported = claim.cause in (Cause.STATED, Cause.GIVEN, Cause.DERIVED)
    if supported and claim.confidence >= judged.accept:
        return replace(claim, verdict=Verdict.GROUNDED)
    return replace(claim, verdict=Verdict.UNCERTAIN)


def _judge_value(
    binding: Binding, derivation: Derivation, solved: Solved, choice: Choice, rules: frozenset[Rule]
) -> _Judged:
    probability = choice.values.probability(
        value_features(binding, derivation, solved.base, solved.sources, solved.read)
    )
    limits = choice.thresholds
    frame = binding.frame
    rule: Rule | None = None
    known_name = Rule.KNOWN_IDENTIFIER in rules and _is_known_name(binding)
    if known_name and probability < _KNOWN_NAME:
        rule, probability = Rule.KNOWN_IDENTIFIER, _KNOWN_NAME
    if Rule.GIVEN_VALUE in rules and probability < _GIVEN and is_given(binding, solved.sources):
        rule, probability = Rule.GIVEN_VALUE, _GIVEN
    if (
        Rule.LONE_RECORD in rules
        and probability < _UNMISTAKABLE
        and not is_operand(binding, derivation, solved.base)
        and is_unmistakable(binding, solved.base, solved.sources, solved.read)
    ):
        rule, probability = Rule.LONE_RECORD, _UNMISTAKABLE
    certain = find_refutation(binding, derivation, solved.base, solved.sources, solved.read)
    if certain is not None and certain.rule not in rules:
        certain = None
    own = None
    if certain is None and Rule.OTHER_RECORD in rules and not _is_worked_out(derivation, binding):
        own = find_own_value(binding, solved.read, solved.base, _count_outputs(solved))
    if own is not None and _has_digits_enough(frame):
        certain = Refutation(Rule.OTHER_RECORD, Cause.OTHER_VALUE, Scored(own, Match.NONE, 0.0, 0.0, 1.0))
    elif own is not None or _is_of_other_row(binding, derivation, solved):
        probability = min(probability, limits.accept - _CERTAIN)
    counted = bool(derivation.hits) and derivation.hits[0].op in (Op.COUNT, Op.LISTED)
    kind = ClaimKind.COUNT if counted else _KINDS.get(frame.mention.value.kind, ClaimKind.NUMBER)
    cause, evidence = (
        _find_contradiction(binding, derivation, solved) if probability < limits.accept else (None, None)
    )
    # What a program over the facts gives, and hardly by accident, is no other value of a field; and "it is
    # not $299" says nothing that the source would have to hold.
    # Every cell is the least or the most of some cells.
    worked_out = derivation.chance < _BY_ACCIDENT and any(
        each.cued or each.op not in (Op.MIN, Op.MAX) for each in derivation.hits
    )
    refuted = cause is not None and not frame.negated and not worked_out
    whole = binding.equal and _OF_A_VALUE.search(solved.read.answer, 0, frame.mention.start)
    refuted = refuted and not whole and not _is_sum_in_record(binding, solved)
    refuted = refuted and not _is_from_task(binding, solved) and not _is_unread(binding, solved)
    if cause is None:
        cause, evidence = _find_support(binding, derivation, solved)
    start, end = frame.mention.start, frame.mention.end
    if cause is Cause.UNKNOWN_IDENTIFIER and not frame.soft and Rule.UNKNOWN_IDENTIFIER in rules:
        rule, probability = Rule.UNKNOWN_IDENTIFIER, min(probability, _CERTAIN)
    if certain is not None:
        rule, probability, refuted = certain.rule, min(probability, _CERTAIN), True
        cause, evidence = certain.cause, build_evidence(certain.rival.fact, solved)
    claim = Claim(frame.text, start, end, kind, Verdict.UNCERTAIN, cause, probability, evidence, rule=rule)
    rests = derivation.hits[0].said if cause is Cause.DERIVED and derivation.hits else ()
    others = {each.text for each in solved.read.frames}
    return _Judged(
        claim, limits.accept, limits.accuse, refuted, tuple(text for text in rests if text in others)
    )


def _count_outputs(solved: Solved) -> int:
    """Return how many sources are outputs: they come first."""
    return sum(source.kind in _OUTPUTS for source in solved.sources)


def _is_of_other_row(binding: Binding, derivation: Derivation, solved: Solved) -> bool:
    """Return whether a value is only worked out from one row of a table, and said of another."""
    operands = derivation.hits[0].operands if derivation.hits and not binding.equal else ()
    if len({fact.record for fact in operands}) != 1 or any(fact.years for fact in operands):
        return False
    return compare_with_subject(operands, binding.frame, solved.read, solved.base) < 0


def _is_worked_out(derivation: Derivation, binding: Binding) -> bool:
    """Return whether a program without the facts that have the value gives it, and hardly by accident."""
    held = {each.fact for each in binding.equal}
    return derivation.chance < _BY_ACCIDENT and any(
        held.isdisjoint(each.operands) for each in derivation.hits
    )


def _has_digits_enough(frame: Frame) -> bool:
    """Return whether a value has so many digits that another row does not have it by accident."""
    return frame.bound is Bound.EXACT and sum(each.isdigit() for each in frame.text) >= _FEWEST_DIGITS


def _apply_own_result(
    judged: _Judged, binding: Binding, derivation: Derivation, stated: Sequence[Binding], solved: Solved
) -> _Judged:
    """Return the claim of a result that the answer's own values give, or that is another than they give."""
    claim, worked = judged.claim, find_worked(binding, stated, solved.read)
    holds = worked is not None and worked.holds
    # A system prompt is full of examples: what it has by chance gives nothing.
    given = any(
        solved.sources[each.fact.source].kind is not SourceKind.SYSTEM
        and (each.match is Match.EXACT or each.fact.value.kind is binding.frame.mention.value.kind)
        for each in binding.equal
    )
    if claim.confidence <= _CERTAIN or (claim.confidence >= judged.accept if holds else given):
        return judged
    evidence = None
    if worked is not None and (holds or _is_surely_other(worked, binding, stated, solved)):
        program = f"{worked.op}({', '.join(worked.said)}) = {worked.value:.10g}"
        evidence = ClaimEvidence(None, program, program, source="answer")
    elif (total := _find_misprinted_total(binding, derivation)) is not None:
        evidence = _build_program_evidence(total, solved)
    if evidence is None:
        return judged
    cause, confidence = (Cause.DERIVED, _UNMISTAKABLE) if holds else (Cause.OTHER_RESULT, _CERTAIN)
    claim = replace(claim, cause=cause, confidence=confidence, evidence=evidence, rule=Rule.OWN_RESULT)
    rests = worked.said if worked is not None and holds else ()
    return replace(judged, claim=claim, refuted=not holds, rests=rests)


def _is_surely_other(worked: Worked, binding: Binding, stated: Sequence[Binding], solved: Solved) -> bool:
    """Return whether outputs bear out all operands, and a total of them is misprinted."""
    operands = [each for each in stated if each.frame.text in worked.said]
    known = all(any(_is_output(found.fact, solved) for found in each.equal) for each in operands)
    return worked.surely and known and (worked.op is not Op.SUM or is_misprint_of(binding.frame, worked.value))  # fmt: skip  # noqa: E501


def _find_misprinted_total(binding: Binding, derivation: Derivation) -> Derived | None:
    """Return the sum of a whole column of which a total is a misprint."""
    frame = binding.frame
    if derivation.hits or frame.bound is not Bound.EXACT or frame.soft or frame.negated:
        return None
    sums = [each for each in derivation.misses if each.op is Op.SUM and each.cued and len(each.operands) > 2]
    return next((each for each in sums if is_misprint_of(frame, each.value)), None)


def _clear_if_written(judged: _Judged, written: frozenset[str]) -> _Judged:
    """Return a claim that only a rule may refute where the agent's own code writes its value."""
    if judged.claim.rule is not None or not find_numbers(judged.claim.text) & written:
        return judged
    return replace(judged, refuted=False)


def _is_from_task(binding: Binding, solved: Solved) -> bool:
    """Return whether the task gives a value: repeating it is no misquote, though an output has another."""
    return any(
        each.match is Match.EXACT and solved.sources[each.fact.source].kind is SourceKind.TASK
        for each in binding.equal
    )


def _is_unread(binding: Binding, solved: Solved) -> bool:
    """Return whether an output writes a number that no record has: reading failed, not the answer."""
    if binding.equal or binding.frame.mention.value.kind not in NUMERIC:
        return False
    said, texts = find_numbers(binding.frame.text), solved.base.texts
    outputs = [place for place, source in enumerate(solved.sources) if source.kind in _OUTPUTS]
    facts = (fact for kind in NUMERIC for fact in solved.base.by_kind[kind])
    return any(said & find_numbers(texts[place]) for place in outputs) and not any(
        said & find_numbers(texts[fact.source][fact.start : fact.end]) for fact in facts
    )


def _is_known_name(binding: Binding) -> bool:
    kind = binding.frame.mention.value.kind
    return any(
        each.match is Match.EXACT and Kind.ID in (kind, each.fact.value.kind) for each in binding.equal
    )


def _judge_relation(settled: Settled, solved: Solved) -> _Judged:
    """Return the claim of a superlative, a comparison or a quantifier that a column decided."""
    shown = settled.own if settled.holds or settled.rival is None else settled.rival
    cause, confidence = (Cause.DERIVED, _KNOWN_NAME) if settled.holds else (Cause.OTHER_RESULT, _CERTAIN)
    if settled.kind in (ClaimKind.NAME, ClaimKind.STATUS):
        cause = Cause.STATED if settled.holds else Cause.OTHER_VALUE
    evidence, rule = build_evidence(shown, solved, settled.program), _RELATION_RULES[settled.kind]
    claim = _make_open_claim(
        solved, (settled.start, settled.end), settled.kind, cause, confidence, evidence, rule
    )
    return _Judged(claim, 0.5, 0.0, not settled.holds)


def _judge_printed(printed: Printed, solved: Solved) -> _Judged:
    """Return the claim of an answer in words that says what was printed last."""
    place, evidence = (printed.start, printed.end), build_evidence(printed.fact, solved)
    rule = Rule.PRINTED_RESULT
    claim = _make_open_claim(solved, place, ClaimKind.NAME, Cause.STATED, _UNMISTAKABLE, evidence, rule)
    return _Judged(claim, 0.5, 0.0, refuted=False)


def _find_support(
    binding: Binding, derivation: Derivation, solved: Solved
) -> tuple[Cause, ClaimEvidence | None]:
    said = [each for each in binding.equal if each.match is not Match.SIDE]
    outputs = [each for each in said if _is_output(each.fact, solved)]
    if outputs:
        return Cause.STATED, build_evidence(
            outputs[0].fact, solved, others=[each.fact for each in outputs[1:]]
        )
    if said:
        # A system prompt is full of examples: what the task or an argument gives comes first.
        given = min(said, key=lambda each: solved.sources[each.fact.source].kind is SourceKind.SYSTEM)
        return Cause.GIVEN, build_evidence(given.fact, solved)
    if derivation.hits:
        return Cause.DERIVED, _build_program_evidence(derivation.hits[0], solved)
    if binding.equal:
        return Cause.STATED, build_evidence(binding.equal[0].fact, solved)
    return Cause.NOT_FOUND, None


def _find_contradiction(
    binding: Binding, derivation: Derivation, solved: Solved
) -> tuple[Cause | None, ClaimEvidence | None]:
    """Return what refutes a claim, the strongest first; None where no other value takes its place."""
    others = [each for each in binding.other if _is_output(each.fact, solved)]
    frame = binding.frame
    if frame.mention.value.kind is Kind.ID:
        like = next((fact for fact in solved.base.by_kind[Kind.ID][:4000] if is_digit_slip(frame.text.lstrip("#").lower(), fact.value.text) and _is_output(fact, solved)), None)  # fmt: skip  # noqa: E501
        if like is not None and not binding.equal:
            return Cause.UNKNOWN_IDENTIFIER, build_evidence(like, solved)
        return None, None
    requested = derivation.requested
    if requested.other is not None and requested.hit is None and requested.other_fit >= _REQUESTED:
        return Cause.OTHER_RESULT, _build_program_evidence(requested.other, solved)
    unit = frame.mention.value.unit
    values = [
        each for each in others if each.fact.role is not Role.HEADER and not _names_value(each.fact, solved)
    ]
    rival = next(iter(sorted(values, key=lambda each: each.fact.value.unit != unit)), None)
    digits = has_same_digits(binding, rival, solved.base) if rival is not None else True
    near = rival is not None and (rival.name + rival.scope > 0.6 or _shares_date(frame, rival))
    if rival is not None and near and not digits:
        return Cause.OTHER_VALUE, build_evidence(rival.fact, solved)
    if derivation.misses and derivation.misses[0].fit > 1.0:
        return Cause.OTHER_RESULT, _build_program_evidence(derivation.misses[0], solved)
    return None, None


def _shares_date(frame: Frame, rival: Scored) -> bool:
    """Return whether two dates differ in one part only."""
    said, known = frame.mention.value.date, rival.fact.value.date
    if said is None or known is None:
        return False
    return sum(one == other for one, other in zip(said, known, strict=True) if one is not None) >= 2


def _is_sum_in_record(binding: Binding, solved: Solved) -> bool:
    """Return whether two numbers of one record give the stated one, as their sum or their difference."""
    said = binding.frame.mention.value
    if said.kind is Kind.TIME and said.time is not None:
        return any(_ends_at(said.time, each.fact, solved) for each in binding.other[:_MOST_TIMES])
    if said.kind not in NUMERIC:
        return False
    amounts: dict[int, set[float]] = {}
    for each in (*binding.other, *binding.operands):
        if _is_output(each.fact, solved) and each.fact.value.kind in NUMERIC:
            cell = solved.base.texts[each.fact.source][slice(*each.fact.cell)]
            amounts.setdefault(each.fact.record, set()).update(map(float, find_numbers(cell)))
    return _is_sum_in_column(binding, solved) or any(
        is_same_number(said.amount, result, said.step / said.factor)
        for found in amounts.values()
        for one, two in combinations(sorted(found), 2)
        for result in (one + two, two - one)
    )


def _is_sum_in_column(binding: Binding, solved: Solved) -> bool:
    """Return whether some values of one field come to the stated one: what the paid claims amount to."""
    said = binding.frame.mention.value
    columns: dict[tuple[str, ...], list[float]] = {}
    for each in binding.other:
        if _is_output(each.fact, solved) and each.fact.path and each.fact.value.kind in NUMERIC:
            columns.setdefault(each.fact.path, []).append(each.fact.value.number * each.fact.factor)
    return any(
        is_same_number(said.number, sum(chosen), said.step)
        for numbers in columns.values()
        if len(numbers) <= _MOST_SUMMED
        for count in range(3, len(numbers) + 1)
        for chosen in combinations(numbers, count)
    )


def _ends_at(said: tuple[int, int, int | None], fact: Fact, solved: Solved) -> bool:
    """Return whether a time of day is a known one and a duration of its record later or earlier."""
    hour, minute, _ = fact.value.time or (0, 0, None)
    spans = [each.value.number for each in solved.base.by_record[fact.record] if each.value.unit == "time"]
    away = (said[0] * 60 + said[1]) - (hour * 60 + minute)
    return fact.value.time is not None and any(abs(span / 60) == abs(away) for span in spans)


def _names_value(fact: Fact, solved: Solved) -> bool:
    """Return whether the answer gives this very field this value, as in `week 19`."""
    written = re.escape(solved.base.texts[fact.source][slice(*fact.cell)].strip())
    names = "|".join(map(re.escape, sorted(fact.words)))
    return (
        bool(names)
        and re.search(rf"(?i)\b(?:{names})s?\W{{1,3}}{written}(?!\w)", solved.read.answer) is not None
    )


def _judge_state(binding: StateBinding, solved: Solved, choice: Choice, rules: frozenset[Rule]) -> _Judged:
    frame = binding.claim.frame
    probability = choice.states.probability(state_features(binding))
    limits = choice.thresholds
    start, end = frame.mention.start, frame.mention.end
    claim = Claim(frame.text, start, end, ClaimKind.STATUS, Verdict.UNCERTAIN, Cause.OPEN, probability)
    said_here = binding.equal is not None and binding.equal_scope >= binding.other_scope
    # "Business: $130" names a field, and the value behind it is another field's.
    said_here = said_here and binding.beside >= 0
    known = said_here and binding.equal_name >= binding.other_name and Rule.KNOWN_STATE in rules
    if known and probability < _KNOWN_STATE:
        probability = _KNOWN_STATE
        claim = replace(claim, confidence=probability, rule=Rule.KNOWN_STATE)
    neighbours = (
        binding.beside < 0 and not frame.soft and not binding.claim.denied and Rule.OTHER_FIELD in rules
    )
    if neighbours:
        probability = min(probability, _CERTAIN)
        claim = replace(claim, confidence=probability, rule=Rule.OTHER_FIELD)
    if binding.is_denied_by_flag and not frame.soft and Rule.FLAG in rules:
        probability = min(probability, _CERTAIN)
        claim = replace(claim, confidence=probability, rule=Rule.FLAG)
    rival = binding.other is not None and probability < limits.accept_state
    refuted = rival or neighbours
    if neighbours and binding.equal is not None:
        # The field that is named has another value than the one behind its name.
        claim = replace(claim, cause=Cause.OTHER_VALUE, evidence=build_evidence(binding.equal, solved))
    elif rival and binding.other is not None:
        cause = Cause.DENIED_STATE if binding.claim.denied else Cause.OTHER_STATE
        claim = replace(claim, cause=cause, evidence=build_evidence(binding.other, solved))
    elif binding.equal is not None:
        cause = Cause.STATED if _is_output(binding.equal, solved) else Cause.GIVEN
        claim = replace(claim, cause=cause, evidence=build_evidence(binding.equal, solved))
    return _Judged(claim, limits.accept_state, limits.accuse_state, refuted)


def _drop_rival_of_other(binding: StateBinding, solved: Solved) -> StateBinding:
    """Return a state's binding without a rival whose record the answer gives that state elsewhere."""
    if binding.equal is None or binding.other is None or not _is_output(binding.equal, solved):
        return binding
    record = _collect_contents(binding.other, solved)
    for each in solved.states:
        said = each is not binding and each.equal is not None and each.equal_scope >= each.other_scope
        if said and each.equal is not None and _collect_contents(each.equal, solved) == record:
            return replace(binding, other=None, other_scope=0.0, other_name=0.0)
    return binding


def _collect_contents(fact: Fact, solved: Solved) -> frozenset[tuple[tuple[str, ...], Value]]:
    """Return what a record holds: that of two outputs which repeat each other is the same."""
    return frozenset((each.path, each.value) for each in solved.base.by_record[fact.record])


def _judge_direction(direction: Direction, judged: Sequence[_Judged], solved: Solved) -> _Judged:
    """Return a direction's claim: settled by its two values where both are borne out."""
    places = {(each.mention.start, each.mention.end) for each in (direction.first, direction.last)}
    values = [each for each in judged if (each.claim.start, each.claim.end) in places]
    borne_out = len(values) == 2 and all(each.claim.cause is Cause.STATED for each in values)
    program = f"{direction.first.text} → {direction.last.text}"
    source = values[-1].claim.evidence if values else None
    evidence = replace(source, text=program, derivation=program) if source is not None else None
    confidence = 0.95 if direction.fits and borne_out else _CERTAIN if borne_out else 0.5
    returned = [each.claim.evidence.output or 0 for each in values if each.claim.evidence is not None]
    # What is said to come first was returned last: which came first is not certain.
    if borne_out and direction.fits and returned[0] > returned[-1]:
        confidence = _BACKWARDS
    cause = Cause.DERIVED if direction.fits else Cause.OTHER_RESULT
    place = direction.start, direction.end
    claim = _make_open_claim(solved, place, ClaimKind.COMPARISON, cause, confidence, evidence, Rule.DIRECTION)
    return _Judged(claim, 0.5, 0.0, borne_out and not direction.fits)


def _build_denial_claim(start: int, end: int, solved: Solved) -> Claim:
    """Return the claim of a denial that no source bears out or refutes."""
    return _make_open_claim(solved, (start, end), ClaimKind.STATUS, Cause.OPEN, 0.5, None, None)


def _make_open_claim(
    solved: Solved,
    place: tuple[int, int],
    kind: ClaimKind,
    cause: Cause,
    confidence: float,
    evidence: ClaimEvidence | None,
    rule: Rule | None,
) -> Claim:
    text = solved.read.answer[slice(*place)]
    return Claim(text, *place, kind, Verdict.UNCERTAIN, cause, confidence, evidence, rule=rule)


def _reports(start: int, solved: Solved) -> bool:
    """Return whether a denial's sentence says that something failed or was not found."""
    low, high = solved.read.sentence_at(solved.read.line_at(start), start)
    sentence = solved.read.answer[low:high]
    return reports_failure(sentence) or reports_nothing(sentence)


def _is_output(fact: Fact, solved: Solved) -> bool:
    return solved.sources[fact.source].kind in _OUTPUTS


def build_evidence(
    fact: Fact, solved: Solved, derivation: str = "", others: Sequence[Fact] = ()
) -> ClaimEvidence:
    """Return a fact as evidence."""
    kind = solved.sources[fact.source].kind
    text = solved.base.texts[fact.source]
    value = text[slice(*fact.cell)]
    further = sorted(
        {each.source for each in others if each.source != fact.source and _is_output(each, solved)}
    )
    shown = f"{'.'.join(part for part in fact.path if part)}: {value}" if any(fact.path) else value
    output = fact.source if kind is SourceKind.OUTPUT else None
    place = fact.start, fact.end, text[fact.start : fact.end]
    return ClaimEvidence(output, shown, derivation, tuple(further), *place, fact.record, str(kind))


def _build_program_evidence(derived: Derived, solved: Solved) -> ClaimEvidence:
    program = derived.program(solved.base)
    if not derived.operands:
        return ClaimEvidence(None, program, program, source="answer")
    return build_evidence(derived.operands[0], solved, program, derived.operands[1:])
