"""Make pairs of outputs and answers, faithful and corrupted in twelve ways, from templates and a seed.

Usage: python tests/bench/groundedness_pairs.py > PAIRS.jsonl
       python tests/bench/groundedness.py PAIRS.jsonl

Each line is {"out", "ans", "label", "kind", "q"}; 700 in all, half of them faithful. The templates were
written before any of them was judged, and none was changed for its verdict.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

EACH = 5
"""Faithful and corrupted pairs of each template."""

THINGS = ("kettle", "lamp", "desk", "router", "heater", "printer")
CITIES = ("Oslo", "Bergen", "Turin", "Porto", "Lyon", "Graz")
STATES = ("pending", "completed", "failed", "cancelled", "shipped")
MONTHS = ("January", "March", "May", "July", "September", "November")
Made = tuple[Any, str, str]


def main() -> None:
    """Write the pairs."""
    for pair in pairs(20261121):
        print(json.dumps(pair, ensure_ascii=False))


def pairs(seed: int) -> list[dict[str, Any]]:
    """Every template's pairs: output, faithful answer, corrupted answer."""
    chance, found = random.Random(seed), []
    for kind, templates in TEMPLATES.items():
        for place, template in enumerate(templates):
            for _ in range(EACH):
                out, right, wrong = template(chance)
                text = out if isinstance(out, str) else json.dumps(out)
                common = {"out": text, "q": "", "dom": f"{kind} {place}"}
                found.append({**common, "ans": right, "label": 1, "kind": "faithful"})
                found.append({**common, "ans": wrong, "label": 0, "kind": kind})
    return found


def money(chance: random.Random) -> float:
    """An amount with cents."""
    return round(chance.uniform(12, 900), 2) + 0.01


def flipped(value: float, chance: random.Random) -> float:
    """The value with its first digit changed."""
    text = f"{value:.2f}"
    return float(str((int(text[0]) % 8) + 1 + (int(text[0]) % 8 + 1 == int(text[0]))) + text[1:])


def two(chance: random.Random) -> tuple[str, str]:
    """Two things."""
    one, other = chance.sample(THINGS, 2)
    return one, other


def digit_price(chance: random.Random) -> Made:
    thing, price = chance.choice(THINGS), money(chance)
    return (
        {"item": thing, "price": price},
        f"The {thing} costs ${price:.2f}.",
        f"The {thing} costs ${flipped(price, chance):.2f}.",
    )


def digit_line(chance: random.Random) -> Made:
    count = chance.randrange(1_000, 9_000)
    return (
        f"visitors: {count}\nbounces: {count // 3}",
        f"There were {count:,} visitors.",
        f"There were {count + 110:,} visitors.",
    )


def digit_csv(chance: random.Random) -> Made:
    one, other = two(chance)
    a, b = chance.randrange(20, 500), chance.randrange(501, 900)
    return (
        f"item,stock\n{one},{a}\n{other},{b}\n",
        f"We have {a} of the {one} in stock.",
        f"We have {a + 9} of the {one} in stock.",
    )


def magnitude_cents(chance: random.Random) -> Made:
    cents = chance.randrange(10_000, 90_000)
    return (
        {"balance_cents": cents},
        f"Your balance is ${cents / 100:,.2f}.",
        f"Your balance is ${cents:,.2f}.",
    )


def magnitude_scale(chance: random.Random) -> Made:
    value = round(chance.uniform(1.2, 9.8), 1)
    return {"revenue": round(value * 1e6)}, f"Revenue was {value} million.", f"Revenue was {value} billion."


def sign_change(chance: random.Random) -> Made:
    value = round(chance.uniform(1, 40), 1)
    return {"profit_change_pct": -value}, f"Profit changed by -{value}%.", f"Profit changed by +{value}%."


def sign_temperature(chance: random.Random) -> Made:
    city, value = chance.choice(CITIES), chance.randrange(2, 25)
    return (
        {"city": city, "temperature_c": -value},
        f"It is -{value} °C in {city}.",
        f"It is {value} °C in {city}.",
    )


def count_rows(chance: random.Random) -> Made:
    rows = [{"order": f"o-{n}", "total": money(chance)} for n in range(chance.randrange(3, 9))]
    return rows, f"There are {len(rows)} orders.", f"There are {len(rows) + 2} orders."


def count_list(chance: random.Random) -> Made:
    cities = chance.sample(CITIES, chance.randrange(2, 5))
    return {"cities": cities}, f"{len(cities)} cities were found.", f"{len(cities) + 3} cities were found."


def derived_sum(chance: random.Random) -> Made:
    one, other = two(chance)
    a, b = chance.randrange(20, 400), chance.randrange(20, 400)
    return (
        [{"item": one, "qty": a}, {"item": other, "qty": b}],
        f"The total quantity is {a + b}.",
        f"The total quantity is {a + b + 13}.",
    )


def derived_percent(chance: random.Random) -> Made:
    before, after = chance.randrange(100, 400), chance.randrange(401, 900)
    grown = (after - before) / before * 100
    return (
        {"sales_2024": before, "sales_2025": after},
        f"Sales grew by {grown:.1f}%.",
        f"Sales grew by {grown + 7:.1f}%.",
    )


def derived_mean(chance: random.Random) -> Made:
    scores = [chance.randrange(10, 99) for _ in range(4)]
    mean = sum(scores) / 4
    return {"scores": scores}, f"The average score is {mean:.2f}.", f"The average score is {mean + 3.5:.2f}."


def drift_stock(chance: random.Random) -> Made:
    early, late = chance.sample(range(5, 90), 2)
    return (
        {"stock_before": early, "stock_now": late},
        f"The stock is now {late}.",
        f"The stock is now {early}.",
    )


def date_iso(chance: random.Random) -> Made:
    month, day = chance.randrange(6), chance.randrange(3, 25)
    iso = f"2026-{month * 2 + 1:02}-{day:02}"
    return (
        {"delivery_date": iso},
        f"It arrives on {MONTHS[month]} {day}, 2026.",
        f"It arrives on {MONTHS[month]} {day + 2}, 2026.",
    )


def date_month(chance: random.Random) -> Made:
    month, other = chance.sample(range(6), 2)
    day = chance.randrange(1, 28)
    return (
        f"due: 2026-{month * 2 + 1:02}-{day:02}",
        f"It is due on {day} {MONTHS[month]}.",
        f"It is due on {day} {MONTHS[other]}.",
    )


def enum_state(chance: random.Random) -> Made:
    right, wrong = chance.sample(STATES[:4], 2)
    return {"order": "A-17", "status": right}, f"Your order is {right}.", f"Your order is {wrong}."


def enum_flag(chance: random.Random) -> Made:
    on = chance.random() < 0.5
    words = ("enabled", "disabled") if on else ("disabled", "enabled")
    return (
        {"account": chance.randrange(99), "enabled": on},
        f"The account is {words[0]}.",
        f"The account is {words[1]}.",
    )


def swap_items(chance: random.Random) -> Made:
    one, other = two(chance)
    a, b = money(chance), money(chance) + 1000
    return (
        {one: a, other: b},
        f"The {one} costs ${a:.2f} and the {other} ${b:.2f}.",
        f"The {one} costs ${b:.2f} and the {other} ${a:.2f}.",
    )


def swap_columns(chance: random.Random) -> Made:
    thing, price, stock = chance.choice(THINGS), chance.randrange(20, 90), chance.randrange(100, 900)
    table = f"| item | price | stock |\n|---|---|---|\n| {thing} | {price} | {stock} |"
    return (
        table,
        f"The {thing} has a price of {price} and a stock of {stock}.",
        f"The {thing} has a price of {stock} and a stock of {price}.",
    )


def swap_cities(chance: random.Random) -> Made:
    one, other = chance.sample(CITIES, 2)
    a, b = chance.sample(range(2, 35), 2)
    out = [{"city": one, "degrees": a}, {"city": other, "degrees": b}]
    return (
        out,
        f"It is {a} degrees in {one} and {b} in {other}.",
        f"It is {b} degrees in {one} and {a} in {other}.",
    )


def unit_time(chance: random.Random) -> Made:
    value = chance.randrange(120, 950)
    return {"latency_ms": value}, f"The latency is {value} ms.", f"The latency is {value} seconds."


def unit_bytes(chance: random.Random) -> Made:
    value = round(chance.uniform(2, 90), 1)
    return {"size_bytes": round(value * 1e6)}, f"The file has {value} MB.", f"The file has {value} GB."


def unit_currency(chance: random.Random) -> Made:
    value = money(chance)
    return {"total_eur": value}, f"The total is €{value:.2f}.", f"The total is ${value:.2f}."


def direction_change(chance: random.Random) -> Made:
    before, after = chance.sample(range(100, 900), 2)
    right, wrong = ("rose", "fell") if after > before else ("fell", "rose")
    return (
        {"price_2024": before, "price_2025": after},
        f"The price {right} from {before} to {after}.",
        f"The price {wrong} from {before} to {after}.",
    )


def direction_compare(chance: random.Random) -> Made:
    one, other = two(chance)
    a, b = chance.sample(range(20, 900), 2)
    right, wrong = ("more", "less") if a > b else ("less", "more")
    return (
        {f"{one}_price": a, f"{other}_price": b},
        f"The {one} costs {right} than the {other}: {a} against {b}.",
        f"The {one} costs {wrong} than the {other}: {a} against {b}.",
    )


def prior_limit(chance: random.Random) -> Made:
    left = chance.randrange(3, 40)
    return {"days_left": left}, f"You have {left} days left.", f"You have {left} of 365 days left."


def prior_city(chance: random.Random) -> Made:
    people = chance.randrange(200_000, 900_000)
    return (
        {"population": people},
        f"The population is {people:,}.",
        f"The population is {people:,}, in an area of {chance.randrange(100, 900)} km².",
    )


TEMPLATES: dict[str, tuple[Callable[[random.Random], Made], ...]] = {
    "digit_flip": (digit_price, digit_line, digit_csv, digit_price, digit_line, digit_csv),
    "magnitude": (magnitude_cents, magnitude_scale) * 3,
    "sign": (sign_change, sign_temperature) * 3,
    "count_wrong": (count_rows, count_list) * 3,
    "derived_wrong": (derived_sum, derived_percent, derived_mean) * 2,
    "drift": (drift_stock,) * 4,
    "date_shift": (date_iso, date_month) * 3,
    "enum": (enum_state, enum_flag) * 3,
    "swap": (swap_items, swap_columns, swap_cities) * 2,
    "unit": (unit_time, unit_bytes, unit_currency) * 2,
    "direction": (direction_change, direction_compare) * 3,
    "prior_knowledge": (prior_limit, prior_city) * 3,
}

if __name__ == "__main__":
    main()
