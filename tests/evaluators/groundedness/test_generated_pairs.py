"""Pairs made by the hundred: statistics under compound names, told faithfully and in four wrong ways."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from spanproof.evaluators.layers.groundedness import Verdict, ground

MEASURES = [
    "mean",
    "median",
    "std_dev",
    "variance",
    "min",
    "max",
    "count",
    "skewness",
    "iqr",
    "range",
    "percentage",
    "total_number_of",
]
COLUMNS = [
    "age",
    "fare",
    "close_price",
    "BMI",
    "wind_speed",
    "humidity",
    "GDP_per_capita",
    "tripDuration",
    "score_math",
    "MedIncome",
]
GROUPS = [
    "male",
    "female",
    "class1",
    "class2",
    "2018",
    "2019",
    "before",
    "after",
    "with_outliers",
    "without_outliers",
    "Q1",
    "Q2",
    "not_churned",
]
SINGLE = [
    "p_value",
    "correlation_coefficient",
    "r_squared",
    "rmse",
    "f1_score",
    "t_statistic",
    "outliers_count",
    "slope",
]
PAIRS = 400


class Maker:
    """Makes outputs and answers from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def facts(self) -> dict[str, float]:
        found: dict[str, float] = {}
        while len(found) < 2 + self.chance.randrange(5):
            found[self._key()] = self._value()
        return found

    def output(self, facts: dict[str, float]) -> str:
        form = self.chance.choice(("lines", "json", "repr"))
        if form == "json":
            return json.dumps(facts)
        return repr(facts) if form == "repr" else "\n".join(f"{key}: {value}" for key, value in facts.items())

    def written(self, value: float) -> str:
        decimals = self.chance.choice((2, 2, 3, 4))
        return f"{value:,.{decimals}f}" if self.chance.random() < 0.3 else f"{value:.{decimals}f}"

    def _key(self) -> str:
        pick = self.chance.choice
        if self.chance.random() < 0.3:
            return pick(SINGLE)
        return "_".join((pick(MEASURES), pick(COLUMNS), pick(GROUPS))[: self.chance.choice((2, 3))])

    def _value(self) -> float:
        return round(self.chance.choice((1, 1, -1)) * 10 ** self.chance.uniform(-0.5, 5), 6)


def said(key: str, written: str) -> str:
    return f"the {key.replace('_', ' ')} is {written}"


def verdicts(kind: str) -> Counter[Verdict]:
    maker, counted = Maker(7), Counter()
    while counted.total() < PAIRS:
        facts = maker.facts()
        (one, value), (other, second) = maker.chance.sample(sorted(facts.items()), 2)
        written, beside = maker.written(value), maker.written(second)
        if abs(value - second) < 1:
            continue
        if kind == "faithful":
            claims = [said(one, written), said(other, beside)]
        elif kind == "swap":
            claims = [said(one, beside), said(other, written)]
        elif kind == "sign":
            claims = [said(one, written[1:] if value < 0 else f"-{written}")]
        else:
            place = maker.chance.choice(
                [at for at, letter in enumerate(written) if letter in "12345678"] or [-1]
            )
            claims = [said(one, written[:place] + str(int(written[place]) + 1) + written[place + 1 :])]
        answer = " and ".join(claims).capitalize() + "."
        counted[ground([maker.output(facts)], answer).verdict] += 1
    return counted


@pytest.mark.parametrize(
    ("kind", "verdict", "share"),
    [
        ("faithful", Verdict.GROUNDED, 0.97),
        ("digit", Verdict.CONTRADICTED, 0.95),
        ("sign", Verdict.CONTRADICTED, 0.86),
        ("swap", Verdict.UNCERTAIN, 0.95),
    ],
)
def test_generated_answers_are_told_apart(kind, verdict, share):
    counted = verdicts(kind)
    assert counted[verdict] >= share * PAIRS, counted
