"""The reports of `spanproof gate --json` in the workspace.

In: JSON files of any kind, which others wrote. Out: reports whose fields have the types of the gate's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from spanproof.gate import OpenPolicy
from spanproof.trace.codec import MalformedDocument, from_plain, load_json

_BIGGEST_REPORT: Final = 20_000_000
_REPORT_KEYS: Final = frozenset(("passed", "assertions", "failed_layers"))
# What a report has near its beginning, and other JSON has not, such as a `tsconfig.json` with comments.
_MARK: Final = b'"failed_layers"'
_ENDS: Final = 2


@dataclass(frozen=True, slots=True)
class ReportedCase:
    """A case that speaks against an assertion."""

    trace_id: str
    run_span_id: str
    agent: str
    state: str
    value: float | None
    explanation: str


@dataclass(frozen=True, slots=True)
class ReportedAssertion:
    """An assertion with its verdict, as text: a later version may have another."""

    assertion: str
    layer: str | None
    verdict: str
    reason: str = ""
    judged: int = 0
    satisfied: int = 0
    open: int = 0
    share: float | None = None
    interval: tuple[float, ...] | None = None
    failing: tuple[ReportedCase, ...] = ()

    def __post_init__(self) -> None:
        if self.interval is not None and len(self.interval) != _ENDS:
            raise ValueError(f"an interval has two ends, not {len(self.interval)}")


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report of the gate."""

    passed: bool
    failed_layers: tuple[str, ...]
    assertions: tuple[ReportedAssertion, ...]
    open_counts_as: str = OpenPolicy.NOT_PASSED.value


class UnreadableReportError(Exception):
    """A file that may be a report cannot be read; the message says why, and what to do."""


def find_gate_report(path: Path) -> ReportFile | None:
    """Return the report in a file; None where the file is of another kind.

    Raises:
        UnreadableReportError: it is a report that is cut, or has wrong fields.
    """
    try:
        if path.stat().st_size > _BIGGEST_REPORT:
            return None
        content = path.read_bytes()
    except OSError:
        return None
    if _MARK not in content:
        return None
    try:
        document: Any = load_json(content)
        is_report = isinstance(document, dict) and document.keys() >= _REPORT_KEYS
        return parse_gate_report(document) if is_report else None
    except MalformedDocument as problem:
        raise UnreadableReportError(f"{problem}; `spanproof gate --json` writes it again") from problem


def parse_gate_report(document: Mapping[str, object]) -> ReportFile:
    """Return a report from its JSON data.

    Raises:
        MalformedDocument: it is none; the message names the field.
    """
    return from_plain(ReportFile, document)
