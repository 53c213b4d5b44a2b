"""The process that holds a program's tests: forked before the program runs, and closed to it.

In: from the supervisor, after the fork, the tests and the program, which it hands on; from the program's
process, answers: plain data or handles. Out: each test's result, under a token of its own. The program's code
never runs here, and its process can neither read nor write this one: whatever it does, it can only answer.
What the tests import is loaded before the program exists. Tests that need the program's interpreter (they
patch, capture, hand over objects of their own) move there, and it is reported: no program decides that.
"""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass
from typing import Any, NoReturn

from spanproof.sandbox import kernel
from spanproof.sandbox.guest import candidate
from spanproof.sandbox.guest.collecting import run_tests
from spanproof.sandbox.guest.ending import get_exit_code, write_exception
from spanproof.sandbox.guest.inbox import Inbox
from spanproof.sandbox.guest.prepared import RECORDER, PreparedTests, build_tests
from spanproof.sandbox.guest.remote import Names, Program
from spanproof.sandbox.guest.reporter import CONTROL_FD, Reporter, encode_exception
from spanproof.sandbox.guest.testing import TESTS_FILENAME, Tally
from spanproof.sandbox.guest.trusted import TrustedImports

# The process that speaks to the supervisor under the judge's token has nothing more to say.
_HANDED_OVER = 0


def run_judge(stream: socket.socket, inbox: Inbox, initial: Reporter, collectors: list[str]) -> None:
    """Judge the program at the other end; in a process of its own, before the program has run.

    Args:
        stream: to the program's process.
        inbox: of the tests and the program.
        initial: bears the token of the program's process.
        collectors: modules to load while there are no tests yet.
    """
    reporter = initial
    try:
        is_hidden = _hides_memory()
        trusted = TrustedImports()
        trusted.add_likely_modules(collectors)
        initial.send("judge", hidden=is_hidden)
        header, parts = inbox.wait_for_message("tests")
        reporter = Reporter(CONTROL_FD, header["token"])
        tests, source = (part.decode("utf-8", "surrogatepass") for part in parts)
        subject = _Subject(source, tests, header["entry_point"], header["modules"])
        code = _Judge(subject, stream, reporter, trusted).judge(header["prepared"])
        candidate.send_message(stream, ["done", code])
    except BaseException as failure:  # noqa: BLE001 - must not unwind into the program's process
        reporter.send("raised", raised=encode_exception(failure, TESTS_FILENAME))
    finally:
        os._exit(0)


def _hides_memory() -> bool:
    """Close our memory to every process of our user; the caller decides what a refusal means."""
    try:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is judged, and by what: the texts of a program and of its tests.

    Attributes:
        entry_point: what of the program `check` is given.
        modules: names of the program's own modules.
    """

    source: str
    tests: str
    entry_point: str | None
    modules: list[str]


class _Judge:
    """The tests of one program."""

    def __init__(
        self, subject: _Subject, stream: socket.socket, reporter: Reporter, trusted: TrustedImports
    ) -> None:
        self._subject = subject
        self._stream, self._reporter = stream, reporter
        self._trusted = trusted
        self._program_is_handed_on = False
        self._word_is_noted = False

    def judge(self, message: list[Any] | None) -> int:
        """Run the tests; returns the exit code the program's process shall end with.

        Args:
            message: them, prepared; None where the supervisor has not done so.
        """
        try:
            prepared = self._build_tests(message)
        except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError) as problem:
            self._reporter.send("syntax", raised=encode_exception(problem, TESTS_FILENAME))
            write_exception(problem.with_traceback(None))
            return 1
        tally = Tally(self._reporter)
        tally.send_plan(prepared.expected, "")
        if prepared.reason_to_share is not None:
            self._run_inside()
        self._trusted.add_test_imports((*prepared.imports, *prepared.collectors), self._subject.modules)
        self._start_program(tests=None)
        try:
            ready = candidate.wait_for_message(self._stream)
        except EOFError:
            os._exit(_HANDED_OVER)  # the program ended before its tests, and has reported how itself
        if ready != ["ready"]:
            return 1
        return self._run(prepared, tally)

    def _build_tests(self, message: list[Any] | None) -> PreparedTests:
        if message is None:
            return build_tests(self._subject.tests, self._subject.entry_point)
        return PreparedTests.from_message(message)

    def _start_program(self, *, tests: str | None) -> None:
        """Let the program run, with these tests inside where there are any."""
        self._program_is_handed_on = True
        candidate.send_message(
            self._stream, ["program", self._subject.source, self._subject.entry_point, tests]
        )

    def _run(self, prepared: PreparedTests, tally: Tally) -> int:
        trusted = self._trusted
        program = Program(self._stream, trusted, note_word=self._send_word, move_inside=self._run_inside)
        names = Names(program, trusted, prepared.program_builtins)
        try:
            run_tests(
                self._subject.tests,
                prepared.plan,
                prepared.collectors,
                names,
                self._subject.entry_point,
                RECORDER,
                tally,
                count_questions=lambda: program.questions,
            )
        except BaseException as exception:  # noqa: BLE001 - whatever test code raises ends the tests
            return self._handle_end(exception)
        if tally.first_failure is not None:
            return self._handle_end(tally.first_failure)
        _write_streams()
        return 0

    def _send_word(self) -> None:
        """Report once that the program's own methods decided a comparison."""
        if not self._word_is_noted:
            self._word_is_noted = True
            self._reporter.send("word")

    def _run_inside(self) -> NoReturn:
        """Hand the tests to the program's process, which runs them from their beginning."""
        _write_streams()
        self._reporter.send("inside")
        if self._program_is_handed_on:
            candidate.send_message(self._stream, ["inside", self._subject.tests])
        else:
            self._start_program(tests=self._subject.tests)
        os._exit(_HANDED_OVER)

    def _handle_end(self, exception: BaseException) -> int:
        if isinstance(exception, SystemExit):
            return get_exit_code(exception)
        self._reporter.send("raised", raised=encode_exception(exception, "<snippet>"))
        write_exception(exception)
        _write_streams()
        return 1


def _write_streams() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
