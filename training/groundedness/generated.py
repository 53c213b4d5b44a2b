"""Made answers about made records: what agents list, sum up and repeat, and the same with one thing changed.

Truth sets of tables have one claim a row. Answers of agents list several records with many values each, name
some of them in headings, and leave others out: without such rows a model takes every rival in a neighbouring
record for an error. Nothing is taken from a truth set.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field, replace
from typing import Any

from data import Row

_DOMAINS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("product", "products", "SKU{}", ("Desk Mat", "Coffee Grinder", "Rain Jacket", "Trail Shoes", "Notebook", "Lantern", "Wall Clock", "Blender", "Camping Stove", "Headset")),  # noqa: E501
    ("ticket", "tickets", "T-{}", ("Login loop", "Broken export", "Slow search", "Missing invoice", "Wrong currency", "Empty report", "Lost session", "Bad redirect")),  # noqa: E501
    ("server", "servers", "srv{}", ("Lisbon", "Oslo", "Dublin", "Turin", "Ghent", "Porto", "Malmo", "Bern")),
    ("booking", "bookings", "BK{}", ("Harbour Inn", "Villa Rosa", "Park Hotel", "The Mill", "Sea View", "Old Town Suites", "Lakeside Lodge")),  # noqa: E501
    ("shipment", "shipments", "#S{}", ("Rotterdam", "Gdansk", "Trieste", "Bilbao", "Aarhus", "Cork", "Piraeus", "Leixoes")),  # noqa: E501
    ("train", "trains", "ICX{}", ("Prague", "Vienna", "Zurich", "Milan", "Lyon", "Basel", "Munich", "Graz")),
    ("course", "courses", "C{}", ("Statistics", "Typography", "Botany", "Robotics", "Ceramics", "Astronomy", "Rhetoric")),  # noqa: E501
)  # fmt: skip
_STATES = (
    ("pending", "shipped", "delivered", "cancelled"), ("open", "closed", "resolved"), ("active", "suspended", "expired"),  # noqa: E501
    ("paid", "unpaid", "overdue"), ("low", "medium", "high"), ("red", "blue", "green", "black"), ("online", "offline", "degraded"),  # noqa: E501
)  # fmt: skip
_TIERS = (("standard", "premium"), ("adult", "child", "senior"), ("single", "double"), ("first_class", "second_class"), ("weekly", "monthly", "yearly"))  # fmt: skip  # noqa: E501
_MONEY = ("price", "cost", "fee", "total", "balance", "deposit")
_COUNTS = ("quantity", "stock", "seats_left", "reviews", "visits", "units_sold", "attempts")
_RATES = ("rating", "load_pct", "share_pct", "score")
_DATES = ("date", "due_date", "created", "starts_on")
_TIMES = ("departure", "arrival", "opens_at", "closes_at", "start_time", "end_time")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")  # fmt: skip  # noqa: E501


@dataclass
class _Text:
    """An answer in pieces, with which of them may be changed, and into what."""

    pieces: list[str] = field(default_factory=list)
    slots: list[tuple[int, str, str]] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add words."""
        self.pieces.append(text)

    def state(self, shown: str, kind: str, rivals: list[str]) -> None:
        """Add a value, with other values that would be wrong in its place."""
        for rival in rivals:
            if rival != shown:
                self.slots.append((len(self.pieces), kind, rival))
        self.pieces.append(shown)


def _digit(shown: str, draw: random.Random) -> str:
    places = [place for place, character in enumerate(shown) if character.isdigit()]
    place = draw.choice(places)
    return shown[:place] + draw.choice([d for d in "123456789" if d != shown[place]]) + shown[place + 1 :]


def _shown(name: str, value: Any, style: int) -> str:
    if name in _MONEY:
        return f"${value:,.2f}" if value != int(value) or style else f"${value:,.0f}"
    if name in _DATES:
        year, month, day = map(int, value.split("-"))
        return (value, f"{_MONTHS[month - 1]} {day}, {year}", f"{_MONTHS[month - 1]} {day}")[style]
    if name in _TIMES and style:
        hour, minute = map(int, value.split(":"))
        return f"{(hour - 1) % 12 + 1}:{minute:02d} {'AM' if hour < 12 else 'PM'}"
    if name.endswith("_pct"):
        return f"{value}%"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _records(draw: random.Random) -> tuple[str, list[dict[str, Any]], tuple[str, ...]]:
    """Return a domain's plural, its records and the states that their status may have."""
    one, many, pattern, names = draw.choice(_DOMAINS)
    states, tiers = draw.choice(_STATES), draw.choice(_TIERS)
    money, count, rate = draw.choice(_MONEY), draw.choice(_COUNTS), draw.choice(_RATES)
    day = draw.choice(_DATES)
    times = draw.sample(_TIMES, 2)
    kept = {name for name in (money, count, rate, day, *times, "status", "prices") if draw.random() < 0.6} | {
        money
    }
    size = draw.randint(2, 9)
    records = []
    for name in draw.sample(names, min(size, len(names))):
        low = draw.randint(4, 400)
        made: dict[str, Any] = {
            f"{one}_id": pattern.format(draw.randint(10, 99999)),
            "name": name,
            money: draw.choice([float(low * 7), round(low * 3.17, 2)]),
            count: draw.randint(0, 12) if draw.random() < 0.5 else draw.randint(13, 9000),
            rate: round(draw.uniform(1, 5), 1) if rate == "rating" else draw.randint(3, 99),
            day: f"2026-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}",
            times[0]: f"{draw.randint(0, 23):02d}:{draw.choice((0, 15, 30, 45)):02d}",
            times[1]: f"{draw.randint(0, 23):02d}:{draw.choice((0, 15, 30, 45)):02d}",
            "status": draw.choice(states),
            "prices": {tier: low + 37 * place + draw.randint(0, 30) for place, tier in enumerate(tiers)},
        }
        records.append(
            {key: value for key, value in made.items() if key in kept or key in (f"{one}_id", "name")}
        )
    return many, records, states


def _outputs(many: str, records: list[dict[str, Any]], draw: random.Random) -> list[str]:
    """Return the records as tools print them: as one list, one by one, as a table, or as lines."""
    flat = [{key: value for key, value in each.items() if key != "prices"} for each in records]
    has_prices = "prices" in records[0]
    way = draw.randint(0, 5)
    if way == 0 or (has_prices and way > 2):
        return [json.dumps({many: records})]
    if way == 1:
        return [json.dumps(each) for each in records]
    if way == 2:
        return [json.dumps({next(iter(each.values())): each for each in records}, indent=2)]
    names = list(flat[0])
    if way == 3:
        return [",".join(names) + "\n" + "\n".join(",".join(map(str, each.values())) for each in flat)]
    if way == 4:
        rows = ["| " + " | ".join(map(str, each.values())) + " |" for each in flat]
        return ["\n".join(["| " + " | ".join(names) + " |", "|" + "---|" * len(names), *rows])]
    return ["\n".join("; ".join(f"{key}: {value}" for key, value in each.items()) for each in flat)]


def _add_value(
    text: _Text, name: str, record: dict[str, Any], records: list[dict[str, Any]], style: int, draw: random.Random,  # noqa: E501
    states: tuple[str, ...],
) -> None:  # fmt: skip
    """Add a field's value with what may be put in its place: a digit, another row's, another field's."""
    value = record[name]
    if name == "status":
        text.state(value, "status", [each for each in states if each != value])
        return
    shown = _shown(name, value, style)
    others = [_shown(name, each[name], style) for each in records if each[name] != value]
    text.state(shown, "row", others[:2])
    if draw.random() < 0.7:
        text.slots.append((len(text.pieces) - 1, "digit", _digit(shown, draw)))


def _add_prices(text: _Text, record: dict[str, Any], draw: random.Random) -> None:
    prices = record["prices"]
    for place, tier in enumerate(draw.sample(list(prices), len(prices))):
        text.say(", " if place else "")
        text.state(tier.replace("_", " ").title(), "status", [each.replace("_", " ").title() for each in prices if each != tier])  # fmt: skip  # noqa: E501
        text.say(draw.choice((": ", " at ", " ")))
        text.state(f"${prices[tier]}", "row", [f"${each}" for key, each in prices.items() if key != tier])


def _answer(many: str, records: list[dict[str, Any]], states: tuple[str, ...], draw: random.Random) -> _Text:
    text = _Text()
    key = next(iter(records[0]))
    style = draw.randint(0, 1)
    chosen = draw.sample(records, draw.randint(1, min(5, len(records))))
    fields = [name for name in records[0] if name not in (key, "name")]
    shown = draw.sample(fields, draw.randint(1, len(fields)))
    way = draw.randint(0, 3)
    by_id = draw.random() < 0.6
    text.say(draw.choice((f"Here are the {many}:\n\n", "", f"I found the following {many}:\n", "Details:\n")))
    for number, record in enumerate(chosen, 1):
        if by_id:
            name = str(record[key])
            wrong = [_digit(name, draw)] if any(ch.isdigit() for ch in name) else []
            text.say((f"{number}. **", f"## {many[:-1].title()} ", f"{number}. ", "")[way])
            text.state(name, "identifier", wrong if draw.random() < 0.3 else [])
            text.say(("**", f" ({record['name']})", f" ({record['name']})", "")[way])
        else:
            text.say((f"{number}. **{record['name']}**", f"## {record['name']}", f"{number}. {record['name']}", f"The {record['name']}")[way])  # fmt: skip  # noqa: E501
        text.say((":\n", "\n", " - ", " has ")[way])
        for place, name in enumerate(shown):
            label = name.replace("_pct", "").replace("_", " ")
            if way < 2:
                text.say(f"   - {label.title()}: " if way == 0 else f"- **{label.capitalize()}:** ")
            elif way == 2:
                text.say((", " if place else "") + draw.choice((f"{label} ", f"{label}: ")))
            else:
                text.say((" and " if place == len(shown) - 1 else ", ") * bool(place) + f"a {label} of ")
            if name == "prices":
                _add_prices(text, record, draw)
            else:
                _add_value(text, name, record, records, style, draw, states)
            text.say("\n" if way < 2 else "")
        text.say(("", "\n", "\n", ". ")[way])
    _add_sums(text, chosen, records, shown, draw)
    return text


def _add_sums(
    text: _Text, chosen: list[dict[str, Any]], records: list[dict[str, Any]], shown: list[str],
    draw: random.Random,
) -> None:  # fmt: skip
    """Add what follows from several records: a count, a total, a mean, a difference, an extreme."""
    amounts = [name for name in shown if name in (*_MONEY, *_COUNTS)]
    if not amounts or draw.random() < 0.4:
        return
    name = draw.choice(amounts)
    label = name.replace("_", " ")
    every = [each[name] for each in records]
    few = [each[name] for each in chosen]
    results: list[tuple[str, float]] = [
        (f"\nAcross all {len(records)} the total {label} is ", sum(every)),
        (f"\nOn average the {label} is ", round(sum(every) / len(every), 2)),
        (f"\nThe highest {label} is ", max(every)),
        (f"\nThe lowest {label} is ", min(every)),
    ]
    if len(few) > 1:
        results.append((f"\nTogether these come to a {label} of ", sum(few)))
        results.append((f"\nThe first two differ in {label} by ", abs(few[0] - few[1])))
    for words, result in draw.sample(results, draw.randint(1, 2)):
        rounded = round(result, 2)
        said = (
            f"${rounded:,.2f}"
            if name in _MONEY
            else f"{int(rounded) if rounded == int(rounded) else rounded:,}"
        )
        text.say(words)
        text.state(said, "digit", [_digit(said, draw)])
        text.say(".")


def generate(families: int, seed: int = 11) -> list[Row]:
    """Return families of rows: a right answer, and the same with one thing changed, in up to three ways."""
    rows: list[Row] = []
    for number in range(families):
        draw = random.Random(seed * 100_003 + number)  # noqa: S311
        many, records, states = _records(draw)
        outputs = _outputs(many, records, draw)
        if draw.random() < 0.3:
            outputs += _outputs(*_records(draw)[:2], draw)
        policy, task = _given(draw)
        text = _answer(many, records, states, draw)
        text.say(policy[1])
        answer = "".join(text.pieces)
        family = f"generated-{number}"
        clean = Row(
            "generated", f"{family}-clean", family, "grounded", "clean", tuple(outputs), answer, task, policy[0]  # noqa: E501
        )  # fmt: skip
        rows.append(clean)
        for place, kind, rival in draw.sample(text.slots, min(3, len(text.slots))):
            start = sum(map(len, text.pieces[:place]))
            changed = "".join([*text.pieces[:place], rival, *text.pieces[place + 1 :]])
            wrong = ((start, start + len(rival)),)
            rows.append(
                replace(clean, id=f"{family}-{kind}-{place}", label="contradicted", kind=kind, answer=changed, wrong=wrong)  # noqa: E501
            )  # fmt: skip
    return rows


def _given(draw: random.Random) -> tuple[tuple[str, str], str]:
    """Return a system prompt with a sentence that repeats its value, and a task."""
    days, hours, limit = draw.randint(2, 30), draw.choice((12, 24, 36, 48)), draw.randint(20, 900)
    policies: list[tuple[str, str]] = [
        (f"Refunds are paid within {days} days. Be brief.", f"\nRefunds are paid within {days} days."),
        (f"Changes are free up to {hours} hours before. Ask before you act.", f"\nA change is free up to {hours} hours before."),  # noqa: E501
        (f"Orders over ${limit} ship free of charge.", f"\nOrders over ${limit} ship free."),
        ("You are a helpful assistant.", ""),
        ("", "\nWould you like to go on with one of these?"),
        ("", ""),
    ]  # fmt: skip
    task = draw.choice(("What do we have?", "Please list them.", "", "Show me the details."))
    return draw.choice(policies), task
