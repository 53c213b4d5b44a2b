"""A function of the user's that scores, and how it is called: in the sandbox, several calls in one program.

`def main(completion, target, **variables)` in Python, `async function main({completion, target, …})` in
TypeScript or JavaScript; either may be `async`. It returns `{"score": 0..1}` with an optional `explanation`,
or the number alone, or `{"skipped": "why"}`. Calls and answers cross the wall as JSON. An answer stands
behind a mark that only this program was given, so that what the function prints is no answer.
"""

from __future__ import annotations

import ast
import json
import math
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from spanproof.evaluators.custom.calling import why_not_callable
from spanproof.evaluators.custom.drivers import DRIVERS, ENDED_LATE, MAX_ANSWER
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
from spanproof.sandbox.environments.lock import pins_of
from spanproof.trace import digest

_MAIN = re.compile(r"\bfunction\s+main\s*\(|\b(?:const|let|var)\s+main\s*=")
_MAX_EXPLANATION = 2_000
_LIMITS = Limits()
_PROGRAMS = 3

START_S = 20.0
"""For the interpreter to start and the function's file to be read, with all that it imports."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that scores.

    Attributes:
        language: `python`, `typescript` or `javascript`.
        packages: what it imports, at exact versions.
        timeout_s: for one call; what it imports is not counted.
    """

    name: str
    language: str
    source: str
    packages: PackageSet | None = None
    timeout_s: float = 5.0

    @property
    def version(self) -> str:
        """Follows from its source and its packages."""
        pins = self.packages.pins if self.packages else ()
        return digest(self.language, self.source, *pins)[:12]

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
                pins_of(self.packages)
            except EnvironmentUnavailable as problem:
                raise EvaluatorError(f"evaluator {self.name!r}: packages: {problem}") from problem
        if self.language != "python":
            if not _MAIN.search(self.source):
                form = "async function main({completion, target})"
                raise EvaluatorError(f"evaluator {self.name!r} defines no main; write {form}")
            return
        main = _main_of(self)
        wrong = "defines no main" if main is None else why_not_callable(main, given)
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
    """What came of one call: a score from 0 to 1, or the function's word that there is none, or an error."""

    score: float | None = None
    explanation: str = ""
    skipped: str = ""
    error_type: str | None = None
    message: str = ""


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
        found = _one_program(function, waiting, sandbox)
        answers += found
    message = f"the function ended {_PROGRAMS} programs before this call"
    return answers + [Returned(error_type="NotAsked", message=message)] * (len(calls) - len(answers))


def _one_program(function: Function, calls: Sequence[Call], sandbox: Sandbox) -> list[Returned]:
    """What became of the first calls: up to the one that ended the program, or all of them."""
    mark = secrets.token_hex(16)
    asked = [
        {"completion": call.completion, "target": call.target, "variables": dict(call.variables)}
        for call in calls
    ]
    sent = {"mark": mark, "timeout_s": function.timeout_s, "most": MAX_ANSWER, "ended": ENDED_LATE}
    sent["calls"] = asked
    # The driver minds the time of each call. This bound holds where it cannot, and holds for the start.
    seconds = START_S + (function.timeout_s + 2) * len(calls)
    execution = sandbox.run(
        Program(
            function.language,
            f"{function.source}\n{DRIVERS[function.language]}",
            stdin=json.dumps(sent).encode("utf-8", "replace"),
            limits=Limits(wall_s=seconds, cpu_s=seconds, output_bytes=2 * MAX_ANSWER * (len(calls) + 1)),
            fixtures=Fixtures(seed=0, packages=function.packages),
        )
    )
    lines = [line.removeprefix(mark) for line in execution.stdout.splitlines() if line.startswith(mark)]
    if not lines:
        return [_unanswered(execution, f"it was not ready within {seconds:g} s")] * len(calls)
    answers = [_returned(line, function.timeout_s) for line in lines[1:]]
    if len(answers) > len(calls):
        message = "it answered more often than it was asked"
        return [Returned(error_type="BadAnswer", message=message)] * len(calls)
    if len(answers) < len(calls) and lines[-1] != ENDED_LATE:
        answers.append(_unanswered(execution, _late(function.timeout_s)))
    return answers


def _main_of(function: Function) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    try:
        tree = ast.parse(function.source)
    except SyntaxError as problem:
        message = f"line {problem.lineno}: {problem.msg}"
        raise EvaluatorError(f"evaluator {function.name!r} does not compile: {message}") from problem
    except (ValueError, RecursionError) as problem:
        raise EvaluatorError(f"evaluator {function.name!r} does not compile: {problem}") from problem
    defined = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return next((node for node in defined if node.name == "main"), None)


def _returned(line: str, allowed_s: float) -> Returned:
    """One answer, checked: what it says comes from inside."""
    try:
        said = json.loads(line)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        return Returned(error_type="BadAnswer", message="the answer is no JSON")
    if said.get("late"):
        return Returned(error_type=FailureClass.TIMEOUT.value, message=_late(allowed_s))
    if "long" in said:
        most = f"the answer is longer than {MAX_ANSWER} characters"
        return Returned(error_type="BadAnswer", message=most)
    if isinstance(raised := said.get("raised"), list) and len(raised) == 2:
        return Returned(
            error_type=str(raised[0])[:200], message=str(raised[1])[:_MAX_EXPLANATION] or "no message"
        )
    return _scored(said.get("answer"))


def _scored(answer: JsonValue) -> Returned:
    """What `main` returned."""
    whole = answer if isinstance(answer, dict) else {"score": answer}
    score, skipped, explanation = whole.get("score"), whole.get("skipped"), whole.get("explanation")
    if isinstance(skipped, str) and skipped.strip() and score is None:
        return Returned(skipped=skipped[:_MAX_EXPLANATION])
    if isinstance(score, bool):
        score = float(score)
    if not isinstance(score, int | float) or not math.isfinite(score) or not 0 <= score <= 1:
        return Returned(
            error_type="BadScore",
            message=f'main must return {{"score": a number from 0 to 1}}, it returned {str(answer)[:200]}',
        )
    return Returned(float(score), "" if explanation is None else str(explanation)[:_MAX_EXPLANATION])


def _late(allowed_s: float) -> str:
    return f"no answer within {allowed_s:g} s (`timeout_s` for each span)"


def _unanswered(execution: Execution, late: str) -> Returned:
    """Why a program that ended owes an answer."""
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
        how = f"exit code {execution.exit_code}" if execution.signal is None else f"signal {execution.signal}"
        message = f"it ended the program with {how}: {execution.stderr[-500:].strip()}".rstrip(": ")
    return Returned(error_type=failure.value, message=message)
