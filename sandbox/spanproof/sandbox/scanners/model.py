"""The result of a scan: findings with their exact place, and one of three verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What may be done with a snippet: `review` is what cannot be resolved, and the sandbox settles it."""

    ALLOW = "allow"
    REVIEW = "review"
    DENY = "deny"


class Severity(StrEnum):
    """How grave a finding is: `advisory` never changes the verdict."""

    ADVISORY = "advisory"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found in a source.

    Attributes:
        rule: a stable id, `family.what` (`python.file.read-outside`, `secret.stripe-key`, `scanner_error`).
        verdict: the verdict of this finding alone; `allow` for advisory ones.
        line, column: of its start, both from 1, as every editor counts; `end_line`, `end_column` likewise,
            the end column exclusive.
        message: what is wrong, with the resolved target; never a secret's value.
        remedy: what to write or to configure instead.
        cwe: the number of the weakness in the CWE list, where the rule is one.
        fingerprint: of a secret, keyed with the installation's salt; equal values give equal ones.
        path: of what is read outside the boundary, absolute, where the rule is about that; it may end in `…`.
    """

    rule: str
    severity: Severity
    verdict: Verdict
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    remedy: str = ""
    cwe: int | None = None
    fingerprint: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of scanning one snippet; `elapsed_us` is wall time in microseconds."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    elapsed_us: int = 0
