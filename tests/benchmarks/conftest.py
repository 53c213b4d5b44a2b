"""Small files of our own in the published formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spanproof.benchmarks import BENCHMARKS, Answer, Graded, GradingSetup, Problem, Source, read_problems
from spanproof.sandbox import Sandbox
from spanproof.sandbox.registry import open_sandbox

WriteRows = Callable[..., Path]


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox("jail", workers=2, settings={}) as opened:
        yield opened


@pytest.fixture
def place(sandbox: Sandbox) -> GradingSetup:
    return GradingSetup(sandbox)


@pytest.fixture
def write_rows(tmp_path: Path) -> WriteRows:
    def write(*rows: dict[str, Any], name: str = "problems.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


def read_one(name: str, path: Path, **beside: Any) -> Problem:
    (problem,) = read_problems(BENCHMARKS[name], Source(path, **beside))
    return problem


def grade(problem: Problem, text: str, place: GradingSetup, *, whole: bool = False) -> dict[str, Graded]:
    return dict(problem.evaluate(Answer(problem.id, text, is_whole=whole), place))


def grades(problem: Problem, text: str, place: GradingSetup, *, whole: bool = False) -> dict[str, str]:
    return {name: each.grade.value for name, each in grade(problem, text, place, whole=whole).items()}
