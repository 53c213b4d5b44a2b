"""HumanEval, HumanEval-X and MultiPL-E: a prompt to complete, with tests behind it.

| set | fields of an entry |
|---|---|
| HumanEval | `task_id`, `prompt`, `entry_point`, `canonical_solution`, `test` with `check(candidate)` |
| HumanEval-X | the same without `entry_point`; the language in `task_id`; `declaration`, `example_test` |
| MultiPL-E | `name`, `language`, `prompt`, `tests`; no solution |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from spanproof.benchmarks.files import read_rows, take_text
from spanproof.benchmarks.languages import name_language
from spanproof.benchmarks.model import Answer, Problem, Row
from spanproof.benchmarks.programs import Check, ProgramProblem
from spanproof.evaluators.casetests.text import render_doctests
from spanproof.sandbox import Ecosystem, PackageSet

# Packages that tasks of HumanEval-X require, and the version they are tested with.
_NPM: Final = {"js-md5": "js-md5@0.8.3"}

_REQUIRED = re.compile(r"require\(\s*['\"]([\w@/-]+)['\"]\s*\)")
_HEAD = re.compile(r"\A(?:(?:from|import)\s[^\n]*\n|\s*\n|#[^\n]*\n)+")


def read_humaneval(path: Path) -> Iterator[Problem]:
    """Yield the problems of HumanEval.

    Raises:
        BenchmarkError: an entry lacks a field.
    """
    for place, row in read_rows(path):
        prompt, test = take_text(place, row, "prompt"), take_text(place, row, "test")
        entry_point = take_text(place, row, "entry_point")
        identity = take_text(place, row, "task_id")
        yield ProgramProblem(
            id=identity,
            prompt=prompt,
            reference=read_reference(row, identity),
            checks={"tests": (Check(tests=test, entry_point=entry_point),)},
            public=extract_examples(prompt),
            head=extract_imports(prompt),
            hidden=extract_assertions(test),
        )


def read_humaneval_x(path: Path) -> Iterator[Problem]:
    """Yield the problems of HumanEval-X, of any of its languages.

    Raises:
        BenchmarkError: an entry lacks a field.
    """
    for place, row in read_rows(path):
        identity = take_text(place, row, "task_id")
        language = name_language(identity.partition("/")[0])
        prompt, test = take_text(place, row, "prompt"), take_text(place, row, "test")
        is_python = language == "python"
        if language == "go":
            # Its tests bring their own imports, which must stand in front of the prompt's declarations.
            setup, imports = str(row.get("test_setup") or ""), str(row.get("import") or "")
            prompt = setup + "\n" + prompt.replace(imports, "") if setup else prompt
        shown = row.get("example_test")
        yield ProgramProblem(
            id=identity,
            prompt=prompt,
            language=language,
            reference=read_reference(row, identity),
            checks={"tests": (Check(tests=test) if is_python else Check(after=test),)},
            public=extract_examples(prompt) if is_python else (Check(after=shown),) if shown else (),
            head=extract_imports(prompt) if is_python else "",
            packages=_select_npm_packages(language, row, prompt, test),
            groups={"language": language},
            hidden=extract_assertions(test),
        )


def read_multipl_e(path: Path) -> Iterator[Problem]:
    """Yield the problems of MultiPL-E, of any of its languages.

    Raises:
        BenchmarkError: an entry lacks a field.
    """
    for place, row in read_rows(path):
        language = name_language(take_text(place, row, "language"))
        prompt, tests = take_text(place, row, "prompt"), take_text(place, row, "tests")
        yield ProgramProblem(
            id=take_text(place, row, "name"),
            prompt=prompt,
            language=language,
            checks={"tests": (Check(tests=tests) if language == "python" else Check(after=tests),)},
            head=extract_imports(prompt) if language == "python" else "",
            groups={"language": language},
            hidden=extract_assertions(tests),
        )


def read_reference(row: Row, problem: str, name: str = "canonical_solution") -> Answer | None:
    """Return the project's own solution, a continuation of the prompt."""
    solution = row.get(name)
    return Answer(problem, solution) if isinstance(solution, str) and solution.strip() else None


def extract_imports(prompt: str) -> str:
    """Return the imports at the start of a prompt, which a whole answer may leave out."""
    found = _HEAD.match(prompt)
    return found[0].strip() if found else ""


def extract_examples(prompt: str) -> tuple[Check, ...]:
    """Return the examples in the docstrings of a Python prompt as a check."""
    found = render_doctests([prompt + "    pass\n"])
    return (Check(tests=found.text),) if found else ()


def extract_assertions(tests: str) -> tuple[str, ...]:
    """Return the lines of tests that assert something."""
    lines = (line.strip() for line in tests.split("\n"))
    return tuple(line for line in lines if "assert" in line and len(line) > len("assert x == 1"))


def _select_npm_packages(language: str, row: Row, prompt: str, test: str) -> PackageSet | None:
    if language not in ("javascript", "typescript"):
        return None
    text = prompt + str(row.get("canonical_solution") or "") + test
    wanted = sorted({_NPM[name] for name in _REQUIRED.findall(text) if name in _NPM})
    return PackageSet(Ecosystem.NPM, tuple(wanted)) if wanted else None
