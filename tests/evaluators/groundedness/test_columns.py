"""Facts found by column and value are those that a comparison with every fact finds."""

from __future__ import annotations

import json
import random

from spanproof.evaluators.layers.groundedness.claims.frames import Frame, read_frames
from spanproof.evaluators.layers.groundedness.solve.bind import MAX_SCORED, Binder, Binding, Scored
from spanproof.evaluators.layers.groundedness.solve.match import Match, are_comparable, compare
from spanproof.reading.documents.read import read_facts
from spanproof.reading.records import Fact, FactBase
from spanproof.reading.values import NUMERIC, Kind, is_year

PROMPTS = [0]
SEEDS = 10


def test_a_binding_is_that_of_a_comparison_with_every_fact() -> None:
    compared = 0
    for seed in range(SEEDS):
        base, answer = make_case(random.Random(seed))
        binder = Binder(base, 3, PROMPTS)
        for frame in read_frames(answer, base).frames:
            found, wanted = binder.bind(frame), bind_plainly(binder, frame)
            assert found.compared == wanted.compared, (seed, frame.text)
            assert found.scoped == wanted.scoped, (seed, frame.text)
            for name in ("equal", "other", "operands"):
                assert getattr(found, name) == getattr(wanted, name), (seed, frame.text, name)
            compared += wanted.compared
    assert compared > 5_000, "the cases compare too little"


def bind_plainly(binder: Binder, frame: Frame) -> Binding:
    """Return a frame's binding, from every fact in turn."""
    said, scopes = frame.mention.value, binder.scopes(frame)
    binding = Binding(frame, scoped=bool(scopes))
    for fact in candidates(binder.base, frame):
        match = compare(frame, fact)
        if fact.source in PROMPTS and fact.value.kind is not said.kind:
            continue
        is_operand = match is Match.NONE and not are_comparable(said, fact.value)
        if is_operand and said.kind is not Kind.PERCENT:
            continue
        if match is Match.NONE and is_year(fact.value) and not is_year(said):
            continue
        year = 0
        if frame.years and fact.years:
            year = 1 if frame.years & fact.years else -1
        scope = binder.scope(fact.record, scopes)
        scored = Scored(fact, match, *binder.naming(fact.words, frame), scope, year)
        if is_operand:
            binding.operands.append(scored)
            continue
        binding.compared += 1
        (binding.other if match is Match.NONE else binding.equal).append(scored)
    binding.equal.sort(key=lambda each: (-each.total - 0.5 * each.match.value, each.fact.source))
    binding.other.sort(key=lambda each: -each.total)
    binding.operands.sort(key=lambda each: -each.total)
    del binding.equal[12:], binding.other[40:], binding.operands[40:]
    return binding


def candidates(base: FactBase, frame: Frame) -> list[Fact]:
    """Return all facts that a frame could mean."""
    value = frame.mention.value
    if value.kind not in NUMERIC:
        return base.by_kind[value.kind][:MAX_SCORED]
    kinds = (Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.QUANTITY)
    found = [fact for kind in kinds for fact in base.by_kind[kind]]
    if value.kind is Kind.NUMBER and value.step == 1:
        found += base.by_kind[Kind.DATE]
        found += [fact for _, fact in base.by_text.get(f"#{frame.text.lstrip('#').lower()}", ())]
    return found[:MAX_SCORED]


def make_case(chance: random.Random) -> tuple[FactBase, str]:
    """Return sources in several notations, and an answer that repeats, rounds and misquotes them."""
    rows = [
        {
            "order": f"A-{1000 + row}",
            "item": chance.choice(["tea", "rice", "salt", "oil"]) + chance.choice(["", " box", f"-{row}"]),
            "amount_cents": chance.randrange(-500, 90_000),
            "price": f"${chance.uniform(0, 3000):.2f}",
            "share": f"{chance.uniform(-5, 120):.1f}%",
            "weight": f"{chance.randrange(1, 4000)} g",
            "year": chance.choice([1999, 2023, 2024, 2100]),
            "due": f"2024-0{chance.randrange(1, 9)}-1{chance.randrange(9)}",
            "big": f"{chance.uniform(1, 9):.2f} million",
            "european": f"1.{chance.randrange(100, 999)}",
            "nested": {"count": chance.randrange(60), "rate": chance.random()},
        }
        for row in range(chance.randrange(1, 40))
    ]
    table = "| region | 2023 | 2024 (in thousands) |\n|---|---|---|\n" + "\n".join(
        f"| area {number} | {chance.randrange(9000)} | {chance.uniform(0, 900):.1f} |" for number in range(12)
    )
    prompt = "Answer briefly. For example: 54 people paid $45.10 on 2024-03-11, 12.5% more than in 2023."
    base = read_facts(
        [prompt, json.dumps(rows), table, "Total: 4711 orders, of which 38.5 % were late at 19:45."]
    )
    lines = []
    for row in chance.sample(rows, min(6, len(rows))):
        cents, nested = row["amount_cents"], row["nested"]
        assert isinstance(cents, int)
        assert isinstance(nested, dict)
        lines += [
            f"Order {row['order']} of {row['item']} costs {chance.choice([cents, cents + 1, cents / 100])}.",
            f"It has a price of {row['price']} and a share of about {row['share']}.",
            f"Its weight is {chance.choice(['over', 'under', ''])} {row['weight']}; it is due {row['due']}.",
            f"In {row['year']} the big one came to {row['big']}, the count to {nested['count']}.",
            f"Its rate is {nested['rate']:.2f} or {nested['rate'] * 100:.1f}%.",
        ]
    lines += [
        f"Area 3 had {chance.randrange(9000)} in 2023 and {chance.uniform(0, 900):.1f} thousand in 2024."
    ]
    return base, " ".join(
        [*lines, "In total 4,711 orders, less than 40 % late, at 7:45 pm. Order #1003 is one."]
    )
