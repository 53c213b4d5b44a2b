"""BFCL: the calls that a model makes for a question, beside the ones that are acceptable.

Fields of a question: `id`, `question` (messages by turn), `function` (schemas). Acceptable calls lie in the
file of the same name in `possible_answer/`: `id`, `ground_truth` [{function: {parameter: [values]}}], where
`""` among the values means that the parameter may be left out. Questions without one (`irrelevance`) must be
answered without a call. One turn; nothing is executed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spanproof.benchmarks.errors import BenchmarkError
from spanproof.benchmarks.files import get_list, get_text, iter_rows
from spanproof.benchmarks.formats.sources import Source
from spanproof.benchmarks.formats.tool_calls import Call, find_calls
from spanproof.benchmarks.model import PASSED, Answer, Graded, GradingSetup, Problem, build_failed_grade

_PUNCTUATION = re.compile(r"[ ,./\-_*^]")


def iter_bfcl(source: Source) -> Iterator[Problem]:
    """Yield the questions of BFCL.

    Raises:
        BenchmarkError: an entry lacks a field, is of several turns, or its acceptable calls are missing.
    """
    answers = _read_answers(source)
    for location, row in iter_rows(source.problems):
        identity = get_text(location, row, "id")
        turns = get_list(location, row, "question")
        if len(turns) > 1 and isinstance(turns[0], list):
            raise BenchmarkError(
                f"{location}: {identity} has {len(turns)} turns; questions of one turn are graded"
            )
        category = re.sub(r"_[\d-]+$", "", identity)
        truth = answers.get(identity)
        if truth is None and "relevance" not in category:
            raise BenchmarkError(
                f"{location}: no acceptable calls for {identity}; give their file with --answers"
            )
        if turns and isinstance(turns[0], list):
            messages = turns[0]
        else:
            messages = turns
        yield CallProblem(
            id=identity,
            prompt=json.dumps({"messages": messages, "functions": row.get("function")}, ensure_ascii=False),
            language="calls",
            groups={"category": category},
            acceptable=truth or (),
            functions=tuple(row.get("function") or ()),
            must_call=truth is not None or "irrelevance" not in category,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProblem(Problem):
    """A question with the calls that are acceptable.

    Attributes:
        acceptable: function to parameter to values, a call each; empty where any call will do, or none.
        functions: their schemas.
        must_call: whether a call must be made at all.
    """

    acceptable: Sequence[Mapping[str, Mapping[str, Sequence[Any]]]]
    functions: tuple[Mapping[str, Any], ...]
    must_call: bool

    @property
    def test_sets(self) -> tuple[str, ...]:
        """The calls."""
        return ("calls",)

    def evaluate(self, answer: Answer, setup: GradingSetup) -> Mapping[str, Graded]:
        """Return whether the calls are acceptable."""
        return {
            "calls": build_failed_grade(answer.error)
            if answer.error
            else self._evaluate_calls(find_calls(answer.text))
        }

    def _evaluate_calls(self, calls: list[Call] | None) -> Graded:
        if not self.must_call:
            if calls:
                return build_failed_grade(f"{calls[0].name} is called, and no function fits")
            return PASSED
        if not calls:
            return build_failed_grade("no call can be read from the answer")
        if not self.acceptable:
            return PASSED
        if len(calls) != len(self.acceptable):
            return build_failed_grade(f"{len(calls)} calls are made, {len(self.acceptable)} are expected")
        left = list(calls)
        reason = ""
        for wanted in self.acceptable:
            misfits = [(call, self._describe_misfit(call, wanted)) for call in left]
            fitting = next((call for call, misfit in misfits if not misfit), None)
            if fitting is None:
                reason = next((why for call, why in misfits if call.name in wanted), misfits[0][1])
                return build_failed_grade(reason)
            left.remove(fitting)
        return PASSED

    def _describe_misfit(self, call: Call, wanted: Mapping[str, Mapping[str, Sequence[Any]]]) -> str:
        """Return why a call is not an acceptable one, as a sentence; empty where it is."""
        ((name, parameters),) = wanted.items()
        # Models that may write no dots in names replace them.
        if call.name.replace(".", "_") != name.replace(".", "_"):
            return f"{call.name} is called, expected {name}"
        for key, value in call.arguments.items():
            if key not in parameters:
                return f"{name} has no parameter {key!r}"
            if not any(_is_same(value, parameter) for parameter in parameters[key] if parameter != ""):
                return f"{name}: {key} is {value!r:.80}, acceptable are {list(parameters[key])!r:.120}"
        for key, values in parameters.items():
            if key not in call.arguments and "" not in values:
                return f"{name}: {key} is missing"
        return ""


def _is_same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, bool) or isinstance(found, bool):
        return found is wanted
    if isinstance(wanted, str) and isinstance(found, str):
        return _PUNCTUATION.sub("", found).lower() == _PUNCTUATION.sub("", wanted).lower()
    if isinstance(wanted, list) and isinstance(found, list | tuple):
        return len(found) == len(wanted) and all(map(_is_same, found, wanted))
    if isinstance(wanted, dict) and isinstance(found, dict):
        return found.keys() <= wanted.keys() and all(_holds(found, *entry) for entry in wanted.items())
    return bool(found == wanted)


def _holds(found: Mapping[str, Any], key: str, values: Any) -> bool:
    """Whether an object has an acceptable value: within it, too, each value is a list of acceptable ones."""
    acceptable = values if isinstance(values, list) else [values]
    if key not in found:
        return "" in acceptable
    return any(_is_same(found[key], value) for value in acceptable)


def _read_answers(source: Source) -> dict[str, Any]:
    path = source.answers
    if path is None:
        if source.problems.is_dir():
            folder = source.problems
        else:
            folder = source.problems.parent
        solutions = folder / "possible_answer"
        if source.problems.is_dir():
            path = solutions
        else:
            path = solutions / source.problems.name
        if not path.exists():
            return {}
    return {
        get_text(location, row, "id"): get_list(location, row, "ground_truth")
        for location, row in iter_rows(path)
    }
