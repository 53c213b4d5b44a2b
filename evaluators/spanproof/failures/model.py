"""Failures as values: the signature of one, one occurrence in a run, a cluster of many.

A signature holds structured evidence only: a layer, a check, a failure class, an exception's type, the
exception's message with its values masked, and what it concerns (a tool, a kind of claim, host or path). Two
failures with equal identities are the same failure.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from spanproof.trace import Cohort, Layer, digest

ID_CHARS = 12
"""Hexadecimal digits of a fingerprint: with 10,000 of them, two are alike once in six million stores."""


@dataclass(frozen=True)
class Signature:
    """What identifies a failure.

    Attributes:
        check: the score or the part of it that failed: `outcome`, `scan`, `claim`, `loops`, …
        failure_class: a `FailureClass`, a claim's verdict, an attempt's kind; what went wrong, as an enum.
        error_type: the exception's name without its module, empty where nothing was raised.
        message: the exception's message with its values masked.
        subject: the tool, the kind of claim, host or path, or the scanner's rule; empty for the agent's code.
        package: the installed or standard package whose code raised, empty where the agent's own did.
        cause: the rule of `causes.yaml` that explains it, empty where none does.
        key: of a failure that a rule explains, what sets it apart from others of that rule.
    """

    layer: Layer
    check: str
    failure_class: str = ""
    error_type: str = ""
    message: str = ""
    subject: str = ""
    package: str = ""
    cause: str = ""
    key: str = ""

    @cached_property
    def fingerprint(self) -> str:
        """The id under which the same failure is known again, in any process and at any time."""
        if self.cause:
            return digest("failure", self.layer.value, self.cause, self.key, self.subject)[:ID_CHARS]
        return digest("failure", *self.family, self.message)[:ID_CHARS]

    @property
    def family(self) -> tuple[str, ...]:
        """All but the message: failures without a rule are compared within a family."""
        return (self.layer.value, self.check, self.failure_class, self.error_type, self.subject)


@dataclass(frozen=True, slots=True)
class Failure:
    """One occurrence of a failure in a run.

    Attributes:
        span_id: the span that failed.
        sample: the exception's own words, or the finding's, for people; secrets masked, bounded.
        time_ns: start of that span, Unix nanoseconds.
    """

    signature: Signature
    trace_id: str
    run_span_id: str
    span_id: str
    sample: str
    time_ns: int
    cohort: Cohort


class ClusterState(StrEnum):
    """The state of the work on a cluster."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"
    REGRESSED = "regressed"
    """It was resolved, and occurred again after that."""
