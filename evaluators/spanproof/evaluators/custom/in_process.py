"""A function of an installed module as an evaluator: it runs in this process, so it is for code you trust.

In: `module:name`, a function that `@evaluator` marks. It is called with `output` (the completion), `expected`
(the target), `input` and the other values of an own evaluator by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import Any, Final

from spanproof.evaluators.custom.function import UNIT, Call, Range, Returned, normalise_number
from spanproof.evaluators.evaluator import EvaluatorError
from spanproof.evaluators.plain_functions import is_evaluator, run_scorer
from spanproof.sandbox import JsonValue
from spanproof.trace import digest

_GIVEN: Final = frozenset(("completion", "expected", "output", "row", "target"))


@dataclass(frozen=True, slots=True)
class InProcess:
    """A function that scores in this process.

    Attributes:
        target: `package.module:name`.
        function: what the target names.
        range: its worst score and its best.
    """

    name: str
    target: str
    function: Callable[..., Any]
    range: Range = UNIT

    @property
    def version(self) -> str:
        """Follows from its source and its range."""
        try:
            source = inspect.getsource(self.function)
        except (OSError, TypeError):
            source = self.target
        return digest("in process", source, *map(repr, self.range))[:12]

    def check(self, given: Collection[str] = ()) -> None:
        """See that it wants nothing that it is not given.

        Raises:
            EvaluatorError: it wants a value that there is not.
        """
        available = _GIVEN | set(given)
        for parameter in inspect.signature(self.function).parameters.values():
            is_filled = (
                parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
                or parameter.default is not parameter.empty
            )
            if not is_filled and parameter.name not in available:
                raise EvaluatorError(
                    f"evaluator {self.name!r}: {self.target} wants {parameter.name!r}, and is given"
                    f" {', '.join(sorted(available))}; further values are `variables`"
                )

    def check_target(self, target: JsonValue) -> None:
        """Accept any target: it is the function's own matter."""

    def evaluate(self, call: Call) -> Returned:
        """Return what the function gives to one call."""
        row = {**call.variables, "expected": call.target}
        more = {"output": call.completion, "completion": call.completion, "target": call.target, "row": row}
        found = run_scorer(self.function, row, more)
        if found.error:
            error_type, _, message = found.error.partition(": ")
            return Returned(error_type=error_type, message=message or "no message")
        if found.value is None:
            return Returned(skipped=found.explanation or "the function gave no score")
        low, high = min(self.range), max(self.range)
        if not low <= found.value <= high:
            message = f"it returned {found.value:g}, which is not from {low:g} to {high:g} (`range`)"
            return Returned(error_type="BadScore", message=message)
        raw = None if self.range == UNIT else found.value
        return Returned(normalise_number(found.value, self.range), found.explanation, raw=raw)


def load_in_process(name: str, target: str, bounds: Range = UNIT) -> InProcess:
    """Return the function that a target names.

    Raises:
        EvaluatorError: it cannot be imported, or `@evaluator` does not mark it.
    """
    module, _, path = target.partition(":")
    if not module or not path:
        raise EvaluatorError(f"evaluator {name!r}: function must be package.module:name, got {target!r}")
    try:
        function: Any = reduce(getattr, path.split("."), import_module(module))
    except Exception as problem:
        raise EvaluatorError(
            f"evaluator {name!r}: {target} cannot be imported: {type(problem).__name__}: {problem};"
            " install its package where the service runs, or name its folder in PYTHONPATH"
        ) from problem
    if not is_evaluator(function):
        raise EvaluatorError(
            f"evaluator {name!r}: {target} is no function that @evaluator of spanproof.experiments marks"
        )
    return InProcess(name, target, function, bounds)
