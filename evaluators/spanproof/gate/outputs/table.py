"""The results of a gate or of a suite as rows: what every form of output is made from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spanproof.gate.outputs.code import CodeMark


class Verdict(StrEnum):
    """Whether an assertion or a case holds; anything but `passed` fails the gate.

    `errored`: the tests of a case could not run, by no fault of the agent.
    """

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One assertion, or one case.

    Attributes:
        group: what kind of test it is, with dots: `spanproof.gate.groundedness`.
        reason: why the verdict is what it is, in one sentence; empty where there is nothing to say.
        details: further lines: the cases against an assertion, or the trials of a case.
        layer: the layer that failed, or that an assertion is about; empty where it is about none.
        file: the file that defines it, relative to where the command ran; empty where there is none.
        wall_s: how long it took; None where that was not measured.
        marks: the places in the code that are to blame.
        open: how many of its cases, scores, trials or verdicts are open.
    """

    group: str
    name: str
    verdict: Verdict
    reason: str = ""
    details: tuple[str, ...] = ()
    layer: str = ""
    file: str = ""
    wall_s: float | None = None
    marks: tuple[CodeMark, ...] = ()
    open: int = 0


@dataclass(frozen=True, slots=True)
class ResultTable:
    """All rows with what is said above them.

    Attributes:
        headline: the result in one sentence.
        facts: further numbers, each with its name.
        open: how many runs, trials or cases are open.
        open_remark: what those count as, where the user changed it.
    """

    title: str
    passed: bool
    headline: str
    rows: tuple[ResultRow, ...]
    facts: tuple[tuple[str, str], ...] = ()
    open: int = 0
    open_remark: str = ""

    def count(self, verdict: Verdict) -> int:
        """Return how many rows have this verdict."""
        return sum(row.verdict is verdict for row in self.rows)

    @property
    def all_facts(self) -> tuple[tuple[str, str], ...]:
        """The facts, with how many are open where some are."""
        remark = f"; {self.open_remark}" if self.open_remark else ""
        is_shown = self.open or self.open_remark
        if is_shown:
            return (*self.facts, ("open", f"{self.open:,}{remark}"))
        return self.facts

    @property
    def failing(self) -> tuple[ResultRow, ...]:
        """The rows that did not pass."""
        return tuple(row for row in self.rows if row.verdict is not Verdict.PASSED)
