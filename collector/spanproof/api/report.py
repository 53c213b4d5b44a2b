"""A trace, or a report of the gate, as one file: the console's own bundle with the answers it would ask for.

The policy of the page allows its one script and its one style sheet, by digest, and nothing else: no request,
no other script, no frame.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from typing import Final

import orjson
from pydantic import BaseModel

from spanproof.api.bundle import STATIC
from spanproof.api.gate_pages import gate_page
from spanproof.api.pages import span_page, trace_page
from spanproof.evaluators.model import RunEvaluation, TraceEvaluation
from spanproof.gate import GateReport
from spanproof.gate.outputs import ResultTable
from spanproof.store import Feedback

_MOST_TRACES: Final = 50
_MOST_BYTES: Final = 8_000_000
"""Of traces in a report of the gate: what is attached to a pull request must stay small."""


def format_trace_report(
    evaluation: TraceEvaluation, feedback: Sequence[Feedback], run: RunEvaluation | None
) -> str:
    """Return the page of a trace, with the run that is meant in front."""
    trace_id = evaluation.trace.trace_id
    path = f"/traces/{trace_id}"
    route = f"{path}?run={run.run.span_id}" if run else path
    return format_report(f"trace {trace_id[:12]}", route, _answer_trace(evaluation, feedback))


def format_gate_report(report: GateReport, table: ResultTable, failing: Sequence[TraceEvaluation]) -> str:
    """Return the page of a report of the gate.

    Args:
        report: the report.
        table: the same as rows with the code to blame.
        failing: traces that speak against the assertions; the first of them are in the page.
    """
    page = gate_page("spanproof gate", report.to_json(), marks=[row.marks for row in table.rows])
    answers: dict[str, BaseModel] = {"gates/report": page}
    left = _MOST_BYTES
    for evaluation in failing[:_MOST_TRACES]:
        found = _answer_trace(evaluation, ())
        left -= sum(len(each.model_dump_json()) for each in found.values())
        if left < 0:
            break
        answers |= found
    title = f"{'passed' if report.passed else 'failed'}: spanproof gate"
    return format_report(title, "/gates/report", answers)


def _answer_trace(evaluation: TraceEvaluation, feedback: Sequence[Feedback]) -> dict[str, BaseModel]:
    """Return what the API answers about a trace and its spans, by path."""
    page = trace_page(evaluation, feedback)
    path = f"traces/{page.trace_id}"
    spans = evaluation.trace.spans[: len(page.spans)]
    return {path: page, **{f"{path}/spans/{span.span_id}": span_page(span) for span in spans}}


def format_report(title: str, route: str, answers: Mapping[str, BaseModel]) -> str:
    """Return a page that shows one view of the console.

    Args:
        title: of the page.
        route: address of the view within the console, as `/traces/<id>`.
        answers: path of the API to what it answers.
    """
    script = (STATIC / "console.js").read_text(encoding="utf-8").replace("</script", "<\\/script")
    style = (STATIC / "console.css").read_text(encoding="utf-8").replace("</style", "<\\/style")
    policy = (
        f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'sha256-{_digest(style)}';"
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


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
