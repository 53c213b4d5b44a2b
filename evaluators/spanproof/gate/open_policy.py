"""What an open verdict counts as where cases, rates and trials are held against a limit.

An open verdict was scored without a label: it has neither passed nor failed. It counts as not passed unless
the user says otherwise, and a report states it where the user did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from spanproof.trace import Cause, describe_cause


class OpenPolicy(StrEnum):
    """The values of `--open`; see docs/gate.md."""

    NOT_PASSED = "not-passed"
    """It counts as a case that may still fail: nothing passes by it, and nothing fails by it alone."""
    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    IGNORE = "ignore"
    """It is left out, as what was skipped is."""

    @property
    def remark(self) -> str:
        """What a report states of it; empty of the default."""
        return {
            OpenPolicy.NOT_PASSED: "",
            OpenPolicy.PASS: "open counts as passed (--open pass)",
            OpenPolicy.FAIL: "open counts as failed (--open fail)",
            OpenPolicy.IGNORE: "open is left out (--open ignore)",
        }[self]

    def format_open(self, number: int, causes: Iterable[Cause | None] = ()) -> str:
        """Return how many are open, what they count as, and the gravest cause: `3 open: 2 answers hold …`."""
        counted = {
            OpenPolicy.NOT_PASSED: "",
            OpenPolicy.PASS: ", counted as passed",
            OpenPolicy.FAIL: ", counted as failed",
            OpenPolicy.IGNORE: ", left out",
        }[self]
        cause = describe_gravest_cause(causes)
        return f"{number:,} open{counted}" + (f": {cause}" if cause else "")


def parse_open_policy(location: str, value: object) -> OpenPolicy:
    """Return what a file or a marker says under `open`.

    Args:
        location: where it is written, for the error.
        value: what is written.

    Raises:
        ValueError: it is none of the values of `--open`; names the location and the values.
    """
    try:
        return OpenPolicy(str(value))
    except ValueError:
        choices = ", ".join(OpenPolicy)
        raise ValueError(f"{location}: open must be one of {choices}, got {value!r}") from None


def describe_gravest_cause(causes: Iterable[Cause | None]) -> str:
    """Return the gravest cause with its count; empty where no cause is known.

    `Cause` lists them from the gravest on.
    """
    counts = Counter(cause for cause in causes if cause is not None)
    if not counts:
        return ""
    gravest = min(counts, key=list(Cause).index)
    return describe_cause(gravest, counts[gravest])
