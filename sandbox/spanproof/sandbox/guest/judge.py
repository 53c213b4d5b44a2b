"""The process that holds a program's tests: forked before the program runs, and closed to it.

In: the tests, from the supervisor, after the fork; answers of the program's process: plain data or handles.
Out: each test's result, under a token of its own. The program's code never runs here, and its process can
neither read nor write this one: whatever it does, it can only answer. What the tests import is loaded before
the program exists. Tests that need the program's interpreter (they patch, capture, hand over objects of their
own) move there, and it is reported: no program decides that.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any, NoReturn

from spanproof.sandbox import kernel
from spanproof.sandbox.guest import candidate
from spanproof.sandbox.guest.collecting import run_tests
from spanproof.sandbox.guest.ending import print_exception, resolve_exit_code
from spanproof.sandbox.guest.inbox import Inbox
from spanproof.sandbox.guest.prepared import RECORDER, PreparedTests, prepare_tests
from spanproof.sandbox.guest.remote import Names, Program
from spanproof.sandbox.guest.reporter import CONTROL_FD, Reporter, describe
from spanproof.sandbox.guest.testing import TESTS_FILENAME, Tally
from spanproof.sandbox.guest.trusted import TrustedImports

# The process that speaks to the supervisor under the judge's token has nothing more to say.
_HANDED_OVER = 0


def judge_main(stream: socket.socket, inbox: Inbox, initial: Reporter, entry_point: str | None) -> None:
    """Judge the program at the other end; in a process of its own, before the program has run."""
    reporter = initial
    try:
        initial.send("judge", hidden=_hide())
        header, parts = inbox.next("tests")
        reporter = Reporter(CONTROL_FD, header["token"])
        tests = parts[0].decode("utf-8", "surrogatepass")
        code = _Judge(tests, entry_point, stream, reporter).judge(header["prepared"])
        candidate.send(stream, ["done", code])
    except BaseException as failure:  # noqa: BLE001 - must not unwind into the program's process
        reporter.send("raised", raised=describe(failure, TESTS_FILENAME))
    finally:
        os._exit(0)


def _hide() -> bool:
    """Close our memory to every process of our user; the caller decides what a refusal means."""
    try:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    except OSError:
        return False
    return True


class _Judge:
    """The tests of one program."""

    def __init__(
        self, tests: str, entry_point: str | None, stream: socket.socket, reporter: Reporter
    ) -> None:
        self._tests, self._entry_point = tests, entry_point
        self._stream, self._reporter = stream, reporter
        self._word_is_noted = False

    def judge(self, message: list[Any] | None) -> int:
        """Run the tests; returns the exit code the program's process shall end with.

        Args:
            message: them, prepared; None where the supervisor has not done so.
        """
        try:
            prepared = self._prepare(message)
        except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError) as problem:
            self._reporter.send("syntax", raised=describe(problem, TESTS_FILENAME))
            print_exception(problem.with_traceback(None))
            return 1
        tally = Tally(self._reporter)
        tally.report_plan(prepared.expected, "")
        if prepared.reason_to_share is not None:
            self._move_inside()
        trusted = TrustedImports((*prepared.imports, *prepared.collectors))
        candidate.send(self._stream, ["apart"])
        try:
            ready = candidate.receive(self._stream)
        except EOFError:
            os._exit(_HANDED_OVER)  # the program ended before its tests, and has reported how itself
        if ready != ["ready"]:
            return 1
        return self._run(prepared, trusted, tally)

    def _prepare(self, message: list[Any] | None) -> PreparedTests:
        if message is None:
            return prepare_tests(self._tests, self._entry_point)
        return PreparedTests.from_message(message)

    def _run(self, prepared: PreparedTests, trusted: TrustedImports, tally: Tally) -> int:
        program = Program(self._stream, trusted, note_word=self._report_word, move_inside=self._move_inside)
        names = Names(program, trusted, prepared.program_builtins)
        try:
            run_tests(
                self._tests,
                prepared.plan,
                prepared.collectors,
                names,
                self._entry_point,
                RECORDER,
                tally,
                count_questions=lambda: program.questions,
            )
        except BaseException as exception:  # noqa: BLE001 - whatever test code raises ends the tests
            return self._report_end(exception)
        if tally.first_failure is not None:
            return self._report_end(tally.first_failure)
        _flush()
        return 0

    def _report_word(self) -> None:
        """Report once that the program's own methods decided a comparison."""
        if not self._word_is_noted:
            self._word_is_noted = True
            self._reporter.send("word")

    def _move_inside(self) -> NoReturn:
        """Hand the tests to the program's process, which runs them from their beginning."""
        _flush()
        self._reporter.send("inside")
        candidate.send(self._stream, ["inside", self._tests])
        os._exit(_HANDED_OVER)

    def _report_end(self, exception: BaseException) -> int:
        if isinstance(exception, SystemExit):
            return resolve_exit_code(exception)
        self._reporter.send("raised", raised=describe(exception, "<snippet>"))
        print_exception(exception)
        _flush()
        return 1


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
