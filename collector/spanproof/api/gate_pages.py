"""A report of the gate as a page: assertions, the cases against them, and the code to blame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from spanproof.api import pages
from spanproof.api.gate_reports import ReportedAssertion, ReportFile
from spanproof.api.models.gates import GateAssertion, GateCase, GateMark, GatePage
from spanproof.api.states import compute_state_with_result, parse_state
from spanproof.gate.outputs import CodeMark
from spanproof.trace import Language, State

_MOST_ASSERTIONS: Final = 200
_MOST_CASES: Final = 50
# Lines shown around a mark.
_CONTEXT: Final = 3


def build_gate_page(
    name: str,
    report: ReportFile,
    *,
    cut: bool = False,
    marks: Sequence[Sequence[CodeMark]] = (),
) -> GatePage:
    """Return a report of the gate, with the first 50 cases against each assertion.

    Args:
        name: of the report.
        report: as `spanproof gate --json` writes it.
        cut: whether there were more scores than were read.
        marks: of each assertion the code to blame, where that is at hand.
    """
    return GatePage(
        name=name,
        state=get_report_state(report),
        passed=report.passed,
        open_counts_as=report.open_counts_as,
        cut=cut,
        assertions=[
            _build_assertion(assertion, marks[index] if index < len(marks) else ())
            for index, assertion in enumerate(report.assertions[:_MOST_ASSERTIONS])
        ],
    )


def get_report_state(report: ReportFile) -> State:
    """Return the state of a report of the gate."""
    return compute_state_with_result(report.passed, map(_get_assertion_state, report.assertions))


def _get_assertion_state(row: ReportedAssertion) -> State:
    """Return the state of an assertion; one that holds while some of its cases are open is open."""
    state = parse_state(row.verdict)
    if state is State.PASS and row.open:
        return State.OPEN
    return state


def _build_assertion(row: ReportedAssertion, marks: Sequence[CodeMark]) -> GateAssertion:
    low, high = row.interval or (None, None)
    return GateAssertion(
        assertion=pages.format_text(row.assertion),
        layer=pages.format_text(row.layer or ""),
        state=_get_assertion_state(row),
        verdict=pages.format_text(row.verdict),
        reason=pages.format_text(row.reason),
        judged=row.judged,
        satisfied=row.satisfied,
        open=row.open,
        share=row.share,
        low=low,
        high=high,
        failing=[
            GateCase(
                trace_id=pages.format_text(case.trace_id),
                run_span_id=pages.format_text(case.run_span_id),
                agent=pages.format_text(case.agent),
                state=pages.format_text(case.state),
                value=case.value,
                explanation=pages.format_text(case.explanation),
            )
            for case in row.failing[:_MOST_CASES]
        ],
        marks=[build_mark(mark) for mark in marks],
    )


def build_mark(mark: CodeMark) -> GateMark:
    """Return the lines to blame, with those around them."""
    lines = pages.split_highlighted(mark.source, Language(mark.language))
    first, end = max(1, mark.line - _CONTEXT), mark.end_line + _CONTEXT
    return GateMark(
        uri=pages.format_text(mark.uri),
        rule=pages.format_text(mark.rule),
        message=pages.format_text(mark.message),
        line=mark.line,
        end_line=mark.end_line,
        first=first,
        lines=lines[first - 1 : end],
    )
