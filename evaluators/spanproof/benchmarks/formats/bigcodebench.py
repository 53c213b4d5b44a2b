"""BigCodeBench: functions that use libraries, tested by `unittest`.

Fields: `task_id`, `complete_prompt`, `instruct_prompt`, `code_prompt`, `canonical_solution`, `test` with
`class TestCases`, `libs`. Tests patch what the code calls, so code and tests share one interpreter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from spanproof.benchmarks.files import get_text, iter_rows
from spanproof.benchmarks.formats.humaneval import (
    find_reference,
    list_assertions,
    list_examples,
    read_imports,
)
from spanproof.benchmarks.model import Problem
from spanproof.benchmarks.programs import Check, ProgramProblem

# The class is run by the function below it, which the sandbox's runner collects.
_RUN: Final = """
TestCases.__test__ = False
def test_cases():
    import io, unittest
    cases = unittest.defaultTestLoader.loadTestsFromTestCase(TestCases)
    found = unittest.TextTestRunner(stream=io.StringIO()).run(cases)
    assert found.testsRun
    bad = [str(case).split()[0] for case, _ in [*found.failures, *found.errors, *found.skipped]]
    assert not bad, "failed: " + ", ".join(bad)
"""


def iter_bigcodebench(path: Path) -> Iterator[Problem]:
    """Yield the problems of BigCodeBench.

    Raises:
        BenchmarkError: an entry lacks a field.
    """
    for location, row in iter_rows(path):
        identity = get_text(location, row, "task_id")
        prompt, test = get_text(location, row, "complete_prompt", "prompt"), get_text(location, row, "test")
        yield ProgramProblem(
            id=identity,
            prompt=prompt,
            reference=find_reference(row, identity),
            checks={"tests": (Check(tests=test + _RUN),)},
            public=list_examples(prompt),
            head=read_imports(prompt),
            modules=_list_imported_modules(prompt, test),
            hidden=list_assertions(test),
        )


def _list_imported_modules(prompt: str, test: str) -> tuple[str, ...]:
    """Return the modules that prompt and tests import, as far as they can be read."""
    found: set[str] = set()
    for text in (prompt + "    pass\n", test):
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except SyntaxError:
            continue
        for node in nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return tuple(sorted(found))
