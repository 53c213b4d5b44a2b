"""A function of the user's that scores, and how it is called: in the sandbox, several calls in one program.

`def main(completion, target, **variables)` in Python, `async function main({completion, target, …})` or
`function main(completion, target)` in TypeScript or JavaScript; each may be `async`. It returns
`{"score": number}` with an optional `explanation`, or the number alone, or `{"skipped": "why"}`. The number
is from 0 to 1, or within the range that is declared. Calls and answers cross the wall as JSON. An answer
follows a mark that only this program was given, so that what the function prints is no answer.
"""

from __future__ import annotations

import ast
import json
import math
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from spanproof.evaluators.custom.calling import find_call_problem
from spanproof.evaluators.custom.drivers import DRIVERS, ENDED_LATE, MAX_ANSWER
from spanproof.evaluators.custom.modules import format_namespaces
from spanproof.evaluators.evaluator import EvaluatorError
from spanproof.sandbox import (
    EnvironmentUnavailable,
    Execution,
    FailureClass,
    Fixtures,
    JsonValue,
    Limits,
    PackageSet,
    Program,
    Sandbox,
)
from spanproof.sandbox.environments.lock import parse_pins
from spanproof.trace import digest

_MAIN = re.compile(r"\bfunction\s+main\s*\(|\b(?:const|let|var)\s+main\s*=")
_MAX_EXPLANATION = 2_000
_LIMITS = Limits()
_PROGRAMS = 3

Range: TypeAlias = tuple[float, float]
"""The worst score and the best; the best may be the smaller number."""

UNIT: Final[Range] = (0.0, 1.0)

START_S = 20.0
"""For the interpreter to start and the function's file to be read, with all that it imports."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that scores.

    Attributes:
        language: `python`, `typescript` or `javascript`.
        packages: what it imports, at exact versions.
        timeout_s: for one call; what it imports is not counted.
        range: its worst score and its best.
    """

    name: str
    language: str
    source: str
    packages: PackageSet | None = None
    timeout_s: float = 5.0
    range: Range = UNIT

    @property
    def version(self) -> str:
        """Follows from its source, its packages and its range."""
        pins = self.packages.pins if self.packages else ()
        bounds = () if self.range == UNIT else tuple(map(repr, self.range))
        return digest(self.language, self.source, *pins, *bounds)[:12]

    def check(self, given: Collection[str] = ()) -> None:
        """See that it can be called.

        Args:
            given: names of the variables that every call gives it.

        Raises:
            EvaluatorError: it has no `main`, does not compile, wants what it is not given, is in a language
                that is none of the three, or a package it imports is not pinned.
        """
        if self.language not in ("python", "typescript", "javascript"):
            raise EvaluatorError(
                f"evaluator {self.name!r}: language {self.language!r} is none of python, typescript,"
                " javascript"
            )
        if self.packages is not None:
            try:
                parse_pins(self.packages)
            except EnvironmentUnavailable as problem:
                raise EvaluatorError(f"evaluator {self.name!r}: packages: {problem}") from problem
        if self.language != "python":
            if not _MAIN.search(self.source):
                form = "async function main({completion, target})"
                raise EvaluatorError(f"evaluator {self.name!r} defines no main; write {form}")
            return
        main = _find_main(self)
        wrong = "defines no main" if main is None else find_call_problem(main, given)
        if wrong is not None:
            form = "def main(completion, target, **variables)"
            raise EvaluatorError(f"evaluator {self.name!r}: {wrong}; write {form}")


@dataclass(frozen=True, slots=True)
class Call:
    """One call: what is judged, what it is held against, what else the function may look at."""

    completion: JsonValue
    target: JsonValue = None
    variables: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Returned:
    """What one call gave: a score, or the reason why there is none, or an error.

    Attributes:
        score: from 0 (worst) to 1 (best), by the range.
        raw: the number as it was returned; None where it is the score itself.
    """

    score: float | None = None
    explanation: str = ""
    skipped: str = ""
    error_type: str | None = None
    message: str = ""
    raw: float | None = None


def normalise_number(number: float, bounds: Range) -> float:
    """Return where a number is between the worst score, 0, and the best, 1."""
    worst, best = bounds
    return min(1.0, max(0.0, (number - worst) / (best - worst)))


def evaluate(function: Function, calls: Sequence[Call], sandbox: Sandbox) -> list[Returned]:
    """Call a function once for each call, in order.

    One program makes the calls. One that is ended from within a call is started again for the calls behind
    it, twice at most.

    Raises:
        SandboxUnavailable, UnsupportedLanguage, UnsupportedFixtures: the sandbox cannot run it.
        SandboxBroken: it failed.
    """
    answers: list[Returned] = []
    for _ in range(_PROGRAMS):
        waiting = calls[len(answers) :]
        if not waiting:
            return answers
        found = _run_program(function, waiting, sandbox)
        answers += found
    message = f"the function ended {_PROGRAMS} programs before this call"
    return answers + [Returned(error_type="NotCalled", message=message)] * (len(calls) - len(answers))


def _run_program(function: Function, calls: Sequence[Call], sandbox: Sandbox) -> list[Returned]:
    """Return what the first calls gave: up to the one that ended the program, or all of them."""
    mark = secrets.token_hex(16)
    requested = [
        {"completion": call.completion, "target": call.target, "variables": dict(call.variables)}
        for call in calls
    ]
    sent = {"mark": mark, "timeout_s": function.timeout_s, "most": MAX_ANSWER, "ended": ENDED_LATE}
    sent["calls"] = requested
    # The driver minds the time of each call. This bound holds where it cannot, and holds for the start.
    seconds = START_S + (function.timeout_s + 2) * len(calls)
    execution = sandbox.run(
        Program(
            function.language,
            f"{_get_source(function)}\n{DRIVERS[function.language]}",
            stdin=json.dumps(sent).encode("utf-8", "replace"),
            limits=Limits(wall_s=seconds, cpu_s=seconds, output_bytes=2 * MAX_ANSWER * (len(calls) + 1)),
            fixtures=Fixtures(seed=0, packages=function.packages),
        )
    )
    lines = [line.removeprefix(mark) for line in execution.stdout.splitlines() if line.startswith(mark)]
    if not lines:
        return [_build_missing_answer(execution, f"it was not ready within {seconds:g} s")] * len(calls)
    answers = [_parse_answer(line, function) for line in lines[1:]]
    if len(answers) > len(calls):
        message = "it answered more often than it was called"
        return [Returned(error_type="BadAnswer", message=message)] * len(calls)
    if len(answers) < len(calls) and lines[-1] != ENDED_LATE:
        answers.append(_build_missing_answer(execution, _format_timeout(function.timeout_s)))
    return answers


def _find_main(function: Function) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    try:
        tree = ast.parse(function.source)
    except SyntaxError as problem:
        message = f"line {problem.lineno}: {problem.msg}"
        raise EvaluatorError(f"evaluator {function.name!r} does not compile: {message}") from problem
    except (ValueError, RecursionError) as problem:
        raise EvaluatorError(f"evaluator {function.name!r} does not compile: {problem}") from problem
    defined = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return next((node for node in defined if node.name == "main"), None)


def _get_source(function: Function) -> str:
    if function.language == "python":
        return function.source
    return format_namespaces(function.language, function.source)


def _parse_answer(line: str, function: Function) -> Returned:
    """Parse and check one answer: what it says comes from inside the sandbox."""
    try:
        reply = json.loads(line)
    except ValueError:
        reply = None
    if not isinstance(reply, dict):
        return Returned(error_type="BadAnswer", message="the answer is no JSON")
    if reply.get("late"):
        return Returned(error_type=FailureClass.TIMEOUT.value, message=_format_timeout(function.timeout_s))
    if "long" in reply:
        most = f"the answer is longer than {MAX_ANSWER} characters"
        return Returned(error_type="BadAnswer", message=most)
    if isinstance(raised := reply.get("raised"), list) and len(raised) == 2:
        return Returned(
            error_type=str(raised[0])[:200], message=str(raised[1])[:_MAX_EXPLANATION] or "no message"
        )
    return _read_score(reply.get("answer"), function.range)


def _read_score(answer: JsonValue, bounds: Range) -> Returned:
    """Return the score in what `main` returned."""
    whole = answer if isinstance(answer, dict) else {"score": answer}
    score, skipped, explanation = whole.get("score"), whole.get("skipped"), whole.get("explanation")
    if isinstance(skipped, str) and skipped.strip() and score is None:
        return Returned(skipped=skipped[:_MAX_EXPLANATION])
    if isinstance(score, bool):
        score = float(score)
    low, high = min(bounds), max(bounds)
    if not isinstance(score, int | float) or not math.isfinite(score) or not low <= score <= high:
        return Returned(error_type="BadScore", message=_format_bad_score(answer, bounds))
    text = "" if explanation is None else str(explanation)[:_MAX_EXPLANATION]
    raw = None if bounds == UNIT else float(score)
    return Returned(normalise_number(float(score), bounds), text, raw=raw)


def _format_bad_score(answer: JsonValue, bounds: Range) -> str:
    low, high = min(bounds), max(bounds)
    hint = "; another range is declared by `range`" if bounds == UNIT else ""
    form = f'{{"score": a number from {low:g} to {high:g}}}'
    return f"main must return {form}, it returned {str(answer)[:200]}{hint}"


def _format_timeout(allowed_s: float) -> str:
    return f"no answer within {allowed_s:g} s (`timeout_s` for each span)"


def _build_missing_answer(execution: Execution, late: str) -> Returned:
    """Explain why a program that ended owes an answer."""
    failure = execution.failure_class
    if failure is FailureClass.OK:
        return Returned(error_type="NoAnswer", message="the function ended the program before it answered")
    raised = execution.raised
    if raised is not None:
        message = f"{raised.type}: {raised.message}"
        if failure is FailureClass.MISSING_DEPENDENCY:
            message += "; what the function imports is named in `packages`"
    elif failure is FailureClass.TIMEOUT:
        message = late
    elif failure is FailureClass.OUT_OF_MEMORY:
        message = f"it took more memory than the {_LIMITS.memory_bytes >> 20} MiB there are"
    elif failure is FailureClass.OUTPUT_LIMIT:
        message = f"it printed more than {_LIMITS.output_kill_bytes >> 20} MiB"
    else:
        if execution.signal is None:
            how = f"exit code {execution.exit_code}"
        else:
            how = f"signal {execution.signal}"
        message = f"it ended the program with {how}: {execution.stderr[-500:].strip()}".rstrip(": ")
    return Returned(error_type=failure.value, message=message)
