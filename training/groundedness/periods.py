"""Made answers about made tables whose columns are years: cells, means, changes, ratios and sums of rows.

What records of agents seldom have: an operation that the words name, whose result no cell holds. Wrong
answers state another year's cell, a neighbour's, an operand, the other sign, another scale or a wrong digit.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from data import Row

_LABELS = (
    "Rent", "Wages", "Energy", "Licence fees", "Marketing", "Travel and lodging", "Repairs",
    "Insurance premiums", "Ticket sales", "Membership dues", "Grants received", "Catering", "Freight",
    "Consulting", "Training costs", "Office supplies", "Water and waste", "Vehicle leases", "Web hosting",
    "Seasonal staff", "Northern region", "Southern region", "Bicycles", "Spare parts", "Workshops",
    "Total income", "Total spending", "Net surplus", "Deferred donations", "Storage rental", "Visitors",
    "Unpaid invoices",
)  # fmt: skip
_SCALES = (("in thousands", "thousand"), ("in millions", "million"), ("", ""), ("", ""))


@dataclass(frozen=True)
class _Statement:
    """A sentence up to its value, the question it answers, the value, and values that would be wrong."""

    words: str
    question: str
    value: float
    wrong: dict[str, float]
    percent: bool = False
    places: int = 0


def _numeral(value: float, places: int) -> str:
    return f"{value:,.{places}f}"


def _statements(rows: dict[str, dict[int, float]], places: int, draw: random.Random) -> list[_Statement]:
    """Return what can be said of two rows of a table in two or three of its years."""
    one, two = draw.sample(list(rows), 2)
    years = sorted(next(iter(rows.values())))
    low, high = sorted(draw.sample(years, 2))
    name, other = one[:1].lower() + one[1:], two[:1].lower() + two[1:]
    a, b, c = rows[one][low], rows[one][high], rows[two][high]
    cells = {"operand": b, "column": a}
    mean = sum(rows[one].values()) / len(years)
    span = draw.choice(
        (f"from {low} to {high}", f"between {low} and {high}", f"in {high} compared with {low}")
    )
    both = draw.choice((f"in {low} and {high}", f"for {low} and {high}", f"of the years {low} and {high}"))
    found = [
        _Statement(f"The {name} in {high} came to ", f"How much was the {name} in {high}?", b, {"column": a, "row": c, "sign": -b}, places=places),  # noqa: E501
        _Statement(f"{one} for {high}: ", f"{one} {high}?", b, {"column": a, "row": c}, places=places),
        _Statement(f"The average {name} {both} was ", f"What was the average {name} {both}?", (a + b) / 2, cells | {"row": c, "sign": -(a + b) / 2}, places=places + 1),  # noqa: E501
        _Statement(f"The change in {name} {span} was ", f"What was the change in {name} {span}?", b - a, cells | {"sign": a - b, "row": c - a}, places=places),  # noqa: E501
        _Statement(f"The percentage change in {name} {span} was ", f"By how many percent did {name} change {span}?", (b - a) / a * 100, {"sign": (a - b) / a * 100, "operand": b / a * 100, "row": (c - a) / a * 100}, percent=True, places=2),  # noqa: E501
        _Statement(f"The sum of {name} and {other} in {high} was ", f"What was the sum of {name} and {other} in {high}?", b + c, {"operand": c, "sign": -b - c, "column": a + c}, places=places),  # noqa: E501
        _Statement(f"The ratio of {name} to {other} in {high} was ", f"What was the ratio of {name} to {other} in {high}?", b / c, {"operand": b, "sign": -b / c, "row": c / b}, places=2),  # noqa: E501
        _Statement(f"The difference between {name} and {other} in {high} was ", f"What separates {name} and {other} in {high}?", b - c, {"operand": b, "row": a - c}, places=places),  # noqa: E501
    ]  # fmt: skip
    if len(years) > 2:
        found.append(_Statement(f"The average {name} over {years[0]} to {years[-1]} was ", f"What was the average {name} over {years[0]} to {years[-1]}?", mean, cells | {"sign": -mean}, places=places + 1))  # fmt: skip  # noqa: E501
    return found


def _table(rows: dict[str, dict[int, float]], scale: str, places: int, draw: random.Random) -> str:
    years = sorted(next(iter(rows.values())), reverse=draw.random() < 0.7)
    lines = [[scale and f"({scale})", *map(str, years)]]
    money = draw.choice(("", "$", "€ "))
    for place, (label, cells) in enumerate(rows.items()):
        shown = []
        for year in years:
            numeral = _numeral(abs(cells[year]), places)
            sign = money if place == 0 else ""
            shown.append(f"({sign}{numeral})" if cells[year] < 0 else f"{sign}{numeral}")
        lines.append([label, *shown])
    if draw.random() < 0.5:
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join("\t".join(line) for line in lines)


def generate_periods(families: int, seed: int = 17) -> list[Row]:
    """Return families of rows: a right statement about a table, and up to three wrong ones."""
    found: list[Row] = []
    for number in range(families):
        draw = random.Random(seed * 100_003 + number)  # noqa: S311
        years = range(draw.randint(2009, 2020), 2030)[: draw.randint(2, 3)]
        places = draw.choice((0, 0, 1, 2))
        size = draw.choice((90, 900, 9000, 90000))
        rows = {
            label: {
                year: round(draw.uniform(0.1, 1.0) * size, places) * (-1 if draw.random() < 0.07 else 1)
                for year in years
            }
            for label in draw.sample(_LABELS, draw.randint(3, 9))
        }
        if not all(value for cells in rows.values() for value in cells.values()):
            continue
        scale, word = draw.choice(_SCALES)
        table = _table(rows, scale, places, draw)
        statement = draw.choice(_statements(rows, places, draw))
        in_scale = bool(word) and not statement.percent and "ratio" not in statement.words
        unit = "%" if statement.percent else f" {word}" if in_scale and draw.random() < 0.8 else ""
        short = draw.random() < 0.25
        begin = "" if short else statement.words
        family = f"periods-{number}"

        def row(
            kind: str, numeral: str, unit: str = unit, begin: str = begin, family: str = family,
            table: str = table, task: str = statement.question if short or draw.random() < 0.6 else "",
        ) -> Row:  # fmt: skip
            answer = f"{begin}{numeral}{unit}."
            wrong = () if kind == "clean" else ((len(begin), len(begin) + len(numeral) + len(unit)),)
            label = "grounded" if kind == "clean" else "contradicted"
            return Row(
                "periods", f"{family}-{kind}", family, label, kind, (table,), answer, task, wrong=wrong
            )

        right = _numeral(statement.value, statement.places)
        wrong = {kind: _numeral(value, statement.places) for kind, value in statement.wrong.items()}
        places_of = [place for place, character in enumerate(right) if character.isdigit()]
        at = draw.choice(places_of)
        wrong["digit"] = (
            right[:at] + draw.choice([d for d in "123456789" if d != right[at]]) + right[at + 1 :]
        )
        changed = [row(kind, numeral) for kind, numeral in wrong.items() if numeral.strip("-") != right.strip("-") or kind == "sign"]  # fmt: skip  # noqa: E501
        changed = [each for each in changed if each.kind != "sign" or "change" not in begin or abs(statement.value) > 0]  # fmt: skip  # noqa: E501
        if word and in_scale and unit:
            changed.append(row("scale", right, " billion" if draw.random() < 0.5 else " million" if word == "thousand" else " thousand"))  # fmt: skip  # noqa: E501
        found += [row("clean", right), *draw.sample(changed, min(3, len(changed)))]
    return found


if __name__ == "__main__":
    for made in generate_periods(6):
        print(made.kind, made.task, made.answer, made.outputs, sep="\n", end="\n\n")
