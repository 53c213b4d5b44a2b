"""A trace, or a report of the gate or of a suite, as one file: the console's bundle with its answers.

The policy of the page allows its one script and its one style sheet, by digest, and nothing else: no request,
no other script, no frame.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from html import escape
from typing import Final

import orjson

from spanproof.api.bundle import STATIC
from spanproof.api.gate_pages import build_gate_page
from spanproof.api.gate_reports import parse_gate_report
from spanproof.api.models import Answer
from spanproof.api.recorded_runs import load_trial_evaluation
from spanproof.api.result_pages import (
    ResultRun,
    build_result_page,
    build_result_run,
    build_trial_path,
    format_command,
)
from spanproof.api.states import add_undecided
from spanproof.api.trace_pages import build_span_page, build_trace_page
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.experiments import Experiment
from spanproof.gate import GateReport
from spanproof.gate.outputs import ResultTable
from spanproof.store import Feedback
from spanproof.suites import SuiteReport

_MOST_TRACES: Final = 50
# Of traces in a report: what is attached to a pull request must stay small.
_MOST_BYTES: Final = 8_000_000


def format_trace_report(
    evaluation: TraceEvaluation, feedback: Sequence[Feedback], run: RunEvaluation | None
) -> str:
    """Return the page of a trace, with the run that is meant in front."""
    trace_id = evaluation.trace.trace_id
    path = f"traces/{trace_id}"
    route = f"/{path}?run={run.run.span_id}" if run else f"/{path}"
    title = f"{evaluation.state.value}: trace {trace_id[:12]}"
    return format_report(title, route, _build_answers(path, evaluation, feedback))


def format_gate_report(report: GateReport, table: ResultTable, failing: Sequence[TraceEvaluation]) -> str:
    """Return the page of a report of the gate.

    Args:
        report: the report.
        table: the same as rows with the code to blame.
        failing: traces that speak against the assertions; the first of them are in the page.
    """
    shown = parse_gate_report(report.to_json())
    page = build_gate_page("spanproof gate", shown, marks=[row.marks for row in table.rows])
    traces = _Traces()
    for evaluation in failing:
        if not traces.handle_trace(f"traces/{evaluation.trace.trace_id}", evaluation):
            break
    title = f"{page.state.value}: spanproof gate"
    return format_report(title, "/gates/report", {"gates/report": page, **traces.answers})


def format_suite_report(result: SuiteReport | Experiment) -> str:
    """Return the page of a suite's result, with the first traces that did not pass."""
    traces = _Traces()
    table = result.to_table()
    if isinstance(result, Experiment):
        table = add_undecided(table, result.trials)
    runs: dict[str, list[ResultRun]] = {}
    for case, run, evaluation in _iter_failing_runs(result):
        if not traces.handle_trace(run.path, evaluation):
            break
        runs.setdefault(case, []).append(run)
    page = build_result_page(table, format_command(result), runs)
    title = f"{page.state.value}: {page.title}"
    return format_report(title, "/experiments/report", {"experiments/report": page, **traces.answers})


def _iter_failing_runs(result: SuiteReport | Experiment) -> Iterator[tuple[str, ResultRun, TraceEvaluation]]:
    """Yield each run that did not pass, with its case and its trace."""
    if isinstance(result, SuiteReport):
        for report in result.cases:
            if not report.passed:
                # Runs of several cases may be of one trace, which each case has judged by its own tests.
                run = ResultRun(name="judged now", path=build_trial_path("now", report.case.id, 1))
                yield report.case.id, run, report.evaluation
        return
    for case in result.cases:
        for trial in case.trials:
            if result.results is None or trial.passed:
                continue
            judged = replace(trial, row=result.load_row(trial))
            evaluation = load_trial_evaluation(result.results, judged)
            if evaluation is not None:
                yield case.case.id, build_result_run("now", trial), evaluation


class _Traces:
    """The traces of a report, as many as it may hold."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self._count, self._bytes = 0, 0

    def handle_trace(self, path: str, evaluation: TraceEvaluation) -> bool:
        """Add what the API answers about a trace; returns False where the report is full."""
        if path in self.answers:
            return True
        if self._count >= _MOST_TRACES or self._bytes >= _MOST_BYTES:
            return False
        found = _build_answers(path, evaluation)
        self._bytes += sum(len(item.model_dump_json()) for item in found.values())
        if self._bytes > _MOST_BYTES:
            return False
        self._count += 1
        self.answers |= found
        return True


def _build_answers(
    path: str, evaluation: TraceEvaluation, feedback: Sequence[Feedback] = ()
) -> dict[str, Answer]:
    """Return what the API answers about a trace and its spans, by path."""
    page = build_trace_page(evaluation, feedback)
    spans = evaluation.trace.spans[: len(page.spans)]
    return {path: page, **{f"{path}/spans/{span.span_id}": build_span_page(span) for span in spans}}


def format_report(title: str, route: str, answers: Mapping[str, Answer]) -> str:
    """Return a page that shows one view of the console.

    Args:
        title: of the page.
        route: address of the view within the console, as `/traces/<id>`.
        answers: path of the API to what it answers.
    """
    script = (STATIC / "report.js").read_text(encoding="utf-8").replace("</script", "<\\/script")
    style = (STATIC / "report.css").read_text(encoding="utf-8").replace("</style", "<\\/style")
    policy = (
        f"default-src 'none'; script-src 'sha256-{_encode_text(script)}';"
        f" style-src 'sha256-{_encode_text(style)}';"
        " base-uri 'none'; form-action 'none'"
    )
    plain = {path: answer.model_dump(mode="json") for path, answer in answers.items()}
    # Within a script element only `<` could end it.
    data = orjson.dumps({"route": route, "answers": plain}).decode().replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<div id="app"></div>\n<script type="application/json" id="report">{data}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def _encode_text(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
