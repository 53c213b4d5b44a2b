"""A function of the user's that scores, and how it is called: in the sandbox, several calls in one program.

`def main(completion, target, **variables)` in Python, `async function main({completion, target, …})` in
TypeScript or JavaScript; either may be `async`. It returns `{"score": 0..1}` with an optional `explanation`,
or the number alone. Calls and answers cross the wall as JSON. An answer stands behind a mark that only this
program was given, so that what the function prints is no answer.
"""

from __future__ import annotations

import ast
import json
import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from spanproof.evaluators.evaluator import EvaluatorError
from spanproof.sandbox import (
    Execution,
    FailureClass,
    Fixtures,
    JsonValue,
    Limits,
    PackageSet,
    Program,
    Sandbox,
)
from spanproof.trace import digest

_DRIVERS: Final[Mapping[str, str]] = {
    "python": """
def __spanproof_calls__():
    import asyncio, inspect, json, sys
    asked = json.load(sys.stdin)
    for call in asked["calls"]:
        try:
            answer = main(call.pop("completion"), call.pop("target"), **call["variables"])
            if inspect.isawaitable(answer):
                async def wait(answer=answer):
                    return await answer
                answer = asyncio.run(wait())
            told = json.dumps({"answer": answer})
        except Exception as raised:
            told = json.dumps({"raised": [type(raised).__name__, str(raised)]})
        sys.stdout.write("\\n" + asked["mark"] + told + "\\n")
        sys.stdout.flush()
__spanproof_calls__()
""",
    "typescript": """
;(async () => {
    let text = ""
    for await (const chunk of process.stdin) text += chunk
    const asked = JSON.parse(text)
    for (const {completion, target, variables} of asked.calls) {
        let told
        try {
            const answer = await main({completion, target, ...variables})
            told = JSON.stringify({answer: answer === undefined ? null : answer}, (_key, value) =>
                typeof value === "number" && !isFinite(value) ? String(value) : value)
        } catch (raised) {
            const type = raised?.constructor?.name ?? "Error"
            told = JSON.stringify({raised: [type, String(raised?.message ?? raised)]})
        }
        process.stdout.write("\\n" + asked.mark + told + "\\n")
    }
})()
""",
}
_MAIN = re.compile(r"\bfunction\s+main\s*\(|\b(?:const|let|var)\s+main\s*=")
_MAX_EXPLANATION = 2_000


@dataclass(frozen=True, slots=True)
class Function:
    """A function that scores.

    Attributes:
        language: `python`, `typescript` or `javascript`.
        packages: what it imports, at exact versions.
        timeout_s: for one call.
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

    def check(self) -> None:
        """See that it can be called.

        Raises:
            EvaluatorError: it has no `main`, does not compile, or is in a language that is none of the three.
        """
        if self.language not in ("python", "typescript", "javascript"):
            raise EvaluatorError(
                f"evaluator {self.name!r}: language {self.language!r} is none of python, typescript,"
                " javascript"
            )
        if not (_defines_main(self) if self.language == "python" else _MAIN.search(self.source)):
            form = "def main(completion, target, **variables)"
            form = form if self.language == "python" else "async function main({completion, target})"
            raise EvaluatorError(f"evaluator {self.name!r} defines no main; write {form}")


@dataclass(frozen=True, slots=True)
class Call:
    """One call: what is judged, what it is held against, what else the function may look at."""

    completion: JsonValue
    target: JsonValue = None
    variables: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Returned:
    """What came of one call: a score from 0 to 1, or why there is none."""

    score: float | None = None
    explanation: str = ""
    error_type: str | None = None
    message: str = ""


def evaluate(function: Function, calls: Sequence[Call], sandbox: Sandbox) -> list[Returned]:
    """Call a function once for each call, in order.

    Raises:
        SandboxUnavailable, UnsupportedLanguage, UnsupportedFixtures: the sandbox cannot run it.
        SandboxBroken: it failed.
    """
    if not calls:
        return []
    mark = secrets.token_hex(16)
    asked = [
        {"completion": call.completion, "target": call.target, "variables": dict(call.variables)}
        for call in calls
    ]
    seconds = function.timeout_s * len(calls)
    driver = _DRIVERS["python" if function.language == "python" else "typescript"]
    execution = sandbox.run(
        Program(
            function.language,
            f"{function.source}\n{driver}",
            stdin=json.dumps({"mark": mark, "calls": asked}).encode("utf-8", "replace"),
            limits=Limits(wall_s=seconds, cpu_s=seconds),
            fixtures=Fixtures(seed=0, packages=function.packages),
        )
    )
    told = [line.removeprefix(mark) for line in execution.stdout.splitlines() if line.startswith(mark)]
    answers = [_returned(line) for line in told[: len(calls)]]
    return answers + [_unanswered(execution, seconds)] * (len(calls) - len(answers))


def _defines_main(function: Function) -> bool:
    try:
        tree = ast.parse(function.source)
    except (SyntaxError, ValueError, RecursionError) as problem:
        raise EvaluatorError(f"evaluator {function.name!r} does not compile: {problem}") from problem
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == "main" for node in tree.body
    )


def _returned(line: str) -> Returned:
    """One answer, checked: what it says comes from inside."""
    try:
        said = json.loads(line)
    except ValueError:
        return Returned(error_type="BadAnswer", message="the answer is no JSON")
    if isinstance(said, dict) and isinstance(raised := said.get("raised"), list) and len(raised) == 2:
        return Returned(
            error_type=str(raised[0])[:200], message=str(raised[1])[:_MAX_EXPLANATION] or "no message"
        )
    answer = said.get("answer") if isinstance(said, dict) else None
    score = answer.get("score") if isinstance(answer, dict) else answer
    if isinstance(score, bool):
        score = float(score)
    if not isinstance(score, int | float) or not math.isfinite(score) or not 0 <= score <= 1:
        return Returned(
            error_type="BadScore",
            message=f'main must return {{"score": a number from 0 to 1}}, it returned {str(answer)[:200]}',
        )
    explanation = answer.get("explanation", "") if isinstance(answer, dict) else ""
    return Returned(float(score), str(explanation)[:_MAX_EXPLANATION])


def _unanswered(execution: Execution, allowed_s: float) -> Returned:
    """Why a program that ended owes an answer."""
    if execution.failure_class is FailureClass.OK:
        return Returned(error_type="NoAnswer", message="the function ended the program before it answered")
    raised = execution.raised
    if raised is not None:
        told = f"{raised.type}: {raised.message}"
    elif execution.failure_class is FailureClass.TIMEOUT:
        told = f"no answer within {allowed_s:g} s (`timeout_s` for each span)"
    else:
        how = f"exit code {execution.exit_code}" if execution.signal is None else f"signal {execution.signal}"
        told = f"it ended the program with {how}: {execution.stderr[-500:].strip()}".rstrip(": ")
    return Returned(error_type=execution.failure_class.value, message=told)
