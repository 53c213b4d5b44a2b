"""The errors of the gate.

    GateError
    ├── AssertionSyntaxError    an assertion cannot be read; column and expectation are named
    ├── AssertionRefused        an assertion can be read and makes no sense; cause and remedy are named
    ├── BadAssertions           a file of assertions cannot be read; file and entry are named
    ├── NoBaseline              an assertion needs the scores of a baseline, and none are given
    └── BadScores               a file of scores cannot be read; file and line are named

An assertion that does not hold is no error: it is a report.
"""

from __future__ import annotations


class GateError(Exception):
    """Root of all errors the gate raises."""


class AssertionSyntaxError(GateError):
    """An assertion cannot be read.

    Attributes:
        text: the assertion.
        column: where it goes wrong, from 1.
        expected: what is expected there.
    """

    def __init__(self, text: str, column: int, expected: str) -> None:
        words = text[column - 1 :].split()
        where = f"found {words[0]!r}" if words else "it ends there"
        super().__init__(f"assertion {text!r}, column {column}: expected {expected}, but {where}")
        self.text = text
        self.column = column
        self.expected = expected


class AssertionRefused(GateError):  # noqa: N818 - says what happened
    """An assertion names no score, or compares what can never or always hold.

    Attributes:
        text: the assertion.
        column: of the part that is refused, from 1.
        reason: what is wrong, with the remedy.
    """

    def __init__(self, text: str, column: int, reason: str) -> None:
        super().__init__(f"assertion {text!r}, column {column}: {reason}")
        self.text = text
        self.column = column
        self.reason = reason


class BadAssertions(GateError):  # noqa: N818 - names the input
    """A file of assertions cannot be read."""


class NoBaseline(GateError):  # noqa: N818 - says what is missing
    """An assertion compares with a baseline, and none is given."""


class BadScores(GateError):  # noqa: N818 - names the input
    """A file of scores cannot be read."""
