"""What a run's processes say of how it went: the program's, and the one that holds its tests.

In: decoded messages. Out: the outcome and each test's result, as reported by the process with the right
token. A message without one is dropped; the tests' process has a token that the program's never sees, and its
word outweighs. All of it is the guest's word: `spanproof.sandbox.guest.outcome` believes it only where the
kernel agrees.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from itertools import islice
from typing import Any

from spanproof.sandbox.guest.inbox import encode_message
from spanproof.sandbox.guest.prepared import load_message
from spanproof.sandbox.guest.trusted import list_own_modules
from spanproof.sandbox.guest.wire import Frame, Header

MOST_FAILED = 1_000
"""Numbers of failed tests that are reported."""

# As many as can be planned.
_TESTS = 100_000


@dataclass(frozen=True, slots=True)
class HiddenTests:
    """What the process that judges a program is handed.

    Attributes:
        text: of the tests.
        source: of the program, which the judge hands on.
        entry_point: that the tests are for.
        modules: names of the program's own modules.
    """

    text: bytes
    source: bytes
    entry_point: str | None
    modules: list[str]

    @classmethod
    def find_in_job(cls, job: Frame) -> HiddenTests | None:
        """Return those of a job that has any."""
        header = job.header
        if not header.get("has_tests"):
            return None
        return cls(job.parts[1], job.parts[0], header["entry_point"], list_own_modules(header["files"]))


class GuestReport:
    """What the guest of one run says of itself.

    Attributes:
        outcome: `finished`, `raised`, `syntax`, `fixture` (what it was to find cannot be made), or None when
            it ended without a word.
        raised: what is reported about the exception.
        result: of a SQL script, the rows of its last query.
    """

    def __init__(self, token: str, tests: HiddenTests | None) -> None:
        """Listen to the program's process, which bears this token, and to its judge where there are tests."""
        self._token = token
        self._tests = tests
        self._judge_tokens: set[str] = set()
        self._planned: int | None = None
        self._results: dict[int, bool] = {}
        self._names: list[str] = []
        self._skipped: set[int] = set()
        self._collector = ""
        self._are_apart = True
        self.outcome: str | None = None
        self.raised: Any = None
        self.result: Any = None

    def run_preparation(self) -> None:
        """Prepare the tests, which takes less time here than in a process that was just forked."""
        if self._tests is not None:
            load_message(self._tests.text, self._tests.entry_point)

    def to_header(self) -> Header:
        """Return all of it, as the host receives it; of tests, where any were planned."""
        header: Header = {"outcome": self.outcome, "raised": self.raised, "result": self.result}
        if self._planned is not None:
            header["tests_total"] = self._planned
            header["tests_passed"] = sum(self._results.values())
            header["tests_failed"] = self._list_failed(self._planned)
            header["tests_skipped"] = sorted(self._skipped)[:MOST_FAILED]
            header["tests_names"] = self._names
            header["tests_collector"] = self._collector
            header["tests_apart"] = self._are_apart
        return header

    def _list_failed(self, planned: int) -> list[int]:
        """Return numbers of the first tests that did not pass, those never carried out among them."""
        missing = (
            number
            for number in range(planned)
            if not self._results.get(number) and number not in self._skipped
        )
        return list(islice(missing, MOST_FAILED))

    def handle(self, message: Header) -> bytes | None:
        """Take one message; gives what is to be sent in answer, where something is."""
        token, answer = message.get("token"), None
        if isinstance(token, str) and token in self._judge_tokens:
            self._handle_judge(message, token)
        if token == self._token:
            answer = self._handle_program(message)
        return answer

    def _handle_program(self, message: Header) -> bytes | None:
        kind = message.get("kind")
        if kind in ("finished", "raised", "syntax", "fixture"):
            if self.outcome is None:
                self.outcome, self.raised = kind, message.get("raised")
                self.result = message.get("result")
        elif kind == "judge" and message.get("hidden") is True:
            return self.fetch_tests()
        return None

    def fetch_tests(self) -> bytes | None:
        """Return the tests, once, with a token the program never sees: it is a fork of another."""
        if self._tests is None:
            return None
        tests, self._tests = self._tests, None
        token = secrets.token_hex(16)
        self._judge_tokens.add(token)
        header = {
            "kind": "tests",
            "token": token,
            "entry_point": tests.entry_point,
            "modules": tests.modules,
            "prepared": load_message(tests.text, tests.entry_point),
        }
        return encode_message(header, [tests.text, tests.source])

    def _handle_judge(self, message: Header, token: str) -> None:
        kind = message.get("kind")
        if kind in ("raised", "syntax"):
            self.outcome, self.raised = kind, message.get("raised")
        elif kind == "inside":
            self._judge_tokens.add(self._token)
            self._are_apart = False
            self._results.clear()  # they begin anew
            self._skipped.clear()
        elif kind == "word":
            self._are_apart = False
        elif kind == "planned":
            self._handle_plan(message, may_shrink=token != self._token)
        elif kind == "skipped":
            self._handle_skip(message.get("number"))
        elif kind == "test":
            self._handle_test(message.get("number"), message.get("passed"))

    def _handle_plan(self, message: Header, *, may_shrink: bool) -> None:
        """Take the number of tests and their names, as expected and then as collected.

        What the program's own process says to have collected only adds to them.
        """
        total, names, collector = message.get("total"), message.get("names"), message.get("collector")
        fewest = 0 if may_shrink else self._planned or 0
        if type(total) is not int or total < fewest:
            return
        self._planned = min(total, _TESTS)
        if isinstance(names, list):
            self._names = [name for name in names if isinstance(name, str)][:MOST_FAILED]
        if collector in ("pytest", "unittest"):
            self._collector = collector

    def _handle_skip(self, number: Any) -> None:
        if type(number) is int and 0 <= number < (self._planned or 0) and number not in self._results:
            self._skipped.add(number)

    def _handle_test(self, number: Any, passed: Any) -> None:
        if type(number) is int and 0 <= number < (self._planned or 0) and type(passed) is bool:
            self._results[number] = self._results.get(number, True) and passed
