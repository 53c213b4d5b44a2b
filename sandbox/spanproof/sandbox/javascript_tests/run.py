"""Runs a JavaScript program's tests where the program never is.

In: a program with tests in JavaScript, and how the backend runs a program. Out: its execution, with the
results of the tests. The tests run alone first and note which calls of the program they make; the program
carries those out in a run of its own, and its answers, which are data, go to the next run of the tests. That
repeats until each call has its answer: three runs for most tests. So the program has no process, file or pipe
in common with its tests, on any backend, and can only answer.

Tests that hand over functions or objects of their own, or import and export, follow the program in one
interpreter instead. Their text and their first run decide that, before the program has said anything; the
result says `tests_apart: false`.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

from spanproof.sandbox.model import Execution, FailureClass, Program, Raised

RunProgram = Callable[[Program], Execution]

# Rounds in which tests find further calls by the answers to former ones; tests of benchmarks need one or two.
_MAX_ROUNDS: Final = 20
# Answers and reports are lines of standard output, beside what the program prints.
_MIN_OUTPUT_BYTES: Final = 4 * 1024 * 1024
_MAX_NAMES: Final = 1_000
_NAME_CHARACTERS: Final = 200

_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*\Z", re.ASCII)
_MODULE_SYNTAX: Final = re.compile(r"^\s*(?:import[\s{*\"']|export\s)", re.MULTILINE)
_RESERVED: Final = re.compile(
    r"(?:await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|export|extends|false"
    r"|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected"
    r"|public|return|static|super|switch|this|throw|true|try|typeof|var|void|while|with|yield)\Z"
)


@dataclass(frozen=True, slots=True)
class _Report:
    """What a run of the tests reports; see `tests.js`."""

    calls: tuple[Mapping[str, Any], ...]
    results: tuple[Mapping[str, Any], ...]
    is_complete: bool
    share: str | None
    not_run: str | None
    raised: Raised | None


def has_javascript_tests(program: Program) -> bool:
    """Whether a program has tests that `run_javascript_tests` runs."""
    return program.tests is not None and program.language in ("javascript", "typescript")


def run_javascript_tests(program: Program, run: RunProgram) -> Execution:
    """Return the execution of a program with tests in its language.

    Raises:
        SandboxUnavailable, UnsupportedLanguage, UnsupportedFixtures, SandboxBroken: as `Sandbox.run`.
    """
    assert program.tests is not None
    if program.language == "typescript" or _MODULE_SYNTAX.search(program.tests):
        return _run_shared(program, run)
    answers: list[Mapping[str, Any]] = []
    execution = None
    for number in range(_MAX_ROUNDS):
        reported = _run_tests(program, answers, run)
        if isinstance(reported, Execution):
            return reported
        if reported.share is not None and number == 0:
            return _run_shared(program, run)
        if execution is not None and (reported.is_complete or reported.not_run or reported.share):
            return _add_results(execution, reported)
        execution, found = _run_calls(program, reported.calls, run)
        if found is None:
            return _add_failure(execution, reported)
        answers = [
            {"call": call, "answer": answer} for call, answer in zip(reported.calls, found, strict=True)
        ]
    assert execution is not None
    return _build_refusal(execution, "the tests make other calls each time they run: no answer settles them")


def _run_tests(program: Program, answers: list[Mapping[str, Any]], run: RunProgram) -> _Report | Execution:
    """Run the tests alone; returns their report, or the execution where they came to none."""
    mark = secrets.token_hex(16)
    constants = {
        "TESTS": _build_tests(program),
        "ENTRY": program.entry_point,
        "ANSWERS": answers,
        "MARK": mark,
    }
    head = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in constants.items())
    source = head + _read_part("codec.js") + _read_part("decode.js") + _read_part("tests.js")
    execution = run(
        _build_reporting_program(replace(program, source=source, tests=None, entry_point=None, stdin=b""))
    )
    found = _read_marked_line(execution.stdout, mark)
    if not isinstance(found, dict):
        if execution.failure_class is FailureClass.OK:
            return _build_refusal(execution, "the tests ended the process that they ran in")
        return replace(execution, tests_passed=0, tests_total=1, tests_failed=(0,), tests_apart=True)
    problem = found["syntax"] or found["error"]
    not_run = found["lacking"]
    if found["syntax"]:
        not_run = f"the tests cannot be read: {found['syntax']['message']}"
    elif found["noData"]:
        not_run = f"the program answers with an object that is no data: {found['noData']}"
    return _Report(
        calls=tuple(found["calls"]),
        results=tuple(found["results"]),
        is_complete=found["isComplete"],
        share=found["share"],
        not_run=not_run,
        raised=Raised(problem["type"], problem["message"]) if problem else None,
    )


def _build_tests(program: Program) -> str:
    """Return the tests, with a call of `check` where they define it and do not call it."""
    tests = program.tests or ""
    entry_point = program.entry_point
    defines = re.search(r"\bcheck\s*=|\bfunction\s+check\b", tests)
    calls = re.search(r"^\s*(?:await\s+)?check\(", tests, re.MULTILINE)
    if entry_point is None or not _is_name(entry_point) or not defines or calls:
        return tests
    return f"{tests}\n;await check({entry_point});"


def _run_calls(
    program: Program, calls: tuple[Mapping[str, Any], ...], run: RunProgram
) -> tuple[Execution, list[Mapping[str, Any]] | None]:
    """Run the program and have it carry out calls; returns its answers, None where it gave not each one."""
    mark = secrets.token_hex(16)
    names = sorted({call["name"] for call in calls if call["name"] and _is_name(call["name"])})
    table = ", ".join(f"{name}: typeof {name} === 'undefined' ? undefined : {name}" for name in names)
    modules = [module for name in program.files for module in (f"./{name}", f"./{name.rpartition('.')[0]}")]
    tail = (
        f"\n;((NAMES, EXPORTS) => {{\nconst MARK = {json.dumps(mark)};\nconst CALLS = {json.dumps(calls)};\n"
        f"const FILES = {json.dumps(modules)};\n"
        f"{_read_part('codec.js')}{_read_part('decode.js')}{_read_part('program.js')}\ncarryOut();\n"
        f"}})({{ {table} }}, typeof module === 'undefined' ? undefined : module.exports);\n"
    )
    execution = run(
        _build_reporting_program(replace(program, source=program.source + tail, tests=None, entry_point=None))
    )
    found = _read_marked_line(execution.stdout, mark)
    shown = replace(execution, stdout=execution.stdout.partition(f"\n{mark}")[0])
    is_whole = isinstance(found, list) and len(found) == len(calls) and all(map(_is_answer, found))
    return shown, found if is_whole and execution.failure_class is FailureClass.OK else None


def _is_answer(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        return False
    return value["kind"] == "missing" or "value" in value


def _is_name(text: str) -> bool:
    return _IDENTIFIER.match(text) is not None and _RESERVED.match(text) is None


def _build_reporting_program(program: Program) -> Program:
    """Return a program that may write what it has to report."""
    limits = program.limits
    return replace(program, limits=replace(limits, output_bytes=max(limits.output_bytes, _MIN_OUTPUT_BYTES)))


def _read_marked_line(stdout: str, mark: str) -> Any:
    """Return what the last line with the mark holds as JSON; None where there is none."""
    _, found, rest = stdout.rpartition(f"\n{mark}")
    if not found:
        return None
    try:
        return json.loads(rest.partition("\n")[0])
    except (ValueError, RecursionError):
        return None


@cache
def _read_part(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _add_results(execution: Execution, report: _Report) -> Execution:
    """Return the program's execution with the results of its tests."""
    if report.not_run or not report.results:
        return _build_refusal(
            execution, report.not_run or report.share or "the tests have no assertion that ran"
        )
    failed = tuple(number for number, result in enumerate(report.results) if not result["passed"])
    total = len(report.results)
    return replace(
        execution,
        failure_class=FailureClass.ASSERTION_FAILURE if failed else FailureClass.OK,
        exit_code=1 if failed else 0,
        raised=report.raised if failed else None,
        tests_passed=total - len(failed),
        tests_total=total,
        tests_failed=failed,
        tests_names=_list_names(report),
        tests_apart=True,
    )


def _add_failure(execution: Execution, report: _Report) -> Execution:
    """Return the execution of a program that did not answer: none of its tests passes."""
    total = max(len(report.results), 1)
    ended = execution.failure_class is FailureClass.OK
    return replace(
        execution,
        failure_class=FailureClass.ASSERTION_FAILURE if ended else execution.failure_class,
        exit_code=1 if ended else execution.exit_code,
        raised=Raised("Error", "the program ended before it answered its tests")
        if ended
        else execution.raised,
        tests_passed=0,
        tests_total=total,
        tests_failed=tuple(range(total)),
        tests_names=_list_names(report),
        tests_apart=True,
    )


def _list_names(report: _Report) -> tuple[str, ...]:
    return tuple(str(result["name"])[:_NAME_CHARACTERS] for result in report.results[:_MAX_NAMES])


def _build_refusal(execution: Execution, reason: str) -> Execution:
    return replace(execution, failure_class=FailureClass.TESTS_NOT_RUN, reason=reason)


def _run_shared(program: Program, run: RunProgram) -> Execution:
    """Run the tests behind the program, in its interpreter: it must come to the tests' end."""
    mark = secrets.token_hex(16)
    count = (
        "{ let number = 0; console.assert = (holds) => {"
        f" process.stdout.write(`\\n{mark} ${{holds ? 1 : 0}}\\n`); number++; }}; }}"
    )
    source = f"{program.source}\n;{count}\n{program.tests}\n;process.stdout.write('\\n{mark} end\\n');\n"
    execution = run(_build_reporting_program(replace(program, source=source, tests=None, entry_point=None)))
    marked = [
        line.removeprefix(mark).strip() for line in execution.stdout.split("\n") if line.startswith(mark)
    ]
    results = [mark == "1" for mark in marked if mark != "end"] or ["end" in marked]
    if "end" not in marked:
        results = [*results, False]
    failed = tuple(number for number, passed in enumerate(results) if not passed)
    is_ok = execution.failure_class is FailureClass.OK
    return replace(
        execution,
        stdout=re.sub(rf"\n{mark} \w+\n", "", execution.stdout),
        failure_class=FailureClass.ASSERTION_FAILURE if is_ok and failed else execution.failure_class,
        tests_passed=len(results) - len(failed),
        tests_total=len(results),
        tests_failed=failed,
        tests_names=tuple(f"assertion {number + 1}" for number in range(len(results)))[:_MAX_NAMES],
        tests_apart=False,
    )
