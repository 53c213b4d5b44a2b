"""The errors of the gate.

    GateError
    ├── AssertionSyntaxError    an assertion cannot be read; column and expectation are named
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
        expected: what should stand there.
    """

    def __init__(self, text: str, column: int, expected: str) -> None:
        words = text[column - 1 :].split()
        where = f"found {words[0]!r}" if words else "it ends there"
        super().__init__(f"assertion {text!r}, column {column}: expected {expected}, but {where}")
        self.text = text
        self.column = column
        self.expected = expected


class BadScores(GateError):  # noqa: N818 - names the input
    """A file of scores cannot be read."""
