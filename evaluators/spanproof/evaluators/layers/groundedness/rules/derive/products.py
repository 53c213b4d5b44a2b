"""Products: a count times a price, in one row, over a table, or with a number the task gives."""

from __future__ import annotations

from spanproof.evaluators.layers.groundedness.language.units import Dimension
from spanproof.evaluators.layers.groundedness.outputs.facts import Fact
from spanproof.evaluators.layers.groundedness.rules.derive.search import (
    Derived,
    Search,
    agrees,
    fits_operand,
    operands,
    scaled_value,
)
from spanproof.evaluators.layers.groundedness.rules.matching import fits, number_text


def given_products(search: Search) -> Derived | None:
    """A price times a number the task or the answer gives: "8 chairs come to $1,720"."""
    if search.quantity.dimension is not Dimension.MONEY:
        return None
    for fact in operands(search):
        if fact.weak or fact.counted or not agrees(search, fact):
            continue
        for count in search.given:
            value = count * scaled_value(fact)
            if count > 1 and fits_operand(search, value, fact):
                text = f"{number_text(count)} × {number_text(scaled_value(fact))} = {number_text(value)}"
                return Derived(text, (fact,), value)
    return None


def conversions(search: Search) -> Derived | None:
    """An amount the task or the answer gives, at the rate that stands under the other currency's code."""
    unit = search.quantity.unit
    code = (unit.currency or "").lower() if unit is not None else ""
    for fact in operands(search) if code else ():
        if fact.weak or code not in fact.words or not fact.number:
            continue
        for amount in search.amounts:
            for value, sign in ((amount * fact.number, "×"), (amount / fact.number, "/")):
                if fits(search.quantity, value):
                    text = f"{number_text(amount)} {sign} {number_text(fact.number)} = {number_text(value)}"
                    return Derived(text, (fact,), value)
    return None


def _what_it_is_for(price: Fact, row: list[Fact]) -> list[Fact]:
    """What a value per something is told for: of `tariff_per_kwh` the values in kWh."""
    if "per" not in price.key[1:]:
        return []
    base = frozenset(price.key[price.key.index("per") + 1 :])
    return [
        fact
        for fact in row
        if fact is not price
        and (not base.isdisjoint(fact.key) or (fact.unit is not None and fact.unit.name in base))
    ]


def products(search: Search) -> Derived | None:
    """A count times a price, in one row or over a whole table."""
    rows: dict[tuple[int, int, int], list[Fact]] = {}
    for fact in operands(search):
        if not fact.weak:
            rows.setdefault((fact.output, fact.records, fact.row), []).append(fact)
    overall: dict[int, float] = {}
    for (_, records, _row), facts in rows.items():
        counts = [fact for fact in facts if fact.counted or fact.dimension is Dimension.TIME]
        prices = [fact for fact in facts if fact.money or fact.dimension is Dimension.MONEY]
        for count in counts:
            for price in prices:
                value = (count.number or 0.0) * scaled_value(price)
                if agrees(search, price) and fits_operand(search, value, price):
                    text = (
                        f"{number_text(count.number or 0)} × {number_text(scaled_value(price))} ="
                        f" {number_text(value)}"
                    )
                    return Derived(text, (count, price), value)
        if records >= 0 and len(counts) == len(prices) == 1:
            overall[records] = overall.get(records, 0.0) + (counts[0].number or 0.0) * scaled_value(prices[0])
        for price in facts:
            for of in _what_it_is_for(price, facts):
                value = (of.number or 0.0) * scaled_value(price)
                if fits_operand(search, value, price):
                    terms = f"{number_text(of.number or 0)} × {number_text(scaled_value(price))}"
                    return Derived(f"{terms} = {number_text(value)}", (of, price), value)
    for records, value in overall.items():
        if fits(search.quantity, value):
            return Derived(
                f"sum of products over {search.facts.records[records].rows} rows = {number_text(value)}",
                (),
                value,
            )
    return None
