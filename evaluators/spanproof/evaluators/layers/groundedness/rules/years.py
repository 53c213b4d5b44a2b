"""Digits that are no value: years, and numbers that are part of a name ("fare class 1")."""

from __future__ import annotations

import re

from spanproof.evaluators.layers.groundedness.language.quantities import Quantity
from spanproof.evaluators.layers.groundedness.language.words import canonical
from spanproof.evaluators.layers.groundedness.model import Claim, Verdict
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.asked import Asked
from spanproof.evaluators.layers.groundedness.rules.binding import Binding, evidence_of
from spanproof.evaluators.layers.groundedness.rules.naming import named_instead, told_instead

_YEAR_BEFORE = re.compile(
    r"\b(?:in|of|for|since|from|to|until|till|year|fy|by|during|and|between|after|before|through)\s+$",
    re.IGNORECASE,
)

_YEAR = re.compile(r"(?:19|20)\d\d$")


def is_part_of_a_name(quantity: Quantity, binding: Binding) -> bool:
    """Whether the digits are words of a key and no value of their own: "fare class 1", "mar 2019"."""
    if binding.is_in_a_row_name(quantity.start, quantity.end):
        return True
    written = quantity.text.split()[0] if quantity.text else ""
    if quantity.unit is not None and not _is_named_with_its_unit(quantity, binding):
        return False
    if quantity.decimals or quantity.value < 0 or quantity.spelled:
        return False
    word = re.search(r"(\w+)\s+$", binding.answer.text[max(0, quantity.start - 30) : quantity.start])
    if word is not None and word[1].lower() + written in binding.vocabulary:
        return True
    if written not in binding.vocabulary:
        return False
    return not any(fact.number == quantity.value for fact in binding.numbers)


def _is_named_with_its_unit(quantity: Quantity, binding: Binding) -> bool:
    """Whether what looks like a unit is the next word of a key: "income 2018 percentage"."""
    number, _, unit = quantity.text.partition(" ")
    if not unit or number not in binding.vocabulary:
        return False
    return canonical(unit) in binding.vocabulary or any(
        fact.unit is not None and fact.unit == quantity.unit and number in fact.words
        for fact in binding.numbers
    )


def is_year(quantity: Quantity, before: str) -> bool:
    """Whether a bare number of four digits stands where a year stands."""
    plain = (
        quantity.unit is None
        and quantity.decimals == 0
        and len(quantity.text) == 4
        and quantity.text.isdigit()
    )
    return plain and 1900 <= quantity.value <= 2100 and _YEAR_BEFORE.search(before) is not None


def year_claim(asked: Asked) -> Claim:
    """The claim that something was in a year."""
    year, binding = int(asked.quantity.value), asked.binding
    rival = _another_rows(year, asked)
    if rival is not None:
        reason = f"`{rival.text}` is what the outputs say of it"
        return asked.claim(Verdict.UNCERTAIN, reason, evidence_of(rival))
    if str(year) in binding.vocabulary or str(year) in binding.task:
        return asked.claim(Verdict.GROUNDED, "the outputs or the task name this year")
    for fact in binding.facts.facts:
        if (
            fact.number == year
            or (fact.day and fact.day.year == year)
            or (fact.string and str(year) in fact.string)
        ):
            return asked.claim(Verdict.GROUNDED, "an output says so", evidence_of(fact))
    if any(str(year) in text for text in binding.facts.texts):
        return asked.claim(Verdict.GROUNDED, "an output names this year")
    if any(fact.day is not None for fact in binding.facts.facts) or any(
        _YEAR.match(word) for word in binding.vocabulary
    ):
        return asked.claim(Verdict.CONTRADICTED, f"no date in the outputs is in {year}")
    return asked.claim(Verdict.UNCERTAIN, "the outputs hold no dates to compare it with")


def _another_clauses(year: int, told: list[Fact], asked: Asked) -> Fact | None:
    """The year that prose tells of what the words name, where it tells this one of something else."""
    mine = [fact for fact in told if fact.number == year]
    rivals = [
        [rival for rival in told if rival.number != year and told_instead(rival, fact, asked.stated.words)]
        for fact in mine
    ]
    return rivals[0][0] if rivals and all(rivals) else None


def _another_rows(year: int, asked: Asked) -> Fact | None:
    """The fact of the row the words name, where every fact of this year is another row's."""
    told = [
        fact
        for fact in asked.binding.numbers
        if fact.weak and fact.number and _YEAR.match(f"{fact.number:g}")
    ]
    if told:
        return _another_clauses(year, told, asked)
    years = [fact for fact in asked.binding.numbers if not fact.weak and fact.number and fact.records >= 0]
    mine = [fact for fact in years if fact.number == year]
    rivals: list[Fact] = []
    beside = {int(each.what.value) for each in asked.binding.answer.stated if isinstance(each.what, Quantity)}
    for fact in mine:
        rivals = [
            rival
            for rival in years
            if rival.key == fact.key
            and rival.number not in beside
            and named_instead(rival, fact, asked.stated.words)
        ]
        if not rivals:
            return None
    return rivals[0] if mine else None
