"""The tests of a case as people write them.

Frozen pydantic models: a file's keys and types are checked here, and an unknown key is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, PrivateAttr, model_validator

from spanproof.evaluators.casetests.inputs import Shape
from spanproof.sandbox.guest.testing import build_test_plan


class TestsError(ValueError):
    """A file of tests is not what it must be; the message names the file, the place and the remedy."""

    __test__ = False


def _parse_python(text: str) -> str:
    try:
        build_test_plan(text, None, "_")
    except SyntaxError as problem:
        raise ValueError(f"it is no Python: line {problem.lineno}: {problem.msg}") from problem
    return text


def _parse_expression(text: str) -> str:
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError as problem:
        raise ValueError(f"it is no Python expression: {problem.msg}") from problem
    return text.strip()


def _parse_relative_path(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        raise ValueError("it must be a path below the work directory")
    return path


def _parse_dotted_name(name: str) -> str:
    if not all(part.isidentifier() for part in name.split(".")):
        raise ValueError("it must be a name")
    return name


Name = Annotated[str, AfterValidator(_parse_dotted_name)]
Expression = Annotated[str, AfterValidator(_parse_expression)]
Path = Annotated[str, AfterValidator(_parse_relative_path)]
PythonText = Annotated[str, AfterValidator(_parse_python)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Pair(_Part):
    """An input with its expected outcome: arguments and a result, or stdin and stdout.

    Attributes:
        call: the function; that of the tests as a whole where it is not given.
        result: JSON; a tuple is compared as a list.
        raises: the exception's name, in place of a result.
        tolerance: how far numbers may be off, result and stdout alike.
    """

    name: str = ""
    call: Name | None = None
    args: tuple[JsonValue, ...] | None = None
    kwargs: dict[str, JsonValue] = {}
    result: JsonValue = None
    raises: Name | None = None
    stdin: str | None = None
    stdout: str | None = None
    tolerance: float = Field(0.0, ge=0)

    @model_validator(mode="after")
    def _require_one_kind(self) -> Pair:
        by_stream = self.stdout is not None
        of_call = {"args", "kwargs", "result", "raises", "call"} & self.model_fields_set
        if by_stream and of_call:
            raise ValueError(f"a pair with stdout takes no {', '.join(sorted(of_call))}")
        if not by_stream and self.stdin is not None:
            raise ValueError("a pair with stdin needs stdout")
        if not by_stream and ("result" in self.model_fields_set) == (self.raises is not None):
            raise ValueError("a pair needs stdout, or result, or raises, and only one of them")
        return self


class Artifact(_Part):
    """A file the code must leave in its work directory; one of `text`, `json`, `table` says how it looks.

    Attributes:
        text: compared as it is, the end of lines and of the file apart.
        json_value: in the file `json`; compared as data, numbers within the tolerance.
        table: CSV with a header; columns are compared by name, numbers within the tolerance.
        any_row_order: rows of the table may come in any order.
    """

    path: Path
    name: str = ""
    text: str | None = None
    json_value: JsonValue = Field(None, alias="json")
    table: str | None = None
    tolerance: float = Field(0.0, ge=0)
    any_row_order: bool = False

    @model_validator(mode="after")
    def _require_one_form(self) -> Artifact:
        forms = {"text", "json_value", "table"} & self.model_fields_set
        if len(forms) != 1:
            raise ValueError("an artifact needs one of text, json and table")
        return self

    @property
    def form(self) -> Literal["text", "json", "table"]:
        """How it is compared."""
        if "json_value" in self.model_fields_set:
            return "json"
        return "table" if self.table is not None else "text"


class Property(_Part):
    """What must hold for any input: tried on inputs made from their shapes, the smallest first.

    Attributes:
        given: shape of each input, by the name `holds` knows it by.
        holds: a Python expression over the inputs and the code's names.
        where: inputs for which this expression is false are left out.
        seed: of the inputs: the same seed makes the same ones.
    """

    name: str
    given: dict[Name, Shape] = Field(min_length=1)
    holds: Expression
    where: Expression = "True"
    examples: int = Field(50, ge=1, le=1_000)
    seed: int = 0


class Budget(_Part):
    """What the run's code may take in the replay: seconds of all steps together, memory of the largest."""

    wall_s: float | None = Field(None, gt=0)
    memory_mb: float | None = Field(None, gt=0)


class CaseTests(_Part):
    """All tests of one case.

    Attributes:
        snippet: number of the snippet they hold for, from 1; None is the executed Python of the run, in
            order, or the last proposed Python where none ran.
        entry_point: the function pairs call; with unit tests in HumanEval's form, what `check` is given.
        files: laid into the work directory first: text by path.
        unit: Python with `assert`, `test_…` functions or `check(candidate)`.
        doctests: whether the examples in the code's own docstrings are tests.
        inputs_unchanged: whether a pair or a property fails, too, where the code changes what it is given.
        require_apart: whether tests that must share the program's interpreter are refused: what a program
            has a part in, it may forge.
        timeout_s: for each program of tests.
    """

    snippet: int | None = Field(None, ge=1)
    entry_point: Name | None = None
    files: dict[Path, str] = {}
    unit: PythonText | None = None
    doctests: bool = False
    pairs: tuple[Pair, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    properties: tuple[Property, ...] = ()
    inputs_unchanged: bool = False
    budget: Budget | None = None
    require_apart: bool = False
    timeout_s: float = Field(10.0, gt=0, le=300)
    _has_work: bool = PrivateAttr(default=False)

    @property
    def has_work(self) -> bool:
        """Whether `files` are those that an agent left."""
        return self._has_work

    def with_files(self, files: Mapping[str, str]) -> CaseTests:
        """Return the same tests over the files that an agent left."""
        made = self.model_copy(update={"files": dict(files)})
        made._has_work = True  # noqa: SLF001 - its own
        return made

    @property
    def has_any(self) -> bool:
        """Whether there is more to them than a budget."""
        listed = [*self.pairs, *self.artifacts, *self.properties]
        return self.unit is not None or self.doctests or bool(listed)

    @property
    def demands_tests(self) -> bool:
        """Whether a run must pass them: always, but where a budget is all there is."""
        return self.has_any or self.budget is None

    @model_validator(mode="after")
    def _require_functions(self) -> CaseTests:
        for number, pair in enumerate(self.pairs, 1):
            if pair.stdout is None and pair.call is None and self.entry_point is None:
                raise ValueError(
                    f"pair {number} names no function: give it `call`, or the tests `entry_point`"
                )
        return self

    @model_validator(mode="after")
    def _require_inputs(self) -> CaseTests:
        if (
            self.inputs_unchanged
            and not self.properties
            and all(pair.stdout is not None for pair in self.pairs)
        ):
            raise ValueError("inputs_unchanged holds for pairs with arguments and for properties: give some")
        return self
