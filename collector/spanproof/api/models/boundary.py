"""The answers about what agents tried beyond their policy."""

from __future__ import annotations

from pydantic import Field

from spanproof.api.models import Answer, Nanoseconds
from spanproof.sandbox import AttemptKind


class AttemptRow(Answer):
    """A target that programs tried to reach."""

    kind: AttemptKind
    target: str
    allowed: bool
    agent: str
    release: str
    times: int
    runs: int
    last_ns: Nanoseconds
    trace_id: str = Field(description="The latest trace with it.")


class FindingRow(Answer):
    """A rule of a scanner that fired."""

    rule: str
    verdict: str
    message: str
    agent: str
    release: str
    snippets: int
    runs: int
    last_ns: Nanoseconds
    trace_id: str


class Boundary(Answer):
    """What programs tried, as the kernel saw it, and what scanners found in their code."""

    attempts: list[AttemptRow]
    findings: list[FindingRow]
