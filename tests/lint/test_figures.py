"""The figures count what they say, and what decides too much is refused."""

from __future__ import annotations

import pytest

from . import figures

DENSE = """
def choose(rows, first):
    if first and rows and rows[0] or (rows and not first):
        return [row for row in rows if row]
    return None


class Table:
    def sort(self):
        def by_name(row):
            return row.name if row.name else ""
        return sorted(self.rows, key=by_name)

    def _get_first(self):
        return self.rows[0] if self.rows else None

    def show(self):
        return self._get_first()
"""


@pytest.mark.parametrize(
    ("statement", "decisions"),
    [
        ("x = a if b else c", 1),
        ("x = a and b and c or d", 3),
        ("x = [a for a in b for c in a if c]", 2),
        ("x = lambda a: a or b", 1),
        ("if a or b:\n    x = c and d and e", 1),
        ("for a in b or c:\n    x = 1", 1),
        ("with a or b:\n    x = 1 if y else 2", 1),
        ("try:\n    x = 1 if y else 2\nexcept (A or B):\n    z = 1", 0),
        ("match a or b:\n    case 1 if c and d:\n        x = 1", 1),
    ],
)
def test_a_statement_decides_what_its_own_expressions_decide(statement: str, decisions: int) -> None:
    assert (
        figures.count_statement_decisions(figures.parse_module("a.py", statement).tree.body[0]) == decisions
    )


def test_what_breaks_a_rule_is_named_with_its_function() -> None:
    module = figures.parse_module("a.py", DENSE)
    assert [str(entry) for entry in figures.list_dense_statements([module])] == ["a.py:3: choose (4)"]
    branches = "".join(f"    if a == {number}:\n        return {number}\n" for number in range(15))
    complex_one = figures.parse_module("b.py", f"def choose(a):\n{branches}")
    assert [str(entry) for entry in figures.list_complex_functions([complex_one])] == ["b.py:1: choose (16)"]


def test_a_function_counts_with_those_inside_it_and_by_its_class() -> None:
    functions = figures.parse_module("a.py", DENSE).functions
    assert {name: figures.compute_complexity(function) for name, function in functions} == {
        "choose": 7,
        "Table.sort": 2,
        "Table.sort.by_name": 2,
        "Table._get_first": 2,
        "Table.show": 1,
    }


def test_a_private_function_with_one_caller_is_listed() -> None:
    once = figures.parse_module("a.py", DENSE)
    twice = figures.parse_module("a.py", f"{DENSE}        return self._get_first()\n")
    assert [entry.what for entry in figures.list_single_callers([once])] == ["Table._get_first"]
    assert figures.list_single_callers([twice]) == []


def test_private_words_are_counted_as_names_not_as_text() -> None:
    module = figures.parse_module("a.py", 'def f(given):\n    """What is given."""\n    return given.place\n')
    assert {entry.what: entry.amount for entry in figures.list_private_words([module])} == {
        "given": 2,
        "place": 1,
    }


def test_a_function_or_a_statement_that_decides_too_much_is_refused() -> None:
    branches = "".join(f"    if a == {number}:\n        return {number}\n" for number in range(15))
    modules = [figures.parse_module("a.py", DENSE), figures.parse_module("b.py", f"def pick(a):\n{branches}")]
    assert figures.list_offenders(modules) == [
        "b.py:1: pick (16) has a complexity over 15",
        "a.py:3: choose (4) has a statement that decides more than 3 things",
    ]


def test_the_figures_are_lines_of_a_name_and_a_value() -> None:
    shown = figures.format_figures([figures.parse_module("a.py", DENSE)])
    assert dict(line.split("  ", 1) for line in shown.splitlines())["files"].strip() == "1"
    assert "private functions with one caller" in shown
