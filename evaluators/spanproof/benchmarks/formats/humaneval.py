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

from spanproof.benchmarks.files import get_text, iter_rows
from spanproof.benchmarks.languages import get_language
from spanproof.benchmarks.model import Answer, Problem, Row
from spanproof.benchmarks.programs import Check, ProgramProblem
from spanproof.evaluators.casetests.text import find_doctests
from spanproof.sandbox import Ecosystem, PackageSet

# Packages that tasks of HumanEval-X require, and the version they are tested with.
_NPM: Final = {"js-md5": "js-md5@0.8.3"}

_REQUIRED = re.compile(r"require\(\s*['\"]([\w@/-]+)['\"]\s*\)")
_HEAD = re.compile(r"\A(?:(?:from|import)\s[^\n]*\n|\s*\n|#[^\n]*\n)+")


def iter_humaneval(path: Path) -> Iterator[Problem]:
    """Yield the problems of HumanEval.

    Raises:
        BenchmarkError: an entry lacks a field.
    """
    for location, row in iter_rows(path):
        prompt, test = get_text(location, row, "prompt"), get_text(location, row, "test")
        entry_point = get_text(location, row, "entry_point")
        identity = get_text(location, row, "task_id")
        yield ProgramProblem(
            id=identity,
            prompt=prompt,
            reference=find_reference(row, identity),
            checks={"tests": (Check(tests=test, entry_point=entry_point),)},
            public=list_examples(prompt),
            head=read_imports(prompt),
            hidden=list_assertions(test),
        )


def iter_humaneval_x(path: Path) -> Iterator[Problem]:
    """Yield the problems of HumanEval-X, of any of its languages.

    Raises:
        BenchmarkError: an entry lacks a field.
    """
    for location, row in iter_rows(path):
        identity = get_text(location, row, "task_id")
        language = get_language(identity.partition("/")[0])
        prompt, test = get_text(location, row, "prompt"), get_text(location, row, "test")
        is_python = language == "python"
        if language == "go":
            # Its tests bring their own imports, which must stand in front of the prompt's declarations.
            setup, imports = str(row.get("test_setup") or ""), str(row.get("import") or "")
            if setup:
                prompt = setup + "\n" + prompt.replace(imports, "")
            else:
                prompt = prompt
        example = row.get("example_test")
        public: tuple[Check, ...] = ()
        if is_python:
            public = list_examples(prompt)
        elif example:
            public = (Check(after=example),)
        yield ProgramProblem(
            id=identity,
            prompt=prompt,
            language=language,
            reference=find_reference(row, identity),
            checks={"tests": (Check(tests=test) if is_python else Check(after=test),)},
            public=public,
            head=read_imports(prompt) if is_python else "",
            packages=_find_npm_packages(language, row, prompt, test),
            groups={"language": language},
            hidden=list_assertions(test),
        )


def iter_multipl_e(path: Path) -> Iterator[Problem]:
    """Yield the problems of MultiPL-E, of any of its languages.

    Raises:
        BenchmarkError: an entry lacks a field.
    """
    for location, row in iter_rows(path):
        language = get_language(get_text(location, row, "language"))
        prompt, tests = get_text(location, row, "prompt"), get_text(location, row, "tests")
        yield ProgramProblem(
            id=get_text(location, row, "name"),
            prompt=prompt,
            language=language,
            checks={"tests": (Check(tests=tests) if language == "python" else Check(after=tests),)},
            head=read_imports(prompt) if language == "python" else "",
            groups={"language": language},
            hidden=list_assertions(tests),
        )


def find_reference(row: Row, problem: str, name: str = "canonical_solution") -> Answer | None:
    """Return the project's own solution, a continuation of the prompt."""
    solution = row.get(name)
    if isinstance(solution, str) and solution.strip():
        return Answer(problem, solution)
    return None


def read_imports(prompt: str) -> str:
    """Return the imports at the start of a prompt, which a whole answer may leave out."""
    found = _HEAD.match(prompt)
    return found[0].strip() if found else ""


def list_examples(prompt: str) -> tuple[Check, ...]:
    """Return the examples in the docstrings of a Python prompt as a check."""
    found = find_doctests([prompt + "    pass\n"])
    return (Check(tests=found.text),) if found else ()


def list_assertions(tests: str) -> tuple[str, ...]:
    """Return the lines of tests that assert something."""
    lines = (line.strip() for line in tests.split("\n"))
    return tuple(line for line in lines if "assert" in line and len(line) > len("assert x == 1"))


def _find_npm_packages(language: str, row: Row, prompt: str, test: str) -> PackageSet | None:
    if language not in ("javascript", "typescript"):
        return None
    text = prompt + str(row.get("canonical_solution") or "") + test
    wanted = sorted({_NPM[name] for name in _REQUIRED.findall(text) if name in _NPM})
    return PackageSet(Ecosystem.NPM, tuple(wanted)) if wanted else None
