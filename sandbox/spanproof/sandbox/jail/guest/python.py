"""Running one Python program as `__main__`, with its tests, and telling how it ended.

In: the job's source. Out: output on the standard descriptors, reports to the slot, and the exit code a plain
interpreter would have given. The report of an exception is sent before anything else of the program runs.
"""

from __future__ import annotations

import atexit
import builtins
import linecache
import os
import sys
import threading
import traceback
from types import CodeType, ModuleType
from typing import Any

from spanproof.sandbox.jail.guest.reporter import Reporter, describe
from spanproof.sandbox.jail.guest.testing import Plan, Tally, plan_tests, run_plan

FILENAME = "<snippet>"

# Bound early: a program may replace any of them, and they are needed after it ran.
_compile = builtins.compile
_exec = builtins.exec
_print_exception = traceback.print_exception
_run_exit_functions = atexit._run_exitfuncs  # noqa: SLF001 - what the interpreter itself calls at its end
_join_threads = threading._shutdown  # type: ignore[attr-defined]  # noqa: SLF001
_default_hook = sys.__excepthook__
_stdout, _stderr = sys.stdout, sys.stderr


def run_program(source: str, tests: str | None, entry_point: str | None, reporter: Reporter) -> int:
    """Run a program and its tests; returns the exit code."""
    recorder = f"_record_{os.urandom(8).hex()}"
    plan: Plan | None = None
    try:
        if tests is not None:
            plan = plan_tests(tests, entry_point, recorder)
            reporter.send("planned", total=plan.total)
        code = compile_source(source)
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError) as problem:
        return _does_not_compile(problem, reporter)
    module = fresh_main()
    try:
        _exec(code, module.__dict__)
        if plan is not None:
            return _tested(plan, module.__dict__, entry_point, recorder, reporter)
    except BaseException as exception:  # noqa: BLE001 - whatever the program raises ends it
        return ended_by(exception, reporter)
    reporter.send("finished")
    return shut_down(0)


def compile_source(source: str) -> CodeType:
    """Compile, and let tracebacks and `inspect` see the source.

    Raises:
        SyntaxError, ValueError: it is not Python; NUL bytes and lone surrogates are among the reasons.
    """
    linecache.cache[FILENAME] = (len(source), None, source.splitlines(keepends=True), FILENAME)
    return _compile(source, FILENAME, "exec", dont_inherit=True)


def fresh_main() -> ModuleType:
    """A new `__main__`, as a plain interpreter has it."""
    module = ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = module
    sys.argv = [""]
    return module


def ended_by(exception: BaseException, reporter: Reporter) -> int:
    """Tell what ended the program, print it as Python does, and shut down; returns the exit code."""
    if isinstance(exception, SystemExit):
        reporter.send("finished")
        return shut_down(exit_code_of(exception))
    reporter.send("raised", raised=describe(exception, FILENAME))
    print_exception(exception)
    return shut_down(1)


def print_exception(exception: BaseException) -> None:
    """The traceback on stderr, without the frames of the runner; a hook the program set is honoured."""
    trace = exception.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith("spanproof."):
        trace = trace.tb_next
    hook = sys.excepthook
    try:
        if hook is not _default_hook:
            hook(type(exception), exception, trace)
        else:
            _print_exception(type(exception), exception, trace)
    except BaseException:  # noqa: BLE001 - a broken hook or stderr must not hide how the program ended
        return


def exit_code_of(exception: SystemExit) -> int:
    """What the interpreter would exit with."""
    code = exception.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    try:
        print(code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 - the value's __str__ is the program's
        return 1
    return 1


def shut_down(code: int) -> int:
    """What the interpreter does at its end, as far as a program can see it."""
    for step in (_join_threads, _run_exit_functions, _flush):
        try:
            step()
        except BaseException as failure:  # noqa: BLE001 - an exit function may raise anything
            if isinstance(failure, SystemExit):
                code = exit_code_of(failure)
    return code


def _flush() -> None:
    for stream in {id(s): s for s in (sys.stdout, sys.stderr, _stdout, _stderr) if s is not None}.values():
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue


def _does_not_compile(problem: BaseException, reporter: Reporter) -> int:
    reporter.send("syntax", raised=describe(problem, FILENAME))
    print_exception(problem.with_traceback(None))
    return shut_down(1)


def _tested(
    plan: Plan, namespace: dict[str, Any], entry_point: str | None, recorder: str, reporter: Reporter
) -> int:
    tally = Tally(reporter)
    run_plan(plan, namespace, entry_point, recorder, tally)
    if tally.first_failure is not None:
        return ended_by(tally.first_failure, reporter)
    reporter.send("finished")
    return shut_down(0)
