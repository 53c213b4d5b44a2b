"""Runs that are right: agents of three frameworks over made-up data that their tools really return.

`clean_runs(count, seed)` gives framework, task, tools and turns. The data, its domain, the shape of the task,
the way the code gets at the data and the wording of the answer differ from run to run; each answer is what
the tools returned, or what follows from it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

_DATA: dict[str, Any] = {}
"""What the tools of the present run return, by source."""


def fetch_records(source: str) -> list:
    """Return the records of a source.

    Args:
        source: its name.
    """
    return _DATA[source]


def fetch_csv(source: str) -> str:
    """Return a source as CSV.

    Args:
        source: its name.
    """
    rows = _DATA[source]
    return "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)])


def fetch_json(source: str) -> str:
    """Return a source as JSON.

    Args:
        source: its name.
    """
    return json.dumps({"source": source, "items": _DATA[source]})


def fetch_table(source: str) -> str:
    """Return a source as a Markdown table.

    Args:
        source: its name.
    """
    rows = _DATA[source]
    lines = [" | ".join(rows[0]), " | ".join("---" for _ in rows[0])]
    return "\n".join(f"| {line} |" for line in [*lines, *(" | ".join(map(str, r.values())) for r in rows)])


DATA_TOOLS = (fetch_records, fetch_csv, fetch_json, fetch_table)


@dataclass(frozen=True)
class CleanRun:
    """One run: what the tools return, and what the model writes in each turn."""

    shape: str
    framework: str
    task: str
    data: dict[str, Any]
    turns: list[Any]

    def load(self) -> None:
        """Have the tools return this run's data."""
        _DATA.clear()
        _DATA.update(self.data)


_DOMAINS = {
    "orders": ("order", "total", ["A-17", "A-18", "B-03", "C-40", "C-41"], (8, 900, 2)),
    "sensors": ("sensor", "celsius", ["north", "south", "attic", "cellar", "roof"], (-9, 40, 1)),
    "payroll": ("employee", "salary", ["Mara", "Jonas", "Ines", "Petra", "Olu"], (31000, 94000, 0)),
    "rivers": ("river", "km", ["Elbe", "Oder", "Weser", "Main", "Saale"], (150, 1300, 0)),
    "shares": ("ticker", "price", ["ACME", "BOLT", "CRUX", "DYNE", "ECHO"], (3, 480, 2)),
    "visits": ("page", "visits", ["/home", "/docs", "/blog", "/shop", "/team"], (40, 9000, 0)),
    "exams": ("student", "points", ["Ava", "Ben", "Cleo", "Dan", "Eli"], (35, 100, 1)),
    "parcels": ("parcel", "weight_kg", ["P1001", "P1002", "P1003", "P1004", "P1005"], (0.2, 30, 2)),
}


def _rows(rng: random.Random, domain: str) -> list[dict[str, Any]]:
    key, value, names, (low, high, places) = _DOMAINS[domain]
    chosen = rng.sample(names, rng.randint(3, len(names)))
    made = [round(rng.uniform(low, high), places) for _ in chosen]
    return [{key: n, value: int(v) if places == 0 else v} for n, v in zip(chosen, made, strict=True)]


def _number(value: float) -> str:
    return f"{value:,.2f}" if isinstance(value, float) and not float(value).is_integer() else f"{value:,.0f}"


Turns = tuple[str, str, list[Any]]
"""The task, the framework, and what the model writes."""


def _printed_then_code(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    """The model reads the records and writes their values into its code."""
    _, value, *_ = _DOMAINS[domain]
    values = [row[value] for row in rows]
    name = rng.choice(["values", value, f"{domain}_values", "xs"])
    mean = fmean(values)
    return (
        f"What is the mean {value} of all {domain}?",
        "smolagents",
        [
            f"print({rng.choice(DATA_TOOLS).__name__}(source={domain!r}))",
            f"{name} = {values}\nmean = sum({name}) / len({name})\nprint(round(mean, 2))",
            f"final_answer('The mean {value} is {round(mean, 2)}.')",
        ],
    )


def _sum_in_code(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    _, value, *_ = _DOMAINS[domain]
    total = round(sum(row[value] for row in rows), 2)
    loop = rng.choice(
        [
            f"total = sum(row[{value!r}] for row in fetch_records(source={domain!r}))",
            f"total = 0\nfor row in fetch_records(source={domain!r}):\n    total += row[{value!r}]",
            (
                f"import json\nitems = json.loads(fetch_json(source={domain!r}))['items']\n"
                f"total = sum(item[{value!r}] for item in items)"
            ),
            (
                f"lines = fetch_csv(source={domain!r}).splitlines()[1:]\n"
                "total = sum(float(line.split(',')[-1]) for line in lines)"
            ),
        ]
    )
    last = rng.choice([f"final_answer('In total {total}.')", "final_answer(f'The sum is {total:.2f}.')"])
    return f"Add up the {value} of the {domain}.", "smolagents", [f"{loop}\nprint(round(total, 2))", last]


def _largest(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    key, value, *_ = _DOMAINS[domain]
    best = max(rows, key=lambda row: row[value])
    code = f"best = max(fetch_records(source={domain!r}), key=lambda row: row[{value!r}])\nprint(best)"
    said = rng.choice(["{} has the highest {}: {}.", "The highest {1} is {2}, of {0}."])
    answer = said.format(best[key], value, best[value])
    return f"Which {key} has the highest {value}?", "smolagents", [code, f"final_answer({answer!r})"]


def _in_pandas(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    _, value, *_ = _DOMAINS[domain]
    how = rng.choice(["max", "min", "median"])
    found = sorted(row[value] for row in rows)
    middle = (found[(len(found) - 1) // 2] + found[len(found) // 2]) / 2
    result = {"max": found[-1], "min": found[0], "median": middle}[how]
    code = (
        f"import pandas as pd\ndf = pd.DataFrame(fetch_records(source={domain!r}))\n"
        f"print(df[{value!r}].{how}())"
    )
    return (
        f"What is the {how} {value} in {domain}?",
        "smolagents",
        [code, f"final_answer('The {how} {value} is {round(result, 3)}.')"],
    )


def _wrong_then_right(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    key, value, *_ = _DOMAINS[domain]
    row = rng.choice(rows)
    wrong = rng.choice([f"r['{value}s']", "r['amount']", f"r['{value.upper()}']"])
    start = f"for r in fetch_records(source={domain!r}):\n    if r[{key!r}] == {row[key]!r}:\n        "
    return (
        f"What is the {value} of {row[key]}?",
        "smolagents",
        [
            f"{start}print({wrong})",
            f"{start}print(r[{value!r}])",
            f"final_answer('The {value} of {row[key]} is {row[value]}.')",
        ],
    )


def _unavailable(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    missing = rng.choice(["archive", "backup", "ledger"])
    answer = f"I could not read {missing}: there is no such source."
    code = f"print(fetch_records(source={missing!r}))"
    return f"How many records does {missing} hold?", "smolagents", [code, f"final_answer({answer!r})"]


def _given_in_the_task(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    _, value, *_ = _DOMAINS[domain]
    values = [row[value] for row in rows]
    listed = ", ".join(map(str, values))
    spread = round(max(values) - min(values), 2)
    return (
        f"The {value} values of our {domain} are {listed}. What is their range?",
        "smolagents",
        [
            f"data = {values}\nprint(round(max(data) - min(data), 2))",
            f"final_answer('The range is {spread}.')",
        ],
    )


def _rate_in_the_task(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    _, value, *_ = _DOMAINS[domain]
    rate = rng.choice([7, 12.5, 19, 21])
    total = sum(row[value] for row in rows)
    code = (
        f"total = sum(r[{value!r}] for r in fetch_records(source={domain!r}))\n"
        f"rate = {1 + rate / 100}\nprint(round(total * rate, 2))"
    )
    answer = f"With {rate} % on top it is {round(total * (1 + rate / 100), 2)}."
    return f"Sum the {value} of {domain} and add {rate} %.", "smolagents", [code, f"final_answer({answer!r})"]


def _computed(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    """Tasks that need no data."""
    n = rng.randint(8, 30)
    a, b = rng.randint(200, 990), rng.randint(200, 990)
    task, code, answer = rng.choice(
        [
            (
                f"What is the {n}th triangular number?",
                f"print(sum(range(1, {n + 1})))",
                f"It is {n * (n + 1) // 2}.",
            ),
            (f"What is {a} times {b}?", f"print({a} * {b})", f"{a} times {b} is {a * b}."),
            (f"How many minutes are {n} days?", f"print({n} * 24 * 60)", f"{n * 1440} minutes."),
            (f"What is 2 to the power of {n}?", f"print(2 ** {n})", f"It is {2**n}."),
            (
                f"What is the sum of the squares up to {n}?",
                f"s = 0\nfor i in range(1, {n + 1}):\n    s += i * i\nprint(s)",
                f"The sum is {sum(i * i for i in range(1, n + 1))}.",
            ),
        ]
    )
    return task, "smolagents", [code, f"final_answer({answer!r})"]


def _simulated(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    sides, seed = rng.choice([4, 6, 20]), rng.randint(1, 99)
    code = (
        f"import random\nrandom.seed({seed})\n"
        f"rolls = [random.randint(1, {sides}) for _ in range(500)]\nprint(sum(rolls) / 500)"
    )
    last = "final_answer(f'The mean of 500 rolls is {sum(rolls) / 500:.2f}.')"
    return f"Roll a die of {sides} sides 500 times and give the mean.", "smolagents", [code, last]


def _called(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    """A tool-calling agent answers from the result itself."""
    key, value, *_ = _DOMAINS[domain]
    row = rng.choice(rows)
    call = rng.choice(["fetch_records", "fetch_json", "fetch_csv", "fetch_table"])
    framework = rng.choice(["smolagents calls", "langgraph", "agents sdk"])
    answer = rng.choice(["The {1} of {0} is {2}.", "{0}: {1} {2}."]).format(row[key], value, row[value])
    return f"What is the {value} of {row[key]}?", framework, [{call: {"source": domain}}, answer]


def _called_then_code(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    """A tool-calling agent hands what it read to a code tool."""
    key, value, *_ = _DOMAINS[domain]
    framework = rng.choice(["smolagents calls", "langgraph", "agents sdk"])
    table = {row[key]: row[value] for row in rows}
    share = round(100 * rows[0][value] / sum(table.values()), 1)
    code = f"table = {table}\nprint(round(100 * table[{rows[0][key]!r}] / sum(table.values()), 1))"
    return (
        f"What share of all {value} does {rows[0][key]} have?",
        framework,
        [
            {"fetch_json": {"source": domain}},
            {"run_python": {"code": code}},
            f"{rows[0][key]} has {share} % of all {value}.",
        ],
    )


def _two_sources(rng: random.Random, domain: str, rows: list[dict[str, Any]]) -> Turns:
    key, value, *_ = _DOMAINS[domain]
    code = (
        f"a = {{r[{key!r}]: r[{value!r}] for r in fetch_records(source={domain!r})}}\n"
        f"b = {{r[{key!r}]: r[{value!r}] for r in fetch_records(source='last_year')}}\n"
        "changes = {name: round(a[name] - b[name], 2) for name in a}\nprint(changes)"
    )
    last = "final_answer(', '.join(f'{name}: {change}' for name, change in changes.items()))"
    return f"How did the {value} of each {key} change against last year?", "smolagents", [code, last]


_SHAPES: tuple[Callable[[random.Random, str, list[dict[str, Any]]], Turns], ...] = (
    *(_printed_then_code, _sum_in_code, _largest, _in_pandas, _wrong_then_right, _unavailable),
    *(_given_in_the_task, _rate_in_the_task, _computed, _simulated, _called, _called_then_code, _two_sources),
)


def clean_runs(count: int, seed: int = 20261125) -> Iterator[CleanRun]:
    """Runs in all shapes and domains, the same for the same seed."""
    rng = random.Random(seed)
    for number in range(count):
        shape = _SHAPES[number % len(_SHAPES)]
        domain = rng.choice(list(_DOMAINS))
        rows = _rows(rng, domain)
        key, value, *_ = _DOMAINS[domain]
        before = [{key: row[key], value: round(row[value] * rng.uniform(0.8, 1.1), 2)} for row in rows]
        task, framework, turns = shape(rng, domain, rows)
        yield CleanRun(shape.__name__.strip("_"), framework, task, {domain: rows, "last_year": before}, turns)
