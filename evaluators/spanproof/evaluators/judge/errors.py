"""What can go wrong with a judge.

JudgeError
├── RubricError        a rubric does not say what it must
├── JudgeUnavailable   the model cannot be asked here: what to install or set
├── JudgeFailed        it was asked and did not answer well, twice
└── OverBudget         it was not asked, as that would cost more than allowed
"""

from __future__ import annotations


class JudgeError(Exception):
    """Root of the judge's errors."""


class RubricError(JudgeError):
    """A rubric cannot be used; the message names the file and the remedy."""


class JudgeUnavailable(JudgeError):  # noqa: N818 - a state, not a mistake
    """The model cannot be asked here; the message says what to install or set."""


class JudgeFailed(JudgeError):  # noqa: N818 - says what happened
    """The model was asked, twice where that made sense, and gave nothing usable.

    Attributes:
        kind: `unreachable`, `refused`, `malformed`, `out_of_range` or `misquoted`.
        wait_s: how long it asks to be left alone before it is asked again.
    """

    def __init__(self, kind: str, message: str, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.kind = kind
        self.wait_s = wait_s


class OverBudget(JudgeError):  # noqa: N818 - a state, not a mistake
    """Asking would cost more than allowed; the message says which limit."""
