"""Running one Python program as `__main__`, and reporting how it ended; its tests are held by `judge`.

In: the job's source. Out: output on the standard descriptors, reports to the supervisor, and the exit code a
plain interpreter would have given. The report of an exception is sent before anything else of the program
runs.
"""

from __future__ import annotations

import builtins
import linecache
import os
import socket
import sys
import time
from types import CodeType, ModuleType
from typing import Any

from spanproof.sandbox.guest import candidate
from spanproof.sandbox.guest.collecting import list_collectors, run_tests
from spanproof.sandbox.guest.ending import get_exit_code, write_exception
from spanproof.sandbox.guest.inbox import Inbox
from spanproof.sandbox.guest.judge import run_judge
from spanproof.sandbox.guest.reporter import Reporter, encode_exception
from spanproof.sandbox.guest.testing import Tally, build_test_plan

FILENAME = "<snippet>"
_FORKS = 20
_FORK_AGAIN_S = 0.05

# Bound early: a program may replace any of them, and they are needed after it ran.
_compile = builtins.compile
_exec = builtins.exec


def run_program(source: str, reporter: Reporter) -> int:
    """Run a program; returns the exit code."""
    try:
        code = build_code(source)
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError) as problem:
        return _handle_syntax_error(problem, reporter)
    try:
        _exec(code, build_main_module().__dict__)
    except BaseException as exception:  # noqa: BLE001 - whatever the program raises ends it
        return handle_end(exception, reporter)
    reporter.send("finished")
    return 0


def run_tested(inbox: Inbox, reporter: Reporter, collectors: list[str]) -> int:
    """Run a program, then its tests, which another process holds; returns the exit code.

    Args:
        inbox: of the tests, which come with the program.
        reporter: of the program.
        collectors: modules that may collect the tests, for their process to load while it waits.
    """
    ours = _start_judge(inbox, reporter, collectors)
    try:
        word = candidate.wait_for_message(ours)
        if word[0] == "done":
            return int(word[1])
        source, entry_point, tests = word[1:]
        code = build_code(source)
    except EOFError:
        return 1
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError) as problem:
        return _handle_syntax_error(problem, reporter)
    namespace = build_main_module().__dict__
    try:
        _exec(code, namespace)
        if tests is not None:
            return _run_tests_inside(tests, namespace, entry_point, reporter)
    except BaseException as exception:  # noqa: BLE001 - whatever the program raises ends it
        return handle_end(exception, reporter)
    try:
        return _run_candidate(namespace, ours)
    except candidate.MovedInside as moved:
        tests = moved.tests
    try:
        return _run_tests_inside(tests, namespace, entry_point, reporter)
    except BaseException as exception:  # noqa: BLE001 - whatever the program raises ends it
        return handle_end(exception, reporter)


def _start_judge(inbox: Inbox, reporter: Reporter, collectors: list[str]) -> socket.socket:
    """Start the process that holds the tests; return what leads there.

    It is no child of ours: a program that waits for all its children would wait for it.
    """
    ours, theirs = socket.socketpair()
    parent = _run_fork()
    if parent == 0:
        try:
            ours.close()
            if _run_fork() == 0:
                run_judge(theirs, inbox, reporter, collectors)
        finally:
            os._exit(0)
    theirs.close()
    os.waitpid(parent, 0)
    return ours


def _run_fork() -> int:
    """Fork as `os.fork`; tried again where the user's other processes have taken its room for a moment.

    Raises:
        BlockingIOError: there is none.
    """
    for _ in range(_FORKS):
        try:
            return os.fork()
        except BlockingIOError:
            time.sleep(_FORK_AGAIN_S)
    return os.fork()


def _run_candidate(namespace: dict[str, Any], stream: socket.socket) -> int:
    try:
        candidate.send_message(stream, ["ready"])
        return candidate.Candidate(namespace, stream).run_until_done()
    except (EOFError, OSError, ValueError):
        return 1


def build_code(source: str) -> CodeType:
    """Compile, and let tracebacks and `inspect` see the source.

    Raises:
        SyntaxError, ValueError: it is not Python; NUL bytes and lone surrogates are among the reasons.
    """
    record_source(source)
    return _compile(source, FILENAME, "exec", 0, True)  # noqa: FBT003 - it inherits no future of ours


def record_source(source: str) -> None:
    """Let tracebacks and `inspect` see it."""
    linecache.cache[FILENAME] = (len(source), None, source.splitlines(keepends=True), FILENAME)


def build_main_module() -> ModuleType:
    """Return a new `__main__`, as a plain interpreter has it."""
    module = ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = module
    sys.argv = [""]
    return module


def handle_end(exception: BaseException, reporter: Reporter) -> int:
    """Report what ended the program, and print it as Python does; returns the exit code."""
    if isinstance(exception, SystemExit):
        reporter.send("finished")
        return get_exit_code(exception)
    reporter.send("raised", raised=encode_exception(exception, FILENAME))
    write_exception(exception)
    # As the interpreter does: what lives in the frames of the program ends after its exit functions.
    sys.last_type, sys.last_value, sys.last_traceback = type(exception), exception, exception.__traceback__
    return 1


def _handle_syntax_error(problem: BaseException, reporter: Reporter) -> int:
    reporter.send("syntax", raised=encode_exception(problem, FILENAME))
    write_exception(problem.with_traceback(None))
    return 1


def _run_tests_inside(
    tests: str, namespace: dict[str, Any], entry_point: str | None, reporter: Reporter
) -> int:
    """Run tests that share the program's interpreter, because their text says that they must."""
    recorder = f"_record_{os.urandom(8).hex()}"
    tally = Tally(reporter)
    plan = build_test_plan(tests, entry_point, recorder)
    run_tests(tests, plan, list_collectors(tests), namespace, entry_point, recorder, tally)
    if tally.first_failure is not None:
        return handle_end(tally.first_failure, reporter)
    reporter.send("finished")
    return 0
