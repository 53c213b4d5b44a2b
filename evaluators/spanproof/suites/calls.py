"""The tool calls of a case with their results: what recorded tools answer from."""

from __future__ import annotations

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.runs import list_runs
from spanproof.suites.case import Case
from spanproof.trace import RecordedCall


def list_recorded_calls(case: Case) -> tuple[RecordedCall, ...]:
    """Return the tool calls an agent may be answered from: people's own, then those of the frozen run."""
    if case.trace is None:
        return case.recorded
    recorded = [
        call
        for run in list_runs(case.trace, list_snippets(case.trace))
        for step in run.steps
        for call in step.calls
        if call.replayable
    ]
    return (*case.recorded, *recorded)
