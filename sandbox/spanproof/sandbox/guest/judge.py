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
from spanproof.sandbox.guest.ending import print_exception, resolve_exit_code
from spanproof.sandbox.guest.inbox import Inbox
from spanproof.sandbox.guest.prepared import RECORDER, PreparedTests, prepare_tests
from spanproof.sandbox.guest.remote import Names, Program
from spanproof.sandbox.guest.reporter import CONTROL_FD, Reporter, describe
from spanproof.sandbox.guest.testing import TESTS_FILENAME, Tally
from spanproof.sandbox.guest.trusted import TrustedImports

# The process that speaks to the supervisor under the judge's token has nothing more to say.
_HANDED_OVER = 0


def judge_main(stream: socket.socket, inbox: Inbox, initial: Reporter, collectors: list[str]) -> None:
    """Judge the program at the other end; in a process of its own, before the program has run.

    Args:
        stream: to the program's process.
        inbox: of the tests and the program.
        initial: bears the token of the program's process.
        collectors: modules to load while there are no tests yet.
    """
    reporter = initial
    try:
        is_hidden = _hide()
        trusted = TrustedImports()
        trusted.warm_up(collectors)
        initial.send("judge", hidden=is_hidden)
        header, parts = inbox.next("tests")
        reporter = Reporter(CONTROL_FD, header["token"])
        tests, source = (part.decode("utf-8", "surrogatepass") for part in parts)
        subject = _Subject(source, tests, header["entry_point"], header["modules"])
        code = _Judge(subject, stream, reporter, trusted).judge(header["prepared"])
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
            prepared = self._prepare(message)
        except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError) as problem:
            self._reporter.send("syntax", raised=describe(problem, TESTS_FILENAME))
            print_exception(problem.with_traceback(None))
            return 1
        tally = Tally(self._reporter)
        tally.report_plan(prepared.expected, "")
        if prepared.reason_to_share is not None:
            self._move_inside()
        self._trusted.load((*prepared.imports, *prepared.collectors), self._subject.modules)
        self._hand_on_program(tests=None)
        try:
            ready = candidate.receive(self._stream)
        except EOFError:
            os._exit(_HANDED_OVER)  # the program ended before its tests, and has reported how itself
        if ready != ["ready"]:
            return 1
        return self._run(prepared, tally)

    def _prepare(self, message: list[Any] | None) -> PreparedTests:
        if message is None:
            return prepare_tests(self._subject.tests, self._subject.entry_point)
        return PreparedTests.from_message(message)

    def _hand_on_program(self, *, tests: str | None) -> None:
        """Let the program run, with these tests inside where there are any."""
        self._program_is_handed_on = True
        candidate.send(self._stream, ["program", self._subject.source, self._subject.entry_point, tests])

    def _run(self, prepared: PreparedTests, tally: Tally) -> int:
        trusted = self._trusted
        program = Program(self._stream, trusted, note_word=self._report_word, move_inside=self._move_inside)
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
        if self._program_is_handed_on:
            candidate.send(self._stream, ["inside", self._subject.tests])
        else:
            self._hand_on_program(tests=self._subject.tests)
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
