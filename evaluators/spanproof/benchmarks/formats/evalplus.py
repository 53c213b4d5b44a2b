"""EvalPlus: HumanEval+ and MBPP+, base tests against many more (`plus`).

Fields of a release: `task_id`, `prompt`, `entry_point`, `canonical_solution`, `base_input`, `plus_input`,
`atol`. Expected results are those of the canonical solution, which runs in the sandbox once per problem.
Fields of the tables on the hub: `test` (and `test_list` of MBPP+) instead of inputs.
"""

from __future__ import annotations

import ast
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final

from spanproof.benchmarks.files import get_field, get_list, get_text, iter_rows
from spanproof.benchmarks.formats.humaneval import (
    find_reference,
    list_assertions,
    list_examples,
    read_imports,
)
from spanproof.benchmarks.model import Answer, Graded, GradingSetup, Problem, Row, build_unjudged_grade
from spanproof.benchmarks.programs import Check, ProgramProblem
from spanproof.sandbox import FailureClass, Fixtures, Limits, Program

_RESULTS: Final = """
inf, nan = float("inf"), float("nan")
for _given in {inputs}:
    _found = repr({entry_point}(*_given))
    print("\\n{token}" + _found.replace("\\n", " "))
"""

_COMPARE: Final = """
inf, nan = float("inf"), float("nan")
def _same(found, wanted, atol):
    if isinstance(wanted, float):
        if not isinstance(found, (int, float)):
            return False
        if wanted != wanted:
            return found != found
        return found == wanted or abs(found - wanted) <= max(atol, 1e-6) + 1e-7 * abs(wanted)
    for kind in (list, tuple):
        if isinstance(wanted, kind):
            if not isinstance(found, kind) or len(found) != len(wanted):
                return False
            return all([_same(one, other, atol) for one, other in zip(found, wanted)])
    return found == wanted
def test_results():
    for given, wanted in {cases}:
        assert _same({wrap}({entry_point}(*given)), {wrap}(wanted), {atol!r})
"""

_MAX_OUTPUT: Final = 16 * 1024 * 1024
_REFERENCE_S: Final = 60.0
_LITERAL: Final = (
    ast.Expression, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.USub, ast.UAdd,
    ast.BinOp, ast.Add, ast.Sub, ast.Load,
)  # fmt: skip


def iter_evalplus(path: Path) -> Iterator[Problem]:
    """Yield the problems of HumanEval+ or MBPP+.

    Raises:
        BenchmarkError: an entry lacks a field.
    """
    for location, row in iter_rows(path):
        identity = str(get_field(location, row, "task_id"))
        build = _from_inputs if "base_input" in row else _from_tests
        yield build(location, row, identity)


def _from_inputs(location: str, row: Row, identity: str) -> Problem:
    prompt = get_text(location, row, "prompt")
    whole = identity.startswith("Mbpp")
    solution = get_text(location, row, "canonical_solution")
    assertion = str(row.get("assertion") or "")
    typed = read_types(assertion, get_text(location, row, "entry_point"))
    # An empty list of further inputs is published as one, or as null.
    plus = row.get("plus_input") or []
    tolerance = float(row.get("atol") or 0.0)
    return InputProblem(
        id=identity,
        prompt=prompt,
        reference=Answer(identity, solution, is_whole=whole),
        checks={},
        public=() if whole else list_examples(prompt),
        head="" if whole else read_imports(prompt),
        entry_point=get_text(location, row, "entry_point"),
        inputs={
            "base": typed.build_arguments(get_list(location, row, "base_input")),
            "plus": typed.build_arguments(plus),
        },
        wrap=typed.wrap,
        atol=tolerance,
        hidden=list_assertions(assertion) if whole else (),
    )


def _from_tests(location: str, row: Row, identity: str) -> Problem:
    prompt, test = get_text(location, row, "prompt"), get_text(location, row, "test")
    entry_point = row.get("entry_point")
    base = [str(test) for test in row.get("test_list") or ()]
    checks = {"base": (Check(tests="\n".join(base)),)} if base else {}
    code = row.get("code")
    if isinstance(code, str):
        reference: Answer | None = Answer(identity, code, is_whole=True)
    else:
        reference = find_reference(row, identity)
    return ProgramProblem(
        id=identity,
        prompt=prompt,
        reference=reference,
        checks={**checks, "plus": (Check(tests=test, entry_point=entry_point),)},
        public=list_examples(prompt) if not base else checks["base"],
        head="" if base else read_imports(prompt),
        modules=("numpy",) if "numpy" in test else (),
        hidden=list_assertions(test),
    )


@dataclass(slots=True)
class _Results:
    """The expected results of one problem, made when they are first needed."""

    lock: Lock = field(default_factory=Lock)
    expected: Mapping[str, Sequence[str]] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputProblem(ProgramProblem):
    """A problem whose expected results are those of its canonical solution.

    Attributes:
        inputs: lists of arguments by test set.
        atol: how far numbers may be off.
        wrap: `set` where results are compared as sets, else empty.
    """

    entry_point: str
    inputs: Mapping[str, Sequence[Sequence[Any]]]
    atol: float = 0.0
    wrap: str = ""
    results: _Results = field(default_factory=_Results)

    @property
    def test_sets(self) -> tuple[str, ...]:
        """`plus` first: it holds base, too."""
        return ("plus", "base")

    def evaluate(self, answer: Answer, setup: GradingSetup) -> Mapping[str, Graded]:
        """Return a grade by base and by plus."""
        reason = self._run_solution(setup)
        if reason:
            return dict.fromkeys(self.test_sets, build_unjudged_grade(reason))
        assert self.results.expected is not None
        checks = {
            name: (Check(tests=self._format_tests(name, self.results.expected[name])),)
            if self.inputs[name]
            else ()
            for name in ("base", "plus")
        }
        plain = ProgramProblem(
            id=self.id, prompt=self.prompt, checks=checks, head=self.head, reference=self.reference
        )
        return plain.evaluate(answer, setup)

    def _format_tests(self, name: str, results: Sequence[str]) -> str:
        pairs = zip(self.inputs[name], results, strict=True)
        cases = ", ".join(f"({arguments!r}, {wanted})" for arguments, wanted in pairs)
        return _COMPARE.format(
            cases=f"[{cases}]", entry_point=self.entry_point, atol=self.atol, wrap=self.wrap
        )

    def _run_solution(self, setup: GradingSetup) -> str:
        """Make the expected results where they are not known; return why they cannot be had."""
        with self.results.lock:
            if self.results.expected is None and not self.results.reason:
                expected: dict[str, Sequence[str]] = {}
                for name, inputs in self.inputs.items():
                    found = self._run_reference(inputs, setup)
                    if isinstance(found, str):
                        self.results.reason = found
                        return found
                    expected[name] = found
                self.results.expected = expected
            return self.results.reason

    def _run_reference(self, inputs: Sequence[Any], setup: GradingSetup) -> list[str] | str:
        """Return the canonical solution's results as Python literals, or why there are none."""
        assert self.reference is not None, "a release has a canonical solution"
        if not inputs:
            return []
        token = secrets.token_hex(8)
        limits = Limits(
            wall_s=_REFERENCE_S, cpu_s=_REFERENCE_S, memory_bytes=setup.memory_bytes, output_bytes=_MAX_OUTPUT
        )
        source = self._build_program(self.reference) + _RESULTS.format(
            inputs=repr(list(inputs)), entry_point=self.entry_point, token=token
        )
        fixtures = Fixtures(seed=0, packages=setup.packages)
        ran = setup.sandbox.run(Program("python", source, limits=limits, fixtures=fixtures))
        if ran.failure_class is not FailureClass.OK:
            return f"the canonical solution ends with {ran.failure_class.value}"
        lines = [line.removeprefix(token) for line in ran.stdout.split("\n") if line.startswith(token)]
        if len(lines) != len(inputs) or not all(map(is_literal, lines)):
            return "a result of the canonical solution cannot be written down"
        return lines


@dataclass(frozen=True, slots=True)
class Types:
    """Which lists of the published JSON are tuples, sets or complex numbers.

    Attributes:
        kinds: by number of the argument and depth within it.
        wrap: `set` where the assertions compare sets.
    """

    kinds: Mapping[tuple[int, int], str]
    wrap: str = ""

    def build_arguments(self, inputs: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Return the arguments with their types."""
        return [
            [self._build_value(value, number, 0) for number, value in enumerate(arguments)]
            for arguments in inputs
        ]

    def _build_value(self, value: Any, number: int, depth: int) -> Any:
        kind = self.kinds.get((number, depth), "")
        if isinstance(value, dict):
            return {key: self._build_value(item, number, depth + 1) for key, item in value.items()}
        if isinstance(value, list):
            items = [self._build_value(item, number, depth + 1) for item in value]
            if kind == "set":
                return set(items)
            return tuple(items) if kind == "tuple" else items
        return complex(value) if kind == "complex" and isinstance(value, str) else value


def read_types(assertion: str, entry_point: str) -> Types:
    """Return the types of arguments, read from assertions: JSON has no tuples, sets and complex numbers."""
    kinds: dict[tuple[int, int], str] = {}
    wrap = ""
    try:
        nodes = list(ast.walk(ast.parse(assertion)))
    except SyntaxError:
        return Types({})
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        inner = node.args[0] if node.args else None
        if node.func.id == "set" and isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            wrap = "set" if inner.func.id == entry_point else wrap
        if node.func.id == entry_point:
            for number, argument in enumerate(node.args):
                for depth, kind in _iter_kinds(argument, 0):
                    kinds.setdefault((number, depth), kind)
    return Types(kinds, wrap)


def is_literal(text: str) -> bool:
    """Return whether a text is a Python literal, `inf` and `nan` included."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(isinstance(node, _LITERAL) or _is_special(node) for node in ast.walk(tree))


def _is_special(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in ("inf", "nan", "set")
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "set"


def _iter_kinds(node: ast.expr, depth: int) -> Iterator[tuple[int, str]]:
    kind = {ast.Tuple: "tuple", ast.Set: "set", ast.List: "list"}.get(type(node), "")
    if isinstance(node, ast.BinOp | ast.Constant) and "j" in ast.unparse(node) and not _is_text(node):
        kind = "complex"
    if kind:
        yield depth, kind
    children = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", ())
    for child in children:
        yield from _iter_kinds(child, depth + 1)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
