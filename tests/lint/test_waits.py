"""No loop of the tests waits for ever: one that sleeps compares the clock with a deadline."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .imports import ROOT

DATA = {"golden", "programs"}
FILES = [path for path in sorted((ROOT / "tests").rglob("*.py")) if DATA.isdisjoint(path.parts)]
CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "time"}


def calls(node: ast.AST) -> set[str]:
    """Return the last names of what is called within a node."""
    functions = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    return {ast.unparse(function).rpartition(".")[2] for function in functions}


def endless_waits(source: str) -> Iterator[int]:
    """Yield the lines of `while` loops that sleep and compare no clock with a deadline."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.While) or "sleep" not in calls(node):
            continue
        comparisons = [each for each in ast.walk(node) if isinstance(each, ast.Compare)]
        if not any(CLOCKS & calls(each) for each in comparisons):
            yield node.lineno


def test_a_wait_without_a_deadline_is_found() -> None:
    assert list(endless_waits("import time\nwhile not ready():\n    time.sleep(1)\n")) == [2]
    assert not list(endless_waits("while not ready() and time.monotonic() < end:\n    time.sleep(1)\n"))


def test_no_loop_sleeps_without_a_deadline() -> None:
    endless = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in FILES
        for line in endless_waits(path.read_text(encoding="utf-8"))
    ]
    assert not endless, f"wait by tests/plugins/waiting.py, with a deadline: {endless}"
