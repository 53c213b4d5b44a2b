"""What can go wrong with a judge.

JudgeError
├── RubricError        a rubric does not say what it must
├── JudgeUnavailable   the model cannot be called here: what to install or set
├── JudgeFailed        it was called twice, and its reply was not usable
└── OverBudget         it was not called, as that would cost more than allowed
"""

from __future__ import annotations


class JudgeError(Exception):
    """Root of the judge's errors."""


class RubricError(JudgeError):
    """A rubric cannot be used; the message names the file and the remedy."""


class JudgeUnavailable(JudgeError):  # noqa: N818 - a state, not a mistake
    """The model cannot be called here; the message says what to install or set."""


class JudgeFailed(JudgeError):  # noqa: N818 - says what happened
    """The model was called, twice where that made sense, and gave nothing usable.

    Attributes:
        kind: `unreachable`, `refused`, `malformed`, `out_of_range` or `misquoted`.
        wait_s: seconds that it requires to be waited before the next call.
        dollars: what the unusable replies cost.
    """

    def __init__(self, kind: str, message: str, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.kind = kind
        self.wait_s = wait_s
        self.dollars = 0.0


class OverBudget(JudgeError):  # noqa: N818 - a state, not a mistake
    """Asking would cost more than allowed; the message says which limit."""
